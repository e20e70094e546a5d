"""Events of the runs of a home: a log for each run, whose picture survives restarts, and server-sent event streams."""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dokimasia.domain.identity import JsonObject, Value
from dokimasia.domain.judgement import OPEN_KINDS
from dokimasia.errors import NotFound, StorageError
from dokimasia.log import Redactor
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.figures import limits_of
from dokimasia.runs.observer import Observer
from dokimasia.runs.outcome import why_ended
from dokimasia.service.event_log import (
    LAST,
    FailureCount,
    FailureEvent,
    Log,
    RunPicture,
    ServerEvent,
    StatusEvent,
    fold,
)
from dokimasia.service.run_observer import STOPPED, RunObserver
from dokimasia.storage.home import Home
from dokimasia.storage.results import events, keep_event, last_failures
from dokimasia.storage.runs import Run, get_run
from dokimasia.storage.spending import spent_by

MOST_LOGS = 200
"""The number of stored logs of runs not at work; the least recently read is dropped first."""

WATCHED = "watched"
"""The kind of the stored event with a run's picture."""

REFRESH_INTERVAL = 5.0
"""Seconds between two checks of the stored status of a run that has readers but no observer."""


class StoredPicture(Value):
    """A picture of a run as it is stored, and the id of its last event."""

    picture: RunPicture = Field(default_factory=RunPicture)
    last: int = 0


class Events:
    """The event logs of one home, for one event loop.

    Attributes:
        totals: the calls and spending of this process's runs.
        streams: the number of open streams.
        draining: whether the service, and with it every stream, is about to end.
    """

    def __init__(self, home: Home, redact: Callable[[str], str] | None = None) -> None:
        """Start without logs; each is created on first use."""
        self._home = home
        self._redact = redact or Redactor()
        self._logs: OrderedDict[str, Log] = OrderedDict()
        self._at_work: set[str] = set()
        self._refreshed_at: dict[str, float] = {}
        self.totals: Counter[str] = Counter()
        self.streams = 0
        self.draining = False

    def observer_of(self, run: Run) -> Observer:
        """Return an observer that adds the events of a run to its log."""
        log = self._log_of(run.id, None)
        self._at_work.add(run.id)

        def save(picture: RunPicture, last: int) -> None:
            if picture.run_status not in ("queued", "running"):
                self._at_work.discard(run.id)
            record = StoredPicture(picture=picture, last=last).model_dump(mode="json")
            with suppress(StorageError):  # the home is closed or full: the picture can be rebuilt from rows
                self._home.writer.submit(lambda connection: keep_event(connection, run.id, WATCHED, record))

        def facts_at_start() -> dict[str, object]:
            return {"failures": self._failures(run.id), **self._spending(get_run(self._home, run.id))}

        return RunObserver(
            log, redact=self._redact, facts_at_start=facts_at_start, save_picture=save, totals=self.totals
        )

    async def log(self, run: Run) -> Log:
        """Return a run's log, brought up to date from the home if the run is not at work.

        Raises:
            NotFound: the run was deleted.
        """
        if run.id in self._at_work and run.id in self._logs:
            return self._logs[run.id]
        log = self._logs.get(run.id)
        if log is None:
            return self._log_of(run.id, await run_in_threadpool(self._stored_picture, run))
        await self.refresh(run.id, log)
        self._logs.move_to_end(run.id)
        return log

    async def refresh(self, run_id: str, log: Log) -> None:
        """Bring the log of a run without observer up to date with its stored status; a deleted run has ended."""
        now = time.monotonic()
        if run_id in self._at_work or now - self._refreshed_at.get(run_id, 0.0) < REFRESH_INTERVAL:
            return
        self._refreshed_at[run_id] = now
        try:
            status_event = self._status_of(await run_in_threadpool(get_run, self._home, run_id))
        except NotFound:
            status_event = StatusEvent(status="deleted", why="the run was deleted")
        if run_id not in self._at_work and status_event.status != log.picture.run_status:
            log.add("status", status_event)
            if status_event.status in (*STOPPED, "deleted"):
                log.add("ended", status_event)

    def standing(self) -> list[RunPicture]:
        """Return the pictures of the runs at work."""
        return [self._logs[run].picture for run in self._at_work if run in self._logs]

    def drain(self) -> None:
        """End all streams, and refuse new ones."""
        self.draining = True
        for log in self._logs.values():
            log.wake()

    def _log_of(self, run_id: str, stored: StoredPicture | None) -> Log:
        """Return a run's log, creating it if needed, and drop the least recently read logs beyond `MOST_LOGS`."""
        if run_id not in self._logs:
            stored = stored or self._stored_picture(get_run(self._home, run_id))
            self._logs[run_id] = Log(stored.picture, last=stored.last)
        self._logs.move_to_end(run_id)
        for old in list(self._logs)[: max(0, len(self._logs) - MOST_LOGS)]:
            if old not in self._at_work and not self._logs[old].readers:
                del self._logs[old]
                self._refreshed_at.pop(old, None)
        return self._logs[run_id]

    def _stored_picture(self, run: Run) -> StoredPicture:
        """Return the stored picture of a run, brought up to date with its row."""
        records = events(self._home, run.id, kind=WATCHED)
        stored = StoredPicture.model_validate(records[-1].data) if records else StoredPicture()
        picture, planned = stored.picture, stored.picture.planned
        if planned is None:
            estimate = Estimate.of_run(run)
            planned = {"samples": estimate.samples, "calls": estimate.calls, "cost": estimate.cost}
            planned |= self._spending(run)
        if picture.run_status != run.status:
            picture = fold(picture, "status", self._status_of(run))
        ended = picture.status if run.status in STOPPED else None
        changes = {"planned": planned, "failures": self._failures(run.id), "ended": ended}
        return stored.model_copy(update={"picture": picture.model_copy(update=changes)})

    def _spending(self, run: Run) -> dict[str, JsonObject]:
        """Return the limits on a run, and the total spending of all its invocations so far."""
        limits = {name: limit for name, limit in limits_of(run).items() if limit is not None}
        return {"budget": limits, "spent_before": spent_by(self._home, run.id)._asdict()}

    def _status_of(self, run: Run) -> StatusEvent:
        return StatusEvent(status=run.status, why=self._redact(why_ended(self._home, run)), at=run.updated_at)

    def _failures(self, run_id: str) -> dict[str, FailureCount]:
        """Return the failures of a run by kind, each with a count and the last reasons; open items are not failures."""
        failures: dict[str, FailureCount] = {}
        for kind, (count, rows) in last_failures(self._home, run_id, LAST).items():
            if kind not in OPEN_KINDS:
                last = [
                    FailureEvent(kind=kind, model=row.model, item=row.item, reason=self._redact(row.reason or ""))
                    for row in rows
                ]
                failures[kind] = FailureCount(count=count, last=tuple(last))
        return failures


