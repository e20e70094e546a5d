"""Results of finished probes about a judge: the material of its passport, and its check.

The check adds the judge's disagreement with labels and with another judge, and its response times.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from dokimasia.domain.blindspots import EVALUATORS, PUBLISHED, Detection, Evaluator, Probe, Task
from dokimasia.domain.identity import digest
from dokimasia.domain.passport import Passport, PassportData, PassportDates, PassportModel
from dokimasia.domain.wording import is_or_are
from dokimasia.errors import ConfigError, NotFound
from dokimasia.methods.probe.detections import detections
from dokimasia.methods.probe.perturbations import labels_by_item
from dokimasia.methods.probe.request import Arm, ProbePlan
from dokimasia.methods.probe.units import all_units, planted, stored_probes, unjudged_probes
from dokimasia.people.passports import (
    EVALUATION_USES,
    Disagreement,
    JudgeCheck,
    PassportMaterial,
    alarmed,
    judge_check,
    marked,
    measured,
    passport_of,
    verdict_on,
)
from dokimasia.report.blocks import Span
from dokimasia.report.figures import in_words
from dokimasia.runs.figures import grouped, is_simulated
from dokimasia.runs.plans import model_identity
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, list_runs

METHOD = "probe"
NOT_ASKED = ("justification", "new_reference")
"""Prompts of a probe that are not sent to the judges."""

Probed = tuple[Run, ProbePlan, Arm]

Way = tuple[Task, Evaluator]
Detections = Mapping[tuple[Way, str], Detection]
"""A judge's results by task and evaluator, and by item."""


class ProbeResults(NamedTuple):
    """What a finished probe has stored: its probes, its rows, and the detections of all its judges."""

    probes: Mapping[str, Probe]
    rows: Sequence[ResultRow]
    detections: Sequence[Detection]


