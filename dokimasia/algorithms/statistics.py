"""Intervals and correlations that are honest about small samples and about values that belong together."""

import math
from collections.abc import Hashable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.distributions import beta_quantile, student_t_quantile

RESAMPLES = 2000
_DRAWS_AT_ONCE = 2_000_000
_ROUNDING = 1e-12

_Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """A confidence interval: its lower and upper limit, in the unit of what it is about."""

    low: float
    high: float


def bootstrap_interval(
    values: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    seed: int,
    bounds: tuple[float, float] | None = None,
) -> Interval:
    """Return a confidence interval of the mean of values, resampling whole clusters.

    Parameters
    ----------
    values : sequence of float
        The measured values, in any unit. What was not measured has no place here.
    clusters : sequence of hashable, optional
        The cluster that each value belongs to (values that share an image, say); without it each value is its own.
    level : float
        Nominal coverage, strictly between 0 and 1.
    seed : int
        Equal values, clusters and seed give the equal interval, whatever the order of the values.
    bounds : tuple of float, optional
        The lowest and the highest value that can occur (1 and 5 for a checkpoint score). The interval stays within, and
        values that are all equal get the width that they deserve (see Notes).

    Returns
    -------
    Interval
        It contains the mean of the values.

    Raises
    ------
    ValueError
        If there is no value, one is not finite or outside the bounds, or an argument cannot be used.

    Notes
    -----
    A percentile bootstrap of few clusters is too narrow, more so where values crowd at one end of their scale. At each
    end this takes the farther of two limits: the bias-corrected and accelerated bootstrap over clusters, its normal
    quantiles widened to Student's t with G - 1 degrees of freedom and by sqrt(G / (G - 1)) for G clusters; and the
    t interval around the mean with the standard error of the jackknife that leaves one cluster out.

    *One cluster* says nothing of how clusters differ: the interval is the bounds, and without bounds it is infinite.
    *Equal means in all clusters* show no spread: without bounds the interval is that point; with bounds it reaches as
    far as the clusters that were never seen may: with p the largest share of other clusters that is compatible with
    none among G (Clopper and Pearson), from mean - p (mean - low) to mean + p (high - mean).

    References
    ----------
    Efron and Tibshirani, An Introduction to the Bootstrap, 14.3; Hesterberg, What Teachers Should Know About the
    Bootstrap, 2015, section 4 (the widening); MacKinnon, Nielsen and Webb, Cluster-robust inference, 2023, section 3
    (the jackknife).

    Examples
    --------
    >>> bootstrap_interval([3.0, 3.0, 3.0], seed=0)
    Interval(low=3.0, high=3.0)
    >>> low, high = bootstrap_interval([1, 2, 3, 4, 5, 4, 3, 2], seed=0)
    >>> round(low, 1), round(high, 1)
    (1.9, 4.1)
    """
    if not 0 < level < 1:
        raise ValueError(f"a level lies strictly between 0 and 1: {level}")
    array = _finite(values)
    if array.size == 0:
        raise ValueError("an interval needs at least one value")
    low, high = bounds if bounds is not None else (-math.inf, math.inf)
    if not low < high or array.min() < low or array.max() > high:
        raise ValueError(f"the values lie between {array.min()} and {array.max()}, not within the bounds {bounds}")
    sums, sizes = _by_cluster(array, clusters)
    count = len(sums)
    if count == 1:
        return Interval(low, high)
    mean = float(sums.sum() / sizes.sum())
    if np.ptp(sums / sizes) <= _ROUNDING * np.abs(array).max():
        unseen = clopper_pearson(0, count, level).high
        return (
            Interval(mean, mean)
            if bounds is None
            else Interval(mean - unseen * (mean - low), mean + unseen * (high - mean))
        )
    resampled = _resampled_means(sums, sizes, seed)
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    quantile = student_t_quantile((1 + level) / 2, count - 1)
    first = _accelerated(resampled, mean, left_out, quantile * math.sqrt(count / (count - 1)))
    margin = quantile * math.sqrt((count - 1) / count * float(np.square(left_out - mean).sum()))
    return Interval(max(low, min(first.low, mean - margin)), min(high, max(first.high, mean + margin)))


