"""Cells, columns and rows of a diagnosis's tables, so that every table writes a mean or a share in the same way."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, NamedTuple

from dokimasia.algorithms.statistics import Interval, adjusted, bootstrap_interval, rate_interval
from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.domain.diagnosis.tables import AssetColumn, AssetRow, Figure, Mark
from dokimasia.methods.diagnosis.measured import LIMIT, DiagnosisMaterial
from dokimasia.methods.tree import BEST, LEVEL, WORST, rounded
from dokimasia.runs.reading.rates import limits

NOTHING: Final = Figure()
"""Nothing was measured here."""

POINTS, STEPS = "points of 100", "points, 1 to 5"
"""Units: of criteria's scores and of samples' weighted scores."""

MODEL = AssetColumn(name="model", kind="name")
PAIR = (AssetColumn(name="first", kind="name"), AssetColumn(name="second", kind="name"))


class PartialRow(NamedTuple):
    """A row without its last three cells (see `compared`): its difference, and the p-value of that where it was tested."""

    row: AssetRow
    gap: Figure
    p_value: float | None


def compared(name: str, unit: str = POINTS) -> tuple[AssetColumn, AssetColumn, AssetColumn]:
    """Return the columns of a difference, its adjusted p-value, and what is said of it."""
    return (
        AssetColumn(name=name, unit=unit, kind="difference", better="higher"),
        AssetColumn(name="adjusted p", kind="p_value"),
        AssetColumn(name="verdict", kind="mark"),
    )


def text(value: str) -> Figure:
    """Return a name or a mark."""
    return Figure(value=value)


def number(value: float | None) -> Figure:
    """Return a number that was counted, not estimated; nothing for None."""
    if value is None:
        return NOTHING
    return Figure(value=value if isinstance(value, int) else rounded(value))


def estimate(value: float, interval: Interval) -> Figure:
    """Return an estimate with its interval."""
    return Figure(value=rounded(value), **limits(interval))


def mean_of(values: Sequence[float], clusters: Sequence[Hashable], *, bounds: tuple[float, float], seed: int) -> Figure:
    """Return the mean of values with its 95 % bootstrap interval, clusters resampled whole; nothing without values."""
    if not values:
        return NOTHING
    interval = bootstrap_interval(values, clusters=clusters, level=LEVEL, seed=seed, bounds=bounds)
    return estimate(sum(values) / len(values), interval)


def points_of(material: DiagnosisMaterial, model: str, criteria: Iterable[str]) -> Figure:
    """Return a model's mean over those of some criteria that have a score, with its interval."""
    scores = material.scores(model)
    scored = [one for one in criteria if one in scores]
    clusters = material.clusters_of(scored)
    return mean_of([scores[one] for one in scored], clusters, bounds=(WORST, BEST), seed=material.seed)


def share_of(hits: Sequence[bool], clusters: Sequence[Hashable]) -> Figure:
    """Return the share of hits with its 95 % interval (Clopper and Pearson, wider for clusters); nothing without any."""
    if not hits:
        return NOTHING
    return estimate(sum(hits) / len(hits), rate_interval(hits, clusters=clusters, level=LEVEL))


def difference_of(first: Figure, second: Figure) -> Figure:
    """Return the first estimate minus the second, with the interval that follows from theirs; nothing without both."""
    if not (isinstance(first.value, float) and isinstance(second.value, float)):
        return NOTHING
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Figure(value=rounded(first.value - second.value), no_interval=first.no_interval or second.no_interval)
    interval = contrast_interval(
        first.value, Interval(first.low, first.high), second.value, Interval(second.low, second.high)
    )
    return estimate(first.value - second.value, interval)


def value_of(figure: Figure, otherwise: float) -> float:
    """Return a cell's number, or what takes its place where nothing was measured."""
    return float(figure.value) if isinstance(figure.value, int | float) else otherwise


def judged(drafts: Iterable[PartialRow]) -> list[AssetRow]:
    """Return rows whole, the p-values of all adjusted together; what was not tested has no verdict."""
    listed = list(drafts)
    rows: list[AssetRow] = []
    for (row, gap, _), q_value in zip(listed, adjusted([one.p_value for one in listed]), strict=True):
        mark = mark_of(gap, q_value, down="worse", up="better")
        rows.append(row.model_copy(update={"cells": (*row.cells, gap, number(q_value), text(mark)), "mark": mark}))
    return rows


def mark_of(difference: Figure, q_value: float | None, *, down: Mark, up: Mark) -> Mark:
    """Return what is said of a difference: something only where both the corrected p-value and its own interval are sure.

    Args:
        difference: with its interval.
        q_value: the adjusted p-value; None where it was not tested, which is not marked.
        down: the mark of a difference that is significantly below 0.
        up: the mark of one that is significantly above.
    """
    if q_value is None:
        return ""
    if q_value > LIMIT or difference.low is None or difference.high is None:
        return "unclear"
    return down if difference.high < 0 else up if difference.low > 0 else "unclear"
