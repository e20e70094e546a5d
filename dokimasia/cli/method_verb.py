"""The verb of a method, made from its request: options, dry run, progress and results."""

from collections.abc import Mapping
from typing import Any

import click

from dokimasia.cli.backend import Backend, detachable, with_backend
from dokimasia.cli.requests import made, request_options
from dokimasia.cli.shared import dry_run_options, json_option, say
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.requests import RunRequest

BATTLES = "--battles"


class BattlesVerb(click.Command):
    """A verb that rates existing battles if `--battles FILE` is among its arguments, and otherwise starts a run."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the verb, or of the command that rates battles."""
        if any(word.partition("=")[0] == BATTLES for word in args):
            from dokimasia.cli.annotate.judgements import battles_command

            return battles_command.make_context(info_name, args, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


def verb_of(method: AnyMethod) -> click.Command:
    """Return the command that starts a run of a method, resumes it, or prints its results if it is done."""

    @click.command(help=method.request.__doc__, cls=BattlesVerb if method.rates_battles else click.Command)
    @request_options(method.request, leave_out=method.scores.unmeasured)
    @dry_run_options
    @json_option
    @with_backend
    @detachable
    def command(backend: Backend, asked: Mapping[str, object], dry_run: bool, show_prompts: bool, as_json: bool) -> int:
        from dokimasia.runs.responses import without_predictions

        data = asked.get("data")
        if isinstance(data, tuple):
            from dokimasia.cli.suites import is_suite, members_of, run_suite

            if is_suite(data):
                members = members_of(method, asked, data)
                return run_suite(method, backend, members, dry_run=dry_run, show_prompts=show_prompts, as_json=as_json)
            asked = {**asked, "data": data[0]}
        request, note = without_predictions(made(method.request, asked))
        if note:
            say(f"note: {note}")
        return run_verb(method, backend, request, dry_run=dry_run, show_prompts=show_prompts, as_json=as_json)

    return command


def run_verb(
    method: AnyMethod,
    backend: Backend,
    request: RunRequest,
    *,
    dry_run: bool = False,
    show_prompts: bool = False,
    as_json: bool,
) -> int:
    """Run a request and print its results, or with `dry_run` its cost and calls; return the exit code.

    `show_prompts` is a dry run that also prints the prompts.

    Raises:
        ConfigError: a key is not set, in a dry run; raised after printing.
    """
    from dokimasia.cli.drawing import print_preview, print_run
    from dokimasia.cli.running import exit_code

    if dry_run or show_prompts:
        preview = backend.preview(method, request)
        print_preview(preview, prompts=show_prompts, as_json=as_json)
        backend.check_keys(preview)
        return 0
    result = backend.run(method, request)
    print_run(backend, result.run, as_json=as_json, figures=result.summary)
    for line in backend.after(method, result.run, request):
        say(line)
    return exit_code(result, backend.where)
