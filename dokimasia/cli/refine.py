"""`dokimasia refine`: let the models of a run mend what they got wrong, and see what of it the feedback did."""

from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import common, console, json_option, print_json, prompt_folders, prompts_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run


@click.command()
@click.argument("run")
@click.option(
    "--strategy",
    type=click.Choice(["again", "retry", "self", "peer", "all"]),
    default="all",
    show_default=True,
    help="What the models are told; self and peer always run again and retry beside them.",
)
@click.option("--rounds", type=click.IntRange(1, 5), default=1, show_default=True, help="Rounds at most.")
@click.option(
    "--threshold",
    type=click.FloatRange(1, 5, min_open=True),
    help="Take up answers that score below this in place of those whose final answer is wrong.",
)
@click.option("--models", default="", help="Only these models' failures, separated by commas.")
@click.option("--peers", default="", help="Only these models give hints, separated by commas.")
@click.option(
    "--withhold",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.5,
    show_default=True,
    help="The share of failed atoms that no feedback names, scored apart.",
)
@click.option(
    "--judgements", type=click.IntRange(1, 5), default=1, show_default=True, help="Judgements of each new answer."
)
@click.option(
    "--leak-judge/--no-leak-judge",
    default=True,
    show_default=True,
    help="Let the judge look for leaks in what the certain rules let pass, before it is sent.",
)
@click.option("--show-answer", is_flag=True, help="Show the model its earlier answer.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Which atoms are withheld.")
@prompts_option
@click.option("--max-cost", type=click.FloatRange(0), help="Spend at most so many US dollars in this sitting.")
@click.option("--max-calls", type=click.IntRange(0), help="Send at most so many requests in this sitting.")
@click.option("--max-tokens", type=click.IntRange(0), help="Use at most so many tokens in this sitting.")
@click.option("--fresh", is_flag=True, help="Make a new run; what the ledger has is still not asked again.")
@json_option
@common
def command(
    settings: "Settings",
    run: str,
    strategy: str,
    rounds: int,
    threshold: float | None,
    models: str,
    peers: str,
    withhold: float,
    judgements: int,
    leak_judge: bool,
    show_answer: bool,
    seed: int,
    prompts: tuple[str, ...],
    max_cost: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    fresh: bool,
    as_json: bool,
) -> None:
    """Let the models of RUN (the beginning of its id, or `last`, will do) mend their failures, without training.

    RUN is an evaluation; a refinement stands for the run that it refines.

    Every arm takes up the same failed answers: again (the same prompt anew), retry (told only that it was wrong), self
    (told the questions of the failed atoms, never their answers), peer (with hints of models that solved them). The
    same command continues an interrupted refinement, or prints its results.
    """
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.refinement.plan import KIND, RefinementRequest
    from dokimasia.methods.refinement.refining import refine
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import resolve_run

    with Home.open(settings.home, write=False) as home:
        source = resolve_run(home, run)
        if source.options.get("kind") == KIND:
            source = resolve_run(home, str(source.options["source"]))
    request = RefinementRequest.model_validate(
        {
            "run": source.id,
            "strategy": strategy,
            "rounds": rounds,
            "threshold": threshold,
            "models": _names(models),
            "peers": _names(peers),
            "withhold": withhold,
            "judgements": judgements,
            "leak_judge": leak_judge,
            "show_answer": show_answer,
            "seed": seed,
            "prompts": prompt_folders(prompts),
            "max_cost": max_cost,
            "max_calls": max_calls,
            "max_tokens": max_tokens,
            "fresh": fresh,
        }
    )
    result = run_to_end(
        lambda observer, stop: refine(request, settings=settings, observer=observer, stop=stop), settings
    )
    print_refinement(result.summary, as_json=as_json)


def show_run(settings: "Settings", run: "Run", *, as_json: bool, sample: str | None = None) -> None:
    """Print a refinement's figures; with `sample`, one sample of it whole."""
    from dokimasia.methods.refinement.results import refined_sample, refinement_summary
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        view = refinement_summary(home, run) if sample is None else refined_sample(home, run, sample)
    if sample is None or as_json:
        print_refinement(view, as_json=as_json)
        return
    from dokimasia.cli.refine_view import print_refined_sample

    print_refined_sample(view)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with a refinement under other limits, and print what came of it."""
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.refinement.refining import read_refinement, resume_refinement

    request = read_refinement(run)[1].model_copy(update=changes)
    result = run_to_end(
        lambda observer, stop: resume_refinement(run, settings=settings, request=request, observer=observer, stop=stop),
        settings,
    )
    print_refinement(result.summary, as_json=as_json)


def print_refinement(
    summary: dict[str, Any], *, as_json: bool, planted: "Mapping[str, Mapping[str, float]] | None" = None
) -> None:
    """Print a refinement's figures: JSON for machines, tables for people; simulated models are named first.

    `planted` is the accuracy that the planted parameters make expected, by model and arm.
    """
    if as_json:
        print_json({**summary, "planted": planted} if planted is not None else summary)
        return
    from dokimasia.cli import refine_tables as tables
    from dokimasia.report.data import SIMULATED_NOTE

    out = console()
    if summary["simulated"]:
        out.print(f"[yellow]{SIMULATED_NOTE}[/yellow]")
    state = "" if summary["status"] == "done" else f" · [bold red]{summary['status']}[/bold red]"
    out.print(f"[bold]run {summary['run']} · refines run {summary['source']} · judge {summary['judge']}[/bold]{state}")
    for name, model in summary["models"].items():
        counts = ", ".join(f"{count} {verdict}" for verdict, count in model["answered"].items()) or "none was checked"
        out.print(f"[dim]{name}: final answers: {counts}; taken up: {model['failed']}[/dim]")
    if not summary["failed"]:
        out.print("no answer failed: there is nothing to refine")
        return
    for table in tables.category_tables(summary):
        out.print(table)
    out.print("[dim]above: accuracy in percent; below: mean atom score, 1 to 5; gain in points[/dim]")
    for table in tables.gains_tables(summary):
        out.print(table)
    out.print(tables.arms_table(summary))
    apart = tables.apart_table(summary)
    if apart is not None:
        out.print(apart)
    if planted is not None:
        out.print(tables.planted_table(summary, planted))
    for line in tables.notes(summary):
        out.print(line, style="dim", markup=False)


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())
