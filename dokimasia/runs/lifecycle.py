"""The life-cycle of a run, once for every method: accepted, carried out, interrupted, resumed, retried, finished."""

import asyncio
import sys
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from dokimasia import __version__
from dokimasia.domain.identity import Value, value_id
from dokimasia.domain.judgement import OPEN_KINDS, FailureKind
from dokimasia.domain.ports import Transport
from dokimasia.errors import CallFailed, InputError, Interrupted, NotFound, StorageError
from dokimasia.prompts import PromptLibrary
from dokimasia.runs.ending import SPENT, End, check_measures, judge, waited_for
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.method import Accepted, Method
from dokimasia.runs.observer import Observer, Silent
from dokimasia.runs.plans import RunPlan, reached_now, run_id
from dokimasia.runs.registry import method_of
from dokimasia.runs.requests import DataRequest, Invocation, RunRequest
from dokimasia.runs.samples import check_prompts, check_versions
from dokimasia.runs.services import Services, Stop, check_prices, open_services
from dokimasia.runs.session import Session, hash_of
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.naming import name_run
from dokimasia.storage.results import count_failed, record_event, reopen, result_failures
from dokimasia.storage.retries import retry_failed
from dokimasia.storage.runs import (
    Run,
    RunStatus,
    SqliteRunStore,
    add_samples,
    create_run,
    get_run,
    place_samples,
    run_samples,
    set_status,
)
from dokimasia.storage.threads import live_threads
from dokimasia.storage.usage import count_calls

if TYPE_CHECKING:
    from dokimasia.runs.work import Job

Q = TypeVar("Q", bound=RunRequest)
P = TypeVar("P", bound=RunPlan)
AnyMethod = Method[Any, Any]


class RunResult(Value):
    """A finished, or unfinished, run: its id, whether it is complete but for what a person has to do, and its figures.

    `end` says how it ended, and `why` in a sentence where that is not as it was wanted.
    """

    run: str
    complete: bool
    summary: dict[str, Any]
    end: End = "complete"
    why: str = ""


async def run(
    method: Method[Q, P],
    request: Q,
    *,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    prompts: PromptLibrary | None = None,
    given: Any = None,
) -> RunResult:
    """Do what is asked, or continue it where it was interrupted, or, where it is finished, return its figures unasked.

    Args:
        method: the method.
        request: what is asked.
        settings: home, configuration and keys; read from the environment by default.
        observer: told what happens.
        stop: lets someone else ask the run to stop.
        transports: ways to a model that replace the package's own.
        prompts: prompts that replace the package's own.
        given: what the method takes beside its request, such as criteria that a program holds.

    Raises:
        InputError: the data, the configuration or the options cannot be used; nothing was sent.
        HomeLocked: another process writes to the home.
        Interrupted: the run was asked to stop; what is finished is kept.
    """
    settings = settings or load_settings()
    library = method.library(request, given) if prompts is None else prompts
    with Home.open(settings.home, write=True, create=request.makes_home) as home:
        session = Session(settings, home, library, given=given, transports=tuple(transports or ()))
        row, new = await keep_accepted(method, home, request, await method.accept(request, session))
        return await carry_out(
            method, session, row, request, observer=observer, stop=stop, transports=transports, new=new
        )


async def resume(
    run: Run,
    *,
    settings: Settings,
    changes: Mapping[str, Any] | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    prompts: PromptLibrary | None = None,
    retry: Collection[FailureKind] = (),
    given: Any = None,
) -> RunResult:
    """Go on with an accepted run from the store alone: the data file is not needed any more.

    Args:
        run: the run's row.
        settings: home, configuration and keys.
        changes: fields of the request that hold for this invocation, such as limits; by default nothing is limited.
        observer: told what happens.
        stop: lets someone else ask the run to stop.
        transports: ways to a model that replace the package's own.
        prompts: prompts that replace the package's own.
        retry: kinds of failure whose items are asked anew, as new draws; every earlier outcome is kept on record.
        given: what the method takes beside its request.

    Raises:
        ConfigError: the prompts or the graphs are not those of the run any more.
        InputError: what the run was accepted with has changed, or its failures cannot be asked anew.
        Interrupted: the run was asked to stop again.
    """
    method = method_of(run)
    plan, accepted = method.read(run)
    request = accepted.model_copy(update={**Invocation().invocation, **(changes or {})})
    library = method.library(request, given) if prompts is None else prompts
    if retry and method.retry is not None:
        raise InputError(f"{method.title} cannot ask anew what failed: {method.retry}")
    if run.status != "done" or retry:
        check_versions(method, run, plan)
        check_prompts(plan.prompts, library.identity(), request.prompts, run.id)
    with Home.open(settings.home, write=True, create=False) as home:
        check_samples(home, run)
        session = Session(settings, home, library, given=given)
        if method.resumable is not None:
            method.resumable(session, run, plan, request)
        return await carry_out(
            method, session, run, request, observer=observer, stop=stop, transports=transports, retry=retry
        )


