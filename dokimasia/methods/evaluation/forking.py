"""Fork a run: do it again from one step with another judge, model or prompt; everything before comes from the ledger."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from dokimasia.agents import PromptLibrary
from dokimasia.agents.schemas import takes_schema
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value
from dokimasia.domain.ports import Transport
from dokimasia.endpoints.capabilities import with_capabilities
from dokimasia.errors import ConfigError, InputError
from dokimasia.gateway.budget import Budget
from dokimasia.methods.evaluation.evaluation import EvaluationResult, carry_out, reached_anew, read_plan
from dokimasia.methods.evaluation.plan import EvaluationPlan, Fork, judge_identity, prompt_identity
from dokimasia.methods.evaluation.steps import JUDGED, NAMES, STEPS, before_step, from_step, redone
from dokimasia.methods.evaluation.taken_over import taken_digest, taken_over
from dokimasia.runs.estimate import Estimate, estimate, size_of
from dokimasia.runs.lifecycle import run_row
from dokimasia.runs.observer import Observer
from dokimasia.runs.samples import EvaluationRequest, library_of, read_answers
from dokimasia.runs.services import Stop, check_prices, with_known_price
from dokimasia.settings import Settings, resolve_model
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, add_samples, create_run, load_samples, run_samples


class ForkRequest(Value):
    """What a fork changes, and from which step on: the judge, candidates (old name to new), prompts by folder.

    `max_cost` is in US dollars; the limits are those of this sitting.
    """

    node: str
    judge: str | None = None
    models: dict[str, str] = Field(default_factory=dict)
    prompts: tuple[Path, ...] = ()
    max_cost: float | None = Field(default=None, ge=0)
    max_calls: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)

    @property
    def budget(self) -> Budget:
        """The limits on what this sitting may spend."""
        return Budget(max_cost=self.max_cost, max_calls=self.max_calls, max_tokens=self.max_tokens)


class Prepared(NamedTuple):
    """A fork before anything is asked: its plan and request, its prompts, and how many outcomes it takes over."""

    plan: EvaluationPlan
    request: EvaluationRequest
    prompts: PromptLibrary | None
    taken: int


async def fork(
    parent: Run,
    request: ForkRequest,
    *,
    settings: Settings,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> EvaluationResult:
    """Do a finished run again from a step on, as a run of its own that can be interrupted and resumed like any other.

    A step that neither is the named one, nor uses what was changed, nor needs a step that does, is taken over with its
    outcomes, good and bad; its models are not asked again. The data file is not needed.

    Raises:
        InputError: the step is unknown, nothing changes, the change comes before the step, or the run is unfinished.
        Interrupted: the run was asked to stop; what is finished is kept.
    """
    with Home.open(settings.home, write=True, create=False) as home:
        prepared = prepare_fork(home, parent, request, settings=settings)
        plan, asked = prepared.plan, prepared.request
        check_prices(plan.models_for(plan.asks), max_cost=request.max_cost)
        run, new = await create_run(home, _run_row(parent, request, prepared))
        if new or len(run_samples(home, plan.run_id)) != len(run_samples(home, parent.id)):
            await add_samples(home, plan.run_id, load_samples(home, parent.id))
        responses, _ = read_answers(asked)
        sizes = (size_of(sample) for sample in load_samples(home, run.id))
        return await carry_out(
            home, run, plan, asked, settings, responses, observer, stop, transports, prepared.prompts, sizes
        )


def prepare_fork(home: Home, parent: Run, request: ForkRequest, *, settings: Settings) -> Prepared:
    """Work out what a fork would be, and ask nothing (`--dry-run`).

    Raises:
        InputError: see `fork`.
    """
    after = from_step(request.node)
    old, accepted = read_plan(parent)
    if parent.status != "done":
        raise InputError(f"run {parent.id} is {parent.status}; finish it first: dokimasia resume {parent.id}")
    folders = (*accepted.prompts, *request.prompts)
    library = library_of(folders)
    changed_prompts = _changed_prompts(old, library, request)
    judges = {step: old.judge_of(step) for step in JUDGED}
    if request.judge is not None:
        new = with_capabilities(with_known_price(resolve_model(settings, request.judge)), settings.home)
        judges |= {step.name: new for step in after if step.name in judges}
    candidates = _candidates(old, request, settings)
    changed = {step for step in JUDGED if judge_identity(judges[step]) != judge_identity(old.judge_of(step))}
    changed |= {step.name for step in STEPS if changed_prompts & set(step.prompts)}
    if candidates != old.candidates:
        changed.add("answer")
    shared = changed_prompts - {name for step in STEPS for name in step.prompts}
    if shared:
        changed |= {step.name for step in after if step.asks == "judge"}
    if not changed:
        raise InputError(_nothing_changes(old, request))
    again = redone({request.node, *changed})
    taken = taken_over(home, parent.id, again)
    plan = old.model_copy(
        update={
            "judge": judges["score"],
            "judges": {
                step: spec for step, spec in judges.items() if judge_identity(spec) != judge_identity(judges["score"])
            },
            "candidates": candidates,
            "criteria": None if "extract_criteria" in again else old.criteria,
            "prompts": prompt_identity(
                library, structured_output=any(map(takes_schema, judges.values())), tools=bool(old.tools)
            ),
            "fresh": 0,
            "fork": Fork(
                parent=parent.id,
                node=request.node,
                redone=tuple(name for name in NAMES if name in again),
                taken=taken_digest(taken),
            ),
        }
    )
    asked = accepted.model_copy(
        update={
            "judge": judges["score"].ref.name,
            "models": tuple(spec.ref.name for spec in candidates),
            "prompts": folders,
            "criteria": plan.criteria,
            "fresh": False,
            "max_cost": request.max_cost,
            "max_calls": request.max_calls,
            "max_tokens": request.max_tokens,
        }
    )
    plan.specs()
    return Prepared(reached_anew(plan, settings), asked, library, len(taken))


def preview_fork(home: Home, parent: Run, request: ForkRequest, *, settings: Settings) -> dict[str, Any]:
    """Return what a fork would do, ready for JSON: its id, each step's fate and models, and the estimate."""
    prepared = prepare_fork(home, parent, request, settings=settings)
    plan = prepared.plan
    counted: Estimate = estimate(plan, map(size_of, load_samples(home, parent.id)))
    again = set(plan.fork.redone) if plan.fork else set[str]()
    steps = [
        {
            "step": step.name,
            "does": step.does,
            "again": step.name in again,
            "asks": [plan.judge_of(step.name).ref.name]
            if step.asks == "judge"
            else [spec.ref.name for spec in plan.candidates]
            if step.asks == "candidate"
            else [],
        }
        for step in STEPS
    ]
    return {
        "run": plan.run_id,
        "forked_from": {"run": parent.id, "node": request.node},
        "steps": steps,
        "taken_over": prepared.taken,
        "samples": counted.samples,
        "calls": counted.calls,
        "cost": counted.cost,
        "models": {name: one.model_dump(mode="json") for name, one in counted.models.items()},
    }


