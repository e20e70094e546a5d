"""Calls that a worker sends ahead: places stay in use while words travel, and limits, money and the end hold all the same."""

import asyncio
import itertools
import pickle
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dokimasia.distribution.channel import Channel
from dokimasia.distribution.driver import DriverHandler, DriverPorts
from dokimasia.distribution.engine import WorkerProxy
from dokimasia.distribution.remote_gateway import RemoteGateway
from dokimasia.domain.call import CallResult, Chat, ChatReply, Message, ModelRef, ModelSpec, Usage, call_key
from dokimasia.domain.sample import TextPart
from dokimasia.errors import CallFailed, Interrupted, TransportError
from dokimasia.gateway.budget import Budget
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.limiter import Clock
from dokimasia.gateway.remote_call import RemoteCallTransport, RemoteReply
from dokimasia.gateway.retry import RetryPolicy
from tests.gateway.conftest import MemoryBlobs, MemoryLedger
from tests.processes import PATIENCE

REF = ModelRef(name="m", model="m")
HOP = 0.01
"""Seconds that a word travels."""

LATENCY = 0.03
"""Seconds that a reply takes."""

PLACES = 4


def call(name: str) -> Chat:
    """A call of its own."""
    return Chat(model=REF, messages=(Message(role="user", parts=(TextPart(text=name),)),))


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110  # what holds is no event
            await asyncio.sleep(0)


class Endpoint:
    """Answers after a while, and remembers what it was asked, how many at once, and what it did."""

    def __init__(self, fails: Callable[[int], TransportError | None] = lambda _: None) -> None:
        self.asked: list[str] = []
        self.at_once: list[int] = []
        self.replied = 0
        self._in_hand = 0
        self._fails = fails

    async def send(self, call: Any, spec: ModelSpec, **_: Any) -> ChatReply:
        """Answer."""
        self.asked.append(call.messages[0].text)
        self._in_hand += 1
        self.at_once.append(self._in_hand)
        failure = self._fails(len(self.asked))
        try:
            await asyncio.sleep(LATENCY)
        finally:
            self._in_hand -= 1
        if failure is not None:
            raise failure
        self.replied += 1
        return ChatReply(text="yes", finish_reason="stop", usage=Usage(input_tokens=1, output_tokens=1))

    async def aclose(self) -> None:
        """Close."""


class Side:
    """One worker: its gateway, and the driver's end."""

    def __init__(self, desk: DriverHandler, endpoint: Endpoint, spec: ModelSpec) -> None:
        self.line = Channel(self._serve)
        self.post = WorkerProxy(None, desk)
        self.trusted = True
        self.ahead, self.told = 0, Counter[str]()
        self.gateway = RemoteGateway(
            self.line,
            cast("Any", SimpleNamespace(fetch=self._nothing, settle=self._nothing)),
            specs={"m": spec},
            driver_models=frozenset(),
            transports={"only": cast("Any", endpoint)},
            api_keys={},
            clean=str,
            trusted=lambda: self.trusted,
        )
        self.carrying = [
            asyncio.create_task(self._carry(self.post.line, self.line)),
            asyncio.create_task(self._carry(self.line, self.post.line)),
        ]

    async def die(self) -> None:
        """Be gone, with all that it was about to say."""
        for task in self.carrying:
            task.cancel()
        await asyncio.gather(*self.carrying, return_exceptions=True)
        await self.post.line.close()
        await self.line.close()
        await self.gateway.aclose()

    async def _serve(self, name: str, holds: tuple[Any, ...]) -> Any:
        self.told[name] += 1
        answer = getattr(self.gateway, name)(*holds)
        answer = await answer if asyncio.iscoroutine(answer) else answer
        self.ahead += isinstance(answer, RemoteReply) and bool(answer.next)
        return answer

    async def _carry(self, one: Channel, other: Channel) -> None:
        while True:
            words = await one.outgoing(1.0)
            await asyncio.sleep(HOP)
            other.receive(pickle.loads(pickle.dumps(words)))

    async def _nothing(self, *_: Any) -> None:
        pass


