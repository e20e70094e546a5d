"""The life cycle of a run, shared by all methods: accepted, carried out, interrupted, resumed, retried, finished."""

import asyncio
import sys
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import PrivateAttr

from dokimasia.domain.call import STORED, ModelSpec
from dokimasia.domain.identity import JsonObject, Value
from dokimasia.domain.judgement import OPEN_KINDS, FailureKind
from dokimasia.domain.ports import Transport
from dokimasia.domain.wording import has_or_have
from dokimasia.errors import CallFailed, ConfigError, InputError, Interrupted, NotFound, StorageError
from dokimasia.graphs.blocking import block_on
from dokimasia.prompts import PromptLibrary
from dokimasia.report.figures import in_words, several
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.estimate import Estimate, limit_notes
from dokimasia.runs.kept_figures import finished_figures
from dokimasia.runs.method import AnyMethod, Export, Method
from dokimasia.runs.observer import Observer, SilentObserver
from dokimasia.runs.outcome import (
    End,
    check_measures,
    describe_spending,
    is_still_waiting,
    outcome_of,
    outcome_of_error,
    pending_people,
    python_way,
    record_end,
    settle_status,
)
from dokimasia.runs.persistence import check_prompts, check_samples, check_versions, keep_limits, persist_run
from dokimasia.runs.plans import RunPlan, as_configured_now, run_id
from dokimasia.runs.preview import begun_json, calls_made, estimate_json, prompts_json, require_keys
from dokimasia.runs.rehearsal import accept_again, accept_with_estimate
from dokimasia.runs.requests import LIMITS, DataRequest, Invocation, RunRequest, check_range
from dokimasia.runs.services import Services, SharedServices, Stop, check_prices, open_services, share_services
from dokimasia.runs.session import Accepted, Session
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.naming import name_run
from dokimasia.storage.results import count_failed, reopen, result_failures
from dokimasia.storage.retries import retry_failed
from dokimasia.storage.runs import Run, RunStatus, get_run, set_status
from dokimasia.storage.spending import spent_by
from dokimasia.storage.threads import live_threads

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from pandas import DataFrame

    from dokimasia.runs.work import Job

Q = TypeVar("Q", bound=RunRequest)
P = TypeVar("P", bound=RunPlan)

HomeLike = str | Path | Home
"""A home: its folder, or an open one."""


class RunResult(Value):
    """A run's result: its id, its figures, and whether everything except work for people is done.

    `end` says how the run ended; `why` explains any end other than `complete`. `rows` are read from the home.
    """

    run: str
    complete: bool
    summary: JsonObject
    end: End = "complete"
    why: str = ""
    _home: Path | None = PrivateAttr(default=None)

    @property
    def home(self) -> Path | None:
        """The folder of the run's home; None if the result does not come from a run of this process."""
        return self._home

    def read_from(self, home: Path) -> Self:
        """Return the result of a run, reading `rows` from this home."""
        self._home = home
        return self

    @property
    def rows(self) -> list[dict[str, object]]:
        """The rows of `dokimasia export`, one for each item: scores, failures, calls, tokens and cost.

        Raises:
            StorageError: the home is gone, or a value of the run is missing or damaged.
        """
        return [dict(row) for row in self._export().rows]

    def to_pandas(self) -> "DataFrame":
        """Return the rows as a data frame of pandas, with the columns in the order of an export.

        Raises:
            ConfigError: pandas is not installed.
            StorageError: the home is gone, or a value of the run is missing or damaged.
        """
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ConfigError("to_pandas needs pandas: pip install 'dokimasia[pandas]', or take `rows`") from error
        export = self._export()
        return DataFrame([dict(row) for row in export.rows], columns=list(export.columns))

    def _export(self) -> Export:
        if self._home is None:
            raise StorageError(f"the result of run {self.run} was not made by a run of this process: no home is known")
        from dokimasia.runs.reading.exporting import export_rows

        with Home.open(self._home, write=False) as home:
            row = get_run(home, self.run)
            # in a thread, since the caller may be inside an event loop
            with ThreadPoolExecutor(1) as reader:
                return reader.submit(asyncio.run, export_rows(home, row)).result()

    def __eq__(self, other: object) -> bool:
        """Compare results by content, regardless of their homes."""
        return isinstance(other, RunResult) and self.model_dump() == other.model_dump()

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        """Return the id, the end and the models, without the figures."""
        models = self.summary.get("models")
        named = f", models={list(models)}" if isinstance(models, dict) else ""
        why = f", why={self.why!r}" if self.why else ""
        return f"RunResult({self.run!r}, end={self.end!r}{why}{named})"

    __str__ = __repr__


