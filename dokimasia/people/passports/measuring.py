"""Computation of a passport from a judge's probes: rates by kind of error, position, own answers, replies, decisions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.algorithms.blindspots import FailureRate, failure_rates
from dokimasia.algorithms.pairwise import (
    position_bias,
    position_bias_interval,
    position_consistency,
    position_consistency_interval,
)
from dokimasia.algorithms.statistics import ConfidenceInterval
from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.domain.blindspots import EVALUATORS, Detection, Evaluator, Task, paradigm_of
from dokimasia.domain.passport import (
    BinaryCount,
    BinaryRates,
    ErrorRates,
    LabelCeiling,
    LengthRates,
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
from dokimasia.people.judgements import beside_people
from dokimasia.people.passports.choosing import rates_by_half, recommendations, task_halves
from dokimasia.people.passports.shares import (
    ShareLimits,
    alarmed,
    changed_by_length,
    detected,
    length_bias,
    limits_of,
    marked,
    measured,
    written,
)
from dokimasia.report.fields import Interval
from dokimasia.runs.figures import counts_by_name
from dokimasia.runs.measures import rounded

BINARY: tuple[Evaluator, ...] = ("gated", "right-or-wrong")
"""Evaluators that decide whether an answer is right."""

MOST = 2
"""The strongest verdict of `algorithms.pairwise`, as which a choice counts."""

Key = tuple[Task, Evaluator]


class PassportMaterial(NamedTuple):
    """All that a passport is made from.

    Attributes:
        judge: the judge.
        prompts: the versions of the judge's prompts.
        data: the probes' data, one entry for each task.
        detections: the results of this judge for each item and evaluator.
        costs: the cost of each item's judgement in US dollars, None if unknown.
        own: for each item with an error, whether the judge's own model wrote the answer; items by unknown authors are
            missing.
        labels: for each item that people labelled, whether it is worse than the gold answer (1.0) or not (0.0), by person;
            an item without such a label is missing.
        dates: the dates of the judgements.
        seed: the seed of halves and intervals.
    """

    judge: PassportModel
    prompts: Mapping[str, str]
    data: Sequence[PassportData]
    detections: Sequence[Detection]
    costs: Mapping[Key, Sequence[float | None]] = {}
    own: Mapping[str, bool] = {}
    labels: Mapping[str, Mapping[str, float]] = {}
    dates: PassportDates | None = None
    seed: int = 0


def passport_of(material: PassportMaterial) -> Passport:
    """Return the passport from all of a judge's probes, with its hash; equal material gives equal bytes."""
    found: dict[Key, list[Detection]] = {}
    for one in sorted(material.detections, key=_place):
        found.setdefault((one.task, one.evaluator), []).append(one)
    found = dict(sorted(found.items(), key=lambda one: (one[0][0], EVALUATORS.index(one[0][1]))))
    seed = material.seed
    split = task_halves(found, seed=seed)
    return Passport(
        judge=material.judge,
        prompts=dict(sorted(material.prompts.items())),
        data=tuple(material.data),
        seed=seed,
        dates=material.dates,
        errors=tuple(_errors([one for several in found.values() for one in several], seed)),
        neutral=tuple(one for key, several in found.items() for one in _neutral(key, several)),
        retests=tuple(one for key, several in found.items() for one in _retests(key, several)),
        places=tuple(
            _places(key, several, seed) for key, several in found.items() if paradigm_of(key[1]) == "pairwise"
        ),
        lengths=tuple(one for key, several in found.items() for one in _lengths(key, several, seed)),
        own_answers=tuple(_own(key, several, material.own) for key, several in found.items()),
        replies=tuple(_replies(key, several, material.costs.get(key, ())) for key, several in found.items()),
        binary=tuple(one for key, several in found.items() if key[1] in BINARY for one in _binary(key, several)),
        halves=tuple(rates_by_half(split)),
        recommended=tuple(recommendations(split)),
        human_ceiling=tuple(
            ceiling for key, several in found.items() for ceiling in _ceiling(key, several, material.labels)
        ),
    ).sealed()


