"""Computation of a passport from a judge's probes: rates by kind of error, positions, replies, and decisions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.algorithms.blindspots import FailureRate, failure_rates
from dokimasia.algorithms.pairwise import (
    position_bias,
    position_bias_interval,
    position_consistency,
    position_consistency_interval,
)
from dokimasia.domain.blindspots import EVALUATORS, Case, Detection, Evaluator, Task, paradigm_of
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
from dokimasia.people.passports.options import Way
from dokimasia.people.passports.shares import (
    alarmed,
    changed_by_length,
    detected,
    difference_interval,
    length_bias,
    limits_of,
    marked,
    measured,
    n_images,
    written,
)
from dokimasia.report.fields import Interval
from dokimasia.runs.figures import counts_by_name
from dokimasia.runs.measures import rounded

BINARY: tuple[Evaluator, ...] = ("gated", "right-or-wrong")
"""Evaluators that decide whether an answer is right."""

MOST = 2
"""The strongest verdict of `algorithms.pairwise`, which stands for a choice."""


class PassportMaterial(NamedTuple):
    """The material of a passport.

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
    costs: Mapping[Way, Sequence[float | None]] = {}
    own: Mapping[str, bool] = {}
    labels: Mapping[str, Mapping[str, float]] = {}
    dates: PassportDates | None = None
    seed: int = 0


class _Results(NamedTuple):
    """A judge's results on the items of one task under one evaluator."""

    task: Task
    evaluator: Evaluator
    detections: Sequence[Detection]

    def of(self, *cases: Case) -> list[Detection]:
        return [detection for detection in self.detections if detection.case in cases]

    def counts(self, detections: Sequence[Detection], value: Callable[[Detection], float | None]) -> dict[str, Any]:
        """Return the fields of `Judgements`; a detection counts as judged if it has a value."""
        scored = [detection for detection in detections if value(detection) is not None]
        return {
            "task": self.task,
            "evaluator": self.evaluator,
            "n": len(detections),
            "n_scored": len(scored),
            "images": n_images(scored),
        }


def passport_of(material: PassportMaterial) -> Passport:
    """Return the passport from all of a judge's probes, with its hash; equal material gives equal bytes."""
    detections = sorted(material.detections, key=_place)
    by_way: dict[Way, list[Detection]] = {}
    for detection in detections:
        by_way.setdefault((detection.task, detection.evaluator), []).append(detection)
    seed = material.seed
    ways = sorted(by_way, key=lambda way: (way[0], EVALUATORS.index(way[1])))
    by_way = {way: by_way[way] for way in ways}
    neutral: list[NeutralRates] = []
    retests: list[RetestRates] = []
    places: list[PlaceRates] = []
    lengths: list[LengthRates] = []
    own_answers: list[OwnAnswers] = []
    replies: list[ReplyRates] = []
    binary: list[BinaryRates] = []
    ceilings: list[LabelCeiling] = []
    for way in ways:
        results = _Results(*way, by_way[way])
        neutral += _neutral(results)
        retests += _retests(results)
        if paradigm_of(results.evaluator) == "pairwise":
            places.append(_places(results, seed))
        lengths += _lengths(results, seed)
        own_answers.append(_own(results, material.own))
        replies.append(_replies(results, material.costs.get(way, ())))
        if results.evaluator in BINARY:
            binary += _binary(results)
        ceilings += _ceiling(results, material.labels)
    split = task_halves(by_way, seed=seed)
    return Passport(
        judge=material.judge,
        prompts=dict(sorted(material.prompts.items())),
        data=tuple(material.data),
        seed=seed,
        dates=material.dates,
        errors=tuple(_errors([detection for way in ways for detection in by_way[way]], seed)),
        neutral=tuple(neutral),
        retests=tuple(retests),
        places=tuple(places),
        lengths=tuple(lengths),
        own_answers=tuple(own_answers),
        replies=tuple(replies),
        binary=tuple(binary),
        halves=tuple(rates_by_half(split)),
        recommended=tuple(recommendations(split)),
        human_ceiling=tuple(ceilings),
    ).sealed()


