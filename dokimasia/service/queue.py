"""The queue of the service: the accepted runs of one open home, a few of which are at work; it survives restarts."""

import asyncio
import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field

from pydantic import JsonValue, ValidationError

from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.ports import Transport
from dokimasia.errors import InputError, Interrupted, NotFound, StorageError, list_faults
from dokimasia.gateway.events import GatewayEvent
from dokimasia.log import bound, logger
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.observer import Observer, Progress
from dokimasia.runs.outcome import outcome_of_error, record_end, remove_from_queue, why_ended
from dokimasia.runs.reachability import home_gone
from dokimasia.runs.requests import Invocation, RunRequest, check_range
from dokimasia.runs.services import Stop, share_services
from dokimasia.service.allowances import Allowances
from dokimasia.settings import Settings
from dokimasia.storage.decisions import import_filed
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import Answering, answering
from dokimasia.storage.runs import Run, RunStatus, get_run, list_runs, set_status
from dokimasia.storage.threads import Queued, enqueue, leave_queue, mark_at_rest, mark_at_work, note_in_queue, queue

RECORD_INTERVAL = 1.0
"""Seconds between two records of a run's spending."""


class QueueObserver:
    """An observer that records what a queued run spends, and forwards everything to another observer.

    Exceptions of the other observer are logged.
    """

    def __init__(self, home: Home, queued: Queued, observer: Observer) -> None:
        """Record in the home, starting from the run's earlier spending."""
        self._home = home
        self._before = queued
        self._observer = observer
        self._recorded_at = time.monotonic()
        self.queued = queued
        self.steps = observer.steps

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """Clear the failures to retry, which the run has reopened and must not reopen again; then forward the event."""
        if self.queued.retry:
            self.queued = self.queued.model_copy(update={"retry": ()})
            note_in_queue(self._home, self.queued, "retry")
        self._forward(self._observer.became, "running")
        self._forward(self._observer.planned, run_id, estimate)

    def starting(self, workers: int, address: str | None) -> None:
        """Forward the event."""
        self._forward(self._observer.starting, workers, address)

    def progressed(self, progress: Progress) -> None:
        """Update the run's spending, record it once a second, and forward the event."""
        stats, before = progress.stats, self._before
        tokens = before.tokens + stats.input_tokens + stats.output_tokens
        spent = {"cost": before.cost + stats.cost, "calls": before.calls + stats.sent, "tokens": tokens}
        self.queued = self.queued.model_copy(update=spent)
        if time.monotonic() - self._recorded_at >= RECORD_INTERVAL:
            self._record()
        self._forward(self._observer.progressed, progress)

    def happened(self, event: GatewayEvent) -> None:
        """Forward the event."""
        self._forward(self._observer.happened, event)

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """Forward the event."""
        self._forward(self._observer.failed, item, model, kind, reason)

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Record the spending, and forward the status."""
        self._record()
        self._forward(self._observer.became, status, end=end, why=why)

    def _record(self) -> None:
        self._recorded_at = time.monotonic()
        note_in_queue(self._home, self.queued, "cost", "calls", "tokens")

    def _forward(self, method: Callable[..., None], *arguments: object, **keywords: object) -> None:
        try:
            method(*arguments, **keywords)
        except Exception as problem:  # an observer never stops a run
            logger(__name__).error("an observer failed", run=self.queued.id, exc_info=problem)


ANSWER_INTERVAL = 1.0
"""Seconds between two checks for people's answers."""

QUIET = {False: 10.0, True: 600.0}
"""Seconds since a person's last answer or undo after which the run continues, by whether they have open questions.

Without open questions, the short delay leaves time to undo the last answer."""

DEATHS = 3
"""The number of deaths of the service during a run after which the run is not restarted automatically."""

PATIENCE = 10.0
"""Seconds for which `cancel` waits for the calls in flight."""


@dataclass(eq=False)
class _Entry:
    """A run in the queue, at work once it has a task."""

    watch: QueueObserver
    given: object = None
    stop: Stop = field(default_factory=Stop)
    task: "asyncio.Task[None] | None" = None


