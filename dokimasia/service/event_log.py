"""The event log of a run: its latest events, with increasing ids, and its current state, the picture."""

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
"""Types of which only the latest event matters, so that earlier ones may be dropped."""

LAST = 5
"""How many failures of each kind a picture keeps."""

PAST = 20
"""How many changes of status a picture keeps."""

Picture = dict[str, Any]


def empty_picture() -> Picture:
    """Return the picture of a run without events."""
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
    """Apply an event to a picture, as `fold` in `live.js` does in the browser."""
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
        picture |= empty_picture() | {name: picture[name] for name in ("status", "history", "ended")}
        picture["planned"] = {name: field for name, field in data.items() if name != "failures"}
        picture["failures"] = data["failures"]
    elif type == "graph":
        picture["graphs"] = {**picture["graphs"], data["name"]: dict(data)}
    elif type == "limit":
        picture["limits"] = {**picture["limits"], data["endpoint"]: dict(data)}
    elif type == "failure":
        previous = picture["failures"].get(data["kind"], {"count": 0, "last": []})
        current = {"count": previous["count"] + 1, "last": [*previous["last"], dict(data)][-LAST:]}
        picture["failures"] = {**picture["failures"], data["kind"]: current}
    else:
        picture[type] = dict(data)


KEPT = 1_000
"""How many events of a run are kept individually; earlier ones are folded into a picture."""

TOGETHER = 0.1
"""Seconds for which events are collected before readers are woken."""


@dataclass(frozen=True)
class ServerEvent:
    """One event of a run, and its wire format."""

    id: int
    type: EventType
    data: Mapping[str, Any]

    @cached_property
    def wire(self) -> bytes:
        """The event as a server-sent event, encoded once for all readers."""
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (self.id, self.type.encode(), orjson.dumps(self.data))


def clock_id() -> int:
    """Return the time in milliseconds as an event id, larger than those of earlier processes unless the clock was set back."""
    return int(time.time() * 1000)


class Log:
    """The events of a run, for one event loop.

    A reader's only state is its position, the id of the last event that it received. Of states, such as progress, only the
    last can be read; of the other events, the last `KEPT`. A reader with an older position first receives the picture up
    to there, as a `snapshot`.

    Attributes:
        picture: the state of the run after all events.
        last: the id of the last event.
        readers: how many streams read the log.
    """

    def __init__(self, picture: Picture | None = None, *, last: int = 0, now: Callable[[], int] = clock_id) -> None:
        """Start with a picture of the run that includes its events up to now, or up to the id `last`."""
        self._now = now
        self.last = self._base_id = max(last, now())
        self.readers = 0
        self.picture = empty_picture() | (picture or {})
        self._base: Picture = dict(self.picture)
        self._kept: deque[ServerEvent] = deque()
        self._states: dict[str, ServerEvent] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._waking = False

    @property
    def over(self) -> bool:
        """Whether the run has ended, so that its streams end."""
        return self.picture["ended"] is not None

    def add(self, type: EventType, data: Mapping[str, Any]) -> ServerEvent:
        """Add an event and wake readers."""
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
        """Return the events after a reader's position, or a snapshot for a new reader (None).

        Folded into the reader's picture, they yield the current one.
        """
        if position is None:
            return [
                ServerEvent(self.last, "snapshot", {"reason": "what is known so far", "picture": dict(self.picture)})
            ]
        if position == self.last:
            return []
        events: list[ServerEvent] = []
        if not self._base_id <= position < self.last:
            reason = (
                "the events up to here are not kept one by one" if position < self._base_id else "this id is not known"
            )
            picture = dict(self._base)
            for event in self._states.values():
                if event.id <= self._base_id:
                    fold(picture, event.type, event.data)
            events.append(ServerEvent(self._base_id, "snapshot", {"reason": reason, "picture": picture}))
            position = self._base_id
        events += takewhile(lambda event: event.id > position, reversed(self._kept))
        events += (event for event in self._states.values() if event.id > position)
        return sorted(events, key=lambda event: event.id)

    async def wait(self, position: int, *, seconds: float, unless: "asyncio.Future[None]") -> None:
        """Wait for an event after a position, for at most `seconds`, or until `unless` is done."""
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
        """Wake all readers that wait."""
        self._waking = False
        waiting, self._waiting = self._waiting, set()
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _wake(self) -> None:
        if self._waiting and not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_later(TOGETHER, self.wake)
