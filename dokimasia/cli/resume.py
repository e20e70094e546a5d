"""`dokimasia resume`: go on with a run from the store alone."""

from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common, json_option

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("run")
@click.option("--max-cost", type=click.FloatRange(0), help="Spend at most so many US dollars in this sitting.")
@click.option("--max-calls", type=click.IntRange(0), help="Send at most so many requests in this sitting.")
@click.option("--max-tokens", type=click.IntRange(0), help="Use at most so many tokens in this sitting.")
@json_option
@common
def command(
    settings: "Settings",
    run: str,
    max_cost: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    as_json: bool,
) -> None:
    """Go on with RUN (the beginning of its id will do). No finished call is sent again; the data file is not needed."""
    from dokimasia.cli.running import print_result, run_to_end
    from dokimasia.runner.evaluation import read_plan, resume
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import resolve_run

    with Home.open(settings.home, write=False) as home:
        found = resolve_run(home, run)
    _, accepted = read_plan(found)
    request = accepted.model_copy(
        update={"max_cost": max_cost, "max_calls": max_calls, "max_tokens": max_tokens, "fresh": False}
    )
    result = run_to_end(
        lambda observer, stop: resume(found, settings=settings, request=request, observer=observer, stop=stop),
        settings,
    )
    print_result(result.summary, as_json=as_json)
