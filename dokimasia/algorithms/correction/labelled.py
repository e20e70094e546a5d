"""The share of right answers from a few human labels and a judge's decisions on all answers: power-tuned inference.

The words are those of `values`. A *label* is a person's decision on an answer, right or wrong; the labelled answers are a
random sample of all answers.
"""

from collections.abc import Hashable, Sequence
from math import hypot
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.correction.values import ShareEstimate
from dokimasia.algorithms.statistics.clusters import (
    ROUNDING,
    Floats,
    finite,
    jackknife_error,
    number_clusters,
    trusted_df,
)
from dokimasia.algorithms.statistics.distributions import student_t_quantile
from dokimasia.algorithms.statistics.intervals import bootstrap_interval
from dokimasia.algorithms.statistics.shares import ConfidenceInterval, effective_share, rate_interval

FEWEST_LABELS = 20
FEWEST_CLUSTERS = 10
"""The fewest labels, and clusters of labelled answers, with which a rate is corrected."""

FEWEST_OF_A_KIND = 5
"""With fewer labels of the rarer kind the judge's decisions are ignored: so few labels cannot say how good they are."""

_UNSEEN = 2.0
"""The least number of squared residuals to assume, since as many may go unseen."""


class Powered(NamedTuple):
    """A rate, or a difference of two, from labels and decisions, beside the same from the labels alone.

    Attributes
    ----------
    rate : float or None
        0 to 1, a difference -1 to 1; None if it is refused.
    interval : ConfidenceInterval or None
        95 %.
    power : float
        The weight of the judge's decisions, 0 (the labels alone count) to 1, tuned on the labels.
    alone : ShareEstimate or None
        The same from the labels alone.
    labels, clusters : int
        The number of each.
    reason : str
        Why it is refused, as a phrase; empty if it is not.
    """

    rate: float | None
    interval: ConfidenceInterval | None
    power: float
    alone: ShareEstimate | None
    labels: int
    clusters: int
    reason: str = ""


def powered_rate(
    decided: Sequence[bool], labels: Sequence[bool | None], *, clusters: Sequence[Hashable] | None = None
) -> Powered:
    """Return the share of right answers from a few labels and a judge's or a rule's decisions on all answers.

    Parameters
    ----------
    decided : sequence of bool
        Whether each answer was judged right; leave out answers without a decision.
    labels : sequence of bool or None
        The label of each answer, None if it has none. The labelled answers must have been drawn at random.
    clusters : sequence of hashable, optional
        The cluster that each answer belongs to.

    Returns
    -------
    Powered
        Higher is better. Refused below 20 labels or 10 clusters of labelled answers.

    Notes
    -----
    The rate is that of the labels plus lambda times the share judged right among the unlabelled answers minus that among
    the labelled ones. The variance is least at lambda = slope / (1 + n / N) for n labels, N unlabelled answers and the slope
    of the labels on the decisions, clipped to 0 and 1; that rate is the share of right answers among those judged right and
    among those judged wrong, weighted by how many of all answers are judged so. The interval uses that form, since a share
    of few labels has an interval that holds its level and a variance of few labels does not: Korn and Graubard's intervals
    of the two shares and of the share judged right are combined as the square root of the sum of squares. If answers share
    clusters, each end is the outer one of this interval and the jackknife's over clusters (as a share of effective trials),
    which accounts for the correlation of the three. With fewer than five labels of the rarer kind, or a slope of 0, the
    labels are used alone.

    References
    ----------
    Angelopoulos, Duchi and Zrnic, PPI++: Efficient prediction-powered inference, 2023, section 6; Zou and Donner, 2008, as in
    `contrast_interval`.

    Examples
    --------
    >>> estimate = powered_rate([True, False] * 100, [True, False] * 20 + [None] * 160)
    >>> estimate.rate, estimate.power, estimate.alone.share
    (0.5, 0.8, 0.5)
    >>> estimate.interval.high - estimate.interval.low < estimate.alone.interval.high - estimate.alone.interval.low
    True
    """
    labelled, index = _labelled_mask(decided, labels), _index(len(decided), clusters)
    at = np.flatnonzero(labelled)
    label_clusters = [int(cluster) for cluster in index[at]]
    if refusal := _too_few(len(at), len(set(label_clusters))):
        return refusal
    decisions = finite([float(decision) for decision in decided])
    truth = finite([float(label) for label in labels if label is not None])
    alone = ShareEstimate(float(truth.mean()), rate_interval([bool(label) for label in truth], clusters=label_clusters))
    judged_right, truly_right = decisions[at] == 1, truth == 1
    slope = 0.0
    if 0 < judged_right.sum() < len(at) and FEWEST_OF_A_KIND <= truly_right.sum() <= len(at) - FEWEST_OF_A_KIND:
        slope = float(truth[judged_right].mean() - truth[~judged_right].mean())
    if slope <= 0 or len(at) == len(decisions):
        return Powered(alone.share, alone.interval, 0.0, alone, len(at), len(set(label_clusters)))
    parts = [ShareEstimate.of(int(truth[side].sum()), int(side.sum())) for side in (judged_right, ~judged_right)]
    judged_interval = rate_interval([bool(decision) for decision in decisions], clusters=index.tolist())
    judged_share = ShareEstimate(float(decisions.mean()), judged_interval)
    rate = judged_share.share * parts[0].share + (1 - judged_share.share) * parts[1].share
    weights = zip((judged_share.share, 1 - judged_share.share, slope), (*parts, judged_share), strict=True)
    below: list[float] = []
    above: list[float] = []
    for weight, part in weights:
        below.append(weight * (part.share - part.interval.low))
        above.append(weight * (part.interval.high - part.share))
    low, high = rate - hypot(*below), rate + hypot(*above)
    if index.max() + 1 < len(decisions):
        left_out = _without(decisions, labelled, truth, index)
        if np.ptp(left_out) > ROUNDING:
            jackknife = effective_share(min(1.0, max(0.0, rate)), left_out, 0.95)
            low, high = min(low, jackknife.low), max(high, jackknife.high)
    interval = ConfidenceInterval(max(0.0, low), min(1.0, high))
    return Powered(rate, interval, slope * (1 - len(at) / len(decisions)), alone, len(at), len(set(label_clusters)))


