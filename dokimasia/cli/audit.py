"""`dokimasia audit`: models describe images, a judge holds each description against gated rubrics."""

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
@click.option("--rubrics", required=True, metavar="RUN|FILE", help="A run that made rubrics, or a file of them.")
@click.option("--models", required=True, help="The models to audit, separated by commas.")
@click.option("--judge", required=True, help="The judge: a name from dokimasia.toml or any LiteLLM name.")
@click.option(
    "--repeats", type=click.IntRange(1), default=1, show_default=True, help="Answers and judgements a sample."
)
@click.option("--no-image", is_flag=True, help="Also ask every model without the image (arm NAME#blind).")
@click.option("--show-image", is_flag=True, help="Show the judge the image, too.")
@click.option("--prompt", help="What the models are asked, in place of a full description.")
@data_options
@json_option
@common
def command(
    settings: "Settings",
    data: Path,
    rubrics: str,
    models: str,
    judge: str,
    repeats: int,
    no_image: bool,
    show_image: bool,
    prompt: str | None,
    asked: dict[str, Any],
    as_json: bool,
) -> None:
    """Audit models on the images of DATA by gated rubrics: one failed must-right rubric and the description scores nothing.

    A line of DATA needs only `id` and `image`; rubrics are found by the sample's name, else by its image. A file of
    rubrics needs no other run. The same command continues an interrupted audit, or prints its results.
    """
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.audit_plan import AuditRequest
    from dokimasia.runner.auditing import audit

    request = AuditRequest.model_validate(
        {
            "data": data.absolute(),
            "rubrics": str(Path(rubrics).absolute()) if Path(rubrics).is_file() else rubrics,
            "models": named_models(models),
            "judge": judge,
            "repeats": repeats,
            "no_image": no_image,
            "show_image": show_image,
            "prompt": prompt,
            **asked,
        }
    )
    result = run_to_end(
        lambda observer, stop: audit(request, settings=settings, observer=observer, stop=stop), settings
    )
    print_run(settings, result.run, as_json=as_json)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with an audit under other limits, and print what came of it."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.runner.auditing import read_audit, resume_audit

    request = read_audit(run)[1].model_copy(update=changes)
    run_to_end(
        lambda observer, stop: resume_audit(run, settings=settings, request=request, observer=observer, stop=stop),
        settings,
    )
    print_run(settings, run.id, as_json=as_json)
