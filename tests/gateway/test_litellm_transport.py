"""The whole path to a loopback server through the real LiteLLM, with every fault that a provider has shown."""

import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from dokimasia.domain.call import ChatReply, Embedding, EmbeddingReply, ImageEdit, Sampling, ToolCall, Usage
from dokimasia.errors import CallFailed, StorageError, TransportError
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.litellm.transport import LiteLLMTransport
from dokimasia.gateway.retry import RetryPolicy

PROVIDERS = ("openai", "hosted_vllm")


@pytest.fixture
async def lite() -> AsyncIterator[LiteLLMTransport]:
    """A transport that is closed after the test."""
    transport = LiteLLMTransport()
    yield transport
    await transport.aclose()


@pytest.fixture(params=PROVIDERS)
def send(request: Any, lite: LiteLLMTransport, server: Any, blobs: Any, key: str, acts: Any) -> Any:
    """Sends a call to the loopback server under two providers, which take different ways through LiteLLM."""

    async def send(call: Any = None, **fields: Any) -> Any:
        model = f"{request.param}/m"
        spec = acts.spec(**({"model": model, "api_base": server.url, "timeout": 5.0} | fields))
        call = (call or acts.call()).model_copy(update={"model": spec.ref})
        return await lite.send(call, spec, api_key=key, blobs=blobs)

    return send


@pytest.fixture
def gateway(lite: LiteLLMTransport, server: Any, blobs: Any, ledger: Any, key: str, acts: Any, fake_time: Any) -> Any:
    """A gateway over LiteLLM over the loopback server, whose waits take no time."""
    spec = acts.spec(api_base=server.url, transport="litellm", timeout=0.5)
    return ModelGateway(
        ledger=ledger,
        blobs=blobs,
        transports={"litellm": lite},
        specs={"m": spec},
        api_keys={"m": key},
        sleep=fake_time.sleep,
        clock=fake_time.clock,
    )


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


async def test_image_is_encoded_once(send: Any, blobs: Any, acts: Any) -> None:
    """The same image in many calls is read and encoded once; a missing one is a storage error before anything leaves."""
    image = blobs.add(b"picture")
    for text in "abc":
        await send(acts.call(text, images=(image, image)))
    assert blobs.reads == 1
    missing = image.model_copy(update={"sha256": "0" * 64})
    with pytest.raises(StorageError, match="no blob"):
        await send(acts.call(images=(missing,)))


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
        (body("half \ud83d pair"), ChatReply(text="half \ufffd pair", finish_reason="stop", usage=usage)),
    ]
    server.acts = [act for act, _ in cases]
    for _, expected in cases:
        assert await send() == expected


HTML = b"<html><body>Please log in</body></html>"

