"""The HTTP client that LiteLLM is given: replies of limited length, no redirects, no cookies, nothing sent a second time.

LiteLLM makes its clients in two places. What goes through the OpenAI SDK takes `litellm.aclient_session`, which is there
to be set; everything else takes what `AsyncHTTPHandler.create_client` returns, for which there is no setting.
"""

import asyncio
import importlib
import zlib
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx

from dokimasia.errors import ConfigError
from dokimasia.gateway.failures import MAX_REPLY_BYTES
from dokimasia.gateway.litellm.received import Received, take

KEEP_ALIVE = 4.0
"""Seconds that an idle connection is kept; see the direct transport."""

STAND_IN = (
    b'{"id": "-", "object": "chat.completion", "created": 0, "model": "-", "choices": [{"index": 0, "finish_reason": "stop", '
    b'"message": {"role": "assistant", "content": "-"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}'
)
"""What LiteLLM is given of a response that is read already. Its own reading takes a minute for some megabytes of choices,
in which nothing else has its turn."""

_UNUSABLE = frozenset(("content-encoding", "content-length", "transfer-encoding", "set-cookie", "location"))
"""Headers that say nothing true of a body that is read already, or that nobody may follow."""


class LimitedTransport(httpx.AsyncBaseTransport):
    """Reads each reply whole, up to `most` bytes after decoding, over connections of its own in every event loop.

    Proxies and certificates are taken from the environment, as LiteLLM takes them.
    """

    def __init__(self, most: int = MAX_REPLY_BYTES) -> None:
        """Read replies of up to `most` bytes."""
        self.most = most
        self._clients: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request once and return its response with the body read.

        Raises:
            httpx.TransportError: no response, or one whose body cannot be decoded.
        """
        request.headers["accept-encoding"] = "identity"
        try:
            response = await self._client().send(request, stream=True, auth=None, follow_redirects=False)
        except (httpx.ConnectError, httpx.RemoteProtocolError) as error:
            # Another class: after these two LiteLLM sends the request once more, behind the gateway's back.
            raise httpx.ReadError(f"{type(error).__name__}: {error}", request=request) from error
        try:
            body = await self._body(response)
        except httpx.RemoteProtocolError as error:
            raise httpx.ReadError(
                f"the connection broke in the middle of the reply: {error}", request=request
            ) from error
        finally:
            await response.aclose()
        known = take(Received(response.status_code, response.headers, body, str(request.url)))
        if known or body is None:
            return httpx.Response(200, headers={"content-type": "application/json"}, content=STAND_IN, request=request)
        kept = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _UNUSABLE]
        return httpx.Response(response.status_code, headers=kept, content=body, request=request)

    async def close_connections(self) -> None:
        """Close the connections of all event loops; new ones are made when they are needed."""
        while self._clients:
            loop, client = self._clients.popitem()
            if loop is not asyncio.get_running_loop() and loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(client.aclose(), loop))
            elif not loop.is_closed():
                await client.aclose()

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=KEEP_ALIVE)
            verify = _handlers().get_ssl_configuration()
            client = self._clients[loop] = httpx.AsyncClient(verify=verify, limits=limits, cookies=_no_cookies())
        return client

    async def _body(self, response: httpx.Response) -> bytes | None:
        """Return the decoded body, or None if it is too long; no more of it is decoded than is kept."""
        coding = response.headers.get("content-encoding", "").strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise httpx.ReadError(f"the reply is coded as {coding[:40]!r}, which was not asked for")
        inflate = None if coding in ("", "identity") else zlib.decompressobj(47)
        chunks: list[bytes] = []
        left = self.most
        async for raw in response.aiter_raw():
            try:
                chunk = raw if inflate is None else inflate.decompress(raw, left + 1)
            except zlib.error as error:
                raise httpx.ReadError(f"the reply is not what its coding says: {error}") from error
            left -= len(chunk)
            if left < 0:
                return None
            chunks.append(chunk)
        return b"".join(chunks)


CONNECTIONS = LimitedTransport()
"""Those of this process, as LiteLLM's settings are."""


def limit_replies(litellm: Any) -> None:
    """Have LiteLLM send everything through `CONNECTIONS`, from now on.

    Raises:
        ConfigError: this release of LiteLLM cannot be given a client.
    """

    def create_client(_: Any, timeout: Any = None, *_args: Any, **_options: Any) -> httpx.AsyncClient:
        return _client_over_ours(timeout)

    handler = _handlers().AsyncHTTPHandler
    handler.create_client = create_client
    made = handler(timeout=1.0).client
    if getattr(made, "_transport", None) is not CONNECTIONS or not hasattr(litellm, "aclient_session"):
        raise ConfigError(
            "this release of LiteLLM makes HTTP clients in a way of its own, so its replies cannot be limited; "
            "install the release in requirements.lock"
        )
    litellm.aclient_session = _client_over_ours(None)


def _client_over_ours(timeout: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=CONNECTIONS, timeout=timeout, cookies=_no_cookies(), follow_redirects=False)


def _no_cookies() -> CookieJar:
    return CookieJar(policy=DefaultCookiePolicy(allowed_domains=()))


def _handlers() -> Any:
    return importlib.import_module("litellm.llms.custom_httpx.http_handler")
