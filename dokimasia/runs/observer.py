"""Observers of a run, which receive its estimate, progress and end; its speed and remaining time."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from dokimasia.domain.judgement import OPEN_KINDS
from dokimasia.gateway.events import GatewayEvent, GatewayStats
from dokimasia.graphs.steps import Steps
from dokimasia.runs.estimate import Estimate


@dataclass(slots=True)
class Progress:
    """The progress of a run.

    `restored` counts the items that earlier invocations finished. Items that wait for people (`waiting_items`) and
    those beyond the budget (`unpaid_items`) are neither done nor failed.
    """

    items: int = 0
    done: int = 0
    restored: int = 0
    samples: int = 0
    samples_done: int = 0
    waiting_items: int = 0
    unpaid_items: int = 0
    failures: dict[str, int] = field(default_factory=dict[str, int])
    stats: GatewayStats = field(default_factory=GatewayStats)

    def count(self, failure: str | None) -> None:
        """Count an item with a result, or an open one."""
        if failure in OPEN_KINDS:
            self.waiting_items += failure == "waiting"
            self.unpaid_items += failure == "budget"
            return
        self.done += 1
        if failure is not None:
            self.failures[failure] = self.failures.get(failure, 0) + 1


RATE_WINDOW = 20.0
"""The window, in seconds, over which the rate of calls is measured."""

LEAST, LONGEST = 5.0, 600.0
"""The shortest and longest window, in seconds, over which finished items are counted."""

SMOOTHING = 5.0
"""Seconds in which the remaining time follows a change by two thirds; in between it counts down."""


class Speed:
    """Measures a run's rate of calls and its remaining time.

    The time follows from finished items. Once the ledger has answered calls, it follows from the calls that models
    answered and those that are left to send, since items from the ledger take no time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, to_send: int = 0) -> None:
        """Start the clock; `to_send` is the number of calls that the ledger does not have, 0 if unknown."""
        self._clock = clock
        self._to_send = to_send
        self._begin(0)

    def _begin(self, answered: int) -> None:
        self._started = self._clock()
        self._calls = 0
        self._marks: deque[tuple[float, int]] = deque([(self._started, answered)])
        self._by_items, self._by_calls = _Remaining(), _Remaining()
        self._from_ledger = False

    def mark(self, progress: Progress) -> None:
        """Record the progress; fewer calls than before mean that another process has restarted the run."""
        now, answered = self._clock(), progress.stats.answered
        calls = answered + progress.stats.cached
        if calls < self._calls:
            self._begin(answered)
        self._calls = calls
        self._marks.append((now, answered))
        while len(self._marks) > 2 and self._marks[0][0] < now - RATE_WINDOW:
            self._marks.popleft()
        self._from_ledger = progress.stats.cached > 0
        elapsed = now - self._started
        self._by_items.mark(elapsed, progress.done - progress.restored, _remaining_items(progress))
        self._by_calls.mark(elapsed, answered, max(1, self._to_send - answered))

    def of(self, progress: Progress) -> tuple[float, float | None]:
        """Return the recent rate of answered calls per second, and the remaining seconds (None if it is too early)."""
        (since, before), (now, after) = self._marks[0], self._marks[-1]
        rate = (after - before) / (now - since) if now > since else 0.0
        if not _remaining_items(progress):
            return rate, 0.0
        remaining = self._by_calls if self._to_send and self._from_ledger else self._by_items
        return rate, remaining.seconds


class _Remaining:
    """Estimates the remaining `seconds` of a run; None until enough is done.

    Items that start together finish together, in bursts. So there is no estimate until the time since the first
    finished item equals the time before it, and the rate is that of the later half, which excludes the slow start.
    """

    def __init__(self) -> None:
        self.seconds: float | None = None
        self._marks: deque[tuple[float, int]] = deque()
        self._first = self._told = 0.0

    def mark(self, now: float, done: int, left: int) -> None:
        """Record the number of items done after `now` seconds, and the remaining number."""
        if done > (self._marks[-1][1] if self._marks else 0):
            self._first = self._first or now
            self._marks.append((now, done))
        least = max(self._first, LEAST)
        if len(self._marks) < 2 or now < self._first + least:
            return
        since = now - min(max((now - self._first) / 2, least), LONGEST)
        while len(self._marks) > 2 and self._marks[1][0] <= since:
            self._marks.popleft()
        (then, before), (last, _) = self._marks[0], self._marks[-1]
        burst = done - self._marks[-2][1]
        seconds_per_item = max((last - then) / (done - before), (now - then) / (done - before + burst))
        measured = max(0.0, left * seconds_per_item - min(now - last, burst * seconds_per_item))
        counted_down = measured if self.seconds is None else max(0.0, self.seconds - (now - self._told))
        self.seconds = counted_down + (measured - counted_down) * (1 - math.exp((self._told - now) / SMOOTHING))
        self._told = now


def _remaining_items(progress: Progress) -> int:
    """Return how many items are neither done nor open."""
    return progress.items - progress.done - progress.waiting_items - progress.unpaid_items


class Observer(Protocol):
    """Receives the events of one run; none of its methods may raise.

    A queue of runs makes an observer for each run that it accepts (`Callable[[Run], Observer]`), calls `became` when the
    run's status changes, and passes the observer to the life-cycle, which calls the other methods.
    """

    @property
    def steps(self) -> Steps | None:
        """The receiver of each step of the run's graphs; None if steps are not wanted, which saves time."""
        ...

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """Called with the run's id and estimate, before this invocation sends any call."""
        ...

    def starting(self, workers: int, address: str | None) -> None:
        """Called while the work waits for workers to start, here or at an address; with 0 when they have started."""
        ...

    def progressed(self, progress: Progress) -> None:
        """Called about twice a second while the run works, and once at its end."""
        ...

    def happened(self, event: GatewayEvent) -> None:
        """Called with a gateway event worth a log line."""
        ...

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """Called when a failed item is committed; `model` is empty if the item belongs to no single model."""
        ...

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Called by the queue when the run's stored status has changed, for example to `queued`, `running` or `done`.

        `end` is how a finished run ended (`RunResult.end`). `why` is the sentence that the command line prints for an
        unwanted
        end: an error's message, or that of a stopped run.
        """
        ...


class SilentObserver:
    """An observer that does nothing."""

    steps: Steps | None = None

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """Do nothing."""

    def starting(self, workers: int, address: str | None) -> None:
        """Do nothing."""

    def progressed(self, progress: Progress) -> None:
        """Do nothing."""

    def happened(self, event: GatewayEvent) -> None:
        """Do nothing."""

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """Do nothing."""

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Do nothing."""
