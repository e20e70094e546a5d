"""`dokimasia annotate judgements`: judgements of files, compared with correct values and with people."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from dokimasia.cli.shared import common, console, json_option, print_json, say_read
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from dokimasia.people.judgements.reading import Kind
    from dokimasia.people.judgements.values import Numbers
    from dokimasia.settings import Settings

R = TypeVar("R")

_FIELD = re.compile(r",(?=[a-z_]+=)")


def _mapping(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for part in (part for value in values for part in _FIELD.split(value)):
        field, equals, column = part.partition("=")
        if not equals or not column.strip():
            raise click.BadParameter(f"{part!r}: write FIELD=COLUMN, such as item=idx,value=vote")
        columns[field.strip()] = column.strip()
    return columns


def split_names(context: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Return the comma-separated names of an option."""
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())


def epsilon_option(function: Callable[..., R]) -> Callable[..., R]:
    """Add --epsilon to a command that compares judges with people."""
    return click.option(
        "--epsilon", type=click.FloatRange(0, 1, max_open=True), default=0.15, show_default=True,
        help="What the test of replacement grants a judge: 0.2 beside experts, 0.15 beside skilled people, 0.1 beside crowds.",
    )(function)  # fmt: skip


MAP = click.option(
    "--map", "columns", multiple=True, callback=_mapping, metavar="FIELD=COLUMN",
    help="Columns of item, judge, value, swapped, gold, order, first, second, first_length, second_length, cluster: names, "
    "several joined with +, JSON pointers (/results/-1/winner), or # for the line.",
)  # fmt: skip
NUMBERS = click.option(
    "--numbers", type=click.Choice(["places", "steps"]),
    help="What a number says of a pair: the better place (1, 2, 0 a tie, 1.5 between), or steps from 2 to -2.",
)  # fmt: skip
BY_PLACE = click.option("--by-place", is_flag=True, help="Verdicts of the swapped order name places, not responses.")


@click.command("judgements", short_help="Compare judgements of files with people and correct values.")
@click.argument("files", nargs=-1, required=True, metavar="[NAME=]FILE...")
@MAP
@click.option(
    "--people", callback=split_names, metavar="NAMES", help="People: columns, or names in the column of judges."
)
@click.option(
    "--judges", callback=split_names, metavar="NAMES", help="Judges: columns, or names in the column of judges."
)
@click.option(
    "--kind",
    type=click.Choice(["pairs", "scores", "rankings"]),
    help="What the judgements are (default: as they look).",
)
@NUMBERS
@BY_PLACE
@epsilon_option
@json_option
@common
def judgements(
    settings: "Settings",
    files: tuple[str, ...],
    columns: dict[str, str],
    people: tuple[str, ...],
    judges: tuple[str, ...],
    kind: "Kind | None",
    numbers: "Numbers | None",
    by_place: bool,
    epsilon: float,
    as_json: bool,
) -> None:
    """Compare judgements of FILES with correct values and people: accuracy, agreement, the human ceiling.

    A file is JSON lines, JSON, CSV, TSV or a workbook, packed (.gz) or not: a judgement a line (item, judge, value), or a
    column for each person and judge. What cannot be read is a failure of the judge, and never a value.
    """
    from dokimasia.people.judgements import judgement_figures, read_judgements

    read = read_judgements(
        files, columns=columns, people=people, judges=judges, kind=kind, numbers=numbers, by_place=by_place
    )
    figures = judgement_figures(read, epsilon=epsilon)
    say_read(
        " and ".join(figures.files),
        several(figures.items, "item"),
        several(len(figures.judges), "judge"),
        several(len(figures.people), "person", "people"),
        *([f"left out {several(figures.unreadable, 'unreadable judgement')}"] if figures.unreadable else []),
    )
    if as_json:
        print_json(figures)
        return
    from dokimasia.cli.annotate.judgement_tables import tables

    out = console()
    for table in tables(figures):
        out.print(table)


@click.command("battles")
@click.option(
    "--battles", "file", required=True, metavar="FILE", help="Existing battles: a line per verdict on two models."
)
@MAP
@NUMBERS
@BY_PLACE
@json_option
@common
def battles_command(
    settings: "Settings",
    file: str,
    columns: dict[str, str],
    numbers: "Numbers | None",
    by_place: bool,
    as_json: bool,
) -> None:
    """Rate models by existing battles, without a call: JSON lines, JSON, CSV, TSV or a workbook, packed (.gz) or not.

    A line has the names of two models (`first`, `second`) and who won (`value`), and may have the lengths of both responses
    (`first_length`, `second_length`), who judged (`judge`), and what several battles share (`cluster`). Not every pair has
    to meet. Ratings and ranks have intervals; beside them stand ratings adjusted for place and length where the file says
    both. A verdict that cannot be read is counted, and in no rating.
    """
    from dokimasia.errors import DataError
    from dokimasia.people.judgements import judgement_figures, read_judgements
    from dokimasia.report.fields import as_json as plain_json

    battles = read_judgements(
        [file], columns={"item": "#", **columns}, kind="pairs", numbers=numbers, by_place=by_place
    )
    figures = judgement_figures(battles)
    if not figures.ratings:
        raise DataError(
            f"{file}: no battle in it names its two models: name the columns, such as "
            "--map first=model_a,second=model_b,value=winner"
        )
    if as_json:
        print_json({name: plain_json(rated) for name, rated in figures.ratings.items()})
        return
    from dokimasia.cli.annotate.judgement_tables import rating_tables

    out = console()
    for table in rating_tables(figures):
        out.print(table)
