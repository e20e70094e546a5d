"""What happens in the runs of a home: a log for each run, kept over restarts by its picture, and streams of it to readers."""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dokimasia.domain.judgement import OPEN_KINDS
from dokimasia.errors import NotFound, StorageError
from dokimasia.log import Redactor
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.observer import Observer
from dokimasia.runs.outcome import why_ended
from dokimasia.service.event_log import LAST, Log, Picture, ServerEvent, blank
from dokimasia.service.run_observer import STOPPED, RunObserver
from dokimasia.storage.home import Home
from dokimasia.storage.results import events, keep_event, last_failures
from dokimasia.storage.runs import Run, get_run
from dokimasia.storage.spending import spent_by
from dokimasia.storage.threads import queue

MANY = 200
"""Logs of runs that are not at work that are kept at most; the one not read for longest is forgotten first."""

WATCHED = "watched"
"""The kind of the event that keeps a run's picture."""

LOOK = 5.0
"""Seconds between two looks at the stored status of a run that is read and that nobody tells of."""


class Events:
    """What happens in the runs of one home, for one event loop.

    Attributes:
        totals: what the runs of this process have sent and spent.
        streams: how many streams are open.
        draining: whether the service is about to end, so that streams do.
    """

    def __init__(self, home: Home, redact: Callable[[str], str] | None = None) -> None:
        """Begin with no log."""
        self._home = home
        self._redact = redact or Redactor()
        self._logs: OrderedDict[str, Log] = OrderedDict()
        self._at_work: set[str] = set()
        self._looked: dict[str, float] = {}
        self.totals: Counter[str] = Counter()
        self.streams = 0
        self.draining = False

    def observing(self, run: Run) -> Observer:
        """Return what watches a run from now on; its events go into the run's log."""
        log = self._kept(run.id, None)
        self._at_work.add(run.id)

        def stands(picture: Picture, last: int) -> None:
            if picture["status"]["status"] not in ("queued", "running"):
                self._at_work.discard(run.id)
            kept: Any = {"picture": picture, "last": last}
            with suppress(StorageError):  # the home is closed or full: the picture is put together from rows again
                self._home.writer.submit(lambda connection: keep_event(connection, run.id, WATCHED, kept))

        def begins() -> dict[str, Any]:
            known = next((one for one in queue(self._home) if one.id == run.id), None)
            budget = {name: value for name, value in known.changes.items() if name.startswith("max_")} if known else {}
            spent = spent_by(self._home, run.id)._asdict()
            return {"failures": self._failures(run.id), "budget": budget, "spent_before": spent}

        return RunObserver(log, redact=self._redact, begins=begins, stands=stands, totals=self.totals)

    async def log(self, run: Run) -> Log:
        """Return a run's log; where it is not at work, it is brought up to date with what is stored.

        Raises:
            NotFound: the run was deleted.
        """
        if run.id in self._at_work and run.id in self._logs:
            return self._logs[run.id]
        known = self._logs.get(run.id)
        if known is None:
            picture, last = await run_in_threadpool(self._stored, run)
            return self._kept(run.id, (picture, last))
        await self.look(run.id, known)
        self._logs.move_to_end(run.id)
        return known

    async def look(self, run_id: str, log: Log) -> None:
        """See whether a run that nobody tells of stands as its log says; a deleted one has ended."""
        now = time.monotonic()
        if run_id in self._at_work or now - self._looked.get(run_id, 0.0) < LOOK:
            return
        self._looked[run_id] = now
        try:
            told: dict[str, Any] = _standing(self._home, await run_in_threadpool(get_run, self._home, run_id))
        except NotFound:
            told = {"status": "deleted", "end": "", "why": "the run was deleted", "at": ""}
        if run_id not in self._at_work and told["status"] != (log.picture["status"] or {}).get("status"):
            told["why"] = self._redact(told["why"])
            log.add("status", told)
            if told["status"] in (*STOPPED, "deleted"):
                log.add("ended", told)

    def standing(self) -> list[Picture]:
        """Return the pictures of the runs at work."""
        return [self._logs[run].picture for run in self._at_work if run in self._logs]

    def drain(self) -> None:
        """Have every stream end, and take no new one."""
        self.draining = True
        for log in self._logs.values():
            log.wake()

    def _kept(self, run_id: str, stored: tuple[Picture, int] | None) -> Log:
        """Return a run's log, made where there is none, and forget logs that nobody has read for long."""
        if run_id not in self._logs:
            picture, last = stored or self._stored(get_run(self._home, run_id))
            self._logs[run_id] = Log(picture, last=last)
        self._logs.move_to_end(run_id)
        for old in list(self._logs)[: max(0, len(self._logs) - MANY)]:
            if old not in self._at_work and not self._logs[old].readers:
                del self._logs[old]
                self._looked.pop(old, None)
        return self._logs[run_id]

    def _stored(self, run: Run) -> tuple[Picture, int]:
        """Return the picture of a run as it is stored, and the id of its last event."""
        kept = events(self._home, run.id, kind=WATCHED)
        picture: Picture = blank() | (kept[-1].data["picture"] if kept else {})
        estimate = Estimate.model_validate(run.options["estimate"])
        if picture["planned"] is None:
            picture["planned"] = {"samples": estimate.samples, "calls": estimate.calls, "cost": estimate.cost}
        picture["failures"] = self._failures(run.id)
        told = _standing(self._home, run)
        told["why"] = self._redact(told["why"])
        if (picture["status"] or {}).get("status") != run.status:
            picture["status"], picture["history"] = told, [*picture["history"], told]
        picture["ended"] = picture["status"] if run.status in STOPPED else None
        return picture, int(kept[-1].data["last"]) if kept else 0

    def _failures(self, run_id: str) -> dict[str, Any]:
        """Return what of a run has failed, by kind: how many items, and the last sentences; what is open has not."""
        return {
            kind: {
                "count": count,
                "last": [
                    {
                        "kind": kind,
                        "model": row.model,
                        "item": row.item,
                        "reason": self._redact(row.reason or ""),
                        "at": "",
                    }
                    for row in rows
                ],
            }
            for kind, (count, rows) in last_failures(self._home, run_id, LAST).items()
            if kind not in OPEN_KINDS
        }


