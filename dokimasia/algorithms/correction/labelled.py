"""The share of right answers from a few human labels and a judge's decisions on all answers: power-tuned inference.

Terms are as in `values`. A *label* is a person's decision on an answer, right or wrong; the labelled answers are a
random sample of the open answers. An answer is *known* if a rule decided it, since rules do not err; the others are
*open*.
"""

from collections.abc import Sequence
from math import hypot
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.correction.values import ShareEstimate
from dokimasia.algorithms.statistics.clusters import (
    ROUNDING,
    ClusterNames,
    Floats,
    Mask,
    Positions,
    jackknife_error,
    number_clusters,
    trusted_df,
)
from dokimasia.algorithms.statistics.distributions import student_t_quantile
from dokimasia.algorithms.statistics.intervals import bootstrap_interval, rate_interval
from dokimasia.algorithms.statistics.shares import ConfidenceInterval, effective_share

FEWEST_LABELS = 20
FEWEST_CLUSTERS = 10
"""Minimum numbers of labels and of clusters of labelled answers for correcting a rate."""

FEWEST_OF_A_KIND = 5
"""With fewer labels of the rarer kind, the judge's decisions are ignored: so few labels cannot show their quality."""

_UNSEEN = 2.0
"""The minimum number of squared residuals to assume, since as many may be unobserved."""


class Powered(NamedTuple):
    """A rate, or a difference of two rates, from labels and decisions, with the same from the labels alone.

    Attributes
    ----------
    rate : float or None
        0 to 1, a difference -1 to 1; None if it is refused. It never lies outside the range that known answers and
        labels leave possible.
    interval : ConfidenceInterval or None
        95 %, for the population that the samples represent; it accounts for other samples leaving other answers open.
    weight : float
        The weight of the judge's decisions on open answers, 0 (the labels alone count) to 1, tuned on the labels; for a
        difference, the mean of both sides.
    alone : ShareEstimate or None
        The same from known answers and the labels alone.
    labels, clusters : int
        The number of each, of open answers.
    missing : int
        The minimum number of additional labels required; 0 if none.
    reason : str
        The reason for a refusal, as a phrase; empty without one.
    """

    rate: float | None
    interval: ConfidenceInterval | None
    weight: float
    alone: ShareEstimate | None
    labels: int
    clusters: int
    missing: int = 0
    reason: str = ""


class LabelledAnswers(NamedTuple):
    """One model's answers: whether each was decided right, its label (None if missing), and whether by a rule."""

    decided: Sequence[bool]
    labels: Sequence[bool | None]
    known: Sequence[bool] | None = None


