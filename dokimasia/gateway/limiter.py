"""The rate of requests to one endpoint: adaptive concurrency and per-minute limits."""

import asyncio
import itertools
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal, NamedTuple

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]
Report = Literal["ok", "limited", "failed"]
Slot = int
"""A permit to send one request: the number of cuts of the limit before it was granted."""

Turn = asyncio.Future[Slot | None]
"""A caller waiting for a permit: done when granted, with the slot if it took over another's."""


class _QueuedCall(NamedTuple):
    number: int
    turn: Turn
    near: Callable[[Turn], None] | None


BACKOFF_FACTOR = 0.5
"""The factor by which a 429 reduces the limit."""

HOLD_SECONDS = 30.0
"""The seconds after a cut during which the limit does not grow."""


class AdaptiveLimiter:
    """Concurrency of one endpoint under one key, first come, first served.

    It begins at `start` and never exceeds `most`. While all of it is in use and requests succeed, it grows: by an
    eighth for each full turn of successes until the first 429, by one afterwards. A 429 halves it, but only if its
    request was sent after the last cut, since those of one round trip are a single sign. After a cut it does not grow
    for `HOLD_SECONDS`.
    """

    def __init__(
        self,
        most: int,
        *,
        start: int | None = None,
        clock: Clock = time.monotonic,
        on_change: Callable[[int, str], None] | None = None,
    ) -> None:
        """Create a limiter.

        Args:
            most: the maximum of the limit, 1 or more.
            start: the initial limit, 1 to `most`; default `most`.
            clock: returns monotonic seconds.
            on_change: called with each new limit and the reason.
        """
        start = most if start is None else start
        if not 1 <= start <= most:
            raise ValueError(f"a concurrency limit must be 1 or more and start at most there: {start} of {most}")
        self.limit = start
        self.most = most
        self.in_use = 0
        self._clock = clock
        self._on_change = on_change
        self._queue: deque[_QueuedCall] = deque()
        self._far: deque[_QueuedCall] = deque()
        self._numbers = itertools.count()
        self._epoch = 0
        self._successes = 0
        self._rest_until = float("-inf")

    @property
    def waiting(self) -> int:
        """The number of callers waiting for a permit."""
        return len(self._queue)

    def widen(self, most: int) -> None:
        """Raise the maximum to `most` if it is lower, since another model at the endpoint may allow more."""
        self.most = max(self.most, most)

    async def acquire(self, near: Callable[[Turn], None] | None = None) -> Slot:
        """Wait for a permit, which must be returned with `release`. Cancelling the wait costs no permit.

        `near` is called with the turn when it is near; from then on it may take over another's permit.
        """
        if self._queue or self.in_use >= self.limit:
            turn: Turn = asyncio.get_running_loop().create_future()
            waiting = _QueuedCall(next(self._numbers), turn, near)
            self._queue.append(waiting)
            if near is not None:
                self._far.append(waiting)
                self._notify_near()
            try:
                taken_over = await turn
                if taken_over is None:
                    return self._epoch
                return taken_over
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self.in_use -= 1
                    self._admit()
                else:
                    with suppress(ValueError):
                        self._queue.remove(waiting)
                raise
        self.in_use += 1
        return self._epoch

    def release(self, slot: Slot, report: Report, *, to: Turn | None = None) -> bool:
        """Return a permit and report the request's result: `ok`, `limited` (a 429), or `failed` in any other way.

        A caller waiting for the turn `to` takes the permit over, regardless of the limit and of earlier callers, since
        its request is already on its way.

        Returns:
            Whether the limit was cut: by the first refusal among requests sent since the last cut.
        """
        saturated = self.in_use >= self.limit
        cut = report == "limited" and slot == self._epoch
        if cut:
            self._cut()
        elif report == "ok":
            self._grow(saturated)
        taking_over = (
            None if to is None or to.done() else next((queued for queued in self._queue if queued.turn is to), None)
        )
        if taking_over is None:
            self.in_use -= 1
        else:
            self._queue.remove(taking_over)
            taking_over.turn.set_result(slot)
        self._admit()
        return cut

    def _admit(self) -> None:
        while self._queue and self.in_use < self.limit:
            turn = self._queue.popleft().turn
            if not turn.done():
                self.in_use += 1
                turn.set_result(None)
        self._notify_near()

    def _notify_near(self) -> None:
        """Notify callers whose turn is near: the number of callers since the head of the queue is at most the number of
        permits.

        So nobody is overtaken by more than that.
        """
        while self._far and self._queue and self.in_use <= self.limit:
            if self._far[0].number >= self._queue[0].number + self.limit:
                return
            _, turn, near = self._far.popleft()
            if near is not None and not turn.done():
                near(turn)

    def _cut(self) -> None:
        before = self.limit
        self._epoch += 1
        self._successes = 0
        self._rest_until = self._clock() + HOLD_SECONDS
        self._change(max(1, int(before * BACKOFF_FACTOR)), "the endpoint answered 429 (too many requests)")

    def _grow(self, saturated: bool) -> None:
        if not saturated or self.limit >= self.most or self._clock() < self._rest_until:
            return
        self._successes += 1
        if self._successes < self.limit:
            return
        self._successes = 0
        turn = self.limit
        step = 1 if self._epoch else max(1, turn // 8)
        self._change(min(self.most, turn + step), f"{turn} requests succeeded with as many at a time as allowed")

    def _change(self, limit: int, reason: str) -> None:
        if limit == self.limit:
            return
        reason = f"{self.limit} → {limit}: {reason}"
        self.limit = limit
        if self._on_change is not None:
            self._on_change(limit, reason)


class Pace:
    """A per-minute allowance (of requests or of tokens) as a token bucket, first come, first served.

    A twentieth of a minute's allowance may be spent at once; the rest flows in evenly, so that no minute exceeds the
    allowance. An amount larger than the bucket passes when the bucket is full; the next waits for the debt. Nobody
    waits longer than `longest` seconds for a turn, whatever the level of the bucket.
    """

    def __init__(
        self,
        per_minute: float,
        *,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        longest: float = math.inf,
    ) -> None:
        if per_minute <= 0:
            raise ValueError(f"a per-minute limit must be above 0, not {per_minute}")
        self.capacity = self._rate = 0.0
        self._adopted = False
        self._set(per_minute)
        self._level = self.capacity
        self._clock = clock
        self._sleep = sleep
        self._longest = longest
        self._at = clock()
        self._turn = asyncio.Lock()

    async def take(self, amount: float) -> bool:
        """Wait until the amount may be spent, and spend it; return False if the wait was cut short."""
        async with self._turn:
            wait_left = self._longest
            while wait_left > 0:
                self._refill()
                short = min(amount, self.capacity) - self._level
                if short <= 1e-9:
                    break
                wait = min(short / self._rate, wait_left)
                wait_left -= wait
                await self._sleep(wait)
            self._level -= amount
            return wait_left > 0

    def correct(self, amount: float) -> None:
        """Charge the usage of a request beyond its estimate; a negative amount is refunded."""
        self._refill()
        self._level = min(self.capacity, self._level - amount)

    def change(self, per_minute: float) -> None:
        """Change the rate of inflow; the amount that may be spent at once changes with it."""
        self._refill()
        self._set(per_minute)
        self._level = min(self._level, self.capacity)

    def lift(self) -> None:
        """Stop delaying callers, including those already waiting."""
        self._longest = 0.0

    def adopt(self, *, capacity: float, level: float, per_minute: float) -> None:
        """Adopt a bucket as reported by the endpoint: its size, its maximum level, and its inflow."""
        self._refill()
        self.capacity = capacity
        self._rate = per_minute / 60
        self._level = min(self._level, level) if self._adopted else level
        self._adopted = True

    def _set(self, per_minute: float) -> None:
        self.capacity = max(1.0, per_minute / 20)
        self._rate = (per_minute - self.capacity if per_minute > self.capacity else per_minute) / 60

    def _refill(self) -> None:
        now = self._clock()
        self._level = min(self.capacity, self._level + (now - self._at) * self._rate)
        self._at = now
