"""The engine of the service: a queue of runs over one open home, a bounded number of them at work at once."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from dokimasia.domain.ports import Transport
from dokimasia.errors import InputError, Interrupted, NotFound, StorageError
from dokimasia.log import bound, logger
from dokimasia.runs.deleting import delete_whole_run
from dokimasia.runs.ending import check_measures, note_end, said_of, why_ended
from dokimasia.runs.forking import ForkRequest, Prepared, keep_fork, prepare_fork
from dokimasia.runs.keeping import keep_accepted, run_row
from dokimasia.runs.lifecycle import going_on, reaching, resume
from dokimasia.runs.observer import Observer, Silent
from dokimasia.runs.preview import preview
from dokimasia.runs.reaching import gone
from dokimasia.runs.registry import method_named, method_of
from dokimasia.runs.requests import Invocation, RunRequest
from dokimasia.runs.retrying import retryable
from dokimasia.runs.services import Stop, keys_of, sharing
from dokimasia.runs.session import Session
from dokimasia.service.watching import Watch, left_of
from dokimasia.settings import Settings
from dokimasia.storage.decisions import take_in
from dokimasia.storage.home import Home
from dokimasia.storage.naming import name_run
from dokimasia.storage.people.questions import has_answers, open_questions
from dokimasia.storage.results import count_failed
from dokimasia.storage.runs import Run, get_run, list_runs, set_status
from dokimasia.storage.threads import Queued, enqueue, leave_queue, queue

WIDTH = 4
"""So many runs are at work at once."""

ACCEPTED_AT_ONCE = 2
"""So many requests are read and checked at once; a large data file keeps a processor busy."""

LOOK = 1.0
"""Seconds between two looks at what people have answered."""

QUIET = {False: 5.0, True: 60.0}
"""Seconds without another answer after which a run that waits for people goes on: where all questions are answered, so that the
last can still be taken back; and where others are open."""

PATIENCE = 10.0
"""Seconds for which `cancel` waits for the calls in flight."""

LABELS = {"name": None, "tags": ()}


@dataclass(eq=False)
class _Entry:
    """A run in the queue, at work once it has a task."""

    watch: Watch
    given: Any = None
    stop: Stop = field(default_factory=Stop)
    task: "asyncio.Task[None] | None" = None


class Engine:
    """Runs over one open home that the caller keeps, in the order in which they were asked for.

    What it has queued or at work goes on after a restart, by a table in the home; what a person cancelled, or a command line
    had interrupted, does not. A run that waits for people goes on when they have answered. Use it in one event loop, as an
    asynchronous context manager.
    """

    def __init__(
        self,
        settings: Settings,
        home: Home,
        *,
        width: int = WIDTH,
        observers: Callable[[Run], Observer] = lambda run: Silent(),
        transports: Mapping[str, Transport] | None = None,
    ) -> None:
        """Make an engine; it begins with `start`.

        Args:
            settings: configuration and keys.
            home: open for writing.
            width: so many runs are at work at once.
            observers: makes what watches a run, each time that it is put into the queue.
            transports: ways to a model that replace the package's own, which the caller closes.
        """
        self._settings = settings
        self._home = home
        self._width = width
        self._observers = observers
        self._transports = dict(transports or {})
        self._entries: dict[str, _Entry] = {}
        self._waiting: dict[str, tuple[int, float]] = {}
        self._changing = asyncio.Lock()
        self._accepting = asyncio.Semaphore(ACCEPTED_AT_ONCE)
        self._closing = False
        self._stack = AsyncExitStack()
        self._looking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Engine":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

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
        died: it is interrupted.
        """
        await self._stack.enter_async_context(sharing(self._home))
        runs = {run.id: run for run in list_runs(self._home)}
        known = queue(self._home)
        for one in known:
            if runs[one.id].status in ("queued", "running"):
                await set_status(self._home, one.id, "queued")
                self._enter(one, runs[one.id])
            elif runs[one.id].status != "waiting":
                await leave_queue(self._home, one.id)
        for run in runs.values():
            if run.status == "waiting":
                self._waiting[run.id] = (-1, 0.0)
            elif run.status in ("queued", "running") and run.id not in self._entries:
                await set_status(self._home, run.id, "interrupted")
        self._looking = asyncio.create_task(self._look())
        self._begin()

    async def submit(self, method: str, request: RunRequest, *, given: Any = None) -> Run:
        """Accept a run and put it into the queue; one that is there, at work or done is returned as it stands.

        Raises:
            InputError: the data, the configuration or the options cannot be used; nothing is kept.
        """
        self._check()
        found = method_named(method)
        check_measures(found, request)
        library = found.library(request, given)
        session = Session(self._settings, self._home, library, given=given, transports=tuple(self._transports))
        async with self._accepting:
            accepted = await found.accept(request, session)
            row = await asyncio.to_thread(run_row, found, accepted.plan, request, accepted)
            if request.fresh or self._standing(row.id) not in ("done", "queued", "running"):
                self._check_keys(row, request)
            row, new = await keep_accepted(found, self._home, request, accepted)
        await name_run(self._home, row.id, request.name, request.tags)
        return row if row.status == "done" else await self._put(row, request, new=new, given=given)

    async def preview(self, method: str, request: RunRequest) -> dict[str, Any]:
        """Return a run's id, its estimate and its prompts; nothing is kept or sent.

        Raises:
            InputError: see `submit`.
        """
        async with self._accepting:
            return await asyncio.to_thread(preview, method_named(method), request, settings=self._settings)

    async def resume(self, run: Run, *, changes: Mapping[str, Any] | None = None, retry: Sequence[str] = ()) -> Run:
        """Put a run that is not finished into the queue; with kinds of failure in `retry`, also one that is.

        Args:
            run: the run.
            changes: fields of its request that hold for this time, such as limits.
            retry: kinds of failure whose items are asked anew.

        Raises:
            InputError: it cannot go on, such as under other prompts, or not with `retry` while it is at work.
        """
        self._check()
        run = get_run(self._home, run.id)
        kinds = retryable(",".join(retry)) if retry else ()
        if run.id in self._entries and (retry or changes):
            raise InputError(f"run {run.id} is {run.status}; cancel it first, or wait until it has ended")
        _, _, request, _ = going_on(run, changes=_changed(run, changes or {}), retry=kinds)
        check_measures(method_of(run), request)
        if run.status == "done" and not count_failed(self._home, run.id, kinds):
            return run
        self._check_keys(run, request, kinds)
        await name_run(self._home, run.id, request.name, request.tags)
        return await self._put(run, request, retry=kinds, prompts="prompts" in (changes or {}))

    async def fork(self, run: Run, request: ForkRequest) -> Run:
        """Put a run into the queue that does another again with changes.

        Raises:
            InputError: nothing changes, the run is unfinished, or runs of its kind are not forked.
        """
        self._check()
        async with self._accepting:
            ways = tuple(self._transports)
            prepared: Prepared = await prepare_fork(
                self._home, get_run(self._home, run.id), request, settings=self._settings, transports=ways
            )
            row = run_row(prepared.method, prepared.accepted.plan, prepared.request, prepared.accepted)
            if self._standing(row.id) not in ("done", "queued", "running"):
                self._check_keys(row, prepared.request)
            row, new = await keep_fork(self._home, run, request, prepared)
        await name_run(self._home, row.id, request.name, request.tags)
        return row if row.status == "done" else await self._put(row, prepared.request, new=new)

    async def cancel(self, run: Run, *, at_once: bool = False) -> Run:
        """Stop a run once the calls in flight are committed, or at once; it does not go on by itself.

        Returns its row when it has stopped, or after some seconds as it stands then.
        """
        async with self._changing:
            entry = self._entries.get(run.id)
            if entry is None or entry.task is None:
                await self._drop(run.id)
                return get_run(self._home, run.id)
            await leave_queue(self._home, run.id)
            entry.stop.leaves = "interrupted"
            entry.stop.ask(at_once=at_once)
            if at_once:
                entry.task.cancel()
        await asyncio.wait([entry.task], timeout=PATIENCE)
        return get_run(self._home, run.id)

    async def delete(self, run: Run) -> Run:
        """Delete a run that is neither at work nor in the queue.

        Raises:
            InputError: it is, or an unfinished run still needs it.
        """
        async with self._changing:
            run = get_run(self._home, run.id)
            if run.id in self._entries:
                raise InputError(f"run {run.id} is {run.status}; cancel it first, then delete it")
            await delete_whole_run(self._home, run.id)
            self._waiting.pop(run.id, None)
            return run

    async def ended(self, run: str) -> Run:
        """Wait until a run is neither in the queue nor at work, and return its row."""
        while (entry := self._entries.get(run)) is not None:
            await (asyncio.sleep(0.05) if entry.task is None else asyncio.wait([entry.task]))
        return get_run(self._home, run)

    async def close(self, *, patience: float | None = None) -> None:
        """Answer and commit what is in flight, and leave every run so that it goes on after a restart.

        Args:
            patience: seconds after which the calls in flight are given up; by default they are waited for.
        """
        self._closing = True
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        working = {entry.task: entry for entry in self._entries.values() if entry.task is not None}
        for entry in working.values():
            entry.stop.leaves = "interrupted" if entry.stop.asked else "queued"
            entry.stop.ask()
        if working:
            _, late = await asyncio.wait(working, timeout=patience)
            for task in late:
                working[task].stop.ask(at_once=True)
                task.cancel()
            if late:
                await asyncio.wait(late)
        await self._stack.aclose()

    def _check(self) -> None:
        if self._closing:
            raise Interrupted("the service is about to end; ask again when it is back")
        if not self._home.in_place:
            raise gone(self._home)

    def _check_keys(self, run: Run, request: RunRequest, retry: Sequence[Any] = ()) -> None:
        """Refuse what would be refused when the run begins: a key that is not set, a limit that cannot be kept."""
        _, reached = reaching(method_of(run), self._home, run, request, settings=self._settings, retry=retry)
        keys_of(self._settings, reached)

    def _standing(self, run: str) -> str:
        with suppress(NotFound):
            return get_run(self._home, run).status
        return ""

    async def _put(
        self,
        run: Run,
        request: RunRequest,
        *,
        new: bool = False,
        retry: Sequence[Any] = (),
        prompts: bool = False,
        given: Any = None,
    ) -> Run:
        """Put an accepted run into the queue, durably, unless it is there; return its row."""
        held = {name: one for name, one in request.invocation.items() if one is not None and name not in LABELS}
        if prompts:
            held["prompts"] = request.prompts
        kept: Any = request.model_dump(mode="json", include=set(held))
        async with self._changing:
            self._check()
            entry = self._entries.get(run.id)
            if entry is not None:
                if entry.stop.asked:
                    raise InputError(f"run {run.id} is being stopped; ask again when it has ended")
                return get_run(self._home, run.id)
            before = "" if new else get_run(self._home, run.id).status
            queued = Queued(id=run.id, before=before, changes=kept, retry=tuple(retry))
            await enqueue(self._home, queued)
            self._waiting.pop(run.id, None)
            self._enter(queued, run, given=given)
            self._begin()
        return get_run(self._home, run.id)

    def _enter(self, queued: Queued, run: Run, *, given: Any = None) -> None:
        entry = self._entries[queued.id] = _Entry(Watch(self._home, queued, self._observers(run)), given)
        entry.watch.became("queued")

    async def _drop(self, run: str) -> None:
        """Take a run that is not at work out of the queue; it stands as it stood before, or as interrupted."""
        entry = self._entries.pop(run, None)
        waited = self._waiting.pop(run, None)
        if entry is not None or waited is not None:
            before = entry.watch.queued.before if entry is not None else ""
            status = "done" if before == "done" else "failed" if before == "failed" else "interrupted"
            await leave_queue(self._home, run, status=status)
            if entry is not None:
                entry.watch.became(status)

    def _begin(self) -> None:
        """Begin with runs that wait for their turn, as long as there is room."""
        for run in self.queued[: max(0, self._width - len(self.at_work))] if not self._closing else ():
            entry = self._entries[run]
            entry.task = asyncio.create_task(self._work(run, entry), name=f"run {run}")

    async def _work(self, id: str, entry: _Entry) -> None:
        """Carry out a run; whatever becomes of it, the engine goes on."""
        end, why, queued = "", "", entry.watch.queued
        try:
            with bound(run_id=id):
                run = get_run(self._home, id)
                result = await resume(
                    run,
                    settings=self._settings,
                    changes=_changed(run, queued.changes | left_of(queued)),
                    observer=entry.watch,
                    stop=entry.stop,
                    transports=self._transports or None,
                    retry=queued.retry,
                    given=entry.given,
                    home=self._home,
                )
            end, why = result.end, result.why
        except (Exception, asyncio.CancelledError) as problem:
            end, why = said_of(problem)
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
        if run.status == "queued" and not (self._closing and entry.stop.leaves == "queued"):
            # it never began: it stands as it stood before
            status = before or ("failed" if end == "failed" else "interrupted")
            await leave_queue(self._home, id, status=status)
            await note_end(self._home, run, end, why, self._settings)
        elif run.status not in ("queued", "waiting"):
            await leave_queue(self._home, id)
        run = get_run(self._home, id)
        if run.status == "waiting":
            self._waiting[id] = (-1, 0.0)
        entry.watch.became(
            run.status, end="" if end in ("failed", "interrupted") else end, why=why or why_ended(self._home, run)
        )

    async def _look(self) -> None:
        """Take in what people left as files, and go on with runs whose questions they have answered."""
        while True:
            await asyncio.sleep(LOOK)
            try:
                await take_in(self._home)
                for run in [id for id in self._waiting if self._answered(id)]:
                    await self._take_up(run)
            except (StorageError, NotFound) as problem:
                logger(__name__).error("what people answered could not be taken up", problem=str(problem))

    def _answered(self, run: str) -> bool:
        """Whether people have answered, and no answer came for a while."""
        if not has_answers(self._home, run):
            return False
        now, left = asyncio.get_running_loop().time(), len(open_questions(self._home, run=run))
        if self._waiting[run][0] != left:
            self._waiting[run] = (left, now)
        return now - self._waiting[run][1] >= QUIET[left > 0]

    async def _take_up(self, id: str) -> None:
        """Put a run that waited for people back into the queue, under the limits that it had."""
        run = get_run(self._home, id)
        known = next((one for one in queue(self._home) if one.id == id), None)
        request = method_of(run).read(run)[1]
        if known is None:
            await self._put(run, request)
            return
        async with self._changing:
            await enqueue(self._home, known)
            self._waiting.pop(id, None)
            self._enter(known, run)
            self._begin()


def _changed(run: Run, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes of a run's request, checked to be some.

    Raises:
        InputError: they are none; the message names the field.
    """
    request = method_of(run).read(run)[1]
    try:
        checked = type(request).model_validate({**request.model_dump(), **Invocation().invocation, **changes})
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}") from None
    return {name: getattr(checked, name) for name in changes}