def _errors(detections: Sequence[Detection], seed: int) -> Iterator[ErrorRates]:
    """Yield the rates of all errors, of each group, and of each dimension, task by task and evaluator by evaluator."""
    groups = {detection.dimension: detection.group for detection in detections}
    scored = [detection for detection in detections if detection.undetected is not None]
    for row in failure_rates(detections, seed=seed):
        if not row.undetected.n:
            continue
        yield ErrorRates(
            task=row.task,
            evaluator=row.evaluator,
            n=row.undetected.n,
            n_scored=row.undetected.n_scored,
            images=n_images(detection for detection in scored if _is_of(row, detection)),
            level=row.scope,
            name=row.name,
            group=groups[row.name] if row.scope == "dimension" else row.name,
            detection=written(row.undetected, less=True),
            strict=written(row.strict, less=True),
            majority=row.majority and written(row.majority, less=True),
            overall=row.overall and written(row.overall, less=True),
            worse=written(row.worse),
            blind_spot=row.spot and row.spot.blind,
        )


def _is_of(row: FailureRate, detection: Detection) -> bool:
    """Return whether a detection belongs to a row of the table."""
    if (detection.task, detection.evaluator, detection.case) != (row.task, row.evaluator, "error"):
        return False
    names = {"all": row.name, "group": detection.group, "dimension": detection.dimension}
    return names[row.scope] == row.name


def _neutral(results: _Results) -> Iterator[NeutralRates]:
    if neutral := results.of("neutral"):
        yield NeutralRates(**results.counts(neutral, alarmed), false_alarms=measured(neutral, alarmed))


def _retests(results: _Results) -> Iterator[RetestRates]:
    if retests := results.of("retest"):
        yield RetestRates(**results.counts(retests, alarmed), changed=measured(retests, alarmed))


def _places(results: _Results, seed: int) -> PlaceRates:
    pairs = results.of("error", "neutral")  # two equal answers are shown in only one order
    first: list[int] = []
    second: list[int] = []
    clusters: list[str] = []
    for pair in pairs:
        if pair.orders is not None:
            first.append(MOST * pair.orders[0])
            second.append(MOST * pair.orders[1])
            clusters.append(pair.cluster)
    consistency, bias = MeasuredShare(), MeasuredDifference()
    if clusters:
        steady = position_consistency_interval(first, second, clusters=clusters)
        consistency = MeasuredShare(share=rounded(position_consistency(first, second)), **limits_of(steady))
        leaning = position_bias_interval(first, second, clusters=clusters, seed=seed)
        mean = rounded(position_bias(first, second) / 100)
        bias = MeasuredDifference(mean=mean, **limits_of(leaning, unit=0.01))
    counts = results.counts(pairs, lambda pair: None if pair.orders is None else 1.0)
    return PlaceRates(**counts, consistency=consistency, bias=bias)


def _lengths(results: _Results, seed: int) -> Iterator[LengthRates]:
    padded = results.of("padded")
    if not padded:
        return
    bias = length_bias(padded, seed=seed)
    yield LengthRates(
        **results.counts(padded, changed_by_length),
        changed=measured(padded, changed_by_length),
        bias=MeasuredDifference() if bias is None else _difference_of(bias),
    )


def _own(results: _Results, own: Mapping[str, bool]) -> OwnAnswers:
    errors = [error for error in results.of("error") if error.item in own]
    mine = [error for error in errors if own[error.item]]
    others = [error for error in errors if not own[error.item]]
    own_share, other_share = measured(mine, detected), measured(others, detected)
    reason, difference = "", MeasuredDifference()
    if not mine:
        reason = "no answer with an error is known to be written by the judge's own model"
    elif not others:
        reason = "every answer with an error was written by the judge's own model"
    elif own_share.share is None or other_share.share is None:
        reason = "not judged"
    elif (interval := difference_interval(own_share, other_share)) is not None:
        difference = MeasuredDifference(mean=rounded(own_share.share - other_share.share), **limits_of(interval))
    return OwnAnswers(
        **results.counts(mine, detected),
        others=sum(detected(error) is not None for error in others),
        difference=difference,
        reason=reason,
    )


