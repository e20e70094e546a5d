"""Simulated models see pictures, keep to schemas and call tools, in process and on the wire alike."""

import io

import aiohttp
import orjson
import pytest
from PIL import Image

from dokimasia.domain.call import Chat, Message, ModelRef, ToolCall, ToolSpec
from dokimasia.domain.sample import ImageRef, TextPart
from dokimasia.errors import TransportError
from dokimasia.gateway.openai_format import chat_messages, response_format
from dokimasia.prompts import render, with_form
from dokimasia.simulation.draws import request_hash
from dokimasia.simulation.respond import respond
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.serving.wire import read_request
from dokimasia.simulation.structured import fit_schema, main_colours

SCHEMA = {
    "type": "object",
    "properties": {
        "number": {"type": "integer"},
        "seal": {"enum": ["k7"]},
        "list": {"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "null"}]}},
        "flag": {"type": "boolean"},
        "nothing": {"type": "null"},
        "fixed": {"const": 3},
        "text": {"type": "string"},
    },
}
TOOL = ToolSpec(name="keep", description="Keeps.", parameters={"properties": {"number": {"type": "integer"}}})


def picture(*bands: tuple[int, int, int], width: int = 90) -> bytes:
    """A PNG of upright bands of equal width."""
    image = Image.new("RGB", (width, 20))
    for number, band in enumerate(bands):
        image.paste(band, (width * number // len(bands), 0, width * (number + 1) // len(bands), 20))
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def probe(task: str, images: tuple[ImageRef, ...] = (), **fields: object) -> Chat:
    """A check, put to a weak candidate."""
    messages = render("probe", {"task": task, "code": "c"}, images=images).messages
    call = Chat(model=ModelRef(name="w", model="sim/weak"), messages=messages)
    return call.model_copy(update=fields)


def test_the_colours_are_read_from_the_pixels() -> None:
    """The common colour of each third is named, whatever stands in the picture besides; one pixel is a picture, too."""
    assert main_colours(picture((250, 10, 10), (10, 10, 250), (240, 240, 240))) == ["red", "blue", "white"]
    assert main_colours(picture((255, 255, 255), width=1)) == ["white", "white", "white"]


def test_a_check_with_a_picture_is_answered_from_it(small_ref: ImageRef) -> None:
    """The reply names what the bytes show; without a picture it says that there is none."""
    data = picture((0, 120, 0), (0, 0, 0), (255, 255, 0))
    reply = respond(probe("Name the colours.", (small_ref,)), {small_ref.sha256: data})
    assert "green, black, yellow" in reply.text
    assert "cannot see" in respond(probe("Name the colours."), {}).text


def test_a_schema_and_a_tool_are_kept_to() -> None:
    """The reply fits the schema; a tool that is offered is called, with the task's number."""
    held = orjson.loads(respond(probe("Give back 512.", output_schema=SCHEMA), {}).text)
    assert held == {
        "number": 512,
        "seal": "k7",
        "list": [512],
        "flag": True,
        "nothing": None,
        "fixed": 3,
        "text": "",
    }
    assert fit_schema("no schema", "") == ""
    reply = respond(probe("Keep 77.", tools=(TOOL,)), {})
    assert reply.finish_reason == "tool_calls"
    assert [(tool.name, tool.arguments) for tool in reply.tool_calls] == [("keep", '{"number":77}')]


@pytest.mark.parametrize("model", ["sim/judge", "sim/judge-lenient", "sim/judge-noisy"])
def test_a_held_judge_gives_the_same_scores(model: str) -> None:
    """With the schema and its sentence a request is the same request, so scores and their faults are the same."""
    criteria = [{"n": n, "question": f"What {n}?", "ground_truth": f"It is {n}."} for n in range(1, 6)]
    inputs = {"question": "What?", "criteria": orjson.dumps(criteria).decode(), "response": "It is 1. It is 3."}
    rendered = render("checkpoints", inputs)
    plain = Chat(model=ModelRef(name="j", model=model), messages=rendered.messages)
    held = plain.model_copy(
        update={"messages": with_form(rendered, '{"scores": [...]}').messages, "output_schema": {"type": "object"}}
    )
    assert request_hash(plain) == request_hash(held)
    lines = respond(plain, {}).text.splitlines()
    rows = orjson.loads(respond(held, {}).text)["scores"]
    assert [f"{row['n']} | score: [{row['score'] if row['stated'] else 'not stated'}]" for row in rows] == lines
    assert all(row["score"] == 1 for row in rows if not row["stated"])
    published = plain.model_copy(update={"messages": render("checkpoints_published", inputs).messages})
    held = published.model_copy(
        update={"messages": with_form(render("checkpoints_published", inputs), "{}").messages, "output_schema": {}}
    )
    rows = orjson.loads(respond(held, {}).text)["scores"]
    assert [f"{row['n']} | score: [{row['score']}]" for row in rows] == respond(published, {}).text.splitlines()


async def test_schema_and_tools_on_the_wire() -> None:
    """The server reads `response_format` and `tools` and sends tool calls in OpenAI's form."""
    schema_call = probe("Give back 512.", output_schema=SCHEMA)
    tool_call = probe("Keep 77.", tools=(TOOL,))
    body = {"model": "openai/sim/weak", "messages": chat_messages(schema_call.messages, {})}
    function = {"type": "function", "function": TOOL.model_dump(mode="json")}
    with running_server() as url:
        async with aiohttp.ClientSession() as session:
            held = {**body, "response_format": response_format(SCHEMA)}
            async with session.post(f"{url}/chat/completions", json=held) as response:
                said = (await response.json())["choices"][0]["message"]["content"]
            asked = {**body, "messages": chat_messages(tool_call.messages, {}), "tools": [function]}
            async with session.post(f"{url}/chat/completions", json=asked) as response:
                choice = (await response.json())["choices"][0]
    assert said == respond(schema_call, {}).text
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    written = choice["message"]["tool_calls"][0]
    assert (written["type"], written["function"]) == ("function", {"name": "keep", "arguments": '{"number":77}'})


def test_tool_messages_survive_the_wire() -> None:
    """What the assistant asked for and what came of it are read back as they were written."""
    messages = (
        Message(role="user", parts=(TextPart(text="Keep 1."),)),
        Message(role="assistant", parts=(), tool_calls=(ToolCall(id="a", name="keep", arguments='{"number":1}'),)),
        Message(role="tool", parts=(TextPart(text="kept"),), tool_call_id="a"),
    )
    body = {"model": "sim/weak", "messages": chat_messages(messages, {})}
    assert body["messages"][1]["content"] is None
    call, _ = read_request(orjson.dumps(body))
    assert [(one.role, one.text, one.tool_calls, one.tool_call_id) for one in call.messages] == [
        (one.role, one.text, one.tool_calls, one.tool_call_id) for one in messages
    ]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"response_format": {"type": "json_schema"}}, "response_format"),
        ({"tools": "keep"}, "tools: a list"),
        ({"tools": [{"type": "function"}]}, r"tools\[0\]\.function"),
        ({"tools": [{"function": {"name": "no spaces"}}]}, "name"),
        ({"messages": [{"role": "tool", "content": "x", "tool_call_id": 3}]}, "tool_call_id"),
        ({"messages": [{"role": "user", "content": "x", "tool_call_id": "a"}]}, "tool_call_id"),
        ({"messages": [{"role": "assistant", "tool_calls": 3}]}, "a list"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "id and function"),
        ({"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]}, "id"),
    ],
)
def test_a_wrong_schema_or_tool_is_refused(fields: dict[str, object], complaint: str) -> None:
    """The error says which field is wrong."""
    body = {"model": "sim/weak", "messages": [{"role": "user", "content": "x"}], **fields}
    with pytest.raises(TransportError, match=complaint):
        read_request(orjson.dumps(body))
