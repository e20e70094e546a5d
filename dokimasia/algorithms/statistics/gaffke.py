"""Gaffke's interval of a mean on a scale, which allows for unobserved clusters at the ends of the scale."""

import math

import numpy as np

from dokimasia.algorithms.statistics.clusters import Bounds, Clusters, Floats
from dokimasia.algorithms.statistics.distributions import root
from dokimasia.algorithms.statistics.shares import ConfidenceInterval

_STEP = 0.05
_PATH: Floats = np.arange(0.0, 12.0, _STEP)
_HALVINGS = 30


def gaffke_interval(grouped: Clusters, scale: Bounds, level: float = 0.95) -> ConfidenceInterval:
    """Return an interval of a mean over clusters that assumes only the ends of the scale.

    Parameters
    ----------
    grouped : Clusters
        At least one cluster, all values within the scale.
    scale : tuple of float
        The lowest and the highest possible value.
    level : float
        Nominal coverage, strictly between 0 and 1.

    Returns
    -------
    ConfidenceInterval
        In the unit of the values, with `method` set. No draws are made: equal clusters give equal limits.

    Notes
    -----
    For the upper limit, another cluster is added, at the upper end of the scale and as large as the largest, and all
    clusters get random weights that sum to 1 (uniform on the simplex). The limit is the (1 + level) / 2 quantile of the
    weighted mean, sum w s / sum w n for clusters of sum s and size n; the lower limit likewise. With equal sizes, this
    is Gaffke's bound, for which no distribution is known that it fails to cover. With unequal sizes, it is the same
    bound for the excess s - t n of a cluster over t times its size, whose mean is 0 where t is the mean. Clusters that
    are all at t reach Clopper and Pearson's limit for none among so many, the minimum for any interval that holds for
    all distributions on the scale.

    The weighted mean lies above t with the probability that a sum of exponential variables, each multiplied with its
    cluster's excess over t, is positive, which is integrated numerically to about ten digits.

    References
    ----------
    Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable, 2005;
    Learned-Miller and Thomas, A new confidence interval for the mean of a bounded random variable, 2019; Daniels,
    Tail probability approximations, 1987 (the path of integration).

    Examples
    --------
    >>> low, high = gaffke_interval(Clusters(np.array([5.0] * 11 + [4.5]), np.ones(12)), (1.0, 5.0))
    >>> round(low, 2), round(high, 2)
    (3.91, 5.0)
    """
    tail = (1 - level) / 2
    size = float(grouped.sizes.max())
    high = _upper(grouped.sums, grouped.sizes, scale[1], size, tail)
    low = -_upper(-grouped.sums, grouped.sizes, -scale[0], size, tail)
    return ConfidenceInterval(max(scale[0], low), min(scale[1], high), method="gaffke")


def _upper(sums: Floats, sizes: Floats, end: float, size: float, tail: float) -> float:
    """Return the upper limit, with an additional cluster of the given size at the end of the scale."""
    sums, sizes = np.append(sums, size * end), np.append(sizes, size)
    means = sums / sizes
    if means.min() >= end:
        return end
    return root(lambda limit: positive_chance(sums - limit * sizes) - tail, float(means.min()), end)


def positive_chance(factors: Floats) -> float:
    """Return the probability that a sum of independent standard exponential variables with these factors is positive.

    Examples
    --------
    >>> round(positive_chance(np.array([3.0, -1.0])), 9), round(positive_chance(np.array([1.0, 1.0, -2.0])), 9)
    (0.75, 0.555555556)
    """
    if factors.min() >= 0:
        return 1.0
    if factors.max() <= 0:
        return 0.0
    if factors.sum() > 0:
        return 1 - positive_chance(-factors)
    kinds, counts = np.unique(factors / factors.max(), return_counts=True)
    least, most = 0.0, 1.0
    for _ in range(_HALVINGS):  # the saddle point of the moment generating function over its variable
        middle = (least + most) / 2
        if float((kinds / (1 - middle * kinds)) @ counts) > 1 / middle:
            most = middle
        else:
            least = middle
    saddle = (least + most) / 2
    width = (float(np.square(kinds / (1 - saddle * kinds)) @ counts) + saddle**-2) ** -0.5
    along = saddle + 1j * width * np.sinh(_PATH)
    transformed = np.exp(-np.log(1 - np.outer(along, kinds)) @ counts) / along
    heights = transformed.real * np.cosh(_PATH)
    return _STEP * width / math.pi * float(heights.sum() - heights[0] / 2)
