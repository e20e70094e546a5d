"""One suite for every transport over HTTP, on good days: the same request leaves and the same reply comes back."""

import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from dokimasia.domain.call import (
    ChatReply,
    Embedding,
    EmbeddingReply,
    Message,
    Sampling,
    ToolCall,
    ToolSpec,
    Usage,
)
from dokimasia.domain.sample import TextPart
from dokimasia.errors import StorageError, TransportError
from tests.processes import PATIENCE


async def test_request_carries_what_the_call_says(send: Any, server: Any, blobs: Any, acts: Any, key: str) -> None:
    """Messages, the image's bytes unchanged, sampling, seed and key arrive at the endpoint; no schema unasked."""
    image = blobs.add(b"\x89PNG not really")
    sampling = Sampling(temperature=0.5, top_p=0.9, max_tokens=77, extra={"presence_penalty": 0.25})
    reply = await send(
        acts.call("What?", images=(image,), sampling=sampling, repeat=3, output_schema={"type": "object"})
    )
    assert reply == ChatReply(text="hello", finish_reason="stop", usage=Usage(input_tokens=10, output_tokens=3))
    (body,) = server.bodies
    (message,) = body["messages"]
    picture, text = message["content"]
    assert base64.b64decode(picture["image_url"]["url"].removeprefix("data:image/png;base64,")) == b"\x89PNG not really"
    assert text == {"type": "text", "text": "What?"}
    figures = [body[name] for name in ("temperature", "top_p", "max_tokens", "seed", "presence_penalty", "model")]
    assert figures == [0.5, 0.9, 77, 3, 0.25, "m"]
    assert "response_format" not in body
    assert server.headers[0]["Authorization"] == f"Bearer {key}"


@pytest.mark.parametrize(("closed", "strict"), [(True, True), (False, False)])
async def test_schema_is_sent_where_the_endpoint_takes_one(
    send: Any, server: Any, acts: Any, closed: bool, strict: bool
) -> None:
    """With the capability the schema goes along, strict only if it is closed as strict mode demands."""
    schema = {"title": "My Reply!", "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    schema |= {"additionalProperties": False} if closed else {}
    await send(acts.call(output_schema=schema), capabilities=("json_schema",))
    sent = server.bodies[0]["response_format"]["json_schema"]
    assert (sent["name"], sent["schema"]["required"], sent["strict"]) == ("My_Reply_", ["a"], strict)


async def test_messages_of_every_shape_arrive_alike(send: Any, server: Any, blobs: Any, acts: Any) -> None:
    """System messages, several images between texts and every script of the world arrive as they were written."""
    first, second = blobs.add(b"one"), blobs.add(b"two")
    text = 'Ünï 漢字 🎈 \u2028 "quoted" \\ \x7f'
    messages = (
        Message(role="system", parts=(TextPart(text="Be "), TextPart(text="brief."))),
        Message(role="user", parts=(first, TextPart(text=text), second, TextPart(text="?"))),
        Message(role="assistant", parts=(TextPart(text=""),)),
        Message(role="user", parts=(TextPart(text="And?"),)),
    )
    server.acts = [acts.completion(text)]
    reply = await send(acts.call().model_copy(update={"messages": messages}))
    assert reply.text == text
    urls = [f"data:image/png;base64,{base64.b64encode(data).decode()}" for data in (b"one", b"two")]
    assert server.bodies[0]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": urls[0]}},
                {"type": "text", "text": text},
                {"type": "image_url", "image_url": {"url": urls[1]}},
                {"type": "text", "text": "?"},
            ],
        },
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "And?"},
    ]


async def test_tools_are_offered_and_their_results_told(send: Any, server: Any, acts: Any) -> None:
    """Tools go along as functions; the assistant's request for one and its result are messages that belong together."""
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "integer"}}}
    crop = ToolSpec(name="crop", description="Cut out a part.", parameters=schema)
    asked = ToolCall(id="t1", name="crop", arguments='{"x": 1}')
    messages = (
        Message(role="user", parts=(TextPart(text="Look."),)),
        Message(role="assistant", parts=(), tool_calls=(asked,)),
        Message(role="tool", parts=(TextPart(text="done"),), tool_call_id="t1"),
    )
    await send(acts.call(tools=(crop,)).model_copy(update={"messages": messages}))
    (body,) = server.bodies
    function = {"name": "crop", "description": "Cut out a part.", "parameters": schema}
    assert body["tools"] == [{"type": "function", "function": function}]
    request = body["messages"][1]
    assert (request["role"], request.get("content")) == ("assistant", None)
    assert request["tool_calls"] == [
        {"id": "t1", "type": "function", "function": {"name": "crop", "arguments": '{"x": 1}'}}
    ]
    assert body["messages"][2] == {"role": "tool", "content": "done", "tool_call_id": "t1"}


