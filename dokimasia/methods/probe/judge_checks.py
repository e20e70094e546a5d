"""The check of a judge: its passport from probes, its disagreement with labels and with another judge, and its times."""

from collections.abc import Mapping, Sequence

from dokimasia.domain.blindspots import Detection, Evaluator, Probe, Task
from dokimasia.domain.passport import Passport
from dokimasia.methods.probe.passports import costs_and_calls, material_of, probes_that_asked
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.methods.probe.units import stored_probes, unjudged_probes
from dokimasia.people.passports import (
    EVALUATION_USES,
    Disagreement,
    JudgeCheck,
    alarmed,
    judge_check,
    marked,
    measured,
    passport_of,
    verdict_on,
)
from dokimasia.report.blocks import Span
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.runs import Run

Way = tuple[Task, Evaluator]
Detections = Mapping[tuple[Way, str], Detection]
"""A judge's results by task and evaluator, and by item."""


def check_of(
    home: Home, judge: str, runs: Sequence[str], *, reference: str = "", seed: int = 0
) -> tuple[JudgeCheck, Passport]:
    """Return the check of a judge by finished probes, and its passport.

    Args:
        home: the home, open for reading.
        judge: the judge's displayed name.
        runs: names of the probes; by default all finished ones that asked the judge.
        reference: another judge of the same probes, to compare it with; empty for none.
        seed: seed of the halves and intervals of the passport.

    Raises:
        NotFound: no finished probe asked the judge, or none of them the reference.
        ConfigError: a run is not a finished probe, or the judge differs between probes.
    """
    material = material_of(home, judge, runs, seed=seed)
    passport = passport_of(material)
    ids = list(dict.fromkeys(run for data in passport.data for run in data.runs))
    detections = _by_item(material.detections)
    compared: dict[Way, Disagreement] = {}
    if reference:
        other = _by_item(material_of(home, reference, runs or ids, seed=seed).detections)
        compared = _disagreements(detections, other)
    probes: dict[str, Probe] = {}
    evaluators: dict[Evaluator, None] = {}
    for _, plan, _ in probes_that_asked(home, judge, ids):
        probes |= {probe.id: probe for probe in stored_probes(home, plan)}
        evaluators |= dict.fromkeys(plan.evaluators)
    checked = {probe.id for probe in probes.values() if probe.checked}
    return (
        judge_check(
            passport,
            labelled=_from_labels(
                {key: detection for key, detection in detections.items() if detection.item in checked}
            ),
            reference=reference,
            compared=compared,
            seconds=_seconds(home, judge, ids),
            unjudged=unjudged_probes(evaluators, probes.values()),
            evaluate_by=EVALUATION_USES,
        ),
        passport,
    )


def suitability_of(home: Home, run: Run) -> list[tuple[str | Span, ...]]:
    """Return for each judge of a finished probe the sentences that say whether it is suitable, by this probe alone."""
    return [verdict_on(check_of(home, arm.name, [run.id])[0]) for arm in run.plan_as(ProbePlan).arms]


def _by_item(detections: Sequence[Detection]) -> Detections:
    return {
        ((detection.task, detection.evaluator), detection.item): detection
        for detection in detections
        if detection.case in ("error", "neutral")
    }


def _wrong(detection: Detection) -> float | None:
    """Return how wrong a judge is about an item: a missed error, or a false alarm; None without a judgement."""
    if detection.case == "error":
        return detection.undetected
    return alarmed(detection)


def _from_labels(detections: Detections) -> dict[Way, Disagreement]:
    by_way: dict[Way, list[Detection]] = {}
    for (way, _), detection in detections.items():
        by_way.setdefault(way, []).append(detection)
    return {
        way: Disagreement(
            measured(group, _wrong), len(group), sum(_wrong(detection) is not None for detection in group)
        )
        for way, group in by_way.items()
    }


def _disagreements(detections: Detections, other: Detections) -> dict[Way, Disagreement]:
    """Return how much two judges disagree on the items that both were asked about."""
    by_way: dict[Way, list[Detection]] = {}
    differences: dict[tuple[Way, str], float | None] = {}
    for key, detection in detections.items():
        if key not in other:
            continue
        ours, theirs = marked(detection), marked(other[key])
        differences[key] = None if ours is None or theirs is None else abs(ours - theirs)
        by_way.setdefault(key[0], []).append(detection)

    def difference(detection: Detection) -> float | None:
        return differences[(detection.task, detection.evaluator), detection.item]

    return {
        way: Disagreement(
            measured(group, difference), len(group), sum(difference(detection) is not None for detection in group)
        )
        for way, group in by_way.items()
    }


def _seconds(home: Home, judge: str, runs: Sequence[str]) -> dict[Way, list[float]]:
    """Return the seconds of each judgement whose calls all have a known time, by task and evaluator."""
    seconds: dict[Way, list[float]] = {}
    for run, plan, arm in probes_that_asked(home, judge, runs):
        judgements = costs_and_calls(home, run, arm, {probe.id: probe for probe in stored_probes(home, plan)})
        used = SqliteLedger(home).calls_for(
            call for pairs in judgements.values() for _, calls in pairs for call in calls
        )
        for way, pairs in judgements.items():
            for _, calls in pairs:
                times = [used[call].latency for call in calls if call in used]
                known = [time for time in times if time is not None]
                if len(known) == len(calls):
                    seconds.setdefault(way, []).append(sum(known))
    return seconds
