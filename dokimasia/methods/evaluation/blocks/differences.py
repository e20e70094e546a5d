"""Every two models on the samples that both have a score for: how large the difference is, and whether it may be chance."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Chart, Column, Fold, Paragraph, Section, Span, Table
from dokimasia.report.charts import Point, interval_chart, intervals_said
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


SPOKEN = (
    Column("first", numeric=False),
    Column("second", numeric=False),
    Column(
        "strict accuracy",
        meaning="first less second, in percentage points, on samples where neither failed, undecided answers counted as not "
        "right; 95 % interval",
    ),
    Column("adjusted p", meaning="two-sided sign flips of whole clusters; Benjamini and Hochberg over all pairs"),
    Column(
        "spoken to", meaning="share of the criteria's weight that first and second speak to, on samples scored for both"
    ),
    Column("criteria", meaning="criteria that both speak to, and the samples that these belong to"),
    Column(
        "score on these",
        meaning="first less second, in points from 1 to 5, paired by sample; 95 % interval; a model that is silent just "
        "where it errs looks better here than it is",
    ),
    Column("adjusted p", meaning="as before"),
)
UNDECIDED = Column(
    "undecided",
    meaning="answers of first and second, and where the difference of strict accuracy lies whatever they are; no sampling error",
)
NAMED = 6


def section(data: ReportData) -> Section | None:
    """Return the paired differences; None where there are not two models."""
    pairs = list(data.differences)
    if not pairs:
        return None
    measured = [pair for pair in pairs if pair["difference"] is not None]
    said = _spoken(pairs)
    drawn = measured if len(measured) <= MOST_DRAWN else _neighbours(measured, data.ranked())
    blocks: list[Block] = [*said]
    if drawn:
        every, points = len(drawn) == len(measured), [_point(pair) for pair in drawn]
        blocks.append(
            Chart(
                interval_chart(points, title="difference of scores, points", scale=None, zero=True),
                f"Paired differences {intervals_said(points)} of {'all' if every else 'neighbouring'} pairs of models; "
                f"filled: adjusted p at most {figures.SURE}",
            )
        )
    if measured:
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


def _spoken(pairs: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return what comes before any difference in score: who says more, who is right, and the score on what both say."""
    blocks: list[Block] = []
    found = [pair for pair in pairs if "stated" in pair and apart(pair["stated"])]
    little = [pair for pair in found if min(pair["stated"]["first"], pair["stated"]["second"]) < figures.SPEAKING]
    if little:
        told = (
            f"One of two models speaks to less than {figures.share(figures.SPEAKING).text} of the criteria's weight, on the "
            "samples scored for both, so their scores also say how much each says. Go by strict accuracy, and by the criteria "
            "that both speak to."
        )
        blocks.append(Bullets(_shares(little), told))
    if both := [pair for pair in found if pair not in little]:
        told = "These speak to unlike shares of the weight, though to much of it: " + "; ".join(_shares(both))
        blocks.append(Paragraph(f"{told}.", "note"))
    compared = [pair for pair in pairs if "strict_accuracy" in pair or "both_stated" in pair]
    if compared:
        spoken = any("both_stated" in pair for pair in compared)
        rows = [_spoken_row(pair) for pair in compared]
        about = "Strict accuracy" + (", and scores on the criteria that both models speak to" if spoken else "")
        table = Table(SPOKEN, rows, about)
        if not spoken:
            rows = [[*row[:4], _undecided(pair)] for row, pair in zip(rows, compared, strict=True)]
            table = Table((*SPOKEN[:4], UNDECIDED), rows, about)
        blocks.append(
            table if len(rows) <= MOST_OPEN else Fold(f"All {len(rows)} pairs, by what they speak to", (table,))
        )
    return blocks


def _shares(pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how much both models of some pairs speak to, and how many pairs are not named."""
    named = [
        f"{pair['better']} {figures.spoken(pair['stated']['second']).text}, {pair['worse']} "
        f"{figures.spoken(pair['stated']['first']).text}"
        for pair in pairs[:NAMED]
    ]
    more = len(pairs) - NAMED
    return [*named, f"and {figures.several(more, 'more pair')}"] if more > 0 else named


def apart(stated: Mapping[str, Any]) -> bool:
    """Return whether two models do not speak to as much, or one of them to too little, for their scores to be compared."""
    sure = stated["adjusted"] is not None and stated["adjusted"] <= figures.SURE
    return sure or min(stated["first"], stated["second"]) < figures.SPEAKING


def _spoken_row(pair: Mapping[str, Any]) -> list[Cell]:
    right, stated, both = pair.get("strict_accuracy"), pair.get("stated"), pair.get("both_stated")
    shares: Cell = figures.NOTHING
    if stated:
        shares = (figures.share(stated["second"]), " / ", figures.share(stated["first"]))
    return [
        Span(pair["better"], "strong"),
        pair["worse"],
        *_gap(right, percent=True),
        shares,
        figures.NOTHING if both is None else f"{both['criteria']:,} in {both['n']:,}",
        *_gap(both, percent=False),
    ]


def _undecided(pair: Mapping[str, Any]) -> Cell:
    """How many answers of both models are undecided, and where the difference lies whatever they are."""
    right = pair["strict_accuracy"]
    counted, bounds = right["n_undecided"], right["bounds"]
    low, high = (figures.signed_text(100 * bounds[end], 0) for end in ("low", "high"))
    return f"{counted['second']:,} and {counted['first']:,}: {low} to {high}"


def _gap(one: Mapping[str, Any] | None, *, percent: bool) -> list[Cell]:
    """A paired difference with its interval, and its adjusted p-value."""
    if one is None or one["difference"] is None:
        return [figures.NOTHING, figures.NOTHING]
    scale, digits = (100, 0) if percent else (1, 2)
    gap = one["difference"]
    sure = one["adjusted"] is not None and one["adjusted"] <= figures.SURE

    def write(value: float) -> str:
        return figures.signed_text(scale * value, digits)

    mean = Span(write(gap["mean"]), "strong" if sure else "")
    return [(mean, Span(figures.bracketed(gap, write), "muted")), figures.p_value(one["adjusted"])]


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