RunLike = str | Run | RunResult
"""A run: its name, the beginning of its id, or `last`; its row; or its result."""


def name_of_run(run: RunLike) -> str:
    """Return the name of a run in its home."""
    if isinstance(run, RunResult):
        return run.run
    if isinstance(run, Run):
        return run.id
    return run


def place_of(settings: Settings | None, home: HomeLike | None, *runs: object) -> tuple[Settings, Home | None]:
    """Return the settings of a function's home, and the home itself if it is open.

    Args:
        settings: home and configuration; read from the environment by default.
        home: a home that replaces that of the settings.
        runs: the runs to read; without settings and a home, the home of the first `RunResult` is used.
    """
    configuration = settings or load_settings()
    if isinstance(home, Home):
        return configuration, home
    if home is not None:
        return configuration.at(home), None
    results = [run for run in runs if isinstance(run, RunResult) and run.home is not None]
    if settings is None and results and results[0].home is not None:
        return configuration.at(results[0].home), None
    return configuration, None


@contextmanager
def open_for_reading(settings: Settings, home: Home | None) -> Iterator[Home]:
    """Yield the open home, or the home of the settings, opened for reading."""
    if home is not None:
        yield home
        return
    with Home.open(settings.home, write=False) as opened:
        yield opened


async def run(
    method: Method[Q, P],
    request: Q,
    *,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    chat_models: "Mapping[str, BaseChatModel] | None" = None,
    prompts: PromptLibrary | None = None,
    given: object = None,
    home: HomeLike | None = None,
) -> RunResult:
    """Run a request and return its result.

    An interrupted run continues; a finished one is returned without calling any model.

    Args:
        method: the method.
        request: the request.
        settings: home, configuration and keys; read from the environment by default.
        observer: receives the progress.
        stop: lets other code ask the run to stop.
        transports: transports that replace the package's own, by name.
        chat_models: LangChain chat models by their names in the request.
        prompts: prompts that replace the package's own.
        given: inputs of the method that are not in its request, such as a program's own criteria.
        home: a folder, or a home that is open for writing. The caller closes an open home and the transports, so that
            several runs can share them in one event loop. By default the home of the settings is opened for this run
            and closed.

    Raises:
        InputError: the data, the configuration or the options cannot be used; nothing was sent.
        HomeLocked: another process writes to the home.
        Interrupted: the run was asked to stop; finished items are kept.
    """
    settings, opened_home = place_of(settings, home)
    settings = settings.with_chat_models(chat_models)
    library = method.library(request, given) if prompts is None else prompts
    async with open_home(settings, opened_home, transports, create=request.makes_home) as opened:
        session = Session(settings, opened, library, given=given, transports=tuple(transports or ()))
        accepted = await accept_with_estimate(method, request, session)
        await check_new_keys(method, session, request, accepted)
        row, new = await persist_run(method, opened, request, accepted)
        return await carry_out(
            method,
            session,
            row,
            request,
            control_of(observer, stop, transports),
            new=new,
            estimate=accepted.estimate,
        )


