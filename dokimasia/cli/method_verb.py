"""The verb of a method, made from its request: options, dry run, progress, and what came of it."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.requests import made, request_options
from dokimasia.cli.shared import common, json_option, say
from dokimasia.runs.method import Method

if TYPE_CHECKING:
    from dokimasia.settings import Settings


def verb_of(method: Method[Any, Any]) -> click.Command:
    """Return the command that asks for a run of a method, continues it, or prints what came of it."""

    @click.command(help=method.request.__doc__)
    @request_options(method.request, leave_out=method.unmeasured)
    @click.option("--dry-run", is_flag=True, help="Print the estimate and prompts; ask nothing.")
    @json_option
    @common
    def command(settings: "Settings", asked: dict[str, Any], dry_run: bool, as_json: bool) -> int:
        return run_verb(method, settings, made(method.request, asked), dry_run=dry_run, as_json=as_json)

    return command


def run_verb(
    method: Method[Any, Any],
    settings: "Settings",
    request: Any,
    *,
    dry_run: bool = False,
    as_json: bool,
) -> int:
    """Do what a request asks and print what came of it, or with `dry_run` what it would ask and cost; return the exit code.

    Raises:
        ConfigError: with `dry_run`, once all is printed: a key is not set.
    """
    from dokimasia.cli.drawing import print_preview, print_run
    from dokimasia.cli.running import exit_code, run_to_end
    from dokimasia.runs.lifecycle import run
    from dokimasia.runs.preview import check_keys, preview
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    if dry_run:
        shown = preview(method, request, settings=settings)
        print_preview(shown, as_json=as_json)
        check_keys(settings, shown)
        return 0
    result = run_to_end(partial(run, method, request), settings)
    print_run(settings, result.run, as_json=as_json, figures=result.summary)
    if method.after is not None:
        with Home.open(settings.home, write=False) as home:
            for line in method.after(home, get_run(home, result.run), request):
                say(line)
    return exit_code(result, settings)
