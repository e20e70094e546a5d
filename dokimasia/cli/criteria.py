"""`dokimasia criteria`: export and import sets of atomic criteria, made once and reused for ever."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.group()
def command() -> None:
    """Export the criteria of a run, or import a file of them to score any model by."""


@command.command()
@click.argument("run")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write here (default: standard output)."
)
@common
def export(settings: "Settings", run: str, output: Path | None) -> None:
    """Write the criteria of RUN as JSON lines: sample, chain, criteria with ground truth, weight and anchor."""
    import asyncio

    from dokimasia.runner.criteria_files import export_criteria
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import resolve_run

    with Home.open(settings.home, write=False) as home:
        data = b"".join(asyncio.run(export_criteria(home, resolve_run(home, run))))
    if output is None:
        click.get_binary_stream("stdout").write(data)
        return
    temporary = output.with_name(f".{output.name}.part")
    temporary.write_bytes(data)
    temporary.replace(output)
    count = data.count(b"\n")
    click.echo(f"wrote {count} sets of criteria to {output}", err=True)


@command.command(name="import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
@common
def import_(settings: "Settings", file: Path, as_json: bool) -> None:
    """Keep the criteria of FILE as a collection; its id is a hash of its content."""
    import asyncio

    from dokimasia.runner.criteria_files import import_criteria
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=True) as home:
        collection, size = asyncio.run(import_criteria(home, file))
    if as_json:
        print_json({"collection": collection, "samples": size})
    else:
        click.echo(
            f"collection {collection}: criteria for {size} samples. "
            f"Use it: dokimasia evaluate DATA --criteria {collection} …"
        )