async def check_new_keys(method: AnyMethod, session: Session, request: RunRequest, accepted: Accepted[RunPlan]) -> None:
    """Check that the models of an accepted request have their keys, unless the run is done.

    Call it before the run is stored; samples and images already are.

    Raises:
        ConfigError: the message names every unset variable, with its model.
    """
    with suppress(NotFound):
        if not request.fresh and get_run(session.opened, run_id(method, accepted.plan)).status == "done":
            return
    models, estimate = as_configured_now(accepted.plan, session.settings).models, accepted.estimate
    called = {**estimate.asked, **estimate.undecided}
    await asyncio.to_thread(
        require_keys,
        session.settings,
        {name: models[name] for name in estimate.models},
        request,
        asked={name for name, expected in called.items() if expected.calls},
        transports=session.transports,
    )


def run_sync(method: AnyMethod, request: RunRequest, **services: Any) -> RunResult:
    """Run a request as `run` does, for callers without an event loop.

    Raises:
        LoopRunning: called inside a running event loop; use `await run(method, request)` there.
    """
    return block_on(
        lambda: run(method, request, **services),
        called="a function that ends with _sync",
        instead="`await` and its name without _sync",
    )


async def resume(
    run: Run,
    *,
    settings: Settings,
    changes: Mapping[str, object] | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    chat_models: "Mapping[str, BaseChatModel] | None" = None,
    prompts: PromptLibrary | None = None,
    retry: Collection[FailureKind] = (),
    given: object = None,
    home: Home | None = None,
) -> RunResult:
    """Continue an accepted run and return its result; its data file is not needed.

    Args:
        run: the run's row.
        settings: home, configuration and keys.
        changes: fields of the request to change for this invocation. Limits on spending stay unless changed here (None
            removes a limit); earlier spending counts.
        observer: receives the progress.
        stop: lets other code ask the run to stop.
        transports: transports that replace the package's own, by name.
        chat_models: the run's LangChain chat models, by name; the same as before.
        prompts: prompts that replace the package's own.
        retry: kinds of failure whose items are repeated as new draws; earlier outcomes stay on record.
        given: inputs of the method that are not in its request.
        home: an open home; see `run`.

    Raises:
        ConfigError: the prompts or the graphs have changed.
        InputError: other inputs of the run have changed, or its failures cannot be repeated, or not while it is at
            work.
        Interrupted: the run was asked to stop again.
    """
    settings = settings.with_chat_models(chat_models)
    method, plan, request, library = await asyncio.to_thread(
        prepare_resume, run, changes=changes, prompts=prompts, retry=retry, given=given
    )
    async with open_home(settings, home, transports, create=False) as opened:
        await asyncio.to_thread(check_samples, opened, run)
        session = Session(settings, opened, library, given=given)
        if method.reruns.check is not None:
            await asyncio.to_thread(method.reruns.check, session, run, plan, request)
        estimate: Estimate | None = None
        if run.status != "done" and calls_made(opened, run.id):
            estimate = (await _accept_again(method, plan, request, session, run)).estimate
        return await carry_out(
            method,
            session,
            run,
            request,
            control_of(observer, stop, transports),
            retry=retry,
            estimate=estimate,
        )


async def _accept_again(
    method: AnyMethod, plan: RunPlan, request: RunRequest, session: Session, run: Run
) -> Accepted[RunPlan]:
    """Accept a run again, in a thread with its own event loop, since parts of this block."""
    return await asyncio.to_thread(lambda: asyncio.run(accept_again(method, plan, request, session, run)))


async def preview_resume(
    home: Home,
    run: Run,
    *,
    settings: Settings,
    changes: Mapping[str, object] | None = None,
    retry: Collection[FailureKind] = (),
    given: object = None,
) -> dict[str, object]:
    """Return the remaining calls and costs of an accepted run, ready for JSON, as counted by a dry run of its command.

    Raises:
        ConfigError: see `resume`.
        InputError: see `resume`.
    """
    method, plan, request, library = await asyncio.to_thread(
        prepare_resume, run, changes=changes, retry=retry, given=given
    )
    session = Session(settings, home, library, given=given)
    if method.reruns.check is not None:
        await asyncio.to_thread(method.reruns.check, session, run, plan, request)
    accepted = await _accept_again(method, plan, request, session, run)
    estimate, begun = accepted.estimate, begun_json(home, run)
    if failed := count_failed(home, run.id, retry):
        begun.pop("status", None)  # a finished run is reopened
        note = f"and what {several(failed, 'failed item')} {has_or_have(failed)} to be asked anew, which is not counted"
        estimate = estimate.model_copy(update={"notes": (*estimate.notes, note)})
    return {
        "run": run.id,
        **estimate_json(replace(accepted, estimate=estimate), request, spent_by(home, run.id)),
        **begun,
        "prompts": prompts_json(method, accepted, library),
    }


