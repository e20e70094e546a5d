"""Shared parts of all verbs: options for home, configuration and log, output, and error messages without secrets."""

import functools
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.table import Table

    from dokimasia.domain.annotation import Annotation
    from dokimasia.domain.identity import JsonObject
    from dokimasia.report.console import PrintableConsole
    from dokimasia.settings import Settings
    from dokimasia.storage.home import Home
    from dokimasia.storage.naming import Usable
    from dokimasia.storage.runs import Run

R = TypeVar("R")

FILE = click.Path(dir_okay=False, path_type=Path)
"""A file that need not exist yet."""

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

PIPED = 120
"""The width of output that is not a terminal, in columns."""

_redact: Callable[[str], str] | None = None

_NAMED = r"(?:[0-9a-f]{16}|[\w.-]+-[0-9a-f]{8}(?:@\d+)?)"
_ON_A_RUN = re.compile(rf"\bdokimasia(?: [a-z]+)+(?: {_NAMED}\b)+(?![^`\n]* --(?:home|server) )")
"""A command on a run, or on a tree by its generated name, without --home and --server."""

_where = ""
"""The options that gave this command its home or service; empty if there were none."""


def home_options(settings: "Settings") -> str:
    """Return the options for another command to find the same home and, unless it is the default, configuration."""
    from dokimasia.settings import CONFIG_NAME

    config = settings.config_path
    usual = config is None or config == Path.cwd() / CONFIG_NAME
    return f" --home {shlex.quote(str(settings.home))}" + ("" if usual else f" --config {shlex.quote(str(config))}")


def remember_target_flags(where: str) -> None:
    """Set the options that are added to commands on runs in all further output."""
    global _where
    _where = where


def with_target_flags(text: str) -> str:
    """Return a text whose commands on runs name the home or service of this command, so that they can be pasted."""
    if _where:
        return _ON_A_RUN.sub(lambda match: match[0] + _where, text)
    return text


def redact(text: str) -> str:
    """Return the text without any secret known to the process; before settings are read, without key-like patterns."""
    global _redact
    if _redact is None:
        from dokimasia.log import Redactor

        _redact = Redactor(())
    return _redact(text)


def stopping_signals() -> list[int]:
    """Return the signals that end a command, in order: SIGINT, SIGTERM, and SIGHUP unless it is ignored (`nohup`)."""
    signals: list[int] = [signal.SIGINT, signal.SIGTERM]
    hangup: int | None = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        signals.append(hangup)
    return signals


def say(text: str, *, opening: str = "") -> None:
    """Write a line to standard error; if that is closed, continue silently.

    After a failed write, all further output to standard error is discarded.
    """
    from dokimasia.log import printable, unguarded

    try:
        click.echo(opening + printable(with_target_flags(text)), file=unguarded(sys.stderr))
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def say_read(name: object, *counts: str) -> None:
    """Write to standard error what was read from a file."""
    say(f"read {name}: {', '.join(counts)}")


def read_ratings(path: Path, *, unrated: list[int] | None = None) -> "list[Annotation]":
    """Return the ratings of a file of annotations, and write to standard error what was read.

    `unrated` receives the lines without a value, which are otherwise refused.
    """
    from dokimasia.datasets.annotations import read_annotations
    from dokimasia.report.figures import several

    ratings = read_annotations(path, unrated=unrated)
    people = {rating.annotator for rating in ratings}
    samples = {rating.unit.id for rating in ratings}
    say_read(
        path, several(len(ratings), "rating"), several(len(people), "person", "people"), several(len(samples), "sample")
    )
    return ratings


def say_error(text: str) -> None:
    """Write an error message to standard error, redacted, after `error:`."""
    say(redact(text), opening=f"{click.style('error:', fg='red', bold=True)} ")


def crash_report(problem: BaseException) -> str:
    """Return the message on an unexpected error, redacted: a plug-in's with its location, or else an internal one."""
    from dokimasia.plugins import broken_plugin

    if (broken := broken_plugin(problem)) is not None:
        return redact(broken)
    text = " ".join(str(problem).split())[:500]
    return redact(f"internal error: {type(problem).__name__}: {text} (run again with -v for the log; please report it)")


def prepared(function: Callable[..., R], step: Callable[..., Mapping[str, object]], *names: str) -> Callable[..., R]:
    """Return a verb with some of its options replaced by the result of a step; all steps of a verb share one wrapper.

    Steps that are added later run first.
    """
    steps: list[tuple[Callable[..., Mapping[str, object]], Sequence[str]]] | None = getattr(function, "steps", None)
    if steps is not None:
        steps.insert(0, (step, names))
        return function
    steps = [(step, names)]

    @functools.wraps(function)
    def wrapped(*arguments: object, **options: object) -> R:
        for prepare, taken in steps:
            options |= prepare(**{name: options.pop(name) for name in taken})
        return function(*arguments, **options)

    wrapped.steps = steps  # pyright: ignore[reportAttributeAccessIssue]
    return wrapped


