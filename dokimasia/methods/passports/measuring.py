"""From what came of a judge's probes to its passport: rates with intervals, and what each half of the images says."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.algorithms.pairwise import (
    position_bias,
    position_bias_interval,
    position_consistency,
    position_consistency_interval,
)
from dokimasia.algorithms.statistics import Interval
from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.domain.blindspots import EVALUATORS, Detection, Evaluator, Task
from dokimasia.domain.passport import (
    BinaryCount,
    BinaryRates,
    ErrorRates,
    Level,
    MeasuredDifference,
    MeasuredShare,
    NeutralRates,
    OwnAnswers,
    Passport,
    PassportData,
    PassportDates,
    PassportModel,
    PlaceRates,
    ReplyRates,
    RetestRates,
)
from dokimasia.methods.passports.choosing import recommendations
from dokimasia.methods.passports.shares import alarmed, detected, limits_of, measured, share_of
from dokimasia.runs.figures import counted
from dokimasia.runs.reading.rates import rounded

BINARY: tuple[Evaluator, ...] = ("gated", "right-or-wrong")
"""Evaluators that decide whether an answer is right."""

MOST = 2
"""The strongest verdict of `algorithms.pairwise`, as which a choice counts."""

Key = tuple[Task, Evaluator]


class Ordered(NamedTuple):
    """What a pairwise judge chose of one item in both orders: 1 the gold answer, -1 the other, 0 neither.

    `first` is with the gold answer shown first, `second` with it shown second; None where that judgement failed.
    """

    task: Task
    evaluator: Evaluator
    cluster: str
    item: str
    first: int | None
    second: int | None


class Material(NamedTuple):
    """All that a passport is made from.

    Attributes:
        judge: who it is of.
        prompts: what it was asked by.
        data: what it was probed with, a task each.
        detections: what came of each item under each evaluator.
        ordered: what it chose in both orders.
        costs: what the judgement of each item cost in US dollars, None where that is unknown.
        own: by item with an error, whether the judge's own model wrote the answer; unknown authors are not there.
        dates: when the judgements were made.
        seed: of the halves and the intervals.
    """

    judge: PassportModel
    prompts: Mapping[str, str]
    data: Sequence[PassportData]
    detections: Sequence[Detection]
    ordered: Sequence[Ordered] = ()
    costs: Mapping[Key, Sequence[float | None]] = {}
    own: Mapping[str, bool] = {}
    dates: PassportDates | None = None
    seed: int = 0


def passport_of(material: Material) -> Passport:
    """Return the passport that all of a judge's probes make, with its hash; equal material makes equal bytes."""
    by_key: dict[Key, list[Detection]] = {}
    for one in sorted(material.detections, key=_place):
        by_key.setdefault((one.task, one.evaluator), []).append(one)
    keys, seed = sorted(by_key, key=_order), material.seed
    return Passport(
        judge=material.judge,
        prompts=dict(sorted(material.prompts.items())),
        data=tuple(material.data),
        seed=seed,
        dates=material.dates,
        errors=tuple(one for key in keys for one in _errors(key, by_key[key], seed)),
        neutral=tuple(one for key in keys for one in _neutral(key, by_key[key], seed)),
        retests=tuple(one for key in keys for one in _retests(key, by_key[key], seed)),
        places=tuple(_places(material.ordered, seed)),
        own_answers=tuple(_own(key, by_key[key], material.own, seed) for key in keys),
        replies=tuple(_replies(key, by_key[key], material.costs.get(key, ()), seed) for key in keys),
        binary=tuple(one for key in keys if key[1] in BINARY for one in _binary(key, by_key[key])),
        recommended=tuple(recommendations(by_key, seed=seed)),
    ).sealed()


def _errors(key: Key, found: Sequence[Detection], seed: int) -> Iterator[ErrorRates]:
    """Yield the rates of all errors, of each group, and of each dimension."""
    errors = [one for one in found if one.case == "error"]
    groups = sorted({one.group for one in errors})
    kinds: list[tuple[Level, str, str]] = [("all", "", ""), *(("group", name, name) for name in groups)]
    kinds += [("dimension", name, group) for group, name in sorted({(one.group, one.dimension) for one in errors})]
    for level, name, group in kinds if errors else ():
        of_kind = [
            one
            for one in errors
            if level == "all" or (level == "group" and one.group == group) or one.dimension == name
        ]
        yield ErrorRates(
            **_counts(key, of_kind, lambda one: one.undetected),
            level=level,
            name=name,
            group=group,
            detection=measured(of_kind, detected, seed=seed),
            strict=measured(of_kind, lambda one: None if one.strict is None else 1 - one.strict, seed=seed),
            worse=measured(of_kind, lambda one: one.worse, seed=seed),
        )


def _neutral(key: Key, found: Sequence[Detection], seed: int) -> Iterator[NeutralRates]:
    neutral = [one for one in found if one.case == "neutral"]
    if neutral:
        counts = _counts(key, neutral, lambda one: one.equal)
        yield NeutralRates(**counts, false_alarms=measured(neutral, alarmed, seed=seed))


