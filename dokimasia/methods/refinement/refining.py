"""Self-correction of a stored run's failures: accept the refinement, do what has no result yet, return its figures."""

from collections.abc import Mapping
from typing import Any

from dokimasia.agents import PromptLibrary
from dokimasia.domain.identity import Value
from dokimasia.domain.ports import Transport
from dokimasia.errors import InputError, NotFound
from dokimasia.methods.evaluation.evaluation import reached_anew
from dokimasia.methods.refinement.plan import KIND, RefinementPlan, RefinementRequest, plan_of, prompts_of
from dokimasia.methods.refinement.results import refinement_rows, refinement_summary
from dokimasia.methods.refinement.source import Source, read_source
from dokimasia.methods.refinement.work import RefinementWorker
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.lifecycle import at_work, finish, next_fresh, run_row, without_limits
from dokimasia.runs.observer import Observer, Silent
from dokimasia.runs.samples import check_prompts, library_of
from dokimasia.runs.services import Stop, check_prices
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, create_run, get_run, load_samples, place_samples, run_samples

__all__ = [
    "RefinementRequest",
    "RefinementResult",
    "read_refinement",
    "refine",
    "refinement_rows",
    "resume_refinement",
]


class RefinementResult(Value):
    """A finished, or unfinished, refinement: its run's id, whether it is complete, and its figures ready for JSON."""

    run: str
    complete: bool
    summary: dict[str, Any]


async def refine(
    request: RefinementRequest,
    *,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    prompts: PromptLibrary | None = None,
) -> RefinementResult:
    """Let the models of a run mend what they got wrong, or continue that, or, where it is done, return its figures.

    Every arm takes up the same failed answers: those whose final answer is wrong, or, with a threshold, those whose
    weighted score lies below it. The refinement is a run of its own that names its source; the source stays as it is.

    Args:
        request: what is asked.
        settings: home, configuration and keys; read from the environment by default.
        observer: told what happens.
        stop: lets someone else ask the run to stop.
        transports: ways to a model that replace the package's own.
        prompts: prompts that replace the package's own.

    Raises:
        InputError: the run, its data or the options cannot be used; nothing was sent.
        Interrupted: the run was asked to stop; what is finished is kept.
    """
    settings = settings or load_settings()
    prompts = prompts or library_of(request.prompts)
    with Home.open(settings.home, write=True, create=False) as home:
        parent = get_run(home, request.run)
        source = read_source(home, parent)
        _check_references(home, parent, request)
        reached = source._replace(plan=reached_anew(source.plan, settings))
        plan = plan_of(request, reached.plan, source.taken, settings, prompts)
        if request.fresh:
            plan = next_fresh(home, plan)
        check_prices(plan.options.models, max_cost=request.max_cost)
        run, new = await create_run(home, _run_row(plan, request, parent))
        places = run_samples(home, parent.id)
        if new or len(run_samples(home, run.id)) != len(places):
            await place_samples(home, run.id, places)
        return await _carry_out(home, run, plan, request, source, settings, observer, stop, transports, prompts)


async def resume_refinement(
    run: Run,
    *,
    settings: Settings,
    request: RefinementRequest | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    prompts: PromptLibrary | None = None,
) -> RefinementResult:
    """Go on with an accepted refinement, from the store alone.

    Raises:
        ConfigError: the prompts are not those of the run any more.
        InputError: the run that is refined has changed since.
        Interrupted: the run was asked to stop again.
    """
    plan, accepted = read_refinement(run)
    request = request or without_limits(accepted)
    prompts = prompts or library_of(request.prompts)
    if run.status != "done":
        check_prompts(plan.prompts, prompts_of(plan.arms, prompts, leak_judge=plan.leak_judge), request.prompts, run.id)
    with Home.open(settings.home, write=True, create=False) as home:
        parent = get_run(home, plan.source)
        source = read_source(home, parent)
        if source.taken != plan.taken:
            raise InputError(
                f"run {run.id} refines run {plan.source}, whose answers have changed since (such as by a retry of what "
                "had failed); refine it anew"
            )
        places = run_samples(home, parent.id)
        if len(run_samples(home, run.id)) != len(places):
            await place_samples(home, run.id, places)
        return await _carry_out(home, run, plan, request, source, settings, observer, stop, transports, prompts)


def read_refinement(run: Run) -> tuple[RefinementPlan, RefinementRequest]:
    """Return the plan and the request that a refinement was accepted with.

    Raises:
        NotFound: the run is of another kind.
    """
    if run.options.get("kind") != KIND:
        raise NotFound(f"run {run.id} is of kind {run.graph!r}, not a refinement")
    return (
        RefinementPlan.model_validate(run.options["plan"]),
        RefinementRequest.model_validate(run.options["request"]),
    )


async def _carry_out(
    home: Home,
    run: Run,
    plan: RefinementPlan,
    request: RefinementRequest,
    source: Source,
    settings: Settings,
    observer: Observer | None,
    stop: Stop | None,
    transports: Mapping[str, Transport] | None,
    prompts: PromptLibrary | None,
) -> RefinementResult:
    watching = observer or Silent()
    if run.status == "done":
        return RefinementResult(run=run.id, complete=True, summary=refinement_summary(home, run))
    specs = dict(plan.options.models)
    check_prices(specs, max_cost=request.max_cost)
    watching.planned(run.id, Estimate(samples=len(run_samples(home, run.id)), models={}))
    async with at_work(
        home,
        run,
        specs,
        settings=settings,
        budget=request.budget,
        seed=plan.seed,
        observer=watching,
        stop=stop,
        transports=transports,
        prompts=prompts,
    ) as workshop:
        worker = RefinementWorker(home, run.id, plan, source, workshop, prompts, watching)
        await worker.work()
    finished = await finish(home, run)
    return RefinementResult(run=run.id, complete=finished.status == "done", summary=refinement_summary(home, finished))


def _check_references(home: Home, parent: Run, request: RefinementRequest) -> None:
    if request.threshold is not None or any(
        sample.reference_answer is not None for sample in load_samples(home, parent.id)
    ):
        return
    raise InputError(
        f"no sample of run {parent.id} has a reference answer, and without one nobody can say which final answers are "
        "wrong: add `reference_answer` to the data and evaluate it again (the ledger answers what did not change), or "
        "take up what scores low by the criteria: --threshold 3"
    )


def _run_row(plan: RefinementPlan, request: RefinementRequest, parent: Run) -> Run:
    return run_row(
        plan,
        request,
        graph="refine",
        command=request.command,
        data_name=parent.data_name,
        data_hash=parent.data_hash,
        seed=plan.seed,
        kind=KIND,
        source=parent.id,
    )
