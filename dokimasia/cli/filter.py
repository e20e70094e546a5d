"""`dokimasia filter`: keep the images that hold enough to put perception to the test."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.data_run import data_options
from dokimasia.cli.shared import common, json_option

if TYPE_CHECKING:
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run


@click.command()
@click.argument("data", type=click.Path(exists=True, path_type=Path))
@click.option("--judge", required=True, help="The judge: a name from dokimasia.toml or any LiteLLM name.")
@click.option(
    "--thresholds",
    multiple=True,
    metavar="DOMAIN=X,Y|FILE",
    help="Keep a domain's images from complexity X and informativeness Y on (1 to 10); all=X,Y for the rest.",
)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write what is kept as a data file."
)
@data_options
@json_option
@common
def command(
    settings: "Settings",
    data: Path,
    judge: str,
    thresholds: tuple[str, ...],
    output: Path | None,
    asked: dict[str, Any],
    as_json: bool,
) -> None:
    """Rate every image of DATA by visual complexity and informativeness, and keep those that reach the thresholds.

    The domain is the data's own (`domain`, or a category of that name), else the judge says it. A line of DATA needs only
    `id` and `image`. The same command continues an interrupted run, or prints what came of it.
    """
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.filtering import FILTER, FilterRequest, read_thresholds, write_kept
    from dokimasia.runner.image_run import run_images
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    request = FilterRequest(data=data.absolute(), judge=judge, thresholds=read_thresholds(thresholds), **asked)
    result = run_to_end(
        lambda observer, stop: run_images(FILTER, request, settings=settings, observer=observer, stop=stop), settings
    )
    if output is not None:
        with Home.open(settings.home, write=False) as home:
            kept = write_kept(home, get_run(home, result.run), output)
        click.echo(f"{kept} samples written to {output}", err=True)
    print_run(settings, result.run, as_json=as_json)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with a run of the filter under other limits, and print what came of it."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.filtering import FILTER
    from dokimasia.runner.image_run import read_image_plan, resume_images

    request = read_image_plan(FILTER, run)[1].model_copy(update=changes)
    run_to_end(
        lambda observer, stop: resume_images(
            FILTER, run, settings=settings, request=request, observer=observer, stop=stop
        ),
        settings,
    )
    print_run(settings, run.id, as_json=as_json)
