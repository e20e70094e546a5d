"""The share of right answers behind a judge's decisions, from its sensitivity and specificity (Rogan and Gladen)."""

from collections.abc import Callable, Hashable, Sequence
from math import hypot
from typing import NamedTuple

from dokimasia.algorithms.correction.values import Corrected, DecidedLabel, ShareEstimate
from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.algorithms.statistics.intervals import bootstrap_interval
from dokimasia.algorithms.statistics.shares import ConfidenceInterval, rate_interval

LEAST_APART = 0.1
"""The least sensitivity + specificity - 1 with which a rate is corrected."""

_HALVINGS = 60
_ROUNDING = 1e-9


class _Sum(NamedTuple):
    """What a corrected figure is solved from: total - figure * (sensitivity + specificity - 1) = 0.

    `sampled` are the limits of the total as far as the answers tell, at the measured sensitivity and specificity. What is off
    in the sensitivity moves it by `missed` less the figure, and what is off in one less the specificity by the figure less
    `passed`.
    """

    total: float
    sampled: ConfidenceInterval
    missed: float
    passed: float


def corrected_rate(
    decisions: Sequence[DecidedLabel],
    *,
    sensitivity: ShareEstimate,
    specificity: ShareEstimate,
    clusters: Sequence[Hashable] | None = None,
    seed: int,
) -> Corrected:
    """Return the share of right answers behind a judge's decisions.

    Parameters
    ----------
    decisions : sequence of Decision
        One an answer. An answer of which it was not decided has no place here.
    sensitivity, specificity : Measured
        The shares of wrong answers that the judge judges wrong, and of right answers that it judges right, on answers and
        errors like these, measured apart from each other and from the answers.
    clusters : sequence of hashable, optional
        The cluster that each answer belongs to.
    seed : int
        Of the bootstrap that is taken where rules decided some of the answers.

    Returns
    -------
    Corrected
        0 to 1, higher is better. Refused where sensitivity + specificity - 1 is below 0.1; where its interval reaches 0,
        since a judge that decides the same of right and wrong answers is then possible; where there is no decision or no
        interval of a rate; and where no share of right answers goes with both decisions and rates.

    Notes
    -----
    With w the share judged wrong, s the sensitivity, f = 1 - specificity and x the share of right answers, w = (1 - x) s + x f,
    so that x = (s - w) / (s - f), cut at 0 and 1. The interval holds every x at which (1 - x) s + x f - w may be 0: its limits
    are as far from it as those of the three rates move it, put together as the sides of a right angle (MOVER), so that x is
    never divided by a difference that may be 0 (Fieller). What rules decided is taken as it is: with r the share of all
    answers that rules found right, and g of those that a judge decided, x is cut at r and r + g.

    Of five intervals this one was chosen by simulation (docs/correction.md): the delta method on the logit and the parametric
    bootstrap cover too little, and Lang and Reiczigel's knows counts and no clusters.

    References
    ----------
    Rogan and Gladen, Estimating prevalence from the results of a screening test, 1978; Zou and Donner, Construction of
    confidence limits about effect measures: a general approach, 2008; Fieller, Some problems in interval estimation, 1954.

    Examples
    --------
    >>> judge = {"sensitivity": ShareEstimate.of(160, 200), "specificity": ShareEstimate.of(180, 200)}
    >>> found = corrected_rate([DecidedLabel(True)] * 69 + [DecidedLabel(False)] * 31, **judge, seed=0)
    >>> round(found.rate, 6), [round(limit, 2) for limit in found.interval]
    (0.7, [0.55, 0.84])
    >>> measured = {"sensitivity": ShareEstimate.of(1, 9), "specificity": ShareEstimate.of(9, 9)}
    >>> corrected_rate([DecidedLabel(True)], **measured, seed=0).reason
    'sensitivity + specificity - 1 is 0.11 and may be 0: the passport measured too little'
    """
    if not decisions:
        return Corrected(None, None, "nothing was decided")
    if all(not decision.by_judge for decision in decisions):
        right = [decision.right for decision in decisions]
        return Corrected(sum(right) / len(right), rate_interval(right, clusters=clusters))
    if reason := _refused(sensitivity, specificity):
        return Corrected(None, None, reason)
    n = len(decisions)
    passed = sum(decision.right and not decision.by_judge for decision in decisions) / n
    asked = sum(decision.by_judge for decision in decisions) / n
    values = _values(decisions, sensitivity, specificity)
    if asked == 1:
        low, high = rate_interval([decision.right for decision in decisions], clusters=clusters)
        sampled = ConfidenceInterval(low - (1 - sensitivity.share), high - (1 - sensitivity.share))
    else:
        scale = (min(0.0, sensitivity.share - 1), sensitivity.share)
        sampled = bootstrap_interval(values, clusters=clusters, seed=seed, bounds=scale)
    found = _Sum(sum(values) / n, sampled, passed + asked, passed)
    return _solved(found, sensitivity, specificity, (0.0, 1.0), within=(passed, passed + asked))