def powered_rate(
    decided: Sequence[bool],
    labels: Sequence[bool | None],
    *,
    known: Sequence[bool] | None = None,
    clusters: ClusterNames | None = None,
    seed: int = 0,
) -> Powered:
    """Return the share of right answers from a few labels and a judge's or a rule's decisions on all answers.

    Parameters
    ----------
    decided : sequence of bool
        Whether each answer was decided right; leave out answers without a decision.
    labels : sequence of bool or None
        The label of each answer, None if it has none. The labelled open answers must have been drawn at random among the open
        ones, or among those judged right and among those judged wrong. Labels of known answers are ignored.
    known : sequence of bool, optional
        Whether a rule decided each answer; by default none.
    clusters : sequence of hashable, optional
        The cluster that each answer belongs to.
    seed : int
        Seed of the bootstrap, which is used if there are known answers.

    Returns
    -------
    Powered
        Higher is better. Refused below 20 labels or 10 clusters of labelled answers, unless every open answer is labelled.

    Notes
    -----
    The rate of the open answers is that of the labels plus lambda times the share judged right among the unlabelled
    answers minus that among the labelled ones. The variance is smallest at lambda = slope / (1 + n / N) for n labels, N
    unlabelled answers and the slope of the labels on the decisions, clipped to 0 and 1; that rate is the share of right
    answers among those judged right and among those judged wrong, weighted by how many of the open answers are judged
    so. Known answers are added unchanged. The interval uses that form, since an interval of a share from few labels
    holds its level, while a variance from few labels does not: Korn and Graubard's intervals of the two shares and that
    of the share judged right, or with known answers the bootstrap's of the mean of what each answer counts, are
    combined as the square root of the sum of squares. If answers share clusters, each end is the outer one of this
    interval and the jackknife's over clusters (as a share of effective trials), which accounts for the correlation of
    the three. With fewer than five labels of the rarer kind, or a slope of 0, the labels are used alone.

    References
    ----------
    Angelopoulos, Duchi and Zrnic, PPI++: Efficient prediction-powered inference, 2023, section 6; Zou and Donner, 2008, as in
    `contrast_interval`.

    Examples
    --------
    >>> estimate = powered_rate([True, False] * 100, [True, False] * 20 + [None] * 160)
    >>> estimate.rate, estimate.weight, estimate.alone.share
    (0.5, 0.8, 0.5)
    >>> estimate.interval.high - estimate.interval.low < estimate.alone.interval.high - estimate.alone.interval.low
    True
    >>> powered_rate([True] * 90 + [True, False] * 5, [None] * 100, known=[True] * 90 + [False] * 10).missing
    10
    """
    side = _Side.of(LabelledAnswers(decided, labels, known), clusters)
    if side.refusal is not None:
        return side.refusal
    if side.complete:
        interval = rate_interval([bool(value) for value in side.values], clusters=side.place.tolist())
        estimate = ShareEstimate(side.rate, interval)
        return Powered(estimate.share, estimate.interval, 0.0, estimate, side.n_labels, side.n_clusters)
    alone = side.alone(seed)
    if side.slope <= 0:
        return Powered(alone.share, alone.interval, 0.0, alone, side.n_labels, side.n_clusters)
    judged_right = side.decisions[side.labelled] == 1
    parts = [ShareEstimate.of(int(side.truth[of].sum()), int(of.sum())) for of in (judged_right, ~judged_right)]
    share = float(side.decisions[side.open].mean())
    weights = [side.part_open * share, side.part_open * (1 - share)]
    if side.known_any:
        sampled = side.sampled(seed)
        weights.append(1.0)
    else:
        all_decisions = [bool(decision) for decision in side.decisions]
        sampled = ShareEstimate(share, rate_interval(all_decisions, clusters=side.place.tolist()))
        weights.append(side.slope)
    low, high = _sum_limits(side.rate, [*parts, sampled], weights)
    if side.shared:
        left_out = side.left_out()
        if np.ptp(left_out) > ROUNDING:
            jackknife = effective_share(min(1.0, max(0.0, side.rate)), left_out, 0.95)
            low, high = min(low, jackknife.low), max(high, jackknife.high)
    usual = sampled.interval
    interval = ConfidenceInterval(max(0.0, low), min(1.0, high), usual.reason, method=usual.method)
    return Powered(side.rate, interval, side.weight, alone, side.n_labels, side.n_clusters)


def powered_difference(
    first: LabelledAnswers, second: LabelledAnswers, *, clusters: ClusterNames | None = None
) -> Powered:
    """Return the second model's share of right answers minus the first's, from labels and decisions on the same samples.

    Parameters
    ----------
    first, second : LabelledAnswers
        Both models' answers to each sample that is decided for both, in the same order. The labels of the two models
        may be of different samples, but are more informative on the same samples.
    clusters : sequence of hashable, optional
        The cluster that each sample belongs to.

    Returns
    -------
    Powered
        -1 to 1; above 0 if the second is better: the difference of the two rates of `powered_rate`, and refused if either of
        them is.

    Raises
    ------
    ValueError
        If the lengths differ.

    Notes
    -----
    The interval is Student's t with the jackknife's error over clusters, which accounts for the correlation of both
    models' labels. The residual variance of each model's labels is at least that of two labels on which judge and
    people differ, since as many may be unobserved.

    Examples
    --------
    >>> first = LabelledAnswers([True, False] * 150, [True, False] * 20 + [None] * 260)
    >>> second = LabelledAnswers([True] * 300, [True] * 40 + [None] * 260)
    >>> estimate = powered_difference(first, second)
    >>> round(estimate.rate, 6), estimate.interval.low > 0
    (0.5, True)
    """
    if len(first.decided) != len(second.decided):
        raise ValueError(f"{len(first.decided)} first and {len(second.decided)} second answers are no pairs")
    sides = [_Side.of(first, clusters), _Side.of(second, clusters)]
    labels = min(side.n_labels for side in sides)
    n_clusters = min(side.n_clusters for side in sides)
    for side in sides:
        if side.refusal is not None:
            return side.refusal
    rate, interval = _difference(sides)
    without = [side._replace(slope=0.0) for side in sides]
    alone = ShareEstimate(*_difference(without))
    weight = sum(side.weight for side in sides) / 2
    return Powered(rate, interval, weight, alone, labels, n_clusters)


