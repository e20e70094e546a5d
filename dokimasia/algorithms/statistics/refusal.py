"""When there is no interval: the rule that detects data with too little spread to hold the level."""

import numpy as np

from dokimasia.algorithms.statistics.clusters import (
    Bounds,
    ClusterNames,
    Clusters,
    Floats,
    by_cluster,
    effective_number,
)

ONE_CLUSTER = "one cluster"
NO_SPREAD = "the figure is the same whichever cluster is left out"
LEAST_SPREAD = 1.5
"""The minimum effective number of clusters that differ from the median."""

_NEAR = 0.15
_ROUNDING = 1e-9
_APART = 0.25
"""The share of the distance to the farther end of the scale from which a cluster counts in full."""


def refusal(grouped: Clusters, scale: Bounds) -> str:
    """Return why there is no interval of a mean over clusters; empty if there is one.

    Parameters
    ----------
    grouped : Clusters
        At least two clusters that are not all equal. (Equal clusters have a separate interval.)
    scale : tuple of float
        The lowest and highest possible value.

    Notes
    -----
    Near the end of a scale most clusters agree, and the few that do not determine the mean. If a sample contains none
    of these, or only small ones, the data look well-behaved, and the interval is too narrow. The rule therefore
    computes the *effective number that differ from the median* (weighted by size). A cluster counts in full if it lies
    at least a quarter of the way from the median to the farther end of the scale, and in part below; the mean of these
    counts, weighted by size, is multiplied by the *effective* number of clusters, (sum n)^2 / sum n^2 for clusters of n
    values, since a few large ones may dominate. Below 1.5 there is no interval.

    References
    ----------
    Kish, Survey Sampling, 1965, section 11.7 (the effective number). The rule is this project's; its two constants were
    fixed on other simulated data than those that verify it (`benchmarks/calibration/independent`).

    Examples
    --------
    >>> refusal(Clusters(np.array([10.0, 5.0, 9.8, 5.0]), np.array([2.0, 1.0, 2.0, 1.0])), (1.0, 5.0))
    '4 clusters at the ceiling: the effective number that differ from the median is 0.1, at least 1.5 are needed'
    """
    sums, sizes = grouped
    means, weights = sums / sizes, sizes / sizes.sum()
    order = np.argsort(means, kind="stable")
    cumulative = np.cumsum(weights[order])
    middle = float(means[order][np.searchsorted(cumulative, (0.5 - _ROUNDING, 0.5 + _ROUNDING))].mean())
    farther = max(scale[1] - middle, middle - scale[0])
    spread = _spread(np.abs(means - middle), sizes, farther)
    if spread >= LEAST_SPREAD - _ROUNDING:
        return ""
    return _message(f"{grouped.number} clusters {_region(middle, scale)}", spread)


def too_little_variation(values: Floats, clusters: ClusterNames | None) -> str:
    """Return why one side of a correlation varies too little for an interval; empty if it varies enough.

    Parameters
    ----------
    values : array
        One of the two measurements of each item, as the correlation uses it; not all equal.
    clusters : sequence of hashable or array of int, optional
        The cluster of each item; by default each item is its own cluster.

    Notes
    -----
    The rule of `refusal`, with the range of the values as their scale. Instead of the clusters' means, it uses the
    distances of their values from the median, averaged over each cluster, since clusters with equal means permit a
    correlation if the values within them vary.

    Examples
    --------
    >>> too_little_variation(np.array([5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 1.0]), None)
    'one side hardly varies over 7 clusters: the effective number that differ from the median is 1.0, at least 1.5 are needed'
    """
    scale = (float(values.min()), float(values.max()))
    middle = float(np.median(values))
    sums, sizes = grouped = by_cluster(np.abs(values - middle), clusters)
    spread = _spread(sums / sizes, sizes, max(scale[1] - middle, middle - scale[0]))
    if spread >= LEAST_SPREAD - _ROUNDING:
        return ""
    return _message(f"one side hardly varies over {grouped.number} clusters", spread)


def _region(middle: float, scale: Bounds) -> str:
    """Return the region of a scale that contains the clusters' median, in words."""
    end = _NEAR * (scale[1] - scale[0])
    if middle >= scale[1] - end:
        return "at the ceiling"
    if middle <= scale[0] + end:
        return "at the floor"
    return "nearly alike"


def _spread(distances: Floats, sizes: Floats, farther: float) -> float:
    counts = np.minimum(1.0, distances / (_APART * farther))
    return effective_number(sizes) * float(counts @ sizes / sizes.sum())


def _message(subject: str, spread: float) -> str:
    printed = min(spread, LEAST_SPREAD - 0.1)  # never rounded up to the required number
    return f"{subject}: the effective number that differ from the median is {printed:.1f}, at least {LEAST_SPREAD} are needed"
