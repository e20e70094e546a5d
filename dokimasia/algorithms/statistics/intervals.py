"""Intervals that hold their level with few values, with clustered values, and near the end of a scale."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.statistics.clusters import (
    ROUNDING,
    Bounds,
    ClusterNames,
    Clusters,
    Floats,
    Positions,
    by_cluster,
    finite,
    jackknife_error,
    number_clusters,
    on_grid,
    skewness,
    trusted_df,
)
from dokimasia.algorithms.statistics.distributions import student_t_quantile
from dokimasia.algorithms.statistics.gaffke import gaffke_interval
from dokimasia.algorithms.statistics.refusal import NO_SPREAD, ONE_CLUSTER, refusal
from dokimasia.algorithms.statistics.shares import (
    ConfidenceInterval,
    check_level,
    clopper_pearson,
    share_of_scale,
    trials_limits,
)

RESAMPLES = 2000
FEW_CLUSTERS = 6
"""Minimum number of clusters whose observed range represents the scale of the values."""

FEWEST_FOR_GAFFKE = 3
"""Minimum number of clusters with which Gaffke's interval replaces the whole scale."""

MANY_TRIALS = 10
"""The mean number of trials per cluster from which clusters' rates count as separate values (see `rate_interval`)."""

_FEW_CLUSTERS = 250
"""Maximum number of clusters for which each number has separate draws, and intervals are cached."""

_MANY_CLUSTERS = 1 << 14
"""Maximum number of clusters that share draws with other numbers of clusters (see `bootstrap_interval`)."""

_CACHED_DRAWS_OF_FEW = 32
"""Number of cached draws of up to `_FEW_CLUSTERS` clusters: at most 1 MB each."""

_CACHED_DRAWS_OF_MANY = 3
"""Number of cached draws of up to `_MANY_CLUSTERS` clusters: at most 66 MB each."""

_CACHED_INTERVALS = 4096
"""Number of cached intervals of up to `_FEW_CLUSTERS` clusters: at most 4 KB each."""

_DRAWN_AT_ONCE = 250_000
_KINDS_AT_ONCE = 64
_CLUSTERS_A_KIND = 20
"""Number of clusters per distinct cluster from which drawing kinds is faster than drawing clusters."""


