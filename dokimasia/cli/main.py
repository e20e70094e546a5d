"""The command group, which imports a verb on use; control characters in all output are escaped."""

import importlib
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

import click

from dokimasia.cli.interrupts import INTERRUPTED, raise_on_interrupt
from dokimasia.cli.shared import refuse_remote
from dokimasia.domain.wording import nearest
from dokimasia.errors import DokimasiaError, Interrupted
from dokimasia.runs.catalogue import OWN, plugin_methods

_WRONG_PATH = re.compile(r"'([^']+)' does not exist$|unexpected extra arguments? \((\S+)")
"""A path that does not exist, or an argument too many, in a message of Click."""


class Guarded:
    """A text stream that escapes control characters in everything written to it; its `buffer` writes bytes unchanged.

    Code that writes escape sequences, with the texts between them already escaped, writes to `unguarded`.
    """

    def __init__(self, stream: TextIO) -> None:
        self.unguarded = stream

    def write(self, text: str) -> int:
        """Write a text, escaping control characters and characters that the stream's encoding lacks."""
        encoding = self.unguarded.encoding or "utf-8"
        if not text.replace("\n", "").isprintable():
            from dokimasia.log import printable  # imported late, since it imports structlog

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
    """Return a command's arguments, plus the options that name a service if they precede the verb.

    Raises:
        click.UsageError: they do, and the verb does not work on a service.
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


def _methods(group: str) -> dict[str, tuple[str, str]]:
    return {entry.verb: ("", entry.help) for entry in OWN.values() if entry.group == group and " " not in entry.verb}


VERB_GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Everyday": {
        "init": ("dokimasia.cli.setting_up:init", "Write a commented dokimasia.toml."),
        "demo": ("dokimasia.cli.demo", "Try everything offline, on simulated models."),
        "models": ("dokimasia.cli.models", "List the configured models, or check what they can do."),
        "data": ("dokimasia.cli.data", "Check a data set before paying for a run."),
        **_methods("everyday"),
        "resume": ("dokimasia.cli.resuming:resume", "Resume an interrupted run."),
        "fork": ("dokimasia.cli.resuming:fork", "Rerun from a step with a different judge, model or prompt."),
        "runs": ("dokimasia.cli.runs", "List, rename and delete runs."),
        "show": ("dokimasia.cli.output:show", "Show a run's results, or a single sample."),
        "report": ("dokimasia.cli.output:report", "Write a report on a run, as a self-contained page or Markdown."),
        "export": ("dokimasia.cli.output:export", "Write a run's results as JSON lines, CSV, a workbook or Parquet."),
        "bundle": ("dokimasia.cli.bundle:bundle", "Write a run to a file, with all that it rests on."),
        "open": ("dokimasia.cli.bundle:open_command", "Add the run of a bundle to a home."),
        "charts": ("dokimasia.cli.output:charts", "Write the charts of a run's report as SVG, PDF or PNG."),
        "diff": ("dokimasia.cli.output:diff", "Compare runs, models, or files of other harnesses, sample by sample."),
        "board": ("dokimasia.cli.output:board", "Rank models over the data sets of several runs."),
        "gate": ("dokimasia.cli.gate", "Fail a pipeline where a run is worse than its baseline."),
    },
    "Comparing models and finding weaknesses": {
        **_methods("comparing"),
        "tree": ("dokimasia.cli.tree", "Grow, inspect, edit and validate a capability tree."),
        "diagnose": ("dokimasia.cli.diagnose", "Find where and why a run's models are weak."),
        "criteria": ("dokimasia.cli.criteria", "Export, import and rate sets of atomic criteria."),
    },
    "Judges": {
        "judges": ("dokimasia.cli.judges", "Check whether a judge is good enough."),
        **_methods("judges"),
        "passport": ("dokimasia.cli.passports:passport_command", "Write a judge's measured error rates to a file."),
        "correct": ("dokimasia.cli.passports:correct_command", "Correct a run's rates for its judge's known errors."),
    },
    "People": {
        "decide": ("dokimasia.cli.decide", "Accept, edit, reject or answer what waits for a person."),
        "annotate": (
            "dokimasia.cli.annotate",
            "Collect blind human ratings, compare them with judges, overrule a verdict.",
        ),
    },
    "Perception": {
        **_methods("perception"),
        "rubrics": ("dokimasia.cli.rubrics", OWN["rubrics"].help),
        "analyse": ("dokimasia.cli.analyse", "Explain an audit's figures in tables, charts and words."),
    },
    "Service and home": {
        "serve": ("dokimasia.cli.serve", "Serve a home over HTTP, with pages for browsers."),
        "verify": ("dokimasia.cli.verify", "Verify that a home is as it was written."),
    },
    "Extending and testing": {
        **_methods("extending"),
        "plugins": ("dokimasia.cli.setting_up:plugins", "List the installed plug-ins."),
        "prompts": ("dokimasia.cli.prompts", "List, show and copy the shipped prompts."),
        "schema": ("dokimasia.cli.setting_up:schema", "Print the JSON schema of a method's figures."),
        "sim": ("dokimasia.cli.sim", "Make simulated data and serve simulated models."),
    },
}
"""The verbs under the headings of the help. Each has its module (with its `command`, or `module:name`), empty for a
method, whose verb is made from its request, and its line of help.
"""

VERBS = {name: entry for verbs in VERB_GROUPS.values() for name, entry in verbs.items()}
"""All verbs, in the order of the help."""

RENAMED = {"check": "decide", "run": "graph"}
"""Verbs of earlier versions, and their present names."""


class LazyGroup(click.Group):
    """A group whose commands are imported on use; `VERBS` has their help lines."""

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
        """Find the verb; suggest the nearest for a misspelt one, and refuse repeated options."""
        if args and args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            import difflib

            similar = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"; did you mean {similar[0]!r}?" if similar else ""
            if args[0] in RENAMED:
                raise click.UsageError(f"`{args[0]}` is called `{RENAMED[args[0]]}` now", ctx)
            raise click.UsageError(f"no command {args[0]!r}{hint}", ctx)
        name, command, remaining = super().resolve_command(ctx, args)
        if name is not None and command is not None:
            remaining = with_service(command, ctx, name, remaining)
            check_once(command, ctx, name, remaining)
        raise_on_interrupt()  # the verb is loaded, and may have cleanup to do
        return name, command, remaining

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs without importing any of them."""
        width = max(map(len, VERBS))
        for heading, verbs in VERB_GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in verbs.items()])
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
            if not closed and sys.stdout is stdout:  # click replaces the stream at a closed pipe
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())  # discard the remaining output
            return BROKEN_PIPE
        return code


