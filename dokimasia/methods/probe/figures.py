"""The figures of a probe: the models, their computation from judgements, items, and columns of an export."""

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from statistics import fmean
from typing import Annotated, TypeVar, cast

import numpy as np
from pydantic import Field, JsonValue, field_serializer

from dokimasia.algorithms.blindspots import FailureRate, ItemShare, failure_rates, item_share
from dokimasia.algorithms.pairwise import (
    position_bias,
    position_bias_interval,
    position_consistency,
    position_consistency_interval,
)
from dokimasia.algorithms.statistics.clusters import Floats
from dokimasia.algorithms.statistics.paired import PERMUTATIONS, sign_flip_test
from dokimasia.algorithms.statistics.within_clusters import exchange_p_values
from dokimasia.domain.blindspots import (
    AxisChoices,
    AxisScores,
    Detection,
    Evaluator,
    Paradigm,
    Task,
    paradigm_of,
)
from dokimasia.domain.call import model_name
from dokimasia.domain.differences import DIRECTION
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import CheckpointScores, FailureKind, FinalAnswer
from dokimasia.domain.look import Look
from dokimasia.domain.rubric import RubricJudgement
from dokimasia.methods.probe.detections import detections, judgements_of, notices_of
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.methods.probe.units import (
    ProbeUnit,
    all_units,
    count_items,
    planted,
    probes_by_sample,
    stored_probes,
    unjudged_probes,
)
from dokimasia.people.passports import changed_by_length, length_bias
from dokimasia.report.blocks import Cell, Span, Tone
from dokimasia.report.fields import (
    Bounds,
    Count,
    Coverage,
    Direction,
    Display,
    Failures,
    Fraction,
    Interval,
    LeftOpen,
    Limited,
    Rate,
    Used,
    as_json,
)
from dokimasia.report.figures import NOTHING, bracketed, percent_bracketed
from dokimasia.report.figures import p_value as write_p_value
from dokimasia.runs.figure_models import DataFigures
from dokimasia.runs.figures import calls_and_costs, grouped, heading, ordered_rows
from dokimasia.runs.measures import (
    failure_fields,
    interval_of,
    limits,
    mean,
    mean_with_interval,
    rounded,
    with_adjusted,
)
from dokimasia.runs.reading.exporting import ColumnType
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, run_samples

CHOSEN = 2
"""A pair's verdict on the scale of duels, so that a position that always wins has a bias of 100."""

WITHOUT, WITH = "without", "with"
ORIGINAL, NEW = "original", "new"

LOWER, HIGHER = "lower is better", "higher is better"
BY_ANY = f"no relevant axis detects the error: single, all are unchanged; pairs, none prefers the gold answer; {LOWER}"
BY_MAJORITY = f"no majority of the relevant axes detects the error, a tie counting against it; {LOWER}"
BY_OVERALL = f"undetected by the axis overall alone, where several axes are asked for; {LOWER}"

COLUMNS: dict[str, ColumnType] = {
    "judge": "text",
    "task": "text",
    "evaluator": "text",
    "new_reference": "truth",
    "dimension": "text",
    "group": "text",
    "case": "text",
    "item": "text",
    "checked": "truth",
    "undetected": "number",
    "strict": "number",
    "majority": "number",
    "overall": "number",
    "equal": "number",
    "worse": "number",
    "named": "number",
    "scores": "texts",
    "gold_scores": "texts",
    "justification": "texts",
    "words": "texts",
    "looks": "integer",
}
"""Columns of a judgement in an export; `scores` are `axis: points`, or for a pair `axis: choice` in each order. The gold
answer's own judgement has the case `gold`."""


def percent(measured: Rate | Interval | None, place: str = "", *, tone: Tone = "strong") -> Cell:
    """Return a share, or a mean of shares, with its interval, such as `40.0 [23, 59]`."""
    if measured is None:
        return NOTHING
    if isinstance(measured, Interval):
        name, value = "mean", measured.mean
    else:
        name, value = "share", measured.share
    if value is None:
        return NOTHING
    return (
        percent_span(value, place and f"{place}/{name}", tone),
        Span(percent_bracketed(measured).replace(" ", "\u00a0"), "muted"),
    )


def plain_percent(measured: Rate | Interval | None, place: str = "") -> Cell:
    """Return the cell of `percent` without emphasis."""
    return percent(measured, place, tone="")


def percent_span(value: float, place: str = "", tone: Tone = "") -> Span:
    """Return a share in percent with one decimal."""
    return Span(f"{100 * value:.1f}", tone, place, value)


def limits_span(measured: Limited, write: Callable[[float], str]) -> Span:
    """Return the limits of an interval in brackets, without line breaks, or the reason for their absence."""
    text = bracketed(measured, write)
    if getattr(measured, "no_interval", None):
        return Span(text, "muted")
    return Span(text.replace(" ", "\u00a0"), "muted")


class ProbeShare(Rate):
    """A share of items, over those with a judgement."""

    n: Count = Field(description="items")
    n_scored: Count = Field(description="items with a judgement")
    coverage: Coverage
    bounds: Bounds | None = Field(
        description="of the share over all n, if none or all of the failed ones counted; null without an item"
    )