def _retests(key: Key, found: Sequence[Detection], seed: int) -> Iterator[RetestRates]:
    again = [one for one in found if one.case == "retest"]
    if again:
        yield RetestRates(**_counts(key, again, lambda one: one.equal), changed=measured(again, alarmed, seed=seed))


def _places(ordered: Sequence[Ordered], seed: int) -> Iterator[PlaceRates]:
    keys = sorted({(one.task, one.evaluator) for one in ordered}, key=_order)
    for key in keys:
        asked = [one for one in ordered if (one.task, one.evaluator) == key]
        both = [
            (one.first, one.second, one.cluster) for one in asked if one.first is not None and one.second is not None
        ]
        first, second = ([MOST * one[place] for one in both] for place in (0, 1))
        clusters = [one[2] for one in both]
        consistency, bias = MeasuredShare(), MeasuredDifference()
        if both:
            steady = position_consistency_interval(first, second, clusters=clusters)
            consistency = MeasuredShare(share=rounded(position_consistency(first, second)), **limits_of(steady))
            leaning = position_bias_interval(first, second, clusters=clusters, seed=seed)
            mean = rounded(position_bias(first, second) / 100)
            bias = MeasuredDifference(mean=mean, **limits_of(leaning, unit=0.01))
        yield PlaceRates(
            task=key[0],
            evaluator=key[1],
            n=len(asked),
            n_scored=len(both),
            images=len(set(clusters)),
            consistency=consistency,
            bias=bias,
        )


def _own(key: Key, found: Sequence[Detection], own: Mapping[str, bool], seed: int) -> OwnAnswers:
    errors = [one for one in found if one.case == "error" and one.item in own]
    mine, others = ([one for one in errors if own[one.item] is side] for side in (True, False))
    two = [measured(side, detected, seed=seed) for side in (mine, others)]
    known = [sum(one.undetected is not None for one in side) for side in (mine, others)]
    reason = ""
    if not mine:
        reason = "no answer with an error was written by the judge's own model"
    elif not others:
        reason = "every answer with an error was written by the judge's own model"
    elif two[0].share is None or two[1].share is None:
        reason = "not judged"
    return OwnAnswers(
        **_counts(key, mine, lambda one: one.undetected),
        others=known[1],
        difference=MeasuredDifference() if reason else _difference(*two),
        reason=reason,
    )


def _difference(one: MeasuredShare, other: MeasuredShare) -> MeasuredDifference:
    """Return a difference of shares that were measured on different items."""
    assert one.share is not None
    assert other.share is not None
    mean = rounded(one.share - other.share)
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return MeasuredDifference(mean=mean, no_interval=one.no_interval or other.no_interval)
    interval = contrast_interval(one.share, Interval(one.low, one.high), other.share, Interval(other.low, other.high))
    return MeasuredDifference(mean=mean, **limits_of(interval))


def _replies(key: Key, found: Sequence[Detection], costs: Sequence[float | None], seed: int) -> ReplyRates:
    known = [one for one in costs if one is not None]
    return ReplyRates(
        task=key[0],
        evaluator=key[1],
        n=len(found),
        unparsable=measured(found, lambda one: float(one.failure == "unparsable"), seed=seed),
        refused=measured(found, lambda one: float(one.failure == "refused"), seed=seed),
        failures=counted(one.failure for one in found if one.failure),  # pyright: ignore[reportArgumentType]
        cost=rounded(sum(known) / len(known)) if known and len(known) == len(costs) else None,
        priced=len(known),
    )


def _binary(key: Key, found: Sequence[Detection]) -> Iterator[BinaryRates]:
    """Yield sensitivity and specificity with their counts; nothing where one of the two has no decision."""
    errors = [one for one in found if one.case == "error" and one.undetected in (0, 1)]
    right = [one for one in found if one.case == "neutral" and one.equal in (0, 1)]
    kinds = sorted({(one.group, one.dimension) for one in errors})
    if errors and right:
        yield BinaryRates(
            task=key[0],
            evaluator=key[1],
            sensitivity=_count(errors, detected),
            by_dimension=tuple(
                _count([one for one in errors if one.dimension == name], detected, name, group) for group, name in kinds
            ),
            specificity=_count(right, lambda one: one.equal),
        )


def _count(
    found: Sequence[Detection], what: Callable[[Detection], float | None], dimension: str = "", group: str = ""
) -> BinaryCount:
    hits = [what(one) == 1 for one in found]
    share = share_of(list(map(float, hits)), [one.cluster for one in found], seed=0)
    images = len({one.cluster for one in found})
    return BinaryCount(**share.model_dump(), dimension=dimension, group=group, k=sum(hits), n=len(hits), images=images)


def _counts(key: Key, found: Sequence[Detection], what: Callable[[Detection], float | None]) -> dict[str, Any]:
    scored = [one for one in found if what(one) is not None]
    images = len({one.cluster for one in scored})
    return {"task": key[0], "evaluator": key[1], "n": len(found), "n_scored": len(scored), "images": images}


def _order(key: Key) -> tuple[str, int]:
    return key[0], EVALUATORS.index(key[1])


def _place(one: Detection) -> tuple[str, str, str]:
    return one.case, one.cluster, one.item
