"""The event log of a run: its latest events, with increasing ids, and the picture, its current state."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Literal

import orjson
from pydantic import Field

from dokimasia.domain.identity import JsonObject, Value
from dokimasia.graphs.steps import GraphOutline
from dokimasia.runs.estimate import StepEstimate

EventType = Literal[
    "snapshot", "status", "planned", "starting", "graph", "steps", "progress", "limit", "failure", "ended"
]
STATES = frozenset({"graph", "steps", "progress"})
"""Event types of which only the latest matters, so that earlier ones may be dropped."""

LAST = 5
"""The number of failures of each kind in a picture."""

PAST = 20
"""The number of status changes in a picture."""


class StatusEvent(Value):
    """A run has another status, or has ended: how (`end`), why, and when."""

    status: str
    end: str = ""
    why: str = ""
    at: str = ""


class FailureEvent(Value):
    """An item has failed."""

    kind: str
    model: str
    item: str
    reason: str
    at: str = ""


class FailureCount(Value):
    """How many items failed in one way, and the last of them."""

    count: int = 0
    last: tuple[FailureEvent, ...] = ()


class LimitEvent(Value):
    """An endpoint is sent another number of calls at once."""

    endpoint: str
    limit: int | None
    reason: str
    at: str


class PlannedEvent(Value):
    """The work of a run starts: its estimate, and the failures and the spending so far."""

    samples: int
    calls: int
    answered: int
    cost: float | None
    models: JsonObject
    by_step: tuple[StepEstimate, ...] = ()
    notes: tuple[str, ...]
    failures: dict[str, FailureCount]
    budget: JsonObject
    spent_before: JsonObject


class RunPicture(Value):
    """The state of a run after some of its events."""

    status: StatusEvent | None = None
    history: tuple[StatusEvent, ...] = ()
    planned: JsonObject | None = None
    starting: JsonObject | None = None
    progress: JsonObject | None = None
    failures: dict[str, FailureCount] = Field(default_factory=dict)
    limits: dict[str, LimitEvent] = Field(default_factory=dict)
    graphs: dict[str, GraphOutline] = Field(default_factory=dict)
    steps: JsonObject = Field(default_factory=dict)
    ended: StatusEvent | None = None

    @property
    def run_status(self) -> str:
        """The run's status; empty before the first event."""
        if self.status:
            return self.status.status
        return ""


class SnapshotEvent(Value):
    """The state of a run for a reader that lacks earlier events, and why it is sent."""

    reason: str
    picture: RunPicture


EventData = SnapshotEvent | StatusEvent | PlannedEvent | GraphOutline | LimitEvent | FailureEvent | JsonObject
"""The data of an event; plain JSON for `starting`, `steps` and `progress`."""


def fold(picture: RunPicture, type: EventType, data: EventData) -> RunPicture:
    """Return a picture after an event, as `fold` in `live.js` does in the browser."""
    if isinstance(data, SnapshotEvent):
        return data.picture
    if isinstance(data, PlannedEvent):
        planned = data.model_dump(mode="json", exclude={"failures"})
        past = {"status": picture.status, "history": picture.history, "ended": picture.ended}
        return RunPicture().model_copy(update={**past, "planned": planned, "failures": data.failures})
    changes: dict[str, object] = {type: data}
    if isinstance(data, StatusEvent) and type == "status":
        changes = {"status": data, "history": (*picture.history, data)[-PAST:], "ended": None}
    elif isinstance(data, GraphOutline):
        changes = {"graphs": {**picture.graphs, data.name: data}}
    elif isinstance(data, LimitEvent):
        changes = {"limits": {**picture.limits, data.endpoint: data}}
    elif isinstance(data, FailureEvent):
        previous = picture.failures.get(data.kind, FailureCount())
        current = FailureCount(count=previous.count + 1, last=(*previous.last, data)[-LAST:])
        changes = {"failures": {**picture.failures, data.kind: current}}
    return picture.model_copy(update=changes)


KEPT = 1_000
"""The number of events of a run stored individually; earlier ones are folded into a picture."""

TOGETHER = 0.1
"""Seconds to collect events before readers are woken."""


@dataclass(frozen=True)
class ServerEvent:
    """One event of a run, and its wire format."""

    id: int
    type: EventType
    data: EventData

    @cached_property
    def wire(self) -> bytes:
        """The event as a server-sent event, encoded once for all readers."""
        data = self.data.model_dump(mode="json") if isinstance(self.data, Value) else self.data
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (self.id, self.type.encode(), orjson.dumps(data))


def clock_id() -> int:
    """Return the time in milliseconds as an event id, larger than those of earlier processes unless the clock was set back."""
    return int(time.time() * 1000)


class Log:
    """The events of a run, for one event loop.

    A reader's only state is its position, the id of the last event it received. Of states, such as progress, only the
    last can be read; of the other events, the last `KEPT`. A reader with an older position first receives the picture
    up to the oldest available event, as a `snapshot`.

    Attributes:
        picture: the state of the run after all events.
        last: the id of the last event.
        readers: the number of streams that read the log.
    """

    def __init__(self, picture: RunPicture | None = None, *, last: int = 0, now: Callable[[], int] = clock_id) -> None:
        """Start with a picture of the run that includes its events up to now, or up to the id `last`."""
        self._now = now
        self.last = self._base_id = max(last, now())
        self.readers = 0
        self.picture = self._base = picture or RunPicture()
        self._kept: deque[ServerEvent] = deque()
        self._states: dict[str, ServerEvent] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._waking = False

    @property
    def over(self) -> bool:
        """Whether the run has ended, so that its streams end."""
        return self.picture.ended is not None

    def add(self, type: EventType, data: EventData) -> ServerEvent:
        """Add an event and wake readers."""
        event = ServerEvent(max(self.last + 1, self._now()), type, data)
        self.last = event.id
        self.picture = fold(self.picture, type, data)
        if isinstance(data, GraphOutline):
            self._states[f"graph {data.name}"] = event
        elif type in STATES:
            self._states[type] = event
        else:
            self._kept.append(event)
            if type == "planned":
                self._states.clear()
            while len(self._kept) > KEPT:
                dropped = self._kept.popleft()
                self._base = fold(self._base, dropped.type, dropped.data)
                self._base_id = dropped.id
        self._wake()
        return event

    def after(self, position: int | None) -> list[ServerEvent]:
        """Return the events after a reader's position, or a snapshot for a new reader (None).

        Folded into the reader's picture, they yield the current one.
        """
        if position is None:
            snapshot = SnapshotEvent(reason="what is known so far", picture=self.picture)
            return [ServerEvent(self.last, "snapshot", snapshot)]
        if position == self.last:
            return []
        events: list[ServerEvent] = []
        if not self._base_id <= position < self.last:
            reason = (
                "the events up to here are not kept one by one" if position < self._base_id else "this id is not known"
            )
            picture = self._base
            for event in self._states.values():
                if event.id <= self._base_id:
                    picture = fold(picture, event.type, event.data)
            events.append(ServerEvent(self._base_id, "snapshot", SnapshotEvent(reason=reason, picture=picture)))
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
        """Wake all waiting readers."""
        self._waking = False
        waiting, self._waiting = self._waiting, set()
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _wake(self) -> None:
        if self._waiting and not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_later(TOGETHER, self.wake)
