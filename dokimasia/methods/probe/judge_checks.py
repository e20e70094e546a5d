"""The check of a judge: its passport from probes, its disagreement with labels and with another judge, and its times."""

from collections.abc import Mapping, Sequence

from dokimasia.domain.blindspots import Detection, Evaluator, Task
from dokimasia.domain.passport import Passport
from dokimasia.methods.probe.passports import costs_and_calls, material_of, probes_that_asked
from dokimasia.methods.probe.units import stored_probes
from dokimasia.people.passports import Disagreement, JudgeCheck, alarmed, detected, judge_check, measured, passport_of
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger

Way = tuple[Task, Evaluator]
Said = Mapping[tuple[Way, str], Detection]
"""What came of a judge's items, by task and evaluator and by item."""


def check_of(
    home: Home, judge: str, runs: Sequence[str], *, reference: str = "", seed: int = 0
) -> tuple[JudgeCheck, Passport]:
    """Return whether a judge is good enough by finished probes, and its passport.

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
    said = _said(material.detections)
    compared: dict[Way, Disagreement] = {}
    if reference:
        other = _said(material_of(home, reference, runs or ids, seed=seed).detections)
        compared = _disagreements(said, other)
    checked: set[str] = set()
    for _, plan, _ in probes_that_asked(home, judge, ids):
        checked |= {probe.id for probe in stored_probes(home, plan) if probe.checked}
    return (
        judge_check(
            passport,
            labelled=_from_labels({key: one for key, one in said.items() if one.item in checked}),
            reference=reference,
            compared=compared,
            seconds=_seconds(home, judge, ids),
        ),
        passport,
    )


def _said(found: Sequence[Detection]) -> Said:
    return {((one.task, one.evaluator), one.item): one for one in found if one.case in ("error", "neutral")}


def _wrong(one: Detection) -> float | None:
    """Return how far a judge's verdict is from what an item is: an error that it misses, or harm where there is none."""
    if one.case == "error":
        return one.undetected
    return alarmed(one)


def _marked(one: Detection) -> float | None:
    """Return how far a judge says that an item is worse than the gold answer, 0 to 1; None without a judgement."""
    if one.case == "error":
        return detected(one)
    return alarmed(one)


def _from_labels(said: Said) -> dict[Way, Disagreement]:
    by_way: dict[Way, list[Detection]] = {}
    for (way, _), one in said.items():
        by_way.setdefault(way, []).append(one)
    return {
        way: Disagreement(measured(found, _wrong), len(found), sum(_wrong(one) is not None for one in found))
        for way, found in by_way.items()
    }


def _disagreements(said: Said, other: Said) -> dict[Way, Disagreement]:
    """Return how far two judges differ, over the items that both were asked about."""
    by_way: dict[Way, list[Detection]] = {}
    differences: dict[tuple[Way, str], float | None] = {}
    for key, one in said.items():
        if key not in other:
            continue
        ours, theirs = _marked(one), _marked(other[key])
        differences[key] = None if ours is None or theirs is None else abs(ours - theirs)
        by_way.setdefault(key[0], []).append(one)

    def difference(one: Detection) -> float | None:
        return differences[(one.task, one.evaluator), one.item]

    return {
        way: Disagreement(measured(found, difference), len(found), sum(difference(one) is not None for one in found))
        for way, found in by_way.items()
    }


def _seconds(home: Home, judge: str, runs: Sequence[str]) -> dict[Way, list[float]]:
    """Return the seconds of each judgement whose calls all have a known time, by task and evaluator."""
    seconds: dict[Way, list[float]] = {}
    for run, plan, arm in probes_that_asked(home, judge, runs):
        judgements = costs_and_calls(home, run, arm, {probe.id: probe for probe in stored_probes(home, plan)})
        used = SqliteLedger(home).calls_for(
            call for found in judgements.values() for _, calls in found for call in calls
        )
        for way, found in judgements.items():
            for _, calls in found:
                times = [used[call].latency for call in calls if call in used]
                known = [time for time in times if time is not None]
                if len(known) == len(calls):
                    seconds.setdefault(way, []).append(sum(known))
    return seconds