def common(function: Callable[..., R]) -> Callable[..., R]:
    """Add --home, --config, -v and --log-file to a verb, which receives them as one `settings`.

    An empty --home, as from an unset shell variable, counts as not given, like an empty DOKIMASIA_HOME. A verb that also
    works on a service uses `with_backend` instead.
    """

    def refuse_service(settings: "Settings", given: bool, server: str | None) -> "dict[str, Settings]":
        if server or (settings.server and not given):
            refuse_remote(click.get_current_context().command_path)
        return {"settings": settings}

    verb = prepared(function, refuse_service, "settings", "given", "server")
    return shared(click.option("--server", hidden=True)(verb))


def configured(function: Callable[..., R]) -> Callable[..., R]:
    """Add the options of `common` to a verb that ignores a configured service."""
    return shared(prepared(function, lambda given: {}, "given"))


def refuse_remote(command: str) -> None:
    """Refuse a command on a service if it works only on a home of this machine.

    Raises:
        click.UsageError: always.
    """
    raise click.UsageError(
        f"{command} works on a home of this machine and on no service: name the home with --home, or run it where the "
        "service runs"
    )


def shared(function: Callable[..., R]) -> Callable[..., R]:
    """Add the options that all verbs share; `given` states whether a home was named on the command line."""

    def read_settings(home: Path | None, config: Path | None, verbose: int, log_file: Path | None) -> dict[str, object]:
        settings = _settings(home, config, verbose, log_file)
        remember_target_flags(home_options(settings) if home or config else "")
        return {"settings": settings, "given": home is not None}

    for option in reversed(
        (
            click.option(
                "--home",
                type=click.Path(file_okay=False),
                callback=lambda context, parameter, value: Path(value) if value else None,
                help="Where runs and the ledger are kept.",
            ),
            click.option("--config", type=FILE, help="Configuration (default: ./dokimasia.toml)."),
            click.option("-v", "--verbose", count=True, help="Log what happens (-vv: everything)."),
            click.option("--log-file", type=FILE, help="Log to this file, as JSON lines."),
        )
    ):
        function = option(function)
    return prepared(function, read_settings, "home", "config", "verbose", "log_file")


def shown_path(path: Path) -> str:
    """Return a path for printed commands: relative if it is below the working folder, else absolute."""
    absolute = path.absolute()
    if absolute.is_relative_to(Path.cwd()):
        return str(absolute.relative_to(Path.cwd()))
    return str(absolute)


def dry_run_options(function: Callable[..., R]) -> Callable[..., R]:
    """Add --dry-run and --show-prompts to a verb that starts a run, as `dry_run` and `show_prompts`."""
    function = click.option(
        "--show-prompts",
        is_flag=True,
        help="Print the cost estimate and one prompt of each kind without sending anything.",
    )(function)
    return click.option("--dry-run", is_flag=True, help="Print the cost estimate without sending anything.")(function)


def json_option(function: Callable[..., R]) -> Callable[..., R]:
    """Add --json to a verb that reports, which receives it as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def print_json(value: object) -> None:
    """Print a value, or the reply of an operation, as redacted JSON with sorted keys; equal values give equal bytes."""
    import orjson

    text = orjson.dumps(value, default=_model_json, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    click.echo(redact(text))


def _model_json(model: "BaseModel") -> "JsonObject":
    from dokimasia.operations.operation import reply_json

    return reply_json(model)


def console() -> "PrintableConsole":
    """Return a Rich console on standard output, with colours only in a terminal that has them.

    Piped output is as wide as COLUMNS, by default 120.
    """
    import shutil

    from dokimasia.log import unguarded
    from dokimasia.report.console import PrintableConsole

    width = None if os.isatty(1) else shutil.get_terminal_size((PIPED, 0)).columns
    return PrintableConsole(file=unguarded(sys.stdout), highlight=False, soft_wrap=False, width=width)


def grid(*names: str) -> "Table":
    """Return an empty table with these columns, whose texts wrap in a narrow terminal, except the words of titles."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption_justify="left")
    for name in names:
        table.add_column(name, overflow="fold", min_width=max(map(len, name.split()), default=0))
    return table


@contextmanager
def reading(settings: "Settings", run: str, usable: "Usable | None" = None) -> "Iterator[tuple[Home, Run]]":
    """Open the home for reading, and yield it with the run that a user means; `last` is the newest usable one.

    Raises:
        NotFound: there is no home, or no such run.
    """
    from dokimasia.storage.home import Home
    from dokimasia.storage.naming import resolve_run

    with Home.open(settings.home, write=False) as home:
        yield home, resolve_run(home, run, usable)


def redacting(settings: "Settings") -> None:
    """Redact the secrets of these settings in all further output."""
    global _redact
    from dokimasia.log import Redactor

    _redact = Redactor(settings.secrets)


def _settings(home: Path | None, config: Path | None, verbose: int, log_file: Path | None) -> "Settings":
    global _redact
    from dokimasia.log import Redactor, configure
    from dokimasia.settings import load_settings

    settings = load_settings(config=config, home=home)
    _redact = Redactor(settings.secrets)
    configure(level=("warning", "info", "debug")[min(verbose, 2)], file=log_file, redact=_redact)
    return settings