def _ceiling(results: _Results, labels: Mapping[str, Mapping[str, float]]) -> Iterator[LabelCeiling]:
    """Yield the judge compared with people; nothing if no two people labelled the same judged item."""
    items = [item for item in results.of("error", "neutral") if len(labels.get(item.item, ())) > 1]
    people: dict[str, dict[str, float]] = {}
    scored: dict[str, float] = {}
    for item in items:
        for who, label in labels[item.item].items():
            people.setdefault(who, {})[item.item] = label
        if (value := marked(item)) is not None:
            scored[item.item] = value
    clusters = {item.item: item.cluster for item in items}
    failed = len(items) - len(scored)
    ceiling, test = beside_people(people, scored, clusters, alignment="same", failed=failed)
    if ceiling is None or test is None:
        return
    yield LabelCeiling(
        **results.counts(items, marked),
        people=len(people),
        comparisons=ceiling.n,
        among_people=_share_of(ceiling.people),
        judge=_share_of(ceiling.judge),
        difference=_difference_of(ceiling.difference),
        **test.model_dump(exclude={"level", "people"}),
    )


def _share_of(interval: Interval) -> MeasuredShare:
    return MeasuredShare(
        share=interval.mean, low=interval.low, high=interval.high, no_interval=interval.no_interval or ""
    )


def _difference_of(interval: Interval) -> MeasuredDifference:
    return MeasuredDifference(
        mean=interval.mean, low=interval.low, high=interval.high, no_interval=interval.no_interval or ""
    )


def _replies(results: _Results, costs: Sequence[float | None]) -> ReplyRates:
    known = [cost for cost in costs if cost is not None]
    asked_detections = [detection for detection in results.detections if detection.asked]
    return ReplyRates(
        task=results.task,
        evaluator=results.evaluator,
        n=len(asked_detections),
        unparsable=measured(asked_detections, lambda detection: float(detection.failure == "unparsable")),
        refused=measured(asked_detections, lambda detection: float(detection.failure == "refused")),
        failures=counts_by_name(detection.failure for detection in asked_detections if detection.failure),  # pyright: ignore[reportArgumentType]
        cost=rounded(sum(known) / len(known)) if known and len(known) == len(costs) else None,
        unasked=len(results.detections) - len(asked_detections),
        priced=len(known),
    )


def _binary(results: _Results) -> Iterator[BinaryRates]:
    """Yield sensitivity and specificity with their counts; nothing if either has no decision."""
    by_kind: dict[tuple[str, str], list[Detection]] = {}
    errors = [error for error in results.of("error") if error.undetected is not None]
    right = [neutral for neutral in results.of("neutral") if neutral.equal is not None]
    for error in errors:
        by_kind.setdefault((error.group, error.dimension), []).append(error)
    if errors and right:
        yield BinaryRates(
            task=results.task,
            evaluator=results.evaluator,
            sensitivity=_count(errors, detected),
            by_dimension=tuple(_count(by_kind[kind], detected, *kind) for kind in sorted(by_kind)),
            specificity=_count(right, lambda neutral: neutral.equal),
        )


def _count(
    detections: Sequence[Detection], hit: Callable[[Detection], float | None], group: str = "", dimension: str = ""
) -> BinaryCount:
    return BinaryCount(
        **dict(measured(detections, hit)),
        dimension=dimension,
        group=group,
        k=sum(hit(detection) == 1 for detection in detections),
        n=len(detections),
        images=n_images(detections),
    )


def _place(detection: Detection) -> tuple[str, ...]:
    return detection.case, detection.group, detection.dimension, detection.cluster, detection.item
