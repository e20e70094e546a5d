"""A call's identity holds all that is asked and nothing else; tools are part of it only where there are any."""

import pytest
from pydantic import ValidationError

from dokimasia.domain.call import Chat, Message, ModelRef, ToolCall, ToolSpec, call_key, canonical_request
from dokimasia.domain.sample import TextPart

pytestmark = pytest.mark.quick

MODEL = ModelRef(name="a", model="m")
PLAIN = Chat(
    model=MODEL,
    messages=(
        Message(role="system", parts=(TextPart(text="x"),)),
        Message(role="user", parts=(TextPart(text="y"),)),
    ),
    output_schema={"a": 1},
)
TOOL = ToolSpec(name="zoom", description="Enlarges a part.", parameters={"type": "object", "properties": {}})


def test_a_call_without_tools_keeps_its_key() -> None:
    """The key of a call without tools is the one that it had before there were tools."""
    assert call_key(PLAIN) == "3818b732eb4c97b016109cc05ff85471"
    assert "tools" not in canonical_request(PLAIN)


def test_tools_and_their_results_are_part_of_a_call() -> None:
    """Offering a tool, or going on after its result, is another call."""
    offered = PLAIN.model_copy(update={"tools": (TOOL,)})
    asked = Message(role="assistant", parts=(), tool_calls=(ToolCall(id="1", name="zoom", arguments="{}"),))
    result = Message(role="tool", parts=(TextPart(text="done"),), tool_call_id="1")
    gone_on = offered.model_copy(update={"messages": (*PLAIN.messages, asked, result)})
    assert len({call_key(one) for one in (PLAIN, offered, gone_on)}) == 3
    messages = canonical_request(gone_on)["messages"]
    assert [set(message) for message in messages] == [
        {"role", "parts"},
        {"role", "parts"},
        {"role", "parts", "tool_calls"},
        {"role", "parts", "tool_call_id"},
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "tool"},
        {"role": "user", "tool_call_id": "1"},
        {"role": "user", "tool_calls": ({"id": "1", "name": "zoom", "arguments": "{}"},)},
    ],
)
def test_a_tools_fields_belong_to_their_roles(fields: dict[str, object]) -> None:
    """A result names its call, nobody else does, and only the assistant asks for tools."""
    with pytest.raises(ValidationError):
        Message.model_validate({"parts": (), **fields})
