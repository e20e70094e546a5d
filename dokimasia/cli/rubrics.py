"""`dokimasia rubrics`: must-right and easy-wrong rubrics from golden captions, and rubric sets as files."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.data_run import data_options, named_models
from dokimasia.cli.shared import common, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run


@click.command()
@click.argument("source", required=False)
@click.option("--judge", help="Who writes the rubrics: a name from dokimasia.toml or any LiteLLM name.")
@click.option("--pool", default="", help="Models, separated by commas, whose errors easy-wrong rubrics are mined from.")
@click.option("--panel", help="Who cross-checks every rubric (default: the review's panel); none: nobody.")
@click.option("--prompt", help="What the pool is asked, in place of what the review asked.")
@click.option(
    "--export",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the rubrics to this file, as JSON lines.",
)
@click.option("--schema", "show_schema", is_flag=True, help="Print the JSON schema of such a file's lines, and end.")
@data_options
@json_option
@common
def command(
    settings: "Settings",
    source: str | None,
    judge: str | None,
    pool: str,
    panel: str | None,
    prompt: str | None,
    output: Path | None,
    show_schema: bool,
    asked: dict[str, Any],
    as_json: bool,
) -> None:
    """Make rubrics from the golden captions of SOURCE: a review's run, or a data file with captions.

    A data file's lines have `id`, `image`, and the caption as `caption` or `reference_answer`. With --export alone (no
    --judge), SOURCE is a run that made rubrics, and they are written as they stand after people's checks. The same command
    continues an interrupted run, or prints what came of it.
    """
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.rubric_files import schema
    from dokimasia.runner.rubric_making import make_rubrics
    from dokimasia.runner.rubric_plan import KIND, RubricRequest
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run, resolve_run

    if show_schema:
        print_json(schema())
        return
    if source is None:
        raise click.UsageError("name a review's run or a file of captions")
    if judge is None:
        if output is None:
            raise click.UsageError("name who writes the rubrics with --judge, and --pool; or --export FILE alone")
        with Home.open(settings.home, write=False) as home:
            run = resolve_run(home, source)
        if run.options.get("kind") != KIND:
            raise click.UsageError(f"run {run.id} made no rubrics: name who writes them with --judge, and --pool")
        _export(settings, run, output)
        return
    path = Path(source)
    request = RubricRequest.model_validate(
        {
            "data": path.absolute() if path.exists() else path,
            "source": "" if path.exists() else source,
            "judge": judge,
            "pool": named_models(pool),
            "panel": None if panel is None else () if panel == "none" else named_models(panel),
            "prompt": prompt,
            **asked,
        }
    )
    result = run_to_end(
        lambda observer, stop: make_rubrics(request, settings=settings, observer=observer, stop=stop), settings
    )
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, result.run)
    print_run(settings, run.id, as_json=as_json)
    if output is not None:
        _export(settings, run, output)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with the making of rubrics under other limits, and print what came of it."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.image_run import read_image_plan, resume_images
    from dokimasia.runner.rubric_making import RUBRICS

    request = read_image_plan(RUBRICS, run)[1].model_copy(update=changes)
    run_to_end(
        lambda observer, stop: resume_images(
            RUBRICS, run, settings=settings, request=request, observer=observer, stop=stop
        ),
        settings,
    )
    print_run(settings, run.id, as_json=as_json)


def _export(settings: "Settings", run: "Run", output: Path) -> None:
    from dokimasia.runner.export_formats import write_whole
    from dokimasia.runner.rubric_files import encode_sets, sets_of_run
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        sets = sets_of_run(home, run)
    write_whole(output, encode_sets(sets))
    click.echo(f"wrote the rubrics of {len(sets)} images to {output}", err=True)