def bootstrap_interval(
    values: Sequence[float] | Floats,
    *,
    clusters: ClusterNames | None = None,
    level: float = 0.95,
    seed: int,
    bounds: Bounds | None = None,
) -> ConfidenceInterval:
    """Return a confidence interval of the mean of values, resampling whole clusters.

    Parameters
    ----------
    values : sequence of float
        The measured values, in any unit. Leave out missing ones.
    clusters : sequence of hashable or array of int, optional
        The cluster of each value (such as values that share an image), by name or number; by default each value is its
        own cluster.
    level : float
        Nominal coverage, strictly between 0 and 1.
    seed : int
        Equal values, clusters and seed give equal intervals, whatever the order of the values; opposite values within
        opposite bounds give opposite ones, so that the interval of a difference is the same from either side.
    bounds : tuple of float, optional
        The lowest and the highest possible value (1 and 5 for a checkpoint score). The interval stays within them, and has
        a width even if all values are equal (see Notes).

    Returns
    -------
    ConfidenceInterval
        It contains the mean of the values; `method` is "gaffke" if it is Gaffke's (see Notes). If there is none, its
        `reason` says why, and its limits are infinite.

    Raises
    ------
    ValueError
        If there is no value, one is not finite or outside the bounds, or an argument is invalid.

    Notes
    -----
    A bootstrap of few clusters is too narrow, especially if values crowd at one end of their scale: the values that would
    widen it were not observed. Each end of this interval is the outer one of two limits.

    *The bootstrap*: bias-corrected and accelerated, over clusters, its normal quantiles replaced by those of Student's
    t with G - 1 degrees of freedom for G clusters. The same draws serve all figures with as many clusters. From 251 to
    16,384 clusters they serve all numbers up to the next power of two: a resample draws from as many positions, of
    which those beyond G are empty, so that the number of clusters in it varies around G, by at most its square root, as
    in a Poisson bootstrap; the variance changes by less than 1 / G.

    *The scale*: the mean's position on its scale is treated as a share of n* effective trials and gets Clopper and
    Pearson's limits, which extend away from the near end of the scale. n* follows from the standard error of the
    jackknife over clusters and from Student's t, whose degrees of freedom are G - 1, or fewer if the clusters' kurtosis
    shows that the standard error itself is imprecise. The scale is the bounds; without bounds it is the observed range,
    and below six clusters, where that range says too little, the plain t interval counts, too.

    *Too little spread* for these two to hold the level is detected by `refusal`, from the number and sizes of the clusters
    and their differences on the scale. From three clusters on `gaffke_interval` then takes their place, and with two the
    interval is the bounds. Without bounds too little spread cannot be detected.
    *One cluster* does not show how clusters differ: the interval is the bounds, and without bounds there is none.
    *Equal means in all clusters* show no spread: without bounds the interval is that point; with bounds it allows for
    unobserved clusters: with p the largest share of other clusters that is compatible with none among G (Clopper and
    Pearson), it reaches from mean - p (mean - low) to mean + p (high - mean).

    References
    ----------
    Efron and Tibshirani, An Introduction to the Bootstrap, 1993, 14.3; Hesterberg, What Teachers Should Know About the
    Bootstrap, 2015, section 4 (Student's t in a bootstrap); Korn and Graubard, Confidence Intervals for Proportions
    with Small Expected Number of Positive Counts Estimated from Survey Data, 1998 (effective trials); MacKinnon, Nielsen
    and Webb, Cluster-robust inference, 2023, section 3 (the jackknife); Chamandy, Muralidharan, Najmi and Naidu, Estimating
    Uncertainty for Massive Data Streams, 2012 (the Poisson bootstrap); Gaffke, Three test statistics for a nonparametric
    one-sided hypothesis on the mean of a nonnegative variable, 2005.

    Examples
    --------
    >>> bootstrap_interval([3.0, 3.0, 3.0], seed=0)
    ConfidenceInterval(low=3.0, high=3.0)
    >>> low, high = bootstrap_interval([1, 2, 3, 4, 5, 4, 3, 2], seed=0)
    >>> round(low, 1), round(high, 1)
    (1.9, 4.1)
    """
    array = finite(values)
    low, high = _scale(array, bounds)
    array = array.clip(low, high)
    check_level(level)
    sign = _sign(array, clusters, bounds)
    if sign > 0:
        return _mean_interval(array, clusters, level, seed, bounds)
    opposite = bounds and (-bounds[1], -bounds[0])
    low, high = mirrored = _mean_interval(0.0 - array, clusters, level, seed, opposite)
    if sign == 0:
        low = min(low, -high)
        high = -low
    return ConfidenceInterval(0.0 - high, 0.0 - low, mirrored.reason, method=mirrored.method)


def difference_interval(
    first: Sequence[float],
    second: Sequence[float],
    *,
    clusters: ClusterNames | None = None,
    level: float = 0.95,
    seed: int,
    bounds: Bounds | None = None,
) -> ConfidenceInterval:
    """Return a confidence interval of the mean of second minus first, measured on the same items.

    Parameters
    ----------
    first, second : sequence of float
        Two measurements of each item, in the same order and unit. Leave out items that lack one.
    clusters : sequence of hashable, optional
        The cluster of each item.
    level, seed
        As `bootstrap_interval`.
    bounds : tuple of float, optional
        The lowest and highest possible measurement; a difference lies between low - high and high - low.

    Returns
    -------
    ConfidenceInterval
        In the unit of the measurements; above 0 if the second is significantly higher.

    Raises
    ------
    ValueError
        If the lengths differ, or as `bootstrap_interval`.

    Examples
    --------
    >>> low, high = difference_interval([1, 2, 3, 2, 1, 3], [2, 3, 5, 2, 3, 4], seed=0)
    >>> low > 0
    True
    """
    before, after = finite(first), finite(second)
    if len(before) != len(after):
        raise ValueError(f"{len(before)} first and {len(after)} second values are no pairs")
    span = None
    if bounds is not None:
        for side in (before, after):
            _scale(side, bounds)
        span = (bounds[0] - bounds[1], bounds[1] - bounds[0])
    return bootstrap_interval((after - before).tolist(), clusters=clusters, level=level, seed=seed, bounds=span)