def powered_difference(
    decided: Sequence[float], labels: Sequence[float | None], *, clusters: Sequence[Hashable] | None = None, seed: int
) -> Powered:
    """Return the mean difference of two models' right answers from labels of both and decisions on all samples.

    Parameters
    ----------
    decided : sequence of float
        The second model's decision minus the first's, -1, 0 or 1, for each sample decided for both.
    labels : sequence of float or None
        The same for the labels; None if one of the two answers has none.
    clusters : sequence of hashable, optional
        The cluster that each sample belongs to.
    seed : int
        Seed of the bootstrap of the labels alone.

    Returns
    -------
    Powered
        -1 to 1; above 0 if the second is better. Refused as in `powered_rate`.

    Notes
    -----
    As `powered_rate`, by Student's t and the jackknife over clusters. The residual variance of the labels is at least that
    of two labels on which judge and people differ by 1, since as many may go unseen.

    Examples
    --------
    >>> estimate = powered_difference([1, 0, 0, -1, 1] * 60, [1, 0, 0, -1, 1] * 8 + [None] * 260, seed=0)
    >>> round(estimate.rate, 6), round(estimate.power, 2), estimate.interval.low > 0
    (0.2, 0.87, True)
    """
    labelled, index = _labelled_mask(decided, labels), _index(len(decided), clusters)
    at = np.flatnonzero(labelled)
    label_clusters = [int(cluster) for cluster in index[at]]
    if refusal := _too_few(len(at), len(set(label_clusters))):
        return refusal
    decisions, truth = finite(decided), finite([label for label in labels if label is not None])
    label_interval = bootstrap_interval(truth.tolist(), clusters=label_clusters, seed=seed, bounds=(-1.0, 1.0))
    alone = ShareEstimate(float(truth.mean()), label_interval)
    slope = _slope(decisions[at], truth)
    if np.count_nonzero(truth) < FEWEST_OF_A_KIND or slope == 0 or len(at) == len(decisions):
        return Powered(alone.share, alone.interval, 0.0, alone, len(at), len(set(label_clusters)))
    rate = float(truth.mean() + slope * (decisions.mean() - decisions[at].mean()))
    left_out = _without(decisions, labelled, truth, index)
    least = _UNSEEN / len(at) ** 2 + slope**2 * float(decisions.var()) / len(decisions)
    error = max(jackknife_error(left_out), least**0.5)
    margin = student_t_quantile(0.975, trusted_df(left_out)) * error
    interval = ConfidenceInterval(max(-1.0, rate - margin), min(1.0, rate + margin))
    return Powered(rate, interval, slope * (1 - len(at) / len(decisions)), alone, len(at), len(set(label_clusters)))


def _labelled_mask(decided: Sequence[float], labels: Sequence[float | None]) -> Floats:
    if len(decided) != len(labels):
        raise ValueError(f"{len(decided)} decisions for {len(labels)} labels, None among them")
    return np.array([label is not None for label in labels], dtype=np.float64)


def _index(n: int, clusters: Sequence[Hashable] | None) -> NDArray[np.intp]:
    return np.arange(n) if clusters is None else number_clusters(clusters, n)


def _too_few(labels: int, clusters: int) -> Powered | None:
    reason = ""
    if labels < FEWEST_LABELS:
        reason = f"{labels} labels, at least {FEWEST_LABELS} are needed"
    elif clusters < FEWEST_CLUSTERS:
        reason = f"labels in {clusters} clusters, at least {FEWEST_CLUSTERS} are needed"
    return Powered(None, None, 0.0, None, labels, clusters, reason) if reason else None


def _slope(decisions: Floats, truth: Floats) -> float:
    """Return the slope of labels on decisions, clipped to 0 and 1; 0 if all decisions are the same."""
    spread = float(np.square(decisions - decisions.mean()).sum())
    return min(1.0, max(0.0, float((decisions - decisions.mean()) @ truth) / spread)) if spread > 0 else 0.0


def _without(decisions: Floats, labelled: Floats, truth: Floats, index: NDArray[np.intp]) -> Floats:
    """Return the rate without each cluster in turn, with the slope tuned again each time."""
    labels = np.zeros_like(decisions)
    labels[labelled == 1] = truth

    def without(values: Floats) -> Floats:
        sums = np.bincount(index, weights=values)
        return values.sum() - sums

    everything, n = without(np.ones_like(decisions)), without(labelled)
    f, y = without(decisions * labelled) / n, without(labels) / n
    ff, fy = without(decisions * decisions * labelled) / n - f * f, without(decisions * labels) / n - f * y
    slope = np.clip(np.divide(fy, ff, out=np.zeros_like(fy), where=ff > ROUNDING), 0.0, 1.0)
    return y + slope * (without(decisions) / everything - f)
