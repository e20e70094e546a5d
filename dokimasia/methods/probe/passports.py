"""What finished probes of a home say of one judge, put together as the material of its passport."""

from collections.abc import Mapping, Sequence

from dokimasia.domain.blindspots import EVALUATORS, PUBLISHED, Detection, Evaluator, Probe, Task
from dokimasia.domain.identity import digest
from dokimasia.domain.passport import PassportData, PassportDates, PassportModel
from dokimasia.errors import ConfigError, NotFound
from dokimasia.methods.probe.detections import detections_of
from dokimasia.methods.probe.request import Arm, ProbePlan
from dokimasia.methods.probe.units import stored_probes
from dokimasia.people.passports import PassportMaterial
from dokimasia.report.figures import in_words
from dokimasia.runs.figures import is_simulated
from dokimasia.runs.plans import model_identity
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, list_runs

METHOD = "probe"
NOT_ASKED = ("justification", "new_reference")
"""Prompts of a probe that its judges are not asked by."""

Probed = tuple[Run, ProbePlan, Arm]


def material_of(home: Home, judge: str, runs: Sequence[str] = (), *, seed: int = 0) -> PassportMaterial:
    """Return what finished probes say of a judge.

    Args:
        home: open for reading at least.
        judge: its shown name, with @BUDGET or +tools where it was asked so.
        runs: the probes, as a user names them; by default all finished ones of the home that asked it.
        seed: of the halves and of the intervals.

    Raises:
        NotFound: no finished probe asked it.
        ConfigError: a run is no finished probe, or two asked it by other prompts, models or in other ways.
    """
    found = _probed(home, judge, runs)
    _check_alike(judge, found)
    detections: dict[tuple[str, str, str], Detection] = {}
    probes: dict[str, Probe] = {}
    costs: dict[tuple[Task, Evaluator], list[float | None]] = {}
    calls: list[str] = []
    runs_of: dict[Task, list[str]] = {}
    for run, plan, arm in found:
        own = {one.id: one for one in stored_probes(home, plan)}
        probes |= own
        tasks: set[Task] = {one.item.task for one in own.values()}
        for task in tasks:
            runs_of.setdefault(task, []).append(run.id)
        for one in detections_of(home, run):
            if one.judge == judge and not one.new_reference:
                detections[one.task, one.evaluator, one.item] = one
        asked = _costs(home, run, arm, own)
        for key, each in asked.items():
            costs.setdefault(key, []).extend(cost for cost, _ in each)
            calls += [call for _, some in each for call in some]
    arm = found[0][2]
    ledger = SqliteLedger(home)
    days = ledger.days_of(calls)
    return PassportMaterial(
        judge=_judge(judge, found, ledger.versions_of(calls)),
        prompts={name: one for _, plan, _ in found for name, one in plan.prompts.items() if name not in NOT_ASKED},
        data=[
            _data(task, [one for one in probes.values() if one.item.task == task], runs_of[task])
            for task in sorted(runs_of)
        ],
        detections=list(detections.values()),
        costs=costs,
        own={one.id: one.item.by == arm.judge for one in probes.values() if one.item.by and not one.neutral},
        dates=None if days is None else PassportDates(first=days[0], last=days[1]),
        seed=seed,
    )


def probes_of_home(home: Home) -> list[Run]:
    """Return the finished probes of a home, oldest first."""
    return [run for run in reversed(list_runs(home)) if run.method == METHOD and run.status == "done"]


def judges_probed(home: Home) -> dict[str, list[str]]:
    """Return the judges that finished probes asked, in alphabetical order, each with the ids of these, the newest first."""
    found: dict[str, list[str]] = {}
    for run in reversed(probes_of_home(home)):
        for arm in ProbePlan.model_validate(run.options["plan"]).arms:
            found.setdefault(arm.name, []).append(run.id)
    return dict(sorted(found.items()))


