"""Cells, columns and rows of a diagnosis's tables, so that every table writes a mean or a share in the same way."""

from collections.abc import Hashable, Sequence
from typing import Final

from dokimasia.algorithms.statistics import Interval, bootstrap_interval, rate_interval
from dokimasia.analysis.trees import LEVEL, rounded
from dokimasia.domain.diagnosis import AssetColumn, Figure

NOTHING: Final = Figure()
"""Nothing was measured here."""

POINTS, STEPS = "points of 100", "points, 1 to 5"
"""Units: of criteria's scores and of samples' weighted scores."""

MODEL = AssetColumn(name="model", kind="name")
VERDICT = AssetColumn(name="verdict", kind="mark")
ADJUSTED = AssetColumn(name="adjusted p", kind="p_value")


def text(value: str) -> Figure:
    """Return a name or a mark."""
    return Figure(value=value)


def number(value: float | None) -> Figure:
    """Return a number that was counted, not estimated; nothing for None."""
    return NOTHING if value is None else Figure(value=rounded(value))


def estimate(value: float, interval: Interval) -> Figure:
    """Return an estimate with its interval."""
    return Figure(value=rounded(value), low=rounded(interval.low), high=rounded(interval.high))


def mean_of(values: Sequence[float], clusters: Sequence[Hashable], *, bounds: tuple[float, float], seed: int) -> Figure:
    """Return the mean of values with its 95 % bootstrap interval, clusters resampled whole; nothing without values."""
    if not values:
        return NOTHING
    interval = bootstrap_interval(values, clusters=clusters, level=LEVEL, seed=seed, bounds=bounds)
    return estimate(sum(values) / len(values), interval)


def share_of(hits: Sequence[bool], clusters: Sequence[Hashable]) -> Figure:
    """Return the share of hits with its 95 % interval (Clopper and Pearson, wider for clusters); nothing without any."""
    if not hits:
        return NOTHING
    return estimate(sum(hits) / len(hits), rate_interval(hits, clusters=clusters, level=LEVEL))