def jackknife_interval(
    statistic: Callable[[Sequence[int]], float],
    n: int,
    *,
    clusters: ClusterNames | None = None,
    level: float = 0.95,
    bounds: Bounds | None = None,
    additive: bool = False,
) -> ConfidenceInterval:
    """Return a confidence interval of any figure computed from n items, by leaving out one cluster at a time.

    Parameters
    ----------
    statistic : callable
        Takes the positions (0 to n - 1, in order) of the items to use, and returns the figure, which must be smooth (a
        coefficient of agreement, a difference of rates; not a median or a maximum). It raises if it has no value.
    n : int
        The number of items.
    clusters : sequence of hashable, optional
        The cluster of each item; by default each item is its own cluster.
    level : float
        Nominal coverage, strictly between 0 and 1.
    bounds : tuple of float, optional
        The lowest and highest possible value of the figure.
    additive : bool
        Whether the figure is a mean, or a difference of means, to which each cluster contributes. With too little
        spread on its scale, it then has the interval of `gaffke_interval` over these contributions.

    Returns
    -------
    ConfidenceInterval
        The figure, plus and minus Student's t times the jackknife's standard error, extended on the side to which the
        clusters are skewed (see Notes), and clipped to the bounds. If there is none, its `reason` says why, and its limits
        are the bounds, or infinite: if the figure is the same without any of the clusters; with bounds, if `refusal` finds
        too little spread (in both cases unless the figure is additive); and without bounds for one cluster, whose interval
        with bounds is the whole scale.

    Raises
    ------
    ValueError
        If an argument is invalid, or the figure has no value without one of the clusters.

    Notes
    -----
    On a scale with ends, if a few clusters dominate a figure, the clusters that would widen the interval on their side
    were not observed. With g the skewness of the clusters' contributions, G their number and t the quantile, the limit on
    that side moves out by g (1 + 2 t^2) / (6 sqrt(G)) standard errors; the other stays.

    References
    ----------
    Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 11; the degrees of freedom as in
    `bootstrap_interval`; Johnson, Modified t Tests and Confidence Intervals for Asymmetrical Populations, 1978.

    Examples
    --------
    >>> ages = [31, 35, 38, 41, 44, 52]
    >>> low, high = jackknife_interval(lambda use: sum(ages[i] for i in use) / len(use), len(ages))
    >>> round(low, 1), round(high, 1)
    (32.4, 47.9)
    """
    check_level(level)
    if n < 1:
        raise ValueError("a figure needs at least one thing to be computed from")
    index = np.arange(n) if clusters is None else number_clusters(clusters, n)
    low, high = bounds if bounds is not None else (-math.inf, math.inf)
    count = int(index.max()) + 1
    if count == 1:
        return ConfidenceInterval(low, high, "" if bounds else ONE_CLUSTER)
    figure = statistic(range(n))
    remaining = [np.flatnonzero(index != cluster).tolist() for cluster in range(count)]
    left_out = finite([statistic(positions) for positions in remaining])
    varies = bool(np.ptp(left_out) > ROUNDING * np.abs(left_out).max())
    if bounds is not None and (varies or additive):
        sizes = np.bincount(index).astype(np.float64)
        pseudovalues = figure + (figure - left_out) * (n - sizes) / sizes
        reason = refusal(Clusters(pseudovalues * sizes, sizes), bounds)
        if reason and additive:
            return _unseen_limits(Clusters(np.clip(pseudovalues, low, high) * sizes, sizes), level, bounds)
        if reason:
            return ConfidenceInterval(low, high, reason)
    return jackknifed(figure, left_out, level=level, bounds=(low, high))


def jackknifed(
    figure: float,
    left_out: Floats,
    *,
    level: float = 0.95,
    bounds: Bounds = (-math.inf, math.inf),
    worth: float = 1.0,
) -> ConfidenceInterval:
    """Return the interval of `jackknife_interval` from the figure and its values without each cluster.

    `worth` is the factor of the degrees of freedom for clusters of unequal size.
    """
    if np.ptp(left_out) <= ROUNDING * np.abs(left_out).max():
        return ConfidenceInterval(*bounds, NO_SPREAD)
    quantile = student_t_quantile((1 + level) / 2, worth * trusted_df(left_out))
    error = jackknife_error(left_out)
    margin, lean = quantile * error, 0.0
    if math.isfinite(bounds[1] - bounds[0]):
        lean = error * skewness(left_out) / (6 * math.sqrt(len(left_out))) * (1 + 2 * quantile**2)
    return ConfidenceInterval(
        max(bounds[0], figure - margin + min(0.0, lean)), min(bounds[1], figure + margin + max(0.0, lean))
    )


