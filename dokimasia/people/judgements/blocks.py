"""Report blocks that compare judges with people: the human ceiling and the replacement test."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dokimasia.people.judgements.shape import HumanCeiling, ReplacementTest
from dokimasia.report import figures
from dokimasia.report.blocks import Cell, Column, Span, Table
from dokimasia.report.fields import Interval


class CeilingRow(NamedTuple):
    """A judge compared with people: comparisons, people's and the judge's agreement with the same panels, and the test.

    A measure without a value is None. `winning_rate` is the share of the tested people whom the judge can replace, None
    without any.
    """

    n: int
    people: Interval | None
    judge: Interval | None
    difference: Interval | None
    winning_rate: float | None
    passed: bool


def ceiling_rows(judges: Mapping[str, tuple[HumanCeiling | None, ReplacementTest | None]]) -> dict[str, CeilingRow]:
    """Return the rows of judges that have a ceiling and a test, by name."""
    rows: dict[str, CeilingRow] = {}
    for name, (ceiling, test) in judges.items():
        if ceiling is not None and test is not None:
            values = (ceiling.people, ceiling.judge, ceiling.difference)
            rows[name] = CeilingRow(ceiling.n, *values, test.winning_rate, test.passed)
    return rows


def ceiling_tables(judges: Mapping[str, CeilingRow]) -> Iterator[Table]:
    """Yield the table of judges and people against the same panels; nothing if no two people judged the same items.

    Args:
        judges: each judge, or way of judging, by its name.
    """
    rows: list[Sequence[Cell]] = []
    for name, judge in judges.items():
        omega: Cell = figures.NOTHING
        if judge.winning_rate is not None:
            omega = f"{judge.winning_rate:.2f}, {'can' if judge.passed else 'not shown'}"
        values = (judge.people, judge.judge, judge.difference)
        numbers = [figures.measured(value, ends=2) for value in values]
        rows.append([Span(name, "strong"), figures.count(judge.n), *numbers, omega])
    if rows:
        columns = [
            Column("human ceiling", numeric=False),
            Column("n"),
            Column(
                "people among themselves", meaning="of a person from the others: share who said the same, or distance"
            ),
            Column("the judge", meaning="from the same others"),
            Column("judge minus people"),
            Column("in a person's place", meaning="people won, and whether the judge passes the test", numeric=False),
        ]
        yield Table(columns, rows, "The judge and people against the same panels")
