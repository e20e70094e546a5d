"""From judgements to detections: the one place where what a judge said of an item becomes whether it saw the error."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dokimasia.algorithms.blindspots import (
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
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer
from dokimasia.domain.rubric import RubricJudgement
from dokimasia.methods.probe.items import dimension_of, probes_kept
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.methods.probe.units import ProbeUnit, all_units, count_of
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
"""What a judgement is kept as, by paradigm."""


class JudgedDetection(NamedTuple):
    """What of a detection comes from judgements; see `Detection`."""

    undetected: float | None = None
    strict: float | None = None
    equal: float | None = None
    worse: float | None = None
    orders: tuple[int, int] | None = None
    overall: float | None = None

    @property
    def right(self) -> float | None:
        """How far the judge did right by the item, 0 to 1: it saw the error, or kept its judgement of what has none."""
        return self.equal if self.undetected is None else 1 - self.undetected


def detected(unit: ProbeUnit, gold: Value | None, judged: Sequence[Value]) -> JudgedDetection:
    """Return what came of one item.

    Args:
        unit: how it was put to the judge.
        gold: the first judgement of the unchanged answer; None for pairs.
        judged: the judgement of the item, or of a pair that in each order, the gold answer first in the first one.
    """
    case: Case = unit.case
    relevant = _relevant(unit)
    own = judged[0]
    match own, gold:
        case AxisChoices(), None:
            pair = [one for one in judged if isinstance(one, AxisChoices)]
            return _pair(case, pair, relevant, axes=by_axes(unit.evaluator))
        case AxisScores(), AxisScores():
            by_reference = unit.evaluator == "reference"
            return _scored(case, gold, own, relevant, by_reference=by_reference, axes=by_axes(unit.evaluator))
        case CheckpointScores(), CheckpointScores():
            return _by_score(case, gold.score, own.score, missed=undetected_score(gold.score, own.score))
        case RubricJudgement(), RubricJudgement():
            ours, theirs = (*gold.group_a, *gold.group_b), (*own.group_a, *own.group_b)
            found = _by_score(case, gold.score, own.score, missed=undetected_gated(ours, theirs))
            return found if found.equal is None else found._replace(equal=float(ours == theirs))
        case FinalAnswer(), FinalAnswer():
            right = (gold.verdict == "right", own.verdict == "right")
            found = _by_score(case, *map(float, right), missed=right[1])
            return found._replace(strict=found.undetected, equal=None if found.equal is None else float(right[1]))
        case _:
            raise TypeError(f"{unit.name}: {type(own).__name__} cannot be held against {type(gold).__name__}")


def detections_of(home: Home, run: Run) -> list[Detection]:
    """Return what came of every item of a probe that has a result, in the run's order."""
    plan = ProbePlan.model_validate(run.options["plan"])
    units = all_units(plan, probes_kept(home, plan))
    return list(detections(home, units, results(home, run.id)))


def detections(home: Home, units: Mapping[str, ProbeUnit], rows: Iterable[ResultRow]) -> Iterator[Detection]:
    """Yield what came of the items among rows of a probe; an item without a row has come to nothing yet."""
    known = {row.item: row for row in rows}
    judged = judgements(home, units, known)
    named = _named(home, known)
    for name, unit in units.items():
        row = known.get(name)
        if row is None or not unit.compared:
            continue
        own = judged.get(name)
        gold = judged.get(unit.first, (None,))[0] if unit.first else None
        failure = row.failure or ""
        found = JudgedDetection() if failure or own is None else detected(unit, gold, own)
        yield _detection(unit, found, failure, named.get(unit.reading))


