"""Who watches a run: told what it is, what it will cost, how far it is, and how it ended."""

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
    """Where a run stands.

    `items` counts chains with criteria and scored answers; `restored` of those that are done were there before. Items that
    wait for people (`waiting_items`), and those that the budget does not reach (`unpaid_items`), are neither done nor failed.
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
        """Count one item that has a result, or that is open."""
        if failure in OPEN_KINDS:
            self.waiting_items += failure == "waiting"
            self.unpaid_items += failure == "budget"
            return
        self.done += 1
        if failure is not None:
            self.failures[failure] = self.failures.get(failure, 0) + 1


RATE_WINDOW = 20.0
"""Seconds over which a rate is taken."""

LEAST, LONGEST = 5.0, 600.0
"""Seconds over which is counted, at least and at most, how many items become done."""

SMOOTHING = 5.0
"""Seconds in which the time left follows a change by two thirds; in between it counts down."""


class Speed:
    """How fast a run goes, and how long it will go on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin to count the time."""
        self._clock = clock
        self._begin(0)

    def _begin(self, answered: int) -> None:
        self._started = self._clock()
        self._calls = 0
        self._marks: deque[tuple[float, int]] = deque([(self._started, answered)])
        self._remaining = _Remaining()

    def mark(self, progress: Progress) -> None:
        """Take down where it stands; where it has fewer calls than before, the run was begun again by another process."""
        now, answered = self._clock(), progress.stats.answered
        calls = answered + progress.stats.cached
        if calls < self._calls:
            self._begin(answered)
        self._calls = calls
        self._marks.append((now, answered))
        while len(self._marks) > 2 and self._marks[0][0] < now - RATE_WINDOW:
            self._marks.popleft()
        self._remaining.mark(now - self._started, progress.done - progress.restored, _left(progress))

    def of(self, progress: Progress) -> tuple[float, float | None]:
        """Return calls that models answered a second of late, and seconds that are left, None where that cannot be known yet."""
        (since, before), (now, after) = self._marks[0], self._marks[-1]
        rate = (after - before) / (now - since) if now > since else 0.0
        return rate, self._remaining.seconds if _left(progress) else 0.0


class _Remaining:
    """How long a run will go on, as `seconds`, None as long as too little is done.

    Items come in bursts: those that are begun together end together. So nothing is said until as much time has gone by
    after the first item as before it, and counted are the items of the later half of that time, which hold a burst and not
    the slow beginning.
    """

    def __init__(self) -> None:
        self.seconds: float | None = None
        self._marks: deque[tuple[float, int]] = deque()
        self._first = self._told = 0.0

    def mark(self, now: float, done: int, left: int) -> None:
        """Take down how many items are done after so many seconds, and how many are left."""
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


def _left(progress: Progress) -> int:
    """Return how many items are neither done nor open."""
    return progress.items - progress.done - progress.waiting_items - progress.unpaid_items


class Observer(Protocol):
    """Watches one run; none of its methods may raise.

    A queue of runs makes one for each run that it accepts (`Callable[[Run], Observer]`), tells it whenever the run's
    status changed (`became`), and hands it to the life-cycle, which tells the rest.
    """

    @property
    def steps(self) -> Steps | None:
        """What is told each step of the run's graphs; None where nobody listens, which costs nothing."""
        ...

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """The run is known and its estimate made, with what is answered already; nothing was sent yet by this invocation."""
        ...

    def starting(self, workers: int, address: str | None) -> None:
        """The work waits until so many workers have begun, on this machine or at an address, for seconds; 0: no longer."""
        ...

    def progressed(self, progress: Progress) -> None:
        """Called about twice a second while the run works, and once at its end."""
        ...

    def happened(self, event: GatewayEvent) -> None:
        """Something worth a line of log happened in the gateway."""
        ...

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """An item's result is committed, and it is a failure; `model` is empty for an item of no one model."""
        ...

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """The run's stored status is another now, such as `queued`, `running` or `done`.

        Told by whoever holds the queue, after it is stored. `end` says how a run ended that came to its end
        (`RunResult.end`), and `why` is the sentence that the command line would print where it is not as it was wanted: an
        error's, or that of a run that was stopped.
        """
        ...


class Silent:
    """Watches and says nothing."""

    steps: Steps | None = None

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """Say nothing."""

    def starting(self, workers: int, address: str | None) -> None:
        """Say nothing."""

    def progressed(self, progress: Progress) -> None:
        """Say nothing."""

    def happened(self, event: GatewayEvent) -> None:
        """Say nothing."""

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """Say nothing."""

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Say nothing."""
