"""One suite for every transport over HTTP, on bad days: the same failure by the same name, and never a key in it."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from dokimasia.domain.call import Embedding
from dokimasia.errors import CallFailed, TransportError
from dokimasia.gateway.direct.transport import DirectTransport
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.litellm.transport import LiteLLMTransport
from dokimasia.gateway.retry import RetryPolicy


@pytest.fixture(params=[DirectTransport, LiteLLMTransport], ids=["direct", "litellm"])
async def gateway(
    request: Any, server: Any, blobs: Any, ledger: Any, key: str, acts: Any, fake_time: Any
) -> AsyncIterator[ModelGateway]:
    """A gateway over each transport over the loopback server, whose waits take no time."""
    made = ModelGateway(
        ledger=ledger,
        blobs=blobs,
        transports={"http": request.param()},
        specs={
            name: acts.spec(name, api_base=server.url, transport="http", timeout=seconds)
            for name, seconds in (("m", 60.0), ("hasty", 1.0))
        },
        api_keys={"m": key, "hasty": key},
        sleep=fake_time.sleep,
        clock=fake_time.clock,
    )
    yield made
    await made.aclose()


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
    "no choices": ("raw", (b'{"id": "x", "choices": []}',), {}, ("empty_choices", True, 200, None)),
    "null choices": ("raw", (b'{"id": "x", "choices": null}',), {}, ("empty_choices", True, 200, None)),
    "choices left out": ("raw", (b'{"id": "x"}',), {}, ("empty_choices", True, 200, None)),
    "choices of another form": ("raw", (b'{"choices": {"a": 1}}',), {}, ("broken_envelope", True, 200, None)),
    "a list": ("raw", (b'[{"choices": []}]',), {}, ("broken_envelope", True, 200, None)),
    "content of another form": (
        "raw",
        (b'{"choices": [{"message": {"role": "assistant", "content": 5}}]}',),
        {},
        ("broken_envelope", True, 200, None),
    ),
    "no message": ("raw", (b'{"choices": [{"index": 0}]}',), {}, ("broken_envelope", True, 200, None)),
    "error inside 200": (
        "raw",
        (b'{"error": {"message": "upstream", "code": 502}}',),
        {},
        ("server_error", True, 200, None),
    ),
    "limit inside 200": (
        "raw",
        (b'{"error": {"message": "slow", "code": 429}}',),
        {},
        ("rate_limit", True, 200, None),
    ),
    "overflow inside 200": (
        "raw",
        (b'{"error": {"message": "no", "code": "context_length_exceeded"}}',),
        {},
        ("context_overflow", False, 200, None),
    ),
    "text inside 200": ("raw", (b'{"error": "boom"}',), {}, ("server_error", True, 200, None)),
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
    "too long for vLLM": (
        "raw",
        (b'{"object": "error", "message": "The decoder prompt is longer than the maximum model length", "code": 400}',),
        {"status": 400},
        ("context_overflow", False, 400, None),
    ),
    "too long for SGLang": (
        "failure",
        (400, "The input (9000 tokens) is longer than the model's context length (4096 tokens)."),
        {},
        ("context_overflow", False, 400, None),
    ),
    "too long for llama.cpp": (
        "failure",
        (400, "the request exceeds the available context size, try increasing it"),
        {"code": 400},
        ("context_overflow", False, 400, None),
    ),
    "too long with 500": (
        "failure",
        (500, "the request exceeds the available context size"),
        {},
        ("context_overflow", False, 500, None),
    ),
    "418": ("failure", (418,), {}, ("bad_request", False, 418, None)),
    "429 and a date gone by": (
        "failure",
        (429,),
        {"headers": {"Retry-After": "Wed, 31 Dec 2025 12:00:30 GMT"}},
        ("rate_limit", True, 429, 0.0),
    ),
}


@pytest.mark.parametrize("name", list(FAULTS))
async def test_fault_is_told_for_what_it_is(send: Any, server: Any, acts: Any, name: str) -> None:
    """Each planted fault comes out with its kind, whether a retry can help, its true status and the wait asked for."""
    builder, arguments, fields, expected = FAULTS[name]
    act = getattr(acts, builder)
    server.acts = [act(*arguments, **fields) if builder in ("failure", "raw") else act]
    with pytest.raises(TransportError) as caught:
        await send(timeout=1.0 if name == "slow" else 60.0)
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


async def test_embeddings_fail_like_chats(send: Any, server: Any, acts: Any) -> None:
    """A limit and a cut body are told for what they are when vectors are asked for too, and each is one request."""
    call = Embedding(model=acts.spec().ref, texts=("a",))
    server.acts = [acts.failure(429, headers={"Retry-After": "7"}), acts.raw(b'{"data": [{"emb')]
    with pytest.raises(TransportError) as caught:
        await send(call)
    assert (caught.value.kind, caught.value.retry_after) == ("rate_limit", 7.0)
    with pytest.raises(TransportError) as caught:
        await send(call)
    assert caught.value.kind == "broken_envelope"
    assert len(server.bodies) == 2


async def test_key_of_the_environment_is_not_sent_to_a_server_of_ones_own(
    send: Any, server: Any, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model with its own address and no configured key is called without the provider's key of the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    await send(api_key=None)
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
    assert (await gateway.ask(acts.call("another", name="hasty"))).reply.text == "hello"
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


@pytest.mark.parametrize("provider", ["anthropic", "openrouter"])
@pytest.mark.parametrize(
    "name", ["429 and when", "529", "reset", "slow", "cut JSON", "empty body", "HTML", "too long", "401"]
)
async def test_other_providers_faults_are_told_alike(
    server: Any, blobs: Any, acts: Any, key: str, provider: str, name: str
) -> None:
    """Providers with clients of their own inside LiteLLM come out with the same kinds."""
    lite = LiteLLMTransport()
    builder, arguments, fields, (kind, retryable, status, wait) = FAULTS[name]
    act = getattr(acts, builder)
    server.acts = [act(*arguments, **fields) if builder in ("failure", "raw") else act]
    base = server.url.removesuffix("/v1") if provider == "anthropic" else server.url
    spec = acts.spec(model=f"{provider}/m", api_base=base, timeout=1.0 if name == "slow" else 60.0)
    with pytest.raises(TransportError) as caught:
        await lite.send(acts.call().model_copy(update={"model": spec.ref}), spec, api_key=key, blobs=blobs)
    await lite.aclose()
    error = caught.value
    assert (error.kind, error.retryable, error.status, error.retry_after) == (kind, retryable, status, wait)
    assert key not in str(error)
