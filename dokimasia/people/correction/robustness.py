"""Robustness of corrections by passport: how far the judge's rates on a run may deviate before a conclusion changes."""

from collections.abc import Hashable, Iterable, Sequence

from dokimasia.algorithms.correction import (
    Corrected,
    DecidedLabel,
    JudgeRate,
    ShareEstimate,
    Tipping,
    interval_tipping,
    order_tipping,
    rate_tipping,
)
from dokimasia.domain.wording import percentage
from dokimasia.people.correction.rates import JudgeRates
from dokimasia.people.correction.shape import Robustness, TippingPoint
from dokimasia.runs.measures import rounded


def rate_robustness(
    estimate: Corrected,
    decisions: Sequence[DecidedLabel],
    rates: JudgeRates,
    *,
    clusters: Sequence[Hashable],
    seed: int,
) -> tuple[Robustness, ...]:
    """Return how robust a corrected rate is: its interval, and its difference from the rate as judged.

    Args:
        estimate: the corrected rate.
        decisions: the decisions it was computed from.
        rates: the judge's rates.
        clusters: the cluster of each decision.
        seed: the seed it was computed with.
    """
    both = rates.both
    interval = estimate.interval
    if both is None or interval is None or interval.reason or all(not decision.by_judge for decision in decisions):
        return ()
    within = interval_tipping(decisions, interval, **both)
    conclusion = f"the corrected rate stays within its interval ({_percent(interval.low)} to {_percent(interval.high)})"
    conclusions = [_robustness(conclusion, [("", name, tipping) for name, tipping in within.items()], both)]
    raw = sum(decision.right for decision in decisions) / len(decisions)
    if differs := rate_tipping(decisions, **both, clusters=clusters, seed=seed):
        word = "more" if interval.low > raw else "fewer"
        conclusion = f"{word} answers are right than the {_percent(raw)} as judged"
        conclusions.append(_robustness(conclusion, [("", name, tipping) for name, tipping in differs.items()], both))
    return tuple(conclusions)


def order_robustness(
    names: tuple[str, str],
    sides: Sequence[Sequence[DecidedLabel]],
    estimate: Corrected,
    rates: JudgeRates,
    *,
    clusters: Sequence[Hashable],
    seed: int,
) -> tuple[Robustness, ...]:
    """Return how robust the order of two models is by passport; empty if the order is not clear.

    Args:
        names: the names of the first and the second model.
        sides: the decisions on the answers of each.
        estimate: the corrected difference.
        rates: the judge's rates.
        clusters: the cluster of each sample.
        seed: the seed it was computed with.
    """
    both = rates.both
    if both is None or estimate.interval is None or estimate.interval.low <= 0 <= estimate.interval.high:
        return ()
    tipping_points = order_tipping(sides[0], sides[1], **both, clusters=clusters, seed=seed)
    if not tipping_points:
        return ()
    model = {"both": "", "first": names[0], "second": names[1]}
    better, worse = names[::-1] if estimate.interval.low > 0 else names
    points: list[tuple[str, JudgeRate, Tipping]] = []
    for (side, name), tipping in tipping_points.items():
        points.append((model[side], name, tipping))
    return (_robustness(f"{better} is better than {worse}", points, both),)


def _robustness(
    conclusion: str, points: Iterable[tuple[str, JudgeRate, Tipping]], both: dict[JudgeRate, ShareEstimate]
) -> Robustness:
    tipping = tuple(
        TippingPoint(
            rate=name,
            model=model,
            passport=rounded(both[name].share),
            below=rounded(values.below),
            above=rounded(values.above),
        )
        for model, name, values in sorted(points, key=lambda point: point[0])
    )
    conditions: list[str] = []
    named: set[JudgeRate] = set()
    for model in dict.fromkeys(point.model for point in tipping):
        ranges = [text for point in tipping if point.model == model and (text := _beyond(point, named))]
        if ranges:
            where = f"on the answers of {model} alone" if model else "on this run"
            conditions.append(f"{' or '.join(ranges)} {where}")
    if conditions:
        text = f"{conclusion} unless {', or '.join(conditions)}"
    else:
        text = f"{conclusion} at every sensitivity and specificity, 0 to 1, that the judge may have on this run"
    return Robustness(conclusion=conclusion, tipping=tipping, text=f"{text}.")


def _beyond(point: TippingPoint, named: set[JudgeRate]) -> str:
    """Return the values of a rate beyond which a conclusion changes, as text; empty if there are none.

    The passport's value is added where a rate is first named.
    """
    ends = [
        f"{word} {_percent(end)}" for word, end in (("below", point.below), ("above", point.above)) if end is not None
    ]
    if not ends:
        return ""
    by_passport = "" if point.rate in named else f" (passport {_percent(point.passport)})"
    named.add(point.rate)
    return f"{point.rate}{by_passport} is {' or '.join(ends)}"


def _percent(share: float) -> str:
    return percentage(share, 1)
