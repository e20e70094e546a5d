"""Clustered values: their sums by cluster, and an estimate's error from omitting one cluster at a time."""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Positions = NDArray[np.intp]

Mask = NDArray[np.bool_]

Bounds = tuple[float, float]
"""The lowest and the highest possible value."""

ClusterNames = Sequence[Hashable] | Positions
"""The cluster of each value by name or by number from 0; an array of numbers is read much faster."""

ROUNDING = 1e-12

_SMALLEST_EXPONENT = -1074
"""The exponent of the smallest power of two that a float can represent."""


class Clusters(NamedTuple):
    """Values summed by cluster, in an order that depends only on the values."""

    sums: Floats
    sizes: Floats

    @property
    def number(self) -> int:
        """The number of clusters."""
        return len(self.sums)

    @property
    def mean(self) -> float:
        """The mean of all values."""
        return float(self.sums.sum() / self.sizes.sum())

    @property
    def alike(self) -> bool:
        """Whether all clusters have the same mean, up to rounding."""
        means = self.sums / self.sizes
        return bool(np.ptp(means) <= ROUNDING * np.abs(means).max())

    @property
    def left_out(self) -> Floats:
        """The mean without each cluster in turn; needs at least two clusters."""
        return (self.sums.sum() - self.sums) / (self.sizes.sum() - self.sizes)


def on_grid(values: Floats) -> Floats:
    """Return values rounded to a grid on which sums are exact: in any order, and so on any machine.

    That holds for sums of up to twice as many terms, each of which is one of the values. The grid consists of multiples
    of a power of two that is at most 2^-50 times the number of values times the largest of them. Values that differ
    only by rounding become equal.

    Examples
    --------
    >>> first, second = on_grid(np.array([0.1 + 0.2, 0.3]))
    >>> bool(first == second), abs(float(second) - 0.3) < 1e-15
    (True, True)
    """
    exponent = math.frexp(float(np.abs(values).max()))[1] + len(values).bit_length() - 52
    unit = math.ldexp(1.0, max(exponent, _SMALLEST_EXPONENT))
    return np.round(values / unit) * unit


def total(values: Floats) -> float:
    """Return the sum of values, added from first to last, the same on every machine.

    Examples
    --------
    >>> total(np.array([1e16, 1.0, -1e16])), total(np.array([]))
    (0.0, 0.0)
    """
    if len(values):
        return float(np.add.accumulate(values)[-1])
    return 0.0


def group_means(values: Floats, groups: Positions, n: int) -> Floats:
    """Return the mean of the values of each of n groups, numbered from 0, without NaN values.

    Examples
    --------
    >>> group_means(np.array([1.0, 2.0, np.nan]), np.array([0, 0, 1]), 2)
    array([1.5, nan])
    """
    known = np.isfinite(values)
    sums = np.bincount(groups[known], weights=values[known], minlength=n)
    counts = np.bincount(groups[known], minlength=n)
    return np.divide(sums, counts, out=np.full(n, np.nan), where=counts > 0)


def finite(values: Sequence[float] | Floats) -> Floats:
    """Return values as an array; raise ValueError if there are none or one is not finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError("the values are one sequence of finite numbers; what is missing is left out before")
    if array.size == 0:
        raise ValueError("at least one value is needed")
    return array


def number_clusters(clusters: ClusterNames, n: int) -> Positions:
    """Return the cluster of each of n items as a number from 0, without gaps; names in order of appearance."""
    if len(clusters) != n:
        raise ValueError(f"{n} values for {len(clusters)} cluster names")
    if isinstance(clusters, np.ndarray):
        return (np.cumsum(np.bincount(clusters) > 0) - 1)[clusters]
    names = dict.fromkeys(clusters)
    if len(names) == n:
        return np.arange(n, dtype=np.intp)
    numbers = dict(zip(names, range(len(names)), strict=True))
    return np.fromiter(map(numbers.__getitem__, clusters), dtype=np.intp, count=n)


def by_cluster(array: Floats, clusters: ClusterNames | None) -> Clusters:
    """Return values summed by cluster; without clusters, each value is its own cluster."""
    if clusters is None:
        ordered = np.sort(array)
        return Clusters(ordered, np.ones_like(ordered))
    index = number_clusters(clusters, len(array))
    sizes = np.bincount(index).astype(np.float64)
    if len(sizes) == len(array):
        return Clusters(np.sort(array) + 0.0, sizes)  # a sum is never negative zero
    by_value = np.argsort(array, kind="stable")
    sums = np.bincount(index[by_value], weights=array[by_value]).astype(np.float64)
    order = np.lexsort((sums, sizes))
    return Clusters(sums[order], sizes[order])


def effective_number(sizes: Floats) -> float:
    """Return the effective number of clusters of these sizes: (sum n)^2 / sum n^2 (Kish)."""
    weights = sizes / sizes.sum()
    return float(1 / np.square(weights).sum())


def jackknife_error(left_out: Floats) -> float:
    """Return the standard error of an estimate from its values without each cluster in turn."""
    count = len(left_out)
    return math.sqrt((count - 1) / count * float(np.square(left_out - left_out.mean()).sum()))


def trusted_df(left_out: Floats) -> float:
    """Return the degrees of freedom of a jackknife's standard error: G - 1, or fewer if a few clusters dominate it.

    The variance of an estimated variance grows with the kurtosis k: it is known as precisely as one with
    2 (G - 1) / (k - 1) degrees of freedom, which is G - 1 for normal values (k = 3).
    """
    count = len(left_out)
    deviations = left_out - left_out.mean()
    largest = float(np.abs(deviations).max())
    if largest == 0:
        return count - 1
    squares = np.square(deviations / largest)
    kurtosis = count * float(np.square(squares).sum()) / float(squares.sum()) ** 2
    return (count - 1) / max(1.0, (kurtosis - 1) / 2)


def skewness(left_out: Floats) -> float:
    """Return the skewness of the clusters' contributions to an estimate, above 0 if a few add much; 0 if all are equal."""
    deviations = left_out.mean() - left_out
    largest = float(np.abs(deviations).max())
    if largest == 0:
        return 0.0
    deviations = deviations / largest
    return math.sqrt(len(left_out)) * float(np.power(deviations, 3).sum()) / float(np.square(deviations).sum()) ** 1.5