def judgements(
    home: Home, units: Mapping[str, ProbeUnit], rows: Mapping[str, ResultRow]
) -> dict[str, tuple[Value, ...]]:
    """Return what was judged, by item; a failed item has none."""
    wanted: dict[type[Value], set[str]] = {}
    ids: dict[str, tuple[type[Value], tuple[str, ...]]] = {}
    for name, unit in units.items():
        row = rows.get(name)
        if row is not None and row.failure is None:
            type_ = JUDGEMENTS[paradigm_of(unit.evaluator)]
            ids[name] = (type_, row.value_ids[: count_of(unit)])
            wanted.setdefault(type_, set()).update(ids[name][1])
    values = {type_: find_values(home, type_, several) for type_, several in wanted.items()}
    return {name: tuple(values[type_][id] for id in own) for name, (type_, own) in ids.items()}


def _relevant(unit: ProbeUnit) -> tuple[str, ...]:
    return () if unit.probe is None else dimension_of(unit.probe).axes


def _scored(
    case: Case, gold: AxisScores, own: AxisScores, relevant: Sequence[str], *, by_reference: bool, axes: bool
) -> JudgedDetection:
    worse = float(worse_single(gold.scores, own.scores))
    if case != "error":
        equal = full_score(own.scores, own.scores) if by_reference else equal_single(gold.scores, own.scores)
        return JudgedDetection(equal=float(equal), worse=worse)
    strict = undetected_single(gold.scores, own.scores, relevant, strict=True)
    if by_reference:
        missed = full_score(own.scores, relevant)
        strict = strict or missed
    else:
        missed = undetected_single(gold.scores, own.scores, relevant)
    overall = float(undetected_single(gold.scores, own.scores, [OVERALL])) if axes else None
    return JudgedDetection(undetected=float(missed), strict=float(strict), worse=worse, overall=overall)


def _pair(case: Case, judged: Sequence[AxisChoices], relevant: Sequence[str], *, axes: bool) -> JudgedDetection:
    choices = [one.choices for one in judged]
    if case == "retest":
        return JudgedDetection(equal=equal_pair(choices))
    verdicts = _verdicts(choices, relevant)
    if case == "neutral":
        return JudgedDetection(equal=equal_pair(choices), worse=worse_pair(verdicts), orders=verdicts)
    missed = undetected_pair(verdicts)
    overall = undetected_pair(_verdicts(choices, [OVERALL])) if axes else None
    return JudgedDetection(
        undetected=missed, strict=float(missed > 0), worse=worse_pair(verdicts), orders=verdicts, overall=overall
    )


def _verdicts(choices: Sequence[Mapping[str, str]], axes: Sequence[str]) -> tuple[int, int]:
    """Return the verdicts for the gold answer, shown first and shown second."""
    return pair_verdict(choices[0], axes, gold="first"), pair_verdict(choices[1], axes, gold="second")


def _by_score(case: Case, gold: float, own: float, *, missed: bool) -> JudgedDetection:
    worse = float(own > gold)
    if case != "error":
        return JudgedDetection(equal=float(own == gold), worse=worse)
    return JudgedDetection(undetected=float(missed), strict=float(undetected_score(gold, own)), worse=worse)


def _named(home: Home, rows: Mapping[str, ResultRow]) -> dict[str, float]:
    """Return by reading how far the justifications of an item name an error: of two orders the share in which they do."""
    read = {name: row.value_ids for name, row in rows.items() if row.kind == "reading" and row.failure is None}
    found = find_values(home, Noticed, [id for ids in read.values() for id in ids])
    return {name: sum(found[id].named for id in ids) / len(ids) for name, ids in read.items()}


def _detection(unit: ProbeUnit, found: JudgedDetection, failure: str, named: float | None) -> Detection:
    probe = unit.probe
    dimension = "" if probe is None else probe.item.dimension
    group = "" if probe is None or probe.neutral else dimension_of(probe).group
    return Detection(
        judge=unit.arm.name,
        task=unit.gold.item.task,
        evaluator=unit.evaluator,
        case=unit.case,
        dimension=dimension,
        group=group,
        cluster=unit.gold.probes[0].cluster,
        item=unit.item,
        **found._asdict(),
        named=named,
        failure=failure,
        model=unit.arm.judge,
        budget=unit.arm.budget,
        tools=unit.arm.tools,
        new_reference=unit.new,
    )