async def test_image_is_encoded_once(send: Any, blobs: Any, acts: Any) -> None:
    """The same image in many calls is read once, at once or in turn; a missing one is an error before anything leaves."""
    image = blobs.add(b"picture")
    await asyncio.gather(*(send(acts.call(text, images=(image, image))) for text in "abc"))
    await send(acts.call("d", images=(image,)))
    assert blobs.reads == 1
    missing = image.model_copy(update={"sha256": "0" * 64})
    with pytest.raises(StorageError, match="no blob"):
        await send(acts.call(images=(missing,)))


@pytest.mark.filterwarnings("ignore:Sending a large body directly:ResourceWarning")  # LiteLLM does
async def test_large_image_arrives_whole(send: Any, server: Any, blobs: Any, acts: Any) -> None:
    """An image of several megabytes is an ordinary one."""
    data = bytes(range(256)) * 16_384
    await send(acts.call(images=(blobs.add(data),)))
    url = server.bodies[0]["messages"][0]["content"][0]["image_url"]["url"]
    assert base64.b64decode(url.partition(",")[2]) == data


async def test_what_the_call_says_wins_over_extra(send: Any, server: Any, acts: Any) -> None:
    """Extra parameters go along, also those under `extra_body`; they change neither model, messages, seed nor streaming."""
    extra = {"top_k": 4, "extra_body": {"min_p": 0.5}, "seed": 9, "model": "other", "stream": True, "api_base": "x"}
    await send(acts.call(sampling=Sampling(extra=extra), repeat=2))
    (body,) = server.bodies
    assert (body["top_k"], body["min_p"], body["seed"], body["model"]) == (4, 0.5, 2, "m")
    assert not body.get("stream")
    assert {"api_base", "extra_body", "temperature", "max_tokens"}.isdisjoint(body)