async def keep_accepted(
    method: Method[Q, P], home: Home, request: Q, accepted: Accepted[P], *, command: str = "", **more: Any
) -> tuple[Run, bool]:
    """Keep what was accepted: the run's row with plan and request, its samples, and what else belongs to it.

    Returns the row, and whether it is a new run.

    Args:
        method: the method.
        home: open for writing.
        request: what was asked.
        accepted: what it came to.
        command: the command that repeats it, by default the request's.
        more: further notes, kept in the run's row.

    Raises:
        ConfigError: `max_cost` is given and a model's price is unknown.
    """
    plan = accepted.plan
    if request.fresh:
        plan = next_fresh(method, home, plan)
    check_prices({name: plan.models[name] for name in accepted.estimate.models}, max_cost=request.max_cost)
    store = SqliteRunStore(home)
    for value in accepted.values:
        await store.put(value)
    row, new = await create_run(home, run_row(method, plan, request, accepted, command=command, **more))
    count = len(accepted.samples) or len(accepted.places)
    if new or len(run_samples(home, row.id)) != count:
        await add_samples(home, row.id, accepted.samples)
        await place_samples(home, row.id, accepted.places)
    if accepted.keep is not None:
        await accepted.keep(home, row)
        row = get_run(home, row.id)
    return row, new


def run_row(method: Method[Q, P], plan: P, request: Q, accepted: Accepted[P], *, command: str = "", **more: Any) -> Run:
    """Return the row of an accepted run; plan and request, from which it can go on, are among its options."""
    places = [(one.sample_id, one.sample) for one in accepted.places]
    asked = accepted.request or request
    kept: dict[str, Any] = {
        "plan": plan,
        "request": asked,
        "estimate": accepted.estimate.model_dump(mode="json", exclude={"answered"}),
        "samples": hash_of(places or [(one.id, value_id(one)) for one in accepted.samples]),
        "versions": {"method": method.version, **method.graphs_of(plan)},
        "skipped": list(accepted.skipped),
        "needs": list(accepted.needs),
        **accepted.notes,
        **more,
    }
    shown = {name: one.model_dump(mode="json") if isinstance(one, Value) else one for name, one in kept.items()}
    return Run(
        id=run_id(method, plan),
        method=method.name,
        command=command or asked.command,
        data_name=accepted.data_name or (asked.data.name if isinstance(asked, DataRequest) else ""),
        data_hash=accepted.data_hash or getattr(accepted.plan, "data", ""),
        options=orjson.loads(orjson.dumps(shown)),
        seed=plan.seed,
        fresh=plan.fresh,
        version=__version__,
    )


def next_fresh(method: AnyMethod, home: Home, plan: P) -> P:
    """Return the plan as a new run: counted on until the home has no such run."""
    while True:
        plan = plan.model_copy(update={"fresh": plan.fresh + 1})
        try:
            get_run(home, run_id(method, plan))
        except NotFound:
            return plan


async def carry_out(
    method: AnyMethod,
    session: Session,
    run: Run,
    request: RunRequest,
    *,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    retry: Collection[FailureKind] = (),
    new: bool = False,
) -> RunResult:
    """Do what an accepted run has no result for, whatever it came from: a new request, a resume or a fork.

    One that is refused before it begins, such as for want of a key, keeps the status that it had, and a `new` one failed.
    """
    home = session.opened
    check_measures(method, request)
    await name_run(home, run.id, request.name, request.tags)
    if run.status == "done" and not count_failed(home, run.id, retry):
        return _ended(method, home, run, request, complete=True)
    from dokimasia.runs.work import Job

    watching = observer or Silent()
    plan = reached_now(method.read(run)[0], session.settings)
    reached = plan.models if method.reaches is None else method.reaches(home, run, plan, retry)
    check_prices(reached, max_cost=request.max_cost)
    opening = open_services(
        session,
        run.id,
        reached,
        budget=request.budget,
        seed=plan.seed,
        observer=watching,
        stop=stop or Stop(),
        transports=transports,
        goes_on=request.allows_every_failure,
    )
    answered = count_calls(home, run.id)
    async with _at_work(home, run, opening, retry=retry, new=new) as services:
        expected = Estimate.model_validate(run.options["estimate"])
        kept = count_calls(home, run.id) if retry else answered
        watching.planned(run.id, expected.model_copy(update={"answered": kept}))
        job = Job(method.name, session, run, plan, request, services, watching)
        left = await _work(method, job)
        if left is None and method.ended is not None:
            await method.ended(job)
    held = left is None and job.held_open
    finished = await finish(home, run, left="budget" if held else left, told=not job.held_open)
    if finished.status in ("done", "waiting"):
        await services.people.withdraw_others()
    return _ended(method, home, finished, request, complete=held or finished.status == "done")