class ProbeReader:
    """The finished probes of a home, each read at most once."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._stored: dict[str, ProbeResults] = {}

    def read(self, run: Run) -> ProbeResults:
        """Return what a probe has stored."""
        if run.id not in self._stored:
            plan = run.plan_as(ProbePlan)
            probes = stored_probes(self.home, plan)
            rows = results(self.home, run.id)
            by_name = detections(self.home, all_units(plan, probes), rows)
            self._stored[run.id] = ProbeResults({probe.id: probe for probe in probes}, rows, list(by_name.values()))
        return self._stored[run.id]


class JudgementUse(NamedTuple):
    """What a judgement used: US dollars and seconds, None if unknown, and its calls."""

    cost: float | None
    seconds: float | None
    calls: tuple[str, ...]


def material_of(
    home: Home, judge: str, runs: Sequence[str] = (), *, seed: int = 0, reader: ProbeReader | None = None
) -> PassportMaterial:
    """Return the material of a judge's passport from finished probes.

    Args:
        home: the home, open for reading.
        judge: the judge's displayed name, including `@BUDGET` or `+tools`.
        runs: names of the probes to use; by default all finished probes of the home that asked the judge.
        seed: seed of the halves and of the intervals.
        reader: reads the probes, if the caller reads them, too.

    Raises:
        NotFound: no finished probe asked the judge.
        ConfigError: a run is not a finished probe, or the judge's model, sampling or prompts differ between probes.
    """
    reader = reader or ProbeReader(home)
    probed = probes_that_asked(home, judge, runs)
    _check_alike(judge, probed)
    by_item: dict[tuple[str, str, str], Detection] = {}
    probes: dict[str, Probe] = {}
    costs: dict[tuple[Task, Evaluator], list[float | None]] = {}
    calls: list[str] = []
    runs_of: dict[Task, list[str]] = {}
    for run, _, arm in probed:
        probe_run = reader.read(run)
        probes |= probe_run.probes
        tasks: set[Task] = {probe.item.task for probe in probe_run.probes.values()}
        for task in tasks:
            runs_of.setdefault(task, []).append(run.id)
        for detection in probe_run.detections:
            if detection.judge == judge and not detection.new_reference:
                by_item[detection.task, detection.evaluator, detection.item] = detection
        for way, uses in judgement_uses(home, probe_run, arm).items():
            costs.setdefault(way, []).extend(use.cost for use in uses)
            calls += [call for use in uses for call in use.calls]
    arm = probed[0][2]
    ledger = SqliteLedger(home)
    days = ledger.days_of(calls)
    return PassportMaterial(
        judge=_judge(judge, probed, ledger.versions_of(calls)),
        prompts={
            name: version for _, plan, _ in probed for name, version in plan.prompts.items() if name not in NOT_ASKED
        },
        data=[
            _data(task, [probe for probe in planted(probes.values()) if probe.item.task == task], runs_of[task])
            for task in sorted(runs_of)
        ],
        detections=list(by_item.values()),
        costs=costs,
        own={probe.id: probe.item.by == arm.judge for probe in probes.values() if probe.item.by and not probe.neutral},
        labels=labels_by_item(home, probes.keys()),
        dates=None if days is None else PassportDates(first=days[0], last=days[1]),
        seed=seed,
    )


def probes_of_home(home: Home) -> list[Run]:
    """Return the finished probes of a home, oldest first."""
    return [run for run in reversed(list_runs(home)) if run.method == METHOD and run.status == "done"]


def judges_probed(home: Home) -> dict[str, list[str]]:
    """Return the ids of the finished probes of each judge, newest first; judges in alphabetical order."""
    runs_of: dict[str, list[str]] = {}
    for run in reversed(probes_of_home(home)):
        for arm in run.plan_as(ProbePlan).arms:
            runs_of.setdefault(arm.name, []).append(run.id)
    return dict(sorted(runs_of.items()))


def probes_that_asked(home: Home, judge: str, names: Sequence[str]) -> list[Probed]:
    """Return the probes that asked a judge, the named ones or all finished ones of the home, oldest first."""
    if names:
        runs = list(
            {run.id: run for run in (resolve_run(home, name, of_method(METHOD, done=True)) for name in names)}.values()
        )
        for run in runs:
            if run.method != METHOD:
                raise ConfigError(f"--run: run {run.id} is of kind {run.method!r}; a passport is made from probes")
            if run.status != "done":
                raise ConfigError(f"--run: run {run.id} is {run.status}: finish it first (dokimasia resume {run.id})")
    else:
        runs = probes_of_home(home)
    plans = [(run, run.plan_as(ProbePlan)) for run in runs]
    probed = [(run, plan, arm) for run, plan in plans for arm in plan.arms if arm.name == judge]
    without_judge = [run.id for run, plan in plans if all(arm.name != judge for arm in plan.arms)]
    if not probed or (names and without_judge):
        judges = list(dict.fromkeys(arm.name for _, plan in plans for arm in plan.arms))
        available = "there is none"
        if judges:
            available = f"there {is_or_are(len(judges))} {in_words(judges)}"
        where = f"run {without_judge[0]}" if names and without_judge else "this home"
        raise NotFound(
            f"no finished probe of {where} asked a judge {judge!r} ({available}): dokimasia probe DATA --judges {judge}"
        )
    return probed


def _check_alike(judge: str, probed: Sequence[Probed]) -> None:
    """Check that a judge had the same model, sampling and prompts in all probes."""
    first, plan, arm = probed[0]
    for run, other_plan, other_arm in probed[1:]:
        difference = ""
        pairs = ((arm.spec, other_arm.spec), (arm.in_use, other_arm.in_use))
        if any(old and new and model_identity(old) != model_identity(new) for old, new in pairs):
            difference = "another model or another sampling of it"
        shared = plan.prompts.keys() & other_plan.prompts.keys() - {*NOT_ASKED}
        if prompt_names := sorted(name for name in shared if plan.prompts[name] != other_plan.prompts[name]):
            difference = f"another version of the prompt {prompt_names[0]}"
        if difference:
            raise ConfigError(
                f"runs {first.id} and {run.id} do not speak of one judge: {judge} is {difference} in the second; name those that "
                "belong together with --run"
            )


def judgement_uses(home: Home, stored: ProbeResults, arm: Arm) -> dict[Way, list[JudgementUse]]:
    """Return what each of a judge's judgements used, by task and evaluator."""
    tasks: dict[str, Task] = {probe.item.sample_id: probe.item.task for probe in stored.probes.values()}
    rows = [row for row in stored.rows if {"model": row.model, "arm": row.arm} == arm.row_fields and row.calls]
    calls_by_key = SqliteLedger(home).calls_for(call for row in rows for call in row.calls)
    uses: dict[Way, list[JudgementUse]] = {}
    for row in rows:
        evaluator: Evaluator | None = next((name for name in EVALUATORS if row.item.partition("/")[0] == name), None)
        if evaluator is None:
            continue
        calls = [calls_by_key[call] for call in row.calls if call in calls_by_key]
        costs = [call.cost for call in calls if call.cost is not None]
        times = [call.latency for call in calls if call.latency is not None]
        use = JudgementUse(
            cost=sum(costs) if len(costs) == len(row.calls) else None,
            seconds=sum(times) if len(times) == len(row.calls) else None,
            calls=tuple(row.calls),
        )
        uses.setdefault((tasks[row.sample_id], evaluator), []).append(use)
    return uses


