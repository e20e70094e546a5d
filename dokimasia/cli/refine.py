"""`dokimasia refine`: let the models of a run mend what they got wrong, and see what of it the feedback did."""

from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import common, json_option, prompt_folders, prompts_option

if TYPE_CHECKING:
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
@click.option("--leak-judge", is_flag=True, help="Let the judge, too, look at feedback and hints before they are sent.")
@click.option("--embedding", help="An embedding model, by which near paraphrases are found to leak, too.")
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
    embedding: str | None,
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
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.refining import refine
    from dokimasia.runner.refining_plan import KIND, RefinementRequest
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
            "embedding": embedding,
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
    print_run(settings, result.run, as_json=as_json, figures=result.summary)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with a refinement under other limits, and print what came of it."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.refining import read_refinement, resume_refinement

    request = read_refinement(run)[1].model_copy(update=changes)
    result = run_to_end(
        lambda observer, stop: resume_refinement(run, settings=settings, request=request, observer=observer, stop=stop),
        settings,
    )
    print_run(settings, result.run, as_json=as_json, figures=result.summary)


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())
