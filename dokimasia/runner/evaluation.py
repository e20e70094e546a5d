"""Evaluate models on a data set: accept the run, do what has no result yet, and return its figures."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import Field

from dokimasia.agents import PromptLibrary
from dokimasia.datasets import Problem, problems_text, read_responses, scan
from dokimasia.domain.call import ModelRef, ModelSpec
from dokimasia.domain.identity import Value, digest, value_id
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, InputError, Interrupted, NotFound
from dokimasia.gateway.budget import Budget
from dokimasia.graphs.context import Context
from dokimasia.runner.estimate import Estimate, SampleSize, estimate, size_of
from dokimasia.runner.observer import Observer, Silent
from dokimasia.runner.plan import EvaluationPlan, prompt_identity
from dokimasia.runner.results import summary_of
from dokimasia.runner.worker import EvaluationWorker
from dokimasia.runner.workshop import Stop, check_prices, open_workshop, with_known_price
from dokimasia.settings import Settings, load_settings, resolve_model
from dokimasia.storage.criteria import CollectedCriteria, load_collection
from dokimasia.storage.home import Home
from dokimasia.storage.results import record_event, reopen, result_failures
from dokimasia.storage.runs import Run, add_samples, create_run, get_run, load_samples, run_samples, set_status

Responses = dict[tuple[str, str, int], str]


class EvaluationRequest(Value):
    """What the user asks: a data file, a judge and candidates by name, and the options. Paths are kept absolute.

    `max_cost` is in US dollars. `fresh` makes a new run of the same plan, which the ledger answers where it can.
    """

    data: Path
    judge: str
    models: tuple[str, ...] = ()
    repeats: int = Field(default=1, ge=1)
    no_image: bool = False
    show_image: bool = False
    limit: int | None = Field(default=None, ge=1)
    seed: int = Field(default=0, ge=0)
    criteria: str | None = None
    responses: Path | None = None
    fresh: bool = False
    on_bad_sample: str = Field(default="fail", pattern="^(fail|skip)$")
    allow_fetch: bool = False
    max_cost: float | None = Field(default=None, ge=0)
    max_calls: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)

    @property
    def budget(self) -> Budget:
        """The limits on what this sitting may spend; no part of the run's identity."""
        return Budget(max_cost=self.max_cost, max_calls=self.max_calls, max_tokens=self.max_tokens)


class EvaluationResult(Value):
    """A finished, or unfinished, evaluation: its run's id, whether it is complete, and its figures ready for JSON."""

    run: str
    complete: bool
    summary: dict[str, Any]


async def evaluate(
    request: EvaluationRequest,
    *,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    prompts: PromptLibrary | None = None,
) -> EvaluationResult:
    """Run an evaluation, or continue it, or, where it is finished, return its figures without any call.

    Args:
        request: what is asked.
        settings: home, configuration and keys; read from the environment by default.
        observer: told what happens.
        stop: lets someone else ask the run to stop.
        transports: ways to a model that replace the package's own.
        prompts: prompts that replace the package's own.

    Raises:
        InputError: the data, the configuration or the options cannot be used; nothing was sent.
        HomeLocked: another process writes to the home.
        Interrupted: the run was asked to stop; what is finished is kept.
    """
    settings = settings or load_settings()
    with Home.open(settings.home, write=True) as home:
        responses, hashed = _read_responses(request)
        plan, samples, skipped = await asyncio.to_thread(_accept, request, settings, home, responses, hashed, prompts)
        if request.fresh:
            plan = _next_fresh(home, plan)
        check_prices(plan.options.models, max_cost=request.max_cost)
        run, new = await create_run(home, _run_row(plan, request, skipped))
        if new or len(run_samples(home, plan.run_id)) != len(samples):
            await add_samples(home, plan.run_id, samples)
        return await _carry_out(
            home, run, plan, request, settings, responses, observer, stop, transports, prompts, map(size_of, samples)
        )


async def resume(
    run: Run,
    *,
    settings: Settings,
    request: EvaluationRequest | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    prompts: PromptLibrary | None = None,
) -> EvaluationResult:
    """Go on with an accepted run, from the store alone: the data file is not needed any more.

    Args:
        run: the run's row.
        request: replaces the limits on spending; by default there are none.

    Raises:
        ConfigError: the prompts are not those of the run any more.
        Interrupted: the run was asked to stop again.
    """
    plan, accepted = read_plan(run)
    if prompt_identity(prompts) != dict(plan.prompts):
        raise ConfigError(
            f"run {run.id} was accepted with other prompts ({_prompt_difference(plan, prompts)}): go on with the version "
            "that made it, or evaluate anew; the ledger answers what did not change"
        )
    plan = _reached_anew(plan, settings)
    request = request or accepted.model_copy(update={"max_cost": None, "max_calls": None, "max_tokens": None})
    with Home.open(settings.home, write=True, create=False) as home:
        responses, hashed = _read_responses(request)
        if hashed != plan.responses:
            raise DataError(
                f"{request.responses} has changed since run {run.id} was accepted; evaluate it as a new run"
            )
        sizes = (size_of(sample) for sample in load_samples(home, run.id))
        return await _carry_out(
            home, run, plan, request, settings, responses, observer, stop, transports, prompts, sizes
        )