class Scene:
    """A driver with its workers."""

    def __init__(self, endpoint: Endpoint, count: int, budget: Budget, tries: int, clock: Clock) -> None:
        self.spec = ModelSpec(ref=REF, max_concurrency=PLACES, start_concurrency=PLACES)
        self.endpoint, self.ledger, self.budget = endpoint, MemoryLedger(), budget
        blobs: Any = MemoryBlobs()
        self.gateway = ModelGateway(
            ledger=cast("Any", self.ledger),
            blobs=blobs,
            transports={"only": RemoteCallTransport(cast("Any", endpoint))},
            specs={"m": self.spec},
            budget=budget,
            policy=RetryPolicy(max_tries=tries, base=0.01, rate_limit_base=0.01),
            clock=clock,
        )
        rows: Any = SimpleNamespace(get=None, put=None)
        ports = DriverPorts(self.gateway, rows, rows, blobs, cast("Any", None), {"m": self.spec}, None)
        self.sides = [Side(DriverHandler(ports, cast("Any", None)), endpoint, self.spec) for _ in range(count)]

    def ask(self, names: range, side: int = 0) -> list["asyncio.Task[CallResult]"]:
        """Have a worker ask for calls."""
        return [asyncio.create_task(self.sides[side].gateway.ask(call(f"{side}/{name}"))) for name in names]


@asynccontextmanager
async def scene(
    endpoint: Endpoint | None = None,
    *,
    count: int = 1,
    budget: Budget | None = None,
    tries: int = 1,
    clock: Clock = time.monotonic,
) -> AsyncIterator[Scene]:
    """Give a driver with workers, and end with it."""
    made = Scene(endpoint or Endpoint(), count, budget or Budget(), tries, clock)
    yield made
    await made.gateway.drain()
    for side in made.sides:
        await side.die()


async def test_places_are_handed_on_and_never_exceeded() -> None:
    """While calls wait, a worker sends the next one as soon as one is answered; the driver's limit holds; each is sent once."""
    async with scene() as made:
        await asyncio.gather(*made.ask(range(40)))
        assert made.sides[0].ahead >= 20
    assert sorted(made.endpoint.asked) == sorted(f"0/{name}" for name in range(40))
    assert max(made.endpoint.at_once) == PLACES
    assert made.gateway.stats().sent == made.gateway.stats().answered == 40
    assert made.gateway.stats().in_flight == {"default": 0}


@pytest.mark.parametrize("moment", range(1, 14, 2))
async def test_the_end_commits_what_was_begun_and_begins_nothing(moment: int) -> None:
    """When the run is stopped, every request that left is answered and committed, and no call that waits is sent any more."""
    async with scene() as made:
        asks = made.ask(range(60))
        await until(lambda: made.sides[0].ahead >= moment)
        await made.gateway.drain()
        asked = len(made.endpoint.asked)
        assert asked < 60
        ended = await asyncio.gather(*asks, return_exceptions=True)
        assert {type(one) for one in ended} == {CallResult, Interrupted}
        await asyncio.sleep(5 * LATENCY)
    assert len(made.endpoint.asked) == asked == made.endpoint.replied
    assert len(made.ledger.entries) == asked, "a reply that was paid for is lost"


async def test_nobody_is_passed_over_for_long() -> None:
    """One worker that asks for much does not keep the places from another that asks for little later."""
    names, stopped = itertools.count(), asyncio.Event()

    async def more() -> None:
        while not stopped.is_set():
            number = next(names)
            await asyncio.gather(*made.ask(range(number, number + 1)))

    async with scene(count=2) as made:
        askers = [asyncio.create_task(more()) for _ in range(20)]
        await until(lambda: made.sides[0].ahead >= 5)
        before = len(made.endpoint.asked)
        await asyncio.gather(*made.ask(range(3), side=1))
        passed = len(made.endpoint.asked) - before
        stopped.set()
        await asyncio.gather(*askers)
    assert passed <= 20 + 4 * PLACES, "more than those that waited before, and few that came later, were before it"
    assert max(made.endpoint.at_once) == PLACES