def _difference(sides: "Sequence[_Side]") -> tuple[float, ConfidenceInterval]:
    rate = sides[1].rate - sides[0].rate
    if sides[0].place.max() < 1:
        return rate, ConfidenceInterval(-1.0, 1.0, "one cluster")
    if all(side.complete for side in sides):
        steps = (sides[1].values - sides[0].values).tolist()
        return rate, bootstrap_interval(steps, clusters=sides[0].place.tolist(), seed=0, bounds=(-1.0, 1.0))
    left_out = sides[1].left_out() - sides[0].left_out()
    steps = sides[1].values - sides[0].values
    least = float(steps.var()) / len(steps) + sum(side.unseen for side in sides)
    error = max(jackknife_error(left_out), least**0.5)
    margin = student_t_quantile(0.975, trusted_df(left_out)) * error
    return rate, ConfidenceInterval(max(-1.0, rate - margin), min(1.0, rate + margin))


class _Side(NamedTuple):
    """One model's answers as arrays, and the estimates from their labels.

    `open` and `labelled` are masks, which exclude labels of known answers. `truth` are the labels in order, `slope` is
    that of the labels on the decisions (0 if the labels are used alone), and `place` is the number of each answer's
    cluster.
    """

    decisions: Floats
    open: Mask
    labelled: Mask
    truth: Floats
    place: Positions
    slope: float
    refusal: Powered | None

    @classmethod
    def of(cls, answers: LabelledAnswers, clusters: ClusterNames | None) -> "_Side":
        """Return the arrays of a model's answers.

        Raises
        ------
        ValueError
            If the lengths differ.
        """
        n = len(answers.decided)
        if len(answers.labels) != n:
            raise ValueError(f"{n} decisions for {len(answers.labels)} labels, None among them")
        if answers.known is not None and len(answers.known) != n:
            raise ValueError(f"{n} decisions, and of {len(answers.known)} it is said whether a rule made them")
        place = np.arange(n) if clusters is None else number_clusters(clusters, n)
        open_ = np.ones(n, dtype=np.bool_) if answers.known is None else ~np.array(answers.known, dtype=np.bool_)
        labelled = open_ & np.array([label is not None for label in answers.labels], dtype=np.bool_)
        decisions = np.array(answers.decided, dtype=np.float64)
        truth = np.array([bool(label) for label in answers.labels], dtype=np.float64)[labelled]
        refusal = too_few(int(labelled.sum()), len(set(place[labelled].tolist())), int(open_.sum()), n)
        slope = 0.0 if refusal is not None else _slope(decisions[labelled] == 1, truth == 1)
        return cls(decisions, open_, labelled, truth, place, slope, refusal)

    @property
    def complete(self) -> bool:
        """Whether every open answer is labelled."""
        return self.n_labels == int(self.open.sum())

    @property
    def known_any(self) -> bool:
        """Whether a rule decided any answer."""
        return not bool(self.open.all())

    @property
    def shared(self) -> bool:
        """Whether answers share clusters."""
        return int(self.place.max()) + 1 < len(self.decisions)

    @property
    def n_labels(self) -> int:
        """Number of labels of open answers."""
        return int(self.labelled.sum())

    @property
    def n_clusters(self) -> int:
        """Number of clusters of labelled open answers."""
        return len(set(self.place[self.labelled].tolist()))

    @property
    def part_open(self) -> float:
        """The share of open answers, 0 to 1."""
        return float(self.open.mean())

    @property
    def weight(self) -> float:
        """The weight of the judge's decisions on open answers."""
        if self.complete:
            return 0.0
        return self.slope * (1 - self.n_labels / int(self.open.sum()))

    @property
    def unseen(self) -> float:
        """The minimum residual variance of the labels."""
        if self.complete:
            return 0.0
        return self.part_open**2 * _UNSEEN / self.n_labels**2

    @property
    def values(self) -> Floats:
        """The contribution of each answer; their mean is the rate."""
        values = self.decisions.copy()
        if self.complete:
            values[self.labelled] = self.truth
            return values
        judged_right = self.decisions[self.labelled] == 1
        if self.slope == 0:
            values[self.open] = self.truth.mean()
        else:
            shares = (self.truth[judged_right].mean(), self.truth[~judged_right].mean())
            values[self.open] = np.where(self.decisions[self.open] == 1, *shares)
        return values

    @property
    def rate(self) -> float:
        """The share of right answers."""
        return float(self.values.mean())

    def sampled(self, seed: int) -> ShareEstimate:
        """Return the rate with the interval of the answers alone, as if the estimates from labels were certain."""
        values, clusters = self.values, self.place.tolist()
        return ShareEstimate(
            self.rate, bootstrap_interval(values.tolist(), clusters=clusters, seed=seed, bounds=(0.0, 1.0))
        )

    def alone(self, seed: int) -> ShareEstimate:
        """Return the rate from known answers and labels alone."""
        right = [bool(label) for label in self.truth]
        of_labels = rate_interval(right, clusters=self.place[self.labelled].tolist())
        labels = ShareEstimate(float(self.truth.mean()), of_labels)
        if not self.known_any:
            return labels
        sampled = self._replace(slope=0.0).sampled(seed)
        low, high = _sum_limits(sampled.share, [labels, sampled], [self.part_open, 1.0])
        reason = labels.interval.reason or sampled.interval.reason
        interval = ConfidenceInterval(max(0.0, low), min(1.0, high), reason, method=sampled.interval.method)
        return ShareEstimate(sampled.share, interval)

    def left_out(self) -> Floats:
        """Return the rate without each cluster in turn, with the slope tuned anew each time."""

        def without(values: Floats) -> Floats:
            sums = np.bincount(self.place, weights=values)
            return values.sum() - sums

        decisions, open_, labelled = self.decisions, self.open.astype(np.float64), self.labelled.astype(np.float64)
        answers = without(np.ones_like(decisions))
        if self.complete:
            return without(self.values) / answers
        labels = np.zeros_like(decisions)
        labels[self.labelled] = self.truth
        n = without(labelled)
        f, y = without(decisions * labelled) / n, without(labels) / n
        ff, fy = without(decisions * labelled) / n - f * f, without(decisions * labels) / n - f * y
        slope = np.clip(np.divide(fy, ff, out=np.zeros_like(fy), where=ff > ROUNDING), 0.0, 1.0)
        if self.slope == 0:
            slope = np.zeros_like(slope)
        n_open = without(open_)
        of_open = y + slope * (without(decisions * open_) / n_open - f)
        return (without(decisions * (1 - open_)) + n_open * of_open) / answers


