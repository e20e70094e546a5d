"""`dokimasia report`: one page, or one document, on what a run found."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import FILE, common, json_option, print_json, reading, redact

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("run")
@click.option("-o", "--output", type=FILE, help="Write here (default: reports/RUN.html in the home).")
@click.option(
    "--format", "name", type=click.Choice(["html", "md"]), help="Default: as the file's name ends, else html."
)
@click.option(
    "--samples", type=click.IntRange(0), default=60, show_default=True, help="Show so many samples, failures first."
)
@json_option
@common
def command(settings: "Settings", run: str, output: Path | None, name: str | None, samples: int, as_json: bool) -> None:
    """Write a report on RUN: one page that needs no network, or the same in Markdown; prints its path.

    The same run gives the same bytes. Its figures are those of `dokimasia show RUN --json`.
    """
    import asyncio
    from typing import cast

    from dokimasia.runs.reading.reporting import Format, write_report

    with reading(settings, run) as (home, found):
        written = asyncio.run(
            write_report(home, found, output=output, format=cast("Format | None", name), samples=samples, redact=redact)
        )
    if as_json:
        print_json({"run": found.id, **written._asdict(), "path": str(written.path)})
        return
    if found.status != "done":
        click.echo(f"run {found.id} is {found.status}: the report speaks of what is finished", err=True)
    if written.shown < written.samples:
        click.echo(f"it shows {written.shown} of {written.samples} samples; --samples N shows more", err=True)
    click.echo(written.path)
