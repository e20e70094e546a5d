"""`dokimasia resume`: go on with a run from the store alone."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.requests import request_options
from dokimasia.cli.shared import common, json_option, reading
from dokimasia.runs.requests import LIMITS, RunRequest

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("run")
@request_options(RunRequest, leave_out=("seed", "fresh", "keep_checkpoints"))
@click.option(
    "--retry-failed", is_flag=True, help="Also ask anew what failed; every earlier outcome is kept on record."
)
@click.option("--kinds", default="", help="With --retry-failed: only these kinds, such as refused,api_error.")
@json_option
@common
def command(
    settings: "Settings", run: str, asked: dict[str, Any], retry_failed: bool, kinds: str, as_json: bool
) -> None:
    """Go on with RUN (the beginning of its id will do). No finished call is sent again; the data file is not needed.

    --retry-failed asks what failed anew, as a new draw, and what had been achieved before is not asked again. What was
    open as `budget` is taken up in any case.
    """
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runs.lifecycle import resume
    from dokimasia.runs.requests import prompt_folders
    from dokimasia.runs.retrying import retryable

    if kinds and not retry_failed:
        raise click.UsageError("--kinds goes with --retry-failed")
    retry = retryable(kinds) if retry_failed else ()
    changes: dict[str, Any] = {name: asked[name] for name in LIMITS} | {"fresh": False}
    if asked["prompts"]:
        changes["prompts"] = prompt_folders(asked["prompts"])
    with reading(settings, run) as (_, found):
        work = partial(resume, found, changes=changes, retry=retry)
    result = run_to_end(work, settings)
    print_run(settings, found.id, as_json=as_json, figures=result.summary)
