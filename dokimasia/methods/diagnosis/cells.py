"""Cells, columns and rows of a diagnosis's tables, which all show means and shares in the same way."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Literal, NamedTuple

from dokimasia.algorithms.statistics import ConfidenceInterval, adjusted, bootstrap_interval, rate_interval
from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.domain.diagnosis.tables import AssetColumn, AssetRow, Figure, Mark
from dokimasia.methods.diagnosis.evidence_data import LIMIT, DiagnosedAnswer, DiagnosisMaterial
from dokimasia.methods.tree import BEST, LEVEL, WORST
from dokimasia.report.figures import leaves_open
from dokimasia.runs.measures import limits, rounded

NOTHING: Final = Figure()
"""A cell without a measurement."""

POINTS, STEPS = "points of 100", "points, 1 to 5"
"""Units of criteria's scores, and of samples' weighted scores."""

Better = Literal["higher", "lower"]


class PartialRow(NamedTuple):
    """A row without its `difference_columns`: its difference and, if tested, the p-value."""

    row: AssetRow
    gap: Figure
    p_value: float | None


def difference_columns(name: str, unit: str = POINTS) -> tuple[AssetColumn, AssetColumn, AssetColumn]:
    """Return the columns for a difference, its adjusted p-value, and its mark."""
    return (
        AssetColumn(name=name, unit=unit, kind="difference", better="higher"),
        AssetColumn(name="adjusted p", kind="p_value"),
        AssetColumn(name="verdict", kind="mark"),
    )


def name_column(title: str) -> AssetColumn:
    """Return a column of names."""
    return AssetColumn(name=title, kind="name")


def count_column(title: str) -> AssetColumn:
    """Return a column of counts."""
    return AssetColumn(name=title, kind="count")


def share_column(title: str, better: Better | None = None) -> AssetColumn:
    """Return a column of shares."""
    return AssetColumn(name=title, kind="share", better=better)


def score_column(title: str, unit: str, better: Better = "higher") -> AssetColumn:
    """Return a column of scores."""
    return AssetColumn(name=title, unit=unit, kind="score", better=better)


def cells_of(*values: Figure | str | float | None) -> tuple[Figure, ...]:
    """Return values as cells: estimates unchanged, texts and counts without an interval, None as an empty cell."""
    cells: list[Figure] = []
    for value in values:
        if isinstance(value, Figure):
            cells.append(value)
        elif isinstance(value, float):
            cells.append(Figure(value=rounded(value)))
        else:
            cells.append(Figure(value=value))
    return tuple(cells)


MODEL = name_column("model")
PAIR = (name_column("first"), name_column("second"))


def estimate(value: float, interval: ConfidenceInterval) -> Figure:
    """Return an estimate with its interval as a cell."""
    return Figure(value=rounded(value), **limits(interval))


def mean_of(values: Sequence[float], clusters: Sequence[Hashable], *, bounds: tuple[float, float], seed: int) -> Figure:
    """Return the mean of values with its clustered 95 % bootstrap interval; an empty estimate without values."""
    if not values:
        return NOTHING
    interval = bootstrap_interval(values, clusters=clusters, level=LEVEL, seed=seed, bounds=bounds)
    return estimate(sum(values) / len(values), interval)


def points_of(material: DiagnosisMaterial, model: str, criteria: Iterable[str]) -> Figure:
    """Return a model's mean over those of the criteria that have a score, with its interval."""
    scores = material.scores(model)
    scored_criteria = [criterion for criterion in criteria if criterion in scores]
    clusters = material.clusters_of(scored_criteria)
    return mean_of(
        [scores[criterion] for criterion in scored_criteria], clusters, bounds=(WORST, BEST), seed=material.seed
    )


def share_of(hits: Sequence[bool], clusters: Sequence[Hashable]) -> Figure:
    """Return the share of hits with its 95 % interval (Clopper-Pearson, wider for clusters); empty without trials."""
    if not hits:
        return NOTHING
    return estimate(sum(hits) / len(hits), rate_interval(hits, clusters=clusters, level=LEVEL))


def difference_of(first: Figure, second: Figure) -> Figure:
    """Return the first estimate minus the second, with an interval from both; an empty cell if either is missing."""
    if not (isinstance(first.value, float) and isinstance(second.value, float)):
        return NOTHING
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Figure(value=rounded(first.value - second.value), no_interval=first.no_interval or second.no_interval)
    interval = contrast_interval(
        first.value,
        ConfidenceInterval(first.low, first.high, method=first.interval_method or ""),
        second.value,
        ConfidenceInterval(second.low, second.high, method=second.interval_method or ""),
    )
    return estimate(first.value - second.value, interval)


def value_of(figure: Figure, default: float) -> float:
    """Return a cell's number; the default if nothing was measured."""
    if isinstance(figure.value, int | float):
        return float(figure.value)
    return default


def marked_rows(partial_rows: Iterable[PartialRow]) -> list[AssetRow]:
    """Return complete rows, with p-values adjusted over all of them; untested rows get no mark."""
    all_rows = list(partial_rows)
    q_values = adjusted([partial.p_value for partial in all_rows])
    rows: list[AssetRow] = []
    for (row, gap, _), q_value in zip(all_rows, q_values, strict=True):
        mark = mark_of(gap, q_value, down="worse", up="better")
        rows.append(row.model_copy(update={"cells": (*row.cells, *cells_of(gap, q_value, mark)), "mark": mark}))
    return rows


def mark_of(difference: Figure, q_value: float | None, *, down: Mark, up: Mark) -> Mark:
    """Return the mark of a difference by its adjusted p-value and, if its interval is a usual one, by the interval too.

    An interval that allows for images that were not drawn is far wider than the test, and an interval may be missing;
    then the p-value alone decides.

    Args:
        difference: the difference with its interval.
        q_value: the adjusted p-value; None if not tested, which gives no mark.
        down: mark of a difference significantly below 0.
        up: mark of a difference significantly above 0.
    """
    if q_value is None:
        return ""
    value = value_of(difference, 0.0)
    if q_value > LIMIT or value == 0 or leaves_open(difference):
        return "unclear"
    return up if value > 0 else down


def distinct_samples(answers: Iterable[DiagnosedAnswer]) -> tuple[str, ...]:
    """Return the distinct samples of the answers, in order."""
    return tuple(dict.fromkeys(answer.sample_id for answer in answers))
