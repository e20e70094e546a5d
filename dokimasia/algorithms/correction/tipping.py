"""Tipping points: how far a judge's rates on a run may differ from its passport before a conclusion changes.

The interval of a rate corrected by passport covers the uncertainty of the passport's measurements, but assumes that
they apply to this run. The functions shift one of the judge's two rates at a time, with its interval, until a
conclusion no longer holds.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from dokimasia.algorithms.correction.judged import corrected_difference, corrected_rate, judged_values, refusal
from dokimasia.algorithms.correction.values import Corrected, DecidedLabel, ShareEstimate
from dokimasia.algorithms.statistics.clusters import ClusterNames
from dokimasia.algorithms.statistics.intervals import bootstrap_interval
from dokimasia.algorithms.statistics.shares import ConfidenceInterval

JudgeRate = Literal["sensitivity", "specificity"]
Side = Literal["first", "second", "both"]


class JudgeRates(NamedTuple):
    """The rates of a judge by which answers are corrected."""

    sensitivity: ShareEstimate
    specificity: ShareEstimate


HALVINGS = 10
"""Number of bisection steps between a rate and 0 or 1, which find a tipping point to within 0.001."""


class Tipping(NamedTuple):
    """The values of a judge's rate below and above which a conclusion no longer holds; None without such a value."""

    below: float | None
    above: float | None


def interval_tipping(
    decisions: Sequence[DecidedLabel],
    interval: ConfidenceInterval,
    *,
    sensitivity: ShareEstimate,
    specificity: ShareEstimate,
) -> dict[JudgeRate, Tipping]:
    """Return how far each of the judge's rates may shift before the corrected rate leaves its interval.

    Parameters
    ----------
    decisions : sequence of DecidedLabel
        One per answer, as for `corrected_rate`.
    interval : ConfidenceInterval
        The interval of the corrected rate.
    sensitivity, specificity : ShareEstimate
        The judge's rates in the passport.

    Returns
    -------
    dict of JudgeRate to Tipping
        Beyond these values the corrected rate of the run's answers lies outside the interval.

    Examples
    --------
    >>> judge = {"sensitivity": ShareEstimate.of(180, 200), "specificity": ShareEstimate.of(190, 200)}
    >>> decisions = [DecidedLabel(True)] * 865 + [DecidedLabel(False)] * 135
    >>> tipping = interval_tipping(decisions, ConfidenceInterval(0.86, 0.94), **judge)
    >>> round(tipping["specificity"].below, 2), tipping["sensitivity"].above
    (0.91, None)
    """
    n = len(decisions)
    right_by_rule = sum(decision.right and not decision.by_judge for decision in decisions) / n
    judged = sum(decision.by_judge for decision in decisions) / n
    judged_wrong = sum(decision.by_judge and not decision.right for decision in decisions) / n

    def holds(sensitivity: float, specificity: float) -> bool:
        gap = sensitivity - (1 - specificity)
        if gap <= 0:
            return False
        rate = right_by_rule + min(judged, max(0.0, (sensitivity * judged - judged_wrong) / gap))
        return interval.low <= rate <= interval.high

    return {
        "sensitivity": _edges(lambda value: holds(value, specificity.share), sensitivity.share),
        "specificity": _edges(lambda value: holds(sensitivity.share, value), specificity.share),
    }


def rate_tipping(
    decisions: Sequence[DecidedLabel],
    *,
    sensitivity: ShareEstimate,
    specificity: ShareEstimate,
    clusters: ClusterNames | None = None,
    seed: int,
) -> dict[JudgeRate, Tipping]:
    """Return how far each of the judge's rates may move before the corrected rate no longer differs from the rate as judged.

    Parameters
    ----------
    decisions, sensitivity, specificity, clusters, seed
        As for `corrected_rate`.

    Returns
    -------
    dict of JudgeRate to Tipping
        Beyond these values the interval of the corrected rate contains the share judged right, or no correction is possible.
        Empty if the interval already contains it, or the correction is refused.

    Examples
    --------
    >>> judge = {"sensitivity": ShareEstimate.of(160, 200), "specificity": ShareEstimate.of(198, 200)}
    >>> decisions = [DecidedLabel(True)] * 400 + [DecidedLabel(False)] * 600
    >>> {name: tuple(tipping) for name, tipping in rate_tipping(decisions, **judge, seed=0).items()}["sensitivity"][0] is None
    False
    """

    def sign(sensitivity: ShareEstimate, specificity: ShareEstimate) -> int:
        estimate = corrected_rate(
            decisions, sensitivity=sensitivity, specificity=specificity, clusters=clusters, seed=seed
        )
        return _sign(estimate, sum(decision.right for decision in decisions) / len(decisions))

    if not decisions or not (direction := sign(sensitivity, specificity)):
        return {}
    return {
        "sensitivity": _edges(
            lambda value: sign(_moved(sensitivity, value), specificity) == direction, sensitivity.share
        ),
        "specificity": _edges(
            lambda value: sign(sensitivity, _moved(specificity, value)) == direction, specificity.share
        ),
    }


