"""Forks: evaluations that run again from a given step and reuse the results of earlier steps."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from dokimasia.domain.call import ChatReply, ModelSpec, model_names
from dokimasia.domain.criterion import CONTRADICTED
from dokimasia.domain.identity import digest
from dokimasia.domain.judgement import FailureKind
from dokimasia.errors import ConfigError, InputError, UnparsableReply
from dokimasia.methods.evaluation.plan import (
    ANSWER,
    JUDGED,
    NAMES,
    STEPS,
    EvaluationPlan,
    Fork,
    from_step,
    prompts_of_evaluation,
    replay_item,
    steps_to_rerun,
)
from dokimasia.methods.evaluation.request import EvaluationRequest, estimate, with_passports
from dokimasia.parsing.verdicts import parse_equivalence
from dokimasia.runs.forking import NOTHING_NAMED, ForkRequest
from dokimasia.runs.plans import as_configured_now, model_identity
from dokimasia.runs.requests import stored_request
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.retries import retries
from dokimasia.storage.runs import Run, run_samples

Forked = tuple[EvaluationRequest, Accepted[EvaluationPlan], dict[str, object]]


async def fork(session: Session, parent: Run, request: ForkRequest) -> Forked:
    """Return the request of a fork, its acceptance, and a summary of what is reused, ready for JSON.

    A step runs again if it is named, uses something that was changed, or depends on such a step. All other steps are
    reused with their outcomes, including failures, without any call.

    Raises:
        InputError: the step is unknown or not named, nothing changes, the change concerns an earlier step, or the run
            has no judge.
    """
    old = parent.plan_as(EvaluationPlan)
    if old.judge is None:
        raise InputError(
            "an evaluation in which rules alone decided is not forked: evaluate the same data with --judge, or with other models "
            "(what was answered is not asked again)"
        )
    steps = from_step(request.node)
    node = steps[0].name
    if old.protocol == "published" and node == "judge_criteria":
        raise InputError("as published nobody takes a second look at criteria: fork from extract_criteria")
    stored = stored_request(EvaluationRequest, parent.request)
    prompts = _changed_prompts(old, session.library.identity(), node)
    judged_steps = [step.name for step in steps if step.asked_role == "judge"]
    judges = {step: old.judge_of(step) for step in JUDGED}
    if request.judge is not None:
        judges |= dict.fromkeys(judged_steps, session.judge(request.judge))
    candidates = _candidates(old, request, session, node)
    changed_steps = _steps_with_prompts(prompts, judged_steps)
    changed_steps |= {step for step in JUDGED if model_identity(judges[step]) != model_identity(old.judge_of(step))}
    if candidates != old.candidates:
        changed_steps.add("answer")
    if not changed_steps:
        raise InputError(_nothing_changes(old, request, node))
    rerun = steps_to_rerun({node, *changed_steps})
    points = resume_points(session.opened, parent.id, rerun)
    judge = judges["score"]
    scoring = model_identity(judge)
    plan = old.model_copy(
        update={
            "judge": judge,
            "judges": {step: spec for step, spec in judges.items() if model_identity(spec) != scoring},
            "candidates": candidates,
            "criteria": None if "judge_criteria" in rerun else old.criteria,
            "fresh": 0,
            "fork": Fork(
                parent=parent.id,
                node=node,
                redone=tuple(name for name in NAMES if name in rerun),
                taken=points_digest(points),
            ),
        }
    )
    plan = plan.model_copy(update={"prompts": prompts_of_evaluation(plan, session.library)})
    forked = stored.model_copy(
        update={
            "judge": judge.ref.name,
            "models": model_names(candidates),
            "prompts": (*stored.prompts, *request.prompts),
            "criteria": plan.criteria,
            "fresh": False,
            **request.invocation,
        }
    )
    plan = as_configured_now(plan, session.settings)
    stored = session.store_samples(forked)
    acceptance = stored.accepted(plan, estimate(plan, stored.sizes, session.library), needs=(parent.id,))
    acceptance = await with_passports(acceptance, forked, session, stored)
    return forked, acceptance, {"steps": _steps(plan, rerun), "taken_over": len(points)}


def _steps(plan: EvaluationPlan, rerun: Collection[str]) -> list[dict[str, object]]:
    """Return, for every step, whether it runs again and which models it asks."""
    steps: list[dict[str, object]] = []
    for step in STEPS:
        asks: list[str] = []
        if step.asked_role == "judge":
            asks = [plan.judge_of(step.name).ref.name]
        elif step.asked_role == "candidate":
            asks += model_names(plan.candidates)
        steps.append({"step": step.name, "does": step.does, "again": step.name in rerun, "asks": asks})
    return steps


def _changed_prompts(old: EvaluationPlan, versions: Mapping[str, str], node: str) -> set[str]:
    """Return the names of the prompts that differ from the run's; the named step or a later one must use each."""
    names = {name for name, version in old.prompts.items() if versions[name] != version}
    for step in STEPS[: NAMES.index(node)]:
        early = sorted(names.intersection(step.prompts))
        if early:
            raise InputError(
                f"the prompt {early[0]!r} differs from that of the run, and {step.name} asks by it, which comes before "
                f"{node}: fork from {step.name}, or leave that prompt as it was"
            )
    return names