class BlindSpot(Value):
    """Whether errors of a dimension are missed more often than the judge's other errors on the same images."""

    p_value: Fraction = Field(description="one-sided, by exchanges of outcomes within images")
    adjusted: Annotated[Fraction, Display("adjusted p", write=write_p_value)] = Field(
        description="over all dimensions and evaluators of the judge, Benjamini and Hochberg"
    )
    blind: bool = Field(
        description="whether the dimension is called a blind spot: the adjusted p-value is at most 0.05"
    )
    images: Count = Field(description="images that hold judged errors of this dimension and of another one: the test's")
    alone: Count = Field(
        description="images that hold judged errors of this dimension alone, which the test leaves out"
    )


class ProbedKind(Value):
    """A judge's detection of errors of some kind under one evaluator; lower is better except for `named`."""

    undetected: Annotated[ProbeShare, Display("undetected", write=percent)] = Field(
        description="errors that no relevant axis detects: single, the points on all of them are unchanged; of pairs, none of "
        "them prefers the gold answer, mean of both orders"
    )
    strict: Annotated[
        ProbeShare,
        Display("strict", "no relevant axis lower; of pairs, not detected in both orders", write=plain_percent),
    ] = Field(description="the strict form: no relevant axis is lower; of pairs, not detected in both orders")
    either: Annotated[
        ProbeShare | None, Display("in either", "undetected in at least one order", write=plain_percent)
    ] = Field(description="of pairs: undetected in at least one order; null for others")
    both: Annotated[ProbeShare | None, Display("in both", "undetected in both orders", write=plain_percent)] = Field(
        description="of pairs: undetected in both orders; null for others"
    )
    majority: Annotated[ProbeShare | None, Display("by majority", BY_MAJORITY, write=percent)] = Field(
        description="errors that no majority of the relevant axes detects; null for evaluators that ask for no axes beside "
        "overall"
    )
    overall: Annotated[ProbeShare | None, Display("by overall", BY_OVERALL, write=percent)] = Field(
        description="undetected by the axis overall alone; null for evaluators that ask for no axes beside it"
    )
    worse: Annotated[
        ProbeShare,
        Display("judged better", f"errors with which the answer was judged better; {LOWER}", write=plain_percent),
    ] = Field(description="errors with which the answer was judged better than the gold one")
    named: Annotated[
        ProbeShare,
        Display(
            "named although undetected",
            f"of the undetected errors whose justification was read; {HIGHER}",
            write=percent,
        ),
    ] = Field(description="undetected errors that the justification names, of those whose justification was read")
    unnoticed: Annotated[
        ProbeShare,
        Display(
            "unnoticed", f"neither scored nor named, of errors whose justification was read; {LOWER}", write=percent
        ),
    ] = Field(
        description="errors that neither the scores nor the justification show, of those whose justification was read"
    )
    spot: BlindSpot | None = Field(
        description="of a dimension; null where no image holds judged errors of it and of another one"
    )


class PairPlaces(Value):
    """The effect of the order of places on pairwise judgements, over pairs judged in both orders."""

    n: Annotated[Count, Display("pairs", "judged in both orders, errors and harmless changes")] = Field(
        description="pairs"
    )
    consistency: Annotated[
        Interval, Display("consistency", f"percent that both orders decide alike; {HIGHER}", write=percent)
    ] = Field(description="share that both orders decide alike, 0 to 1, higher is better")
    bias: Interval = Field(
        description="how much more often the first place is chosen than the second, -1 to 1; 0 is no bias"
    )
    p_value: Fraction = Field(description="of a bias as large by chance, sign flips of whole images")
    adjusted: Annotated[
        Fraction,
        Display("adjusted p", "sign flips of whole images; Benjamini and Hochberg over the table", write=write_p_value),
    ] = Field(description="over all judges and evaluators of the task, Benjamini and Hochberg")


class LengthEffect(Value):
    """The effect of padding on the judgement of an answer: sentences that say nothing, before right answers and errors."""

    n: Annotated[Count, Display("answers", "judged with padding and without")] = Field(description="padded answers")
    n_scored: Count = Field(description="of them, those judged with padding and without")
    coverage: Coverage
    changed: Annotated[
        ProbeShare, Display("changed", f"judged otherwise on the whole than without padding; {LOWER}", write=percent)
    ] = Field(description="judged otherwise on the whole than without padding; of pairs, in both orders alike")
    bias: Interval | None = Field(
        description="how much more often padding makes a judgement better than worse, -1 to 1; 0 is no bias; null without one"
    )


class GoldJudgements(Value):
    """The numbers of gold answers put to the judge, and of their own judgements."""

    n: Count = Field(description="gold answers that were put to the judge")
    n_scored: Count = Field(description="of them, those with a judgement")
    coverage: Coverage


