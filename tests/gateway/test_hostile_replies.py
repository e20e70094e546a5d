"""Replies that mean harm: whichever way they come, they are an answer or one call's failure, within limits."""

import base64
import gzip
import json
import zlib
from typing import Any

import pytest
from aiohttp import web

from dokimasia.domain.call import MOST_TOKENS, ChatReply, Embedding, Usage
from dokimasia.errors import CallFailed, TransportError
from dokimasia.gateway.direct.transport import DirectTransport
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.gateway.failures import MAX_REPLY_BYTES, retry_after, verdict_of_code
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.litellm.transport import LiteLLMTransport
from dokimasia.gateway.openai_format import usage_of

NINES = "9" * 5000


@pytest.mark.parametrize("tokens", [MOST_TOKENS + 1, 2**63 - 1, 2**64 - 1, 10**30, 10**400])
async def test_a_count_beyond_any_call_is_unknown(send: Any, server: Any, acts: Any, tokens: int) -> None:
    """Tokens that no call can have are not reported tokens, so that no sum of them leaves a column of the database."""
    server.acts = [acts.completion("x", usage={"prompt_tokens": tokens, "completion_tokens": 3})]
    assert await send() == ChatReply(text="x", finish_reason="stop", usage=Usage(output_tokens=3))


async def test_a_count_that_python_does_not_read_leaves_the_answer(send: Any, server: Any, acts: Any) -> None:
    """Thousands of digits for the tokens of a reply do not cost the reply, which is paid for."""
    body = json.dumps(acts.completion("x", usage={"prompt_tokens": 0, "completion_tokens": 3}))
    server.acts = [acts.raw(body.replace('"prompt_tokens": 0', f'"prompt_tokens": {NINES}').encode())]
    assert await send() == ChatReply(text="x", finish_reason="stop", usage=Usage(output_tokens=3))


def test_the_largest_count_is_a_count() -> None:
    """The bound itself is reported as it stands."""
    assert usage_of(MOST_TOKENS, MOST_TOKENS) == Usage(input_tokens=MOST_TOKENS, output_tokens=MOST_TOKENS)


@pytest.mark.parametrize(
    "asked",
    [
        "Mon, 01 Jan 99999999999 00:00:00 GMT",
        "Mon, 01 Jan 2030 00:00:00 +99999999999999999999999",
        "Mon, 32 Jan 2030 00:00:00 GMT",
        "9" * 400,
    ],
)
async def test_a_date_that_is_none_asks_for_no_wait(send: Any, server: Any, acts: Any, asked: str) -> None:
    """A 429 whose `Retry-After` no calendar holds is a 429 that asks for nothing."""
    server.acts = [acts.failure(429, headers={"Retry-After": asked})]
    with pytest.raises(TransportError) as caught:
        await send()
    assert (caught.value.kind, caught.value.retry_after) == ("rate_limit", None)
    assert retry_after({"retry-after": asked}) is None


async def test_a_code_of_thousands_of_digits_is_no_status(send: Any, server: Any, acts: Any) -> None:
    """An error's code that Python refuses to read as a number is an error of the server, inside a reply or with a status."""
    body = json.dumps({"error": {"message": "no", "code": NINES}}).encode()
    server.acts = [acts.raw(body), acts.raw(body.replace(f'"{NINES}"'.encode(), NINES.encode()), status=400)]
    kinds: list[str] = []
    for _ in range(2):
        with pytest.raises(TransportError) as caught:
            await send()
        kinds.append(caught.value.kind)
    assert kinds == ["server_error", "bad_request"]
    assert verdict_of_code(NINES, "") == ("server_error", True)


async def test_vectors_of_no_numbers_are_none(send: Any, server: Any, acts: Any) -> None:
    """A vector that holds what no float is, or not a number at all, is a broken envelope."""
    call = Embedding(model=acts.spec().ref, texts=("a",))
    bodies = (b'{"data": [{"index": 0, "embedding": [1%s]}]}' % (b"0" * 400), b'{"data": [{"embedding": [NaN]}]}')
    server.acts = [acts.raw(body) for body in bodies]
    for _ in bodies:
        with pytest.raises(TransportError) as caught:
            await send(call)
        assert caught.value.kind == "broken_envelope"


def packed() -> bytes:
    """A megabyte that unpacks to 256."""
    packer = zlib.compressobj(1, wbits=31)
    return b"".join(packer.compress(b"x" * 2**20) for _ in range(256)) + packer.flush()


PACKED = packed()


