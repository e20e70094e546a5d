"""Spending limits of a run: requests, tokens and dollars, checked before each request and counting those in flight."""

import asyncio
import math
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from dokimasia.domain.ports import Spending, SpendingRecorder
from dokimasia.errors import CallFailed, StorageError


class Reservation:
    """The share of a budget, and of its parent budgets, reserved for one request until its actual price is known."""

    def __init__(self, budget: "Budget", *, tokens: int, cost: float) -> None:
        self._budget = budget
        self.above: list[Reservation] = []
        self.tokens = tokens
        self.cost = cost
        self.is_sent = False
        self._open = True

    async def send(self) -> None:
        """Count the request as sent, whatever its outcome.

        With a spending limit, the count is stored before the request is sent, so that a killed process loses none.
        A request that is cancelled meanwhile is not sent and does not count.

        Raises:
            StorageError: it could not be stored.
        """
        if self.is_sent:
            return
        self.is_sent = True
        try:
            await self._budget.book(self)
            for reservation in self.above:
                await reservation.send()
        except BaseException:
            self.take_back()
            raise

    def take_back(self) -> None:
        """Undo the count of the request as sent."""
        if self.is_sent:
            self.is_sent = False
            self._budget.unbook(self)
        for reservation in self.above:
            reservation.take_back()

    def settle(self, *, tokens: int | None, cost: float | None, cut_off: bool = False) -> None:
        """Close with the request's actual tokens and cost; unknown amounts are charged at their estimate.

        Args:
            tokens: input and output tokens; None if unknown.
            cost: US dollars; None if unknown.
            cut_off: whether the request was abandoned in flight.
        """
        if self._open:
            self._open = False
            self._budget.cut_off += cut_off
            spent = self.tokens if tokens is None else tokens
            self._budget.charge(self, tokens=spent, cost=self.cost if cost is None else cost)
            for reservation in self.above:
                reservation.settle(tokens=tokens, cost=cost, cut_off=cut_off)

    def release(self) -> None:
        """Close without charging tokens; a sent request still counts as a call."""
        self.settle(tokens=0, cost=0.0)