def _run(arguments: Sequence[str] | None) -> int:
    from dokimasia.cli.shared import redact, say, say_error

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
        say_error(_usage(problem, sys.argv[1:] if arguments is None else arguments))
        return problem.exit_code
    except click.Abort:
        say("interrupted")
        return INTERRUPTED
    except Interrupted as stop:
        say(redact(f"interrupted: {stop}"))
        return stop.exit_code
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


def _usage(problem: click.ClickException, arguments: Sequence[str]) -> str:
    """Return the message of a usage error, with the command whose help explains the usage."""
    message = problem.format_message().rstrip(".")
    context = problem.ctx if isinstance(problem, click.UsageError) else None
    if context is None:
        return message
    if isinstance(problem, click.MissingParameter) and isinstance(problem.param, click.Option):
        missing = _missing_options(context.command, arguments)
        if len(missing) > 1:
            message = f"Missing options {', '.join(map(repr, missing))}"
    elif isinstance(problem, click.NoSuchOption) and problem.possibilities:
        near = " or ".join(map(repr, problem.possibilities[:2]))
        message = f"{problem.message.rstrip('.')}; did you mean {near}?"
    else:
        message += _path_hint(message, context.command)
    if isinstance(problem, click.NoSuchOption) and isinstance(context.command, click.Group):
        message = (
            f"{context.command_path} has no option {problem.option_name}; write it after the command that takes it"
        )
    elif isinstance(context.command, click.Group) and message.startswith("No such command"):
        message = f"{message}; there are {', '.join(context.command.list_commands(context))}"
    see = f"`{context.command_path} --help`"
    if message.endswith("?"):
        return f"{message} See {see}"
    return f"{message}; see {see}"


def _missing_options(command: click.Command, arguments: Sequence[str]) -> list[str]:
    """Return the required options of a command that its arguments lack."""
    written = {argument.partition("=")[0] for argument in arguments}
    options = [param for param in command.params if isinstance(param, click.Option) and param.required]
    return [option.opts[0] for option in options if written.isdisjoint(option.opts)]


def _path_hint(message: str, command: click.Command) -> str:
    """Return a hint on a path that does not exist: a file of a similar name, or that commas separate models."""
    wrong = _WRONG_PATH.search(message)
    if wrong is None:
        return ""
    path = Path(wrong[1] or wrong[2])
    if not path.parent.is_dir():
        takes_models = any("--models" in param.opts for param in command.params)
        if takes_models:
            return "; several models are separated by commas: --models A,B"
        return ""
    if wrong[2]:
        return ""
    names = [entry.name for entry in path.parent.iterdir()]
    return nearest(path.name, names)
