"""`dokimasia review`: a panel of models agrees on a description of each image, or the image is discarded."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.data_run import data_options, named_models
from dokimasia.cli.shared import common, json_option

if TYPE_CHECKING:
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run


@click.command()
@click.argument("data", type=click.Path(exists=True, path_type=Path))
@click.option("--panel", required=True, help="Two or more models, separated by commas; three different ones are usual.")
@click.option("--cycles", type=click.IntRange(1), default=2, show_default=True, help="Cycles of review at most.")
@click.option(
    "--accept",
    type=click.Choice(["unanimous", "majority"]),
    default="unanimous",
    show_default=True,
    help="majority: after the last cycle more than half of the votes will do; every such caption is marked.",
)
@click.option("--prompt", help="What descriptions are asked for, in place of a full description.")
@data_options
@json_option
@common
def command(
    settings: "Settings",
    data: Path,
    panel: str,
    cycles: int,
    accept: str,
    prompt: str | None,
    asked: dict[str, Any],
    as_json: bool,
) -> None:
    """Have a panel describe every image of DATA, compare, rank, rewrite and vote, until all agree on one description.

    What is still divided after the last cycle is discarded. A line of DATA needs only `id` and `image`; a question that it
    has is not asked. Accepted descriptions are unverified until a person has checked them (dokimasia check). The same
    command continues an interrupted run, or prints what came of it.
    """
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.image_run import run_images
    from dokimasia.runner.reviewing import REVIEW, ReviewRequest

    request = ReviewRequest.model_validate(
        {
            "data": data.absolute(),
            "panel": named_models(panel),
            "cycles": cycles,
            "accept": accept,
            "prompt": prompt,
            **asked,
        }
    )
    result = run_to_end(
        lambda observer, stop: run_images(REVIEW, request, settings=settings, observer=observer, stop=stop), settings
    )
    print_run(settings, result.run, as_json=as_json)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with a review under other limits, and print what came of it."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.image_run import read_image_plan, resume_images
    from dokimasia.runner.reviewing import REVIEW

    request = read_image_plan(REVIEW, run)[1].model_copy(update=changes)
    run_to_end(
        lambda observer, stop: resume_images(
            REVIEW, run, settings=settings, request=request, observer=observer, stop=stop
        ),
        settings,
    )
    print_run(settings, run.id, as_json=as_json)