def order_tipping(
    first: Sequence[DecidedLabel],
    second: Sequence[DecidedLabel],
    *,
    sensitivity: ShareEstimate,
    specificity: ShareEstimate,
    clusters: ClusterNames | None = None,
    seed: int,
) -> dict[tuple[Side, JudgeRate], Tipping]:
    """Return how far each of the judge's rates may shift before it is unclear which of two models is better.

    Parameters
    ----------
    first, second, sensitivity, specificity, clusters, seed
        As for `corrected_difference`.

    Returns
    -------
    dict of (Side, JudgeRate) to Tipping
        For a rate that moves on the answers of both models alike, and on those of one model alone. Beyond these values the
        interval of the difference contains 0 or lies on its other side, or no correction is possible. Empty if the interval
        already contains 0, or the correction is refused.

    Notes
    -----
    A shift for both models alike changes the size of their difference rather than its sign; a shift for one model alone
    changes the difference itself. The test of a difference of 0 is then that of `corrected_difference` with the rates
    of each model: with x the mean of both rates, an error of a shared passport moves the difference by what it moves
    the second rate at x less what it moves the first.

    Examples
    --------
    >>> judge = {"sensitivity": ShareEstimate.of(160, 200), "specificity": ShareEstimate.of(180, 200)}
    >>> first = [DecidedLabel(True), DecidedLabel(False)] * 100
    >>> second = [DecidedLabel(True)] * 150 + [DecidedLabel(False)] * 50
    >>> tipping = order_tipping(first, second, **judge, seed=0)
    >>> 0.4 < tipping["second", "sensitivity"].below < 0.8, tipping["second", "sensitivity"].above
    (True, None)
    """
    rates = JudgeRates(sensitivity, specificity)
    direction = _sign(
        corrected_difference(
            first, second, sensitivity=sensitivity, specificity=specificity, clusters=clusters, seed=seed
        ),
        0.0,
    )
    if not direction:
        return {}

    def holds(side: Side, moved: JudgeRates) -> bool:
        judges = [moved if side in (name, "both") else rates for name in ("first", "second")]
        return _difference_sign((first, second), judges, clusters, seed) == direction

    names: tuple[JudgeRate, JudgeRate] = ("sensitivity", "specificity")
    sides: tuple[Side, Side, Side] = ("both", "first", "second")
    tipping: dict[tuple[Side, JudgeRate], Tipping] = {}
    for name, rate in zip(names, rates, strict=True):
        for side in sides:
            tipping[side, name] = _edges(
                lambda value, s=side, n=name, r=rate: holds(s, rates._replace(**{n: _moved(r, value)})), rate.share
            )
    return tipping


def _difference_sign(
    sides: Sequence[Sequence[DecidedLabel]],
    judges: Sequence[JudgeRates],
    clusters: ClusterNames | None,
    seed: int,
) -> int:
    """Return 1 or -1 if the second rate, corrected by its own rates, is clearly above or below the first, else 0."""
    n = len(sides[0])
    gaps = [judge.sensitivity.share - judge.specificity.less.share for judge in judges]
    if any(refusal(*judge) for judge in judges):
        return 0
    values = [
        [value / scale for value in judged_values(side, *judge)]
        for side, judge, scale in zip(sides, judges, gaps, strict=True)
    ]
    right_by_rule = [sum(decision.right and not decision.by_judge for decision in side) / n for side in sides]
    open_to = [
        rule + sum(decision.by_judge for decision in side) / n for rule, side in zip(right_by_rule, sides, strict=True)
    ]
    means = [sum(numbers) / n for numbers in values]
    rates = [min(high, max(low, mean)) for mean, low, high in zip(means, right_by_rule, open_to, strict=True)]
    for answers, judge, mean, rate in zip(sides, judges, means, rates, strict=True):
        # a rate is cut if fewer answers were judged wrong than false alarms produce, or more than possible: by chance,
        # or not
        if mean != rate and corrected_rate(answers, **judge._asdict(), clusters=clusters, seed=seed).reason:
            return 0
    bound = sum(1 / scale for scale in gaps)
    steps = [b - a for a, b in zip(*values, strict=True)]
    sampled = bootstrap_interval(steps, clusters=clusters, seed=seed, bounds=(-bound, bound))
    difference, middle = rates[1] - rates[0], (rates[0] + rates[1]) / 2
    side = 1 if difference < 0 else -1
    errors = [(sampled.high if side > 0 else sampled.low) - (means[1] - means[0])]
    by_sensitivity = [(high - middle) / scale for high, scale in zip(open_to, gaps, strict=True)]
    by_alarms = [(middle - low) / scale for low, scale in zip(right_by_rule, gaps, strict=True)]
    for parts, estimate in ((by_sensitivity, judges[0].sensitivity), (by_alarms, judges[0].specificity.less)):
        weight = parts[1] - parts[0]
        errors.append(weight * (estimate.interval[(weight * side) > 0] - estimate.share))
    reach = sum(error * error for error in errors) ** 0.5
    return 0 if abs(difference) <= reach else -side


def _sign(estimate: Corrected, value: float) -> int:
    """Return 1 or -1 if an interval lies above or below a value; 0 if it contains the value, or there is no interval."""
    if estimate.interval is None or estimate.interval.reason:
        return 0
    return (estimate.interval.low > value) - (estimate.interval.high < value)


def _moved(estimate: ShareEstimate, share: float) -> ShareEstimate:
    """Return a rate shifted to another value together with its interval, which is clipped to 0 and 1."""
    ends = [min(1.0, max(0.0, end + share - estimate.share)) for end in estimate.interval]
    return ShareEstimate(share, ConfidenceInterval(ends[0], ends[1], method=estimate.interval.method))


def _edges(holds: Callable[[float], bool], share: float) -> Tipping:
    return Tipping(_edge(holds, share, 0.0), _edge(holds, share, 1.0))


def _edge(holds: Callable[[float], bool], share: float, end: float) -> float | None:
    """Return the value between a share and an end at which a conclusion stops holding; None if it still holds at the end."""
    if holds(end):
        return None
    inside, outside = share, end
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside
