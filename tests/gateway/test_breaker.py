"""An endpoint that refuses everything, or asks for waits without end, holds up no run and no other model."""

import asyncio
import itertools
from typing import Any

import pytest

from dokimasia.errors import CallFailed, TransportError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.pace import LONGEST_ASKED, Pacing
from dokimasia.gateway.rate_limit_headers import report_headers
from dokimasia.gateway.retry import IN_A_ROW, LEAST_SECONDS, REST_SECONDS, Breaker

LIMITED = TransportError("rate_limit", "slow down", retryable=True, status=429)


class Scheduled:
    """A clock for many sleepers: time moves to the next of them when all others wait."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = 0

    def clock(self) -> float:
        """Return the seconds."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Wait for one's moment."""
        moment = asyncio.get_running_loop().create_future()
        self._number += 1
        self._sleepers.append((self.now + seconds, self._number, moment))
        await moment

    async def run(self, work: "asyncio.Future[Any]", *, most: float = 1e6) -> Any:
        """Let time pass until the work is done, or so many seconds are over."""
        while not work.done():
            for _ in range(50):
                await asyncio.sleep(0)
            self._sleepers = [one for one in self._sleepers if not one[2].done()]
            if work.done() or not self._sleepers:
                continue
            self._sleepers.sort(key=lambda one: one[:2])
            at, _, moment = self._sleepers.pop(0)
            self.now = at
            assert self.now <= most, f"still at work after {self.now:.0f} s"
            moment.set_result(None)
        return work.result()


@pytest.fixture
def time() -> Scheduled:
    """A clock at 0."""
    return Scheduled()


@pytest.fixture
def build(ledger: Any, blobs: Any, acts: Any, time: Scheduled) -> Any:
    """Builds a gateway over a transport; models by name with the fields of their configuration."""

    def make(transport: Any, models: dict[str, dict[str, Any]], **arguments: Any) -> ModelGateway:
        return ModelGateway(
            ledger=ledger,
            blobs=blobs,
            transports={"fake": transport},
            specs={name: acts.spec(name, **fields) for name, fields in models.items()},
            sleep=time.sleep,
            clock=time.clock,
            **arguments,
        )

    return make


async def outcome(gateway: ModelGateway, call: Any) -> str:
    """Return what a call comes to."""
    try:
        return (await gateway.ask(call)).reply.text
    except CallFailed as failure:
        return failure.reason


async def test_a_model_that_always_refuses_fails_fast_and_is_said_so(
    build: Any, time: Scheduled, ledger: Any, acts: Any
) -> None:
    """Twenty calls to a model that answers 429 to everything are over within minutes, each with the reason and the way
    out; what is asked during the rest that follows sends nothing."""
    events: list[Any] = []
    transport = CountingTransport(lambda _: "fine", fail=lambda _: LIMITED)
    gateway = build(transport, {"m": {"start_concurrency": 4}}, on_event=events.append)
    calls = [acts.call(str(number)) for number in range(20)]
    reasons = await time.run(asyncio.gather(*(outcome(gateway, call) for call in calls)), most=300)
    assert sum("--retry-failed" in reason and "in a row" in reason for reason in reasons) >= 8
    assert all("slow down" in reason for reason in reasons)
    assert time.now <= LEAST_SECONDS + 2 * REST_SECONDS
    said = [event for event in events if event.kind == "limit" and "in a row" in event.reason]
    assert [event.limit for event in said] == [0]
    sent = len(transport.sent)
    assert "--retry-failed" in await outcome(gateway, acts.call("one more"))
    assert len(transport.sent) == sent == len(ledger.attempts)


async def test_an_endpoint_that_is_back_is_asked_again(build: Any, time: Scheduled, acts: Any) -> None:
    """After the rest one request finds out; its answer lets all others through."""
    back: list[bool] = []
    transport = CountingTransport(lambda _: "fine", fail=lambda _: None if back else LIMITED)
    gateway = build(transport, {"m": {}})
    calls = [acts.call(str(number)) for number in range(40)]
    await time.run(asyncio.gather(*(outcome(gateway, call) for call in calls)))
    back.append(True)
    time.now += REST_SECONDS
    again = [acts.call(f"again {number}") for number in range(5)]
    first = await time.run(asyncio.ensure_future(outcome(gateway, again[0])))
    rest = await time.run(asyncio.gather(*(outcome(gateway, call) for call in again)))
    assert [first, *rest] == ["fine"] * 6


