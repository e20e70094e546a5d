"""The gateways without a model that ship for tests."""

from typing import Any

import pytest

from dokimasia.domain.call import ChatReply, ModelCall
from dokimasia.domain.ports import Gateway
from dokimasia.errors import CallFailed
from dokimasia.gateway.doubles import FunctionGateway, ScriptedGateway


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