async def test_replies_of_every_kind(send: Any, server: Any, acts: Any) -> None:
    """Refusals, cut replies, tool calls, missing usage and odd finish reasons are replies, told apart."""
    body = acts.completion
    tool = {"id": "t1", "type": "function", "function": {"name": "crop", "arguments": '{"a": 1'}}
    usage = Usage(input_tokens=10, output_tokens=3)
    cases: list[tuple[dict[str, Any], ChatReply]] = [
        (body("cut he", finish_reason="length"), ChatReply(text="cut he", finish_reason="length", usage=usage)),
        (
            body(message={"role": "assistant", "content": None, "refusal": "I cannot"}),
            ChatReply(text="", finish_reason="stop", refusal="I cannot", usage=usage),
        ),
        (body("", finish_reason="content_filter"), ChatReply(text="", finish_reason="content_filter", usage=usage)),
        (
            body("x", usage={"prompt_tokens": 10}),
            ChatReply(text="x", finish_reason="stop", usage=Usage(input_tokens=10)),
        ),
        (
            body("x", usage={"prompt_tokens": 10, "completion_tokens": -3}),
            ChatReply(text="x", finish_reason="stop", usage=Usage(input_tokens=10)),
        ),
        (body("x", usage={}), ChatReply(text="x", finish_reason="stop")),
        (body("x", usage=None), ChatReply(text="x", finish_reason="stop")),
        (
            body("x", usage={"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
            ChatReply(text="x", finish_reason="stop"),
        ),
        (
            body("x", finish_reason="banana"),
            ChatReply(text="x", finish_reason="unknown", native_finish_reason="banana", usage=usage),
        ),
        (
            body("x", finish_reason="MAX_TOKENS"),
            ChatReply(text="x", finish_reason="length", native_finish_reason="MAX_TOKENS", usage=usage),
        ),
        (
            body("x", finish_reason="end_turn"),
            ChatReply(text="x", finish_reason="stop", native_finish_reason="end_turn", usage=usage),
        ),
        (
            body(message={"role": "assistant", "content": None, "tool_calls": [tool]}, finish_reason="tool_calls"),
            ChatReply(
                text="",
                finish_reason="tool_calls",
                tool_calls=(ToolCall(id="t1", name="crop", arguments='{"a": 1'),),
                usage=usage,
            ),
        ),
        (
            body(
                message={
                    "role": "assistant",
                    "content": "both",
                    "tool_calls": [
                        tool,
                        {"id": "t2", "type": "function", "function": {"name": "zoom", "arguments": {}}},
                    ],
                },
                finish_reason="function_call",
            ),
            ChatReply(
                text="both",
                finish_reason="tool_calls",
                tool_calls=(
                    ToolCall(id="t1", name="crop", arguments='{"a": 1'),
                    ToolCall(id="t2", name="zoom", arguments="{}"),
                ),
                usage=usage,
            ),
        ),
        (body(message={"role": "assistant"}), ChatReply(text="", finish_reason="stop", usage=usage)),
        (body("x") | {"error": None}, ChatReply(text="x", finish_reason="stop", usage=usage)),
        (body("half \ud83d pair"), ChatReply(text="half \ufffd pair", finish_reason="stop", usage=usage)),
    ]
    server.acts = [act for act, _ in cases]
    for _, expected in cases:
        assert await send() == expected


def _without_finish(acts: Any) -> Any:
    body = acts.completion("x", usage=None)
    del body["choices"][0]["finish_reason"]
    return body


def _in_parts(acts: Any) -> Any:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    return acts.completion(parts, usage=None)


ODD: dict[str, tuple[Callable[[Any], Any], ChatReply]] = {
    "no finish reason": (_without_finish, ChatReply(text="x")),
    "null finish reason": (lambda acts: acts.completion("x", usage=None, finish_reason=None), ChatReply(text="x")),
    "content in parts": (_in_parts, ChatReply(text="ab", finish_reason="stop")),
    "usage in words": (
        lambda acts: acts.completion("x", usage={"prompt_tokens": "ten", "completion_tokens": 3.5}),
        ChatReply(text="x", finish_reason="stop"),
    ),
    "usage as a list": (lambda acts: acts.completion("x", usage=[1, 2]), ChatReply(text="x", finish_reason="stop")),
    "not UTF-8": (
        lambda acts: acts.raw(json.dumps(acts.completion("a?c", usage=None)).encode().replace(b"?", b"\xff")),
        ChatReply(text="a\ufffdc", finish_reason="stop"),
    ),
    "a thought before the answer": (
        lambda acts: acts.completion("<think>hm</think>x", usage=None),
        ChatReply(text="<think>hm</think>x", finish_reason="stop"),
    ),
}


@pytest.mark.parametrize("name", list(ODD))
async def test_odd_replies_are_read_for_what_they_say(send: Any, server: Any, acts: Any, name: str) -> None:
    """Every transport reads what an endpoint of the OpenAI format wrote, where LiteLLM's own account of it hides that."""
    build, expected = ODD[name]
    server.acts = [build(acts)]
    assert await send() == expected


async def test_embeddings_come_in_the_order_of_the_texts(send: Any, server: Any, acts: Any) -> None:
    """Vectors are put in order by their index; missing ones are a broken envelope; usage needs no output tokens."""
    vectors = [{"object": "embedding", "index": 1, "embedding": [3.0, 4.0]}, {"index": 0, "embedding": [1.0, 2.0]}]
    body = {"object": "list", "model": "m", "data": vectors, "usage": {"prompt_tokens": 4, "total_tokens": 4}}
    call = Embedding(model=acts.spec().ref, texts=("a", "b"))
    unnumbered = {"data": [{"embedding": [1, 2]}, {"embedding": [3, 4]}]}
    server.acts = [body, unnumbered, body | {"data": []}, body | {"data": [vectors[0]]}]
    usage = Usage(input_tokens=4, output_tokens=0)
    assert await send(call) == EmbeddingReply(vectors=((1.0, 2.0), (3.0, 4.0)), usage=usage)
    assert await send(call) == EmbeddingReply(vectors=((1.0, 2.0), (3.0, 4.0)))
    assert server.bodies[0] == {"model": "m", "input": ["a", "b"], "encoding_format": "float"}
    for _ in range(2):
        with pytest.raises(TransportError) as caught:
            await send(call)
        assert caught.value.kind == "broken_envelope"


SCRIPT = """
import asyncio, json, sys
from dokimasia.domain.call import Chat, Message, ModelRef, ModelSpec
from dokimasia.domain.sample import TextPart
from dokimasia.gateway.direct.transport import DirectTransport
from dokimasia.gateway.litellm.transport import LiteLLMTransport
from dokimasia.gateway.pricing import known_price

ref = ModelRef(name="m", model="openai/gpt-4o")
price = known_price(ModelSpec(ref=ref))
early = "litellm" in sys.modules

async def main():
    transport = {"direct": DirectTransport, "litellm": LiteLLMTransport}[sys.argv[2]]()
    call = Chat(model=ref, messages=(Message(role="user", parts=(TextPart(text="hi"),)),))
    spec = ModelSpec(ref=ref, api_base=sys.argv[1])
    reply = await transport.send(call, spec, api_key="sk-subprocess-key-1", blobs=None)
    await transport.aclose()
    for _ in range(20):
        await asyncio.sleep(0)
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    return reply.text, len(tasks)

text, tasks = asyncio.run(main())
print(json.dumps([early, price.known, text, tasks, "litellm" in sys.modules]))
"""


@pytest.mark.parametrize("name", ["direct", "litellm"])
async def test_process_is_quiet_and_loads_litellm_late(server: Any, acts: Any, name: str) -> None:
    """A process that sends a call prints nothing of its own, leaves no task or session open, and loads LiteLLM only
    then, and only if it goes that way."""
    server.acts = [acts.completion("hello", finish_reason="banana", usage=None)]
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-W", "default", "-c", SCRIPT, server.url, name],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    ours = [line for line in done.stderr.splitlines() if "DeprecationWarning" not in line and not line.startswith("  ")]
    assert json.loads(done.stdout) == [False, True, "hello", 0, name == "litellm"]
    assert ours == []


async def test_the_version_is_what_the_endpoint_says(send: Any, server: Any, acts: Any) -> None:
    """What an endpoint calls the model is kept where it says more than the name that was asked for."""
    server.acts = [acts.completion("x") | {"model": "m-2026-05-01"}, acts.completion("x")]
    assert (await send()).version == "m-2026-05-01"
    assert (await send()).version is None
