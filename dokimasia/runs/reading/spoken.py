"""Two models compared by strict accuracy, by how much they speak to, and by the score on what both speak to."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.runs.reading.rates import mean, paired, rounded
from dokimasia.runs.reading.sides import ComparedAnswer, ComparisonSide, SampleRef, lost_by

SHARES: Mapping[str, Callable[[ComparedAnswer], float | None]] = {
    "strict_accuracy": lambda one: one.strict,
    "stated": lambda one: one.stated,
}
"""What is compared sample by sample, each 0 to 1: strict accuracy, and the share of the weight spoken to."""


class _Means(NamedTuple):
    """What two sides have at one sample, the mean over their answers, and the cluster of the sample."""

    first: float
    second: float
    cluster: str


def spoken(
    first: ComparisonSide,
    second: ComparisonSide,
    shared: Sequence[tuple[SampleRef, SampleRef]],
    *,
    seed: int,
    widest: float,
) -> dict[str, Any]:
    """Return `strict_accuracy`, `stated` and `both_stated` of `differences.compare`, those that something was measured for."""
    found: dict[str, Any] = {}
    for name, measure in SHARES.items():
        means: list[_Means] = []
        compared: list[tuple[SampleRef, SampleRef]] = []
        lost: dict[str, int] = {}
        for place, other in shared:
            one, two = first.mean(place, measure), second.mean(other, measure)
            if one is not None and two is not None:
                means.append(_Means(one, two, place.cluster))
                compared.append((place, other))
            else:
                why = lost_by(first, second, (place, other), (one, two))
                lost[why] = lost.get(why, 0) + 1
        if means:
            found[name] = {"lost": dict(sorted(lost.items())), **_compared(means, widest=1.0, seed=seed)}
            if name == "strict_accuracy":
                found[name] |= _undecided(first, second, compared)
    if "stated" in found:
        means, criteria = _on_both_stated(first, second, shared)
        found["both_stated"] = {"criteria": criteria, **_compared(means, widest=widest, seed=seed)}
    return found


def _undecided(
    first: ComparisonSide, second: ComparisonSide, compared: Sequence[tuple[SampleRef, SampleRef]]
) -> dict[str, Any]:
    """Return how many answers to the samples compared are undecided on each side, and the bounds of the difference by that."""
    counted: dict[str, int] = {}
    ends: dict[str, tuple[float, float]] = {}
    for name, side, places in zip(("first", "second"), (first, second), zip(*compared, strict=True), strict=True):
        answers = [one for position in places for one in side.answers[position.sample_id]]
        counted[name] = sum(answer.correctness == "undecided" for answer in answers)
        strict, upper = (
            sum(side.mean(position, measure) or 0.0 for position in places) / len(places)
            for measure in (lambda one: one.strict, lambda one: one.upper)
        )
        ends[name] = strict, upper
    low, high = (rounded(ends["second"][at] - ends["first"][1 - at]) for at in (0, 1))
    return {"n_undecided": counted, "bounds": {"low": low, "high": high}}


def _on_both_stated(
    first: ComparisonSide, second: ComparisonSide, shared: Sequence[tuple[SampleRef, SampleRef]]
) -> tuple[list[_Means], int]:
    """Return the scores on the criteria that both sides' answers of one repeat speak to, and how many criteria these are.

    A criterion that one of the two does not speak to is left out for both. So a model that says little is not compared
    by how much it says, and, since both are asked about the same criteria, not by which it chooses either.
    """
    found: list[_Means] = []
    criteria = 0
    for place, other in shared:
        scores: list[tuple[float, float]] = []
        theirs = {two.repeat: two for two in second.answers.get(other.sample_id, ())}
        for one in first.answers.get(place.sample_id, ()):
            two = theirs.get(one.repeat)
            if two is None or not one.same_criteria(two):
                continue
            both = [
                at for at, told in enumerate(zip(one.criteria_stated, two.criteria_stated, strict=False)) if all(told)
            ]
            if weight := sum(one.weights[at] for at in both):
                criteria += len(both)
                scores.append((_on(one, both) / weight, _on(two, both) / weight))
        if scores:
            ours, others = zip(*scores, strict=True)
            found.append(_Means(sum(ours) / len(ours), sum(others) / len(others), place.cluster))
    return found, criteria


def _on(answer: ComparedAnswer, criteria: Sequence[int]) -> int:
    return sum(answer.criteria_scores[at] * answer.weights[at] for at in criteria)


def _compared(means: Sequence[_Means], *, widest: float, seed: int) -> dict[str, Any]:
    """Return both sides' means and their paired difference, second minus first."""
    return {
        "n": len(means),
        "first": mean([one.first for one in means]),
        "second": mean([one.second for one in means]),
        **paired([one.second - one.first for one in means], [one.cluster for one in means], widest=widest, seed=seed),
    }
