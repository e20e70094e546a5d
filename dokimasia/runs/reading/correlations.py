"""Correlations of scores with outside ratings as figures for JSON, each with its interval where there is one."""

from collections.abc import Callable, Sequence
from typing import Any

from dokimasia.algorithms.statistics import correlation_interval, kendall, pearson, spearman
from dokimasia.algorithms.statistics.correlation import Method
from dokimasia.runs.reading.rates import limits, rounded

METHODS: tuple[tuple[Method, Callable[[Sequence[float], Sequence[float]], float]], ...] = (
    ("pearson", pearson),
    ("spearman", spearman),
    ("kendall", kendall),
)


def correlations(scores: Sequence[float], ratings: Sequence[float], clusters: Sequence[str]) -> dict[str, Any]:
    """Return Pearson's, Spearman's and Kendall's correlation, each {value, low, high}, or None where there is none."""
    found: dict[str, Any] = {}
    for name, method in METHODS:
        value = value_of(method, scores, ratings)
        found[name] = None
        if value is not None:
            found[name] = {"value": value, "low": None, "high": None}
            try:
                interval = correlation_interval(scores, ratings, method=name, clusters=clusters)
            except ValueError:
                continue  # fewer than five clusters, or a side that does not vary without one: there is no interval
            found[name] |= limits(interval)
    return found


def value_of(
    method: Callable[[Sequence[float], Sequence[float]], float], first: Sequence[float], second: Sequence[float]
) -> float | None:
    """Return a correlation, or None where there are too few pairs or a side does not vary."""
    try:
        return rounded(method(first, second))
    except ValueError:
        return None
