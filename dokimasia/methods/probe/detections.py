"""Detections: whether a judge noticed an item's error, from its judgements of the item and of the gold answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dokimasia.algorithms.blindspots import (
    AxisRule,
    equal_pair,
    equal_single,
    full_score,
    pair_verdict,
    undetected_gated,
    undetected_pair,
    undetected_score,
    undetected_single,
    worse_pair,
    worse_single,
)
from dokimasia.domain.blindspots import (
    OVERALL,
    AxisChoices,
    AxisScores,
    Case,
    Detection,
    Noticed,
    by_axes,
    paradigm_of,
)
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import OPEN_KINDS, CheckpointScores, FinalAnswer
from dokimasia.domain.rubric import RubricJudgement
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.methods.probe.units import ProbeUnit, all_units, dimension_of, stored_probes
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run

JUDGEMENTS: dict[str, type[Value]] = {
    "single": AxisScores,
    "pairwise": AxisChoices,
    "reference": AxisScores,
    "checkpoints": CheckpointScores,
    "gated": RubricJudgement,
    "right-or-wrong": FinalAnswer,
}
"""The stored type of judgements, by paradigm."""


class JudgedDetection(NamedTuple):
    """The part of a `Detection` that comes from judgements."""

    undetected: float | None = None
    strict: float | None = None
    equal: float | None = None
    worse: float | None = None
    orders: tuple[int, int] | None = None
    majority: float | None = None
    overall: float | None = None

    @property
    def right(self) -> float | None:
        """The judge's success on the item, 0 to 1: it noticed the error, or kept its judgement of a harmless change."""
        if self.undetected is None:
            return self.equal
        return 1 - self.undetected


def detect(unit: ProbeUnit, gold: Value | None, judgements: Sequence[Value]) -> JudgedDetection:
    """Return whether the judge noticed the error in an item.

    Args:
        unit: the judged unit.
        gold: the judgement to compare with: the first one of the unchanged answer or, for a padded error, that of the
            error; None for pairs.
        judgements: the judgement of the item; for a pair those in both orders, first with the gold answer first.
    """
    case = unit.case
    perturbed = judgements[0]
    match perturbed, gold:
        case AxisChoices(), None:
            return _of_pair(unit, [judgement.choices for judgement in judgements if isinstance(judgement, AxisChoices)])
        case AxisScores(), AxisScores():
            return _of_axes(unit, gold.scores, perturbed.scores)
        case CheckpointScores(), CheckpointScores():
            return _of_score(case, gold.score, perturbed.score, missed=undetected_score(gold.score, perturbed.score))
        case RubricJudgement(), RubricJudgement():
            before, after = (*gold.group_a, *gold.group_b), (*perturbed.group_a, *perturbed.group_b)
            detection = _of_score(case, gold.score, perturbed.score, missed=undetected_gated(before, after))
            if case in ("error", "padded"):
                return detection
            return detection._replace(equal=float(before == after))
        case FinalAnswer(), FinalAnswer():
            right_before, right_after = gold.verdict == "right", perturbed.verdict == "right"
            detection = _of_score(case, float(right_before), float(right_after), missed=right_after)
            if case == "error":
                return detection._replace(strict=detection.undetected)
            if case == "padded":
                return detection
            return detection._replace(equal=float(right_after))
        case _:
            raise TypeError(f"{unit.name}: {type(perturbed).__name__} cannot be held against {type(gold).__name__}")


def detections_of(home: Home, run: Run) -> list[Detection]:
    """Return the detection of every finished item and of every gold answer's own judgement, in the run's order."""
    plan = run.plan_as(ProbePlan)
    units = all_units(plan, stored_probes(home, plan))
    return list(detections(home, units, results(home, run.id)).values())


def detections(home: Home, units: Mapping[str, ProbeUnit], rows: Iterable[ResultRow]) -> dict[str, Detection]:
    """Return the detections of the judgements among a probe's rows, by item."""
    by_item = {row.item: row for row in rows}
    judgements = judgements_of(home, units, by_item)
    shares_named: dict[str, float] = {}
    for name, notices in notices_of(home, by_item).items():
        shares_named[name] = sum(notice.named for notice in notices) / len(notices)
    by_name: dict[str, Detection] = {}
    for name, unit in units.items():
        row = by_item.get(name)
        if row is None:
            continue
        detection = JudgedDetection()
        if unit.compared and name in judgements:
            gold = judgements[unit.first][0] if unit.first in judgements else None
            detection = detect(unit, gold, judgements[name])
        bases = (by_item.get(base) for base in unit.bases)
        was_asked = not any(base is not None and base.failure and base.failure not in OPEN_KINDS for base in bases)
        share_named = shares_named.get(unit.reading)
        by_name[name] = _detection(unit, detection, row.failure or "", asked=was_asked, share_named=share_named)
    return by_name