def prepare(
    request: EvaluationRequest, *, settings: Settings, blobs: BlobStore, prompts: PromptLibrary | None = None
) -> tuple[EvaluationPlan, list[Sample], Estimate]:
    """Read and check everything that a run would need, without a home and without any call (`--dry-run`).

    Raises:
        InputError: the data, the configuration or the options cannot be used.
    """
    responses, hashed = _read_responses(request)
    samples, _ = _samples(request, blobs)
    plan = _plan(request, settings, samples, responses, hashed, prompts)
    return plan, samples, estimate(plan, map(size_of, samples))


def read_plan(run: Run) -> tuple[EvaluationPlan, EvaluationRequest]:
    """Return the plan and the request that a run was accepted with.

    Raises:
        NotFound: the run is not an evaluation.
    """
    if run.graph != "evaluate":
        raise NotFound(f"run {run.id} is of kind {run.graph!r}, not an evaluation")
    return EvaluationPlan.model_validate(run.options["plan"]), EvaluationRequest.model_validate(run.options["request"])


async def _carry_out(
    home: Home,
    run: Run,
    plan: EvaluationPlan,
    request: EvaluationRequest,
    settings: Settings,
    responses: Responses | None,
    observer: Observer | None,
    stop: Stop | None,
    transports: Mapping[str, Transport] | None,
    prompts: PromptLibrary | None,
    sizes: Iterator[SampleSize],
) -> EvaluationResult:
    watching = observer or Silent()
    if run.status == "done":
        return EvaluationResult(run=run.id, complete=True, summary=summary_of(home, run))
    specs = dict(plan.options.models)
    check_prices(specs, max_cost=request.max_cost)
    watching.planned(run.id, estimate(plan, sizes))
    await reopen(home, run.id, failures=("budget",))
    await set_status(home, run.id, "running")
    reached = {spec.ref.name: spec for spec in specs.values() if plan.responses is None or spec is plan.judge}
    try:
        async with open_workshop(
            home,
            settings,
            reached,
            budget=request.budget,
            seed=plan.seed,
            observer=watching,
            stop=stop or Stop(),
            transports=transports,
        ) as workshop:
            worker = EvaluationWorker(
                home=home,
                plan=plan,
                context=Context(workshop.gateway, workshop.store, plan.options, plan.seed, prompts),
                saver=workshop.saver,
                observer=watching,
                stats=workshop.gateway.stats,
                criteria=_collected(home, plan),
                responses=responses,
            )
            count = len(run_samples(home, run.id))
            await worker.work(load_samples(home, run.id), count)
    except (Interrupted, asyncio.CancelledError):
        await set_status(home, run.id, "interrupted")
        raise
    open_items = result_failures(home, run.id).get("budget", 0)
    status = "interrupted" if open_items else "done"
    await record_event(home, run.id, "finished", {"status": status, "out_of_budget": open_items})
    await set_status(home, run.id, status)
    finished = get_run(home, run.id)
    return EvaluationResult(run=run.id, complete=not open_items, summary=summary_of(home, finished))


def _accept(
    request: EvaluationRequest,
    settings: Settings,
    home: Home,
    responses: Responses | None,
    hashed: str | None,
    prompts: PromptLibrary | None,
) -> tuple[EvaluationPlan, list[Sample], tuple[Problem, ...]]:
    samples, skipped = _samples(request, home.blobs)
    plan = _plan(request, settings, samples, responses, hashed, prompts)
    if plan.criteria is not None:
        _check_collection(home, plan.criteria, samples)
    return plan, samples, skipped


def _samples(request: EvaluationRequest, blobs: BlobStore) -> tuple[list[Sample], tuple[Problem, ...]]:
    """Read the whole file once: its samples, and what had to be skipped where that was asked for."""
    samples: list[Sample] = []
    problems: list[Problem] = []
    for found in scan(request.data, blobs=blobs, allow_fetch=request.allow_fetch, limit=request.limit):
        if isinstance(found, Sample):
            samples.append(found)
        else:
            problems.append(found)
    if problems and (request.on_bad_sample == "fail" or not samples):
        hint = "" if not samples else "\n(--on-bad-sample skip leaves such samples out)"
        raise DataError(problems_text(problems) + hint)
    return samples, tuple(problems)