def _steps_with_prompts(prompts: Collection[str], judged_steps: Collection[str]) -> set[str]:
    """Return the steps that ask by any of these prompts; a prompt of no step is one of all judged steps."""
    by_step = {step.name: {*prompts}.intersection(step.prompts) for step in STEPS}
    using = {step for step, own in by_step.items() if own}
    if {*prompts}.difference(*by_step.values()):
        using |= {*judged_steps}
    return using


def _candidates(old: EvaluationPlan, request: ForkRequest, session: Session, node: str) -> tuple[ModelSpec, ...]:
    """Return the candidates of a fork: those of the run, with the requested replacements."""
    if not request.models:
        return old.candidates
    if NAMES.index(node) > NAMES.index("answer"):
        raise InputError(f"--models changes who answers, which comes before {node}: fork from answer")
    old_names, asked_names = model_names(old.candidates), model_names(old.asked)
    for name in request.models:
        if name not in old_names:
            raise ConfigError(f"{name!r} is no candidate of the run; its candidates are {', '.join(old_names)}")
        if name not in asked_names:
            raise InputError(f"the answers of {name} were read from a file, so that no model can answer in its place")
    candidates: list[ModelSpec] = []
    for spec in old.candidates:
        replacement = request.models.get(spec.ref.name)
        candidates.append(spec if replacement is None else session.model(replacement))
    names = sorted(model_names(candidates))
    if len(set(names)) < len(names):
        raise ConfigError(f"a model would answer twice: {', '.join(names)}")
    return tuple(candidates)


def _nothing_changes(old: EvaluationPlan, request: ForkRequest, node: str) -> str:
    if request.names_nothing:
        return NOTHING_NAMED
    if not request.judge:
        return "nothing would change: models and prompts are those of the run"
    judge = old.judge_of(node if node in JUDGED else "score")
    return f"nothing would change: the judge is {judge.ref.name} already"


class ResumePoint(NamedTuple):
    """The start of an item in a fork: a reused outcome (`row`), or a point within its graph.

    `inputs` are the graph's inputs: ids of a chain or an answer, and the ledger keys of the calls that produced it.
    """

    row: ResultRow | None = None
    inputs: Mapping[str, object] = {}


def resume_points(home: Home, run_id: str, rerun: Collection[str]) -> dict[str, ResumePoint]:
    """Return, by item, what a fork reuses when some steps run again; items that start from scratch are missing.

    An item that failed before the first step that runs again stays failed.

    Raises:
        InputError: a chain is needed, and the criteria were imported without their chains.
    """
    rows = results(home, run_id, as_judged=True)
    replays = {row.sample_id: row for row in rows if row.kind == "replay"}
    ledger = SqliteLedger(home)
    prompts = [prompt for step in STEPS if step.name not in rerun for prompt in step.prompts]
    labels = {key: call.label for key, call in ledger.calls_for(key for row in rows for key in row.calls).items()}
    points: dict[str, ResumePoint] = {}
    for row in rows:
        point = None
        if row.kind == "replay":
            calls = [key for key in row.calls if labels.get(key) in prompts]
            point = _replay_point(row, rerun, calls, ledger)
        elif row.kind == "score" and "answer" not in rerun:
            calls = [key for key in row.calls if labels.get(key) in ANSWER.prompts]
            point = _answer_point(row, replays.get(row.sample_id), calls)
        if point is not None:
            points[row.item] = point
    return points


def points_digest(points: Mapping[str, ResumePoint]) -> str:
    """Return a hash of what a fork reuses: ids of values, but not times."""
    content: list[list[object]] = []
    for item, point in sorted(points.items()):
        row = None if point.row is None else point.row.model_dump(mode="json", exclude={"run_id"})
        content.append([item, dict(point.inputs), row])
    return digest("taken/1", content)


