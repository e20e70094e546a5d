"""What the direct transport does by itself: connections, bounds, names, and what it refuses."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from dokimasia.domain.call import Sampling
from dokimasia.errors import TransportError
from dokimasia.gateway.direct.codec import address, bare_model
from dokimasia.gateway.direct.transport import DirectTransport


@pytest.fixture
async def direct() -> AsyncIterator[DirectTransport]:
    """A transport that is closed after the test."""
    transport = DirectTransport()
    yield transport
    await transport.aclose()


@pytest.fixture
def ask(direct: DirectTransport, server: Any, blobs: Any, key: str, acts: Any) -> Any:
    """Sends a call to the loopback server."""

    async def ask(call: Any = None, *, api_key: str | None = key, by: Any = direct, **fields: Any) -> Any:
        spec = acts.spec(**({"model": "hosted_vllm/m", "api_base": server.url, "timeout": 60.0} | fields))
        call = (call or acts.call()).model_copy(update={"model": spec.ref})
        return await by.send(call, spec, api_key=api_key, blobs=blobs)

    return ask


@pytest.mark.parametrize(
    ("model", "bare"),
    [
        ("openai/m", "m"),
        ("hosted_vllm/Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen2.5-VL-7B-Instruct"),
        ("hosted_vllm/openai/gpt-oss-20b", "openai/gpt-oss-20b"),
        ("ollama_chat/llava:7b", "llava:7b"),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen2.5-VL-7B-Instruct"),
        ("m", "m"),
        ("openai/", "openai/"),
    ],
)
def test_model_is_called_by_the_name_that_the_endpoint_knows(model: str, bare: str) -> None:
    """One known provider goes from the front of a name; what is left, and an unknown first part, belong to the name."""
    assert bare_model(model) == bare


@pytest.mark.parametrize("base", ["http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/chat/completions"])
def test_address_is_the_base_with_the_path_once(base: str) -> None:
    """The path of the call is put behind the base, with or without its slash or the whole address of the chats."""
    assert address(base, "chat") == "http://h:1/v1/chat/completions"
    assert address(base, "embedding") == "http://h:1/v1/embeddings"


@pytest.mark.parametrize(
    ("base", "words"),
    [
        (None, "needs an api_base"),
        ("127.0.0.1:8000", "not an address"),
        ("ftp://h/v1", "not an address"),
        ("http://me:sk-hidden-123@h/v1", "user name, password"),
        ("http://h/v1?key=sk-hidden-123", "query"),
        ("http://h:port/v1", "not an address"),
    ],
)
async def test_model_without_a_usable_address_is_refused(ask: Any, base: str | None, words: str) -> None:
    """Without an address, or with one that is none or holds a secret, nothing is sent and nothing is quoted."""
    with pytest.raises(TransportError, match=words) as caught:
        await ask(api_base=base)
    assert (caught.value.kind, caught.value.retryable) == ("unsupported", False)
    assert "sk-hidden" not in str(caught.value)


async def test_connections_are_kept_and_not_limited(ask: Any, server: Any, acts: Any) -> None:
    """Calls in turn share one connection; 120 at once are all on their way at the same time."""
    peers: set[Any] = set()

    def remember(request: web.Request) -> web.Response:
        assert request.transport is not None
        peers.add(request.transport.get_extra_info("peername"))
        return web.json_response(acts.completion())

    server.acts = [remember] * 5
    for _ in range(5):
        await ask()
    assert len(peers) == 1
    all_here = asyncio.Barrier(120)

    async def together(_: web.Request) -> web.Response:
        await all_here.wait()
        return web.json_response(acts.completion("together"))

    server.acts = [together] * 120
    replies = await asyncio.gather(*(ask() for _ in range(120)))
    assert {reply.text for reply in replies} == {"together"}


async def test_each_event_loop_has_its_own_connections(ask: Any, direct: DirectTransport) -> None:
    """One transport serves several event loops at once, and closing it in one leaves nothing open in any."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    elsewhere = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(ask(), loop))
    replies = [await ask(), await elsewhere, await ask()]
    assert [reply.text for reply in replies] == ["hello"] * 3
    await direct.aclose()
    await direct.aclose()
    loop.call_soon_threadsafe(loop.stop)
    await asyncio.to_thread(thread.join)
    loop.close()


