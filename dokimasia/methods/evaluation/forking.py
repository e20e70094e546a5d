"""An evaluation forked at one of its steps: what comes before the step is taken over and not asked again."""

from collections.abc import Collection, Mapping
from typing import Any, cast

from dokimasia.agents.schemas import takes_schema
from dokimasia.domain.call import ModelSpec
from dokimasia.errors import ConfigError, InputError
from dokimasia.methods.evaluation.accepting import with_passports
from dokimasia.methods.evaluation.expected import estimate
from dokimasia.methods.evaluation.plan import EvaluationPlan, Fork, prompts_of_evaluation
from dokimasia.methods.evaluation.request import EvaluationRequest
from dokimasia.methods.evaluation.steps import JUDGED, NAMES, STEPS, before_step, from_step, redone
from dokimasia.methods.evaluation.taken_over import taken_digest, taken_over
from dokimasia.runs.forking import NOTHING_NAMED, ForkRequest
from dokimasia.runs.plans import model_identity, reached_now
from dokimasia.runs.requests import stored_request
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.runs import Run

Forked = tuple[EvaluationRequest, Accepted[EvaluationPlan], dict[str, Any]]


async def fork(session: Session, parent: Run, request: ForkRequest) -> Forked:
    """Return the request of a fork, what it is accepted as, and what of it is taken over, ready for JSON.

    A step that neither is the named one, nor uses what was changed, nor needs a step that does, is taken over with its
    outcomes, good and bad; its models are not asked again.

    Raises:
        InputError: the step is unknown or not named, nothing changes, the change comes before the step, or the run has
            no judge.
    """
    old = EvaluationPlan.model_validate(parent.options["plan"])
    if old.judge is None:
        raise InputError(
            "an evaluation in which rules alone decided is not forked: evaluate the same data with --judge, or with other models "
            "(what was answered is not asked again)"
        )
    after = from_step(request.node)
    node = after[0].name
    if old.protocol == "published" and node == "judge_criteria":
        raise InputError("as published nobody takes a second look at criteria: fork from extract_criteria")
    accepted = stored_request(EvaluationRequest, cast("dict[str, Any]", parent.options["request"]))
    changed_prompts = _changed_prompts(old, session.library.identity(), node)
    judges = {step: old.judge_of(step) for step in JUDGED}
    if request.judge is not None:
        new = session.judge(request.judge)
        judges |= {step.name: new for step in after if step.name in judges}
    candidates = _candidates(old, request, session, node)
    changed = {step for step in JUDGED if model_identity(judges[step]) != model_identity(old.judge_of(step))}
    changed |= {step.name for step in STEPS if changed_prompts & set(step.prompts)}
    if candidates != old.candidates:
        changed.add("answer")
    shared = changed_prompts - {name for step in STEPS for name in step.prompts}
    if shared:
        changed |= {step.name for step in after if step.asks == "judge"}
    if not changed:
        raise InputError(_nothing_changes(old, request, node))
    again = redone({node, *changed})
    taken = taken_over(session.opened, parent.id, again)
    plan = old.model_copy(
        update={
            "judge": judges["score"],
            "judges": {
                step: spec for step, spec in judges.items() if model_identity(spec) != model_identity(judges["score"])
            },
            "candidates": candidates,
            "criteria": None if "judge_criteria" in again else old.criteria,
            "prompts": prompts_of_evaluation(
                session.library,
                ask=old.ask,
                protocol=old.protocol,
                structured_output=any(map(takes_schema, judges.values())),
                tools=bool(old.tools),
            ),
            "fresh": 0,
            "fork": Fork(
                parent=parent.id,
                node=node,
                redone=tuple(name for name in NAMES if name in again),
                taken=taken_digest(taken),
            ),
        }
    )
    asked = accepted.model_copy(
        update={
            "judge": judges["score"].ref.name,
            "models": tuple(spec.ref.name for spec in candidates),
            "prompts": (*accepted.prompts, *request.prompts),
            "criteria": plan.criteria,
            "fresh": False,
            **request.invocation,
        }
    )
    plan = reached_now(plan, session.settings)
    found = session.entries(asked)
    accepted_fork = found.accepted(plan, estimate(plan, found.sizes, session.library), needs=(parent.id,))
    accepted_fork = await with_passports(accepted_fork, asked, session, found)
    return asked, accepted_fork, {"steps": _steps(plan, again), "taken_over": len(taken)}


def _steps(plan: EvaluationPlan, again: Collection[str]) -> list[dict[str, Any]]:
    asks = {
        "judge": lambda name: [plan.judge_of(name).ref.name],
        "candidate": lambda name: [spec.ref.name for spec in plan.candidates],
        "nobody": lambda name: [],
    }
    return [
        {"step": one.name, "does": one.does, "again": one.name in again, "asks": asks[one.asks](one.name)}
        for one in STEPS
    ]


def _changed_prompts(old: EvaluationPlan, now: Mapping[str, str], node: str) -> set[str]:
    """Return the names of the prompts that differ from the run's, all of them of use from the named step on."""
    changed = {name for name, version in old.prompts.items() if now[name] != version}
    for step in before_step(node):
        early = sorted(changed & set(step.prompts))
        if early:
            raise InputError(
                f"the prompt {early[0]!r} differs from that of the run, and {step.name} asks by it, which comes before "
                f"{node}: fork from {step.name}, or leave that prompt as it was"
            )
    return changed


def _candidates(old: EvaluationPlan, request: ForkRequest, session: Session, node: str) -> tuple[ModelSpec, ...]:
    if not request.models:
        return old.candidates
    if old.responses is not None:
        raise InputError(
            "the answers of this run were read from a file, so that no model can answer in another's place"
        )
    if NAMES.index(node) > NAMES.index("answer"):
        raise InputError(f"--models changes who answers, which comes before {node}: fork from answer")
    named = [spec.ref.name for spec in old.candidates]
    unknown = [name for name in request.models if name not in named]
    if unknown:
        raise ConfigError(f"{unknown[0]!r} is no candidate of the run; its candidates are {', '.join(named)}")
    found = tuple(
        session.model(request.models[spec.ref.name]) if spec.ref.name in request.models else spec
        for spec in old.candidates
    )
    names = [spec.ref.name for spec in found]
    if len(set(names)) < len(names):
        raise ConfigError(f"a model would answer twice: {', '.join(sorted(names))}")
    return found


def _nothing_changes(old: EvaluationPlan, request: ForkRequest, node: str) -> str:
    if request.names_nothing:
        return NOTHING_NAMED
    said = f"the judge is {old.judge_of(node if node in JUDGED else 'score').ref.name} already"
    return f"nothing would change: {said if request.judge else 'models and prompts are those of the run'}"