def clopper_pearson(k: int, n: int, level: float = 0.95) -> Interval:
    """Return the exact confidence interval of a share: k of n.

    Parameters
    ----------
    k, n : int
        Successes and trials, 0 <= k <= n, n at least 1.
    level : float
        Coverage is never below it.

    Returns
    -------
    Interval
        Shares, 0 to 1.

    Raises
    ------
    ValueError
        If the counts cannot be, or the level is not strictly between 0 and 1.

    References
    ----------
    Clopper and Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10)
    >>> low, round(high, 6)
    (0.0, 0.308497)
    """
    if not 0 < level < 1:
        raise ValueError(f"a level lies strictly between 0 and 1: {level}")
    if n < 1 or not 0 <= k <= n:
        raise ValueError(f"{k} of {n} is no share")
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else beta_quantile(tail, k, n - k + 1)
    high = 1.0 if k == n else beta_quantile(1 - tail, k + 1, n - k)
    return Interval(low, high)


def pearson(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Pearson's correlation of two equally long sequences, -1 to 1.

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
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        raise ValueError("a correlation needs values that vary on both sides")
    first, second = _standard(first), _standard(second)
    return float(np.clip(first @ second, -1.0, 1.0))


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
    return pearson(_ranks(first).tolist(), _ranks(second).tolist())


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


def _finite(values: Sequence[float]) -> _Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError("the values are one sequence of finite numbers; what is missing is left out before")
    return array


def _pairs(x: Sequence[float], y: Sequence[float]) -> tuple[_Floats, _Floats]:
    first, second = _finite(x), _finite(y)
    if len(first) != len(second) or len(first) < 2:
        raise ValueError(f"a correlation needs at least two pairs: {len(first)} and {len(second)} values")
    return first, second


def _standard(array: _Floats) -> _Floats:
    """Centre and scale to length one, through the largest deviation, so that nothing over- or underflows."""
    centred = array - array.mean()
    centred = centred / np.abs(centred).max()
    return centred / math.sqrt(float(centred @ centred))


def _ranks(array: _Floats) -> _Floats:
    _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]


def _by_cluster(array: _Floats, clusters: Sequence[Hashable] | None) -> tuple[_Floats, _Floats]:
    """Return each cluster's sum and size, in an order that depends on nothing but the values."""
    if clusters is None:
        ordered = np.sort(array)
        return ordered, np.ones_like(ordered)
    if len(clusters) != len(array):
        raise ValueError(f"{len(array)} values for {len(clusters)} cluster names")
    numbers: dict[Hashable, int] = {}
    index = np.array([numbers.setdefault(cluster, len(numbers)) for cluster in clusters], dtype=np.intp)
    by_value = np.argsort(array, kind="stable")
    sums = np.bincount(index[by_value], weights=array[by_value], minlength=len(numbers))
    sizes = np.bincount(index, minlength=len(numbers)).astype(np.float64)
    order = np.lexsort((sums, sizes))
    return sums[order].astype(np.float64), sizes[order]


def _resampled_means(sums: _Floats, sizes: _Floats, seed: int) -> _Floats:
    """Return the means of resamples of as many clusters as there are, in bounded memory."""
    generator = np.random.default_rng(seed)
    count = len(sums)
    equal = bool(np.ptp(sizes) == 0)
    means = np.empty(RESAMPLES)
    step = max(1, _DRAWS_AT_ONCE // count)
    for start in range(0, RESAMPLES, step):
        rows = min(step, RESAMPLES - start)
        drawn = generator.integers(0, count, size=(rows, count), dtype=np.int32)
        weight = count * sizes[0] if equal else sizes[drawn].sum(axis=1)
        means[start : start + rows] = sums[drawn].sum(axis=1) / weight
    return means


def _accelerated(resampled: _Floats, mean: float, left_out: _Floats, width: float) -> Interval:
    """Return the bias-corrected and accelerated limits, `width` standard deviations to either side."""
    normal = NormalDist()
    below = (np.count_nonzero(resampled < mean) + np.count_nonzero(resampled == mean) / 2) / RESAMPLES
    bias = normal.inv_cdf(min(max(below, 1 / RESAMPLES), 1 - 1 / RESAMPLES))
    deviations = left_out.mean() - left_out
    spread = float(np.square(deviations).sum())
    acceleration = float(np.power(deviations, 3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0

    def share(z: float) -> float:
        shrink = 1 - acceleration * (bias + z)
        if shrink <= 0:
            return 1.0 if z > 0 else 0.0
        return normal.cdf(bias + (bias + z) / shrink)

    return Interval(_quantile(resampled, share(-width)), _quantile(resampled, share(width)))


def _quantile(array: _Floats, share: float) -> float:
    return float(np.quantile(array, share))
