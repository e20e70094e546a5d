"""`dokimasia annotate judgements`: judgements of files, against what is correct and against people."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import click
from rich.markup import escape
from rich.table import Table

from dokimasia.cli.annotate.tables import beside_people_tables, coefficient, rate_text
from dokimasia.cli.shared import common, console, grid, json_option, print_json
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from dokimasia.people.judgements.reading import Kind
    from dokimasia.people.judgements.shape import JudgementFigures, ValuesCompared
    from dokimasia.people.judgements.values import Numbers
    from dokimasia.settings import Settings

R = TypeVar("R")

NOTHING = "–"

_FIELD = re.compile(r",(?=[a-z]+=)")


def _mapping(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for part in (part for value in values for part in _FIELD.split(value)):
        field, equals, column = part.partition("=")
        if not equals or not column.strip():
            raise click.BadParameter(f"{part!r}: write FIELD=COLUMN, such as item=idx,value=vote")
        columns[field.strip()] = column.strip()
    return columns


def _names(context: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())


def epsilon_option(function: Callable[..., R]) -> Callable[..., R]:
    """Add --epsilon to a command that compares judges with people."""
    return click.option(
        "--epsilon", type=click.FloatRange(0, 1, max_open=True), default=0.15, show_default=True,
        help="What the test of replacement grants a judge: 0.2 beside experts, 0.15 beside skilled people, 0.1 beside crowds.",
    )(function)  # fmt: skip


@click.command("judgements")
@click.argument("files", nargs=-1, required=True, metavar="[NAME=]FILE...")
@click.option(
    "--map", "columns", multiple=True, callback=_mapping, metavar="FIELD=COLUMN",
    help="Columns of item, judge, value, swapped, gold, order, first, second, cluster: names, several joined with +, JSON "
    "pointers (/results/-1/winner), or # for the line.",
)  # fmt: skip
@click.option("--people", callback=_names, metavar="NAMES", help="People: columns, or names in the column of judges.")
@click.option("--judges", callback=_names, metavar="NAMES", help="Judges: columns, or names in the column of judges.")
@click.option(
    "--kind",
    type=click.Choice(["pairs", "scores", "rankings"]),
    help="What the judgements are (default: as they look).",
)
@click.option(
    "--numbers", type=click.Choice(["places", "steps"]),
    help="What a number says of a pair: the better place (1, 2, 0 a tie, 1.5 between), or steps from 2 to -2.",
)  # fmt: skip
@click.option("--by-place", is_flag=True, help="Verdicts of the swapped order name places, not responses.")
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
    from dokimasia.people.judgements import compare_judgements

    figures = compare_judgements(
        files,
        columns=columns,
        people=people,
        judges=judges,
        kind=kind,
        numbers=numbers,
        by_place=by_place,
        epsilon=epsilon,
    )
    if as_json:
        print_json(figures)
        return
    out = console()
    for table in tables(figures):
        out.print(table)


def tables(figures: "JudgementFigures") -> Iterator[Table | str]:
    """Yield the lines and tables of judgements."""
    judges = several(len(figures.judges), "judge")
    people = several(len(figures.people), "person", "people")
    kinds = {"pairs": "Verdicts on pairs", "scores": "Scores", "rankings": "Rankings, pair by pair"}
    yield (
        f"[bold]{kinds[figures.kind]}[/bold] of {several(figures.items, 'item')} in {several(figures.clusters, 'cluster')} by "
        f"{judges} and {people}; {figures.with_gold} with a correct value"
    )
    if figures.unreadable:
        unreadable = several(figures.unreadable, "judgement")
        yield f"[yellow]{unreadable} of people or correct values cannot be read, and are left out[/yellow]"
    for name, judge in figures.judges.items():
        if judge.failed:
            reasons = ", ".join(f"{escape(reason)} ({count})" for reason, count in judge.failures.items())
            yield f"[yellow]{escape(name)}: {judge.failed} of {judge.judged} judgements failed: {reasons}[/yellow]"
    yield from _against_gold(figures)
    yield from _against_people(figures)
    yield from _correlations(figures)
    yield from beside_people_tables(
        {name: (judge.ceiling, judge.replacement) for name, judge in figures.judges.items()}
    )


def _against_gold(figures: "JudgementFigures") -> Iterator[Table]:
    held = {name: judge.gold for name, judge in figures.judges.items()}
    held |= {name: person.gold for name, person in figures.people.items()}
    table = grid("against correct values", "n", "left out", "accuracy", "of all", "kappa", "alpha")
    for name, against in held.items():
        if against is not None:
            lowest = NOTHING if against.same is None or against.same.bounds is None else against.same.bounds.low
            every = lowest if isinstance(lowest, str) else f"{lowest:.2%}"
            table.add_row(escape(name), *_agreement(against, every))
    table.caption = "Of all: failures counted as wrong, as published accuracies often are."
    if table.row_count:
        yield table
    table = grid("in both orders", "n", "as it stands", "swapped", "consistent", "consistent and right")
    for name, judge in figures.judges.items():
        if (orders := judge.orders) is not None:
            rates = (orders.straight, orders.swapped, orders.consistent, orders.consistent_and_right)
            table.add_row(escape(name), str(orders.n), *map(rate_text, rates))
    if table.row_count:
        yield table


def _against_people(figures: "JudgementFigures") -> Iterator[Table]:
    table = grid("against people", "n", "left out", "the same", "kappa", "kappa, quadratic", "alpha")
    held = {name: judge.people for name, judge in figures.judges.items()}
    held |= {name: person.others for name, person in figures.people.items()}
    for name, against in held.items():
        if against is not None:
            table.add_row(escape(name), *_agreement(against, coefficient(against.kappa_weighted), last=True))
    table.caption = "A judge against what most people said, or their mean; a person against the others."
    if table.row_count:
        yield table
    if figures.together is not None:
        together = figures.together
        table = grid("people with each other", "n", "agreement")
        for title, value in (
            ("Fleiss' kappa", together.fleiss),
            ("Krippendorff's alpha, nominal", together.alpha_nominal),
            ("Krippendorff's alpha, ordinal", together.alpha_ordinal),
            ("Krippendorff's alpha, interval", together.alpha_interval),
        ):
            table.add_row(title, str(together.n), coefficient(value, 3))
        yield table


def _agreement(against: "ValuesCompared", extra: str, *, last: bool = False) -> list[str]:
    """Return the cells of n, what is left out, sameness, kappa, and alpha, with one more cell."""
    left_out = ", ".join(f"{count} {reason}" for reason, count in against.left_out.items()) or NOTHING
    same = NOTHING if against.same is None else rate_text(against.same)
    middle = [coefficient(against.kappa), extra] if last else [extra, coefficient(against.kappa)]
    return [str(against.n), left_out, same, *middle, coefficient(against.alpha)]


def _correlations(figures: "JudgementFigures") -> Iterator[Table]:
    table = grid("correlation", "against", "n", "Pearson", "Spearman", "Kendall")
    for name, judge in figures.judges.items():
        _add_correlations(table, name, {"correct values": judge.gold, "people": judge.people})
    for name, person in figures.people.items():
        _add_correlations(table, name, {"correct values": person.gold, "the others": person.others})
    if table.row_count:
        yield table


def _add_correlations(table: Table, name: str, held: "Mapping[str, ValuesCompared | None]") -> None:
    for what, against in held.items():
        if against is not None and against.n:
            values = (against.pearson, against.spearman, against.kendall)
            table.add_row(escape(name), what, str(against.n), *map(coefficient, values))
