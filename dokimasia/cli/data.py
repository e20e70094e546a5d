"""`dokimasia data`: look at a data set before spending anything."""

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.requests import DataPath
from dokimasia.cli.shared import console, grid, json_option, print_json
from dokimasia.domain.wording import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dokimasia.datasets import DataReport, Problem
    from dokimasia.datasets.statistics import DataStatistics

BAD = 2
"""The exit code of a data set with a problem."""

MOST_NAMED = 15
"""The most roles, instructions, image types and sub-categories printed (Creation-MMBench, figure 10); --json has all."""

LONGEST_NAME = 60
"""The number of printed characters of a role or an instruction."""

SHOWN = 200
"""The number of problems printed in full; --json has them all."""


@click.group()
def command() -> None:
    """Inspect a data set before paying for a run."""


@command.command()
@click.argument("data", type=DataPath(exists=True, path_type=Path))
@click.option(
    "--map", "columns", metavar="FIELD=COLUMN", multiple=True, help="The column of a field, or a template of several."
)
@click.option("--limit", type=click.IntRange(1), help="Only the first N samples.")
@click.option("--prompt", help="The question of samples that have none of their own, such as the images of a folder.")
@click.option("--allow-fetch", is_flag=True, help="Fetch images that the data names by https URL, to check them too.")
@click.option("--allow-outside", is_flag=True, help="Read images whose paths lead out of the folder of the data.")
@json_option
def check(
    data: Path,
    columns: tuple[str, ...],
    limit: int | None,
    prompt: str | None,
    allow_fetch: bool,
    allow_outside: bool,
    as_json: bool,
) -> int:
    """Read DATA once, and report all problems and what it contains.

    DATA is JSON lines, CSV, Excel, a VLMEvalKit TSV, Parquet, a folder of images, or hf://ORG/NAME. Every image is decoded.
    Nothing is sent and nothing is kept. The exit code is 2 if there is any problem.
    """
    from dokimasia.datasets import check as check_data
    from dokimasia.datasets import format_of, parse_mapping, plain_report
    from dokimasia.runs.samples import bring_reader

    bring_reader(data)
    name = format_of(data).name
    report = check_data(
        data,
        mapping=parse_mapping(columns),
        limit=limit,
        allow_fetch=allow_fetch,
        allow_outside=allow_outside,
        prompt=prompt,
    )
    if as_json:
        print_json(plain_report(data, name, report))
    else:
        _print(data, name, report)
    return BAD if report.problems else 0