def _errors(found: Sequence[Detection], seed: int) -> Iterator[ErrorRates]:
    """Yield the rates of all errors, of each group, and of each dimension, task by task and evaluator by evaluator."""
    groups = {one.dimension: one.group for one in found}
    for row in failure_rates(found, seed=seed):
        if not row.undetected.n:
            continue
        yield ErrorRates(
            task=row.task,
            evaluator=row.evaluator,
            n=row.undetected.n,
            n_scored=row.undetected.n_scored,
            images=len({one.cluster for one in found if one.undetected is not None and _is_of(row, one)}),
            level=row.scope,
            name=row.name,
            group=groups[row.name] if row.scope == "dimension" else row.name,
            detection=written(row.undetected, less=True),
            strict=written(row.strict, less=True),
            majority=None if row.majority is None else written(row.majority, less=True),
            overall=None if row.overall is None else written(row.overall, less=True),
            worse=written(row.worse),
            blind_spot=None if row.spot is None else row.spot.blind,
        )


def _is_of(row: FailureRate, one: Detection) -> bool:
    """Return whether a detection belongs to a row of the table."""
    same = (one.task, one.evaluator, one.case) == (row.task, row.evaluator, "error")
    return same and (row.scope == "all" or row.name == (one.group if row.scope == "group" else one.dimension))


def _neutral(key: Key, found: Sequence[Detection]) -> Iterator[NeutralRates]:
    neutral = [one for one in found if one.case == "neutral"]
    if neutral:
        counts = _counts(key, neutral, lambda one: one.equal)
        yield NeutralRates(**counts, false_alarms=measured(neutral, alarmed))


def _retests(key: Key, found: Sequence[Detection]) -> Iterator[RetestRates]:
    again = [one for one in found if one.case == "retest"]
    if again:
        yield RetestRates(**_counts(key, again, lambda one: one.equal), changed=measured(again, alarmed))


def _places(key: Key, found: Sequence[Detection], seed: int) -> PlaceRates:
    pairs = [one for one in found if one.case in ("error", "neutral")]  # two equal answers are shown in one order
    both = [one for one in pairs if one.orders is not None]
    first, second = ([MOST * one.orders[place] for one in both if one.orders is not None] for place in (0, 1))
    clusters = [one.cluster for one in both]
    consistency, bias = MeasuredShare(), MeasuredDifference()
    if both:
        steady = position_consistency_interval(first, second, clusters=clusters)
        consistency = MeasuredShare(share=rounded(position_consistency(first, second)), **limits_of(steady))
        leaning = position_bias_interval(first, second, clusters=clusters, seed=seed)
        mean = rounded(position_bias(first, second) / 100)
        bias = MeasuredDifference(mean=mean, **limits_of(leaning, unit=0.01))
    counts = _counts(key, pairs, lambda one: None if one.orders is None else 1.0)
    return PlaceRates(**counts, consistency=consistency, bias=bias)


def _lengths(key: Key, found: Sequence[Detection], seed: int) -> Iterator[LengthRates]:
    padded = [one for one in found if one.case == "padded"]
    if not padded:
        return
    bias = length_bias(padded, seed=seed)
    yield LengthRates(
        **_counts(key, padded, changed_by_length),
        changed=measured(padded, changed_by_length),
        bias=MeasuredDifference() if bias is None else MeasuredDifference(mean=bias.mean, **_limits(bias)),
    )


def _own(key: Key, found: Sequence[Detection], own: Mapping[str, bool]) -> OwnAnswers:
    errors = [one for one in found if one.case == "error" and one.item in own]
    mine, others = ([one for one in errors if own[one.item] is side] for side in (True, False))
    one, other = measured(mine, detected), measured(others, detected)
    reason = ""
    if not mine:
        reason = "no answer with an error is known to be written by the judge's own model"
    elif not others:
        reason = "every answer with an error was written by the judge's own model"
    elif one.share is None or other.share is None:
        reason = "not judged"
    return OwnAnswers(
        **_counts(key, mine, lambda one: one.undetected),
        others=sum(one.undetected is not None for one in others),
        difference=MeasuredDifference() if reason else _difference(one, other),
        reason=reason,
    )


