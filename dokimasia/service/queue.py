"""The queue of the service: accepted runs over one open home, a bounded number at work at once, kept over restarts."""

import asyncio
import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from dokimasia.domain.ports import Transport
from dokimasia.errors import InputError, Interrupted, NotFound, StorageError
from dokimasia.gateway.events import GatewayEvent
from dokimasia.log import bound, logger
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.observer import Observer, Progress
from dokimasia.runs.outcome import note_end, outcome_of_error, take_out, why_ended
from dokimasia.runs.reachability import home_gone
from dokimasia.runs.requests import Invocation, RunRequest, check_range
from dokimasia.runs.services import Stop, sharing
from dokimasia.settings import Settings
from dokimasia.storage.decisions import import_filed
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import Answering, answering
from dokimasia.storage.runs import Run, RunStatus, get_run, list_runs, set_status
from dokimasia.storage.threads import Queued, enqueue, leave_queue, mark_at_rest, mark_at_work, note_in_queue, queue

EVERY = 1.0
"""Seconds between two notes of what a run has spent."""


class QueueObserver:
    """An observer that notes what a run in the queue spends, and tells another one all that it is told.

    What the other raises is logged and stops nothing.
    """

    def __init__(self, home: Home, queued: Queued, observer: Observer) -> None:
        """Note it in the home, from what the run has spent there before."""
        self._home = home
        self._before = queued
        self._observer = observer
        self._noted = time.monotonic()
        self.queued = queued
        self.steps = observer.steps

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """The run has begun: what was to be asked anew is open from now on, and is not opened a second time."""
        if self.queued.retry:
            self.queued = self.queued.model_copy(update={"retry": ()})
            note_in_queue(self._home, self.queued, "retry")
        self._tell(self._observer.became, "running")
        self._tell(self._observer.planned, run_id, estimate)

    def starting(self, workers: int, address: str | None) -> None:
        """Pass it on."""
        self._tell(self._observer.starting, workers, address)

    def progressed(self, progress: Progress) -> None:
        """Note what is spent."""
        stats, before = progress.stats, self._before
        tokens = before.tokens + stats.input_tokens + stats.output_tokens
        spent = {"cost": before.cost + stats.cost, "calls": before.calls + stats.sent, "tokens": tokens}
        self.queued = self.queued.model_copy(update=spent)
        if time.monotonic() - self._noted >= EVERY:
            self._note()
        self._tell(self._observer.progressed, progress)

    def happened(self, event: GatewayEvent) -> None:
        """Pass it on."""
        self._tell(self._observer.happened, event)

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """Pass it on."""
        self._tell(self._observer.failed, item, model, kind, reason)

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Note what was spent at last, and pass it on."""
        self._note()
        self._tell(self._observer.became, status, end=end, why=why)

    def _note(self) -> None:
        self._noted = time.monotonic()
        note_in_queue(self._home, self.queued, "cost", "calls", "tokens")

    def _tell(self, what: Callable[..., None], *arguments: Any, **named: Any) -> None:
        try:
            what(*arguments, **named)
        except Exception as problem:  # whoever watches a run never stops it
            logger(__name__).error("an observer failed", run=self.queued.id, exc_info=problem)


LOOK = 1.0
"""Seconds between two looks at what people have answered."""

QUIET = {False: 10.0, True: 600.0}
"""Seconds without another answer or undo of somebody who has answered, after which the run goes on: where they have answered all
that is asked of them, so that the last can still be taken back; and where questions to them are open."""

DEATHS = 3
"""At so many deaths of the service while it was at work, a run is not begun again by itself."""

PATIENCE = 10.0
"""Seconds for which `cancel` waits for the calls in flight."""


@dataclass(eq=False)
class _Entry:
    """A run in the queue, at work once it has a task."""

    watch: QueueObserver
    given: Any = None
    stop: Stop = field(default_factory=Stop)
    task: "asyncio.Task[None] | None" = None


class Queue:
    """Accepted runs, carried out in the order in which they were put there; for one event loop.

    What is queued or at work goes on after a restart, by a table in the home; what a person cancelled, or a command line had
    interrupted, does not. A run that waits for people goes on when they have answered (`QUIET`). A run that fails keeps
    its sentence and ends nothing but itself.
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
    ) -> None:
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
        self._looking: asyncio.Task[None] | None = None

    def __contains__(self, run: object) -> bool:
        return run in self._entries

    @property
    def _where(self) -> dict[str, Any]:
        """Where graphs are walked, which whoever started this process has said, and no request."""
        return self._remote_workers.model_dump(include={"workers", "engine", "address"})

    @property
    def at_work(self) -> list[str]:
        """The runs at work."""
        return [id for id, entry in self._entries.items() if entry.task is not None]

    @property
    def queued(self) -> list[str]:
        """The runs that wait for their turn, in order."""
        return [id for id, entry in self._entries.items() if entry.task is None]

    async def start(self) -> None:
        """Go on with what was queued or at work when the process before this one ended.

        Nobody else writes to the home, so a run outside of the queue that calls itself running was left by a process that
        died: it is interrupted. One that was at work in `DEATHS` deaths of the service is set aside as interrupted, so that
        a run which brings the service down does not do so for ever.
        """
        if self._remote_workers.remote_workers:
            engine = importlib.import_module("dokimasia.distribution.engine")
            await self._stack.enter_async_context(engine.cluster(self._remote_workers.address))  # one for all runs
        await self._stack.enter_async_context(sharing(self._home))
        runs = {run.id: run for run in list_runs(self._home)}
        await mark_at_rest(self._home, [one.id for one in queue(self._home) if one.at_work], died=True)
        for one in queue(self._home):
            if runs[one.id].status in ("queued", "running") and one.deaths >= DEATHS:
                await self._set_aside(runs.pop(one.id), one)
            elif runs[one.id].status in ("queued", "running"):
                await set_status(self._home, one.id, "queued")
                self._enter(one, runs[one.id])
            elif runs[one.id].status != "waiting":
                await leave_queue(self._home, one.id)
        for run in runs.values():
            if run.status == "waiting":
                self._waiting[run.id] = {}
            elif run.status in ("queued", "running") and run.id not in self._entries:
                await set_status(self._home, run.id, "interrupted")
        self._looking = asyncio.create_task(self._look())
        self._begin()

    def check(self) -> None:
        """Refuse to take anything where the queue is being closed or its home is gone.

        Raises:
            Interrupted: it is being closed.
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
        retry: Sequence[Any] = (),
        also: Sequence[str] = (),
        given: Any = None,
    ) -> Run:
        """Put an accepted run at the end, durably, unless it is in the queue; return its row.

        Args:
            run: the run.
            request: its request; the limits hold until the run leaves the queue.
            new: it was accepted just now.
            retry: kinds of failure that are asked anew.
            also: further fields of the request that hold as long.
            given: what the method takes beside its request.

        Raises:
            InputError: it is being stopped.
        """
        limits = {name for name, one in request.invocation.items() if one is not None} - {"name", "tags"}
        kept: Any = request.model_dump(mode="json", include={*limits, *also})
        async with self._changing:
            self.check()
            entry = self._entries.get(run.id)
            if entry is None:
                before = "" if new else get_run(self._home, run.id).status
                await self._take(Queued(id=run.id, before=before, changes=kept, retry=tuple(retry)), run, given=given)
            elif entry.stop.asked:
                raise InputError(f"run {run.id} is being stopped; ask again when it has ended")
            return get_run(self._home, run.id)

    async def cancel(self, run: str, *, at_once: bool = False) -> None:
        """Take a run out of the queue; one at work is stopped, and waited for some seconds until it has ended."""
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

    def outside(self, run: str) -> None:
        """Refuse a run that is in the queue.

        Raises:
            InputError: it is.
        """
        if run in self._entries:
            raise InputError(
                f"run {run} is {get_run(self._home, run).status}; cancel it first, or wait until it has ended"
            )

    async def settled(self, run: str) -> None:
        """Wait until a run whose row says that it has ended has left the queue as well, which takes a moment more."""
        entry = self._entries.get(run)
        if (
            entry is not None
            and entry.task is not None
            and get_run(self._home, run).status not in ("queued", "running")
        ):
            await asyncio.wait([entry.task])

    async def ended(self, run: str) -> None:
        """Return when a run is neither in the queue nor at work."""
        while (entry := self._entries.get(run)) is not None:
            await (asyncio.sleep(0.05) if entry.task is None else asyncio.wait([entry.task]))

    async def close(self, *, patience: float | None = None) -> None:
        """Have what is in flight answered and committed, and leave every run so that it goes on after a restart.

        Args:
            patience: seconds after which the calls in flight are given up; by default they are waited for.
        """
        self._closing = True
        with suppress(StorageError):
            await mark_at_rest(self._home, list(self._entries))  # it heard that it is to end: no death from here on
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        working = {entry.task: entry for entry in self._entries.values() if entry.task is not None}
        for entry in working.values():
            entry.stop.leaves = "interrupted" if entry.stop.asked else "queued"
            entry.stop.ask()
        _, late = await asyncio.wait(working, timeout=patience) if working else (set(), set())
        for task in late:
            working[task].stop.ask(at_once=True)
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        await self._stack.aclose()

    async def _take(self, queued: Queued, run: Run, *, given: Any = None) -> None:
        await enqueue(self._home, queued)
        self._waiting.pop(run.id, None)
        self._enter(queued, run, given=given)
        self._begin()

    def _enter(self, queued: Queued, run: Run, *, given: Any = None) -> None:
        entry = self._entries[queued.id] = _Entry(QueueObserver(self._home, queued, self._observers(run)), given)
        entry.watch.became("queued")

    async def _drop(self, run: str) -> None:
        """Take a run that is not at work out of the queue: it stands as it stood before, or as interrupted."""
        entry, waited = self._entries.pop(run, None), self._waiting.pop(run, None)
        if entry is None and waited is None:
            return
        before, found = "" if entry is None else entry.watch.queued.before, get_run(self._home, run)
        status = await take_out(self._home, found, before, self._settings)
        watch = self._observers(found) if entry is None else entry.watch
        watch.became(status)

    async def _set_aside(self, run: Run, queued: Queued) -> None:
        """Take a run out of the queue that was at work whenever the service died, and say so."""
        why = (
            f"the service died {queued.deaths} times while this run was at work, so it does not go on by itself: look for "
            f"the cause, such as too little memory, then go on with `dokimasia resume {run.id}`"
        )
        logger(__name__).error("a run is set aside", run=run.id, why=why)
        await note_end(self._home, run, "interrupted", why, self._settings)
        await leave_queue(self._home, run.id, status="interrupted")

    def _begin(self) -> None:
        """Begin with runs that wait for their turn, as long as there is room."""
        free = 0 if self._closing else max(0, self._width - len(self.at_work))
        for run in self.queued[:free]:
            entry = self._entries[run]
            entry.task = asyncio.create_task(self._work(run, entry), name=f"run {run}")

    async def _work(self, id: str, entry: _Entry) -> None:
        """Carry out a run; whatever becomes of it, the queue goes on."""
        queued = entry.watch.queued
        try:
            if not self._closing:
                await mark_at_work(self._home, id)
            await asyncio.to_thread(_load)
            with bound(run_id=id):
                run = get_run(self._home, id)
                changes = queued.changes | self._where
                result = await resume(
                    run,
                    settings=self._settings,
                    changes=await asyncio.to_thread(changed, run, changes),
                    observer=entry.watch,
                    stop=entry.stop,
                    transports=self._transports or None,
                    retry=queued.retry,
                    given=entry.given,
                    home=self._home,
                )
            end, why = str(result.end), result.why
        except BaseException as problem:  # whatever it is, it is this run's end and no other's
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
        """Keep how a run stands now that its work has ended, and whether it stays in the queue."""
        run, before = get_run(self._home, id), entry.watch.queued.before
        if run.status == "queued" and entry.stop.leaves != "queued":  # it never began, and stands as it stood before
            status: RunStatus = before or ("failed" if end == "failed" else "interrupted")
            await leave_queue(self._home, id, status=status)
            await note_end(self._home, run, end, why, self._settings)
        elif run.status not in ("queued", "waiting"):
            await leave_queue(self._home, id)
        run = get_run(self._home, id)
        if run.status == "waiting":
            await mark_at_rest(self._home, [id])
            self._waiting[id] = {}
        said = "" if end in ("failed", "interrupted") else end
        entry.watch.became(run.status, end=said, why=why_ended(self._home, run))

    async def _look(self) -> None:
        """Take in what people left as files, and go on with runs whose questions they have answered."""
        while True:
            await asyncio.sleep(LOOK)
            try:
                await import_filed(self._home)
                for run in [id for id in self._waiting if self._answered(id)]:
                    await self._take_up(run)
            except Exception as problem:  # such as a file that another program damaged: the next look may do better
                logger(__name__).error("what people answered could not be taken up", problem=str(problem))

    def _answered(self, run: str) -> bool:
        """Whether people have answered, and nobody who has is in the middle of it: see `QUIET`."""
        now, before = asyncio.get_running_loop().time(), self._waiting[run]
        begun = {person: one for person, one in answering(self._home, run).items() if one.answered}
        self._waiting[run] = known = {
            person: before[person] if before.get(person, (None,))[0] == one else (one, now)
            for person, one in begun.items()
        }
        return bool(known) and all(now - since >= QUIET[one.open > 0] for one, since in known.values())

    async def _take_up(self, id: str) -> None:
        """Put a run that waited for people back into the queue, under the limits that it had."""
        run = get_run(self._home, id)
        known = next((one for one in queue(self._home) if one.id == id), None)
        if known is None:
            await self.put(run, method_of(run).read(run)[1])
            return
        async with self._changing:
            if id in self._waiting:
                await self._take(known, run)


def _load() -> None:
    """Load what only a run at work needs: for a second, at the first run of a process."""
    for name in ("runs.work", "gateway.direct.transport", "simulation.serving.transport"):
        importlib.import_module(f"dokimasia.{name}")


def changed(run: Run, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes of a run's request, checked to be some.

    Raises:
        InputError: they are none, or a number of the request lies outside the range that is taken now; the message names
            the field.
    """
    request = method_of(run).read(run)[1]
    check_range(request, run.id)
    try:
        checked = type(request).model_validate({**request.model_dump(), **Invocation().invocation, **changes})
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}") from None
    return {name: getattr(checked, name) for name in changes}
