"""The share of right answers behind a judge's decisions, from its sensitivity and specificity (Rogan and Gladen)."""

from collections.abc import Callable, Sequence
from math import hypot
from typing import NamedTuple

from dokimasia.algorithms.correction.values import Corrected, DecidedLabel, ShareEstimate
from dokimasia.algorithms.statistics.clusters import ClusterNames
from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.algorithms.statistics.intervals import bootstrap_interval, rate_interval
from dokimasia.algorithms.statistics.shares import ConfidenceInterval

LEAST_APART = 0.1
"""The minimum of sensitivity + specificity - 1 for correcting a rate."""

_HALVINGS = 60
_ROUNDING = 1e-9


class _Equation(NamedTuple):
    """The equation that a corrected figure solves: total - figure * (sensitivity + specificity - 1) = 0.

    `sampled` are the limits of the total that the answers permit, at the measured sensitivity and specificity. An error
    of the sensitivity moves the total by `missed` minus the figure, and an error of one minus the specificity by the
    figure minus `passed`.
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
    clusters: ClusterNames | None = None,
    seed: int,
) -> Corrected:
    """Return the share of right answers behind a judge's decisions.

    Parameters
    ----------
    decisions : sequence of DecidedLabel
        One per answer. Leave out answers without a decision.
    sensitivity, specificity : ShareEstimate
        The shares of wrong answers that the judge judges wrong, and of right answers that it judges right, on answers and
        errors like these, measured independently of each other and of the answers.
    clusters : sequence of hashable, optional
        The cluster that each answer belongs to.
    seed : int
        Seed of the bootstrap, which is used if rules decided some of the answers.

    Returns
    -------
    Corrected
        0 to 1, higher is better. Refused if sensitivity + specificity - 1 is below 0.1; if its interval reaches 0,
        since the judge may then decide alike on right and wrong answers; if there is no decision, or a rate has no
        interval; and if no share of right answers agrees with both decisions and rates.

    Notes
    -----
    With w the share judged wrong, s the sensitivity, f = 1 - specificity and x the share of right answers, w = (1 - x)
    s + x f, so that x = (s - w) / (s - f), clipped to 0 and 1. The interval holds every x at which (1 - x) s + x f - w
    may be 0: its limits combine the distances by which the limits of the three rates move it, as the square root of the
    sum of squares (MOVER), so that x is never divided by a difference that may be 0 (Fieller). Decisions by rules are
    used unchanged: with r the share of all answers that rules found right, and g the share that a judge decided, x is
    clipped to r and r + g.

    This interval was chosen among five by simulation (docs/correction.md): the delta method on the logit and the
    parametric bootstrap cover too little, and Lang and Reiczigel's interval handles counts but not clusters.

    References
    ----------
    Rogan and Gladen, Estimating prevalence from the results of a screening test, 1978; Zou and Donner, Construction of
    confidence limits about effect measures: a general approach, 2008; Fieller, Some problems in interval estimation, 1954.

    Examples
    --------
    >>> judge = {"sensitivity": ShareEstimate.of(160, 200), "specificity": ShareEstimate.of(180, 200)}
    >>> corrected = corrected_rate([DecidedLabel(True)] * 69 + [DecidedLabel(False)] * 31, **judge, seed=0)
    >>> round(corrected.rate, 6), [round(limit, 2) for limit in corrected.interval]
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
    if reason := refusal(sensitivity, specificity):
        return Corrected(None, None, reason)
    n = len(decisions)
    right_by_rule = sum(decision.right and not decision.by_judge for decision in decisions) / n
    judged = sum(decision.by_judge for decision in decisions) / n
    values = judged_values(decisions, sensitivity, specificity)
    if judged == 1:
        low, high = rate_interval([decision.right for decision in decisions], clusters=clusters)
        sampled = ConfidenceInterval(low - (1 - sensitivity.share), high - (1 - sensitivity.share))
    else:
        scale = (min(0.0, sensitivity.share - 1), sensitivity.share)
        sampled = bootstrap_interval(values, clusters=clusters, seed=seed, bounds=scale)
    equation = _Equation(sum(values) / n, sampled, right_by_rule + judged, right_by_rule)
    return _solved(equation, sensitivity, specificity, (0.0, 1.0), within=(right_by_rule, right_by_rule + judged))


