"""A stream of a run's events to one reader: it holds a position, and nothing is queued for it."""

import asyncio

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dokimasia.service.events.log import Event, Log
from dokimasia.service.events.registry import Events

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
                told.append(Event(log.last, "ended", log.picture["ended"]))
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
