"""The gateway with a transport in process: ledger, single flight, retries, money, cancellation, draining, secrets."""

import asyncio
import traceback
from dataclasses import dataclass, field
from typing import Any

import pytest

from dokimasia.domain.call import CallResult, ChatReply, Embedding, EmbeddingReply, ToolCall, Usage, call_key
from dokimasia.errors import CallFailed, ConfigError, Interrupted, StorageError, TransportError
from dokimasia.gateway.budget import Budget
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.litellm.prices import list_price
from dokimasia.gateway.retry import RetryPolicy

pytestmark = pytest.mark.quick


def good(text: str = "hello", **fields: Any) -> ChatReply:
    """An ordinary reply of 13 tokens."""
    return ChatReply(
        text=text, **({"finish_reason": "stop", "usage": Usage(input_tokens=10, output_tokens=3)} | fields)
    )


def rate_limited(retry_after: float | None = None) -> TransportError:
    """A 429."""
    return TransportError("rate_limit", "slow down", retryable=True, status=429, retry_after=retry_after)


def hiccup() -> TransportError:
    """A 500."""
    return TransportError("server_error", "boom", retryable=True, status=500)


@dataclass
class FakeTransport:
    """A transport that gives its script's replies in order, then ordinary ones; `gate` holds requests back."""

    script: list[Any] = field(default_factory=list)
    gate: asyncio.Event | None = None
    sent: int = 0
    open: int = 0
    most_open: int = 0
    closed: bool = False
    keys: list[str | None] = field(default_factory=list)
    entered: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, call: Any, spec: Any, *, api_key: str | None, blobs: Any) -> Any:
        """Give the next reply."""
        self.sent += 1
        self.keys.append(api_key)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        self.entered.set()
        try:
            if self.gate is not None:
                await self.gate.wait()
            else:
                await asyncio.sleep(0)
        finally:
            self.open -= 1
        reply = self.script.pop(0) if self.script else good()
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def aclose(self) -> None:
        """Close."""
        self.closed = True


@pytest.fixture
def transport() -> FakeTransport:
    """A transport without a script."""
    return FakeTransport()


@pytest.fixture
def build(ledger: Any, blobs: Any, transport: FakeTransport, fake_time: Any, acts: Any) -> Any:
    """Builds gateways over the fakes; `spec` fields and gateway arguments by keyword."""

    def make(*, spec: dict[str, Any] | None = None, **arguments: Any) -> ModelGateway:
        defaults: dict[str, Any] = {
            "ledger": ledger,
            "blobs": blobs,
            "transports": {"fake": transport},
            "specs": {"m": acts.spec(**(spec or {}))},
            "sleep": fake_time.sleep,
            "clock": fake_time.clock,
        }
        return ModelGateway(**(defaults | arguments))

    return make


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_reply_is_committed_before_it_is_returned(build: Any, ledger: Any, acts: Any) -> None:
    """While the ledger has not confirmed the commit, the asker gets nothing."""
    ledger.commit_gate = asyncio.Event()
    asking = asyncio.create_task(build().ask(acts.call(), label="candidate"))
    await settle()
    assert not asking.done()
    ledger.commit_gate.set()
    answer = await asking
    assert ledger.entries[answer.key].reply == answer.reply
    assert ledger.labels == ["candidate"]
    assert (answer.key, answer.cached) == (call_key(acts.call()), False)


@pytest.mark.parametrize(
    "reply",
    [
        good("cut off in the mid", finish_reason="length"),
        ChatReply(text="", finish_reason="stop", refusal="I cannot help with that."),
        ChatReply(text="", finish_reason="content_filter"),
        good("no rating in here"),
        good("odd", finish_reason="unknown", native_finish_reason="banana"),
        good("no usage", usage=Usage()),
        ChatReply(text="", finish_reason="tool_calls", tool_calls=(ToolCall(id="1", name="crop", arguments="{}"),)),
    ],
)
async def test_completed_reply_replays_as_itself(
    build: Any, transport: FakeTransport, acts: Any, reply: ChatReply
) -> None:
    """Truncated, refused, unparsable and unmetered replies are served again as they came, and nothing is sent."""
    transport.script = [reply]
    first = await build().ask(acts.call())
    again = await build().ask(acts.call())
    assert first.reply == again.reply == reply
    assert (first.cached, again.cached, transport.sent) == (False, True, 1)


