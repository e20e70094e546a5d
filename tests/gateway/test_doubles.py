"""The gateways without a model and the transport around another one that ship for tests."""

import asyncio
from typing import Any

import pytest

from dokimasia.domain.call import ChatReply, ModelCall
from dokimasia.domain.ports import Gateway, Transport
from dokimasia.errors import CallFailed, TransportError
from dokimasia.gateway.doubles import CountingTransport, FunctionGateway, ScriptedGateway


async def test_script_is_given_in_order_and_calls_are_recorded(acts: Any) -> None:
    """Texts, replies and failures come in order; the calls and who made them are kept."""
    refused = ChatReply(text="", refusal="no")
    gateway = ScriptedGateway(["one", refused, CallFailed("budget", "spent")])
    typed: Gateway = gateway
    assert (await typed.ask(acts.call("a"), label="judge")).reply == ChatReply(text="one", finish_reason="stop")
    assert (await gateway.ask(acts.call("b"))).reply == refused
    with pytest.raises(AssertionError, match="1 of 3 scripted replies"):
        gateway.assert_used_up()
    with pytest.raises(CallFailed, match="budget: spent"):
        await gateway.ask(acts.call("c"))
    gateway.assert_used_up()
    assert [call == acts.call(text) for call, text in zip(gateway.calls, "abc", strict=True)] == [True] * 3
    assert gateway.labels == ["judge", "", ""]


async def test_script_that_runs_out_says_which_call_came(acts: Any) -> None:
    """A call beyond the script fails the test with the call's number and model."""
    gateway = ScriptedGateway([])
    with pytest.raises(AssertionError, match="0 replies, but call 1 came: chat to m"):
        await gateway.ask(acts.call())


async def test_function_answers_by_the_call(acts: Any) -> None:
    """A function, also a coroutine function, makes each reply from its call."""

    async def echo(call: ModelCall) -> str:
        assert call.kind == "chat"
        return call.messages[0].text.upper()

    answer = await FunctionGateway(echo).ask(acts.call("abc"))
    assert answer.reply == ChatReply(text="ABC", finish_reason="stop")
    assert (answer.cached, answer.cost) == (False, None)


def text_of(call: ModelCall) -> str:
    """What a call asks."""
    assert call.kind == "chat"
    return call.messages[0].text


async def test_transport_keeps_what_is_sent_and_what_came_back(acts: Any) -> None:
    """Calls are kept in order, counted by model, and answered by the inner transport; one that fails is not done."""

    def fail(call: ModelCall) -> TransportError | None:
        return TransportError("auth", "no entry", retryable=False) if text_of(call) == "b" else None

    inner = CountingTransport(text_of)
    transport: Transport = CountingTransport(inner, fail=fail)
    assert isinstance(transport, CountingTransport)
    rest: Any = {"api_key": None, "blobs": None}
    assert await transport.send(acts.call("a"), acts.spec(), **rest) == ChatReply(text="a", finish_reason="stop")
    with pytest.raises(TransportError, match="no entry"):
        await transport.send(acts.call("b"), acts.spec(), **rest)
    assert (transport.sent, transport.done) == ([acts.call("a"), acts.call("b")], [acts.call("a")])
    assert inner.sent == [acts.call("a")]
    assert transport.by_model == {"m": 2}
    await transport.aclose()
    assert (transport.closed, inner.closed) == (True, True)


async def test_transport_stops_holds_back_and_changes(acts: Any) -> None:
    """The stop is asked once, with the call that makes the count full; calls wait for their gate, and replies are changed."""
    gate, stops = asyncio.Event(), list[int]()

    def louder(call: ModelCall, reply: Any) -> Any:
        return reply.model_copy(update={"text": f"{text_of(call)}{reply.text.upper()}"})

    transport = CountingTransport(
        text_of,
        stop=lambda: stops.append(len(transport.sent)),
        stop_after=2,
        hold=lambda call: gate.wait() if text_of(call) == "a" else None,
        change=louder,
    )
    rest: Any = {"api_key": None, "blobs": None}
    sending = [asyncio.create_task(transport.send(acts.call(text), acts.spec(), **rest)) for text in "abc"]
    await asyncio.wait(sending[1:])
    assert (transport.open, transport.most_open, stops) == (1, 3, [2])
    gate.set()
    assert [(await one).text for one in sending] == ["aA", "bB", "cC"]
    assert transport.open == 0
