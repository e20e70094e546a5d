"""The mean of people's labels by strata, from a few labels and a judge's scores of all answers: cross-fitted inference.

A *stratum* is a group of answers, such as a category, within which labels were drawn at random. *Known* answers are
those that a rule decided, since rules do not err; the others are *open*.
"""

from collections.abc import Hashable, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.correction.labelled import FEWEST_LABELS, Powered, too_few
from dokimasia.algorithms.correction.values import ShareEstimate
from dokimasia.algorithms.statistics.clusters import (
    ROUNDING,
    Bounds,
    ClusterNames,
    Floats,
    Mask,
    Positions,
    jackknife_error,
    number_clusters,
    trusted_df,
)
from dokimasia.algorithms.statistics.distributions import student_t_quantile
from dokimasia.algorithms.statistics.shares import ConfidenceInterval, clopper_pearson, effective_share

FEWEST_OF_STRATUM = 5
"""Minimum number of labels in a stratum that is not completely labelled; strata with fewer are pooled."""

_FEWEST_DRAWN = 2

FOLDS = 5
"""Number of folds of the labels; the judge's weight on a fold's labels is tuned on the other folds."""

_UNSEEN = 2.0
"""The minimum number of squared residuals of one step of the scale to assume, since as many may be unobserved."""


class RatedAnswers(NamedTuple):
    """One model's answers: the judge's value, the label (None if missing), the stratum, and whether decided by rule."""

    values: Sequence[float]
    labels: Sequence[float | None]
    strata: Sequence[Hashable] | None = None
    known: Sequence[bool] | None = None


def stratified_mean(
    answers: RatedAnswers,
    *,
    clusters: ClusterNames | None = None,
    scale: Bounds = (0.0, 1.0),
    together: bool = True,
    seed: int = 0,
) -> Powered:
    """Return the mean label of all answers, from the labels of some and a judge's values of all.

    Parameters
    ----------
    answers : RatedAnswers
        Leave out answers without a value. In each stratum, the labelled open answers are a random draw from the open
        ones. Labels of known answers are ignored.
    clusters : sequence of hashable, optional
        The cluster that each answer belongs to.
    scale : (float, float)
        The lowest and highest possible label: (0, 1) for right and wrong, (1, 5) for scores.
    together : bool
        Whether to pool the strata in which a random draw of as many labels would have fewer than five. The labels must
        then be a random draw from all open answers. Otherwise strata with fewer than five labels are refused.
    seed : int
        Seed of the folds.

    Returns
    -------
    Powered
        In the unit of the scale. Refused below 20 labels or 10 clusters of labelled answers, unless every open answer is
        labelled.

    Notes
    -----
    In each stratum, the mean is that of the labels plus b times the mean value of all its open answers minus that of
    the labelled ones (PPI++); strata are weighted by their open answers, and known answers are added unchanged. On the
    labels of each of five folds of clusters, b is the slope of labels on values in the other folds (cross-fitting),
    within the stratum if it has 20 labels there and else within all strata, clipped to 0 and 1. Thus no label tunes its
    own weight. The interval is Korn and Graubard's for a share, with the effective number of trials implied by the
    linearised error over clusters, on the scale mapped to 0 and 1; the residual variance is at least that of two labels
    that are off by a step (1).

    References
    ----------
    Angelopoulos, Duchi and Zrnic, PPI++, 2023; Fisch et al., Stratified prediction-powered inference for hybrid language model
    evaluation, 2024; Zrnic and Candès, Cross-prediction-powered inference, 2024.

    Examples
    --------
    >>> values = [1.0, 5.0] * 100
    >>> labels = [1.0, 4.0] * 20 + [None] * 160
    >>> estimate = stratified_mean(RatedAnswers(values, labels, ["a", "b"] * 100), scale=(1.0, 5.0))
    >>> estimate.rate, estimate.labels
    (2.5, 40)
    """
    pool = _Pool.of(answers, clusters, scale, together=together, seed=seed)
    if pool.refusal is not None:
        return pool.refusal
    labels_pool = pool.alone()
    alone = ShareEstimate(labels_pool.mean, labels_pool.interval(scale))
    return Powered(pool.mean, pool.interval(scale), pool.weight, alone, pool.n_labels, pool.n_clusters)


