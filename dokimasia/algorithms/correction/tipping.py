"""Tipping points: how much a judge's rates may differ on a run from a passport's before what was concluded changes.

An interval of a rate that a passport corrects allows for the uncertainty of what the passport measured, and takes for granted
that it applies to this run. The functions move one of the judge's two rates at a time, with its interval, until a conclusion
no longer holds.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Literal, NamedTuple

from dokimasia.algorithms.correction.judged import corrected_difference, corrected_rate, judged_values, refusal
from dokimasia.algorithms.correction.values import Corrected, DecidedLabel, ShareEstimate
from dokimasia.algorithms.statistics.intervals import bootstrap_interval
from dokimasia.algorithms.statistics.shares import ConfidenceInterval

JudgeRate = Literal["sensitivity", "specificity"]
Side = Literal["first", "second", "both"]

HALVINGS = 10
"""Halvings of the way to 0 or 1 in search of a tipping point, which is then known to 0.001."""


class Tipping(NamedTuple):
    """The values of a judge's rate below and above which a conclusion no longer holds; None where it holds to 0, or to 1."""

    below: float | None
    above: float | None


def interval_tipping(
    decisions: Sequence[DecidedLabel],
    interval: ConfidenceInterval,
    *,
    sensitivity: ShareEstimate,
    specificity: ShareEstimate,
) -> dict[JudgeRate, Tipping]:
    """Return by how much each of the judge's rates may differ before the corrected rate leaves its interval.

    Parameters
    ----------
    decisions : sequence of DecidedLabel
        One per answer, as of `corrected_rate`.
    interval : ConfidenceInterval
        The interval of the corrected rate.
    sensitivity, specificity : ShareEstimate
        The judge's rates by the passport.

    Returns
    -------
    dict of JudgeRate to Tipping
        Beyond these values the rate that the run's answers are corrected to lies outside of the interval.

    Examples
    --------
    >>> judge = {"sensitivity": ShareEstimate.of(180, 200), "specificity": ShareEstimate.of(190, 200)}
    >>> decisions = [DecidedLabel(True)] * 865 + [DecidedLabel(False)] * 135
    >>> tipping = interval_tipping(decisions, ConfidenceInterval(0.86, 0.94), **judge)
    >>> round(tipping["specificity"].below, 2), tipping["sensitivity"].above
    (0.91, None)
    """
    n = len(decisions)
    right_by_rule = sum(one.right and not one.by_judge for one in decisions) / n
    judged = sum(one.by_judge for one in decisions) / n
    judged_wrong = sum(one.by_judge and not one.right for one in decisions) / n

    def holds(sensitivity: float, specificity: float) -> bool:
        apart = sensitivity - (1 - specificity)
        if apart <= 0:
            return False
        rate = right_by_rule + min(judged, max(0.0, (sensitivity * judged - judged_wrong) / apart))
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
    clusters: Sequence[Hashable] | None = None,
    seed: int,
) -> dict[JudgeRate, Tipping]:
    """Return by how much each of the judge's rates may differ before a rate no longer differs from the one as judged.

    Parameters
    ----------
    decisions, sensitivity, specificity, clusters, seed
        As of `corrected_rate`.

    Returns
    -------
    dict of JudgeRate to Tipping
        Beyond these values the interval of the corrected rate holds the share judged right, or nothing can be corrected.
        Empty if the interval holds it already, or the correction is refused.

    Examples
    --------
    >>> judge = {"sensitivity": ShareEstimate.of(160, 200), "specificity": ShareEstimate.of(198, 200)}
    >>> decisions = [DecidedLabel(True)] * 400 + [DecidedLabel(False)] * 600
    >>> {name: tuple(tipping) for name, tipping in rate_tipping(decisions, **judge, seed=0).items()}["sensitivity"][0] is None
    False
    """

    def sign(sensitivity: ShareEstimate, specificity: ShareEstimate) -> int:
        found = corrected_rate(
            decisions, sensitivity=sensitivity, specificity=specificity, clusters=clusters, seed=seed
        )
        return _sign(found, sum(one.right for one in decisions) / len(decisions))

    if not decisions or not (known := sign(sensitivity, specificity)):
        return {}
    return {
        "sensitivity": _edges(lambda value: sign(_moved(sensitivity, value), specificity) == known, sensitivity.share),
        "specificity": _edges(lambda value: sign(sensitivity, _moved(specificity, value)) == known, specificity.share),
    }