def _plan(
    request: EvaluationRequest,
    settings: Settings,
    samples: list[Sample],
    responses: Responses | None,
    hashed: str | None,
    prompts: PromptLibrary | None,
) -> EvaluationPlan:
    if not samples:
        raise DataError(f"{request.data}: no sample in it; an evaluation needs at least one line with id and prompt")
    if responses is None:
        if not request.models:
            raise ConfigError("name at least one candidate with --models, or answers that exist with --responses FILE")
        candidates = tuple(with_known_price(resolve_model(settings, name)) for name in request.models)
    else:
        candidates = _answered(request, samples, responses)
    names = [spec.ref.name for spec in candidates]
    if len(set(names)) < len(names):
        raise ConfigError(f"a model is named twice in --models: {', '.join(sorted(names))}")
    return EvaluationPlan(
        data=digest("data", [[sample.id, value_id(sample)] for sample in samples]),
        judge=with_known_price(resolve_model(settings, request.judge)),
        candidates=candidates,
        repeats=request.repeats if responses is None else 1 + max(repeat for _, _, repeat in responses),
        no_image=request.no_image,
        show_image=request.show_image,
        limit=request.limit,
        seed=request.seed,
        criteria=request.criteria,
        responses=hashed,
        prompts=prompt_identity(prompts),
    )


def _answered(request: EvaluationRequest, samples: list[Sample], responses: Responses) -> tuple[ModelSpec, ...]:
    """Return the models whose answers are in the file, checked to have answered every sample."""
    if request.no_image:
        raise ConfigError("--no-image asks the candidates anew, which --responses does not; leave one of them out")
    named = list(dict.fromkeys(model for _, model, _ in responses))
    wanted = list(request.models) or named
    for model in wanted:
        missing = [sample.id for sample in samples if (sample.id, model, 0) not in responses]
        if missing:
            raise DataError(
                f"{request.responses}: {model} has no answer to {len(missing)} of {len(samples)} samples "
                f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}); add them, choose models with --models, "
                f"or shorten the data with --limit"
            )
    return tuple(ModelSpec(ref=ModelRef(name=model, model=model, endpoint="file")) for model in wanted)


def _read_responses(request: EvaluationRequest) -> tuple[Responses | None, str | None]:
    if request.responses is None:
        return None, None
    responses = {
        (answer.sample_id, answer.model, answer.repeat): answer.text for answer in read_responses(request.responses)
    }
    if not responses:
        raise DataError(f"{request.responses}: no answer in it")
    return responses, hashlib.sha256(request.responses.read_bytes()).hexdigest()[:32]


def _check_collection(home: Home, collection: str, samples: list[Sample]) -> None:
    known = {entry.sample_digest for entry in load_collection(home, collection)}
    if not known:
        raise NotFound(
            f"no criteria collection {collection!r} in {home.path}; import one: dokimasia criteria import FILE"
        )
    missing = [sample.id for sample in samples if sample.digest not in known]
    if missing:
        raise InputError(
            f"criteria {collection} have nothing for {len(missing)} of {len(samples)} samples "
            f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}): their question, image, options or reference "
            "differ from those that the criteria were made for; leave --criteria out to have the judge make them"
        )


def _collected(home: Home, plan: EvaluationPlan) -> Mapping[str, CollectedCriteria] | None:
    if plan.criteria is None:
        return None
    return {entry.sample_digest: entry for entry in load_collection(home, plan.criteria)}


def _run_row(plan: EvaluationPlan, request: EvaluationRequest, skipped: tuple[Problem, ...]) -> Run:
    options = {
        "plan": plan.model_dump(mode="json"),
        "request": request.model_dump(mode="json"),
        "skipped": [problem.message for problem in skipped],
    }
    return Run(
        id=plan.run_id,
        graph="evaluate",
        command=f"evaluate {request.data.name} --judge {request.judge} --models {','.join(request.models)}",
        data_name=str(request.data),
        data_hash=plan.data,
        options=orjson.loads(orjson.dumps(options)),
        seed=plan.seed,
        fresh=plan.fresh,
    )


def _next_fresh(home: Home, plan: EvaluationPlan) -> EvaluationPlan:
    while True:
        plan = plan.model_copy(update={"fresh": plan.fresh + 1})
        try:
            get_run(home, plan.run_id)
        except NotFound:
            return plan


def _reached_anew(plan: EvaluationPlan, settings: Settings) -> EvaluationPlan:
    """Return the plan with each model reached as the configuration says now, if it is still the same model."""

    def now(spec: ModelSpec) -> ModelSpec:
        try:
            found = resolve_model(settings, spec.ref.name)
        except ConfigError:
            return spec
        same = found.ref == spec.ref and found.sampling == spec.sampling
        return with_known_price(found) if same else spec

    candidates = plan.candidates if plan.responses is not None else tuple(now(spec) for spec in plan.candidates)
    return plan.model_copy(update={"judge": now(plan.judge), "candidates": candidates})


def _prompt_difference(plan: EvaluationPlan, prompts: PromptLibrary | None) -> str:
    now = prompt_identity(prompts)
    return ", ".join(name for name, version in sorted(plan.prompts.items()) if now.get(name) != version)