def points_of_fork(home: Home, run_id: str, plan: EvaluationPlan) -> dict[str, ResumePoint]:
    """Return what a forked run reuses; nothing if the run is no fork.

    Raises:
        InputError: the parent run has changed since the fork was accepted, or was deleted.
    """
    fork = plan.fork
    if fork is None:
        return {}
    points = resume_points(home, fork.parent, fork.redone)
    if points_digest(points) != fork.taken:
        raise InputError(
            f"run {run_id} was forked from run {fork.parent}, which has changed since or was deleted, so that what "
            "was to be taken over is not there as it was; fork anew"
        )
    return points


def models_to_ask(
    home: Home, run: Run, plan: EvaluationPlan, retry: Collection[FailureKind] = ()
) -> Mapping[str, ModelSpec]:
    """Return the models that a run may have to ask; in a fork, a model whose steps are all reused needs no API key.

    A retry may return to any step, including one whose failure was reused.
    """
    if plan.fork is None:
        return plan.models_for(plan.steps_that_ask)
    points = points_of_fork(home, run.id, plan)
    items: list[str] = []
    for sample in run_samples(home, run.id):
        items.append(replay_item(sample.sample_id))
        items += [item.name for item in plan.items(sample.sample_id)]
    steps = _steps_to_ask(items, points)
    if retry or retries(home, run.id):
        failures = any(point.row is not None and point.row.outcome == "failed" for point in points.values())
        steps |= set(NAMES) if failures or "extract_criteria" in plan.steps_that_ask else plan.steps_that_ask
    return plan.models_for(steps)


def _steps_to_ask(items: Iterable[str], points: Mapping[str, ResumePoint]) -> set[str]:
    """Return the steps in which the items may have to call a model, given their starting points."""
    steps: set[str] = set()
    for item in items:
        point = points.get(item, ResumePoint())
        if point.row is not None:
            continue
        if item.startswith("score/"):
            steps.add("score")
            if "response" not in point.inputs:
                steps.add("answer")
        else:
            steps.add("judge_criteria")
            if "criteria" not in point.inputs:
                steps.add("extract_criteria")
            if "agreed" not in point.inputs:
                steps |= {"write_chain", "judge_chain"}
    return steps


def _replay_point(row: ResultRow, rerun: Collection[str], calls: list[str], ledger: SqliteLedger) -> ResumePoint | None:
    if "judge_criteria" not in rerun:
        return ResumePoint(row=row)
    if "write_chain" in rerun:
        return None
    if row.chain_id is None:
        if row.outcome == "made":
            raise InputError(
                f"the criteria of run {row.run_id} were imported without their chains (such as that of sample "
                f"{row.sample_id!r}), so there is nothing to go on from; fork from write_chain, answer or score"
            )
        return ResumePoint(row=row)
    if "extract_criteria" not in rerun and row.criteria_id is None:
        return ResumePoint(row=row)
    inputs: dict[str, object] = {"chain": row.chain_id, "calls": calls}
    if row.value_ids:
        inputs |= {"looks": list(row.value_ids)}
    agreed = CONTRADICTED if row.outcome == "made" and row.reason else "before"
    if "extract_criteria" not in rerun:
        return ResumePoint(inputs={**inputs, "agreed": agreed, "criteria": row.criteria_id})
    if "judge_chain" in rerun:
        return ResumePoint(inputs=inputs)
    if row.failure == "reference_contradicted":
        return ResumePoint(row=row)
    if row.outcome == "made" or judge_agreed(row.calls, ledger):
        inputs |= {"agreed": agreed}
    return ResumePoint(inputs=inputs)


def _answer_point(row: ResultRow, replay: ResultRow | None, calls: list[str]) -> ResumePoint | None:
    if row.response_id is not None:
        return ResumePoint(inputs={"response": row.response_id, "calls": calls})
    never_asked = replay is None or replay.outcome == "failed"
    if never_asked:
        return None
    return ResumePoint(row=row)


def judge_agreed(calls: tuple[str, ...], ledger: SqliteLedger) -> bool:
    """Return whether the last equivalence verdict among the calls is yes.

    After a yes no further chain is written, so a final yes is about the current chain.
    """
    calls_by_key = ledger.calls_for(calls)
    verdicts = [key for key in calls if key in calls_by_key and calls_by_key[key].label == "equivalence"]
    if not verdicts:
        return False
    _, reply = ledger.rebuild(verdicts[-1])
    if not isinstance(reply, ChatReply) or reply.refusal is not None or reply.finish_reason == "content_filter":
        return False
    try:
        return parse_equivalence(reply.text)
    except UnparsableReply:
        return False