def bomb(_: web.Request) -> web.Response:
    """A body that is packed so."""
    return web.Response(body=PACKED, content_type="application/json", headers={"Content-Encoding": "gzip"})


async def endless(request: web.Request) -> web.StreamResponse:
    """A body without end."""
    response = web.StreamResponse(headers={"content-type": "application/json"})
    await response.prepare(request)
    while True:
        await response.write(b"x" * 2**20)


def long(_: web.Request) -> web.Response:
    """An ordinary completion that is a little longer than what is read."""
    body = b'{"choices": [{"message": {"content": "%s"}}]}' % (b"x" * MAX_REPLY_BYTES)
    return web.Response(body=body, content_type="application/json")


@pytest.mark.parametrize("act", [bomb, endless, long])
async def test_no_reply_is_longer_than_the_limit(send: Any, server: Any, act: Any) -> None:
    """What is longer after decoding than 32 MiB fails as such, whichever way it comes, and is not asked for again."""
    server.acts = [act]
    with pytest.raises(TransportError, match=f"longer than {MAX_REPLY_BYTES} bytes") as caught:
        await send()
    assert (caught.value.kind, caught.value.retryable, len(server.bodies)) == ("broken_envelope", False, 1)


async def test_a_coded_reply_within_the_limit_is_read(send: Any, server: Any, acts: Any) -> None:
    """An endpoint that packs its reply all the same is understood."""
    packed = gzip.compress(json.dumps(acts.completion("packed")).encode())
    server.acts = [
        lambda _: web.Response(body=packed, content_type="application/json", headers={"Content-Encoding": "gzip"})
    ]
    assert (await send()).text == "packed"


@pytest.mark.parametrize("missing", [1, 8, 30])
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_coded_reply_without_its_last_bytes_fails(
    send: Any, server: Any, acts: Any, coding: str, missing: int
) -> None:
    """A packed reply whose end is missing is a lost connection, even where all of its JSON can be read."""
    whole = json.dumps(acts.completion("packed")).encode()
    packed = gzip.compress(whole) if coding == "gzip" else zlib.compress(whole)
    server.acts = [
        lambda _: web.Response(
            body=packed[:-missing], content_type="application/json", headers={"Content-Encoding": coding}
        )
    ]
    with pytest.raises(TransportError) as caught:
        await send()
    assert (caught.value.kind, caught.value.retryable) == ("connection", True)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_a_redirect_takes_the_prompt_nowhere(send: Any, server: Any, code: int) -> None:
    """No redirect is followed: the prompt stays where the configuration sent it, and a retry cannot help."""
    server.acts = [lambda _: web.Response(status=code, headers={"Location": "/v1/elsewhere?key=sk-hidden-12345"})]
    with pytest.raises(TransportError, match="redirects") as caught:
        await send()
    assert (caught.value.kind, caught.value.retryable, caught.value.status) == ("unsupported", False, code)
    assert len(server.bodies) == 1
    assert "sk-hidden" not in str(caught.value)


async def test_no_cookie_is_kept(send: Any, server: Any, acts: Any) -> None:
    """What an endpoint sets with one reply goes to nobody with the next request, of that model or another."""
    body = acts.completion()
    server.acts = [lambda _: web.json_response(body, headers={"Set-Cookie": "who=you; Path=/"})]
    await send()
    await send(name="other")
    assert len(server.headers) == 2
    assert not any("cookie" in {name.lower() for name in headers} for headers in server.headers)


PROVIDERS = ("anthropic", "openrouter", "mistral", "deepseek", "groq", "huggingface", "gemini")


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_every_client_of_litellm_has_the_limits(
    server: Any, blobs: Any, acts: Any, key: str, provider: str
) -> None:
    """Providers with clients of their own inside LiteLLM read no bomb, follow no redirect, and send each request once."""
    lite = LiteLLMTransport()
    base = server.url.removesuffix("/v1") if provider == "anthropic" else server.url
    spec = acts.spec(model=f"{provider}/m", api_base=base, timeout=60.0)
    call = acts.call().model_copy(update={"model": spec.ref})
    elsewhere = web.Response(status=307, headers={"Location": "/v1/elsewhere"})
    server.acts = [bomb, lambda _: elsewhere, acts.reset]
    said: list[str] = []
    for _ in range(3):
        with pytest.raises(TransportError) as caught:
            await lite.send(call, spec, api_key=key, blobs=blobs)
        said.append(str(caught.value))
    await lite.aclose()
    assert "longer than" in said[0]
    assert "redirects" in said[1]
    assert len(server.bodies) == 3