class ProbedEvaluator(ProbedKind):
    """A judge under one evaluator: all errors together, by group and by dimension, and harmless changes."""

    equal: Annotated[
        ProbeShare, Display("score-invariant", f"harmless changes judged equal; {HIGHER}", write=percent)
    ] = Field(description="score-invariant: harmless changes judged equal; higher is better")
    preferred: Annotated[
        ProbeShare,
        Display("harmless preferred", "harmless changes judged better than the gold answer", write=plain_percent),
    ] = Field(description="harmless changes judged better than the gold answer")
    flickers: Annotated[
        ProbeShare,
        Display(
            "noise floor",
            f"unchanged answers not judged as before, or not as good as themselves; {LOWER}",
            write=plain_percent,
        ),
    ] = Field(
        description="unchanged answers not judged as before, of pairs one of two same answers preferred: the noise floor"
    )
    false_alarms: Annotated[
        ProbeShare,
        Display(
            "reader's false alarms",
            "justifications of gold answers and harmless changes said to name an error",
            write=percent,
        ),
    ] = Field(
        description="justifications of gold answers and harmless changes in which the reader finds an error; lower is better"
    )
    places: PairPlaces | None = Field(description="of pairs judged in both orders; null for others")
    length: LengthEffect | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="what padding does to judgements; absent where nothing was padded",
    )
    groups: dict[str, ProbedKind]
    dimensions: dict[str, ProbedKind]
    gold: GoldJudgements | None = Field(
        description="the gold answers' own judgements, with which the others are compared; null for pairs, which have none"
    )
    failures: Failures = Field(
        description="judgements asked for that failed, those of gold answers among them, by kind of failure"
    )
    left_open: LeftOpen = Field(default_factory=dict[FailureKind, int])
    unasked: Count = Field(
        description="items that were not judged since the gold answer's own judgement failed, or what both rest on"
    )


class ProbedJudge(Value):
    """A judge under one setting, by evaluator."""

    model: str = Field(description="its name without what it was asked with")
    budget: str = Field(description="reasoning effort; empty where it is the default")
    tools: bool = Field(description="whether it had tools to look closer with")
    evaluators: dict[Evaluator, ProbedEvaluator]


class ProbeComparison(Value):
    """How much more often errors go undetected with the second than with the first, over the same items."""

    of: str = Field(description="what is the same on both sides: an evaluator, a judge, or a judge and a paradigm")
    first: str
    second: str
    n: Annotated[Count, Display("items", "judged on both sides")] = Field(description="items that both judged")
    shares: tuple[Fraction, Fraction] | None = Field(
        description="undetected on the first side and on the second, over these items; null without an item"
    )
    difference: Interval | None = Field(description="second minus first, -1 to 1, paired by item; null without an item")
    p_value: Fraction | None = Field(
        description="two-sided, sign flips of whole images, or exchanges of evaluators within images where one side has "
        "more of them; null without an item"
    )
    adjusted: Annotated[
        Fraction | None,
        Display("adjusted p", "two-sided, by whole images; Benjamini and Hochberg over the table", write=write_p_value),
    ] = Field(description="over all comparisons of the list, Benjamini and Hochberg")


T = TypeVar("T", PairPlaces, ProbeComparison)


class ProbedArm(Value):
    """The results of one way of asking a judge."""

    undetected: Annotated[ProbeShare, Display("undetected", LOWER, write=percent)]
    equal: Annotated[ProbeShare, Display("score-invariant", HIGHER, write=percent)] = Field(
        description="score-invariant; higher is better"
    )


class ArmsBeside(Value):
    """A comparison of the ways of asking one judge, under one evaluator."""

    model: str
    evaluator: Evaluator
    arms: dict[str, ProbedArm]
    differences: tuple[ProbeComparison, ...] = Field(description="adjusted over all of the list that this stands in")
    dimensions: dict[str, ProbeComparison] = Field(
        description="by dimension, where there are two ways; adjusted over dimensions, judges and evaluators"
    )


class ProbeComparisons(Value):
    """Comparisons between rows of the tables."""

    judges: tuple[ProbeComparison, ...] = Field(description="under the same evaluator")
    paradigms: tuple[ProbeComparison, ...] = Field(
        description="of the same judge; an item's value is the mean over the paradigm's evaluators"
    )
    strategies: tuple[ProbeComparison, ...] = Field(description="of the same judge and paradigm")


class ProbedTask(Value):
    """The figures of one task."""

    dimensions: dict[str, str] = Field(description="the group of each dimension")
    shown: tuple[str, ...] = Field(
        description="the judges of the main table: of each model the way of asking without tools, at the highest effort named"
    )
    judges: dict[str, ProbedJudge]
    groups: dict[str, dict[Paradigm, Interval | None]] = Field(
        description="undetected by group and paradigm, mean over the shown judges and the paradigm's evaluators"
    )
    comparisons: ProbeComparisons
    budgets: tuple[ArmsBeside, ...] = Field(description="reasoning efforts beside each other")
    tools: tuple[ArmsBeside, ...] = Field(description="without tools and with them")
    references: tuple[ArmsBeside, ...] = Field(description="the original reference and a new one")


class ProbeItems(Value):
    """Counts of the items put to the judges."""

    errors: Count = Field(description="answers with an error")
    neutral: Count = Field(description="answers with a harmless change")
    checked: Count = Field(description="of both, those that a person decided on")
    padded: Count = Field(
        default=0,
        exclude_if=operator.not_,
        description="right answers and errors that were judged once more with padding; absent where none were",
    )
    unjudged: dict[Evaluator, Count] = Field(
        default_factory=dict[Evaluator, int],
        description="of both, those that an evaluator is not asked about, since they change nothing that it judges: for "
        "right-or-wrong, those that leave the final answer as it is; absent where every evaluator is asked about all",
    )


