"""Evaluate models on a data set: accept the run, do what has no result yet, and return its figures."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from dokimasia.agents import PromptLibrary
from dokimasia.agents.schemas import takes_schema
from dokimasia.datasets import Problem
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, NotFound
from dokimasia.graphs.context import Context
from dokimasia.runner.capabilities import with_capabilities
from dokimasia.runner.estimate import Estimate, SampleSize, estimate, size_of
from dokimasia.runner.inputs import (
    Accepted,
    EvaluationRequest,
    Responses,
    accepted,
    answered_by,
    check_accepted,
    check_collection,
    check_prompts,
    keep_accepted,
    library_of,
    read_answers,
    read_samples,
)
from dokimasia.runner.lifecycle import at_work, finish, next_fresh, run_row, without_limits
from dokimasia.runner.observer import Observer, Silent
from dokimasia.runner.plan import EvaluationPlan, prompt_identity
from dokimasia.runner.results import summary_of
from dokimasia.runner.taking import models_of_fork, taken_by
from dokimasia.runner.workshop import Stop, check_prices, with_known_price
from dokimasia.settings import Settings, load_settings, resolve_model
from dokimasia.storage.criteria import CollectedCriteria, load_collection
from dokimasia.storage.home import Home
from dokimasia.storage.results import count_failed
from dokimasia.storage.retries import retry_failed
from dokimasia.storage.runs import (
    Run,
    RunSample,
    create_run,
    load_samples,
    place_samples,
    run_samples,
)
from dokimasia.tools.registry import named


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
    prompts = prompts or library_of(request.prompts)
    with Home.open(settings.home, write=True) as home:
        responses, hashed = read_answers(request)
        samples, skipped = await asyncio.to_thread(keep_accepted, request, home)
        plan = _plan(request, settings, samples, responses, hashed, prompts)
        if plan.criteria is not None:
            check_collection(home, plan.criteria, samples)
        if request.fresh:
            plan = next_fresh(home, plan)
        check_prices(plan.options.models, max_cost=request.max_cost)
        run, new = await create_run(home, _run_row(plan, request, skipped))
        if new or len(run_samples(home, plan.run_id)) != len(samples):
            places = (RunSample(n, s.value, s.id, s.digest, s.cluster) for n, s in enumerate(samples))
            await place_samples(home, plan.run_id, places)
        sizes = [sample.size for sample in samples]
        del samples
        return await carry_out(
            home, run, plan, request, settings, responses, observer, stop, transports, prompts, iter(sizes)
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
    retry: Collection[FailureKind] = (),
) -> EvaluationResult:
    """Go on with an accepted run, from the store alone: the data file is not needed any more.

    Args:
        run: the run's row.
        request: replaces the limits on spending; by default there are none.
        retry: kinds of failure whose items are asked anew, each from the step that failed, under a new repeat index.

    Raises:
        ConfigError: the prompts are not those of the run any more.
        Interrupted: the run was asked to stop again.
    """
    plan, asked = read_plan(run)
    request = request or without_limits(asked)
    if run.status != "done" or retry:
        prompts = prompts or library_of(request.prompts)
        check_prompts(
            plan.prompts, prompt_identity(prompts, structured_output=True, tools=True), request.prompts, run.id
        )
    plan = reached_anew(plan, settings)
    with Home.open(settings.home, write=True, create=False) as home:
        check_accepted(home, run.id, plan.data)
        responses, hashed = read_answers(request)
        if hashed != plan.responses:
            raise DataError(
                f"{request.responses} has changed since run {run.id} was accepted; evaluate it as a new run"
            )
        sizes = (size_of(sample) for sample in load_samples(home, run.id))
        return await carry_out(
            home, run, plan, request, settings, responses, observer, stop, transports, prompts, sizes, retry
        )


def prepare(
    request: EvaluationRequest, *, settings: Settings, blobs: BlobStore, prompts: PromptLibrary | None = None
) -> tuple[EvaluationPlan, list[Sample], Estimate]:
    """Read and check everything that a run would need, without a home and without any call (`--dry-run`).

    Raises:
        InputError: the data, the configuration or the options cannot be used.
    """
    prompts = prompts or library_of(request.prompts)
    responses, hashed = read_answers(request)
    samples, _ = read_samples(request, blobs)
    plan = _plan(request, settings, list(map(accepted, samples)), responses, hashed, prompts)
    return plan, samples, estimate(plan, map(size_of, samples))


def read_plan(run: Run) -> tuple[EvaluationPlan, EvaluationRequest]:
    """Return the plan and the request that a run was accepted with.

    Raises:
        NotFound: the run is not an evaluation.
    """
    if run.graph != "evaluate":
        raise NotFound(f"run {run.id} is of kind {run.graph!r}, not an evaluation")
    return EvaluationPlan.model_validate(run.options["plan"]), EvaluationRequest.model_validate(run.options["request"])


async def carry_out(
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
    retry: Collection[FailureKind] = (),
) -> EvaluationResult:
    """Do what an accepted run has no result for, whatever it came from: a new request, a resume or a fork."""
    watching = observer or Silent()
    if run.status == "done" and not count_failed(home, run.id, retry):
        return EvaluationResult(run=run.id, complete=True, summary=summary_of(home, run))
    from dokimasia.runner.worker import EvaluationWorker

    taken = taken_by(home, plan)
    reached = plan.models_for(plan.asks) if plan.fork is None else models_of_fork(home, run.id, plan, taken, retry)
    check_prices(reached, max_cost=request.max_cost)
    candidates = [spec.ref.name for spec in plan.candidates if spec.ref.name in reached]
    watching.planned(run.id, estimate(plan, sizes))
    async with at_work(
        home,
        run,
        reached,
        settings=settings,
        budget=request.budget,
        seed=plan.seed,
        observer=watching,
        stop=stop,
        transports=transports,
        prompts=prompts,
    ) as workshop:
        await retry_failed(home, run.id, failures=retry)
        worker = EvaluationWorker(
            home=home,
            plan=plan,
            context=Context(workshop.gateway, workshop.store, plan.options, plan.seed, prompts, home.blobs),
            saver=workshop.saver,
            observer=watching,
            stats=workshop.gateway.stats,
            uneven=lambda: workshop.gateway.uneven(candidates),
            criteria=_collected(home, plan),
            responses=responses,
            taken=taken,
            keep_checkpoints=request.keep_checkpoints,
        )
        count = len(run_samples(home, run.id))
        await worker.work(load_samples(home, run.id), count)
    finished = await finish(home, run)
    return EvaluationResult(run=run.id, complete=finished.status == "done", summary=summary_of(home, finished))


def _plan(
    request: EvaluationRequest,
    settings: Settings,
    samples: Sequence[Accepted],
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
        candidates = answered_by(request, samples, responses)
    names = [spec.ref.name for spec in candidates]
    if len(set(names)) < len(names):
        raise ConfigError(f"a model is named twice in --models: {', '.join(sorted(names))}")
    tools = named(request.tools)
    judge = with_capabilities(with_known_price(resolve_model(settings, request.judge)), settings.home)
    return EvaluationPlan(
        data=digest("data", [[sample.id, sample.value] for sample in samples]),
        judge=judge,
        candidates=candidates,
        repeats=request.repeats if responses is None else 1 + max(repeat for _, _, repeat in responses),
        no_image=request.no_image,
        show_image=request.show_image,
        tools=tools,
        looks=request.looks,
        limit=request.limit,
        seed=request.seed,
        criteria=request.criteria,
        responses=hashed,
        prompts=prompt_identity(prompts, structured_output=takes_schema(judge), tools=bool(tools)),
    )


def _collected(home: Home, plan: EvaluationPlan) -> Mapping[str, CollectedCriteria] | None:
    if plan.criteria is None:
        return None
    return {entry.sample_digest: entry for entry in load_collection(home, plan.criteria)}


def _run_row(plan: EvaluationPlan, request: EvaluationRequest, skipped: tuple[Problem, ...]) -> Run:
    return run_row(
        plan,
        request,
        graph="evaluate",
        command=request.command,
        data_name=request.data.name,
        data_hash=plan.data,
        seed=plan.seed,
        skipped=[problem.message for problem in skipped],
    )


def reached_anew(plan: EvaluationPlan, settings: Settings) -> EvaluationPlan:
    """Return the plan with each model reached as the configuration says now, if it is still the same model.

    Its capabilities stay as they were settled when the run was accepted: they decide what it is asked.
    """

    def now(spec: ModelSpec) -> ModelSpec:
        try:
            found = resolve_model(settings, spec.ref.name)
        except ConfigError:
            return spec
        same = found.ref == spec.ref and found.sampling == spec.sampling
        return with_known_price(found).model_copy(update={"capabilities": spec.capabilities}) if same else spec

    candidates = plan.candidates if plan.responses is not None else tuple(now(spec) for spec in plan.candidates)
    judges = {node: now(spec) for node, spec in plan.judges.items()}
    return plan.model_copy(update={"judge": now(plan.judge), "judges": judges, "candidates": candidates})
