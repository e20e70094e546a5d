"""What the gateways of one process share: the calls on their way, and limits, pace and breakers by endpoint and key."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from dokimasia.domain.call import CallResult, ModelCall, ModelSpec
from dokimasia.domain.ports import Transport
from dokimasia.errors import CallFailed, Interrupted
from dokimasia.gateway.limiter import AdaptiveLimiter, Clock, Sleep, Slot
from dokimasia.gateway.pace import Pacing
from dokimasia.gateway.pricing import Price
from dokimasia.gateway.rate_limit_headers import HeaderListener
from dokimasia.gateway.remote_call import RemoteCall
from dokimasia.gateway.retry import Breaker

LimitListener = Callable[[str, int, str], None]
"""Told an endpoint, its new limit and the reason."""

Lane = tuple[str, str]
"""An endpoint, and what tells the key that it is asked under from others."""


@dataclass(frozen=True)
class Route:
    """The way to one model. `limiter` is shared by all models on one endpoint under one key; pacing and breaker are the
    model's own there, whatever it is called."""

    spec: ModelSpec
    transport: Transport
    api_key: str | None
    limiter: AdaptiveLimiter
    pacing: Pacing
    breaker: Breaker
    price: Price

    @property
    def on_headers(self) -> HeaderListener:
        """Told the headers of what comes back."""
        return self.pacing.read_headers

    async def admit(self, tokens: int, call: RemoteCall | None = None) -> Slot:
        """Wait for the model's pace and then for a place, which the caller gives back.

        In this order, who waits for the pace holds no place that other models at the endpoint could use. One request of
        the model at a time is on its way from the one to the other, so that none piles up with its pace behind it. A
        carried `call` that waits for nothing but a place may be sent ahead by the process that has it.
        """
        if not self.pacing.limited:
            slot = await self.limiter.acquire(None if call is None else call.near)
            if not self.pacing.limited or (call is not None and call.begun):
                return slot
            self.limiter.release(slot, "failed")  # a pace was stated or learnt while this one waited for its place
        self.pacing.waiting += 1
        try:
            async with self.pacing.turn:
                await self.pacing.take(tokens)
                return await self.limiter.acquire()
        finally:
            self.pacing.waiting -= 1


@dataclass(eq=False)
class Flight:
    """One call on its way for everyone who asks one gateway for it.

    `idle`: nothing is being paid or written, it may be dropped. `placed`: it holds a place at its endpoint. `route`: its
    way to the model, once the ledger had no answer. `refused`: why it is dropped, if its model's endpoint refuses
    everything. `left`: its askers went away before its tries were over, so its failure says nothing to others.
    """

    call: ModelCall
    key: str
    label: str
    waiters: int = 0
    idle: bool = True
    placed: bool = False
    route: Route | None = None
    refused: str = ""
    left: bool = False
    task: "asyncio.Task[CallResult | CallFailed | Interrupted]" = field(init=False)
    _landings: "list[asyncio.Future[CallResult | CallFailed | Interrupted]]" = field(default_factory=list)
    _recalling: "asyncio.Task[None] | None" = None

    async def landing(self) -> CallResult | CallFailed | Interrupted:
        """Return what came of the call, once its task has ended; whoever is cancelled meanwhile leaves the task at work.

        As `asyncio.shield`, at half its price: it is awaited by every call.
        """
        landing = asyncio.get_running_loop().create_future()
        self._landings.append(landing)
        return await landing

    @property
    def ahead(self) -> bool:
        """Whether a process that has the call may have begun to send it, although it still waits for its turn here."""
        return self.carried is not None and self.carried.perhaps_begun

    @property
    def carried(self) -> RemoteCall | None:
        """The call, where another process has it."""
        return self.call if isinstance(self.call, RemoteCall) else None

    def drop(self, forget: "Callable[[Flight], None]") -> None:
        """End an idle flight for which nobody waits any more; one that may be sent ahead, once that is taken back."""
        if self.carried is None or not self.ahead:
            forget(self)
            self.task.cancel()
        elif self._recalling is None or self._recalling.done():
            self._recalling = asyncio.create_task(self._recalled(self.carried, forget))

    async def _recalled(self, carried: RemoteCall, forget: "Callable[[Flight], None]") -> None:
        await carried.recall()
        if self.idle and not self.ahead and not self.waiters:
            self.drop(forget)

    async def end(self, *, only_idle: bool) -> None:
        """Give it up; or only if it is idle, and its call not begun by a process that may send it ahead."""
        if only_idle and self.idle and self.carried is not None and self.ahead:
            await self.carried.recall()
        if not only_idle or (self.idle and not self.ahead):
            self.task.cancel()

    def landed(self) -> None:
        """Tell everyone who awaits the landing that the task has ended, and how."""
        cancelled = self.task.cancelled()
        problem = None if cancelled else self.task.exception()  # seen also where nobody waits any more: no complaint
        for landing in self._landings:
            if landing.done():
                continue
            if cancelled:
                landing.cancel()
            elif problem is not None:
                landing.set_exception(problem)
            else:
                landing.set_result(self.task.result())

    @property
    def failure(self) -> CallFailed | None:
        """How the ended flight failed, if whoever asks the same would meet the same: not for want of one run's money."""
        if self.left or self.task.cancelled() or self.task.exception() is not None:
            return None
        outcome = self.task.result()
        return outcome if isinstance(outcome, CallFailed) and outcome.kind != "budget" else None