FAULTS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], tuple[str, bool, int | None, float | None]]] = {
    "429": ("failure", (429,), {}, ("rate_limit", True, 429, None)),
    "429 and when": ("failure", (429,), {"headers": {"Retry-After": "7"}}, ("rate_limit", True, 429, 7.0)),
    "429 for quota": ("failure", (429,), {"code": "insufficient_quota"}, ("rate_limit", False, 429, None)),
    "500": ("failure", (500,), {}, ("server_error", True, 500, None)),
    "500 that speaks of limits": ("failure", (500, "rate limit backend down"), {}, ("server_error", True, 500, None)),
    "502 HTML": ("raw", (HTML,), {"status": 502, "content_type": "text/html"}, ("server_error", True, 502, None)),
    "503 and when": ("failure", (503,), {"headers": {"Retry-After": "3"}}, ("server_error", True, 503, 3.0)),
    "504": ("raw", (b"",), {"status": 504}, ("server_error", True, 504, None)),
    "529": ("failure", (529, "Overloaded"), {}, ("server_error", True, 529, None)),
    "408": ("failure", (408,), {}, ("timeout", True, 408, None)),
    "409": ("failure", (409,), {}, ("server_error", True, 409, None)),
    "reset": ("reset", (), {}, ("connection", True, None, None)),
    "cut connection": ("cut", (), {}, ("connection", True, None, None)),
    "slow": ("slow", (), {}, ("timeout", True, None, None)),
    "cut JSON": ("raw", (b'{"id": "x", "choices": [{"ind',), {}, ("broken_envelope", True, 200, None)),
    "empty body": ("raw", (b"",), {}, ("empty_body", True, 200, None)),
    "HTML as JSON": ("raw", (HTML,), {}, ("not_json", True, 200, None)),
    "HTML": ("raw", (HTML,), {"content_type": "text/html"}, ("not_json", True, 200, None)),
    "no choices": ("raw", (b'{"id": "x", "choices": []}',), {}, ("empty_choices", True, None, None)),
    "null choices": ("raw", (b'{"id": "x", "choices": null}',), {}, ("empty_choices", True, None, None)),
    "no message": ("raw", (b'{"choices": [{"index": 0}]}',), {}, ("broken_envelope", True, 200, None)),
    "error inside 200": (
        "raw",
        (b'{"error": {"message": "upstream", "code": 502}}',),
        {},
        ("server_error", True, None, None),
    ),
    "limit inside 200": (
        "raw",
        (b'{"error": {"message": "slow", "code": 429}}',),
        {},
        ("rate_limit", True, None, None),
    ),
    "400": ("failure", (400, "temperature out of range"), {}, ("bad_request", False, 400, None)),
    "400 that quotes the prompt": ("failure", (400, "bad: rate limit 429"), {}, ("bad_request", False, 400, None)),
    "401": ("failure", (401,), {}, ("auth", False, 401, None)),
    "402": ("failure", (402,), {}, ("auth", False, 402, None)),
    "403": ("failure", (403,), {}, ("auth", False, 403, None)),
    "404": ("failure", (404, "no such model"), {}, ("not_found", False, 404, None)),
    "413": ("failure", (413, "too large"), {}, ("bad_request", False, 413, None)),
    "422": ("failure", (422, "no"), {}, ("bad_request", False, 422, None)),
    "too long": (
        "failure",
        (400, "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens"),
        {"code": "context_length_exceeded"},
        ("context_overflow", False, 400, None),
    ),
}


@pytest.mark.parametrize("name", list(FAULTS))
async def test_fault_is_told_for_what_it_is(send: Any, server: Any, acts: Any, name: str) -> None:
    """Each planted fault comes out with its kind, whether a retry can help, its true status and the wait asked for."""
    builder, arguments, fields, expected = FAULTS[name]
    act = getattr(acts, builder)
    server.acts = [act(*arguments, **fields) if builder in ("failure", "raw") else act]
    with pytest.raises(TransportError) as caught:
        await send(timeout=0.3 if name == "slow" else 5.0)
    error = caught.value
    assert (error.kind, error.retryable, error.status, error.retry_after) == expected
    assert len(server.bodies) == 1
    assert 0 < len(str(error)) <= 300
    assert "Traceback" not in str(error)


async def test_nobody_there_is_a_connection_failure(send: Any) -> None:
    """A port on which nobody listens is a connection failure that a retry may get over."""
    with pytest.raises(TransportError) as caught:
        await send(api_base="http://127.0.0.1:9/v1")
    assert (caught.value.kind, caught.value.retryable) == ("connection", True)