@pytest.mark.parametrize("endless", [True, False])
async def test_reply_over_the_cap_is_cut_off(ask: Any, server: Any, acts: Any, endless: bool) -> None:
    """A body beyond the cap, of any length or none stated, is a broken envelope that is not asked for again; what
    comes next is not disturbed."""

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" " * 4096)

    bounded = DirectTransport(max_reply_bytes=2000)
    server.acts = [stream if endless else acts.completion("x" * 3000)]
    with pytest.raises(TransportError, match="longer than 2000 bytes") as caught:
        await ask(by=bounded)
    assert (caught.value.kind, caught.value.retryable, caught.value.status) == ("broken_envelope", False, 200)
    assert (await ask(by=bounded)).text == "hello"
    await bounded.aclose()


async def test_large_body_is_sent_in_pieces(ask: Any, server: Any, blobs: Any, acts: Any) -> None:
    """A request of several megabytes, by images or by text, arrives whole and raises no warning."""
    await ask(acts.call("x" * 2_000_000, images=(blobs.add(b"y" * 3_000_000),)))
    picture, text = server.bodies[0]["messages"][0]["content"]
    assert (len(picture["image_url"]["url"]), len(text["text"])) == (4_000_022, 2_000_000)
    assert int(server.headers[0]["Content-Length"]) > 6_000_000
    assert server.headers[0]["Content-Type"] == "application/json"


async def test_nothing_is_kept_or_taken_from_elsewhere(
    ask: Any, server: Any, acts: Any, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cookies are not sent back, proxies of the environment are not used, and without a key no header speaks of one."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server.acts = [lambda _: web.json_response(acts.completion(), headers={"Set-Cookie": "a=b; Path=/"})]
    await ask()
    await ask(api_key=None)
    assert server.headers[0]["Authorization"] == f"Bearer {key}"
    assert {"Cookie", "Authorization"}.isdisjoint(server.headers[1])


async def test_redirect_names_where_it_leads(ask: Any, server: Any) -> None:
    """A redirect is not followed; the error names its status and host and no more of the address."""
    target = "https://elsewhere.example/v1?token=sk-hidden-123"
    server.acts = [lambda _: web.Response(status=308, headers={"Location": target})]
    with pytest.raises(TransportError, match=r"308.*https://elsewhere\.example, .*set api_base") as caught:
        await ask()
    assert "hidden" not in str(caught.value)
    assert (caught.value.kind, caught.value.status, len(server.bodies)) == ("unsupported", 308, 1)


async def test_missing_version_in_the_address_is_guessed(ask: Any, server: Any) -> None:
    """A 404 at an address without `/v1` asks whether it is missing; one with it does not."""
    with pytest.raises(TransportError, match="is /v1 missing in api_base") as caught:
        await ask(api_base=server.url.removesuffix("/v1"))
    assert (caught.value.kind, caught.value.status) == ("not_found", 404)


@pytest.mark.parametrize("bad", ["sk-hidden\n-123", "sk-hidden-123\u00e9"])
async def test_key_that_no_header_can_carry_is_refused(ask: Any, server: Any, bad: str) -> None:
    """A key with a line break or an accent fails as `auth` before anything leaves, and is not quoted."""
    with pytest.raises(TransportError, match="no HTTP header can carry") as caught:
        await ask(api_key=bad)
    assert (caught.value.kind, caught.value.retryable, server.bodies) == ("auth", False, [])
    assert "hidden" not in str(caught.value)


async def test_parameter_without_a_form_in_json_is_refused(ask: Any, server: Any, acts: Any) -> None:
    """A whole number beyond 64 bits is a bad request that never leaves."""
    with pytest.raises(TransportError, match="cannot be written as JSON") as caught:
        await ask(acts.call(sampling=Sampling(extra={"logit": 2**70})))
    assert (caught.value.kind, caught.value.retryable, server.bodies) == ("bad_request", False, [])


async def test_reasoning_effort_goes_along(ask: Any, server: Any, acts: Any) -> None:
    """What the call says is sent to any model, also what LiteLLM would drop for one that it does not know."""
    await ask(acts.call(sampling=Sampling(reasoning_effort="low")))
    assert server.bodies[0]["reasoning_effort"] == "low"