def _ceiling(key: Key, found: Sequence[Detection], labels: Mapping[str, Mapping[str, float]]) -> Iterator[LabelCeiling]:
    """Yield the judge beside people; nothing if no two people labelled the same judged item."""
    items = [one for one in found if one.case in ("error", "neutral") and len(labels.get(one.item, ())) > 1]
    people: dict[str, dict[str, float]] = {}
    for one in items:
        for who, label in labels[one.item].items():
            people.setdefault(who, {})[one.item] = label
    scored = {one.item: value for one in items if (value := marked(one)) is not None}
    ceiling, test = beside_people(
        people,
        scored,
        {one.item: one.cluster for one in items},
        alignment="same",
        failed=len(items) - len(scored),
    )
    if ceiling is None or test is None:
        return
    yield LabelCeiling(
        **_counts(key, items, marked),
        people=len(people),
        comparisons=ceiling.n,
        among_people=MeasuredShare(share=ceiling.people.mean, **_limits(ceiling.people)),
        judge=MeasuredShare(share=ceiling.judge.mean, **_limits(ceiling.judge)),
        difference=MeasuredDifference(mean=ceiling.difference.mean, **_limits(ceiling.difference)),
        epsilon=test.epsilon,
        winning_rate=test.winning_rate,
        advantage=test.advantage,
        passed=test.passed,
        items_needed=test.items_needed,
        warning=test.warning,
    )


def _limits(interval: Interval) -> ShareLimits:
    """Return the ends of an interval of figures in a passport's form."""
    if interval.low is None or interval.high is None:
        return {"no_interval": interval.no_interval or ""}
    return {"low": interval.low, "high": interval.high}


def _difference(one: MeasuredShare, other: MeasuredShare) -> MeasuredDifference:
    """Return the difference of two shares measured on different items."""
    if one.share is None or one.low is None or one.high is None or other.share is None:
        return MeasuredDifference()
    if other.low is None or other.high is None:
        return MeasuredDifference()
    interval = contrast_interval(
        one.share, ConfidenceInterval(one.low, one.high), other.share, ConfidenceInterval(other.low, other.high)
    )
    return MeasuredDifference(mean=rounded(one.share - other.share), **limits_of(interval))


def _replies(key: Key, found: Sequence[Detection], costs: Sequence[float | None]) -> ReplyRates:
    known = [one for one in costs if one is not None]
    asked_detections = [detection for detection in found if detection.asked]
    return ReplyRates(
        task=key[0],
        evaluator=key[1],
        n=len(asked_detections),
        unparsable=measured(asked_detections, lambda detection: float(detection.failure == "unparsable")),
        refused=measured(asked_detections, lambda detection: float(detection.failure == "refused")),
        failures=counts_by_name(detection.failure for detection in asked_detections if detection.failure),  # pyright: ignore[reportArgumentType]
        cost=rounded(sum(known) / len(known)) if known and len(known) == len(costs) else None,
        unasked=len(found) - len(asked_detections),
        priced=len(known),
    )


def _binary(key: Key, found: Sequence[Detection]) -> Iterator[BinaryRates]:
    """Yield sensitivity and specificity with their counts; nothing if one of them has no decision."""
    errors = [one for one in found if one.case == "error" and one.undetected is not None]
    right = [one for one in found if one.case == "neutral" and one.equal is not None]
    kinds = dict.fromkeys((one.group, one.dimension) for one in errors)
    if errors and right:
        yield BinaryRates(
            task=key[0],
            evaluator=key[1],
            sensitivity=_count(errors, detected),
            by_dimension=tuple(
                _count([one for one in errors if one.dimension == name], detected, name, group)
                for group, name in sorted(kinds)
            ),
            specificity=_count(right, lambda one: one.equal),
        )


def _count(
    found: Sequence[Detection], what: Callable[[Detection], float | None], dimension: str = "", group: str = ""
) -> BinaryCount:
    hits = sum(what(one) == 1 for one in found)
    images = len({one.cluster for one in found})
    share = measured(found, what).model_dump()
    return BinaryCount(**share, dimension=dimension, group=group, k=hits, n=len(found), images=images)


def _counts(key: Key, found: Sequence[Detection], what: Callable[[Detection], float | None]) -> dict[str, Any]:
    scored = [one for one in found if what(one) is not None]
    images = len({one.cluster for one in scored})
    return {"task": key[0], "evaluator": key[1], "n": len(found), "n_scored": len(scored), "images": images}


def _place(one: Detection) -> tuple[str, ...]:
    return one.case, one.group, one.dimension, one.cluster, one.item
