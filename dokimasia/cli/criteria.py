"""`dokimasia criteria`: export, import and check sets of atomic criteria, made once and reused."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.method_verb import verb_of
from dokimasia.cli.shared import EXISTING_FILE, FILE, common, console, grid, json_option, print_json, reading
from dokimasia.domain.wording import percentage
from dokimasia.methods.quality import METHOD as QUALITY

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.group()
def command() -> None:
    """Export the criteria of a run, import a file of them to score any model by, see what they leave out, or have them rated."""


@command.command(short_help="Write the criteria of a run as JSON lines.")
@click.argument("run")
@click.option("-o", "--output", type=FILE, help="Write here (default: standard output).")
@common
def export(settings: "Settings", run: str, output: Path | None) -> None:
    """Write the criteria of RUN as JSON lines: sample, chain, criteria with ground truth, weight and anchor."""
    from dokimasia.methods.evaluation.criteria import export_criteria
    from dokimasia.runs.reading.exporting import write_whole

    with reading(settings, run) as (home, row):
        data = b"".join(asyncio.run(export_criteria(home, row)))
    if output is None:
        sys.stdout.buffer.write(data)
        return
    write_whole(output, data)
    count = data.count(b"\n")
    click.echo(f"wrote {count} sets of criteria to {output}", err=True)


@command.command(name="import", short_help="Store the criteria of a file as a collection.")
@click.argument("file", type=EXISTING_FILE)
@json_option
@common
def import_(settings: "Settings", file: Path, as_json: bool) -> None:
    """Keep the criteria of FILE as a collection; its id is a hash of its content."""
    from dokimasia.methods.evaluation.criteria import import_criteria
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


@command.command(short_help="Show which parts of the reference answers no criterion touches.")
@click.argument("run")
@json_option
@common
def coverage(settings: "Settings", run: str, as_json: bool) -> None:
    """Show which sentences of the reference answers no criterion of RUN touches.

    Found by shared words, without a model: a hint where to look, and no verdict.
    """
    from dokimasia.methods.evaluation.criteria import coverage_of, covered_share

    with reading(settings, run) as (home, row):
        samples = asyncio.run(coverage_of(home, row))
    share = covered_share(samples)
    if as_json:
        plain = [sample.model_dump(mode="json") | {"share": sample.share} for sample in samples]
        print_json({"run": row.id, "share": share, "samples": plain})
        return
    out = console()
    if share is None:
        out.print(f"run {row.id}: no sample with criteria has a reference answer to compare them with")
        return
    out.print(
        f"[bold]run {row.id}[/bold] · criteria touch {percentage(share)} of the sentences of the references of "
        f"{len(samples)} samples"
    )
    incomplete = [sample for sample in samples if sample.uncovered]
    if not incomplete:
        return
    table = grid()
    table.add_column("sample", overflow="fold", min_width=12)
    for name in ("criteria", "sentences", "covered"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("touched by no criterion", overflow="fold", ratio=1)
    for sample in sorted(incomplete, key=lambda sample: sample.share):
        sentences = "\n".join(f"- {sentence}" for sentence in sample.uncovered)
        table.add_row(
            escape(sample.sample),
            str(sample.criteria),
            str(sample.sentences),
            percentage(sample.share),
            escape(sentences),
        )
    out.print(table)
    out.print("[dim]by shared words: a hint where to look, and no verdict[/dim]")


command.add_command(verb_of(QUALITY), "quality")