class ProbeFigures(Used, DataFigures):
    """The figures of a probe."""

    judge: str | None = Field(default=None, description="absent where there are several")
    samples: Count = Field(description="samples of the run")
    judges: tuple[str, ...] = Field(description="by name, each once however many ways it is asked in")
    evaluators: tuple[Evaluator, ...]
    budgets: tuple[str, ...] = Field(description="reasoning efforts that were named")
    tools: tuple[str, ...] = Field(description="tools that judges were offered beside being asked without")
    retests: Count = Field(description="further judgements of every gold answer")
    reader: str | None = Field(description="who read the justifications; null where nobody did")
    writer: str | None = Field(description="who made new references; null where nobody did")
    probes: ProbeItems
    failures: Failures = Field(
        description="judgements, readings and what they rest on that failed, and what was not asked because of it, by kind"
    )
    left_open: LeftOpen = Field(default_factory=dict[FailureKind, int])
    direction: Direction
    tasks: dict[Task, ProbedTask]


class JudgementFields(Value):
    """A judgement: its subject, its outcome and the judge's words; `scores` as in `COLUMNS`."""

    judge: str
    task: Task
    evaluator: Evaluator
    new_reference: bool
    dimension: str | None
    group: str | None
    case: str
    item: str | None
    checked: bool | None
    undetected: float | None
    strict: float | None
    majority: float | None
    overall: float | None
    equal: float | None
    worse: float | None
    named: float | None
    scores: tuple[str, ...] | None
    gold_scores: tuple[str, ...] | None
    justification: tuple[str, ...] | None
    words: tuple[str, ...] | None


class ProbeItem(JudgementFields):
    """A judgement with the judged texts, or the hashes of the judged images, as in `show --json` and on pages."""

    sample: str
    prompt: str
    images: tuple[str, ...]
    looks: tuple[Look, ...]
    description: str
    gold: str | None
    perturbed: str | None
    failure: FailureKind | None
    reason: str | None

    @field_serializer("looks")
    def _whole_looks(self, looks: tuple[Look, ...]) -> list[dict[str, JsonValue]]:
        return [look.model_dump(mode="json") for look in looks]

    @property
    def image_hashes(self) -> tuple[str, ...]:
        """The images of the sample, and the one that was edited."""
        if self.task == "text-to-image" and self.perturbed:
            return (*self.images, self.perturbed)
        return self.images


def figures_of_run(home: Home, run: Run) -> ProbeFigures:
    """Return the figures of a probe; the same stored rows give the same bytes."""
    plan = run.plan_as(ProbePlan)
    probes = stored_probes(home, plan)
    rows = results(home, run.id)
    units = all_units(plan, probes)
    # An earlier version also judged perturbations that an evaluator no longer judges.
    rows_of_items = [row for row in rows if row.kind != run.method or row.item in units]
    neutral = sum(probe.neutral for probe in probes)
    perturbations = len(planted(probes))
    return ProbeFigures(
        **heading(run, plan),
        samples=len(run_samples(home, run.id)),
        judges=tuple(dict.fromkeys(arm.judge for arm in plan.arms)),
        evaluators=plan.evaluators,
        budgets=plan.budgets,
        tools=plan.tools,
        retests=plan.retests,
        reader=model_name(plan.reader),
        writer=model_name(plan.writer),
        direction=DIRECTION,
        probes=ProbeItems(
            errors=perturbations - neutral,
            neutral=neutral,
            checked=sum(probe.checked for probe in probes),
            padded=len(probes) - perturbations,
            unjudged=unjudged_probes(plan.evaluators, probes),
        ),
        open_items=count_items(plan, probes_by_sample(probes)) - len(rows_of_items),
        tasks=tasks_of(detections(home, units, rows).values(), seed=run.seed),
        **failure_fields(row.failure for row in rows_of_items if row.failure is not None),
        **calls_and_costs(home, rows),
    )


def tasks_of(every: Iterable[Detection], *, seed: int) -> dict[Task, ProbedTask]:
    """Return the figures of each task.

    Args:
        every: the detection of each item, in the run's order.
        seed: seed of the bootstrap and of the tests.
    """
    by_task: dict[Task, list[Detection]] = grouped(every, lambda detection: detection.task)
    return {task: _task(judges, seed=seed) for task, judges in by_task.items()}


def _task(every: Sequence[Detection], *, seed: int) -> ProbedTask:
    by_default = [detection for detection in every if not detection.new_reference]
    judges = _judges(by_default, seed=seed)
    displayed = _displayed_judges(judges)
    errors = [detection for detection in every if detection.case == "error"]
    of_shown = [error for error in errors if error.judge in displayed and not error.new_reference]
    budgets, tools, references = ways_of_asking(every)
    return ProbedTask(
        dimensions={error.dimension: error.group for error in errors},
        shown=displayed,
        judges=judges,
        groups=_groups(of_shown, seed=seed),
        comparisons=comparisons(of_shown, seed=seed),
        budgets=_side_by_side(budgets, seed=seed),
        tools=_side_by_side(tools, seed=seed),
        references=_side_by_side(references, seed=seed),
    )