class Budget:
    """Limits on calls, tokens and cost (None for no limit); cached answers cost nothing.

    `max_calls` counts requests sent, including retries, and is never exceeded. Tokens and cost are reserved at their
    estimate and settled at the amounts that the provider reports. A request that fits only if those in flight cost less
    than estimated waits for them; one that cannot fit fails. Estimates are rough: tokens and cost can exceed their
    limit by the amount that the requests in flight exceed their estimates.

    Under a limit, a request is sent only after `record` has stored it, so that requests in flight at a kill count.

    A budget may have parent budgets, such as that of a service, shared by several runs: a request must fit in each.

    Attributes:
        calls: requests sent, including those of earlier invocations.
        tokens: tokens spent, unknown ones at their estimate.
        cost: US dollars spent, unknown ones at their estimate.
        cut_off: requests that were abandoned in flight, including those that earlier invocations left in flight.
    """

    def __init__(
        self,
        max_cost: float | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        *,
        calls: int = 0,
        tokens: int = 0,
        cost: float = 0.0,
        cut_off: int = 0,
        record: SpendingRecorder | None = None,
        above: "Sequence[Budget]" = (),
        whose: str = "",
    ) -> None:
        for name, value in (("max_cost", max_cost), ("max_calls", max_calls), ("max_tokens", max_tokens)):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} must be a number from 0 up, not {value}")
        self.max_cost = max_cost
        self.max_calls = max_calls
        self.max_tokens = max_tokens
        self.calls = calls
        self.tokens = tokens
        self.cost = cost
        self.cut_off = cut_off
        self._record = record
        self._in_flight = Spending()
        self._above = above
        self._whose = whose
        own_limits = not (max_cost is None and max_calls is None and max_tokens is None)
        self.limited = own_limits or any(budget.limited for budget in above)
        self._held: set[Reservation] = set()
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def reserve(self, *, tokens: int, cost: float | None) -> Reservation:
        """Reserve budget for one request; wait if only requests in flight prevent it.

        Args:
            tokens: estimated tokens, input and output.
            cost: estimated US dollars; None if the price is unknown.

        Raises:
            CallFailed: kind `budget`: the request does not fit, or cost is limited and the price is unknown.
        """
        if cost is None and self.max_cost is not None:
            raise CallFailed(
                "budget", f"{self._whose}the price is unknown, so a limit of ${self.max_cost:g} cannot be kept"
            )
        while self.limited:
            if refusal := self._refusal(tokens, cost or 0.0, reserved=False):
                raise CallFailed("budget", f"{self._whose}{refusal}")
            if not self._refusal(tokens, cost or 0.0, reserved=True):
                break
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
        reservation = Reservation(self, tokens=tokens, cost=cost or 0.0)
        self._held.add(reservation)
        try:
            for budget in self._above:
                reservation.above.append(await budget.reserve(tokens=tokens, cost=cost))
        except BaseException:
            reservation.release()
            raise
        return reservation

    @property
    def booked_ahead(self) -> bool:
        """Whether a request is stored as sent before it leaves."""
        return self.limited and (self._record is not None or any(budget.booked_ahead for budget in self._above))

    async def book(self, reservation: Reservation) -> None:
        """Count a request as sent; called by the reservation itself."""
        self.calls += 1
        self._fly(reservation, 1)
        if self.limited and self._record is not None:
            # The future may be shared with other requests, so this request's cancellation must not reach it.
            await asyncio.shield(asyncio.wrap_future(self._record(self.spending)))

    def unbook(self, reservation: Reservation) -> None:
        """Undo the count of a request as sent; called by the reservation itself."""
        self.calls -= 1
        self._fly(reservation, -1)
        self._booked()

    @property
    def spending(self) -> Spending:
        """The total spending if the process ended now: requests in flight cost their estimates, and count as cut off."""
        in_flight = self._in_flight
        return Spending(
            calls=self.calls,
            tokens=self.tokens + in_flight.tokens,
            cost=self.cost + in_flight.cost,
            cut_off=self.cut_off + in_flight.calls,
        )

    def _fly(self, reservation: Reservation, count: int) -> None:
        """Add a request to those in flight, or with -1 remove it."""
        calls, tokens, cost, _ = self._in_flight
        calls += count
        # Without requests in flight, no rounding error remains.
        cost = cost + count * reservation.cost if calls else 0.0
        self._in_flight = Spending(calls, tokens + count * reservation.tokens, cost)

    def _refusal(self, tokens: int, cost: float, *, reserved: bool) -> str:
        """Return the limit that one more request would exceed, with or without those in flight; empty if none."""
        open_ = self._held if reserved else ()
        unsent = sum(1 for reservation in open_ if not reservation.is_sent)
        if self.max_calls is not None and self.calls + unsent + 1 > self.max_calls:
            return f"all {self.max_calls} calls are spent"
        if (
            self.max_tokens is not None
            and self.tokens + sum(reservation.tokens for reservation in open_) + tokens > self.max_tokens
        ):
            return f"{self.tokens} of {self.max_tokens} tokens are spent and the next call needs about {tokens}"
        if (
            self.max_cost is not None
            and self.cost + sum(reservation.cost for reservation in open_) + cost > self.max_cost
        ):
            return f"${self.cost:.4f} of ${self.max_cost:g} are spent and the next call needs about ${cost:.4f}"
        return ""

    def pay(self, cost: float) -> None:
        """Charge US dollars without a reservation, such as a person's time, to this budget and those above it."""
        self.cost += cost
        self._booked()
        for budget in self._above:
            budget.pay(cost)

    def _booked(self) -> None:
        if self._record is not None:
            with suppress(StorageError):
                self._record(self.spending)

    def charge(self, reservation: Reservation, *, tokens: int, cost: float) -> None:
        """Charge a closed reservation and wake waiting requests; called by the reservation itself."""
        self._held.discard(reservation)
        if reservation.is_sent:
            self._fly(reservation, -1)
        self.tokens += tokens
        self.cost += cost
        self._booked()
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, deque()
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)