async def test_a_refusal_backs_off_what_is_ahead_as_well() -> None:
    """Where the endpoint answers 429, the limit is cut for what workers would send ahead, too, and all is answered in the end."""
    refused = [TransportError("rate_limit", "slow down", retryable=True, status=429)]
    endpoint = Endpoint(lambda number: refused.pop() if number == 12 else None)
    async with scene(endpoint, tries=3) as made:
        await asyncio.gather(*made.ask(range(60)))
        assert made.sides[0].told["recall"] > 0
    assert max(endpoint.at_once) == PLACES
    assert max(endpoint.at_once[-20:]) == PLACES // 2
    assert made.gateway.stats().answered == 60


async def test_nothing_is_sent_ahead_past_an_endpoint_that_refuses_all() -> None:
    """Once an endpoint counts as down, what waits is refused at its turn and not sent, ahead or not."""
    endpoint = Endpoint(lambda _: TransportError("connection", "nobody is there", retryable=False))
    async with scene(endpoint, clock=lambda: 10_000 * time.monotonic()) as made:
        ended = await asyncio.gather(*made.ask(range(40)), return_exceptions=True)
        assert all(isinstance(one, CallFailed) for one in ended)
    assert made.sides[0].ahead == 0
    assert made.gateway.stats().sent == len(endpoint.asked) <= 6 + PLACES - 1


@pytest.mark.parametrize("moment", range(3, 24, 4))
async def test_a_lost_worker_counts_for_what_it_may_have_begun(moment: int) -> None:
    """A worker that is lost may have sent calls of which nothing was heard: they count, so that no limit is passed by them."""
    async with scene(count=2, budget=Budget(max_calls=30), tries=4) as made:
        lost = made.ask(range(40))
        await until(lambda: len(made.endpoint.asked) >= moment)
        await made.sides[0].die()
        await asyncio.gather(*lost, return_exceptions=True)
        await asyncio.gather(*made.ask(range(40), side=1), return_exceptions=True)
        assert made.budget.calls <= 30
        assert len(made.endpoint.asked) <= made.budget.calls
        assert made.gateway.stats().in_flight == {"default": 0}
        assert made.gateway.stats().answered >= 30 - moment - 2 * PLACES
    assert max(made.endpoint.at_once) <= 2 * PLACES, "at most those of the lost one are answered still"


async def test_what_a_worker_may_not_send_waits() -> None:
    """A worker that is out of the driver's reach sends nothing ahead, and what it was told to send comes from another try."""
    async with scene(tries=4) as made:
        asks = made.ask(range(12))
        made.sides[0].trusted = False
        await until(lambda: made.gateway.stats().failed_tries > 0)
        assert made.sides[0].ahead == 0
        made.sides[0].trusted = True
        await asyncio.gather(*asks)
    assert len(made.endpoint.asked) == len({*made.endpoint.asked}) == 12


async def test_a_call_that_is_taken_back_waits_for_its_turn() -> None:
    """What a worker was allowed to send ahead can be taken back as long as it is not begun, and is sent once all the same."""
    async with scene() as made:
        side = made.sides[0]
        asks = made.ask(range(6))
        keys = [call_key(call(f"0/{name}")) for name in range(6)]
        await until(lambda: len(made.endpoint.asked) >= PLACES)
        side.gateway.ahead(keys[5])
        assert side.gateway.recall(keys[5])
        assert not side.gateway.recall(keys[0]), "it is on its way"
        await asyncio.gather(*asks)
    assert sorted(made.endpoint.asked) == [f"0/{name}" for name in range(6)]


async def test_a_call_that_nobody_asks_any_more_is_neither_sent_nor_counted() -> None:
    """Where whoever asked goes away while a call may be sent ahead, it is taken back: no request, no try, no money."""
    async with scene() as made:
        asks = made.ask(range(8))
        await until(lambda: made.sides[0].told["ahead"] == PLACES)
        asks[6].cancel()
        ended = await asyncio.gather(*asks, return_exceptions=True)
        assert sum(isinstance(one, CallResult) for one in ended) == 7
    stats = made.gateway.stats()
    assert (stats.sent, stats.answered, stats.failed_tries, made.budget.calls) == (7, 7, 0, 7)
    assert sorted(made.endpoint.asked) == [f"0/{name}" for name in range(8) if name != 6]