def prepare_resume(
    run: Run,
    *,
    changes: Mapping[str, object] | None = None,
    prompts: PromptLibrary | None = None,
    retry: Collection[FailureKind] = (),
    given: object = None,
) -> tuple[AnyMethod, RunPlan, RunRequest, PromptLibrary]:
    """Return the method, plan, request and prompts to continue an accepted run with, without opening a home.

    Raises:
        ConfigError: the prompts or the graphs have changed.
        InputError: its failures cannot be repeated.
    """
    method = method_of(run)
    plan, accepted = method.read(run)
    once = {name: value for name, value in Invocation().invocation.items() if name not in LIMITS}
    request = accepted.model_copy(update={**once, **(changes or {})})
    library = method.library(request, given) if prompts is None else prompts
    if retry and method.reruns.no_retry is not None:
        raise InputError(f"{method.title} cannot ask anew what failed: {method.reruns.no_retry}")
    if run.status != "done" or retry:
        check_range(accepted, run.id)
        check_versions(method, run, plan)
        check_prompts(plan.prompts, library.identity(), request.prompts, run.id)
    return method, plan, request, library


@asynccontextmanager
async def open_home(
    settings: Settings, opened: Home | None, transports: Mapping[str, Transport] | None, *, create: bool
) -> AsyncIterator[Home]:
    """Yield the caller's open home, or open one; on exit close it and the transports."""
    if opened is not None:
        yield opened
        return
    with Home.open(settings.home, write=True, create=create) as home:
        try:
            yield home
        finally:
            for transport in (transports or {}).values():
                await transport.aclose()


@dataclass(frozen=True, slots=True)
class RunControl:
    """How a caller follows and stops a run, and the transports that replace the package's own, by name."""

    observer: Observer
    stop: Stop
    transports: Mapping[str, Transport] | None


def control_of(observer: Observer | None, stop: Stop | None, transports: Mapping[str, Transport] | None) -> RunControl:
    """Return the control of a run; by default it has no observer and is never stopped."""
    return RunControl(observer or SilentObserver(), stop or Stop(), transports)


async def carry_out(
    method: AnyMethod,
    session: Session,
    run: Run,
    request: RunRequest,
    control: RunControl,
    *,
    retry: Collection[FailureKind] = (),
    new: bool = False,
    estimate: Estimate | None = None,
) -> RunResult:
    """Do the items of an accepted run that have no result, and return the run's result.

    `estimate` is of the remaining work, by default the one made when the run was accepted. A run that is refused before
    it begins, for example because a key is missing, keeps its status; a `new` one is marked failed. If this process is
    already working on the run, wait for that work.

    Raises:
        InputError: failures are to be repeated while the run is at work.
    """
    home = session.opened
    check_measures(method, request)
    await name_run(home, run.id, request.name, request.tags, force=request.force)
    if run.status == "done" and not count_failed(home, run.id, retry):
        return await asyncio.to_thread(_result_of, method, session, run, request, complete=True)
    async with share_services(home) as shared:
        if (first := shared.at_work.get(run.id)) is not None:
            if retry:
                raise InputError(f"run {run.id} is at work: what failed can be asked anew when it has ended")
            return await _join(first, control.stop)
        opening = _open_job(method, session, run, request, control, retry=retry, new=new, estimate=estimate)
        async with _register_work(shared, session, run) as result:
            async with opening as job:
                left: FailureKind | None = None
                try:
                    async for stage in method.stages(job):
                        await job.do(stage)
                except CallFailed as failed:
                    if failed.kind not in OPEN_KINDS:
                        raise
                    left = failed.kind
                if left is None and method.ended is not None:
                    await method.ended(job)
            outcome = await _finish(method, job, left)
            result.set_result(outcome)
            return outcome