def corrected_difference(
    first: Sequence[DecidedLabel],
    second: Sequence[DecidedLabel],
    *,
    sensitivity: ShareEstimate,
    specificity: ShareEstimate,
    clusters: Sequence[Hashable] | None = None,
    seed: int,
) -> Corrected:
    """Return the second model's share of right answers less the first's, behind one judge's decisions on the same samples.

    Parameters
    ----------
    first, second : sequence of Decision
        What was decided of both models' answers to each sample. A sample of which one is not decided has no place here.
    sensitivity, specificity, clusters, seed
        As `corrected_rate`. Both models' wrong answers are taken to be as easy to see.

    Returns
    -------
    Corrected
        -1 to 1, above 0 where the second is better: the difference of the two rates of `corrected_rate`, and refused where
        either of them is. Where no rate is cut and no rule decided, that is the difference as judged, divided by
        sensitivity + specificity - 1. The interval is solved from the differences of the samples, reaches to the difference
        of cut rates, and ends where what rules decided leaves no room: at the limits of the least, and of the most, that the
        difference can be.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> judge = {"sensitivity": ShareEstimate.of(160, 200), "specificity": ShareEstimate.of(180, 200)}
    >>> found = corrected_difference(
    ...     [DecidedLabel(True), DecidedLabel(False)] * 40,
    ...     [DecidedLabel(True)] * 60 + [DecidedLabel(False)] * 20,
    ...     **judge,
    ...     seed=0,
    ... )
    >>> round(found.rate, 3), found.interval.low > 0
    (0.357, True)
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} first and {len(second)} second decisions are no pairs")
    if not first:
        return Corrected(None, None, "nothing was decided of both")
    if reason := _refused(sensitivity, specificity):
        return Corrected(None, None, reason)
    rates = [
        corrected_rate(side, sensitivity=sensitivity, specificity=specificity, clusters=clusters, seed=seed).rate
        for side in (first, second)
    ]
    if rates[0] is None or rates[1] is None:
        return Corrected(None, None, f"of the {'first' if rates[0] is None else 'second'} model there is no rate")
    n = len(first)
    before, after = (_values(side, sensitivity, specificity) for side in (first, second))
    # a value less another is at most sensitivity - (sensitivity - 1)
    differences = [min(1.0, max(-1.0, b - a)) for a, b in zip(before, after, strict=True)]
    sampled = bootstrap_interval(differences, clusters=clusters, seed=seed, bounds=(-1.0, 1.0))
    passed = sum(b.right and not b.by_judge for b in second) - sum(a.right and not a.by_judge for a in first)
    asked = sum(b.by_judge for b in second) - sum(a.by_judge for a in first)
    found = _Sum(sum(differences) / n, sampled, (passed + asked) / n, passed / n)
    least, most = _left_open(first, second)
    within = (sum(least) / n, sum(most) / n)
    ends = (
        bootstrap_interval(least, clusters=clusters, seed=seed, bounds=(-1.0, 1.0)).low,
        bootstrap_interval(most, clusters=clusters, seed=seed, bounds=(-1.0, 1.0)).high,
    )
    solved = _solved(found, sensitivity, specificity, (min(ends[0], within[0]), max(ends[1], within[1])), within=within)
    if solved.interval is None:
        return solved
    rate = min(within[1], max(within[0], rates[1] - rates[0]))
    low, high = solved.interval
    return Corrected(rate, ConfidenceInterval(min(rate, low), max(rate, high), solved.interval.reason))


def _left_open(first: Sequence[DecidedLabel], second: Sequence[DecidedLabel]) -> tuple[list[float], list[float]]:
    """Return the least and the most that each sample can add to the difference, by what rules decided of its answers."""
    least = [float((b.right and not b.by_judge) - (a.right or a.by_judge)) for a, b in zip(first, second, strict=True)]
    most = [float((b.right or b.by_judge) - (a.right and not a.by_judge)) for a, b in zip(first, second, strict=True)]
    return least, most


def apart(sensitivity: ShareEstimate, specificity: ShareEstimate) -> ShareEstimate:
    """Return sensitivity + specificity - 1, 0 for a judge that decides the same of right and wrong answers."""
    alarms = specificity.less
    interval = contrast_interval(sensitivity.share, sensitivity.interval, alarms.share, alarms.interval)
    return ShareEstimate(sensitivity.share - alarms.share, interval)


def _refused(sensitivity: ShareEstimate, specificity: ShareEstimate) -> str:
    for name, one in (("sensitivity", sensitivity), ("specificity", specificity)):
        if one.interval.reason:
            return f"the {name} has no interval: {one.interval.reason}"
    difference = apart(sensitivity, specificity)
    if difference.share < LEAST_APART - _ROUNDING:
        return (
            f"sensitivity + specificity - 1 is {difference.share:.2f}, at least {LEAST_APART} is needed: the judge hardly tells "
            "right answers from wrong ones"
        )
    if difference.interval.low <= 0:
        return f"sensitivity + specificity - 1 is {difference.share:.2f} and may be 0: the passport measured too little"
    return ""


def _values(decisions: Sequence[DecidedLabel], sensitivity: ShareEstimate, specificity: ShareEstimate) -> list[float]:
    """Return what each answer adds to the total: its mean over sensitivity + specificity - 1 is the corrected rate."""
    told = sensitivity.share - specificity.less.share  # in this order never above the sensitivity by rounding
    return [
        sensitivity.share - (not decision.right) if decision.by_judge else told if decision.right else 0.0
        for decision in decisions
    ]


def _solved(
    found: _Sum,
    sensitivity: ShareEstimate,
    specificity: ShareEstimate,
    ends: tuple[float, float],
    *,
    within: tuple[float, float],
) -> Corrected:
    """Return the figure, cut to what it can be of these answers, and its interval on a scale."""
    alarms = specificity.less
    told = sensitivity.share - alarms.share
    rate = min(within[1], max(within[0], found.total / told))

    def limit(figure: float, side: int) -> float:
        """Return the lower (-1) or upper (1) limit of what has to be 0 at the true figure."""
        steps = [found.sampled[side > 0] - found.total]
        for weight, one in ((found.missed - figure, sensitivity), (figure - found.passed, alarms)):
            steps.append(weight * (one.interval[(weight * side) > 0] - one.share))
        return found.total - figure * told + side * hypot(*steps)

    low, high = limit(rate, -1), limit(rate, 1)
    if low > 0 or high < 0:
        more = "fewer" if low > 0 else "more"
        return Corrected(
            None,
            None,
            f"{more} answers were judged wrong than these rates make possible: they do not hold for this run",
        )
    interval = ConfidenceInterval(_root(limit, -1, ends[0], rate), _root(limit, 1, ends[1], rate), found.sampled.reason)
    return Corrected(rate, interval)


def _root(limit: Callable[[float, int], float], side: int, end: float, rate: float) -> float:
    """Return how far from the rate towards an end of its scale the limit still lets the figure be."""
    if limit(end, side) * side >= 0:
        return end
    inside, outside = rate, end
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if limit(middle, side) * side >= 0:
            inside = middle
        else:
            outside = middle
    return inside
