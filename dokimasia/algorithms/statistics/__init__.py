"""Intervals, shares, correlations, and the correction of p-values for multiple tests."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from dokimasia.algorithms.statistics.clusters import finite
from dokimasia.algorithms.statistics.correlation import correlation_interval, kendall, pearson, r_squared, spearman
from dokimasia.algorithms.statistics.intervals import (
    bootstrap_interval,
    difference_interval,
    jackknife_interval,
    rate_interval,
)
from dokimasia.algorithms.statistics.shares import ConfidenceInterval, clopper_pearson

__all__ = [
    "ConfidenceInterval",
    "adjusted",
    "bootstrap_interval",
    "clopper_pearson",
    "correlation_interval",
    "difference_interval",
    "false_discovery_rate",
    "jackknife_interval",
    "kendall",
    "pearson",
    "r_squared",
    "rate_interval",
    "spearman",
]

Dependence = Literal["positive", "any"]


def false_discovery_rate(p_values: Sequence[float], *, dependence: Dependence = "positive") -> tuple[float, ...]:
    """Return p-values adjusted for multiple tests.

    Parameters
    ----------
    p_values : sequence of float
        One per test, 0 to 1, in any order. Leave out tests that were not made.
    dependence : {"positive", "any"}
        "positive": Benjamini and Hochberg, for tests that are independent or positively dependent; "any": Benjamini and
        Yekutieli, for any dependence.

    Returns
    -------
    tuple of float
        In the given order; empty without tests. If all values at or below q count as findings, the expected share of
        false findings is at most q.

    Raises
    ------
    ValueError
        If a p-value is not within 0 to 1.

    References
    ----------
    Benjamini and Hochberg, Controlling the false discovery rate, 1995; Benjamini and Yekutieli, The control of the
    false discovery rate in multiple testing under dependency, 2001.

    Examples
    --------
    >>> [round(p, 6) for p in false_discovery_rate([0.01, 0.04, 0.03, 0.5])]
    [0.04, 0.053333, 0.053333, 0.5]
    """
    if not len(p_values):
        return ()
    array = finite(p_values)
    if array.min() < 0 or array.max() > 1:
        raise ValueError("a p-value lies between 0 and 1")
    # As `scipy.stats.false_discovery_control`, whose module takes longer to load than a report to compute.
    order, ranks = np.argsort(array), np.arange(1, len(array) + 1)
    raised = array[order] * (len(array) / ranks)
    if dependence == "any":
        raised = raised * np.sum(1 / ranks)
    adjusted = np.empty_like(array)
    adjusted[order] = np.minimum.accumulate(raised[::-1])[::-1]
    return tuple(np.clip(adjusted, 0.0, 1.0).tolist())


def adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted by `false_discovery_rate`; None, for a test that was not made, keeps its position.

    Examples
    --------
    >>> adjusted([0.04, None, 0.01])
    [0.04, None, 0.02]
    """
    q_values = iter(false_discovery_rate([value for value in p_values if value is not None]))
    return [None if value is None else next(q_values) for value in p_values]