def _scale(array: Floats, bounds: Bounds | None) -> tuple[float, float]:
    low, high = bounds if bounds is not None else (-math.inf, math.inf)
    slack = ROUNDING * (high - low) if bounds is not None else 0.0
    if not low < high or array.min() < low - slack or array.max() > high + slack:
        raise ValueError(f"the values lie between {array.min()} and {array.max()}, not within the bounds {bounds}")
    return low, high


def _sign(array: Floats, clusters: ClusterNames | None, bounds: Bounds | None) -> int:
    """Return 1 if values are resampled unchanged, -1 if their negatives are, 0 if these are the same values.

    Opposite values are thus resampled alike, and have opposite intervals.
    """
    sign = int(np.sign(on_grid(array).sum()))
    if sign:
        return sign
    low, high = bounds or (0.0, 0.0)
    (sums, sizes), (negative_sums, negative_sizes) = (by_cluster(side, clusters) for side in (array, 0.0 - array))
    upright = (on_grid(sums).tolist(), sizes.tolist(), low, high)
    negative = (on_grid(negative_sums).tolist(), negative_sizes.tolist(), -high, -low)
    return (upright > negative) - (upright < negative)


def _mean_interval(
    array: Floats, clusters: ClusterNames | None, level: float, seed: int, bounds: Bounds | None
) -> ConfidenceInterval:
    """Return the interval of the mean of unchanged values within their bounds."""
    low, high = bounds or (-math.inf, math.inf)
    grouped = by_cluster(array, clusters)
    count, mean = grouped.number, grouped.mean
    if count == 1:
        return ConfidenceInterval(low, high, "" if bounds else ONE_CLUSTER)
    if grouped.alike:
        if bounds is None:
            return ConfidenceInterval(mean, mean)
        unseen = clopper_pearson(0, count, level).high
        return ConfidenceInterval(mean - unseen * (mean - low), mean + unseen * (high - mean))
    scale = bounds or (float(array.min()), float(array.max()))
    if count > _FEW_CLUSTERS:
        return _outer_limits(grouped, level, seed, *scale, bounded=bounds is not None)
    sums, sizes = (part.tobytes() for part in grouped)
    return _cached_limits(sums, sizes, level, seed, *scale, bounded=bounds is not None)


@lru_cache(maxsize=_CACHED_INTERVALS, typed=True)
def _cached_limits(
    sums: bytes, sizes: bytes, level: float, seed: int, low: float, high: float, *, bounded: bool
) -> ConfidenceInterval:
    """Return the result of `_outer_limits`; cached, since the figures of a run need the same interval several times."""
    return _outer_limits(Clusters(np.frombuffer(sums), np.frombuffer(sizes)), level, seed, low, high, bounded=bounded)


def _outer_limits(
    grouped: Clusters, level: float, seed: int, low: float, high: float, *, bounded: bool
) -> ConfidenceInterval:
    """Return the outer one of the bootstrap's and the scale's limits at each end, for clusters that are not all equal."""
    if bounded and refusal(grouped, (low, high)):
        return _unseen_limits(grouped, level, (low, high))
    count, mean, left_out = grouped.number, grouped.mean, grouped.left_out
    quantile = student_t_quantile((1 + level) / 2, count - 1)
    rounded = Clusters(on_grid(grouped.sums), grouped.sizes)
    limits = [
        accelerated(_resampled_means(rounded, seed), rounded.mean, left_out, quantile),
        share_of_scale(grouped, level, (low, high)),
    ]
    if not bounded:
        low, high = -math.inf, math.inf
        if count < FEW_CLUSTERS:
            margin = quantile * jackknife_error(left_out)
            limits.append(ConfidenceInterval(mean - margin, mean + margin))
    return ConfidenceInterval(
        max(low, min(mean, *(limit.low for limit in limits))), min(high, max(mean, *(limit.high for limit in limits)))
    )