def _judges(every: Sequence[Detection], *, seed: int) -> dict[str, ProbedJudge]:
    by_judge: dict[str, dict[Evaluator, list[Detection]]] = {}
    for detection in every:
        by_judge.setdefault(detection.judge, {}).setdefault(detection.evaluator, []).append(detection)
    rows = grouped(failure_rates(every, seed=seed), lambda row: (row.judge, row.evaluator))
    places: dict[tuple[str, Evaluator], PairPlaces] = {}
    for key in rows:
        measured = pair_places(by_judge[key[0]][key[1]], seed=seed)
        if measured is not None:
            places[key] = measured
    places = dict(zip(places, adjust(places.values()), strict=True))
    judges: dict[str, ProbedJudge] = {}
    for name, by_evaluator in by_judge.items():
        evaluators: dict[Evaluator, ProbedEvaluator] = {}
        for judge, evaluator in rows:
            if judge == name:
                key = (judge, evaluator)
                length = length_effect(by_evaluator[evaluator], seed=seed)
                evaluators[evaluator] = _evaluator(rows[key], by_evaluator[evaluator], places.get(key), length)
        first = next(iter(by_evaluator.values()))[0]
        judges[name] = ProbedJudge(
            model=first.model or name, budget=first.budget, tools=first.tools, evaluators=evaluators
        )
    return judges


def _evaluator(
    rows: Sequence[FailureRate],
    every: Sequence[Detection],
    places: PairPlaces | None,
    length: LengthEffect | None,
) -> ProbedEvaluator:
    (overall,) = (row for row in rows if row.scope == "all")
    controls = overall.controls
    assert controls is not None  # The row of all errors has it.
    golds = [not detection.failure for detection in every if detection.case == "gold"]
    gold = None
    if golds:
        gold = GoldJudgements(n=len(golds), n_scored=sum(golds), coverage=mean(golds))
    asked_detections = [detection for detection in every if detection.asked]
    failures = cast("Iterable[FailureKind]", (detection.failure for detection in asked_detections if detection.failure))
    return ProbedEvaluator(
        **dict(_kind(overall)),
        equal=to_share(controls.equal),
        preferred=to_share(controls.preferred),
        flickers=to_share(controls.flickers),
        false_alarms=to_share(controls.false_alarms),
        places=places,
        length=length,
        groups={row.name: _kind(row) for row in rows if row.scope == "group"},
        dimensions={row.name: _kind(row) for row in rows if row.scope == "dimension"},
        gold=gold,
        **failure_fields(failures),
        unasked=len(every) - len(asked_detections),
    )


def _kind(row: FailureRate) -> ProbedKind:
    spot = None
    if row.spot is not None:
        spot = BlindSpot(
            p_value=rounded(row.spot.p_value),
            adjusted=rounded(row.spot.adjusted),
            blind=row.spot.blind,
            images=row.spot.images,
            alone=row.spot.alone,
        )
    return ProbedKind(
        undetected=to_share(row.undetected),
        strict=to_share(row.strict),
        either=row.either and to_share(row.either),
        both=row.both and to_share(row.both),
        majority=row.majority and to_share(row.majority),
        overall=row.overall and to_share(row.overall),
        worse=to_share(row.worse),
        named=to_share(row.named),
        unnoticed=to_share(row.unnoticed),
        spot=spot,
    )


def to_share(share: ItemShare) -> ProbeShare:
    """Return a share as a figure."""
    bounds = None
    if share.bounds is not None:
        bounds = Bounds(low=rounded(share.bounds[0]), high=rounded(share.bounds[1]))
    return ProbeShare(
        share=rounded(share.share),
        **limits(share.interval),
        n=share.n,
        n_scored=share.n_scored,
        coverage=rounded(share.coverage),
        bounds=bounds,
    )


def pair_places(every: Sequence[Detection], *, seed: int) -> PairPlaces | None:
    """Return the effect of the order on a judge's pairs, with an unadjusted p-value; None without pairs."""
    first: list[int] = []
    second: list[int] = []
    clusters: list[str] = []
    for detection in every:
        if detection.orders is not None:
            first.append(CHOSEN * detection.orders[0])
            second.append(CHOSEN * detection.orders[1])
            clusters.append(detection.cluster)
    if not clusters:
        return None
    consistency = position_consistency_interval(first, second, clusters=clusters)
    bias = position_bias_interval(first, second, clusters=clusters, seed=seed)
    test = sign_flip_test([a - b for a, b in zip(first, second, strict=True)], clusters=clusters, seed=seed)
    p = rounded(test.p_value)
    return PairPlaces(
        n=len(clusters),
        consistency=interval_of(position_consistency(first, second), consistency),
        bias=interval_of(position_bias(first, second) / 100, bias, unit=0.01),
        p_value=p,
        adjusted=p,
    )