def _judge(name: str, probed: Sequence[Probed], versions: Sequence[str]) -> PassportModel:
    published = [arm.spec.sampling for _, plan, arm in probed if {*plan.evaluators} & {*PUBLISHED}]
    own = [arm.in_use.sampling for _, _, arm in probed if arm.in_use is not None]
    spec = probed[0][2].spec
    return PassportModel(
        name=name,
        model=spec.ref.model,
        endpoint=spec.ref.endpoint,
        version=", ".join(versions) or None,
        sampling=next(iter(own), None),
        sampling_published=next(iter(published), None),
        max_image_side=spec.max_image_side,
        tools=probed[0][2].tools,
        simulated=is_simulated(spec.ref.model),
    )


def _data(task: Task, probes: Sequence[Probe], runs: Sequence[str]) -> PassportData:
    return PassportData(
        task=task,
        hash=digest("probes", sorted(probe.id for probe in probes)),
        items=len(probes),
        images=len({probe.cluster for probe in probes}),
        checked=sum(probe.checked for probe in probes) / len(probes),
        runs=tuple(sorted(runs)),
    )


def check_of(
    home: Home,
    judge: str,
    runs: Sequence[str],
    *,
    reference: str = "",
    seed: int = 0,
    reader: ProbeReader | None = None,
) -> tuple[JudgeCheck, Passport]:
    """Return the check of a judge by finished probes, and its passport.

    Args:
        home: the home, open for reading.
        judge: the judge's displayed name.
        runs: names of the probes; by default all finished ones that asked the judge.
        reference: another judge of the same probes, to compare it with; empty for none.
        seed: seed of the halves and intervals of the passport.
        reader: reads the probes, if the caller reads them, too.

    Raises:
        NotFound: no finished probe asked the judge, or none of them the reference.
        ConfigError: a run is not a finished probe, or the judge differs between probes.
    """
    reader = reader or ProbeReader(home)
    material = material_of(home, judge, runs, seed=seed, reader=reader)
    passport = passport_of(material)
    ids = list(dict.fromkeys(run for data in passport.data for run in data.runs))
    by_item = _by_item(material.detections)
    disagreements: dict[Way, Disagreement] = {}
    if reference:
        other = _by_item(material_of(home, reference, runs or ids, seed=seed, reader=reader).detections)
        disagreements = _disagreements(by_item, other)
    probes: dict[str, Probe] = {}
    evaluators: dict[Evaluator, None] = {}
    seconds: dict[Way, list[float]] = {}
    for run, plan, arm in probes_that_asked(home, judge, ids):
        probe_run = reader.read(run)
        probes |= probe_run.probes
        evaluators |= dict.fromkeys(plan.evaluators)
        for way, uses in judgement_uses(home, probe_run, arm).items():
            seconds.setdefault(way, []).extend(use.seconds for use in uses if use.seconds is not None)
    checked_ids = {probe.id for probe in probes.values() if probe.checked}
    return (
        judge_check(
            passport,
            labelled=_by_way([error for error in by_item.values() if error.item in checked_ids], _wrong),
            reference=reference,
            compared=disagreements,
            seconds=seconds,
            unjudged=unjudged_probes(evaluators, probes.values()),
            evaluate_by=EVALUATION_USES,
        ),
        passport,
    )


def suitability_of(home: Home, run: Run) -> list[tuple[str | Span, ...]]:
    """Return, for each judge of a finished probe, sentences on whether it is suitable, by this probe alone."""
    reader = ProbeReader(home)
    arms = run.plan_as(ProbePlan).arms
    return [verdict_on(check_of(home, arm.name, [run.id], reader=reader)[0]) for arm in arms]


def _by_item(detections: Sequence[Detection]) -> Detections:
    return {_key(detection): detection for detection in detections if detection.case in ("error", "neutral")}


def _key(detection: Detection) -> tuple[Way, str]:
    return (detection.task, detection.evaluator), detection.item


def _wrong(detection: Detection) -> float | None:
    """Return how wrong a judge is about an item, by a missed error or a false alarm; None without a judgement."""
    if detection.case == "error":
        return detection.undetected
    return alarmed(detection)


def _disagreements(detections: Detections, other: Detections) -> dict[Way, Disagreement]:
    """Return how much two judges disagree on the items that both judged."""

    def difference(detection: Detection) -> float | None:
        ours, theirs = marked(detection), marked(other[_key(detection)])
        if ours is None or theirs is None:
            return None
        return abs(ours - theirs)

    return _by_way([detection for key, detection in detections.items() if key in other], difference)


def _by_way(detections: Iterable[Detection], measure: Callable[[Detection], float | None]) -> dict[Way, Disagreement]:
    """Return a measure of detections by task and evaluator, with the number of detections that have it."""
    by_way = grouped(detections, lambda detection: (detection.task, detection.evaluator))
    disagreements: dict[Way, Disagreement] = {}
    for way, group in by_way.items():
        n_judged = sum(measure(detection) is not None for detection in group)
        disagreements[way] = Disagreement(measured(group, measure), len(group), n_judged)
    return disagreements