def _ended(method: AnyMethod, home: Home, run: Run, request: RunRequest, *, complete: bool) -> RunResult:
    """Return what a run came to, held against what was wanted of it."""
    figures = method.figures(home, run)
    if complete:
        end, why = judge(method, home, run, request, figures)
    else:
        end, why = ("waiting", waited_for(home, run)) if run.status == "waiting" else ("spending", SPENT)
    return RunResult(run=run.id, complete=complete, summary=figures, end=end, why=why)


async def _work(method: AnyMethod, job: "Job[Any]") -> FailureKind | None:
    """Do all stages, and return what keeps them from their end: the budget, or a person who has not answered yet.

    Raises:
        CallFailed: a call failed for another reason.
    """
    try:
        async for stage in method.stages(job):
            await job.do(stage)
    except CallFailed as failed:
        if failed.kind not in OPEN_KINDS:
            raise
        return failed.kind
    return None


@asynccontextmanager
async def _at_work(
    home: Home, run: Run, opening: AbstractAsyncContextManager[Services], *, retry: Collection[FailureKind], new: bool
) -> AsyncIterator[Services]:
    """Open what a run works with; it is `running` inside, and `interrupted` where the work is stopped by someone.

    Where it ends in an error it is `failed`, whatever the error, and never stays `running`. What cannot be opened, such as
    for want of a key, changes nothing of a run that was there before. It is marked before anything
    of it is opened again, so that a run which dies in between does not pass for finished. Items that were left open,
    and those to be retried, are taken up again; threads that belong to nothing any more are swept.

    Raises:
        ConfigError: the key of a model is not in the environment.
        Unreachable: a model cannot be asked at all.
        Interrupted: the work was asked to stop; what is finished is kept.
    """
    from dokimasia.storage.checkpoints import sweep_orphans

    ended: RunStatus = "failed"
    began = new
    try:
        async with opening as services:
            began = True
            await set_status(home, run.id, "running")
            await reopen(home, run.id)
            await retry_failed(home, run.id, failures=retry)
            await sweep_orphans(services.saver, live_threads(home))
            yield services
    except (Interrupted, asyncio.CancelledError):
        ended = "interrupted"
        raise
    finally:
        if began and sys.exception() is not None:
            with suppress(StorageError):
                await set_status(home, run.id, ended)


async def finish(home: Home, run: Run, *, left: FailureKind | None = None, told: bool = True) -> Run:
    """Mark a run as done; as waiting where people alone are waited for; as interrupted where else something is left open.

    `left` is what kept its stages from their end. Returns its row.
    """
    failures = result_failures(home, run.id)
    unpaid, waiting = failures.get("budget", 0), failures.get("waiting", 0)
    status: RunStatus = "waiting" if waiting or left == "waiting" else "done"
    if unpaid or left == "budget":
        status = "interrupted"
    if told:
        counted = {"out_of_budget": unpaid, **({"waiting": waiting} if waiting else {})}
        await record_event(home, run.id, "finished", {"status": status, **counted})
    await set_status(home, run.id, status)
    return get_run(home, run.id)


def check_samples(home: Home, run: Run) -> None:
    """Refuse to go on with a run whose process died while its samples were being kept.

    Raises:
        InputError: the samples that are there are not all that the run was accepted with.
    """
    kept = [(place.sample_id, place.sample) for place in run_samples(home, run.id)]
    if hash_of(kept) != run.options["samples"]:
        raise InputError(
            f"run {run.id} was stopped before all of its samples were kept ({len(kept)} are): give the command that began "
            "it once more, with the data file"
        )