def length_effect(every: Sequence[Detection], *, seed: int) -> LengthEffect | None:
    """Return the effect of padding on a judge's judgements; None if nothing was padded."""
    padded = [detection for detection in every if detection.case == "padded"]
    if not padded:
        return None
    change_share = to_share(item_share([(changed_by_length(detection), detection.cluster) for detection in padded]))
    return LengthEffect(
        n=change_share.n,
        n_scored=change_share.n_scored,
        coverage=change_share.coverage,
        changed=change_share,
        bias=length_bias(padded, seed=seed),
    )


def _displayed_judges(judges: Mapping[str, ProbedJudge]) -> tuple[str, ...]:
    """Return, for each model, the arm in the main table: without tools, with the last budget."""
    displayed: dict[str, str] = {}
    for name, judge in judges.items():
        other = displayed.get(judge.model)
        if other is None or not judge.tools or judges[other].tools:
            displayed[judge.model] = name
    return tuple(displayed.values())


def _groups(errors: Sequence[Detection], *, seed: int) -> dict[str, dict[Paradigm, Interval | None]]:
    """Return the mean by group and paradigm, first over an item's judges and evaluators, then over items."""
    cells: dict[tuple[str, Paradigm], dict[tuple[str, str], list[float]]] = {}
    for error in errors:
        items = cells.setdefault((error.group, paradigm_of(error.evaluator)), {})
        if error.undetected is not None:
            items.setdefault((error.item, error.cluster), []).append(error.undetected)
    groups: dict[str, dict[Paradigm, Interval | None]] = {}
    for (group, paradigm), items in cells.items():
        means = [fmean(values) for values in items.values()]
        clusters = [cluster for _, cluster in items]
        groups.setdefault(group, {})[paradigm] = mean_with_interval(means, clusters, seed=seed, bounds=(0.0, 1.0))
    return groups


Side = tuple[str, Sequence[Detection]]
"""One side of a comparison: its name, and the detections of errors."""


def compare(of: str, first: Side, second: Side, *, seed: int) -> ProbeComparison:
    """Return how much more often errors go undetected on the second side, with an unadjusted p-value.

    An item's value on a side is the mean over the side's evaluators; the item counts if every evaluator of both sides
    has a value for it. If the sides have different numbers of evaluators, the test exchanges evaluators within images
    instead of flipping signs, since a mean of three minus a single value is not symmetric even without any difference.
    """
    values, other_values = _values(first[1]), _values(second[1])
    items = [item for item in values if item in other_values]
    if not items:
        return ProbeComparison(
            of=of, first=first[0], second=second[0], n=0, shares=None, difference=None, p_value=None, adjusted=None
        )
    clusters = [cluster for _, cluster in items]
    means = [fmean(values[item]) for item in items]
    other_means = [fmean(other_values[item]) for item in items]
    differences = [second_mean - first_mean for first_mean, second_mean in zip(means, other_means, strict=True)]
    evaluators, other_evaluators = len(values[items[0]]), len(other_values[items[0]])
    if evaluators == other_evaluators:
        p = sign_flip_test(differences, clusters=clusters, seed=seed).p_value
    else:
        columns = np.array([[*other_values[item], *values[item]] for item in items])
        p = _exchange_test(columns, other_evaluators, clusters, seed=seed)
    return ProbeComparison(
        of=of,
        first=first[0],
        second=second[0],
        n=len(items),
        shares=(rounded(fmean(means)), rounded(fmean(other_means))),
        difference=mean_with_interval(differences, clusters, seed=seed, bounds=(-1.0, 1.0)),
        p_value=rounded(p),
        adjusted=None,
    )


def _values(errors: Sequence[Detection]) -> dict[tuple[str, str], list[float]]:
    """Return each item's values from all evaluators of a side, by item and cluster; incomplete items are left out."""
    evaluators: dict[Evaluator, None] = dict.fromkeys(error.evaluator for error in errors)
    by_item: dict[tuple[str, str], dict[Evaluator, float]] = {}
    for error in errors:
        if error.undetected is not None:
            by_item.setdefault((error.item, error.cluster), {})[error.evaluator] = error.undetected
    values: dict[tuple[str, str], list[float]] = {}
    for item, by_evaluator in by_item.items():
        if len(by_evaluator) == len(evaluators):
            values[item] = [by_evaluator[evaluator] for evaluator in evaluators]
    return values


def _exchange_test(values: Floats, count: int, clusters: Sequence[str], *, seed: int) -> float:
    """Return the p-value of the difference between the means of the first `count` columns and of the others.

    The test compares the observed choice, the first `count` columns, with every other choice of as many columns.
    """
    gaps: list[Floats] = []
    for choice in combinations(range(values.shape[1]), count):
        columns = list(choice)
        gaps.append(values[:, columns].mean(axis=1) - np.delete(values, columns, axis=1).mean(axis=1))
    return exchange_p_values(np.stack(gaps, axis=1), clusters, seed=seed, draws=PERMUTATIONS)[0]


