"""Every two models on the samples that both have a score for: how large the difference is, and whether it may be chance."""

from collections.abc import Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Fold, Paragraph, Section, Span, Table
from dokimasia.report.charts import Point, interval_chart
from dokimasia.report.data import ReportData

MOST_DRAWN = 28
MOST_OPEN = 28
COLUMNS = (
    Column("higher", numeric=False),
    Column("lower", numeric=False),
    Column("paired", meaning="samples scored for both, of those that both were asked"),
    Column("difference", meaning="mean of the differences by sample, in points from 1 to 5"),
    Column("95 % interval", meaning="bootstrap, clustered by samples that share an image"),
    Column("p", meaning="two-sided sign flips of whole clusters"),
    Column("adjusted p", meaning="Benjamini and Hochberg, over all pairs of this table"),
    Column("higher / equal / lower", meaning="samples on which the first scores higher, equal, lower"),
)


def section(data: ReportData) -> Section | None:
    """Return the paired differences; None where there are not two models."""
    pairs = list(data.differences)
    if not pairs:
        return None
    measured = [pair for pair in pairs if pair["difference"] is not None]
    drawn = measured if len(measured) <= MOST_DRAWN else _neighbours(measured, data.ranked())
    blocks: list[Block] = []
    if drawn:
        every = len(drawn) == len(measured)
        blocks.append(
            Chart(
                interval_chart(
                    [_point(pair) for pair in drawn], title="difference of scores, points", scale=None, zero=True
                ),
                f"Paired differences with 95 % intervals of {'all' if every else 'neighbouring'} pairs of models; "
                f"filled: adjusted p at most {figures.SURE}",
            )
        )
    table = Table(COLUMNS, [_row(pair) for pair in pairs], "Paired differences of every two models")
    blocks.append(table if len(pairs) <= MOST_OPEN else Fold(f"All {len(pairs)} pairs", (table,)))
    lost = sum(pair["n_shared"] - pair["n_paired"] for pair in pairs)
    blocks.append(
        Paragraph(
            "Differences are taken sample by sample, since a hard sample is hard for both; what failed on either side "
            f"is left out{'' if lost else ' (here nothing was)'}. The adjusted p-value keeps the expected share of false "
            "findings among those that are called findings at or below its level, however many pairs there are. Interval "
            "and test are made in different ways, so at the edge one may leave out 0 where the other does not.",
            "note",
        )
    )
    return Section("differences", "Differences between models", blocks, menu="Differences")


def _neighbours(pairs: list[Mapping[str, Any]], ranked: list[str]) -> list[Mapping[str, Any]]:
    place = {name: number for number, name in enumerate(ranked)}
    near: dict[str, Mapping[str, Any]] = {}
    for pair in pairs:
        other = near.get(pair["better"])
        if other is None or place[pair["worse"]] < place[other["worse"]]:
            near[pair["better"]] = pair
    return list(near.values())


def _point(pair: Mapping[str, Any]) -> Point:
    gap = pair["difference"]
    sure = pair["adjusted"] is not None and pair["adjusted"] <= figures.SURE
    return Point(f"{pair['better']} − {pair['worse']}", gap["mean"], gap["low"], gap["high"], hollow=not sure)


def _row(pair: Mapping[str, Any]) -> list[Cell]:
    gap, changed = pair["difference"], pair["changed"]
    sure = pair["adjusted"] is not None and pair["adjusted"] <= figures.SURE
    return [
        Span(pair["better"], "strong"),
        pair["worse"],
        (figures.count(pair["n_paired"]), "/", figures.count(pair["n_shared"])),
        figures.NOTHING if gap is None else Span(figures.signed_text(gap["mean"]), "strong" if sure else ""),
        figures.interval(gap, signed=True),
        figures.p_value(pair["p_value"]),
        figures.p_value(pair["adjusted"]),
        f"{changed['higher']} / {changed['equal']} / {changed['lower']}",
    ]