class Traffic:
    """What gateways have in common that are at work at the same time in one event loop, each for a run of its own.

    A call that two of them are asked at once is sent by one, under its money, and the other takes the answer from the
    ledger; where the first gives it up for a reason of its own, the other sends it. Money, counts, events and the end are
    each gateway's own. What no gateway uses any more is forgotten, and the next begins anew.

    Attributes:
        flights: the calls that may be sent, by their keys: whoever asks one of them waits for it.
    """

    def __init__(self, *, clock: Clock = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        """Begin with nothing on its way; `clock` and `sleep` are replaced in tests."""
        self.flights: dict[str, Flight] = {}
        self._clock = clock
        self._sleep = sleep
        self._listeners: list[LimitListener] = []
        self._limiters: dict[Lane, AdaptiveLimiter] = {}
        self._manners: dict[tuple[Lane, str, float | None, float | None], tuple[Pacing, Breaker]] = {}

    def join(self, listener: LimitListener) -> None:
        """Begin to use it; the listener is told every change of a limit."""
        self._listeners.append(listener)

    def leave(self, listener: LimitListener) -> None:
        """Use it no more; leaving twice is harmless."""
        if listener in self._listeners:
            self._listeners.remove(listener)
        if not self._listeners:
            self._limiters.clear()
            self._manners.clear()

    def tell(self, endpoint: str, limit: int, reason: str) -> None:
        """Tell everyone that the limit of an endpoint changed."""
        for listener in tuple(self._listeners):
            listener(endpoint, limit, reason)

    async def turn_of(self, flight: Flight) -> CallFailed | None:
        """Return once nobody else is on the way with the same call: whatever came of it is in the ledger then.

        Where another's try failed in a way that this one would meet, too, its failure is returned at once.
        """
        while (other := self.flights.setdefault(flight.key, flight)) is not flight:
            await asyncio.wait([other.task])
            if (failed := other.failure) is not None:
                return failed
        return None

    def refuse(self, breaker: Breaker, reason: str) -> None:
        """Give up all that waits to be sent past a breaker that has opened."""
        for flight in self.flights.values():
            if flight.idle and flight.route is not None and flight.route.breaker is breaker:
                flight.refused = reason
                if not flight.ahead:  # else it is refused at its turn, unless it was begun before
                    flight.task.cancel()

    def hold_back(self, limiter: AdaptiveLimiter) -> None:
        """Have nothing sent ahead any more to an endpoint that takes less than was thought."""
        for flight in self.flights.values():
            if flight.carried is not None and flight.route is not None and flight.route.limiter is limiter:
                flight.carried.forbid()

    def limiter(self, lane: Lane, sharing: Collection[ModelSpec]) -> AdaptiveLimiter:
        """Return the limiter of an endpoint and key, with the largest limits of all models that share it."""
        most = max(spec.max_concurrency for spec in sharing)
        start = min(most, max(spec.start_concurrency for spec in sharing))
        if lane not in self._limiters:
            self._limiters[lane] = AdaptiveLimiter(
                most, start=start, clock=self._clock, on_change=lambda limit, why: self.tell(lane[0], limit, why)
            )
        limiter = self._limiters[lane]
        limiter.widen(most)
        return limiter

    def manner(self, lane: Lane, spec: ModelSpec) -> tuple[Pacing, Breaker]:
        """Return pace and breaker of a model at an endpoint and under a key."""
        place = (lane, spec.ref.model, spec.rpm, spec.tpm)
        if place not in self._manners:
            pacing = Pacing(
                rpm=spec.rpm,
                tpm=spec.tpm,
                clock=self._clock,
                sleep=self._sleep,
                on_change=lambda limit, why: self.tell(lane[0], limit, f"{spec.ref.name}: {why}"),
            )
            self._manners[place] = pacing, Breaker(clock=self._clock)
        return self._manners[place]


def lane_of(spec: ModelSpec, key: str | None) -> Lane:
    """Return the endpoint of a model, and what tells its key from others without giving it away."""
    identity = spec.api_key_env or "" if key is None else hashlib.sha256(key.encode()).hexdigest()[:12]
    return spec.ref.endpoint, identity