@asynccontextmanager
async def _open_job(
    method: AnyMethod,
    session: Session,
    run: Run,
    request: RunRequest,
    control: RunControl,
    *,
    retry: Collection[FailureKind],
    new: bool,
    estimate: Estimate | None,
) -> "AsyncIterator[Job[Any]]":
    """Yield the job of a run, with its services open, its status `running`, and its plan announced to the observer."""
    from dokimasia.runs.work import Job  # imports LangGraph, which a finished run does not need

    home, observer = session.opened, control.observer
    run = await keep_limits(home, run, request)
    if not retry and await is_still_waiting(home, run):  # its walks repeat the same questions, without workers
        request = request.model_copy(update=Invocation().model_dump(include={"workers", "engine", "address"}))
    plan, models = await asyncio.to_thread(
        models_to_reach, method, home, run, request, settings=session.settings, retry=retry
    )
    opening = open_services(
        session.settings,
        home,
        session.library,
        run.id,
        models,
        request=request,
        seed=plan.seed,
        observer=observer,
        stop=control.stop,
        transports=control.transports,
    )
    answered = calls_made(home, run.id)
    async with _running(home, run, opening, control.stop, retry=retry, new=new) as services:
        expected = estimate or Estimate.of_run(run)
        if retry:
            answered = calls_made(home, run.id)
        notes = (*expected.notes, *limit_notes(request.spending_limits, spent_by(home, run.id), expected))
        if new and isinstance(request, DataRequest) and session.source_run is None:
            notes = (data_note(run, plan, expected.samples), *notes)
        observer.planned(run.id, expected.model_copy(update={"answered": answered, "notes": notes}))
        yield Job(session, run, plan, request, services, observer)


MOST_REASONS = 2
"""The most reasons for skipped data listed at the start of a run; the others are counted."""


def data_note(run: Run, plan: RunPlan, samples: int) -> str:
    """Return a line on the files that a new run was accepted with: samples, models of stored answers, and what was left out.

    Examples:
        >>> data_note(run, plan, 84)  # doctest: +SKIP
        "read world.jsonl: 84 samples; stored answers of llava; left out 1: world.jsonl, line 3: the field 'id' is missing"
    """
    parts = [several(samples, "sample")]
    if stored := [name for name, spec in plan.models.items() if spec.ref.endpoint == STORED]:
        parts.append(f"stored answers of {in_words(stored)}")
    if skipped := run.texts("skipped"):
        more = f"; and {len(skipped) - MOST_REASONS:,} more" if len(skipped) > MOST_REASONS else ""
        parts.append(f"left out {len(skipped):,}: {'; '.join(skipped[:MOST_REASONS])}{more}")
    return f"read {run.data_name}: {'; '.join(parts)}"


async def _finish(method: AnyMethod, job: "Job[Any]", left: FailureKind | None) -> RunResult:
    """Settle the status of a run whose stages are done, or stopped at a failure; return its result."""
    home, run = job.home, job.run
    held_open = left is None and job.held_open
    unpaid = not held_open and (left == "budget" or "budget" in result_failures(home, run.id))
    if unpaid:  # before the status, so that an interruption is never visible without its reason
        why = _why_unpaid(job.session, run, job.request)
        await record_end(home, run, "spending", why, job.session.settings)
    row = await settle_status(home, run, left="budget" if held_open else left, record=not job.held_open)
    if row.status in ("done", "waiting"):
        await job.services.people.withdraw_others()
    complete = held_open or row.status == "done"
    result = await asyncio.to_thread(_result_of, method, job.session, row, job.request, complete=complete)
    if not unpaid:
        await record_end(home, run, result.end, result.why, job.session.settings)
    return result


