"""The number of samples required to show a difference, and the smallest difference that a number of samples shows."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.statistics.clusters import ClusterNames, by_cluster, finite, jackknife_error
from dokimasia.algorithms.statistics.distributions import noncentral_t_cdf, student_t_quantile

_MOST_SAMPLES = 1 << 40


class Design(NamedTuple):
    """A pilot's paired differences: their standard deviation, and their correlation within clusters.

    `sd` is in the unit of the score; `cluster_size` is the mean number of samples that share a cluster (an image);
    `design_effect` is the number of the pilot's samples worth one independent sample, at least 1.
    """

    sd: float
    cluster_size: float = 1.0
    design_effect: float = 1.0


def pilot_design(differences: Sequence[float], *, clusters: ClusterNames | None = None) -> Design:
    """Return the design of a study, from the paired differences of a pilot.

    Parameters
    ----------
    differences : sequence of float
        Second minus first, one per sample, at least two. Leave out missing ones.
    clusters : sequence of hashable, optional
        The cluster of each sample, at least two clusters; by default each sample is its own cluster.

    Returns
    -------
    Design
        The design effect is the squared ratio of the jackknife's standard error over clusters to that of independent
        samples; below 1 it counts as 1.

    Raises
    ------
    ValueError
        If there are fewer than two values or clusters, one is not finite, or all are equal.

    References
    ----------
    Kish, Survey Sampling, 1965, section 8.2 (the design effect).

    Examples
    --------
    >>> pilot_design([1.0, 0.0, -1.0, 2.0, 0.5, 0.5])
    Design(sd=1.0, cluster_size=1.0, design_effect=1.0)
    >>> round(pilot_design([1.0, 1.0, -1.0, -1.0, 2.0, 2.0, 0.0, 0.0], clusters="aabbccdd").design_effect, 6)
    2.333333
    """
    array = finite(differences)
    grouped = by_cluster(array, clusters)
    if grouped.number < 2:
        raise ValueError("a pilot needs at least two samples, and two clusters where samples share them")
    sd = float(array.std(ddof=1))
    if sd == 0:
        raise ValueError("all differences are equal: the pilot says nothing of how they vary")
    effect = 1.0
    if grouped.number < array.size:
        effect = max(1.0, (jackknife_error(grouped.left_out) / (sd / math.sqrt(array.size))) ** 2)
    return Design(sd=sd, cluster_size=array.size / grouped.number, design_effect=effect)


def power(n: int, difference: float, design: Design, *, level: float = 0.95) -> float:
    """Return the power, 0 to 1: the probability that the paired test of n samples detects a difference.

    Parameters
    ----------
    n : int
        The number of samples, enough for at least two clusters.
    difference : float
        The true mean difference, in the score's unit; its sign does not matter.
    design : Design
        The variation of paired differences.
    level : float
        1 minus the rate of false alarms of the two-sided test, strictly between 0 and 1.

    Raises
    ------
    ValueError
        If an argument is invalid.

    Examples
    --------
    >>> round(power(34, 0.5, Design(sd=1.0)), 3)
    0.808
    """
    _check(design, level)
    df = n / design.cluster_size - 1
    if df < 1:
        raise ValueError(f"{n} samples make fewer than two clusters of {design.cluster_size:g}")
    shift = abs(difference) / (design.sd * math.sqrt(design.design_effect / n))
    limit = student_t_quantile((1 + level) / 2, df)
    if shift > limit + 40:
        return 1.0
    return float(np.clip(1 - noncentral_t_cdf(limit, df, shift) + noncentral_t_cdf(-limit, df, shift), 0.0, 1.0))


def samples_needed(difference: float, design: Design, *, chance: float = 0.8, level: float = 0.95) -> int:
    """Return the minimum number of samples that show a difference with a given power.

    Parameters
    ----------
    difference : float
        The true mean difference, in the score's unit (points), not 0.
    design : Design
        The variation of paired differences: from `pilot_design`, or assumed.
    chance : float
        The required power, strictly between 0 and 1.
    level : float
        1 minus the rate of false alarms of the two-sided test.

    Raises
    ------
    ValueError
        If an argument is invalid, or more than a trillion samples would be needed.

    References
    ----------
    Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2.

    Examples
    --------
    >>> samples_needed(3, Design(sd=20.0))
    351
    >>> samples_needed(3, Design(sd=20.0, cluster_size=3, design_effect=1.6))
    564
    """
    if not (math.isfinite(difference) and difference != 0):
        raise ValueError("a difference of 0 cannot be shown by any number of samples")
    _check(design, level, chance)
    least = math.ceil(2 * design.cluster_size)
    most = least
    while power(most, difference, design, level=level) < chance:
        least, most = most, most * 2
        if most > _MOST_SAMPLES:
            raise ValueError(f"a difference of {difference:g} is too small for any number of samples that can be had")
    return least + bisect_left(range(least, most), chance, key=lambda n: power(n, difference, design, level=level))


def smallest_difference(n: int, design: Design, *, chance: float = 0.8, level: float = 0.95) -> float:
    """Return the smallest difference, in the score's unit, that n samples show with a given power.

    Parameters
    ----------
    n, design, level
        As `power`.
    chance : float
        The required power, strictly between 0 and 1, above the rate of false alarms.

    Raises
    ------
    ValueError
        If an argument is invalid.

    Examples
    --------
    >>> round(smallest_difference(351, Design(sd=20.0)), 2)
    3.0
    """
    _check(design, level, chance)
    low, high = 0.0, design.sd
    while power(n, high, design, level=level) < chance:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if power(n, middle, design, level=level) < chance:
            low = middle
        else:
            high = middle
    return high


def _check(design: Design, level: float, chance: float = 0.8) -> None:
    if not (design.sd > 0 and design.cluster_size >= 1 and design.design_effect >= 1):
        raise ValueError(f"a design has a positive sd, and cluster size and design effect of at least 1: {design}")
    if not (0 < level < 1 and 1 - level < chance < 1):
        raise ValueError(f"level and chance lie strictly between 0 and 1, chance above 1 - level: {level}, {chance}")
