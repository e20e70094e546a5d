"""The share of right answers from a few labels of people, and a judge's decisions on all: power-tuned inference.

Words as in `values`. A *label* is what people say of an answer, right or wrong; the answers with a label are a random draw of
all answers.
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
"""Below so many labels, or clusters of labelled answers, nothing is corrected."""

FEWEST_OF_A_KIND = 5
"""With fewer labels of the rarer kind the judge is left out: a few labels do not tell what it is worth."""

_UNSEEN = 2.0
"""Squared residuals that are taken to be there at least: as many as may go unseen."""


class Powered(NamedTuple):
    """A rate, or a difference of two, from labels and decisions, beside that from the labels alone.

    Attributes
    ----------
    rate : float or None
        0 to 1, a difference -1 to 1; None where it is refused.
    interval : ConfidenceInterval or None
        95 %.
    power : float
        How much the judge's decisions count, 0 (not at all: the labels alone) to 1, tuned on the labels.
    alone : Measured or None
        The same from the labels alone.
    labels, clusters : int
        How many there are of each.
    reason : str
        Why it is refused, as a phrase; empty where it is not.
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
    """Return the share of right answers from a few labels and what a judge, or a rule, decided of all answers.

    Parameters
    ----------
    decided : sequence of bool
        Whether each answer was judged right; an answer of which it was not decided has no place here.
    labels : sequence of bool or None
        What people say of each, None where they were not asked. Who was asked must have been drawn at random.
    clusters : sequence of hashable, optional
        The cluster that each answer belongs to.

    Returns
    -------
    Powered
        Higher is better. Refused below 20 labels or 10 clusters of labelled answers.

    Notes
    -----
    The rate is that of the labels plus lambda times how much more is judged right of the answers without a label than of
    those with one. The variance is least at lambda = slope / (1 + n / N) for n labels, N answers without one and the slope of
    the labels on the decisions, which is cut at 0 and 1; that rate is the share of right among the answers judged right and
    among those judged wrong, weighted by how many of all answers are judged so. It is read off that form, since a share of
    few labels has an interval that keeps its word and a variance of few has none: Korn and Graubard's intervals of the two
    shares and of the share judged right are put together as the sides of a right angle. Where answers share clusters, each
    end is the farther of this one and of the jackknife's over clusters, read as a share of so many effective trials, which
    knows that the three go together. With fewer than five labels of the rarer kind, or a slope of 0, the labels stand alone.

    References
    ----------
    Angelopoulos, Duchi and Zrnic, PPI++: Efficient prediction-powered inference, 2023, section 6; Zou and Donner, 2008, as in
    `contrast_interval`.

    Examples
    --------
    >>> found = powered_rate([True, False] * 100, [True, False] * 20 + [None] * 160)
    >>> found.rate, found.power, found.alone.share
    (0.5, 0.8, 0.5)
    >>> found.interval.high - found.interval.low < found.alone.interval.high - found.alone.interval.low
    True
    """
    asked, index = _asked(decided, labels), _index(len(decided), clusters)
    at = np.flatnonzero(asked)
    of = [int(one) for one in index[at]]
    if refused := _too_few(len(at), len(set(of))):
        return refused
    said, truth = finite([float(label) for label in decided]), finite([float(one) for one in labels if one is not None])
    alone = ShareEstimate(float(truth.mean()), rate_interval([bool(one) for one in truth], clusters=of))
    known, right = said[at] == 1, truth == 1
    slope = 0.0
    if 0 < known.sum() < len(at) and FEWEST_OF_A_KIND <= right.sum() <= len(at) - FEWEST_OF_A_KIND:
        slope = float(truth[known].mean() - truth[~known].mean())
    if slope <= 0 or len(at) == len(said):
        return Powered(alone.share, alone.interval, 0.0, alone, len(at), len(set(of)))
    parts = [ShareEstimate.of(int(truth[side].sum()), int(side.sum())) for side in (known, ~known)]
    passed = ShareEstimate(float(said.mean()), rate_interval([bool(one) for one in said], clusters=index.tolist()))
    rate = passed.share * parts[0].share + (1 - passed.share) * parts[1].share
    weights = zip((passed.share, 1 - passed.share, slope), (*parts, passed), strict=True)
    moved = [
        (weight * (one.share - one.interval.low), weight * (one.interval.high - one.share)) for weight, one in weights
    ]
    low, high = rate - hypot(*(one[0] for one in moved)), rate + hypot(*(one[1] for one in moved))
    if index.max() + 1 < len(said):
        left_out = _without(said, asked, truth, index)
        if np.ptp(left_out) > ROUNDING:
            other = effective_share(min(1.0, max(0.0, rate)), left_out, 0.95)
            low, high = min(low, other.low), max(high, other.high)
    interval = ConfidenceInterval(max(0.0, low), min(1.0, high))
    return Powered(rate, interval, slope * (1 - len(at) / len(said)), alone, len(at), len(set(of)))


