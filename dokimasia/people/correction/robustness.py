"""Robustness of what a passport corrects: how much the judge may differ on a run before a conclusion changes."""

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
from dokimasia.people.correction.rates import JudgeRates
from dokimasia.people.correction.shape import Robustness, TippingPoint
from dokimasia.runs.measures import rounded


def rate_robustness(
    found: Corrected,
    decisions: Sequence[DecidedLabel],
    rates: JudgeRates,
    *,
    clusters: Sequence[Hashable],
    seed: int,
) -> tuple[Robustness, ...]:
    """Return of a corrected rate how far its interval holds, and how far that it differs from the rate as judged.

    Args:
        found: the corrected rate.
        decisions: the decisions that it was corrected from.
        rates: the judge's rates.
        clusters: the cluster of each decision.
        seed: the seed of the rate.
    """
    both = _measured(rates)
    interval = found.interval
    if both is None or interval is None or interval.reason or all(not one.by_judge for one in decisions):
        return ()
    within = interval_tipping(decisions, interval, **both)
    said = f"the corrected rate stays within its interval ({_percent(interval.low)} to {_percent(interval.high)})"
    conclusions = [_robustness(said, [("", name, tipping) for name, tipping in within.items()], both)]
    raw = sum(one.right for one in decisions) / len(decisions)
    if differs := rate_tipping(decisions, **both, clusters=clusters, seed=seed):
        word = "more" if interval.low > raw else "fewer"
        said = f"{word} answers are right than the {_percent(raw)} as judged"
        conclusions.append(_robustness(said, [("", name, tipping) for name, tipping in differs.items()], both))
    return tuple(conclusions)


def order_robustness(
    names: tuple[str, str],
    sides: Sequence[Sequence[DecidedLabel]],
    found: Corrected,
    rates: JudgeRates,
    *,
    clusters: Sequence[Hashable],
    seed: int,
) -> tuple[Robustness, ...]:
    """Return how far it holds which of two models is better, by passport; empty if that is open.

    Args:
        names: of the first and the second model.
        sides: the decisions on both.
        found: the corrected difference.
        rates: the judge's rates.
        clusters: the cluster of each sample.
        seed: the seed of the difference.
    """
    both = _measured(rates)
    if both is None or found.interval is None or found.interval.low <= 0 <= found.interval.high:
        return ()
    moved = order_tipping(sides[0], sides[1], **both, clusters=clusters, seed=seed)
    if not moved:
        return ()
    model = {"both": "", "first": names[0], "second": names[1]}
    better, worse = names[::-1] if found.interval.low > 0 else names
    points: list[tuple[str, JudgeRate, Tipping]] = [
        (model[side], name, tipping) for (side, name), tipping in moved.items()
    ]
    return (_robustness(f"{better} is better than {worse}", points, both),)


def _measured(rates: JudgeRates) -> dict[JudgeRate, ShareEstimate] | None:
    if rates.sensitivity is None or rates.specificity is None or rates.refused:
        return None
    return {"sensitivity": rates.sensitivity, "specificity": rates.specificity}


def _robustness(
    conclusion: str, points: Iterable[tuple[str, JudgeRate, Tipping]], both: dict[JudgeRate, ShareEstimate]
) -> Robustness:
    tipping = tuple(
        TippingPoint(
            rate=name,
            model=model,
            passport=rounded(both[name].share),
            below=None if found.below is None else rounded(found.below),
            above=None if found.above is None else rounded(found.above),
        )
        for model, name, found in sorted(points, key=lambda point: point[0])
    )
    conditions: list[str] = []
    named: set[JudgeRate] = set()
    for model in dict.fromkeys(point.model for point in tipping):
        moved = [text for point in tipping if point.model == model and (text := _beyond(point, named))]
        if moved:
            where = f"on the answers of {model} alone" if model else "on this run"
            conditions.append(f"{' or '.join(moved)} {where}")
    if conditions:
        text = f"{conclusion} unless {', or '.join(conditions)}"
    else:
        text = f"{conclusion} at every sensitivity and specificity, 0 to 1, that the judge may have on this run"
    return Robustness(conclusion=conclusion, tipping=tipping, text=f"{text}.")


def _beyond(point: TippingPoint, named: set[JudgeRate]) -> str:
    """Return beyond which values of a rate a conclusion changes, with the passport's at first; empty if beyond none."""
    ends = [
        f"{word} {_percent(end)}" for word, end in (("below", point.below), ("above", point.above)) if end is not None
    ]
    if not ends:
        return ""
    by_passport = "" if point.rate in named else f" (passport {_percent(point.passport)})"
    named.add(point.rate)
    return f"{point.rate}{by_passport} is {' or '.join(ends)}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