@pytest.mark.parametrize("unforeseen", [TypeError("int too large"), OverflowError(), RecursionError(), MemoryError()])
async def test_what_nobody_expected_is_one_calls_failure(
    unforeseen: Exception, ledger: Any, blobs: Any, acts: Any, fake_time: Any
) -> None:
    """Whatever a transport raises becomes a failed call of the kind `unknown`, and the next call is asked."""
    transport = CountingTransport(lambda _: "fine", fail=lambda call: unforeseen if call.repeat == 0 else None)
    gateway = ModelGateway(
        ledger=ledger,
        blobs=blobs,
        transports={"fake": transport},
        specs={"m": acts.spec()},
        sleep=fake_time.sleep,
        clock=fake_time.clock,
    )
    with pytest.raises(CallFailed, match=f"unknown after 6 tries: .*{type(unforeseen).__name__}"):
        await gateway.ask(acts.call())
    assert set(ledger.kinds) == {"unknown"}
    assert (await gateway.ask(acts.call(repeat=1))).reply.text == "fine"


async def test_a_count_of_another_transport_is_bounded_too(ledger: Any, blobs: Any, acts: Any, fake_time: Any) -> None:
    """A plug-in's transport that reports tokens which no call can have fails its call."""
    reply = ChatReply(text="x", finish_reason="stop", usage=Usage(input_tokens=2**63 - 1, output_tokens=1))
    gateway = ModelGateway(
        ledger=ledger,
        blobs=blobs,
        transports={"fake": CountingTransport(lambda _: reply)},
        specs={"m": acts.spec()},
        sleep=fake_time.sleep,
        clock=fake_time.clock,
    )
    with pytest.raises(CallFailed, match="broken_envelope"):
        await gateway.ask(acts.call())


async def test_an_errors_text_can_be_stored(server: Any, ledger: Any, blobs: Any, acts: Any, key: str) -> None:
    """Half a surrogate pair in an endpoint's words, which no database takes, fails the call and not the ledger."""
    server.acts = [acts.raw(b'{"error": {"message": "half \\ud83d pair"}}', status=400)]
    gateway = ModelGateway(
        ledger=ledger,
        blobs=blobs,
        transports={"http": DirectTransport()},
        specs={"m": acts.spec(api_base=server.url, transport="http")},
        api_keys={"m": key},
    )
    with pytest.raises(CallFailed, match="half"):
        await gateway.ask(acts.call())
    await gateway.aclose()
    assert ledger.attempts[0]["message"].encode("utf-8")


def echoed(key: str) -> dict[str, str]:
    """The key in every form that an endpoint may echo it in."""
    return {
        "base64": base64.b64encode(key.encode()).decode(),
        "base64 of a header": base64.b64encode(f"Bearer {key}".encode()).decode(),
        "base64 of a name and it": base64.b64encode(f"me:{key}\n".encode()).decode(),
        "hex": key.encode().hex(),
        "capital hex": key.encode().hex().upper(),
        "percent": "".join(f"%{ord(letter):02x}" for letter in key),
        "backwards": key[::-1],
        "upper case": key.upper(),
        "entities": "".join(f"&#{ord(letter)};" for letter in key),
        "entities in hex": "".join(f"&#x{ord(letter):04X};" for letter in key),
        "escapes": "".join(f"\\u{ord(letter):04x}" for letter in key),
        "escapes twice": "".join(f"\\\\u{ord(letter):04X}" for letter in key),
        "signs as entities": "".join(letter if letter.isalnum() else f"&#{ord(letter)};" for letter in key),
    }


@pytest.mark.parametrize("form", list(echoed("")))
async def test_the_key_is_kept_in_no_form(server: Any, ledger: Any, blobs: Any, acts: Any, key: str, form: str) -> None:
    """A key that comes back coded or backwards is in no reply, error or failed try that is kept."""
    text = echoed(key)[form]
    server.acts = [acts.completion(f"your key: {text}!"), acts.failure(401, "x" * 200 + text)]
    gateway = ModelGateway(
        ledger=ledger,
        blobs=blobs,
        transports={"http": DirectTransport()},
        specs={"m": acts.spec(api_base=server.url, transport="http")},
        api_keys={"m": key},
    )
    answer = await gateway.ask(acts.call())
    with pytest.raises(CallFailed) as caught:
        await gateway.ask(acts.call("another"))
    await gateway.aclose()
    kept = ledger.everything() + answer.reply.text + caught.value.reason
    middle = text[len(text) // 3 : len(text) // 3 + 8]
    assert middle not in kept
    assert answer.reply.text.startswith("your key: ")
