"""`dokimasia show`: a run's results, or one sample of it whole."""

from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common, json_option

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("run")
@click.option("--sample", help="Show this sample whole.")
@click.option("--raw", is_flag=True, help="With --sample: also every request and reply as it was sent.")
@json_option
@common
def command(settings: "Settings", run: str, sample: str | None, raw: bool, as_json: bool) -> None:
    """Show the results of RUN (the beginning of its id, or `last`, will do)."""
    from dokimasia.cli.drawing import print_run

    if raw and sample is None:
        raise click.UsageError("--raw goes with --sample ID")
    print_run(settings, run, as_json=as_json, sample=sample, raw=raw)
