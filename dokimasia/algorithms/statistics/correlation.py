# pyright: standard
# SciPy ships no types; what it returns is converted to a float at once.
"""Correlations of two measurements of the same items, and their intervals."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from dokimasia.algorithms.statistics.clusters import (
    ROUNDING,
    ClusterNames,
    Floats,
    Positions,
    effective_number,
    finite,
    number_clusters,
)
from dokimasia.algorithms.statistics.intervals import jackknifed
from dokimasia.algorithms.statistics.refusal import too_little_variation
from dokimasia.algorithms.statistics.shares import ConfidenceInterval

Method = Literal["pearson", "spearman", "kendall"]

_NEARLY_ONE = 1 - 1e-12
FEW_PAIRS = 10
"""Minimum number of pairs, or clusters of equal size, with which a correlation's interval holds its level."""

_FEWEST = 5
_NO_VARIANCE = 1e-14


def pearson(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Pearson's correlation of two equally long sequences, -1 to 1.

    Parameters
    ----------
    x, y : sequence of float
        Two measurements of each item, in the same order, in any units. Leave out items that lack one.

    Returns
    -------
    float
        1 if the points lie on a rising line, -1 on a falling one.

    Raises
    ------
    ValueError
        If the lengths differ, there are fewer than two pairs, a value is not finite, or one side does not vary.

    Examples
    --------
    >>> round(pearson([1, 2, 3], [2, 4, 6]), 12)
    1.0
    """
    first, second = _pairs(x, y)
    return float(np.clip(_standard(first) @ _standard(second), -1.0, 1.0))


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Spearman's rank correlation, -1 to 1; ties share their mean rank.

    Raises
    ------
    ValueError
        As `pearson`.

    Examples
    --------
    >>> round(spearman([1, 2, 3, 4], [1, 8, 27, 64]), 12)
    1.0
    """
    first, second = _pairs(x, y)
    return float(np.clip(_standard(_ranks(first)) @ _standard(_ranks(second)), -1.0, 1.0))


def kendall(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Kendall's rank correlation tau-b, -1 to 1: concordant minus discordant pairs, corrected for ties.

    Raises
    ------
    ValueError
        As `pearson`.

    Examples
    --------
    >>> round(kendall([1, 2, 3, 4], [1, 2, 4, 3]), 6)
    0.666667
    """
    from scipy import stats

    first, second = _pairs(x, y)
    return float(np.asarray(stats.kendalltau(first, second))[0])


def r_squared(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the share of y's variance that a straight line in x explains, 0 to 1: Pearson's correlation squared.

    Raises
    ------
    ValueError
        As `pearson`.

    Examples
    --------
    >>> round(r_squared([1, 2, 3], [3, 2, 1]), 12)
    1.0
    """
    return pearson(x, y) ** 2


def correlation_interval(
    x: Sequence[float],
    y: Sequence[float],
    *,
    method: Method = "pearson",
    clusters: ClusterNames | None = None,
) -> ConfidenceInterval:
    """Return a confidence interval of a correlation: the jackknife over clusters, on Fisher's scale.

    Parameters
    ----------
    x, y : sequence of float
        As `pearson`; at least five clusters, and ten for an interval.
    method : {"pearson", "spearman", "kendall"}
        The kind of correlation.
    clusters : sequence of hashable, optional
        The cluster of each pair; by default each pair is its own cluster.

    Returns
    -------
    ConfidenceInterval
        Within -1 to 1. There is none below ten clusters, or an effective number of ten; if one side hardly varies
        (`too_little_variation`, of ranks for a rank correlation); and if the correlation is the same without any single
        cluster (such as 1). Its `reason` then says why, and its limits are -1 and 1.

    Raises
    ------
    ValueError
        As `pearson`, or if a side does not vary once a cluster is left out, or there are fewer than five clusters.

    Notes
    -----
    With clusters of unequal size, the jackknife's standard error is less precise: the degrees of freedom are multiplied
    by (E - 1) / (G - 1), with E the effective number of the G clusters.

    References
    ----------
    Fisher, On the probable error of a coefficient of correlation, 1921 (the scale); see `jackknife_interval`.

    Examples
    --------
    >>> low, high = correlation_interval(range(10), [1, 0, 3, 2, 5, 4, 7, 6, 9, 8])
    >>> round(low, 2), round(high, 2)
    (0.89, 0.97)
    >>> correlation_interval(range(5), range(5), method="spearman").reason
    '5 clusters, and a correlation needs 10'
    """
    correlate = {"pearson": pearson, "spearman": spearman, "kendall": kendall}[method]
    first, second = _pairs(x, y)
    index = np.arange(len(first)) if clusters is None else number_clusters(clusters, len(first))
    count = int(index.max()) + 1
    if count < _FEWEST:
        raise ValueError(f"an interval of a correlation needs at least {_FEWEST} pairs or clusters")
    if count < FEW_PAIRS:
        return ConfidenceInterval(-1.0, 1.0, f"{count} clusters, and a correlation needs {FEW_PAIRS}")
    effective = effective_number(np.bincount(index).astype(np.float64))
    if effective < FEW_PAIRS - ROUNDING:
        worth_text = f"{count} clusters of unequal size are worth {effective:.1f} equal ones"
        return ConfidenceInterval(-1.0, 1.0, f"{worth_text}, and a correlation needs {FEW_PAIRS}")
    for side in (first, second):
        if reason := too_little_variation(side if method == "pearson" else _ranks(side), index):
            return ConfidenceInterval(-1.0, 1.0, reason)
    if method == "pearson":
        left_out = _without_each(first, second, index)
    else:
        remaining = (np.flatnonzero(index != cluster) for cluster in range(count))
        left_out = np.array([correlate(first[use].tolist(), second[use].tolist()) for use in remaining])
    worth = (effective_number(np.bincount(index).astype(np.float64)) - 1) / (count - 1)
    limits = jackknifed(float(_on_fishers_scale(correlate(x, y))), _on_fishers_scale(left_out), worth=worth)
    return ConfidenceInterval(math.tanh(limits.low), math.tanh(limits.high), limits.reason)


def _on_fishers_scale(values: float | Floats) -> Floats:
    return np.arctanh(np.clip(values, -_NEARLY_ONE, _NEARLY_ONE))


def _without_each(first: Floats, second: Floats, index: Positions) -> Floats:
    """Return Pearson's correlation without each cluster, from the total sums minus the cluster's.

    Raises
    ------
    ValueError
        If a side does not vary without one of the clusters.
    """
    x, y = _standard(first), _standard(second)
    terms = (np.ones(len(first)), x, y, x * x, y * y, x * y)
    count, sx, sy, sxx, syy, sxy = (term.sum() - np.bincount(index, weights=term) for term in terms)
    vx, vy = sxx - sx * sx / count, syy - sy * sy / count
    if not (np.all(vx > _NO_VARIANCE) and np.all(vy > _NO_VARIANCE)):
        raise ValueError("a correlation needs values that vary on both sides, also without each of the clusters")
    return (sxy - sx * sy / count) / np.sqrt(vx * vy)


def _pairs(x: Sequence[float], y: Sequence[float]) -> tuple[Floats, Floats]:
    if len(x) != len(y) or len(x) < 2:
        raise ValueError(f"a correlation needs at least two pairs: {len(x)} and {len(y)} values")
    first, second = finite(x), finite(y)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        raise ValueError("a correlation needs values that vary on both sides")
    return first, second


def _standard(array: Floats) -> Floats:
    """Return an array centred and scaled to length one, through the largest deviation to avoid over- and underflow."""
    centred = array - array.mean()
    centred = centred / np.abs(centred).max()
    return centred / math.sqrt(float(centred @ centred))


def _ranks(array: Floats) -> Floats:
    _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]