def judgements_of(
    home: Home, units: Mapping[str, ProbeUnit], rows: Mapping[str, ResultRow]
) -> dict[str, tuple[Value, ...]]:
    """Return the judgements of each item, by name; a failed item has none."""
    ids: dict[str, tuple[str, ...]] = {}
    ids_by_type: dict[type[Value], set[str]] = {}
    for name, unit in units.items():
        row = rows.get(name)
        if row is not None and row.failure is None:
            ids[name] = row.value_ids[: unit.judgements]
            ids_by_type.setdefault(JUDGEMENTS[paradigm_of(unit.evaluator)], set()).update(ids[name])
    values: dict[str, Value] = {}
    for type_, type_ids in ids_by_type.items():
        values |= find_values(home, type_, type_ids)
    return {name: tuple(values[id] for id in value_ids) for name, value_ids in ids.items()}


def notices_of(home: Home, rows: Mapping[str, ResultRow]) -> dict[str, list[Noticed]]:
    """Return the reader's findings in an item's justifications, by the reading's name; for a pair in each order."""
    ids = {name: row.value_ids for name, row in rows.items() if row.kind == "reading" and row.failure is None}
    notices = find_values(home, Noticed, [id for value_ids in ids.values() for id in value_ids])
    return {name: [notices[id] for id in value_ids] for name, value_ids in ids.items()}


def _of_axes(unit: ProbeUnit, gold: Mapping[str, float], changed: Mapping[str, float]) -> JudgedDetection:
    by_reference = unit.evaluator == "reference"
    worse = float(worse_single(gold, changed))
    if unit.case == "padded":
        return JudgedDetection(equal=float(not worse and not worse_single(changed, gold)), worse=worse)
    if unit.case != "error":
        equal = full_score(changed, changed) if by_reference else equal_single(gold, changed)
        return JudgedDetection(equal=float(equal), worse=worse)
    axes = _relevant_axes(unit)
    strict = undetected_single(gold, changed, axes, strict=True)
    if by_reference:
        missed = full_score(changed, axes)
        strict = strict or missed
    else:
        missed = undetected_single(gold, changed, axes)
    detection = JudgedDetection(undetected=float(missed), strict=float(strict), worse=worse)
    if not by_axes(unit.evaluator):
        return detection
    majority = undetected_single(gold, changed, axes, rule="majority")
    return detection._replace(majority=float(majority), overall=float(undetected_single(gold, changed, [OVERALL])))


def _of_pair(unit: ProbeUnit, choices: Sequence[Mapping[str, str]]) -> JudgedDetection:
    if unit.case == "retest":
        return JudgedDetection(equal=equal_pair(choices))
    if unit.case == "padded":
        verdicts = _verdicts(choices, [OVERALL], "any")
        return JudgedDetection(equal=verdicts.count(0) / len(verdicts), worse=worse_pair(verdicts))
    axes = _relevant_axes(unit)
    verdicts = _verdicts(choices, axes, "majority")
    worse = worse_pair(verdicts)
    if unit.case == "neutral":
        return JudgedDetection(equal=equal_pair(choices), worse=worse, orders=verdicts)
    missed = undetected_pair(_verdicts(choices, axes, "any"))
    detection = JudgedDetection(undetected=missed, strict=float(missed > 0), worse=worse, orders=verdicts)
    if not by_axes(unit.evaluator):
        return detection
    by_overall = undetected_pair(_verdicts(choices, [OVERALL], "any"))
    return detection._replace(majority=undetected_pair(verdicts), overall=by_overall)


def _relevant_axes(unit: ProbeUnit) -> tuple[str, ...]:
    if unit.probe is None:
        return ()
    return dimension_of(unit.probe).axes


def _verdicts(choices: Sequence[Mapping[str, str]], axes: Sequence[str], rule: AxisRule) -> tuple[int, int]:
    """Return the verdicts for the gold answer in the first and in the second position."""
    first = pair_verdict(choices[0], axes, gold="first", rule=rule)
    return first, pair_verdict(choices[1], axes, gold="second", rule=rule)


def _of_score(case: Case, gold: float, changed: float, *, missed: bool) -> JudgedDetection:
    worse = float(changed > gold)
    if case != "error":
        return JudgedDetection(equal=float(changed == gold), worse=worse)
    return JudgedDetection(undetected=float(missed), strict=float(undetected_score(gold, changed)), worse=worse)


def _detection(
    unit: ProbeUnit, detection: JudgedDetection, failure: str, *, asked: bool, share_named: float | None
) -> Detection:
    dimension = group = ""
    if unit.probe is not None:
        dimension = unit.probe.item.dimension
        group = "" if unit.probe.neutral else dimension_of(unit.probe).group
    return Detection(
        judge=unit.arm.name,
        task=unit.gold.item.task,
        evaluator=unit.evaluator,
        case=unit.case,
        dimension=dimension,
        group=group,
        cluster=unit.gold.probes[0].cluster,
        item=unit.item,
        **detection._asdict(),
        named=share_named,
        failure=failure,
        asked=asked,
        model=unit.arm.judge,
        budget=unit.arm.budget,
        tools=unit.arm.tools,
        new_reference=unit.new_reference,
    )
