"""`dokimasia resume`: go on with a run from the store alone."""

from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common, json_option, prompt_folders, prompts_option

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("run")
@click.option("--max-cost", type=click.FloatRange(0), help="Spend at most so many US dollars in this sitting.")
@click.option("--max-calls", type=click.IntRange(0), help="Send at most so many requests in this sitting.")
@click.option("--max-tokens", type=click.IntRange(0), help="Use at most so many tokens in this sitting.")
@click.option(
    "--retry-failed", is_flag=True, help="Also ask anew what failed; every earlier outcome is kept on record."
)
@click.option("--kinds", default="", help="With --retry-failed: only these kinds, such as refused,api_error.")
@prompts_option
@json_option
@common
def command(
    settings: "Settings",
    run: str,
    max_cost: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    retry_failed: bool,
    kinds: str,
    prompts: tuple[str, ...],
    as_json: bool,
) -> None:
    """Go on with RUN (the beginning of its id will do). No finished call is sent again; the data file is not needed.

    --retry-failed asks what failed anew, as a new draw, from the step that failed: an answer that exists is not asked
    again. What was open as `budget` is taken up in any case.
    """
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.kinds import verb_of
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.evaluation import read_plan, resume
    from dokimasia.runner.graph_plan import KIND
    from dokimasia.runner.graph_run import read_graph_plan, resume_graph
    from dokimasia.runner.retrying import retryable
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import resolve_run

    if kinds and not retry_failed:
        raise click.UsageError("--kinds goes with --retry-failed")
    retry = retryable(kinds) if retry_failed else ()
    with Home.open(settings.home, write=False) as home:
        found = resolve_run(home, run)
    limits = {"max_cost": max_cost, "max_calls": max_calls, "max_tokens": max_tokens, "fresh": False}
    changes = limits | ({"prompts": prompt_folders(prompts)} if prompts else {})
    verb = verb_of(found)
    if verb is not None:
        if retry_failed:
            raise click.UsageError("--retry-failed is for evaluations; give the run's command anew with --fresh")
        verb.resume_run(settings, found, changes, as_json=as_json)
        return
    if found.options.get("kind") == KIND:
        if retry_failed:
            raise click.UsageError("--retry-failed is for evaluations; run the graph anew with --fresh")
        asked = read_graph_plan(found)[1].model_copy(update=changes)
        done = run_to_end(
            lambda observer, stop: resume_graph(found, settings=settings, request=asked, observer=observer, stop=stop),
            settings,
        )
        print_run(settings, done.run, as_json=as_json)
        return
    request = read_plan(found)[1].model_copy(update=changes)
    result = run_to_end(
        lambda observer, stop: resume(
            found, settings=settings, request=request, observer=observer, stop=stop, retry=retry
        ),
        settings,
    )
    print_run(settings, result.run, as_json=as_json, figures=result.summary)