def corrected_difference(
    first: Sequence[DecidedLabel],
    second: Sequence[DecidedLabel],
    *,
    sensitivity: ShareEstimate,
    specificity: ShareEstimate,
    clusters: ClusterNames | None = None,
    seed: int,
) -> Corrected:
    """Return the second model's share of right answers minus the first's, from one judge's decisions on the same samples.

    Parameters
    ----------
    first, second : sequence of DecidedLabel
        The decisions on both models' answers to each sample. Leave out samples without a decision on one of them.
    sensitivity, specificity, clusters, seed
        As `corrected_rate`. The wrong answers of both models are assumed to be equally easy to detect.

    Returns
    -------
    Corrected
        -1 to 1, above 0 if the second is better: the difference of the two rates of `corrected_rate`, and refused if
        either of them is. If no rate is clipped and no rule decided, that is the judged difference divided by
        sensitivity + specificity - 1. The interval is solved from the differences of the samples, is extended to the
        difference of the clipped rates, and ends at the lowest and highest difference that the decisions by rules
        permit.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> judge = {"sensitivity": ShareEstimate.of(160, 200), "specificity": ShareEstimate.of(180, 200)}
    >>> difference = corrected_difference(
    ...     [DecidedLabel(True), DecidedLabel(False)] * 40,
    ...     [DecidedLabel(True)] * 60 + [DecidedLabel(False)] * 20,
    ...     **judge,
    ...     seed=0,
    ... )
    >>> round(difference.rate, 3), difference.interval.low > 0
    (0.357, True)
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} first and {len(second)} second decisions are no pairs")
    if not first:
        return Corrected(None, None, "nothing was decided of both")
    if reason := refusal(sensitivity, specificity):
        return Corrected(None, None, reason)
    rates = [
        corrected_rate(side, sensitivity=sensitivity, specificity=specificity, clusters=clusters, seed=seed).rate
        for side in (first, second)
    ]
    if rates[0] is None or rates[1] is None:
        return Corrected(None, None, f"of the {'first' if rates[0] is None else 'second'} model there is no rate")
    n = len(first)
    before, after = (judged_values(side, sensitivity, specificity) for side in (first, second))
    # the difference of two values is at most sensitivity - (sensitivity - 1)
    differences = [min(1.0, max(-1.0, b - a)) for a, b in zip(before, after, strict=True)]
    sampled = bootstrap_interval(differences, clusters=clusters, seed=seed, bounds=(-1.0, 1.0))
    right_by_rule = sum(b.right and not b.by_judge for b in second) - sum(a.right and not a.by_judge for a in first)
    judged = sum(b.by_judge for b in second) - sum(a.by_judge for a in first)
    equation = _Equation(sum(differences) / n, sampled, (right_by_rule + judged) / n, right_by_rule / n)
    least, most = _contribution_range(first, second)
    within = (sum(least) / n, sum(most) / n)
    ends = (
        bootstrap_interval(least, clusters=clusters, seed=seed, bounds=(-1.0, 1.0)).low,
        bootstrap_interval(most, clusters=clusters, seed=seed, bounds=(-1.0, 1.0)).high,
    )
    solved = _solved(
        equation, sensitivity, specificity, (min(ends[0], within[0]), max(ends[1], within[1])), within=within
    )
    if solved.interval is None:
        return solved
    rate = min(within[1], max(within[0], rates[1] - rates[0]))
    low, high = solved.interval
    return Corrected(rate, ConfidenceInterval(min(rate, low), max(rate, high), solved.interval.reason))


def _contribution_range(
    first: Sequence[DecidedLabel], second: Sequence[DecidedLabel]
) -> tuple[list[float], list[float]]:
    """Return the lowest and highest contribution of each sample to the difference, given the decisions by rules."""
    least = [float((b.right and not b.by_judge) - (a.right or a.by_judge)) for a, b in zip(first, second, strict=True)]
    most = [float((b.right or b.by_judge) - (a.right and not a.by_judge)) for a, b in zip(first, second, strict=True)]
    return least, most


def apart(sensitivity: ShareEstimate, specificity: ShareEstimate) -> ShareEstimate:
    """Return sensitivity + specificity - 1, which is 0 for a judge that decides alike on right and wrong answers."""
    alarms = specificity.less
    interval = contrast_interval(sensitivity.share, sensitivity.interval, alarms.share, alarms.interval)
    return ShareEstimate(sensitivity.share - alarms.share, interval)


def refusal(sensitivity: ShareEstimate, specificity: ShareEstimate) -> str:
    """Return why these rates of a judge correct no rate, as a phrase; empty if they can."""
    for name, estimate in (("sensitivity", sensitivity), ("specificity", specificity)):
        if estimate.interval.reason:
            return f"the {name} has no interval: {estimate.interval.reason}"
    difference = apart(sensitivity, specificity)
    if difference.share < LEAST_APART - _ROUNDING:
        return (
            f"sensitivity + specificity - 1 is {difference.share:.2f}, at least {LEAST_APART} is needed: the judge hardly tells "
            "right answers from wrong ones"
        )
    if difference.interval.low <= 0:
        return f"sensitivity + specificity - 1 is {difference.share:.2f} and may be 0: the passport measured too little"
    return ""


def judged_values(
    decisions: Sequence[DecidedLabel], sensitivity: ShareEstimate, specificity: ShareEstimate
) -> list[float]:
    """Return the contribution of each answer; their mean over sensitivity + specificity - 1 is the corrected rate."""
    separation = sensitivity.share - specificity.less.share  # in this order never above the sensitivity by rounding

    def value(decision: DecidedLabel) -> float:
        if decision.by_judge:
            return sensitivity.share - (not decision.right)
        if decision.right:
            return separation
        return 0.0

    return [value(decision) for decision in decisions]


def _solved(
    equation: _Equation,
    sensitivity: ShareEstimate,
    specificity: ShareEstimate,
    ends: tuple[float, float],
    *,
    within: tuple[float, float],
) -> Corrected:
    """Return the figure, clipped to what these answers permit, and its interval on a scale."""
    alarms = specificity.less
    separation = sensitivity.share - alarms.share
    rate = min(within[1], max(within[0], equation.total / separation))

    def limit(figure: float, side: int) -> float:
        """Return the lower (-1) or upper (1) limit of the expression that is 0 at the true figure."""
        steps = [equation.sampled[side > 0] - equation.total]
        for weight, estimate in ((equation.missed - figure, sensitivity), (figure - equation.passed, alarms)):
            steps.append(weight * (estimate.interval[(weight * side) > 0] - estimate.share))
        return equation.total - figure * separation + side * hypot(*steps)

    low, high = limit(rate, -1), limit(rate, 1)
    if low > 0 or high < 0:
        quantity = "fewer" if low > 0 else "more"
        return Corrected(
            None,
            None,
            f"{quantity} answers were judged wrong than these rates make possible: they do not hold for this run",
        )
    interval = ConfidenceInterval(
        _root(limit, -1, ends[0], rate), _root(limit, 1, ends[1], rate), equation.sampled.reason
    )
    return Corrected(rate, interval)


def _root(limit: Callable[[float, int], float], side: int, end: float, rate: float) -> float:
    """Return the figure farthest from the rate, towards an end of its scale, that the limit still permits."""
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
