"""The engine of the service: requests are accepted, previewed, resumed, forked, cancelled and deleted over one open home."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from dokimasia.domain.ports import Transport
from dokimasia.errors import NotFound
from dokimasia.runs.catalogue import method_named, method_of
from dokimasia.runs.forking import ForkRequest, Prepared, keep_fork, prepare_fork
from dokimasia.runs.lifecycle import models_to_reach, prepare_resume
from dokimasia.runs.method import Method
from dokimasia.runs.observer import Observer, Silent
from dokimasia.runs.outcome import check_measures, retryable
from dokimasia.runs.persistence import delete_whole_run, keep_limits, persist_run, run_row
from dokimasia.runs.preview import preview
from dokimasia.runs.requests import Invocation, RunRequest
from dokimasia.runs.services import keys_of
from dokimasia.runs.session import Accepted, Session
from dokimasia.service.queue import Queue, changed
from dokimasia.service.request_parsing import check_models
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.naming import name_run
from dokimasia.storage.results import count_failed
from dokimasia.storage.runs import Run, get_run

WIDTH = 4
"""So many runs are at work at once."""

ACCEPTED_AT_ONCE = 2
"""So many requests are read and checked at once: a large data file keeps a processor busy."""


class RunEngine:
    """Runs over one open home that the caller keeps; every method raises the errors that the command line would print.

    A request is accepted at once, or refused with the error that the command line would print and nothing kept; its run is
    carried out when it is its turn (`dokimasia.service.queue.Queue`). Use it in one event loop, as an asynchronous context
    manager, or with `start` and `close`.
    """

    def __init__(
        self,
        settings: Settings,
        home: Home,
        *,
        width: int = WIDTH,
        observers: Callable[[Run], Observer] = lambda run: Silent(),
        transports: Mapping[str, Transport] | None = None,
        remote_workers: Invocation | None = None,
    ) -> None:
        """Make an engine, which does nothing before `start`.

        Args:
            settings: configuration and keys.
            home: open for writing.
            width: so many runs are at work at once.
            observers: makes what watches a run, each time that it is put into the queue.
            transports: ways to a model that replace the package's own; the caller closes them.
            remote_workers: by `workers`, `engine` and `address`, which processes walk the graphs of runs; by default this one.
        """
        self._settings = settings
        self._home = home
        self._transports = dict(transports or {})
        self._accepting = asyncio.Semaphore(ACCEPTED_AT_ONCE)
        self.queue = Queue(
            settings, home, width=width, observers=observers, transports=self._transports, remote_workers=remote_workers
        )

    async def __aenter__(self) -> "RunEngine":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Begin, with what the process before this one left in the queue or at work."""
        await self.queue.start()

    async def close(self, *, patience: float | None = None) -> None:
        """Have what is in flight answered and committed, after `patience` seconds given up; every run goes on after a restart."""
        await self.queue.close(patience=patience)

    async def submit(self, method: str, request: RunRequest, *, given: Any = None) -> Run:
        """Accept a run and put it into the queue; one that is there, at work or done is returned as it stands.

        Raises:
            InputError: the data, the configuration or the options cannot be used; nothing is kept.
        """
        self.queue.check()
        found = method_named(method)
        check_measures(found, request)
        library = found.library(request, given)
        session = Session(self._settings, self._home, library, given=given, transports=tuple(self._transports))
        async with self._accepting:
            # in a thread with a loop of its own: not all of it waits, and a large data file takes seconds
            accepted = await asyncio.to_thread(lambda: asyncio.run(_accept(found, request, session)))
            row = await asyncio.to_thread(run_row, found, accepted.plan, request, accepted)
            self._check_new(row, request)
            row, new = await persist_run(found, self._home, request, accepted)
        return await self._queued(row, request, new=new, given=given)

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
            changes: fields of its request that hold for this time; limits on spending stay, with None for no limit.
            retry: kinds of failure whose items are asked anew.

        Raises:
            InputError: it cannot go on, such as under other prompts; or not with these while it is in the queue.
        """
        self.queue.check()
        await self.queue.settled(run.id)
        run, changes = get_run(self._home, run.id), changes or {}
        kinds = retryable(",".join(retry)) if retry else ()
        if kinds or changes:
            self.queue.outside(run.id)
        method, _, request, _ = await asyncio.to_thread(
            lambda: prepare_resume(run, changes=changed(run, changes), retry=kinds)
        )
        check_measures(method, request)
        if run.status == "done" and not count_failed(self._home, run.id, kinds):
            return run
        self._check_keys(run, request, kinds)
        also = tuple(changes.keys() - request.invocation.keys())
        return await self._queued(run, request, retry=kinds, also=also)

    async def fork(self, run: Run, request: ForkRequest) -> Run:
        """Put a run into the queue that does another again with changes.

        Raises:
            InputError: nothing changes, the run is unfinished, or runs of its kind are not forked.
        """
        self.queue.check()
        check_models(request)
        run, ways = get_run(self._home, run.id), tuple(self._transports)
        async with self._accepting:
            prepared = await self._prepared(run, request, ways)
            asked = prepared.request
            self._check_new(run_row(prepared.method, prepared.accepted.plan, asked, prepared.accepted), asked)
            row, new = await keep_fork(self._home, run, request, prepared)
        return await self._queued(row, asked, new=new)

    async def preview_fork(self, run: Run, request: ForkRequest) -> dict[str, Any]:
        """Return what a fork would be, take over, ask and cost; nothing is kept or sent.

        Raises:
            InputError: see `fork`.
        """
        async with self._accepting:
            return (await self._prepared(run, request)).preview

    async def _prepared(self, run: Run, request: ForkRequest, ways: Collection[str] = ()) -> Prepared:
        """Work a fork out in a thread with a loop of its own, as a request is accepted."""
        work = partial(prepare_fork, self._home, run, request, settings=self._settings, transports=ways)
        return await asyncio.to_thread(lambda: asyncio.run(work()))

    async def cancel(self, run: Run, *, at_once: bool = False) -> Run:
        """Stop a run once the calls in flight are committed, or at once; it does not go on by itself.

        Returns its row when it has stopped, or after some seconds as it stands then.
        """
        await self.queue.cancel(run.id, at_once=at_once)
        return get_run(self._home, run.id)

    async def delete(self, run: Run) -> Run:
        """Delete a run that is not in the queue, and return the row that it had.

        Raises:
            InputError: it is in the queue, or an unfinished run still needs it.
        """
        await self.queue.settled(run.id)
        run = get_run(self._home, run.id)
        self.queue.outside(run.id)
        await delete_whole_run(self._home, run.id)
        return run

    async def ended(self, run: Run) -> Run:
        """Wait until a run is neither in the queue nor at work, and return its row."""
        await self.queue.ended(run.id)
        return get_run(self._home, run.id)

    async def _queued(self, run: Run, request: RunRequest, **more: Any) -> Run:
        await self.queue.settled(run.id)
        await name_run(self._home, run.id, request.name, request.tags)
        if run.status == "done" and not more.get("retry"):
            return run
        if run.id not in self.queue:
            run = await keep_limits(self._home, get_run(self._home, run.id), request)
        return await self.queue.put(run, request, **more)

    def _check_new(self, row: Run, request: RunRequest) -> None:
        """Refuse what a run would be refused for when it begins, unless there is one that needs no beginning."""
        with suppress(NotFound):
            if not request.fresh and (get_run(self._home, row.id).status == "done" or row.id in self.queue):
                return
        self._check_keys(row, request)

    def _check_keys(self, run: Run, request: RunRequest, retry: Sequence[Any] = ()) -> None:
        _, reached = models_to_reach(method_of(run), self._home, run, request, settings=self._settings, retry=retry)
        keys_of(self._settings, reached)


async def _accept(method: Method[Any, Any], request: RunRequest, session: Session) -> Accepted[Any]:
    return await method.admit(request, session)