def comparisons(errors: Sequence[Detection], *, seed: int) -> ProbeComparisons:
    """Return the comparisons between rows of the tables, with p-values adjusted within each list."""
    by_judge: dict[str, dict[Evaluator, list[Detection]]] = {}
    for error in errors:
        by_judge.setdefault(error.judge, {}).setdefault(error.evaluator, []).append(error)
    judges: list[ProbeComparison] = []
    evaluators: dict[Evaluator, None] = dict.fromkeys(error.evaluator for error in errors)
    for evaluator in evaluators:
        sides = [
            (name, by_evaluator[evaluator]) for name, by_evaluator in by_judge.items() if evaluator in by_evaluator
        ]
        judges += [compare(evaluator, first, second, seed=seed) for first, second in combinations(sides, 2)]
    paradigms: list[ProbeComparison] = []
    strategies: list[ProbeComparison] = []
    for judge, by_evaluator in by_judge.items():
        by_paradigm: dict[Paradigm, list[Side]] = {}
        for evaluator, judge_errors in by_evaluator.items():
            by_paradigm.setdefault(paradigm_of(evaluator), []).append((evaluator, judge_errors))
        merged: list[Side] = []
        for paradigm, sides in by_paradigm.items():
            merged.append((paradigm, [error for _, side_errors in sides for error in side_errors]))
            for first, second in combinations(sides, 2):
                strategies.append(compare(f"{judge}, {paradigm}", first, second, seed=seed))
        paradigms += [compare(judge, first, second, seed=seed) for first, second in combinations(merged, 2)]
    return ProbeComparisons(
        judges=tuple(adjust(judges)), paradigms=tuple(adjust(paradigms)), strategies=tuple(adjust(strategies))
    )


def adjust(family: Collection[T]) -> list[T]:
    """Return comparisons, or effects of positions, with p-values adjusted over all of them; None without a test."""
    return with_adjusted(family, [tested.p_value for tested in family])


WaysOfAsking = dict[tuple[str, Evaluator], dict[str, list[Detection]]]
"""Detections by model and evaluator, and by variant (budget, tools or reference)."""


def ways_of_asking(every: Iterable[Detection]) -> tuple[WaysOfAsking, WaysOfAsking, WaysOfAsking]:
    """Return the comparisons of budgets, of tools, and of original and new references.

    Only models and evaluators with more than one variant are returned. When one setting is compared, the others have
    their defaults, except that tools and references are compared under each budget used with them.
    """
    budgets: WaysOfAsking = {}
    tools: WaysOfAsking = {}
    references: WaysOfAsking = {}

    def add(ways: WaysOfAsking, model: str, way: str, detection: Detection) -> None:
        ways.setdefault((model, detection.evaluator), {}).setdefault(way, []).append(detection)

    for detection in every:
        model = detection.model or detection.judge
        with_budget = f"{model}@{detection.budget}" if detection.budget else model
        if not detection.new_reference:
            if not detection.tools:
                add(budgets, model, detection.budget, detection)
            add(tools, with_budget, WITH if detection.tools else WITHOUT, detection)
        if detection.evaluator == "reference":
            with_tools = f"{with_budget}+tools" if detection.tools else with_budget
            add(references, with_tools, NEW if detection.new_reference else ORIGINAL, detection)
    return _with_variants(budgets), _with_variants(tools, (WITHOUT, WITH)), _with_variants(references, (ORIGINAL, NEW))


def _with_variants(ways: WaysOfAsking, order: Sequence[str] = ()) -> WaysOfAsking:
    """Return the entries with more than one variant; variants are in the given order, or in order of appearance."""
    entries: WaysOfAsking = {}
    for key, variants in ways.items():
        if len(variants) > 1:
            entries[key] = {way: variants[way] for way in order or variants}
    return entries


def _side_by_side(ways: WaysOfAsking, *, seed: int) -> tuple[ArmsBeside, ...]:
    """Return the variants of each judge side by side, with jointly adjusted comparisons."""
    entries: list[ArmsBeside] = []
    for (model, evaluator), variants in ways.items():
        sides: list[Side] = []
        arms: dict[str, ProbedArm] = {}
        for way, some in variants.items():
            errors = [detection for detection in some if detection.case == "error"]
            neutral = [(detection.equal, detection.cluster) for detection in some if detection.case == "neutral"]
            sides.append((way, errors))
            arms[way] = ProbedArm(
                undetected=to_share(item_share([(error.undetected, error.cluster) for error in errors])),
                equal=to_share(item_share(neutral)),
            )
        dimensions: dict[str, ProbeComparison] = {}
        if len(sides) == 2:
            for dimension in dict.fromkeys(error.dimension for _, errors in sides for error in errors):
                first, second = (
                    (way, [error for error in errors if error.dimension == dimension]) for way, errors in sides
                )
                dimensions[dimension] = compare("", first, second, seed=seed)
        pairs = [compare("", first, second, seed=seed) for first, second in combinations(sides, 2)]
        entries.append(
            ArmsBeside(model=model, evaluator=evaluator, arms=arms, differences=tuple(pairs), dimensions=dimensions)
        )
    differences = iter(adjust([comparison for entry in entries for comparison in entry.differences]))
    of_dimensions = iter(adjust([comparison for entry in entries for comparison in entry.dimensions.values()]))
    adjusted_entries: list[ArmsBeside] = []
    for entry in entries:
        own_differences = tuple(islice(differences, len(entry.differences)))
        dimensions = dict(zip(entry.dimensions, of_dimensions, strict=False))
        adjusted_entries.append(entry.model_copy(update={"differences": own_differences, "dimensions": dimensions}))
    return tuple(adjusted_entries)