async def test_same_call_twice_at_once_is_one_request(build: Any, transport: FakeTransport, acts: Any) -> None:
    """Fifty askers of one call share one request, and only one of them is told that it was paid for."""
    gateway = build()
    answers = await asyncio.gather(*(gateway.ask(acts.call()) for _ in range(50)))
    assert transport.sent == 1
    assert sum(not answer.cached for answer in answers) == 1
    assert {answer.reply.text for answer in answers} == {"hello"}


async def test_repeats_and_models_are_requests_of_their_own(build: Any, transport: FakeTransport, acts: Any) -> None:
    """A new repeat index is a new request; another alias of the same model and endpoint is not."""
    gateway = build(specs={"m": acts.spec(), "alias": acts.spec("alias", model="openai/m")})
    await gateway.ask(acts.call())
    await gateway.ask(acts.call(repeat=1))
    alias = acts.call().model_copy(update={"model": acts.spec("alias", model="openai/m").ref})
    assert (await gateway.ask(alias)).cached
    assert transport.sent == 2


@pytest.mark.parametrize("who", ["leader", "follower"])
async def test_cancelled_asker_does_not_cancel_the_others(
    build: Any, transport: FakeTransport, acts: Any, who: str
) -> None:
    """Whoever is cancelled, the remaining asker gets the reply of the one request."""
    transport.gate = asyncio.Event()
    gateway = build()
    askers = [asyncio.create_task(gateway.ask(acts.call())) for _ in range(2)]
    await transport.entered.wait()
    gone, stays = askers if who == "leader" else reversed(askers)
    gone.cancel()
    await settle()
    transport.gate.set()
    assert (await stays).reply.text == "hello"
    assert gone.cancelled()
    assert transport.sent == 1


async def test_request_that_lost_every_asker_is_committed(
    build: Any, transport: FakeTransport, ledger: Any, acts: Any
) -> None:
    """A request that has left is being paid for: it is finished and committed, and the next asker finds it."""
    transport.gate = asyncio.Event()
    gateway = build()
    asking = asyncio.create_task(gateway.ask(acts.call()))
    await transport.entered.wait()
    asking.cancel()
    await settle()
    transport.gate.set()
    await gateway.drain()
    assert call_key(acts.call()) in ledger.entries


async def test_who_asks_as_a_failed_request_is_given_up_sends_it_anew(
    build: Any, transport: FakeTransport, acts: Any
) -> None:
    """A request whose askers all went away is not tried again when it fails; who asks at that very moment has it sent."""
    transport.gate, transport.script = asyncio.Event(), [hiccup()]
    again: list[asyncio.Task[Any]] = []
    told: list[tuple[str, float | None]] = []

    def heard(event: Any) -> None:
        told.append((event.kind, event.delay))
        if event.kind == "left":
            again.append(asyncio.create_task(gateway.ask(acts.call())))

    gateway = build(on_event=heard)
    asking = asyncio.create_task(gateway.ask(acts.call()))
    await transport.entered.wait()
    asking.cancel()
    await settle()
    transport.gate.set()
    await settle()
    assert (await again[0]).reply.text == "hello"
    assert transport.sent == 2
    assert told == [("sent", None), ("failed_try", None), ("left", None), ("sent", None), ("answered", None)]


async def test_call_that_lost_every_asker_before_it_left_is_not_sent(
    build: Any, transport: FakeTransport, acts: Any
) -> None:
    """A call that still waits for a place when its asker goes is dropped, and its place goes to the next."""
    transport.gate = asyncio.Event()
    gateway = build(spec={"max_concurrency": 1})
    first = asyncio.create_task(gateway.ask(acts.call("1")))
    await transport.entered.wait()
    second, third = (asyncio.create_task(gateway.ask(acts.call(text))) for text in "23")
    await settle()
    second.cancel()
    await settle()
    transport.gate.set()
    await asyncio.gather(first, third)
    assert transport.sent == 2


