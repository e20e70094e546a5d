"""Two gateways over one ledger, as two runs of one process have them: one request for both, one set of limits, two purses."""

import asyncio
from typing import Any

import pytest

from dokimasia.domain.call import ChatReply, Usage
from dokimasia.errors import CallFailed, Interrupted, TransportError
from dokimasia.gateway.budget import Budget
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.gateway.events import GatewayEvent
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.traffic import Traffic

GOOD = ChatReply(text="hello", finish_reason="stop", usage=Usage(input_tokens=10, output_tokens=3))
HICCUP = TransportError("server_error", "boom", retryable=True, status=500)
LIMITED = TransportError("rate_limit", "slow down", retryable=True, status=429)


class Pair:
    """Two gateways on one traffic, each with a transport and events of its own; `open` lets their requests through."""

    def __init__(self, ledger: Any, blobs: Any, time: Any, acts: Any, **spec: Any) -> None:
        self.traffic = Traffic(clock=time.clock, sleep=time.sleep)
        self.gate = asyncio.Event()
        self.failures: list[BaseException] = []
        self.events: tuple[list[GatewayEvent], list[GatewayEvent]] = ([], [])
        self.ways = tuple(
            CountingTransport(
                lambda call: GOOD,
                hold=lambda call: self.gate.wait(),
                fail=lambda call: self.failures.pop(0) if self.failures else None,
            )
            for _ in range(2)
        )
        self._common: dict[str, Any] = {"ledger": ledger, "blobs": blobs, "specs": {"m": acts.spec(**spec)}}
        self._common |= {"sleep": time.sleep, "clock": time.clock, "traffic": self.traffic}

    def gateway(self, number: int, **more: Any) -> ModelGateway:
        """Make one of the two."""
        own = {"transports": {"fake": self.ways[number]}, "on_event": self.events[number].append}
        return ModelGateway(**(self._common | own | more))

    @property
    def sent(self) -> tuple[int, ...]:
        """How many requests each has sent."""
        return tuple(len(way.sent) for way in self.ways)


@pytest.fixture
def pair(ledger: Any, blobs: Any, fake_time: Any, acts: Any) -> Pair:
    """Two gateways whose requests wait at the gate."""
    return Pair(ledger, blobs, fake_time, acts)


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(30):
        await asyncio.sleep(0)


async def test_the_same_call_asked_by_two_runs_is_one_request(pair: Pair, acts: Any) -> None:
    """The second takes the first's answer from the ledger: one request, one payment, and each counts its own part."""
    first, second = pair.gateway(0), pair.gateway(1)
    asking = [asyncio.create_task(one.ask(acts.call())) for one in (first, second)]
    await settle()
    assert pair.sent == (1, 0)
    pair.gate.set()
    answers = await asyncio.gather(*asking)
    assert [one.cached for one in answers] == [False, True]
    assert answers[0].reply == answers[1].reply
    assert pair.sent == (1, 0)
    assert [(one.stats().answered, one.stats().cached, one.stats().sent) for one in (first, second)] == [
        (1, 0, 1),
        (0, 1, 0),
    ]
    assert pair.traffic.pending_calls == {}


async def test_the_second_goes_on_when_the_first_goes_away(ledger: Any, blobs: Any, fake_time: Any, acts: Any) -> None:
    """A call that its first asker gives up before it was sent is sent by the second, under the second's money."""
    pair = Pair(ledger, blobs, fake_time, acts, max_concurrency=1, start_concurrency=1)
    budget = Budget(max_calls=5)
    first, second = pair.gateway(0), pair.gateway(1, budget=budget)
    held = asyncio.create_task(first.ask(acts.call("another")))
    await settle()
    waiting = asyncio.create_task(first.ask(acts.call()))  # for the only place
    await settle()
    asking = asyncio.create_task(second.ask(acts.call()))
    await settle()
    waiting.cancel()
    await settle()
    assert pair.sent == (1, 0)
    pair.gate.set()
    assert not (await asking).cached
    await held
    assert pair.sent == (1, 1)
    assert budget.calls == 1


async def test_the_second_goes_on_when_the_first_has_no_money(pair: Pair, acts: Any) -> None:
    """Where the first may not pay for a call that both ask, its call is open, and the second pays for its own."""
    first, second = pair.gateway(0, budget=Budget(max_calls=1)), pair.gateway(1)
    held = asyncio.create_task(first.ask(acts.call("another")))
    await settle()
    asking = [asyncio.create_task(one.ask(acts.call())) for one in (first, second)]
    await settle()
    pair.gate.set()
    refused, answer = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(refused, CallFailed)
    assert refused.kind == "budget"
    assert not isinstance(answer, BaseException)
    assert not answer.cached
    await held
    assert pair.sent == (1, 1)