@command.command()
@click.argument("sets", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
def captions(sets: tuple[Path, ...], as_json: bool) -> int:
    """Compare SETS of captions: images, words per caption, domains, annotators, sources.

    SETS are files of JSON lines, such as data with captions of your own and what `dokimasia rubrics --export` writes. Images
    are counted by name and not opened.
    """
    from dokimasia.datasets.captions import read_caption_set

    read = [read_caption_set(path) for path in sets]
    if as_json:
        print_json({"sets": [captions._asdict() for captions in read]})
        return 0
    table = grid("", *(captions.name for captions in read))
    for title, values in {
        "images": [f"{captions.images:,}" for captions in read],
        "captions": [f"{captions.captions:,}" for captions in read],
        "words per caption": [f"{captions.words_a_caption:,.2f}" for captions in read],
        "median, longest": [f"{captions.median_words:,.0f}, {captions.longest:,}" for captions in read],
        "domains": [_counts(captions.domains) for captions in read],
        "annotators": [_counts(captions.annotators) for captions in read],
        "sources": [_counts(captions.sources) for captions in read],
    }.items():
        table.add_row(title, *map(escape, values))
    console().print(table)
    return 0


def _print(data: Path, name: str, report: "DataReport") -> None:
    out = console()
    out.print(f"[bold]{escape(str(data))}[/bold] · {name} · {_count(report.samples, 'valid sample')}")
    facts = {
        "with images": f"{report.samples - report.without_image:,} ({_count(report.images, 'distinct image')})",
        "with a reference answer": f"{report.with_reference:,}",
        "with options": f"{report.with_choices:,}",
        "categories": _counts(report.categories),
        **_statistics(report.statistics),
        "columns": ", ".join(_field(*column) for column in report.used.items()),
        "unused columns": ", ".join(report.unused) or "none",
    }
    for fact, value in facts.items():
        out.print(f"  {fact}: {escape(value)}")
    if report.samples and not report.with_reference:
        out.print("  No column is a reference answer; --map reference_answer=COLUMN names one.")
    if report.remarks:
        out.print(f"\n[yellow]{_count(len(report.remarks), 'warning')}[/yellow]")
        _lines([remark.message for remark in report.remarks])
    if not report.problems:
        out.print("\n[green]No problems found.[/green]")
        return
    unit = {"folder": "file", "parquet": "row", "hf": "row"}.get(name, "line")
    bad = f" on {_count(report.bad_lines, unit)}" if report.bad_lines else ""
    out.print(f"\n[bold red]{_count(len(report.problems), 'problem')}{bad}[/bold red]")
    table = grid()
    table.add_column("kind", no_wrap=True)
    table.add_column("count", justify="right", no_wrap=True)
    table.add_column(f"{unit}s", overflow="fold")
    for kind, count in report.kinds.items():
        table.add_row(kind, f"{count:,}", _places([problem for problem in report.problems if problem.kind == kind]))
    out.print(table)
    _lines([problem.message for problem in report.problems])


def _lines(messages: list[str]) -> None:
    for message in messages[:SHOWN]:
        click.echo("  " + " ".join(message.split("\n")))
    if len(messages) > SHOWN:
        click.echo(f"  and {len(messages) - SHOWN:,} more; --json lists all")


def _field(field: str, column: str) -> str:
    if column == field:
        return field
    return f"{column} as {field}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _counts(counted: "Mapping[str, int]", most: int = 12) -> str:
    """Return the number of different things, and the most frequent ones with their counts."""
    if not counted:
        return "none"
    largest = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    counts = shortened((f"{_cut(name)} {count:,}" for name, count in largest), most)
    return f"{len(largest):,} ({counts})"


def _cut(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 1]}…"


def _statistics(statistics: "DataStatistics") -> dict[str, str]:
    """Return the statistics of a data set as text, by subject, without those that no sample has."""
    facts: dict[str, str] = {}
    for name, lengths in (
        ("words per query", statistics.query_words),
        ("words per reference", statistics.reference_words),
    ):
        if lengths is not None:
            classes = ", ".join(f"{span} {count:,}" for span, count in lengths.classes.items())
            facts[name] = (
                f"mean {lengths.mean:,}, median {lengths.median:g}, {lengths.shortest:,} to "
                f"{lengths.longest:,} ({classes})"
            )
    if len(statistics.images_a_sample) > 1:
        facts["images per sample"] = ", ".join(
            f"{images}: {count:,}" for images, count in statistics.images_a_sample.items()
        )
    for name, counted in (
        ("roles", statistics.roles),
        ("instructions", statistics.instructions),
        ("types of images", statistics.image_types),
        ("sub-categories", statistics.sub_categories),
    ):
        if counted:
            facts[name] = _counts(counted, MOST_NAMED)
    return facts


def _places(problems: "list[Problem]") -> str:
    """Return the lines of problems, consecutive lines as ranges, at most forty ranges."""
    lines = sorted({problem.line for problem in problems})
    starts = [lines[0], *(later for earlier, later in pairwise(lines) if later != earlier + 1)]
    ends = [*(earlier for earlier, later in pairwise(lines) if later != earlier + 1), lines[-1]]
    return shortened(map(_range, starts, ends), 40)


def _range(start: int, end: int) -> str:
    """Return lines in words; line 0 means the whole file."""
    if end == 0:
        return "all"
    if start == end:
        return str(start)
    return f"{start}–{end}"