async def test_key_of_the_environment_is_not_sent_to_a_server_of_ones_own(
    lite: LiteLLMTransport, server: Any, blobs: Any, acts: Any, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model with its own address and no configured key is called without the provider's key of the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    spec = acts.spec(api_base=server.url)
    await lite.send(acts.call(), spec, api_key=None, blobs=blobs)
    assert key not in json.dumps(server.headers)


@pytest.mark.parametrize("status", [400, 401, 403, 500])
async def test_echoed_key_is_in_no_error(send: Any, server: Any, acts: Any, key: str, status: int) -> None:
    """A key that the endpoint quotes, whole or masked, is neither in the message nor in a chained error."""
    server.acts = [acts.failure(status, f"Incorrect API key provided: {key} (sk-ab***wxyz). Bearer {key}")]
    with pytest.raises(TransportError) as caught:
        await send()
    error = caught.value
    assert key not in str(error)
    assert "wxyz" not in str(error)
    assert (error.__cause__, error.__context__) == (None, None)


async def test_every_transport_fault_recovers(gateway: Any, server: Any, ledger: Any, acts: Any) -> None:
    """Faults one after the other end in the reply; each is an attempt of its kind, and one request more."""
    server.acts = [
        acts.failure(429, headers={"Retry-After": "2"}),
        acts.raw(b'{"id": "x", "choi'),
        acts.raw(HTML),
        acts.reset,
        acts.failure(529),
    ]
    answer = await gateway.ask(acts.call())
    assert answer.reply.text == "hello"
    assert ledger.kinds == ["rate_limit", "broken_envelope", "not_json", "connection", "server_error"]
    server.acts = [acts.raw(b""), acts.completion(choices=None) | {"choices": []}, acts.slow]
    assert (await gateway.ask(acts.call("another"))).reply.text == "hello"
    assert ledger.kinds[5:] == ["empty_body", "empty_choices", "timeout"]
    assert len(server.bodies) == 10
    assert (await gateway.ask(acts.call())).cached
    assert len(server.bodies) == 10


async def test_ten_megabytes_are_an_ordinary_reply(gateway: Any, server: Any, ledger: Any, acts: Any, key: str) -> None:
    """A reply of ten megabytes that echoes the key is kept whole but for the key."""
    server.acts = [acts.completion("x" * 10_000_000 + key)]
    answer = await gateway.ask(acts.call())
    assert len(answer.reply.text) == 10_000_000 + len("[key]")
    assert key not in ledger.everything()


async def test_key_of_a_401_is_nowhere(gateway: Any, server: Any, ledger: Any, acts: Any, key: str) -> None:
    """A 401 that echoes the key fails the call at once, and neither the ledger nor the error has the key."""
    server.acts = [acts.failure(401, f"Incorrect API key provided: {key}")]
    with pytest.raises(CallFailed) as caught:
        await gateway.ask(acts.call())
    assert caught.value.kind == "api_error"
    assert ledger.kinds == ["auth"]
    assert key not in ledger.everything() + repr(caught.value) + caught.value.reason


async def test_context_overflow_is_a_kind_of_its_own(gateway: Any, server: Any, acts: Any) -> None:
    """A prompt that is too long fails at the first try as `context_overflow`."""
    server.acts = [acts.failure(400, "maximum context length is 5 tokens", code="context_length_exceeded")]
    with pytest.raises(CallFailed) as caught:
        await gateway.ask(acts.call())
    assert (caught.value.kind, len(server.bodies)) == ("context_overflow", 1)


async def test_exhausted_tries_name_the_last_fault(gateway: Any, server: Any, acts: Any) -> None:
    """An endpoint that always shows a login page fails as `api_error` after the bounded tries."""
    server.acts = [acts.raw(HTML) for _ in range(RetryPolicy().max_tries)]
    with pytest.raises(CallFailed, match=r"not_json \(status 200\) after 6 tries.*Please log in"):
        await gateway.ask(acts.call())


async def test_embeddings_come_in_the_order_of_the_texts(send: Any, server: Any, acts: Any) -> None:
    """Vectors are put in order by their index; missing ones are a broken envelope; usage needs no output tokens."""
    vectors = [{"object": "embedding", "index": 1, "embedding": [3.0, 4.0]}, {"index": 0, "embedding": [1.0, 2.0]}]
    body = {"object": "list", "model": "m", "data": vectors, "usage": {"prompt_tokens": 4, "total_tokens": 4}}
    call = Embedding(model=acts.spec().ref, texts=("a", "b"))
    server.acts = [body, body | {"data": []}]
    usage = Usage(input_tokens=4, output_tokens=0)
    assert await send(call) == EmbeddingReply(vectors=((1.0, 2.0), (3.0, 4.0)), usage=usage)
    assert server.bodies[0]["input"] == ["a", "b"]
    with pytest.raises(TransportError) as caught:
        await send(call)
    assert caught.value.kind == "broken_envelope"


async def test_image_edits_are_refused_clearly(lite: LiteLLMTransport, blobs: Any, acts: Any) -> None:
    """An image edit says that this transport does none, and a retry cannot help."""
    call = ImageEdit(model=acts.spec().ref, image=blobs.add(b"x"), instruction="redder")
    with pytest.raises(TransportError, match="cannot be edited") as caught:
        await lite.send(call, acts.spec(), api_key=None, blobs=blobs)
    assert (caught.value.kind, caught.value.retryable) == ("unsupported", False)


SCRIPT = """
import asyncio, json, sys
from dokimasia.domain.call import Chat, Message, ModelRef, ModelSpec
from dokimasia.domain.sample import TextPart
from dokimasia.gateway.litellm.transport import LiteLLMTransport
from dokimasia.gateway.pricing import known_price

ref = ModelRef(name="m", model="openai/gpt-4o")
price = known_price(ModelSpec(ref=ref))
early = "litellm" in sys.modules

async def main():
    transport = LiteLLMTransport()
    call = Chat(model=ref, messages=(Message(role="user", parts=(TextPart(text="hi"),)),))
    spec = ModelSpec(ref=ref, api_base=sys.argv[1])
    reply = await transport.send(call, spec, api_key="sk-subprocess-key-1", blobs=None)
    await transport.aclose()
    for _ in range(20):
        await asyncio.sleep(0)
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    return reply.text, len(tasks)

text, tasks = asyncio.run(main())
print(json.dumps([early, price.known, text, tasks]))
"""


async def test_process_is_quiet_and_loads_litellm_late(server: Any) -> None:
    """A process that sends a call prints nothing of its own, leaves no task or session open, and loads LiteLLM only then."""
    server.acts = [_odd_completion()]
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-W", "default", "-c", SCRIPT, server.url],
        capture_output=True,
        text=True,
        timeout=120,
    )
    ours = [line for line in done.stderr.splitlines() if "DeprecationWarning" not in line and not line.startswith("  ")]
    assert json.loads(done.stdout) == [False, True, "hello", 0]
    assert ours == []


def _odd_completion() -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "banana"}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


@pytest.mark.parametrize("provider", ["anthropic", "openrouter"])
@pytest.mark.parametrize(
    "name", ["429 and when", "529", "reset", "slow", "cut JSON", "empty body", "HTML", "too long", "401"]
)
async def test_other_providers_faults_are_told_alike(
    lite: LiteLLMTransport, server: Any, blobs: Any, acts: Any, key: str, provider: str, name: str
) -> None:
    """Providers with clients of their own inside LiteLLM come out with the same kinds."""
    builder, arguments, fields, (kind, retryable, status, wait) = FAULTS[name]
    act = getattr(acts, builder)
    server.acts = [act(*arguments, **fields) if builder in ("failure", "raw") else act]
    base = server.url.removesuffix("/v1") if provider == "anthropic" else server.url
    spec = acts.spec(model=f"{provider}/m", api_base=base, timeout=0.3 if name == "slow" else 5.0)
    with pytest.raises(TransportError) as caught:
        await lite.send(acts.call().model_copy(update={"model": spec.ref}), spec, api_key=key, blobs=blobs)
    error = caught.value
    assert (error.kind, error.retryable, error.status, error.retry_after) == (kind, retryable, status, wait)
    assert key not in str(error)