async def test_failures_are_retried_and_recorded_but_never_served(
    build: Any, transport: FakeTransport, ledger: Any, fake_time: Any, acts: Any
) -> None:
    """Each failed try is an attempt in the ledger with its kind and status; the reply that follows is the answer."""
    transport.script = [
        hiccup(),
        rate_limited(),
        TransportError("connection", "reset", retryable=True),
        good("at last"),
    ]
    answer = await build().ask(acts.call(), label="judge")
    assert answer.reply.text == "at last"
    assert [(each["kind"], each["status"], each["label"]) for each in ledger.attempts] == [
        ("server_error", 500, "judge"),
        ("rate_limit", 429, "judge"),
        ("connection", None, "judge"),
    ]
    assert len(fake_time.slept) == 3


async def test_tries_are_bounded(build: Any, transport: FakeTransport, ledger: Any, acts: Any) -> None:
    """After six failed requests the call fails as `api_error`, and its reason names model, kind, status and tries."""
    transport.script = [hiccup() for _ in range(10)]
    with pytest.raises(CallFailed, match=r"m: server_error \(status 500\) after 6 tries: boom") as caught:
        await build().ask(acts.call())
    assert caught.value.kind == "api_error"
    assert transport.sent == len(ledger.attempts) == 6
    assert not ledger.entries


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("auth", "api_error"),
        ("bad_request", "api_error"),
        ("not_found", "api_error"),
        ("unsupported", "api_error"),
        ("context_overflow", "context_overflow"),
    ],
)
async def test_what_cannot_help_is_not_retried(
    build: Any, transport: FakeTransport, acts: Any, kind: Any, expected: str
) -> None:
    """Authentication, bad requests, unknown models and context overflow fail at the first try."""
    transport.script = [TransportError(kind, "no", retryable=False, status=400)]
    with pytest.raises(CallFailed) as caught:
        await build().ask(acts.call())
    assert (caught.value.kind, transport.sent) == (expected, 1)


async def test_retry_after_delays_the_request_and_not_the_controller(
    build: Any, transport: FakeTransport, fake_time: Any, acts: Any
) -> None:
    """The wait that a 503 asks for is waited by its call alone: the limit stays, and others go on."""
    transport.script = [TransportError("server_error", "busy", retryable=True, status=503, retry_after=17.0)]
    gateway = build()
    await gateway.ask(acts.call())
    assert 17.0 <= fake_time.slept[0] <= 17.5
    assert gateway.stats().limits == {"loop": 16}


async def test_429_halves_the_limit_and_says_why(build: Any, transport: FakeTransport, acts: Any) -> None:
    """A 429 cuts the concurrency of its endpoint, and an event carries the new limit and the reason."""
    events: list[Any] = []
    transport.script = [rate_limited()]
    gateway = build(on_event=events.append)
    await gateway.ask(acts.call())
    (change,) = [event for event in events if event.kind == "limit"]
    assert (change.limit, change.endpoint) == (8, "loop")
    assert "429" in change.reason


async def test_silent_endpoint_times_out(build: Any, transport: FakeTransport, ledger: Any, acts: Any) -> None:
    """A transport that never returns is cut off at the model's time limit, tried again, and given up."""
    transport.gate = asyncio.Event()
    gateway = build(spec={"timeout": 0.01}, policy=RetryPolicy(max_tries=2))
    with pytest.raises(CallFailed, match=r"timeout after 2 tries: no reply within 0\.01 s"):
        await gateway.ask(acts.call())
    assert ledger.kinds == ["timeout", "timeout"]
    assert transport.open == 0


async def test_concurrency_stays_within_the_configured_limit(build: Any, transport: FakeTransport, acts: Any) -> None:
    """Twenty calls at once on an endpoint of three never have more than three requests open."""
    transport.gate = asyncio.Event()
    gateway = build(spec={"max_concurrency": 3})
    asking = [asyncio.create_task(gateway.ask(acts.call(str(number)))) for number in range(20)]
    await settle()
    assert (transport.most_open, gateway.stats().in_flight) == (3, {"loop": 3})
    transport.gate.set()
    await asyncio.gather(*asking)
    assert gateway.stats().in_flight == {"loop": 0}