def _why_unpaid(session: Session, run: Run, request: RunRequest) -> str:
    """Return why a run stopped at a spending limit, and how to continue."""
    why = describe_spending(session.opened, run, request)
    if session.settings.chat_models:
        return f"{why}; to continue, {python_way(run)}"
    return why


@asynccontextmanager
async def _register_work(
    shared: SharedServices, session: Session, run: Run
) -> "AsyncIterator[asyncio.Future[RunResult]]":
    """Register a run as at work; yield the future of its result, which other callers of the same run await.

    An error that ends the work is stored as the run's end and raised for the other callers too.
    """
    result = shared.at_work[run.id] = asyncio.get_running_loop().create_future()
    try:
        yield result
    except BaseException as problem:
        with suppress(StorageError):
            await record_end(session.opened, run, *outcome_of_error(problem), session.settings)
        result.set_exception(problem if isinstance(problem, Exception) else Interrupted("the run was stopped"))
        result.exception()  # marks the exception as retrieved if nobody awaits it
        if isinstance(problem, Interrupted) and session.settings.chat_models:
            raise Interrupted(f"{problem}; to continue, {python_way(run)}") from problem
        raise
    finally:
        del shared.at_work[run.id]


async def _join(first: "asyncio.Future[RunResult]", stop: Stop) -> RunResult:
    """Wait for a run that is already at work and return its result.

    Raises:
        Interrupted: the run, or this caller, was asked to stop.
    """
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait([first, stopping], return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not first.done():
        raise Interrupted("not waited for any longer; the run goes on")
    return first.result()


def models_to_reach(
    method: AnyMethod,
    home: Home,
    run: Run,
    request: RunRequest,
    *,
    settings: Settings,
    retry: Collection[FailureKind] = (),
) -> tuple[RunPlan, Mapping[str, ModelSpec]]:
    """Return a run's plan with the models' present configuration, and the models it still has to call.

    Raises:
        ConfigError: a limit on cost cannot be kept.
    """
    plan = as_configured_now(method.read(run)[0], settings)
    models = plan.models if method.reruns.reaches is None else method.reruns.reaches(home, run, plan, retry)
    check_prices(models, max_cost=request.max_cost)
    return plan, models


def _result_of(method: AnyMethod, session: Session, run: Run, request: RunRequest, *, complete: bool) -> RunResult:
    """Return a run's result, with its outcome by the request's thresholds and limits on failures."""
    home, by_object = session.opened, bool(session.settings.chat_models)
    figures = finished_figures(method, home, run) if run.status == "done" else method.json_figures(home, run)
    if complete:
        end, why = outcome_of(method, home, run, request, figures, by_object=by_object)
    else:
        end, why = "spending", _why_unpaid(session, run, request)
        if run.status == "waiting":
            end, why = "waiting", pending_people(home, run)
            why = f"{why}; to continue, {python_way(run)}" if by_object else why
    result = RunResult(run=run.id, complete=complete, summary=figures, end=end, why=why)
    return result.read_from(home.path)


@asynccontextmanager
async def _running(
    home: Home,
    run: Run,
    opening: AbstractAsyncContextManager[Services],
    stop: Stop,
    *,
    retry: Collection[FailureKind],
    new: bool,
) -> AsyncIterator[Services]:
    """Open a run's services, with the run's status `running` while they are open.

    Stopped work leaves the status that `stop` names; any error leaves `failed`. If services cannot be opened, for
    example because a key is missing, the status of an existing run is unchanged. The status is set before open items
    and retried items are reopened, so that a process that dies in between leaves no run that seems finished. Threads
    without a run are deleted.

    Raises:
        ConfigError: the key of a model is not in the environment.
        Unreachable: a model cannot be asked at all.
        Interrupted: the work was asked to stop; finished work is kept.
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
        ended = stop.leaves
        raise
    finally:
        if began and sys.exception() is not None:
            with suppress(StorageError):
                await set_status(home, run.id, ended)