def probe_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, object]]:
    """Yield each finished judgement with the judged texts and its outcome; with `sample`, only those of the sample."""
    plan = run.plan_as(ProbePlan)
    probes = [probe for probe in stored_probes(home, plan) if sample is None or probe.item.sample_id == sample]
    units = all_units(plan, probes)
    rows = ordered_rows(home, run, sample)
    judgement_rows = [row for row in rows if row.item in units]
    excerpts = samples_of(home, run.id, list(probes_by_sample(probes)))
    for row, fields in zip(judgement_rows, judgement_fields(home, units, rows), strict=True):
        unit = units[row.item]
        answers = unit.perturbed
        gold = answers.gold or (answers.gold_image and answers.gold_image.sha256)
        perturbed = answers.perturbed or (answers.perturbed_image and answers.perturbed_image.sha256)
        item = ProbeItem(
            **dict(fields),
            sample=row.sample_id,
            prompt=excerpts[row.sample_id].prompt,
            images=tuple(image.sha256 for image in excerpts[row.sample_id].images),
            looks=tuple(_looks(home, unit, row)),
            description="" if unit.probe is None else answers.description,
            gold=gold,
            perturbed=None if unit.probe is None else perturbed,
            failure=row.failure,
            reason=row.reason,
        )
        yield as_json(item)


def _looks(home: Home, unit: ProbeUnit, row: ResultRow) -> list[Look]:
    """Return the judge's uses of tools for a judgement, in order."""
    ids = row.value_ids[unit.judgements :]
    looks = find_values(home, Look, ids)
    return [looks[id] for id in ids]


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, object]]:
    """Return the values of the export's columns for each judgement."""
    plan = run.plan_as(ProbePlan)
    units = all_units(plan, stored_probes(home, plan))
    rows_of_run = results(home, run.id)
    judgement_rows = [row for row in rows_of_run if row.item in units]
    exported: list[dict[str, object]] = []
    for row, fields in zip(judgement_rows, judgement_fields(home, units, rows_of_run), strict=True):
        looks = len(row.value_ids[units[row.item].judgements :]) if row.failure is None else 0
        exported.append({**as_json(fields), "looks": looks})
    return exported


def judgement_fields(
    home: Home, units: Mapping[str, ProbeUnit], rows: Sequence[ResultRow]
) -> Iterator[JudgementFields]:
    """Yield the fields of each row that is a judgement; None for other rows, such as readings."""
    by_item = {row.item: row for row in rows}
    judgements = judgements_of(home, units, by_item)
    notices = notices_of(home, by_item)
    by_name = detections(home, units, rows)
    for row in rows:
        if row.item not in units:
            continue
        unit, detection = units[row.item], by_name[row.item]
        probe = unit.probe
        unit_judgements = judgements.get(row.item, ())
        gold = judgements.get(unit.first, ()) if unit.compared else ()
        words = None
        if unit.reading in notices:
            words = tuple(notice.words for notice in notices[unit.reading] if notice.named)
        yield JudgementFields(
            judge=unit.arm.name,
            task=unit.gold.item.task,
            evaluator=unit.evaluator,
            new_reference=unit.new_reference,
            dimension=None if probe is None else probe.item.dimension,
            group=detection.group or None,
            case=unit.case,
            item=None if probe is None else probe.id,
            checked=None if probe is None else probe.checked,
            undetected=detection.undetected,
            strict=detection.strict,
            majority=detection.majority,
            overall=detection.overall,
            equal=detection.equal,
            worse=detection.worse,
            named=detection.named,
            scores=_scores(unit_judgements),
            gold_scores=_scores(gold),
            justification=_justifications(unit_judgements),
            words=words,
        )


def _justifications(judgements: Sequence[Value]) -> tuple[str, ...] | None:
    texts: list[str] = []
    for judgement in judgements:
        if isinstance(judgement, AxisScores | AxisChoices) and judgement.justification:
            texts.append(judgement.justification)
    return tuple(texts) or None


def _scores(judgements: Sequence[Value]) -> tuple[str, ...] | None:
    """Return a judge's scores of an answer, one text per axis, criterion or rubric; None without scores."""
    texts: list[str] = []
    for judgement in judgements:
        match judgement:
            case AxisScores():
                texts += [f"{axis}: {points:g}" for axis, points in judgement.scores.items()]
            case AxisChoices():
                texts += [f"{axis}: {choice}" for axis, choice in judgement.choices.items()]
            case CheckpointScores():
                texts += [f"{number}: {score}" for number, score in enumerate(judgement.scores, 1)]
                texts.append(f"overall: {judgement.score:.4g}")
            case RubricJudgement():
                verdicts = (*judgement.group_a, *judgement.group_b)
                texts += [f"{number}: {int(hold)}" for number, hold in enumerate(verdicts, 1)]
                texts.append(f"overall: {judgement.score:.4g}")
            case FinalAnswer():
                texts.append(f"verdict: {judgement.verdict}")
            case _:
                pass
    return tuple(texts) or None
