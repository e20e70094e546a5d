"""`dokimasia bundle` and `dokimasia open`: a run as a file, for another home."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import EXISTING_FILE, FILE, common, json_option, print_json, reading, with_target_flags
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("run")
@click.option(
    "-o",
    "--output",
    type=FILE,
    help="Write here (default: RUN.dokimasia in the working folder, by the name of the run if it has one).",
)
@json_option
@common
def bundle(settings: "Settings", run: str, output: Path | None, as_json: bool) -> None:
    """Write the finished run RUN to a file from which `dokimasia open` gets the same figures, without a call.

    The file has the run's rows, its calls in the ledger, its images and its configuration, those of runs that it was made
    from, and nothing of other runs. It holds no keys, but all questions, images, answers and addresses of endpoints.
    """
    from dokimasia.storage.bundles import bundle_file, write_bundle

    with reading(settings, run, lambda row: row.status == "done") as (home, row):
        path = output or bundle_file(home, row)
        manifest = write_bundle(home, row, path)
    rows = sum(table.rows for table in manifest.tables.values())
    if as_json:
        print_json({"path": str(path), "bytes": path.stat().st_size, **manifest.model_dump(mode="json")})
        return
    click.echo(
        f"{path}: run {row.id}, {several(rows, 'row')}, {several(manifest.images, 'image')}, "
        f"{path.stat().st_size:,} bytes"
    )
    if len(manifest.runs) > 1:
        click.echo(f"with what it was made from: run {', '.join(manifest.runs[1:])}")


@click.command("open")
@click.argument("file", type=EXISTING_FILE)
@json_option
@common
def open_command(settings: "Settings", file: Path, as_json: bool) -> None:
    """Add the run of the bundle FILE to the home, which is made if it is missing.

    Every id and hash is verified before the home is changed. A run that the home has already stays as it is.
    """
    from dokimasia.storage.bundles import open_bundle

    opened = asyncio.run(open_bundle(file, settings.home))
    if as_json:
        print_json(opened)
        return
    if opened.added:
        click.echo(f"added run {', '.join(opened.added)} to {settings.home}, verified, without a call")
    else:
        click.echo(f"{settings.home} has run {opened.run} already; it stays as it is")
    click.echo(with_target_flags(f"dokimasia show {opened.run}"))