async def test_the_second_tries_again_when_the_first_has_left(pair: Pair, acts: Any) -> None:
    """A try that fails after the first's asker went away is no failure of the second's, which sends the call itself."""
    first, second = pair.gateway(0), pair.gateway(1)
    pair.failures = [HICCUP]
    gone = asyncio.create_task(first.ask(acts.call()))
    await settle()
    asking = asyncio.create_task(second.ask(acts.call()))
    await settle()
    gone.cancel()
    await settle()
    assert pair.sent == (1, 0)
    pair.gate.set()
    assert not (await asking).cached
    assert pair.sent == (1, 1)


async def test_what_fails_for_one_fails_for_both(pair: Pair, acts: Any) -> None:
    """A call that the endpoint refuses after all tries fails for both, and is not tried as often again."""
    pair.failures = [TransportError("bad_request", "no such parameter", retryable=False, status=400)]
    pair.gate.set()
    outcomes = await asyncio.gather(*(pair.gateway(one).ask(acts.call()) for one in (0, 1)), return_exceptions=True)
    assert [type(one) for one in outcomes] == [CallFailed, CallFailed]
    assert str(outcomes[0]) == str(outcomes[1])
    assert pair.sent == (1, 0)


async def test_one_that_drains_leaves_the_other_at_work(ledger: Any, blobs: Any, fake_time: Any, acts: Any) -> None:
    """Draining one ends its own calls alone: what only waited is sent by the other, what is in flight is finished."""
    pair = Pair(ledger, blobs, fake_time, acts, max_concurrency=1, start_concurrency=1)
    first, second = pair.gateway(0), pair.gateway(1)
    flying = [asyncio.create_task(one.ask(acts.call("in flight"))) for one in (first, second)]
    await settle()
    waiting = [asyncio.create_task(one.ask(acts.call("waits"))) for one in (first, second)]
    await settle()
    draining = asyncio.create_task(first.drain())
    await settle()
    assert pair.sent == (1, 0)
    pair.gate.set()
    answers = await asyncio.gather(*flying, *waiting, return_exceptions=True)
    await draining
    assert [isinstance(one, Interrupted) for one in answers] == [False, False, True, False]
    assert pair.sent == (1, 1)


async def test_a_limit_holds_over_both(ledger: Any, blobs: Any, fake_time: Any, acts: Any) -> None:
    """Requests of two runs to one endpoint under one key never exceed its limit together; a 429 halves it for both."""
    pair = Pair(ledger, blobs, fake_time, acts, max_concurrency=8, start_concurrency=8)
    first, second = pair.gateway(0), pair.gateway(1)
    asking = [
        asyncio.create_task(one.ask(acts.call(f"{one is first} {k}"))) for k in range(8) for one in (first, second)
    ]
    await settle()
    assert sum(pair.sent) == 8
    in_flight = [sum(one.stats().in_flight.values()) for one in (first, second)]
    assert sum(in_flight) == 8
    assert in_flight == list(pair.sent), "each counts its own"
    pair.failures = [LIMITED]
    pair.gate.set()
    await asyncio.gather(*asking)
    assert sum(way.most_open for way in pair.ways) <= 8 + 4
    assert [next(one.limit for one in told if one.kind == "limit") for told in pair.events] == [4, 4]
    assert first.stats().limits == second.stats().limits


async def test_an_open_breaker_gives_up_what_waits_in_both(ledger: Any, blobs: Any, fake_time: Any, acts: Any) -> None:
    """When refusals of one run's requests open a model's breaker, the other's calls to it fail fast, too."""
    pair = Pair(ledger, blobs, fake_time, acts, max_concurrency=1, start_concurrency=1)
    first, second = pair.gateway(0), pair.gateway(1)
    _, breaker = pair.traffic.pacing(("loop", ""), acts.spec(max_concurrency=1, start_concurrency=1))
    refusal = TransportError("connection", "refused", retryable=True)
    for _ in range(5):
        breaker.refused(refusal)
    fake_time.now += 130.0
    pair.failures = [refusal]
    asking = [asyncio.create_task(one.ask(acts.call(str(one is first)))) for one in (first, second)]
    await settle()
    assert pair.sent == (1, 0)
    pair.gate.set()
    outcomes = await asyncio.gather(*asking, return_exceptions=True)
    assert all(isinstance(one, CallFailed) and "in a row were refused" in one.reason for one in outcomes)
    assert pair.sent == (1, 0)


async def test_what_nobody_uses_is_forgotten(pair: Pair, acts: Any) -> None:
    """A limit that was cut stays cut while a run uses the endpoint, and the first run after the last begins anew."""
    pair.failures = [LIMITED]
    pair.gate.set()
    first = pair.gateway(0)
    before = first.stats().limits
    await first.ask(acts.call())
    cut = first.stats().limits
    second = pair.gateway(1)
    await first.aclose()
    await second.ask(acts.call("another"))
    assert second.stats().limits == cut
    await second.aclose()
    last = pair.gateway(0)
    await last.ask(acts.call("a third"))
    assert last.stats().limits["loop"] > cut["loop"]
    assert before == {}