def stratified_difference(
    first: RatedAnswers,
    second: RatedAnswers,
    *,
    clusters: ClusterNames | None = None,
    scale: Bounds = (0.0, 1.0),
    together: bool = True,
    seed: int = 0,
) -> Powered:
    """Return the second model's mean label minus the first's, from labels and values on the same samples.

    Parameters
    ----------
    first, second : RatedAnswers
        Both models' answers to each sample, in the same order.
    clusters, scale, together, seed
        As for `stratified_mean`.

    Returns
    -------
    Powered
        In the unit of the scale, above 0 if the second is better; refused if either mean is. The interval is Student's
        t with the error over clusters, which accounts for the correlation of both models' labels.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> first = RatedAnswers([2.0, 3.0] * 100, [2.0, 3.0] * 20 + [None] * 160)
    >>> second = RatedAnswers([4.0, 3.0] * 100, [4.0, 3.0] * 20 + [None] * 160)
    >>> stratified_difference(first, second, scale=(1.0, 5.0)).rate
    1.0
    """
    if len(first.values) != len(second.values):
        raise ValueError(f"{len(first.values)} first and {len(second.values)} second answers are no pairs")
    pools = [_Pool.of(answers, clusters, scale, together=together, seed=seed) for answers in (first, second)]
    for pool in pools:
        if pool.refusal is not None:
            return pool.refusal
    labels, n_clusters = (
        min(counts) for counts in zip(*((pool.n_labels, pool.n_clusters) for pool in pools), strict=True)
    )
    weight = sum(pool.weight for pool in pools) / 2
    alone = ShareEstimate(*_mean_difference([pool.alone() for pool in pools], scale))
    return Powered(*_mean_difference(pools, scale), weight, alone, labels, n_clusters)


def labels_needed(
    answers: RatedAnswers,
    width: float,
    *,
    clusters: ClusterNames | None = None,
    scale: Bounds = (0.0, 1.0),
    seed: int = 0,
) -> int | None:
    """Return the approximate total number of labels of open answers for an interval no wider than `width`.

    Parameters
    ----------
    answers, clusters, scale, seed
        As for `stratified_mean`.
    width : float
        From the lower to the upper end of the 95 % interval, above 0, in the unit of the scale.

    Returns
    -------
    int or None
        The present number if that is enough. None if the labels are too few to tell, or if even labels of all open
        answers would not suffice, so that more answers are needed.

    Notes
    -----
    The error has two parts: the labels' part falls with their number, the answers' part does not.

    Examples
    --------
    >>> answers = RatedAnswers([True, False] * 500, [True, False, True, True] * 10 + [None] * 960)
    >>> 40 < labels_needed(answers, 0.15) < 1000, labels_needed(answers, 0.001)
    (True, None)
    """
    if not width > 0:
        raise ValueError("the width of an interval is above 0")
    pool = _Pool.of(answers, clusters, scale, together=True, seed=seed)
    if pool.refusal is not None:
        return None
    interval = pool.interval(scale)
    if interval.high - interval.low <= width:
        return pool.n_labels
    # the measured width represents the errors, since it includes the effects of the scale's ends and of few labels
    allowed = (width / (interval.high - interval.low)) ** 2
    n_open, n = int(pool.open.sum()), pool.n_labels
    variance, of_answers = pool.error**2, _error(pool.of_answers) ** 2
    remainder = allowed * variance - of_answers
    if remainder <= 0:
        return None
    needed = ceil(n * max(0.0, variance - of_answers) / remainder)
    return needed if needed <= n_open else None