def rate_interval(
    hits: Sequence[bool], *, clusters: ClusterNames | None = None, level: float = 0.95
) -> ConfidenceInterval:
    """Return a confidence interval of a rate whose trials may be clustered: the share of hits that are true.

    Parameters
    ----------
    hits : sequence of bool
        One per trial; at least one.
    clusters : sequence of hashable, optional
        The cluster of each trial; by default, or if each trial is its own cluster, the interval is exact.
    level : float
        Nominal coverage, strictly between 0 and 1.

    Returns
    -------
    ConfidenceInterval
        Shares, 0 to 1; never narrower than Clopper and Pearson's. If all clusters have the same rate, each counts as one
        trial. `method` is "gaffke" if it is Gaffke's (see Notes).

    Raises
    ------
    ValueError
        If there is no trial or an argument is invalid.

    Notes
    -----
    Clusters of many trials (on average at least ten) show their own rates. If these differ too little for other clusters to
    be inferred (`refusal`), more trials of the same clusters must not narrow the interval: it is then Gaffke's of the mean
    rate, as in `bootstrap_interval`.

    References
    ----------
    Korn and Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive Counts Estimated from
    Survey Data, 1998.

    Examples
    --------
    >>> rate_interval([True, False, True, True]) == clopper_pearson(3, 4)
    True
    >>> alone, together = rate_interval([True, False] * 9), rate_interval([True, False] * 9, clusters="aabbbbccddddeeffff")
    >>> together.high - together.low > alone.high - alone.low
    True
    """
    array = finite([float(hit) for hit in hits])
    check_level(level)
    exact = clopper_pearson(int(array.sum()), max(1, array.size), level)
    grouped = by_cluster(array, clusters)
    if grouped.number == array.size:
        return exact
    if grouped.number == 1:
        return ConfidenceInterval(0.0, 1.0)
    if grouped.alike:
        clustered = trials_limits(grouped.mean * grouped.number, grouped.number, (1 - level) / 2)
    elif array.size >= MANY_TRIALS * grouped.number and refusal(grouped, (0.0, 1.0)):
        clustered = _unseen_limits(grouped, level, (0.0, 1.0))
    else:
        clustered = share_of_scale(grouped, level, (0.0, 1.0))
    return ConfidenceInterval(min(exact.low, clustered.low), max(exact.high, clustered.high), method=clustered.method)


def _unseen_limits(grouped: Clusters, level: float, scale: Bounds) -> ConfidenceInterval:
    """Return Gaffke's interval, or the scale for fewer than three clusters."""
    if grouped.number < FEWEST_FOR_GAFFKE:
        return ConfidenceInterval(*scale)
    low, high = limits = gaffke_interval(grouped, scale, level)
    return ConfidenceInterval(min(low, grouped.mean), max(high, grouped.mean), method=limits.method)


def _resampled_means(grouped: Clusters, seed: int) -> Floats:
    """Return the means of resamples of clusters, in bounded memory.

    The sums must be `on_grid`, so that products of matrices are exact in any order of addition.
    """
    sums, sizes = grouped
    starts = np.flatnonzero(np.concatenate(([True], (np.diff(sums) != 0) | (np.diff(sizes) != 0))))
    if grouped.number > _MANY_CLUSTERS and len(starts) * _CLUSTERS_A_KIND > grouped.number:
        starts = np.arange(grouped.number)
    parts = np.stack(grouped)[:, starts]
    totals = np.zeros((2, RESAMPLES))
    for kinds, resamples, counts in _drawn_kinds(seed, grouped.number, starts):
        totals[:, resamples] += parts[:, kinds] @ counts
    return totals[0] / totals[1]


class _Drawn(NamedTuple):
    """How often resamples contain each kind of cluster: `counts` are kinds by resamples."""

    kinds: slice
    resamples: slice
    counts: NDArray[np.integer]


