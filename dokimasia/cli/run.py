"""`dokimasia run`: walk a data set through the graph of a plug-in, with the ledger and the resume of every other run."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common, json_option, prompt_folders, prompts_option

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("graph")
@click.argument("data", type=click.Path(exists=True, path_type=Path))
@click.option("--judge", required=True, help="The judge: a name from dokimasia.toml or any LiteLLM name.")
@click.option("--models", default="", help="Models, separated by commas: each sample is walked through once for each.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N samples.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Handed to the graph.")
@click.option("--prompt", help="The question of samples that have none of their own, such as the images of a folder.")
@prompts_option
@click.option(
    "--on-bad-sample",
    type=click.Choice(["fail", "skip"]),
    default="fail",
    show_default=True,
    help="What to do with a line of the data that cannot be used.",
)
@click.option("--allow-fetch", is_flag=True, help="Fetch images that the data names by https URL.")
@click.option("--max-cost", type=click.FloatRange(0), help="Spend at most so many US dollars in this sitting.")
@click.option("--max-calls", type=click.IntRange(0), help="Send at most so many requests in this sitting.")
@click.option("--max-tokens", type=click.IntRange(0), help="Use at most so many tokens in this sitting.")
@click.option("--fresh", is_flag=True, help="Make a new run; what the ledger has is still not asked again.")
@json_option
@common
def command(
    settings: "Settings",
    graph: str,
    data: Path,
    judge: str,
    models: str,
    limit: int | None,
    seed: int,
    prompt: str | None,
    prompts: tuple[str, ...],
    on_bad_sample: str,
    allow_fetch: bool,
    max_cost: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    fresh: bool,
    as_json: bool,
) -> None:
    """Walk the samples of DATA through GRAPH, a graph that an installed plug-in brings (dokimasia plugins lists them).

    The same command continues an interrupted run, or prints what came of it.
    """
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.graph_run import GraphRequest, run_graph

    request = GraphRequest(
        graph=graph,
        data=data.absolute(),
        judge=judge,
        models=tuple(name.strip() for name in models.split(",") if name.strip()),
        limit=limit,
        seed=seed,
        prompt=prompt,
        prompts=prompt_folders(prompts),
        fresh=fresh,
        on_bad_sample=on_bad_sample,
        allow_fetch=allow_fetch,
        max_cost=max_cost,
        max_calls=max_calls,
        max_tokens=max_tokens,
    )
    result = run_to_end(
        lambda observer, stop: run_graph(request, settings=settings, observer=observer, stop=stop), settings
    )
    print_run(settings, result.run, as_json=as_json)