class _Pool(NamedTuple):
    """One model's answers as arrays, and the mean label estimated from them.

    `contributions` are the clusters' contributions to the error of the mean, and `of_answers` is the part of these that
    more labels cannot reduce; `floor` is the minimum variance of the labels' part.
    """

    mean: float
    contributions: Floats
    of_answers: Floats
    floor: float
    weight: float
    open: Mask
    place: Positions
    n_labels: int
    n_clusters: int
    refusal: Powered | None
    parts: "_RatedArrays | None"

    @classmethod
    def of(
        cls,
        answers: RatedAnswers,
        clusters: ClusterNames | None,
        scale: Bounds,
        *,
        together: bool,
        seed: int,
    ) -> "_Pool":
        """Return the pool of a model's answers.

        Raises
        ------
        ValueError
            If lengths differ, or a value or label lies outside the scale.
        """
        n = len(answers.values)
        for column in (answers.labels, answers.strata, answers.known):
            if column is not None and len(column) != n:
                raise ValueError(f"{n} values and {len(column)} labels, strata or rules are no answers")
        values = np.array(answers.values, dtype=np.float64)
        place = np.arange(n) if clusters is None else number_clusters(clusters, n)
        open_ = np.ones(n, dtype=np.bool_) if answers.known is None else ~np.array(answers.known, dtype=np.bool_)
        labelled = open_ & np.array([label is not None for label in answers.labels], dtype=np.bool_)
        truth = np.array([label or 0.0 for label in answers.labels], dtype=np.float64)
        for column in (values, truth[labelled]):
            if column.size and not (column.min() >= scale[0] and column.max() <= scale[1]):
                raise ValueError(f"a value or label lies outside of {scale[0]:g} to {scale[1]:g}")
        n_labels, n_clusters = int(labelled.sum()), len(set(place[labelled].tolist()))
        empty = np.zeros(0)

        def refused(reason: str, missing: int) -> "_Pool":
            refusal = Powered(None, None, 0.0, None, n_labels, n_clusters, missing, reason)
            return cls(0.0, empty, empty, 0.0, 0.0, open_, place, n_labels, n_clusters, refusal, None)

        if not n:
            return refused("nothing was decided", 0)
        if few := too_few(n_labels, n_clusters, int(open_.sum()), n):
            return refused(few.reason, few.missing)
        stratum = np.zeros(n, dtype=np.intp) if answers.strata is None else number_clusters(answers.strata, n)
        counts, sizes = np.bincount(stratum, weights=labelled), np.bincount(stratum, weights=open_)
        if together:
            # By the expected number of labels: with the drawn number, the labels of a stratum would weigh less where
            # they are few.
            expected = sizes * n_labels / max(1, int(open_.sum()))
            short = (expected < FEWEST_OF_STRATUM) | (counts < _FEWEST_DRAWN)
            short &= (counts < sizes) & (sizes > 0)
            stratum = _pool_strata(stratum, expected, counts.astype(np.float64), short)
        else:
            short = counts < np.minimum(sizes, FEWEST_OF_STRATUM)
            if short.any():
                missing = int((np.minimum(sizes, FEWEST_OF_STRATUM) - counts)[short].sum())
                return refused(
                    f"{int(short.sum())} of {len(counts)} strata have fewer than {FEWEST_OF_STRATUM} labels, and the labels are "
                    "no random draw of all answers",
                    missing,
                )
        parts = _RatedArrays(values, truth, open_, labelled, stratum, place)
        slopes = _cross_fitted(parts, seed)
        return cls._from(parts, slopes, n_labels, n_clusters)

    @classmethod
    def _from(cls, parts: "_RatedArrays", slopes: Floats, n_labels: int, n_clusters: int) -> "_Pool":
        """Return the pool with one slope for each answer; only those of labelled answers are used."""
        values, truth, open_, labelled, stratum, place = parts
        n = len(values)
        counted = np.where(open_, 0.0, values)
        of_labels = np.zeros(n)
        floor, weight = 0.0, 0.0
        for number in np.unique(stratum[open_]):
            of_open = open_ & (stratum == number)
            drawn = labelled & of_open
            size, n_drawn = int(of_open.sum()), int(drawn.sum())
            slope = float(slopes[drawn].mean())
            residual = truth[drawn] - slopes[drawn] * values[drawn]
            counted[of_open] = slope * values[of_open] + residual.mean()
            if n_drawn == size:
                counted[of_open] = truth[of_open]
                continue
            bias = n_drawn / max(1, n_drawn - 1)
            of_labels[drawn] = size / n / n_drawn * (residual - residual.mean()) * bias**0.5
            # of the labels' part, (1 - drawn / size) remains if the labels are part of the answers
            floor += (size / n) ** 2 * _UNSEEN / max(n_drawn, 1) / n_labels
            weight += size * slope * (1 - n_drawn / size)
        mean = float(counted.mean())
        of_answers = np.bincount(place, weights=(counted - mean) / n).astype(np.float64)
        contributions = of_answers + np.bincount(place, weights=of_labels).astype(np.float64)
        weight /= max(1, int(open_.sum()))
        return cls(mean, contributions, of_answers, floor, weight, open_, place, n_labels, n_clusters, None, parts)

    def alone(self) -> "_Pool":
        """Return the pool estimated from the labels alone."""
        if self.parts is None:
            return self
        return self._from(self.parts, np.zeros(len(self.place)), self.n_labels, self.n_clusters)

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return _error(self.contributions, self.floor + _error(self.of_answers) ** 2)

    def interval(self, scale: Bounds) -> ConfidenceInterval:
        """Return the 95 % interval of the mean."""
        low, high = scale
        if len(self.contributions) < 2:
            return ConfidenceInterval(low, high, "one cluster")
        share = min(1.0, max(0.0, (self.mean - low) / (high - low)))
        left_out = _left_out(self.contributions, self.error) / (high - low)
        if 0 < share < 1 and np.ptp(left_out) > ROUNDING:
            limits = effective_share(share, left_out, 0.95)
        else:  # all labels are alike: count as many trials as clusters, one of which may differ
            limits = clopper_pearson(round(share * self.n_clusters), self.n_clusters)
        return ConfidenceInterval(low + (high - low) * limits.low, low + (high - low) * limits.high)


