"""How far the values of a part lie from the values of the rest, with an interval that knows which values belong together."""

import math
from collections.abc import Hashable, Sequence

import numpy as np

from dokimasia.algorithms.clusters import finite, jackknife_error, number_clusters, trusted_df
from dokimasia.algorithms.distributions import student_t_quantile
from dokimasia.algorithms.shares import Interval, check_level


def contrast_interval(
    values: Sequence[float],
    inside: Sequence[bool],
    *,
    clusters: Sequence[Hashable],
    level: float = 0.95,
    bounds: tuple[float, float] | None = None,
) -> Interval:
    """Return a confidence interval of the mean inside a part minus the mean outside of it.

    Parameters
    ----------
    values : sequence of float
        The measured values, in any unit.
    inside : sequence of bool
        Whether each value belongs to the part; some do and some do not.
    clusters : sequence of hashable
        The cluster that each value belongs to; one cluster may have values inside and outside.
    level : float
        Nominal coverage, strictly between 0 and 1.
    bounds : tuple of float, optional
        The lowest and the highest value that can occur; the difference stays between low - high and high - low.

    Returns
    -------
    Interval
        The difference, plus and minus Student's t times the standard error of the jackknife over clusters. A part, or a
        rest, of one cluster does not show how clusters differ: the bounds, or infinite.

    Raises
    ------
    ValueError
        If the lengths differ, a value is not finite, or no value is inside or none outside.

    References
    ----------
    MacKinnon, Nielsen and Webb, Cluster-robust inference, 2023, section 3.

    Examples
    --------
    >>> low, high = contrast_interval([1, 2, 1, 5, 6, 5], [1, 1, 1, 0, 0, 0], clusters="abcdef")
    >>> low < -4 < high < 0
    True
    """
    check_level(level)
    array, part = finite(values), np.asarray(inside, dtype=np.bool_)
    if len(array) != len(part):
        raise ValueError(f"{len(array)} values, but {len(part)} places")
    if part.all() or not part.any():
        raise ValueError("a contrast needs values inside and outside")
    index = number_clusters(clusters, len(array))
    count = int(index.max()) + 1
    widest = math.inf if bounds is None else bounds[1] - bounds[0]
    means: list[float] = []
    without: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
    for side in (part, ~part):
        sums = np.bincount(index[side], weights=array[side], minlength=count)
        sizes = np.bincount(index[side], minlength=count).astype(np.float64)
        if np.count_nonzero(sizes) < 2:
            return Interval(-widest, widest)
        means.append(float(sums.sum() / sizes.sum()))
        without.append((sums.sum() - sums) / (sizes.sum() - sizes))
    difference = means[0] - means[1]
    left_out = np.sort(without[0] - without[1])
    margin = student_t_quantile((1 + level) / 2, trusted_df(left_out)) * jackknife_error(left_out)
    return Interval(max(-widest, difference - margin), min(widest, difference + margin))
