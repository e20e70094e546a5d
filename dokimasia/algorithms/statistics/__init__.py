# pyright: standard
# SciPy ships no types; what it returns here is made a list of floats at once.
"""The front door of the numbers: intervals, shares, correlations, and the correction for looking at many things."""

from collections.abc import Sequence
from typing import Literal

from dokimasia.algorithms.statistics.clusters import finite
from dokimasia.algorithms.statistics.correlation import correlation_interval, kendall, pearson, r_squared, spearman
from dokimasia.algorithms.statistics.intervals import bootstrap_interval, difference_interval, jackknife_interval
from dokimasia.algorithms.statistics.shares import ConfidenceInterval, clopper_pearson, rate_interval

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
    """Return p-values adjusted for looking at many things at once.

    Parameters
    ----------
    p_values : sequence of float
        One a test, 0 to 1, in any order. A test that was not made has no place here.
    dependence : {"positive", "any"}
        "positive": Benjamini and Hochberg, for tests that are independent or go together; "any": Benjamini and
        Yekutieli, for tests that depend on each other in whatever way.

    Returns
    -------
    tuple of float
        In the order given. Calling all those at or below q findings keeps the expected share of false ones among them
        at q or lower. No test, no value.

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
    from scipy import stats

    adjusted = stats.false_discovery_control(array, method="bh" if dependence == "positive" else "by")
    return tuple(float(value) for value in adjusted)


def adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted as by `false_discovery_rate`; None, a test that was not made, stays where it is.

    Examples
    --------
    >>> adjusted([0.04, None, 0.01])
    [0.04, None, 0.02]
    """
    known = iter(false_discovery_rate([value for value in p_values if value is not None]))
    return [None if value is None else next(known) for value in p_values]