def _changed_prompts(old: EvaluationPlan, library: PromptLibrary | None, request: ForkRequest) -> set[str]:
    """Return the names of the prompts that differ from the run's, all of them of use from the named step on."""
    now = prompt_identity(library, structured_output=True, tools=True)
    changed = {name for name, version in old.prompts.items() if now[name] != version}
    for step in before_step(request.node):
        early = sorted(changed & set(step.prompts))
        if early:
            raise InputError(
                f"the prompt {early[0]!r} differs from that of the run, and {step.name} asks by it, which comes before "
                f"{request.node}: fork from {step.name}, or leave that prompt as it was"
            )
    return changed


def _candidates(old: EvaluationPlan, request: ForkRequest, settings: Settings) -> tuple[ModelSpec, ...]:
    if not request.models:
        return old.candidates
    if old.responses is not None:
        raise InputError(
            "the answers of this run were read from a file, so that no model can answer in another's place"
        )
    if NAMES.index(request.node) > NAMES.index("answer"):
        raise InputError(f"--models changes who answers, which comes before {request.node}: fork from answer")
    named = [spec.ref.name for spec in old.candidates]
    unknown = [name for name in request.models if name not in named]
    if unknown:
        raise ConfigError(f"{unknown[0]!r} is no candidate of the run; its candidates are {', '.join(named)}")
    found = tuple(
        with_known_price(resolve_model(settings, request.models[spec.ref.name]))
        if spec.ref.name in request.models
        else spec
        for spec in old.candidates
    )
    names = [spec.ref.name for spec in found]
    if len(set(names)) < len(names):
        raise ConfigError(f"a model would answer twice: {', '.join(sorted(names))}")
    return found


def _nothing_changes(old: EvaluationPlan, request: ForkRequest) -> str:
    if request.judge is None and not request.models and not request.prompts:
        return (
            "a fork changes something: name another judge (--judge), models (--models X=Y) or prompts (--prompts DIR)"
        )
    said = f"the judge is {old.judge_of(request.node if request.node in JUDGED else 'score').ref.name} already"
    return f"nothing would change: {said if request.judge else 'models and prompts are those of the run'}"


def _run_row(parent: Run, request: ForkRequest, prepared: Prepared) -> Run:
    changes = [f"--judge {request.judge}"] if request.judge else []
    if request.models:
        changes.append("--models " + ",".join(f"{old}={new}" for old, new in request.models.items()))
    changes += [f"--prompts {folder.name}" for folder in request.prompts]
    return run_row(
        prepared.plan,
        prepared.request,
        graph="evaluate",
        command=f"fork {parent.id} --from {request.node} {' '.join(changes)}",
        data_name=parent.data_name,
        data_hash=parent.data_hash,
        seed=parent.seed,
        skipped=parent.options.get("skipped", []),
    )