async def test_a_reply_that_is_being_kept_is_not_in_flight(
    build: Any, transport: FakeTransport, ledger: Any, acts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests under way never outnumber their limit: an answered call that is still written down holds no place."""
    kept, commit = asyncio.Event(), ledger.commit

    async def slowly(*args: Any, **fields: Any) -> None:
        await kept.wait()
        await commit(*args, **fields)

    monkeypatch.setattr(ledger, "commit", slowly)
    gateway = build(spec={"max_concurrency": 2})
    asking = [asyncio.create_task(gateway.ask(acts.call(str(number)))) for number in range(8)]
    for _ in range(20):
        await settle()
        stats = gateway.stats()
        assert stats.in_flight["loop"] <= stats.limits["loop"]
    assert stats.sent > 2, "answered calls have made room for others"
    kept.set()
    await asyncio.gather(*asking)


async def test_concurrency_grows_from_its_start_and_never_exceeds_the_configured_most(
    build: Any, transport: FakeTransport, acts: Any
) -> None:
    """Two hundred calls on an endpoint that begins with two and takes six at most: six at once are reached, never seven."""
    gateway = build(spec={"max_concurrency": 6, "start_concurrency": 2})
    asking = [asyncio.create_task(gateway.ask(acts.call(str(number)))) for number in range(200)]
    await transport.entered.wait()
    assert (transport.most_open, gateway.stats().limits) == (2, {"loop": 2})
    await asyncio.gather(*asking)
    assert (transport.most_open, gateway.stats().limits) == (6, {"loop": 6})


async def test_models_on_one_endpoint_share_the_largest_limits(build: Any, acts: Any) -> None:
    """Of several models at one endpoint the largest start and the largest most hold, the start within the most."""
    specs = {"a": acts.spec(name="a", max_concurrency=8, start_concurrency=2), "m": acts.spec(max_concurrency=3)}
    gateway = build(specs=specs)
    await gateway.ask(acts.call())
    assert gateway.stats().limits == {"loop": 8}


@pytest.mark.parametrize("faults", [0, 3])
async def test_max_calls_bounds_the_requests_that_leave(
    build: Any, transport: FakeTransport, acts: Any, faults: int
) -> None:
    """With a budget of five calls at most five requests leave, retries included; the rest fail as `budget`."""
    transport.script = [hiccup() for _ in range(faults)]
    gateway = build(budget=Budget(max_calls=5))
    asking = (gateway.ask(acts.call(str(number))) for number in range(12))
    outcomes = await asyncio.gather(*asking, return_exceptions=True)
    failed = [outcome for outcome in outcomes if isinstance(outcome, CallFailed)]
    assert transport.sent == 5
    assert len(failed) == 12 - (5 - faults)
    assert {failure.kind for failure in failed} == {"budget"}


async def test_cached_answers_cost_nothing(build: Any, acts: Any) -> None:
    """A gateway with no budget left still answers what the ledger has."""
    await build().ask(acts.call())
    gateway = build(budget=Budget(max_calls=0, max_cost=0, max_tokens=0))
    assert (await gateway.ask(acts.call())).cached
    assert gateway.stats().sent == 0


async def test_max_cost_stops_before_it_is_passed(build: Any, transport: FakeTransport, acts: Any) -> None:
    """With replies that cost what was estimated, spending ends below the limit and further calls fail as `budget`."""
    transport.script = [good(usage=Usage(input_tokens=0, output_tokens=100)) for _ in range(20)]
    gateway = build(spec={"input_price": 0.0, "output_price": 10_000.0}, budget=Budget(max_cost=3.5))
    for number in range(3):
        assert (await gateway.ask(acts.call(str(number), sampling={"max_tokens": 100}))).cost == pytest.approx(1.0)
    with pytest.raises(CallFailed, match=r"\$3.0000 of \$3.5 are spent") as caught:
        await gateway.ask(acts.call("one more", sampling={"max_tokens": 100}))
    assert (caught.value.kind, transport.sent) == ("budget", 3)


async def test_cost_limit_with_an_unknown_price_sends_nothing(build: Any, transport: FakeTransport, acts: Any) -> None:
    """A limit on cost cannot be kept for a model of unknown price, so the call fails as `budget`."""
    with pytest.raises(CallFailed, match="price is unknown"):
        await build(budget=Budget(max_cost=10)).ask(acts.call())
    assert transport.sent == 0


async def test_unknown_usage_is_unknown_cost(build: Any, transport: FakeTransport, acts: Any) -> None:
    """Without usage the cost is None, not 0, and the statistics count it apart."""
    transport.script = [good(usage=Usage()), good()]
    gateway = build(spec={"input_price": 1.0, "output_price": 2.0})
    unknown, known = [await gateway.ask(acts.call(text)) for text in "ab"]
    assert unknown.cost is None
    assert known.cost == pytest.approx(16e-6)
    stats = gateway.stats()
    assert (stats.usage_unknown, stats.cost_unknown, stats.answered) == (1, 1, 2)
    assert (stats.cost, stats.input_tokens, stats.output_tokens) == (pytest.approx(16e-6), 10, 3)


async def test_drain_finishes_what_is_under_way_and_starts_nothing(
    build: Any, transport: FakeTransport, ledger: Any, acts: Any
) -> None:
    """Requests under way are answered and committed; whoever waits, or asks later, is interrupted."""
    transport.gate = asyncio.Event()
    gateway = build(spec={"max_concurrency": 1})
    under_way = asyncio.create_task(gateway.ask(acts.call("1")))
    await transport.entered.wait()
    waiting = asyncio.create_task(gateway.ask(acts.call("2")))
    await settle()
    draining = asyncio.create_task(gateway.drain())
    await settle()
    with pytest.raises(Interrupted):
        await waiting
    with pytest.raises(Interrupted):
        await gateway.ask(acts.call("3"))
    assert not draining.done()
    transport.gate.set()
    await draining
    assert (await under_way).reply.text == "hello"
    assert list(ledger.entries) == [call_key(acts.call("1"))]
    assert transport.sent == 1


async def test_drain_does_not_wait_for_the_next_try(build: Any, transport: FakeTransport, acts: Any) -> None:
    """A call that sleeps before its next try is interrupted at once, and so is one whose request fails meanwhile."""
    never = asyncio.Event()

    async def sleep(_: float) -> None:
        await never.wait()

    transport.script = [hiccup()]
    gateway = build(sleep=sleep)
    sleeping = asyncio.create_task(gateway.ask(acts.call("1")))
    await settle()
    transport.gate, transport.script = asyncio.Event(), [hiccup()]
    failing = asyncio.create_task(gateway.ask(acts.call("2")))
    await settle()
    draining = asyncio.create_task(gateway.drain())
    await settle()
    transport.gate.set()
    await draining
    for asking in (sleeping, failing):
        with pytest.raises(Interrupted):
            await asking
    assert transport.sent == 2


async def test_aclose_drains_and_closes_transports(build: Any, transport: FakeTransport, acts: Any) -> None:
    """Closing commits what is under way and closes the transports."""
    gateway = build()
    await gateway.ask(acts.call())
    await gateway.aclose()
    assert transport.closed


async def test_key_is_nowhere(build: Any, transport: FakeTransport, ledger: Any, acts: Any, key: str) -> None:
    """A key that the endpoint echoes in an error or a reply reaches neither ledger nor events nor the raised error."""
    events: list[Any] = []
    secret = "hidden-word"
    transport.script = [
        TransportError("server_error", f"bad {key} {secret}", retryable=True),
        good(f"you sent {key}", refusal=key, native_finish_reason=key, finish_reason="unknown"),
        ChatReply(text=secret, tool_calls=(ToolCall(id=key, name=key, arguments=f'{{"k": "{key}"}}'),)),
        TransportError("auth", f"Incorrect API key provided: {key} {secret}", retryable=False, status=401),
    ]
    gateway = build(api_keys={"m": key}, on_event=events.append, redact=lambda text: text.replace(secret, "[redacted]"))
    answers = [await gateway.ask(acts.call(text)) for text in "ab"]
    with pytest.raises(CallFailed) as caught:
        await gateway.ask(acts.call("c"))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    texts = [ledger.everything(), *(answer.model_dump_json() for answer in answers)]
    texts += [repr(event) for event in events]
    texts += ["".join(traceback.format_exception(caught.value)), repr(caught.value)]
    assert not [text for text in texts if key in text or secret in text]
    assert answers[0].reply.text == "you sent [key]"
    assert transport.keys == [key] * 4


async def test_short_key_leaves_replies_alone(build: Any, transport: FakeTransport, acts: Any) -> None:
    """A stand-in key such as `none`, which a local server is given, is not cut out of replies."""
    transport.script = [good("none of them")]
    assert (await build(api_keys={"m": "none"}).ask(acts.call())).reply.text == "none of them"


async def test_broken_vectors_are_a_failed_try(build: Any, transport: FakeTransport, ledger: Any, acts: Any) -> None:
    """An embedding reply with too few vectors, and a reply of another kind, are attempts and not answers."""
    transport.script = [
        EmbeddingReply(vectors=((1.0, 2.0),)),
        EmbeddingReply(vectors=((1.0, 2.0), (1.0,))),
        good(),
        EmbeddingReply(vectors=((1.0, 2.0), (3.0, 4.0)), usage=Usage(input_tokens=4, output_tokens=0)),
    ]
    answer = await build().ask(Embedding(model=acts.spec().ref, texts=("a", "b")))
    assert answer.reply.vectors == ((1.0, 2.0), (3.0, 4.0))
    assert ledger.kinds == ["broken_envelope"] * 3


async def test_unknown_model_and_transport_are_named(build: Any, acts: Any) -> None:
    """A call to a model that is not configured, or with no such transport, says so and what there is."""
    with pytest.raises(ConfigError, match="'x' is not configured; there are: m"):
        await build().ask(acts.call(name="x"))
    with pytest.raises(ConfigError, match="no transport 'direct'; there are: fake"):
        await build(spec={"transport": "direct"}).ask(acts.call())


async def test_storage_error_reaches_the_asker(build: Any, ledger: Any, acts: Any) -> None:
    """A ledger that cannot be written stops the call with its own error: an answer that is not kept is not used."""

    async def full(*_: Any, **__: Any) -> None:
        raise StorageError("no space left")

    ledger.commit = full
    with pytest.raises(StorageError, match="no space left"):
        await build().ask(acts.call())


async def test_events_tell_the_story_of_a_call(build: Any, transport: FakeTransport, acts: Any) -> None:
    """Sent, failed, sent, answered, then cached: events come in order with model, label and try."""
    events: list[Any] = []
    transport.script = [hiccup()]
    gateway = build(on_event=events.append)
    answers: list[CallResult] = [await gateway.ask(acts.call(), label="solver") for _ in range(2)]
    assert [event.kind for event in events] == ["sent", "failed_try", "sent", "answered", "cached"]
    assert {(event.model, event.endpoint, event.label, event.key) for event in events} == {
        ("m", "loop", "solver", answers[0].key)
    }
    assert events[1].delay is not None
    assert [event.number for event in events] == [1, 1, 2, 0, 0]


async def test_a_long_call_is_booked_at_the_tier_of_its_reported_length(
    transport: FakeTransport, ledger: Any, blobs: Any, acts: Any
) -> None:
    """What a reply costs goes by the input tokens that its provider reports, at the listed rates of such a call."""
    usages = [Usage(input_tokens=tokens, output_tokens=100) for tokens in (200_000, 200_001)]
    transport.script = [good(usage=usage) for usage in usages]
    model = {"model": "gemini/gemini-2.5-pro", "endpoint": "gemini"}
    spec = acts.spec(transport="litellm", **model)
    gateway = ModelGateway(ledger=ledger, blobs=blobs, transports={"litellm": transport}, specs={"m": spec})
    short, long = [await gateway.ask(acts.call(text).model_copy(update={"model": spec.ref})) for text in "ab"]
    price = list_price("gemini/gemini-2.5-pro")
    assert price is not None
    assert short.cost == pytest.approx((200_000 * price.input + 100 * price.output) / 1e6)
    (tier,) = price.tiers
    assert long.cost == pytest.approx((200_001 * tier.input + 100 * tier.output) / 1e6)
