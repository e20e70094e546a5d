"""`dokimasia export`: a run's answers and scores for other tools."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import FILE, common, reading

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("run")
@click.option(
    "--format",
    "name",
    type=click.Choice(["jsonl", "csv", "parquet"]),
    help="Default: as the file's name ends, else jsonl.",
)
@click.option("-o", "--output", type=FILE, help="Write here (default: standard output).")
@common
def command(settings: "Settings", run: str, name: str | None, output: Path | None) -> None:
    """Write one row for each item of RUN, for an evaluation each answer; the same run gives the same bytes.

    In CSV a text that a spreadsheet would take for a formula gets an apostrophe in front; JSON lines and Parquet are
    exact.
    """
    import asyncio
    import sys

    from dokimasia.runs.reading.export_formats import encode, format_of, write_whole
    from dokimasia.runs.reading.exporting import export_rows
    from dokimasia.runs.registry import method_of

    chosen = format_of(name, output)
    if chosen == "parquet" and output is None and sys.stdout.isatty():
        raise click.UsageError("Parquet is no text for a terminal: name a file with -o, or redirect the output")
    with reading(settings, run) as (home, found):
        rows = asyncio.run(export_rows(home, found))
    data = encode(rows, chosen)
    if found.status != "done":
        click.echo(f"run {found.id} is {found.status}: what has no result yet is not in the export", err=True)
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_whole(output, data)
        click.echo(f"wrote {len(rows.rows)} {method_of(found).row_name} to {output}", err=True)