MEDIA_TYPE = "text/event-stream"
HEARTBEAT = 15.0
"""Seconds without an event after which a stream sends a comment."""

RETRY = b"retry: 2000\n\n"
"""The time, in milliseconds, that a browser waits before it reconnects."""

STILL_HERE = b": still here\n\n"


class EventStream(Response):
    """The events of a run after a position, streamed until the run or the service ends."""

    media_type = MEDIA_TYPE

    def __init__(self, events: Events, run: str, log: Log, position: int | None) -> None:
        """Start after a position; None: with a snapshot."""
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._run = run
        self._log = log
        self._position = position

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the run ends or the reader disconnects."""
        disconnected = asyncio.ensure_future(_disconnected(receive))
        self._events.streams += 1
        self._log.readers += 1
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await self._follow(send, disconnected)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError:  # the reader has disconnected, as some servers report it
            pass
        finally:
            self._events.streams -= 1
            self._log.readers -= 1
            disconnected.cancel()

    async def _follow(self, send: Send, disconnected: "asyncio.Future[None]") -> None:
        log, chunk = self._log, RETRY
        while not disconnected.done():
            events = log.after(self._position)
            if events:
                self._position = events[-1].id
            if (ended := log.picture.ended) and not any(event.type == "ended" for event in events):
                events.append(ServerEvent(log.last, "ended", ended))
            chunk += b"".join(event.wire for event in events)
            if chunk:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                chunk = b""
            if self._position != log.last:
                continue  # more happened while this was sent
            if log.over or self._events.draining:
                return
            await log.wait(log.last, seconds=HEARTBEAT, unless=disconnected)
            if self._position == log.last and not self._events.draining:
                await self._events.refresh(self._run, log)
                chunk = STILL_HERE


async def _disconnected(receive: Receive) -> None:
    """Wait until the reader has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