def _drawn_kinds(seed: int, count: int, starts: Positions) -> Iterator[_Drawn]:
    """Yield how often each resample contains each kind of cluster, part by part.

    The clusters of a kind are equal and adjacent; `starts` are the positions of the first of each kind.
    """
    ends = np.append(starts[1:], count)
    every = slice(None)
    if count <= _MANY_CLUSTERS:
        before = _preceding_draws(seed, count)
        for start in range(0, len(starts), _KINDS_AT_ONCE):
            part = slice(start, start + _KINDS_AT_ONCE)
            yield _Drawn(part, every, before[ends[part]] - before[starts[part]])
    elif len(starts) < count:
        generator = np.random.default_rng(seed)
        for block in _blocks(len(starts)):
            size = block.stop - block.start
            yield _Drawn(every, block, generator.multinomial(count, (ends - starts) / count, size=size).T)
    else:
        for block, counts in _drawn_clusters(seed, count):
            yield _Drawn(every, block, counts.T)


def _preceding_draws(seed: int, count: int) -> NDArray[np.uint16]:
    """Return how many draws of each resample precede each cluster, and the end: clusters by resamples."""
    if count <= _FEW_CLUSTERS:
        return _drawn_before_few(seed, count)
    return _drawn_before_many(seed, 1 << (count - 1).bit_length())


def _blocks(width: int) -> Iterator[slice]:
    """Yield the resamples in blocks of bounded memory, if each resample takes `width` numbers."""
    step = max(1, _DRAWN_AT_ONCE // width)
    for start in range(0, RESAMPLES, step):
        yield slice(start, min(start + step, RESAMPLES))


def _count_before(seed: int, count: int) -> NDArray[np.uint16]:
    """Return the result of `_preceding_draws`; two rows differ by the draws of all clusters between them."""
    before = np.zeros((count + 1, RESAMPLES), dtype=np.uint16)
    for block, counts in _drawn_clusters(seed, count):
        np.cumsum(counts.T, axis=0, dtype=np.uint16, out=before[1:, block])
    before.flags.writeable = False
    return before


_drawn_before_few = lru_cache(maxsize=_CACHED_DRAWS_OF_FEW)(_count_before)
_drawn_before_many = lru_cache(maxsize=_CACHED_DRAWS_OF_MANY)(_count_before)


def _drawn_clusters(seed: int, count: int) -> Iterator[tuple[slice, Positions]]:
    """Yield some resamples, and how often they contain each cluster, resamples by clusters."""
    generator = np.random.default_rng(seed)
    for block in _blocks(count):
        rows = block.stop - block.start
        drawn: Positions = generator.integers(0, count, size=(rows, count), dtype=np.int32).astype(np.intp)
        drawn += np.arange(0, rows * count, count, dtype=np.intp)[:, np.newaxis]
        yield block, np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)


def accelerated(resampled: Floats, mean: float, left_out: Floats, width: float) -> ConfidenceInterval:
    """Return the bias-corrected and accelerated limits, `width` standard deviations to either side; `left_out` must vary."""
    normal, drawn = NormalDist(), len(resampled)
    share_below = (np.count_nonzero(resampled < mean) + np.count_nonzero(resampled == mean) / 2) / drawn
    bias = normal.inv_cdf(min(max(share_below, 1 / drawn), 1 - 1 / drawn))
    deviations = left_out.mean() - left_out
    deviations = deviations / np.abs(deviations).max()
    squares = np.square(deviations)
    acceleration = float((squares * deviations).sum()) / (6 * float(squares.sum()) ** 1.5)

    def share(z: float) -> float:
        shrink = 1 - acceleration * (bias + z)
        if shrink <= 0:
            return 1.0 if z > 0 else 0.0
        return normal.cdf(bias + (bias + z) / shrink)

    ordered = np.sort(resampled)
    return ConfidenceInterval(_quantile(ordered, share(-width)), _quantile(ordered, share(width)))


def _quantile(ordered: Floats, share: float) -> float:
    """Return a quantile of ordered values like `numpy.quantile`, which is ten times slower for a few thousand values."""
    place = (len(ordered) - 1) * share
    before = int(place)
    lower, upper = float(ordered[before]), float(ordered[min(before + 1, len(ordered) - 1)])
    fraction, gap = place - before, upper - lower
    if fraction >= 0.5:
        return upper - gap * (1 - fraction)
    return lower + gap * fraction