def _standing(home: Home, run: Run) -> dict[str, Any]:
    return {"status": run.status, "end": "", "why": why_ended(home, run), "at": run.updated_at}


MEDIA_TYPE = "text/event-stream"
HEARTBEAT = 15.0
"""Seconds without an event after which a stream says that it is still there."""

AGAIN = b"retry: 2000\n\n"
"""How long a browser waits before it comes again, in milliseconds."""

STILL = b": still here\n\n"


class EventStream(Response):
    """The events of a run after a position, as they come, until the run has ended or the service is about to."""

    media_type = MEDIA_TYPE

    def __init__(self, events: Events, run: str, log: Log, position: int | None) -> None:
        """Begin after a position; None: with a snapshot."""
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._run = run
        self._log = log
        self._position = position

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the end, or until the reader has gone."""
        gone = asyncio.ensure_future(_gone(receive))
        self._events.streams += 1
        self._log.readers += 1
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await self._follow(send, gone)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError:  # the reader has gone, which some servers say so
            pass
        finally:
            self._events.streams -= 1
            self._log.readers -= 1
            gone.cancel()

    async def _follow(self, send: Send, gone: "asyncio.Future[None]") -> None:
        log, part = self._log, AGAIN
        while not gone.done():
            told = log.after(self._position)
            if told:
                self._position = told[-1].id
            if log.over and not any(event.type == "ended" for event in told):
                told.append(ServerEvent(log.last, "ended", log.picture["ended"]))
            part += b"".join(event.wire for event in told)
            if part:
                await send({"type": "http.response.body", "body": part, "more_body": True})
                part = b""
            if self._position != log.last:
                continue  # more has happened while this was sent
            if log.over or self._events.draining:
                return
            await log.wait(log.last, seconds=HEARTBEAT, unless=gone)
            if self._position == log.last and not self._events.draining:
                await self._events.look(self._run, log)
                part = STILL


async def _gone(receive: Receive) -> None:
    """Return when the reader has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
