"""`dokimasia analyse`: an audit's figures: gaps, domains, consistency, agreement, length, judges, coverage."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import EXISTING_FILE, FILE, common, json_option, reading, redact

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("run")
@click.option(
    "--ratings", type=EXISTING_FILE, help="Outside ratings: JSON lines or CSV of model, rating and, a response's, id."
)
@click.option(
    "--benchmark",
    "benchmarks",
    multiple=True,
    metavar="NAME=FILE",
    help="Another benchmark's scores of the models, held against the same ratings: a file in their form. May be repeated.",
)
@click.option("--against", metavar="RUN2", help="An audit of the same rubrics by another judge.")
@click.option(
    "--passport",
    "passports",
    multiple=True,
    type=EXISTING_FILE,
    help="--against: the passports of both judges, to average them.",
)
@click.option(
    "-o", "--output", type=FILE, help="Also write a report with charts: FILE.html without network, or FILE.md."
)
@json_option
@common
def command(
    settings: "Settings",
    run: str,
    ratings: Path | None,
    benchmarks: tuple[str, ...],
    against: str | None,
    passports: tuple[Path, ...],
    output: Path | None,
    as_json: bool,
) -> None:
    """Analyse the audit RUN: each analysis as numbers and one sentence, and with -o as a chart.

    Reports the reliability gap, where gates fail, whether the two streams go together, the agreement with outside
    ratings with and without the gate, length bias, what another judge says, and what fewer rubrics would say.
    """
    import asyncio

    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.local_backend import LocalBackend
    from dokimasia.methods.audit.analyses import analyse
    from dokimasia.runs.reading.reporting import write_report
    from dokimasia.storage.naming import comparable_with, of_method, resolve_run

    with reading(settings, run, of_method("audit")) as (home, row):
        other = resolve_run(home, against, comparable_with(row)) if against else None
        figures = analyse(
            home, row, ratings=ratings, against=other, benchmarks=_files_by_name(benchmarks), passports=passports
        )
        if output is not None:
            asyncio.run(write_report(home, row, output=output, redact=redact, figures=figures))
    print_run(LocalBackend(settings), row.id, as_json=as_json, figures=figures, full=True)
    if output is not None:
        click.echo(f"wrote {output}", err=True)


def _files_by_name(benchmarks: tuple[str, ...]) -> dict[str, Path]:
    """Return the files of other benchmarks by name."""
    files: dict[str, Path] = {}
    for benchmark in benchmarks:
        name, equals, path = benchmark.partition("=")
        if not (name and equals and path) or name in files:
            raise click.BadParameter(f"{benchmark!r}: write NAME=FILE, each name once", param_hint="--benchmark")
        files[name] = Path(path)
    return files
