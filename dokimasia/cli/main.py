"""The command group: verbs are found by name and imported only when they are called."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from dokimasia.cli.guarding import guarded
from dokimasia.cli.once import check_once, with_service
from dokimasia.errors import DokimasiaError
from dokimasia.runs.catalogue import OWN, plugin_methods

BROKEN_PIPE = 128 + 13
"""The exit code where nobody reads what is printed any more, as after `| head`: that of a program ended by SIGPIPE."""

VERBS: dict[str, tuple[str, str]] = {
    "init": ("dokimasia.cli.setting_up:init", "Write a commented dokimasia.toml."),
    "demo": ("dokimasia.cli.demo", "Run the main job offline, on simulated models."),
    "data": ("dokimasia.cli.data", "Check a data set before anything is paid for."),
    **{one.verb: ("", one.help) for one in OWN.values() if " " not in one.verb},
    "rubrics": ("dokimasia.cli.rubrics", OWN["rubrics"].help),
    "analyse": ("dokimasia.cli.analyse", "Say what an audit's figures mean, in numbers, charts and words."),
    "tree": ("dokimasia.cli.tree", "Grow a tree of capabilities, look at it, edit it, prove it."),
    "diagnose": ("dokimasia.cli.diagnose", "Say where a run's models are weak, and why, in tables."),
    "resume": ("dokimasia.cli.stored.again:resume", "Go on with a run that was interrupted."),
    "fork": ("dokimasia.cli.stored.again:fork", "Do a run again with another judge, model or prompt."),
    "runs": ("dokimasia.cli.stored.runs", "List the runs of a home, name or delete one."),
    "show": ("dokimasia.cli.stored.output:show", "Show a run's results, or one sample of it."),
    "export": ("dokimasia.cli.stored.output:export", "Write a run's results as JSON lines, CSV or Parquet."),
    "schema": ("dokimasia.cli.setting_up:schema", "Print the JSON schema of a method's figures."),
    "report": ("dokimasia.cli.stored.output:report", "Write a report on a run: one page without network, or Markdown."),
    "diff": ("dokimasia.cli.stored.diff", "Compare two runs, or two models, sample by sample."),
    "check": ("dokimasia.cli.check", "Check captions and rubrics yourself: accept, edit, reject."),
    "annotate": ("dokimasia.cli.annotate", "Have people rate, blind; compare them and judges."),
    "correct": ("dokimasia.cli.stored.correct", "Correct a run's rates for what its judge misses."),
    "passport": ("dokimasia.cli.stored.passport", "Say what probes measured of a judge, as a file for --passport."),
    "verify": ("dokimasia.cli.stored.verify", "Check that a home holds what was written to it."),
    "serve": ("dokimasia.cli.serve", "Serve a home: runs over HTTP, pages, and people as models."),
    "models": ("dokimasia.cli.models", "List the configured models, or check what they can do."),
    "criteria": ("dokimasia.cli.criteria", "Export and import sets of atomic criteria."),
    "prompts": ("dokimasia.cli.prompts", "List, show and copy the shipped prompts."),
    "plugins": ("dokimasia.cli.setting_up:plugins", "List the plug-ins that are installed."),
    "sim": ("dokimasia.cli.sim", "The planted world: make data, serve simulated models."),
}
"""By verb: the module that has it (as `command`, or `module:name`), or none for a method, whose verb is made from its
request; and its line of help."""


class LazyGroup(click.Group):
    """A group whose commands are in modules that are loaded when they are called; their help lines are known."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of use."""
        return [*VERBS, *plugin_methods()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's module and return its command."""
        module, _, function = VERBS.get(cmd_name, ("", ""))[0].partition(":")
        if module:
            return getattr(importlib.import_module(module), function or "command")
        name = next((name for name, one in OWN.items() if one.verb == cmd_name), cmd_name)
        if name not in OWN and name not in plugin_methods():
            return None
        from dokimasia.cli.method_verb import verb_of
        from dokimasia.runs.catalogue import method_named

        return verb_of(method_named(name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; a misspelt one is answered with the nearest, an option that is there twice refused."""
        if args and args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"no command {args[0]!r}{hint} `dokimasia --help` lists all")
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None:
            rest = with_service(command, ctx, name, rest)
            check_once(command, ctx, name, rest)
        return name, command, rest

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
            closed = any(isinstance(one, BrokenPipeError) for one in (stop, stop.__context__))
            if not closed and sys.stdout is stdout:  # click puts another stream there where it meets a closed pipe
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())  # what is left is written nowhere
            return BROKEN_PIPE
        return code


def _run(arguments: Sequence[str] | None) -> int:
    from dokimasia.cli.shared import say, say_error

    try:
        result: Any = group.main(
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
    except Exception as problem:  # the last stop: whatever it is, it leaves as one redacted line
        from dokimasia.cli.shared import crash_report

        say(crash_report(problem))
        return 1
    return result if isinstance(result, int) else 0