def _sum_limits(rate: float, parts: Sequence[ShareEstimate], weights: Sequence[float]) -> tuple[float, float]:
    """Return the limits of a weighted sum of shares, each with its own interval (MOVER)."""
    lower: list[float] = []
    upper: list[float] = []
    for weight, part in zip(weights, parts, strict=True):
        lower.append(weight * (part.share - part.interval.low))
        upper.append(weight * (part.interval.high - part.share))
    return rate - hypot(*lower), rate + hypot(*upper)


def too_few(labels: int, clusters: int, open_answers: int, answers: int) -> Powered | None:
    """Return the refusal for too few labels; None if there are enough, or every open answer is labelled."""
    if answers and labels == open_answers:
        return None
    lacking = max(FEWEST_LABELS - labels, FEWEST_CLUSTERS - clusters)
    if lacking <= 0:
        return None
    unlabelled = open_answers - labels
    if 0 < unlabelled <= lacking:
        reason = f"{labels} of {open_answers} open answers are labelled: label the remaining {unlabelled}"
    elif labels < FEWEST_LABELS:
        reason = f"{labels} labels, at least {FEWEST_LABELS} are needed"
    else:
        reason = f"labels in {clusters} clusters, at least {FEWEST_CLUSTERS} are needed"
    return Powered(None, None, 0.0, None, labels, clusters, min(lacking, unlabelled), reason)


def _slope(judged_right: Mask, truly_right: Mask) -> float:
    """Return the slope of labels on decisions, clipped to 0 and 1; 0 if the labels are used alone."""
    n, right = len(judged_right), int(truly_right.sum())
    if not (0 < judged_right.sum() < n and FEWEST_OF_A_KIND <= right <= n - FEWEST_OF_A_KIND):
        return 0.0
    return max(0.0, float(truly_right[judged_right].mean() - truly_right[~judged_right].mean()))
