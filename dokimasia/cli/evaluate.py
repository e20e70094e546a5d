"""`dokimasia evaluate`: a data set, a judge and candidates in; scores by atomic criteria out."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common, json_option, prompt_folders, prompts_option

if TYPE_CHECKING:
    from dokimasia.runner.evaluation import EvaluationRequest
    from dokimasia.settings import Settings

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("data", type=click.Path(exists=True, path_type=Path))
@click.option("--judge", required=True, help="The judge: a name from dokimasia.toml or any LiteLLM name.")
@click.option("--models", default="", help="The candidates, separated by commas.")
@click.option(
    "--repeats", type=click.IntRange(1), default=1, show_default=True, help="Answers and judgements a sample."
)
@click.option("--no-image", is_flag=True, help="Also ask every candidate without the image (arm NAME#blind).")
@click.option("--show-image", is_flag=True, help="Show the judge the image when it scores answers, too.")
@click.option(
    "--tools", default="", help="Tools for the judge to look closer with: crop,zoom,... or all. Shows it the image."
)
@click.option(
    "--looks", type=click.IntRange(1, 100), default=6, show_default=True, help="With --tools: looks an ask at most."
)
@click.option("--limit", type=click.IntRange(1), help="Only the first N samples.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the intervals.")
@click.option("--criteria", help="Score by an imported collection of criteria (see: dokimasia criteria).")
@click.option("--responses", type=FILE, help="Score answers that exist: JSON lines of id, model, response, repeat.")
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
@click.option("--keep-checkpoints", is_flag=True, help="Keep every step of every graph for inspection (slower).")
@click.option("--fresh", is_flag=True, help="Make a new run; what the ledger has is still not asked again.")
@click.option("--dry-run", is_flag=True, help="Print the estimate and one prompt of each kind; ask nothing.")
@json_option
@common
def command(
    settings: "Settings",
    data: Path,
    judge: str,
    models: str,
    repeats: int,
    no_image: bool,
    show_image: bool,
    tools: str,
    looks: int,
    limit: int | None,
    seed: int,
    criteria: str | None,
    responses: Path | None,
    prompt: str | None,
    prompts: tuple[str, ...],
    on_bad_sample: str,
    allow_fetch: bool,
    max_cost: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    keep_checkpoints: bool,
    fresh: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Evaluate models on DATA: JSON lines, a VLMEvalKit TSV, Parquet, or a folder of images (with --prompt).

    The judge replays the reasoning once a sample and draws atomic criteria from it; every candidate answers; the judge
    scores all criteria of an answer in one call. The same command continues an interrupted run, or prints its results.
    """
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.evaluation import EvaluationRequest, evaluate

    request = EvaluationRequest(
        data=data.absolute(),
        judge=judge,
        models=tuple(name.strip() for name in models.split(",") if name.strip()),
        repeats=repeats,
        no_image=no_image,
        show_image=show_image,
        tools=tuple(name.strip() for name in tools.split(",") if name.strip()),
        looks=looks,
        limit=limit,
        seed=seed,
        criteria=criteria,
        responses=responses.absolute() if responses else None,
        prompt=prompt,
        prompts=prompt_folders(prompts),
        fresh=fresh,
        on_bad_sample=on_bad_sample,
        allow_fetch=allow_fetch,
        max_cost=max_cost,
        max_calls=max_calls,
        max_tokens=max_tokens,
        keep_checkpoints=keep_checkpoints,
    )
    if dry_run:
        _dry_run(request, settings, as_json=as_json)
        return
    result = run_to_end(
        lambda observer, stop: evaluate(request, settings=settings, observer=observer, stop=stop), settings
    )
    print_run(settings, result.run, as_json=as_json, figures=result.summary)


def _dry_run(request: "EvaluationRequest", settings: "Settings", *, as_json: bool) -> None:
    from dokimasia.cli.preview import preview, print_preview
    from dokimasia.cli.shared import print_json

    shown = preview(request, settings)
    if as_json:
        print_json(shown)
    else:
        print_preview(shown)