def _probed(home: Home, judge: str, named: Sequence[str]) -> list[Probed]:
    """Return the probes that asked a judge, oldest first."""
    if named:
        runs = list(
            {run.id: run for run in (resolve_run(home, one, of_method(METHOD, done=True)) for one in named)}.values()
        )
        for run in runs:
            if run.method != METHOD:
                raise ConfigError(f"--run: run {run.id} is of kind {run.method!r}; a passport is made from probes")
            if run.status != "done":
                raise ConfigError(f"--run: run {run.id} is {run.status}: finish it first (dokimasia resume {run.id})")
    else:
        runs = probes_of_home(home)
    plans = [(run, ProbePlan.model_validate(run.options["plan"])) for run in runs]
    found = [(run, plan, arm) for run, plan in plans for arm in plan.arms if arm.name == judge]
    lacking = [run.id for run, plan in plans if all(arm.name != judge for arm in plan.arms)]
    if not found or (named and lacking):
        known = list(dict.fromkeys(arm.name for _, plan in plans for arm in plan.arms))
        there = f"there {'is' if len(known) == 1 else 'are'} {in_words(known)}" if known else "there is none"
        where = f"run {lacking[0]}" if named and lacking else "this home"
        raise NotFound(
            f"no finished probe of {where} asked a judge {judge!r} ({there}): dokimasia probe DATA --judges {judge}"
        )
    return found


def _check_alike(judge: str, found: Sequence[Probed]) -> None:
    """Refuse probes in which a judge was not the same model, or was asked otherwise."""
    first, plan, arm = found[0]
    for run, other_plan, other in found[1:]:
        what = ""
        pairs = ((arm.spec, other.spec), (arm.in_use, other.in_use))
        if any(one and two and model_identity(one) != model_identity(two) for one, two in pairs):
            what = "another model or another sampling of it"
        both = plan.prompts.keys() & other_plan.prompts.keys() - {*NOT_ASKED}
        if changed := sorted(name for name in both if plan.prompts[name] != other_plan.prompts[name]):
            what = f"another version of the prompt {changed[0]}"
        if what:
            raise ConfigError(
                f"runs {first.id} and {run.id} do not speak of one judge: {judge} is {what} in the second; name those that "
                "belong together with --run"
            )


def _costs(
    home: Home, run: Run, arm: Arm, probes: Mapping[str, Probe]
) -> dict[tuple[Task, Evaluator], list[tuple[float | None, tuple[str, ...]]]]:
    """Return the cost and the calls of each judgement by a judge, by task and evaluator."""
    tasks: dict[str, Task] = {one.item.sample_id: one.item.task for one in probes.values()}
    rows = [
        row for row in results(home, run.id) if {"model": row.model, "arm": row.arm} == arm.row_fields and row.calls
    ]
    used = SqliteLedger(home).calls_for(call for row in rows for call in row.calls)
    found: dict[tuple[Task, Evaluator], list[tuple[float | None, tuple[str, ...]]]] = {}
    for row in rows:
        evaluator: Evaluator | None = next((one for one in EVALUATORS if row.item.partition("/")[0] == one), None)
        if evaluator is None:
            continue
        each = [used[call].cost for call in row.calls if call in used]
        known = [cost for cost in each if cost is not None]
        cost = sum(known) if len(known) == len(row.calls) else None
        key: tuple[Task, Evaluator] = (tasks[row.sample_id], evaluator)
        found.setdefault(key, []).append((cost, tuple(row.calls)))
    return found


def _judge(name: str, found: Sequence[Probed], versions: Sequence[str]) -> PassportModel:
    published = [arm.spec.sampling for _, plan, arm in found if {*plan.evaluators} & {*PUBLISHED}]
    own = [arm.in_use.sampling for _, _, arm in found if arm.in_use is not None]
    spec = found[0][2].spec
    return PassportModel(
        name=name,
        model=spec.ref.model,
        endpoint=spec.ref.endpoint,
        version=", ".join(versions) or None,
        sampling=next(iter(own), None),
        sampling_published=next(iter(published), None),
        max_image_side=spec.max_image_side,
        tools=found[0][2].tools,
        simulated=is_simulated(spec.ref.model),
    )


def _data(task: Task, probes: Sequence[Probe], runs: Sequence[str]) -> PassportData:
    return PassportData(
        task=task,
        hash=digest("probes", sorted(one.id for one in probes)),
        items=len(probes),
        images=len({one.cluster for one in probes}),
        checked=sum(one.checked for one in probes) / len(probes),
        runs=tuple(sorted(runs)),
    )