class Queue:
    """Accepted runs, carried out in order of arrival; for one event loop.

    Runs that are queued or at work continue after a restart, by a table in the home; runs that a person cancelled or a
    command line interrupted do not. A run that waits for people continues when they have answered (`QUIET`). A failed
    run keeps its message and does not affect others.
    """

    def __init__(
        self,
        settings: Settings,
        home: Home,
        *,
        width: int,
        observers: Callable[[Run], Observer],
        transports: Mapping[str, Transport],
        remote_workers: Invocation | None = None,
        allowances: Allowances | None = None,
    ) -> None:
        self._allowances = allowances or Allowances()
        self._settings = settings
        self._remote_workers = remote_workers or Invocation()
        self._home = home
        self._width = width
        self._observers = observers
        self._transports = transports
        self._entries: dict[str, _Entry] = {}
        self._waiting: dict[str, dict[str, tuple[Answering, float]]] = {}
        self._changing = asyncio.Lock()
        self._closing = False
        self._stack = AsyncExitStack()
        self._watcher: asyncio.Task[None] | None = None

    def __contains__(self, run: object) -> bool:
        return run in self._entries

    def configure(self, settings: Settings) -> None:
        """Use other settings for the runs that start from now on."""
        self._settings = settings

    @property
    def _worker_options(self) -> dict[str, JsonValue]:
        """The options on where graphs are executed, which only this process decides, never a request."""
        return self._remote_workers.model_dump(include={"workers", "engine", "address"})

    @property
    def at_work(self) -> list[str]:
        """The runs at work."""
        return [id for id, entry in self._entries.items() if entry.task is not None]

    @property
    def queued(self) -> list[str]:
        """The runs waiting for their turn, in order."""
        return [id for id, entry in self._entries.items() if entry.task is None]

    async def start(self) -> None:
        """Continue the runs that were queued or at work when the previous process ended.

        No other process writes to the home, so a running run outside the queue was left by a dead process and is marked
        as interrupted. A run that was at work in `DEATHS` deaths of the service is interrupted as well, so that it
        cannot crash the service repeatedly.
        """
        if self._remote_workers.remote_workers:
            engine = importlib.import_module("dokimasia.distribution.engine")
            await self._stack.enter_async_context(engine.cluster(self._remote_workers.address))  # shared by all runs
        shared = await self._stack.enter_async_context(share_services(self._home))
        shared.budgets_of = lambda run: self._allowances.budgets(self._home, self._entries[run].watch.queued.payer)
        runs = {run.id: run for run in list_runs(self._home)}
        await mark_at_rest(self._home, [entry.id for entry in queue(self._home) if entry.at_work], died=True)
        for queued in queue(self._home):
            if runs[queued.id].status in ("queued", "running") and queued.deaths >= DEATHS:
                await self._set_aside(runs.pop(queued.id), queued)
            elif runs[queued.id].status in ("queued", "running"):
                await set_status(self._home, queued.id, "queued")
                self._enter(queued, runs[queued.id])
            elif runs[queued.id].status != "waiting":
                await leave_queue(self._home, queued.id)
        for run in runs.values():
            if run.status == "waiting":
                self._waiting[run.id] = {}
            elif run.status in ("queued", "running") and run.id not in self._entries:
                await set_status(self._home, run.id, "interrupted")
        self._watcher = asyncio.create_task(self._watch_answers())
        self._begin()

    def check(self) -> None:
        """Raise if the queue is closing or its home is gone.

        Raises:
            Interrupted: the queue is closing.
            StorageError: the home was deleted or moved.
        """
        if self._closing:
            raise Interrupted("the service is about to end; ask again when it is back")
        if not self._home.in_place:
            raise home_gone(self._home)

    async def put(
        self,
        run: Run,
        request: RunRequest,
        *,
        new: bool = False,
        retry: Sequence[FailureKind] = (),
        also: Sequence[str] = (),
        given: object = None,
        payer: str = "",
    ) -> Run:
        """Append an accepted run durably, unless it is already queued; return its row.

        Args:
            run: the run.
            request: its request; its limits apply until the run leaves the queue.
            new: whether it has just been accepted.
            retry: kinds of failure to retry.
            also: further fields of the request that apply as long as its limits.
            given: inputs of the method that are not in its request.
            payer: the holder of the token that requested it.

        Raises:
            InputError: it is being stopped.
        """
        limits = {name for name, limit in request.invocation.items() if limit is not None} - {"name", "tags"}
        changes = request.model_dump(mode="json", include={*limits, *also})
        async with self._changing:
            self.check()
            entry = self._entries.get(run.id)
            if entry is None:
                before = "" if new else get_run(self._home, run.id).status
                await self._enqueue(
                    Queued(id=run.id, before=before, changes=changes, retry=tuple(retry), payer=payer),
                    run,
                    given=given,
                )
            elif entry.stop.asked:
                raise InputError(f"run {run.id} is being stopped; ask again when it has ended")
            return get_run(self._home, run.id)

    async def cancel(self, run: str, *, at_once: bool = False) -> None:
        """Remove a run from the queue; one at work is stopped, which is awaited for a few seconds."""
        async with self._changing:
            entry = self._entries.get(run)
            if entry is None or entry.task is None:
                await self._drop(run)
                return
            await leave_queue(self._home, run)
            entry.stop.leaves = "interrupted"
            entry.stop.ask(at_once=at_once)
            if at_once:
                entry.task.cancel()
        await asyncio.wait([entry.task], timeout=PATIENCE)

    def require_outside(self, run: str) -> None:
        """Raise if a run is in the queue.

        Raises:
            InputError: it is in the queue.
        """
        if run in self._entries:
            raise InputError(
                f"run {run} is {get_run(self._home, run).status}; cancel it first, or wait until it has ended"
            )

    async def wait_until_settled(self, run: str) -> None:
        """Wait until a run whose row has ended has also left the queue, a moment later."""
        entry = self._entries.get(run)
        if (
            entry is not None
            and entry.task is not None
            and get_run(self._home, run).status not in ("queued", "running")
        ):
            await asyncio.wait([entry.task])

    async def ended(self, run: str) -> None:
        """Wait until a run is neither in the queue nor at work."""
        while (entry := self._entries.get(run)) is not None:
            await (asyncio.sleep(0.05) if entry.task is None else asyncio.wait([entry.task]))

    async def close(self, *, patience: float | None = None) -> None:
        """Finish and commit the calls in flight, and leave all runs ready to continue after a restart.

        Args:
            patience: seconds after which the calls in flight are abandoned; by default they are awaited.
        """
        self._closing = True
        with suppress(StorageError):
            await mark_at_rest(self._home, list(self._entries))  # an orderly end: no death is counted from here on
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait([self._watcher])
        entries_by_task = {entry.task: entry for entry in self._entries.values() if entry.task is not None}
        for entry in entries_by_task.values():
            entry.stop.leaves = "interrupted" if entry.stop.asked else "queued"
            entry.stop.ask()
        _, unfinished = await asyncio.wait(entries_by_task, timeout=patience) if entries_by_task else (set(), set())
        for task in unfinished:
            entries_by_task[task].stop.ask(at_once=True)
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        await self._stack.aclose()

    async def _enqueue(self, queued: Queued, run: Run, *, given: object = None) -> None:
        await enqueue(self._home, queued)
        self._waiting.pop(run.id, None)
        self._enter(queued, run, given=given)
        self._begin()

    def _enter(self, queued: Queued, run: Run, *, given: object = None) -> None:
        entry = self._entries[queued.id] = _Entry(QueueObserver(self._home, queued, self._observers(run)), given)
        entry.watch.became("queued")

    async def _drop(self, run: str) -> None:
        """Remove a run that is not at work from the queue, and restore its earlier status, or mark it as interrupted."""
        entry, waited = self._entries.pop(run, None), self._waiting.pop(run, None)
        if entry is None and waited is None:
            return
        before, row = "" if entry is None else entry.watch.queued.before, get_run(self._home, run)
        status = await remove_from_queue(self._home, row, before, self._settings)
        watch = self._observers(row) if entry is None else entry.watch
        watch.became(status)

    async def _set_aside(self, run: Run, queued: Queued) -> None:
        """Remove a run that was at work in `DEATHS` deaths of the service from the queue, and record why."""
        why = (
            f"the service died {queued.deaths} times while this run was at work, so it does not go on by itself: look for "
            f"the cause, such as too little memory, then go on with `dokimasia resume {run.id}`"
        )
        logger(__name__).error("a run is set aside", run=run.id, why=why)
        await record_end(self._home, run, "interrupted", why, self._settings)
        await leave_queue(self._home, run.id, status="interrupted")

    def _begin(self) -> None:
        """Start queued runs while fewer than `width` are at work."""
        free = 0 if self._closing else max(0, self._width - len(self.at_work))
        for run in self.queued[:free]:
            entry = self._entries[run]
            entry.task = asyncio.create_task(self._work(run, entry), name=f"run {run}")

    async def _work(self, id: str, entry: _Entry) -> None:
        """Carry out a run; the queue continues whatever happens to it."""
        queued = entry.watch.queued
        try:
            if not self._closing:
                await mark_at_work(self._home, id)
            await asyncio.to_thread(_import_work)
            with bound(run_id=id):
                run = get_run(self._home, id)
                changes = queued.changes | self._worker_options
                result = await resume(
                    run,
                    settings=self._settings,
                    changes=await asyncio.to_thread(checked_changes, run, changes),
                    observer=entry.watch,
                    stop=entry.stop,
                    transports=self._transports or None,
                    retry=queued.retry,
                    given=entry.given,
                    home=self._home,
                )
            end, why = str(result.end), result.why
        except BaseException as problem:  # any error ends only this run
            end, why = outcome_of_error(problem)
            if end == "failed":
                logger(__name__).warning("a run failed", run=id, why=why)
        try:
            await self._leave(id, entry, end, why)
        except (StorageError, NotFound) as problem:
            logger(__name__).error("the end of a run could not be kept", run=id, problem=str(problem))
        finally:
            del self._entries[id]
            self._begin()

    async def _leave(self, id: str, entry: _Entry, end: str, why: str) -> None:
        """Store the status of a run whose work has ended, and whether it stays in the queue."""
        run, before = get_run(self._home, id), entry.watch.queued.before
        if run.status == "queued" and entry.stop.leaves != "queued":  # it never started, and keeps its earlier status
            status: RunStatus = before or ("failed" if end == "failed" else "interrupted")
            await leave_queue(self._home, id, status=status)
            await record_end(self._home, run, end, why, self._settings)
        elif run.status not in ("queued", "waiting"):
            await leave_queue(self._home, id)
        run = get_run(self._home, id)
        if run.status == "waiting":
            await mark_at_rest(self._home, [id])
            self._waiting[id] = {}
        shown_end = "" if end in ("failed", "interrupted") else end
        entry.watch.became(run.status, end=shown_end, why=why_ended(self._home, run))

    async def _watch_answers(self) -> None:
        """Read decisions that people filed, and continue runs whose questions they have answered."""
        while True:
            await asyncio.sleep(ANSWER_INTERVAL)
            try:
                await import_filed(self._home)
                for run in [id for id in self._waiting if self._answered(id)]:
                    await self._continue_run(run)
            except Exception as problem:  # such as a file damaged by another program: the next check may succeed
                logger(__name__).error("what people answered could not be taken up", problem=str(problem))

    def _answered(self, run: str) -> bool:
        """Return whether people have answered and then paused for long enough: see `QUIET`."""
        now, previous = asyncio.get_running_loop().time(), self._waiting[run]
        activities = {person: activity for person, activity in answering(self._home, run).items() if activity.answered}
        self._waiting[run] = recent = {
            person: previous[person] if previous.get(person, (None,))[0] == activity else (activity, now)
            for person, activity in activities.items()
        }
        return bool(recent) and all(now - since >= QUIET[activity.open > 0] for activity, since in recent.values())

    async def _continue_run(self, id: str) -> None:
        """Put a run that waited for people back into the queue, with its earlier limits."""
        run = get_run(self._home, id)
        queued = next((entry for entry in queue(self._home) if entry.id == id), None)
        if queued is None:
            await self.put(run, method_of(run).read(run)[1])
            return
        async with self._changing:
            if id in self._waiting:
                await self._enqueue(queued, run)


def _import_work() -> None:
    """Import modules needed only by runs at work, which takes a second at the first run of a process."""
    for name in ("runs.work", "gateway.direct.transport", "simulation.serving.transport"):
        importlib.import_module(f"dokimasia.{name}")


def checked_changes(run: Run, changes: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return changes to a run's request, validated.

    Raises:
        InputError: a change is invalid, or a number of the request is outside the range accepted now; the message names
            the field.
    """
    request = method_of(run).read(run)[1]
    check_range(request, run.id)
    try:
        changed = type(request).model_validate({**request.model_dump(), **Invocation().invocation, **changes})
    except ValidationError as error:
        raise InputError(str(list_faults(error)[0])) from None
    return {name: getattr(changed, name) for name in changes}