class _RatedArrays(NamedTuple):
    """Arrays of all answers: the judge's values, labels (0 without), masks, strata and clusters by number."""

    values: Floats
    truth: Floats
    open: Mask
    labelled: Mask
    stratum: Positions
    place: Positions


def _pool_strata(stratum: Positions, expected: Floats, counts: Floats, short: Mask) -> Positions:
    """Return the strata with short ones merged, together with others while too few labels are expected of them."""
    if not short.any():
        return stratum
    joined = short.copy()
    others = [int(number) for number in np.argsort(expected, kind="stable") if not short[number]]
    while others and (expected[joined].sum() < FEWEST_OF_STRATUM or counts[joined].sum() < _FEWEST_DRAWN):
        joined[others.pop(0)] = True
    number = int(np.flatnonzero(joined)[0])
    return np.where(joined[stratum], number, stratum)


def _cross_fitted(parts: _RatedArrays, seed: int) -> Floats:
    """Return the slope for each labelled answer, tuned on the labels of the other folds of clusters; 0 for the others."""
    slopes = np.zeros(len(parts.values))
    clusters = np.unique(parts.place[parts.labelled])
    if len(clusters) < 2:
        return slopes
    fold_of = np.zeros(int(parts.place.max()) + 1, dtype=np.intp)
    fold_of[np.random.default_rng(seed).permutation(clusters)] = np.arange(len(clusters)) % FOLDS
    fold = fold_of[parts.place]
    for number in range(min(FOLDS, len(clusters))):
        others = parts.labelled & (fold != number)
        pooled = _slope(parts, others)
        for stratum in np.unique(parts.stratum[parts.labelled]):
            within = others & (parts.stratum == stratum)
            slope = _slope(parts, within) if int(within.sum()) >= FEWEST_LABELS else pooled
            slopes[parts.labelled & (fold == number) & (parts.stratum == stratum)] = slope
    return slopes


def _slope(parts: _RatedArrays, chosen: Mask) -> float:
    """Return the slope of labels on values within strata, clipped to 0 and 1."""
    stratum = parts.stratum[chosen]
    if not stratum.size:
        return 0.0
    sizes = np.maximum(1.0, np.bincount(stratum))
    values, truth = (
        numbers - (np.bincount(stratum, weights=numbers) / sizes)[stratum]
        for numbers in (parts.values[chosen], parts.truth[chosen])
    )
    squares = float(values @ values)
    if squares > 1e-12:
        return min(1.0, max(0.0, float(values @ truth) / squares))
    return 0.0


def _left_out(contributions: Floats, error: float = 0.0) -> Floats:
    """Return the changes of a mean without each cluster in turn, widened to a standard error of at least `error`."""
    count = len(contributions)
    left_out = -contributions * count / (count - 1)
    estimate = jackknife_error(left_out)
    if 0 < estimate < error:
        return left_out * (error / estimate)
    return left_out


def _error(contributions: Floats, least: float = 0.0) -> float:
    return max(jackknife_error(_left_out(contributions)), least**0.5)


def _mean_difference(pools: Sequence[_Pool], scale: Bounds) -> tuple[float, ConfidenceInterval]:
    """Return the second mean minus the first with its interval."""
    reach = scale[1] - scale[0]
    difference = pools[1].mean - pools[0].mean
    contributions = pools[1].contributions - pools[0].contributions
    if len(contributions) < 2:
        return difference, ConfidenceInterval(-reach, reach, "one cluster")
    least = _error(pools[1].of_answers - pools[0].of_answers) ** 2 + sum(pool.floor for pool in pools)
    left_out = _left_out(contributions)
    margin = student_t_quantile(0.975, trusted_df(left_out)) * _error(contributions, least)
    return difference, ConfidenceInterval(max(-reach, difference - margin), min(reach, difference + margin))