def order_tipping(
    first: Sequence[DecidedLabel],
    second: Sequence[DecidedLabel],
    *,
    sensitivity: ShareEstimate,
    specificity: ShareEstimate,
    clusters: Sequence[Hashable] | None = None,
    seed: int,
) -> dict[tuple[Side, JudgeRate], Tipping]:
    """Return by how much each of the judge's rates may differ before it is open which of two models is better.

    Parameters
    ----------
    first, second, sensitivity, specificity, clusters, seed
        As of `corrected_difference`.

    Returns
    -------
    dict of (Side, JudgeRate) to Tipping
        For a rate that differs on the answers of both models alike, and on those of one model alone. Beyond these values the
        interval of the difference holds 0 or lies on its other side, or nothing can be corrected. Empty if the interval holds
        0 already, or the correction is refused.

    Notes
    -----
    On both models alike, a rate moves the size of their difference rather than its sign. On one model alone it moves the
    difference itself. The test of a difference of 0 is then that of `corrected_difference` with the rates of each model: with
    x the mean of both rates, an error of a shared passport moves the difference by what it moves the second rate at x less
    what it moves the first.

    Examples
    --------
    >>> judge = {"sensitivity": ShareEstimate.of(160, 200), "specificity": ShareEstimate.of(180, 200)}
    >>> first = [DecidedLabel(True), DecidedLabel(False)] * 100
    >>> second = [DecidedLabel(True)] * 150 + [DecidedLabel(False)] * 50
    >>> tipping = order_tipping(first, second, **judge, seed=0)
    >>> 0.4 < tipping["second", "sensitivity"].below < 0.8, tipping["second", "sensitivity"].above
    (True, None)
    """
    rates: dict[JudgeRate, ShareEstimate] = {"sensitivity": sensitivity, "specificity": specificity}

    known = _sign(
        corrected_difference(
            first, second, sensitivity=sensitivity, specificity=specificity, clusters=clusters, seed=seed
        ),
        0.0,
    )
    if not known:
        return {}

    def holds(side: Side, moved: dict[JudgeRate, ShareEstimate]) -> bool:
        judges = [rates | moved if side in (name, "both") else rates for name in ("first", "second")]
        return _difference_sign((first, second), judges, clusters, seed) == known

    names: tuple[JudgeRate, JudgeRate] = ("sensitivity", "specificity")
    sides: tuple[Side, Side, Side] = ("both", "first", "second")
    tipping: dict[tuple[Side, JudgeRate], Tipping] = {}
    for name in names:
        rate = rates[name]
        for side in sides:
            tipping[side, name] = _edges(
                lambda value, s=side, n=name, r=rate: holds(s, {n: _moved(r, value)}), rate.share
            )
    return tipping


def _difference_sign(
    sides: Sequence[Sequence[DecidedLabel]],
    judges: Sequence[Mapping[JudgeRate, ShareEstimate]],
    clusters: Sequence[Hashable] | None,
    seed: int,
) -> int:
    """Return 1 or -1 if the second rate is above or below the first beyond chance, each with its own judge's rates; else 0."""
    n = len(sides[0])
    apart = [one["sensitivity"].share - one["specificity"].less.share for one in judges]
    if any(refusal(one["sensitivity"], one["specificity"]) for one in judges):
        return 0
    values = [
        [value / scale for value in judged_values(side, one["sensitivity"], one["specificity"])]
        for side, one, scale in zip(sides, judges, apart, strict=True)
    ]
    right_by_rule = [sum(one.right and not one.by_judge for one in side) / n for side in sides]
    open_to = [rule + sum(one.by_judge for one in side) / n for rule, side in zip(right_by_rule, sides, strict=True)]
    means = [sum(one) / n for one in values]
    rates = [min(high, max(low, mean)) for mean, low, high in zip(means, right_by_rule, open_to, strict=True)]
    for answers, judge, mean, rate in zip(sides, judges, means, rates, strict=True):
        # a rate is cut where fewer answers were judged wrong than false alarms make, or more than can be: by chance, or not
        if (
            mean != rate
            and corrected_rate(
                answers,
                sensitivity=judge["sensitivity"],
                specificity=judge["specificity"],
                clusters=clusters,
                seed=seed,
            ).reason
        ):
            return 0
    bound = sum(1 / scale for scale in apart)
    steps = [b - a for a, b in zip(*values, strict=True)]
    sampled = bootstrap_interval(steps, clusters=clusters, seed=seed, bounds=(-bound, bound))
    difference, middle = rates[1] - rates[0], (rates[0] + rates[1]) / 2
    side = 1 if difference < 0 else -1
    errors = [(sampled.high if side > 0 else sampled.low) - (means[1] - means[0])]
    by_sensitivity = [(high - middle) / scale for high, scale in zip(open_to, apart, strict=True)]
    by_alarms = [(middle - low) / scale for low, scale in zip(right_by_rule, apart, strict=True)]
    for parts, estimate in (
        (by_sensitivity, judges[0]["sensitivity"]),
        (by_alarms, judges[0]["specificity"].less),
    ):
        weight = parts[1] - parts[0]
        errors.append(weight * (estimate.interval[(weight * side) > 0] - estimate.share))
    reach = sum(error * error for error in errors) ** 0.5
    return 0 if abs(difference) <= reach else -side


def _sign(found: Corrected, value: float) -> int:
    """Return 1 or -1 if an interval lies above or below a value; 0 if it holds it, or there is none."""
    if found.interval is None or found.interval.reason:
        return 0
    return (found.interval.low > value) - (found.interval.high < value)


def _moved(estimate: ShareEstimate, share: float) -> ShareEstimate:
    """Return a rate moved to another value with its interval, which is cut at 0 and 1."""
    ends = [min(1.0, max(0.0, end + share - estimate.share)) for end in estimate.interval]
    return ShareEstimate(share, ConfidenceInterval(ends[0], ends[1], method=estimate.interval.method))


def _edges(holds: Callable[[float], bool], share: float) -> Tipping:
    return Tipping(_edge(holds, share, 0.0), _edge(holds, share, 1.0))


def _edge(holds: Callable[[float], bool], share: float, end: float) -> float | None:
    """Return the value between a share, at which it holds, and an end, from which on it does not; None if it holds there."""
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
