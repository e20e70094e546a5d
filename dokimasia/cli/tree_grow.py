"""`dokimasia tree grow`: grow a capability tree from the criteria of a run or of a file, or grow one on."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import common, json_option, prompt_folders, prompts_option

if TYPE_CHECKING:
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run


@click.command()
@click.argument("run", required=False)
@click.option("--judge", required=True, help="The judge: a name from dokimasia.toml or any LiteLLM name.")
@click.option(
    "--criteria",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Grow from this file instead of a run: JSON lines, a JSON list or CSV of criterion, sample_id[, category].",
)
@click.option("--onto", metavar="TREE", help="Grow this tree on: propose only where nothing fits.")
@click.option("--name", help="The new tree's name (default: after the data and the growth).")
@click.option("--categories", default="", help="The fixed anchors, separated by commas (default: the six of ATOM).")
@click.option(
    "--subsample", type=click.IntRange(0), default=260, show_default=True, help="Samples to grow from; 0 takes all."
)
@click.option(
    "--by",
    type=click.Choice(["category", "source"]),
    default="category",
    show_default=True,
    help="What the sub-sample is balanced over.",
)
@click.option(
    "--rounds", type=click.IntRange(1, 15), default=2, show_default=True, help="Rounds of propose, merge and prune."
)
@click.option(
    "--min-support", type=click.IntRange(1), default=5, show_default=True, help="The fewest criteria of a leaf."
)
@click.option(
    "--batch", type=click.IntRange(1, 200), default=25, show_default=True, help="Criteria that one call maps."
)
@click.option("--embedding", metavar="MODEL", help="Find equal names by this model's embeddings (default: n-grams).")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the sub-sample.")
@click.option("--max-cost", type=click.FloatRange(0), help="Spend at most so many US dollars in this sitting.")
@click.option("--max-calls", type=click.IntRange(0), help="Send at most so many requests in this sitting.")
@click.option("--max-tokens", type=click.IntRange(0), help="Use at most so many tokens in this sitting.")
@click.option("--fresh", is_flag=True, help="Make a new growth; what the ledger has is still not asked again.")
@prompts_option
@json_option
@common
def command(
    settings: "Settings",
    run: str | None,
    judge: str,
    file: Path | None,
    onto: str | None,
    name: str | None,
    categories: str,
    subsample: int,
    by: str,
    rounds: int,
    min_support: int,
    batch: int,
    embedding: str | None,
    seed: int,
    max_cost: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    fresh: bool,
    prompts: tuple[str, ...],
    as_json: bool,
) -> None:
    """Grow a tree from the criteria of RUN (the beginning of its id, or last), or of a file with --criteria.

    A balanced part of the samples is proposed for, equal capabilities are merged and rare ones folded; then every
    criterion is mapped to exactly one leaf, or counted as unplaced. The same command continues a growth that was
    interrupted, or prints what it came to.
    """
    from pydantic import ValidationError

    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.domain.capability import CATEGORIES
    from dokimasia.runner.growing import GrowthRequest, grow

    if (run is None) == (file is None):
        raise click.UsageError("name a RUN, or a file with --criteria FILE; one of the two")
    if onto is not None and (name is not None or categories):
        raise click.UsageError("--onto keeps the tree's name and categories: leave --name and --categories out")
    try:
        request = GrowthRequest(
            judge=judge,
            run=run,
            file=file.absolute() if file else None,
            onto=onto,
            name=name,
            categories=tuple(one.strip() for one in categories.split(",") if one.strip()) or CATEGORIES,
            subsample=subsample,
            by=by,
            rounds=rounds,
            min_support=min_support,
            batch=batch,
            embedding=embedding,
            seed=seed,
            prompts=prompt_folders(prompts),
            fresh=fresh,
            max_cost=max_cost,
            max_calls=max_calls,
            max_tokens=max_tokens,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise click.UsageError(f"--{'.'.join(map(str, first['loc'])).replace('_', '-')}: {first['msg']}") from None
    result = run_to_end(lambda observer, stop: grow(request, settings=settings, observer=observer, stop=stop), settings)
    print_run(settings, result.run, as_json=as_json, figures=result.summary)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with a growth under other limits, and print what it came to."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.growing import read_growth_plan, resume_growth

    asked = read_growth_plan(run)[1].model_copy(update=changes)
    grown = run_to_end(
        lambda observer, stop: resume_growth(run, settings=settings, request=asked, observer=observer, stop=stop),
        settings,
    )
    print_run(settings, grown.run, as_json=as_json, figures=grown.summary)
