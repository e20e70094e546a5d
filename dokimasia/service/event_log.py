"""The log of one run: its last events with increasing ids, and the picture that all of them come to."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any, Literal

import orjson

EventType = Literal[
    "snapshot", "status", "planned", "starting", "graph", "steps", "progress", "limit", "failure", "ended"
]
STATES = frozenset({"graph", "steps", "progress"})
"""Types of which the last event says all: those before it may be left out."""

LAST = 5
"""Sentences that a picture keeps of each kind of failure."""

PAST = 20
"""Changes of status that a picture keeps."""

Picture = dict[str, Any]


def blank() -> Picture:
    """Return the picture of a run of which nothing was told."""
    return {
        "status": None,
        "history": [],
        "planned": None,
        "starting": None,
        "progress": None,
        "failures": {},
        "limits": {},
        "graphs": {},
        "steps": {},
        "ended": None,
    }


def fold(picture: Picture, type: EventType, data: Mapping[str, Any]) -> None:
    """Put one more event into a picture; the script of the live page does the same."""
    if type == "snapshot":
        picture.clear()
        picture.update(data["picture"])
    elif type == "status":
        picture["status"] = dict(data)
        picture["history"] = [*picture["history"], dict(data)][-PAST:]
        picture["ended"] = None
    elif type == "ended":
        picture["ended"] = dict(data)
    elif type == "planned":
        picture |= blank() | {name: picture[name] for name in ("status", "history", "ended")}
        picture["planned"] = {name: one for name, one in data.items() if name != "failures"}
        picture["failures"] = data["failures"]
    elif type == "graph":
        picture["graphs"] = {**picture["graphs"], data["name"]: dict(data)}
    elif type == "limit":
        picture["limits"] = {**picture["limits"], data["endpoint"]: dict(data)}
    elif type == "failure":
        before = picture["failures"].get(data["kind"], {"count": 0, "last": []})
        after = {"count": before["count"] + 1, "last": [*before["last"], dict(data)][-LAST:]}
        picture["failures"] = {**picture["failures"], data["kind"]: after}
    else:
        picture[type] = dict(data)


KEPT = 1_000
"""Events of a run that are kept one by one; of earlier ones the picture is kept that they come to."""

TOGETHER = 0.1
"""Seconds within which events wake readers once."""


@dataclass(frozen=True)
class ServerEvent:
    """One event of a run, and how it goes over the wire."""

    id: int
    type: EventType
    data: Mapping[str, Any]

    @cached_property
    def wire(self) -> bytes:
        """The event as a server-sent event, made once for all readers."""
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (self.id, self.type.encode(), orjson.dumps(self.data))


def clock_id() -> int:
    """Return an id that is larger than those of any earlier process, as long as the clock goes forward."""
    return int(time.time() * 1000)


class Log:
    """What happened in a run, for the event loop that tells it.

    A reader holds a position, the id of the last event that it was sent, and nothing is kept for it. Of states, such as
    progress, only the last is there to be read; any other event is there one by one as long as it is among the last
    `KEPT`. Who comes with an older position is first given the picture up to there, as `snapshot`.

    Attributes:
        picture: what all events come to.
        last: the id of the last event.
        readers: how many read it.
    """

    def __init__(self, picture: Picture | None = None, *, last: int = 0, now: Callable[[], int] = clock_id) -> None:
        """Begin with what is known of the run, as if it had been told up to now, or up to the id `last`."""
        self._now = now
        self.last = self._base_id = max(last, now())
        self.readers = 0
        self.picture = blank() | (picture or {})
        self._base: Picture = dict(self.picture)
        self._kept: deque[ServerEvent] = deque()
        self._states: dict[str, ServerEvent] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._waking = False

    @property
    def over(self) -> bool:
        """Whether the run has ended, so that a stream of it does."""
        return self.picture["ended"] is not None

    def add(self, type: EventType, data: Mapping[str, Any]) -> ServerEvent:
        """Tell an event."""
        event = ServerEvent(max(self.last + 1, self._now()), type, data)
        self.last = event.id
        fold(self.picture, type, data)
        if type in STATES:
            self._states[f"{type} {data['name']}" if type == "graph" else type] = event
        else:
            self._kept.append(event)
            if type == "planned":
                self._states.clear()
            while len(self._kept) > KEPT:
                dropped = self._kept.popleft()
                fold(self._base, dropped.type, dropped.data)
                self._base_id = dropped.id
        self._wake()
        return event

    def after(self, position: int | None) -> list[ServerEvent]:
        """Return what a reader is sent that was sent all up to a position; None: who comes for the first time.

        What comes of it, put into a picture, is the picture of now.
        """
        if position is None:
            return [
                ServerEvent(self.last, "snapshot", {"reason": "what is known so far", "picture": dict(self.picture)})
            ]
        if position == self.last:
            return []
        sent: list[ServerEvent] = []
        if not self._base_id <= position < self.last:
            why = (
                "the events up to here are not kept one by one" if position < self._base_id else "this id is not known"
            )
            picture = dict(self._base)
            for event in self._states.values():
                if event.id <= self._base_id:
                    fold(picture, event.type, event.data)
            sent.append(ServerEvent(self._base_id, "snapshot", {"reason": why, "picture": picture}))
            position = self._base_id
        sent += takewhile(lambda event: event.id > position, reversed(self._kept))
        sent += (event for event in self._states.values() if event.id > position)
        return sorted(sent, key=lambda event: event.id)

    async def wait(self, position: int, *, seconds: float, unless: "asyncio.Future[None]") -> None:
        """Wait for an event after a position, at most so long, and no longer than until something else is done."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def end(_: object) -> None:
            if not turn.done():
                turn.set_result(None)

        if self.last != position or unless.done():
            return
        self._waiting.add(turn)
        unless.add_done_callback(end)
        try:
            async with asyncio.timeout(seconds):
                await turn
        except TimeoutError:
            return
        finally:
            self._waiting.discard(turn)
            unless.remove_done_callback(end)

    def wake(self) -> None:
        """Let all who wait look again."""
        self._waking = False
        waiting, self._waiting = self._waiting, set()
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _wake(self) -> None:
        if self._waiting and not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_later(TOGETHER, self.wake)
