"""The command group, which imports a verb when it is called; control characters in all output are escaped."""

import importlib
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO, cast

import click

from dokimasia.cli.shared import refuse_remote
from dokimasia.errors import DokimasiaError
from dokimasia.runs.catalogue import OWN, plugin_methods


class Guarded:
    """A text stream that escapes control characters in all that is written to it; bytes go to its `buffer` as they are.

    Code that writes escape sequences, having escaped the texts between them itself, writes to `unguarded`.
    """

    def __init__(self, stream: TextIO) -> None:
        self.unguarded = stream

    def write(self, text: str) -> int:
        """Write a text with control characters, and characters that the stream's encoding lacks, escaped."""
        encoding = self.unguarded.encoding or "utf-8"
        if not text.replace("\n", "").isprintable():
            from dokimasia.log import printable  # loaded when needed: it brings structlog along

            text = printable(text)
        return self.unguarded.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of the texts."""
        for line in lines:
            self.write(line)

    @property
    def encoding(self) -> str:
        """UTF-8, since every character can be written."""
        return "utf-8"

    def __getattr__(self, name: str) -> object:
        return getattr(self.unguarded, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Guard standard output and standard error in a `with` block."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", Guarded(stream)) for stream in streams)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


def check_once(command: click.Command, parent: click.Context, name: str, arguments: Sequence[str]) -> None:
    """Check that a command and its subcommands are given each single-valued option only once.

    Click would use the last value and silently ignore earlier ones.

    Raises:
        click.UsageError: an option that takes one value is given several times.
    """
    context = command.context_class(command, info_name=name, parent=parent)
    try:
        _, remaining, given_parameters = command.make_parser(context).parse_args(list(arguments))
    except click.UsageError:
        return  # the command reports it when it reads its arguments
    times = Counter(
        parameter
        for parameter in given_parameters
        if isinstance(parameter, click.Option) and not (parameter.multiple or parameter.count)
    )
    repeated = [option.opts[0] for option, count in times.items() if count > 1 and not option.is_flag]
    if repeated:
        raise click.UsageError(f"{' and '.join(repeated)} can be given once only, and is given more than once", context)
    if isinstance(command, click.Group) and remaining:
        subcommand = command.get_command(context, remaining[0])
        if subcommand is not None:
            check_once(subcommand, context, remaining[0], remaining[1:])


def with_service(command: click.Command, parent: click.Context, name: str, arguments: Sequence[str]) -> list[str]:
    """Return a command's arguments, with the options that name a service added if they were given before the verb.

    Raises:
        click.UsageError: they were, and the verb does not work on a service.
    """
    given_options = [
        (f"--{option.replace('_', '-')}", value)
        for option in ("server", "server_token_file")
        if (value := parent.params.get(option))
    ]
    words, index = [name], 0
    while given_options and isinstance(command, click.Group) and index < len(arguments):
        subcommand = command.get_command(parent, arguments[index])
        if subcommand is None:
            break
        command, index = subcommand, index + 1
        words.append(arguments[index - 1])
    if not given_options or (isinstance(command, click.Group) and not command.invoke_without_command):
        return list(arguments)
    taken_flags = {opt for option in command.params for opt in option.opts}
    if not {option for option, _ in given_options} <= taken_flags:
        refuse_remote(f"dokimasia {' '.join(words)}")
    return [*arguments[:index], *(word for option in given_options for word in option), *arguments[index:]]


BROKEN_PIPE = 128 + 13
"""The exit code if the reader of the output is gone, as after `| head`: that of a program ended by SIGPIPE."""

VERBS: dict[str, tuple[str, str]] = {
    "init": ("dokimasia.cli.setting_up:init", "Write a commented dokimasia.toml."),
    "demo": ("dokimasia.cli.demo", "Run the main job offline, on simulated models."),
    "data": ("dokimasia.cli.data", "Check a data set before anything is paid for."),
    **{entry.verb: ("", entry.help) for entry in OWN.values() if " " not in entry.verb},
    "rubrics": ("dokimasia.cli.rubrics", OWN["rubrics"].help),
    "analyse": ("dokimasia.cli.analyse", "Say what an audit's figures mean, in numbers, charts and words."),
    "tree": ("dokimasia.cli.tree", "Grow a tree of capabilities, look at it, edit it, prove it."),
    "diagnose": ("dokimasia.cli.diagnose", "Say where a run's models are weak, and why, in tables."),
    "resume": ("dokimasia.cli.resuming:resume", "Go on with a run that was interrupted."),
    "fork": ("dokimasia.cli.resuming:fork", "Do a run again with another judge, model or prompt."),
    "runs": ("dokimasia.cli.runs", "List the runs of a home, name or delete one."),
    "show": ("dokimasia.cli.output:show", "Show a run's results, or one sample of it."),
    "export": ("dokimasia.cli.output:export", "Write a run's results as JSON lines, CSV or Parquet."),
    "schema": ("dokimasia.cli.setting_up:schema", "Print the JSON schema of a method's figures."),
    "report": ("dokimasia.cli.output:report", "Write a report on a run: one page without network, or Markdown."),
    "diff": ("dokimasia.cli.output:diff", "Compare two runs, or two models, sample by sample."),
    "board": ("dokimasia.cli.output:board", "Rank models over the data sets of several runs."),
    "check": ("dokimasia.cli.check", "Check captions and rubrics yourself: accept, edit, reject."),
    "annotate": ("dokimasia.cli.annotate", "Have people rate, blind; compare them and judges."),
    "correct": ("dokimasia.cli.passports:correct_command", "Correct a run's rates for what its judge misses."),
    "passport": (
        "dokimasia.cli.passports:passport_command",
        "Say what probes measured of a judge, as a file for --passport.",
    ),
    "verify": ("dokimasia.cli.verify", "Check that a home holds what was written to it."),
    "serve": ("dokimasia.cli.serve", "Serve a home: runs over HTTP, pages, and people as models."),
    "models": ("dokimasia.cli.models", "List the configured models, or check what they can do."),
    "criteria": ("dokimasia.cli.criteria", "Export and import sets of atomic criteria."),
    "prompts": ("dokimasia.cli.prompts", "List, show and copy the shipped prompts."),
    "plugins": ("dokimasia.cli.setting_up:plugins", "List the plug-ins that are installed."),
    "sim": ("dokimasia.cli.sim", "The planted world: make data, serve simulated models."),
}
"""The module of each verb (with its `command`, or `module:name`), empty for a method, whose verb is made from its request;
and its line of help."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called; `VERBS` has their help lines."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs, in the order of use."""
        return [*VERBS, *plugin_methods()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's module and return its command."""
        module, _, function = VERBS.get(cmd_name, ("", ""))[0].partition(":")
        if module:
            return getattr(importlib.import_module(module), function or "command")
        name = next((name for name, entry in OWN.items() if entry.verb == cmd_name), cmd_name)
        if name not in OWN and name not in plugin_methods():
            return None
        from dokimasia.cli.method_verb import verb_of
        from dokimasia.runs.catalogue import method_named

        return verb_of(method_named(name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; for a misspelt one suggest the nearest, and refuse options that are given twice."""
        if args and args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            import difflib

            similar = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"; did you mean {similar[0]!r}?" if similar else ""
            raise click.UsageError(f"no command {args[0]!r}{hint} `dokimasia --help` lists all")
        name, command, remaining = super().resolve_command(ctx, args)
        if name is not None and command is not None:
            remaining = with_service(command, ctx, name, remaining)
            check_once(command, ctx, name, remaining)
        return name, command, remaining

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])
        methods = plugin_methods()
        if methods:
            with formatter.section("Methods of plug-ins"):
                formatter.write_dl([(name, "see: dokimasia plugins") for name in methods])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="dokimasia", message="%(prog)s %(version)s")
@click.option("--server", metavar="URL", help="Have the service at this address do it (DOKIMASIA_SERVER).")
@click.option(
    "--server-token-file",
    type=click.Path(dir_okay=False),
    help="The service's token, in a file (or DOKIMASIA_SERVER_TOKEN).",
)
def group(server: str | None, server_token_file: str | None) -> None:
    """Find out what multimodal models can really do.

    A judge replays the reasoning behind every question, draws atomic criteria from it, and scores each model's answers
    point by point. Everything is kept in a home folder, so that any run can be interrupted, resumed and shown again.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; errors are one line on standard error."""
    with guarded():
        stdout = sys.stdout
        try:
            code = _run(arguments)
            stdout.flush()
        except (BrokenPipeError, SystemExit) as stop:
            closed = any(isinstance(error, BrokenPipeError) for error in (stop, stop.__context__))
            if not closed and sys.stdout is stdout:  # click replaces the stream when it meets a closed pipe
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())  # discard the remaining output
            return BROKEN_PIPE
        return code


def _run(arguments: Sequence[str] | None) -> int:
    from dokimasia.cli.shared import say, say_error

    try:
        result = group.main(
            args=list(arguments) if arguments is not None else None, prog_name="dokimasia", standalone_mode=False
        )
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as problem:
        say(problem.format_message())
        return problem.exit_code
    except click.ClickException as problem:
        context = problem.ctx if isinstance(problem, click.UsageError) else None
        way_out = "" if context is None else f" (`{context.command_path} --help` says what there is)"
        say_error(f"{problem.format_message().rstrip('.')}{way_out}")
        return problem.exit_code
    except click.Abort:
        say("interrupted")
        return 130
    except DokimasiaError as problem:
        say_error(str(problem))
        return problem.exit_code
    except BrokenPipeError:
        raise
    except Exception as problem:  # any other error is printed as one redacted line
        from dokimasia.cli.shared import crash_report

        say(crash_report(problem))
        return 1
    return result if isinstance(result, int) else 0