def powered_difference(
    decided: Sequence[float], labels: Sequence[float | None], *, clusters: Sequence[Hashable] | None = None, seed: int
) -> Powered:
    """Return the mean difference of two models' right answers from labels of both and decisions on all, paired by sample.

    Parameters
    ----------
    decided : sequence of float
        The second model's decision less the first's, -1, 0 or 1, of each sample decided for both.
    labels : sequence of float or None
        The same of people's labels; None where one of the two answers has none.
    clusters : sequence of hashable, optional
        The cluster that each sample belongs to.
    seed : int
        Of the bootstrap of the labels alone.

    Returns
    -------
    Powered
        -1 to 1; above 0 where the second is better. Refused as in `powered_rate`.

    Notes
    -----
    As `powered_rate`, by Student's t and the jackknife over clusters. The variance that the labels leave is taken to be
    at least that of two labels on which judge and people differ by 1, since so many may go unseen.

    Examples
    --------
    >>> found = powered_difference([1, 0, 0, -1, 1] * 60, [1, 0, 0, -1, 1] * 8 + [None] * 260, seed=0)
    >>> round(found.rate, 6), round(found.power, 2), found.interval.low > 0
    (0.2, 0.87, True)
    """
    asked, index = _asked(decided, labels), _index(len(decided), clusters)
    at = np.flatnonzero(asked)
    of = [int(one) for one in index[at]]
    if refused := _too_few(len(at), len(set(of))):
        return refused
    said, truth = finite(decided), finite([label for label in labels if label is not None])
    whole = bootstrap_interval(truth.tolist(), clusters=of, seed=seed, bounds=(-1.0, 1.0))
    alone = ShareEstimate(float(truth.mean()), whole)
    slope = _slope(said[at], truth)
    if np.count_nonzero(truth) < FEWEST_OF_A_KIND or slope == 0 or len(at) == len(said):
        return Powered(alone.share, alone.interval, 0.0, alone, len(at), len(set(of)))
    rate = float(truth.mean() + slope * (said.mean() - said[at].mean()))
    left_out = _without(said, asked, truth, index)
    least = _UNSEEN / len(at) ** 2 + slope**2 * float(said.var()) / len(said)
    error = max(jackknife_error(left_out), least**0.5)
    margin = student_t_quantile(0.975, trusted_df(left_out)) * error
    interval = ConfidenceInterval(max(-1.0, rate - margin), min(1.0, rate + margin))
    return Powered(rate, interval, slope * (1 - len(at) / len(said)), alone, len(at), len(set(of)))


def _asked(decided: Sequence[float], labels: Sequence[float | None]) -> Floats:
    if len(decided) != len(labels):
        raise ValueError(f"{len(decided)} decisions for {len(labels)} labels, None among them")
    return np.array([label is not None for label in labels], dtype=np.float64)


def _index(n: int, clusters: Sequence[Hashable] | None) -> NDArray[np.intp]:
    return np.arange(n) if clusters is None else number_clusters(clusters, n)


def _too_few(labels: int, clusters: int) -> Powered | None:
    what = ""
    if labels < FEWEST_LABELS:
        what = f"{labels} labels, at least {FEWEST_LABELS} are needed"
    elif clusters < FEWEST_CLUSTERS:
        what = f"labels in {clusters} clusters, at least {FEWEST_CLUSTERS} are needed"
    return Powered(None, None, 0.0, None, labels, clusters, what) if what else None


def _slope(said: Floats, truth: Floats) -> float:
    """Return the slope of labels on decisions, cut at 0 and 1; 0 where all decisions are the same."""
    spread = float(np.square(said - said.mean()).sum())
    return min(1.0, max(0.0, float((said - said.mean()) @ truth) / spread)) if spread > 0 else 0.0


def _without(said: Floats, asked: Floats, truth: Floats, index: NDArray[np.intp]) -> Floats:
    """Return the rate without each cluster in turn, the slope tuned anew each time."""
    labels = np.zeros_like(said)
    labels[asked == 1] = truth

    def without(values: Floats) -> Floats:
        sums = np.bincount(index, weights=values)
        return values.sum() - sums

    everything, n = without(np.ones_like(said)), without(asked)
    f, y = without(said * asked) / n, without(labels) / n
    ff, fy = without(said * said * asked) / n - f * f, without(said * labels) / n - f * y
    slope = np.clip(np.divide(fy, ff, out=np.zeros_like(fy), where=ff > ROUNDING), 0.0, 1.0)
    return y + slope * (without(said) / everything - f)
