"""The HTTP client passed to LiteLLM: replies of limited length, no redirects, no cookies, no repeated requests.

LiteLLM creates its clients in two places. Calls through the OpenAI SDK use `litellm.aclient_session`, which can be set;
all others use the result of `AsyncHTTPHandler.create_client`, for which there is no setting.
"""

import importlib
import ssl
from types import ModuleType
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx

from dokimasia.errors import ConfigError, TransportError
from dokimasia.gateway.connections import Connections, read_body
from dokimasia.gateway.direct.codec import exception_error
from dokimasia.gateway.failures import MAX_REPLY_BYTES
from dokimasia.gateway.litellm.replies import Received, take, take_failure

STAND_IN = (
    b'{"id": "-", "object": "chat.completion", "created": 0, "model": "-", "choices": [{"index": 0, "finish_reason": "stop", '
    b'"message": {"role": "assistant", "content": "-"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}'
)
"""The stand-in that LiteLLM is given for a response whose outcome is already known. Its own parsing takes a minute for
a few megabytes of choices, and blocks the event loop.
"""

_UNUSABLE = frozenset(("content-encoding", "content-length", "transfer-encoding", "set-cookie", "location"))
"""Headers that are false for a body already read, or that must not be followed."""


class LimitedTransport(httpx.AsyncBaseTransport):
    """Sends each request once and reads the whole reply, up to `MAX_REPLY_BYTES` after decoding.

    Proxies and certificates are read from the environment, as LiteLLM does.
    """

    def __init__(self) -> None:
        """Store no connection yet."""
        self.connections = Connections()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request and return its response with the body read.

        Raises:
            httpx.ReadError: no reader takes the outcome, and the response is too long. Never another class, since after
                some LiteLLM sends the request again, without the gateway's knowledge.
        """
        try:
            received = await self._send(request)
        except TransportError as failure:
            if take_failure(failure):
                return _response(request, 200, {"content-type": "application/json"}, STAND_IN)
            raise httpx.ReadError(str(failure), request=request) from None
        if take(received):
            return _response(request, 200, {"content-type": "application/json"}, STAND_IN)
        if received.body is None:
            raise httpx.ReadError(f"the reply is longer than {MAX_REPLY_BYTES} bytes", request=request)
        headers = {name: value for name, value in received.headers.items() if name.lower() not in _UNUSABLE}
        return _response(request, received.status, headers, received.body)

    async def _send(self, request: httpx.Request) -> Received:
        url, seconds = str(request.url), request.extensions.get("timeout", {}).get("read")
        headers = {name: value for name, value in request.headers.items() if name not in ("host", "content-length")}
        headers["accept-encoding"] = "identity"
        failure: TransportError
        try:
            async with self.connections.session(ssl=_certificates()).request(
                request.method,
                url,
                data=await request.aread() or None,
                headers=headers,
                proxy=_proxy(request.url),
                timeout=aiohttp.ClientTimeout(total=seconds),
                allow_redirects=False,
            ) as response:
                return Received(response.status, response.headers, await read_body(response, MAX_REPLY_BYTES), url)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            failure = exception_error(error, url=url, seconds=seconds or 0.0)
        raise failure  # outside the handler, so that the client's error, which can contain the key, is not its context


CONNECTIONS = LimitedTransport()
"""The connections of this process, since LiteLLM's settings are global to it."""


def limit_replies(litellm: Any) -> None:
    """Make LiteLLM send everything through `CONNECTIONS` from now on.

    Raises:
        ConfigError: this release of LiteLLM does not accept a client.
    """

    def create_client(
        _: object, timeout: float | httpx.Timeout | None = None, *_args: object, **_options: object
    ) -> httpx.AsyncClient:
        return _client(timeout)

    handler = _handlers().AsyncHTTPHandler
    handler.create_client = create_client
    client = handler(timeout=1.0).client
    if getattr(client, "_transport", None) is not CONNECTIONS or not hasattr(litellm, "aclient_session"):
        raise ConfigError(
            "this release of LiteLLM makes HTTP clients in a way of its own, so its replies cannot be limited; "
            "install the release in requirements.lock"
        )
    litellm.aclient_session = _client(None)


def _client(timeout: float | httpx.Timeout | None) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=CONNECTIONS, timeout=timeout, follow_redirects=False)


def _response(request: httpx.Request, status: int, headers: dict[str, str], body: bytes) -> httpx.Response:
    return httpx.Response(status, headers=headers, content=body, request=request)


def _certificates() -> ssl.SSLContext | bool:
    chosen = _handlers().get_ssl_configuration()
    if isinstance(chosen, str):
        return ssl.create_default_context(cafile=chosen)
    return chosen


def _proxy(url: httpx.URL) -> str | None:
    proxies = getproxies()
    if not proxies or proxy_bypass(url.host):
        return None
    return proxies.get(url.scheme) or proxies.get("all")


def _handlers() -> ModuleType:
    return importlib.import_module("litellm.llms.custom_httpx.http_handler")
