"""The direct transport: sends each request once, over persistent connections to an OpenAI-compatible endpoint."""

import asyncio
import io
from collections.abc import Mapping
from functools import lru_cache

import aiohttp

from dokimasia.domain.call import Chat, ImageEdit, ModelCall, ModelReply, ModelSpec
from dokimasia.domain.ports import BlobStore, ImageReader
from dokimasia.errors import TransportError
from dokimasia.gateway.connections import Connections, read_body
from dokimasia.gateway.direct.codec import (
    address,
    body_error,
    chat_body,
    chat_reply,
    edit_form,
    embedding_body,
    embedding_reply,
    exception_error,
    generation_body,
    headers,
    image_json,
    inner_error,
    read_object,
    read_refusal,
    status_error,
)
from dokimasia.gateway.failures import MAX_REPLY_BYTES, too_long
from dokimasia.gateway.images import EncodedImages
from dokimasia.gateway.openai_format import sent_image, stored_edit
from dokimasia.gateway.rate_limit_headers import report_headers

_LARGE_BODY = 512 * 1024
"""The size in bytes from which a body is sent piece by piece, so that a slow endpoint does not block the event loop."""

_JSON = {"Content-Type": "application/json"}
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "dokimasia",
}


class DirectTransport:
    """Sends calls directly to endpoints of the OpenAI format; implements `dokimasia.domain.ports.Transport`.

    It suits vLLM, SGLang, llama.cpp, Ollama, LM Studio and the like, and takes less than a tenth of LiteLLM's CPU time
    per call. It sends only the call: parameters are neither translated nor dropped. It follows no redirects, stores no
    cookies, and reads neither proxies nor keys from the environment: an endpoint behind a proxy needs the other
    transport.

    The gateway limits concurrency; this transport does not limit connections.
    """

    def __init__(self, *, max_reply_bytes: int = MAX_REPLY_BYTES, read_image: ImageReader | None = None) -> None:
        """Create a transport that reads bodies of up to `max_reply_bytes`; `read_image` checks edited images."""
        self._read_image = read_image
        self._images = EncodedImages(image_json)
        self._max_reply_bytes = max_reply_bytes
        self._connections = Connections()

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Send the call once and return its reply.

        Raises:
            TransportError: no usable envelope; or, as `unsupported`, the model has no usable `api_base`, or the edited image
                cannot be accepted.
            StorageError: an image is not in the blob store.
        """
        url = _url(call, spec)
        if isinstance(call, Chat):
            images = await self._images.shown_by(call, blobs)
            body = chat_body(call, spec, images)
        elif isinstance(call, ImageEdit):
            if call.image is None:
                body = generation_body(call, spec)
            else:
                body = edit_form(call, spec, await asyncio.to_thread(blobs.get, call.image.sha256))
        else:
            body = embedding_body(call)
        failure: TransportError | None = None
        status, answer = 0, None
        reply_headers: Mapping[str, str] = {}
        try:
            async with self._connections.session().post(
                url,
                data=_payload(body) if isinstance(body, bytes) else body,
                headers=_HEADERS | (_JSON if isinstance(body, bytes) else {}) | headers(api_key),
                timeout=_time_limit(spec.timeout),
                allow_redirects=False,
            ) as response:
                status, reply_headers = response.status, response.headers
                answer = await read_body(response, self._max_reply_bytes)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            failure = exception_error(error, url=url, seconds=spec.timeout)
        if failure is not None:
            raise failure  # outside the handler, so that the client's error, which may hold the key, is not its context
        report_headers(reply_headers)
        if answer is None:
            raise too_long(self._max_reply_bytes, status)
        if isinstance(call, ImageEdit) and (refused := read_refusal(status, answer, api_key)) is not None:
            return refused
        if not 200 <= status < 300:
            raise status_error(status, reply_headers, answer, url=url, api_key=api_key)
        data = read_object(answer)
        if data is None:
            raise body_error(status, answer, api_key=api_key)
        if error := data.get("error"):
            raise inner_error(error, status, reply_headers, answer, api_key=api_key)
        if isinstance(call, ImageEdit):
            return await stored_edit(sent_image(data), read_image=self._read_image, blobs=blobs)
        if isinstance(call, Chat):
            return chat_reply(data, call.model.model)
        return embedding_reply(data)

    async def aclose(self) -> None:
        """Close all connections, including those of other running event loops. Call it before those loops end."""
        await self._connections.aclose()


def _payload(body: bytes) -> aiohttp.Payload:
    """Return a body as an aiohttp payload, which saves aiohttp the lookup of its type."""
    if len(body) >= _LARGE_BODY:
        return aiohttp.BytesIOPayload(io.BytesIO(body))
    return aiohttp.BytesPayload(body)


@lru_cache(maxsize=64)
def _time_limit(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds)


def _url(call: ModelCall, spec: ModelSpec) -> str:
    if spec.api_base is None:
        message = f"{call.model.name}: the direct transport needs an api_base such as http://127.0.0.1:8000/v1"
        raise TransportError("unsupported", message, retryable=False)
    failure: str
    try:
        new_image = isinstance(call, ImageEdit) and call.image is None
        return address(spec.api_base, "image_generation" if new_image else call.kind)
    except ValueError as error:
        failure = str(error)
    raise TransportError("unsupported", f"{call.model.name}: {failure}", retryable=False)