async def test_a_limit_by_the_minute_opens_nothing(build: Any, time: Scheduled, acts: Any) -> None:
    """An endpoint that takes ten requests a minute and refuses all others answers every call in the end."""
    taken: dict[int, int] = {}

    def fail(_: Any) -> TransportError | None:
        minute = int(time.now // 60)
        taken[minute] = taken.get(minute, 0) + 1
        return (
            None
            if taken[minute] <= 10
            else TransportError("rate_limit", "slow down", retryable=True, status=429, retry_after=60 - time.now % 60)
        )

    gateway = build(CountingTransport(lambda _: "fine", fail=fail), {"m": {}})
    calls = [acts.call(str(number)) for number in range(30)]
    assert await time.run(asyncio.gather(*(outcome(gateway, call) for call in calls))) == ["fine"] * 30


def test_a_single_other_outcome_begins_the_row_anew(time: Scheduled) -> None:
    """Refusals count only where nothing else came between them, and only over time."""
    breaker = Breaker(clock=time.clock)
    for _ in range(3 * IN_A_ROW):
        breaker.refused(LIMITED)
    assert not breaker.refusal()
    time.now = LEAST_SECONDS - 1
    breaker.endpoint_answered()
    breaker.refused(LIMITED)
    time.now = LEAST_SECONDS + 1
    for _ in range(IN_A_ROW):
        assert not breaker.refused(LIMITED)
    time.now = 2 * LEAST_SECONDS
    assert breaker.refused(LIMITED)
    assert "slow down" in breaker.refusal()
    time.now += REST_SECONDS
    assert not breaker.refusal()
    assert breaker.refusal()
    assert breaker.endpoint_answered()
    assert not breaker.refusal()


async def test_a_paced_model_leaves_its_endpoint_to_others(build: Any, time: Scheduled, acts: Any) -> None:
    """Of two models at one endpoint under one key, the one with a request a minute holds up nothing of the other's."""
    transport = CountingTransport(lambda _: "fine")
    both = {"start_concurrency": 2, "max_concurrency": 2}
    gateway = build(transport, {"paced": {"rpm": 1, **both}, "free": both})
    slow = [asyncio.ensure_future(gateway.ask(acts.call(str(number), name="paced"))) for number in range(6)]
    for _ in range(50):
        await asyncio.sleep(0)
    calls = [gateway.ask(acts.call(str(number), name="free")) for number in range(20)]
    await time.run(asyncio.gather(*calls))
    assert time.now == 0
    await time.run(asyncio.gather(*slow))
    assert time.now == pytest.approx(300)


async def test_paced_requests_do_not_pile_up_before_a_place(build: Any, time: Scheduled, acts: Any) -> None:
    """While the endpoint's only place is taken, the model's allowance is not spent by requests that wait for the place."""
    gate = asyncio.Event()
    moments: list[float] = []

    def hold(_: Any) -> Any:
        moments.append(time.now)
        return gate.wait()

    gateway = build(
        CountingTransport(lambda _: "fine", hold=hold), {"m": {"rpm": 60, "max_concurrency": 1, "start_concurrency": 1}}
    )
    asked = asyncio.gather(*(gateway.ask(acts.call(str(number))) for number in range(12)))
    for _ in range(50):
        await asyncio.sleep(0)
    time.now += 600
    gate.set()
    await time.run(asked)
    gaps = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert sum(gap < 0.5 for gap in gaps) <= 4


@pytest.mark.parametrize("reset", ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00", "9" * 400 + "d", "99999999h"])
async def test_a_reset_that_no_limit_has_stalls_nothing(time: Scheduled, reset: str) -> None:
    """Headers with nothing left until a time beyond any limit's are not believed, and hold nobody up."""
    pacing = Pacing(rpm=None, tpm=None, clock=time.clock, sleep=time.sleep)
    pacing.read_headers(limits(reset))
    await time.run(asyncio.gather(pacing.take(1), pacing.take(1)))
    assert time.now == 0


async def test_no_header_holds_a_request_up_for_long_and_one_that_is_wrong_is_believed_no_more(
    time: Scheduled, build: Any, acts: Any
) -> None:
    """An endpoint that says at every reply that nothing is left for half a day, and answers all the same, costs a bounded
    wait, which is said, and is then asked as if it said nothing."""
    events: list[Any] = []

    def answer(_: Any) -> str:
        report_headers(limits("12h"))
        return "fine"

    gateway = build(
        CountingTransport(answer), {"m": {"start_concurrency": 1, "max_concurrency": 1}}, on_event=events.append
    )
    calls = [acts.call(str(number)) for number in range(50)]
    assert await time.run(asyncio.gather(*(outcome(gateway, call) for call in calls))) == ["fine"] * 50
    assert LONGEST_ASKED <= time.now <= 2 * LONGEST_ASKED  # the next one waits already when the first is answered
    said = [event.reason for event in events if event.kind == "limit"]
    assert ["longer than 120 s" in reason for reason in said] == [False, True, False]
    assert "believed no more" in said[-1]


def limits(reset: str) -> dict[str, str]:
    """Headers of an endpoint of which nothing is left until then."""
    values = {"limit": "60", "remaining": "0", "reset": reset}
    return {f"x-ratelimit-{part}-requests": value for part, value in values.items()}
