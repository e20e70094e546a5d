"""What leaves the simulated server for one request: a reply, an error or a fault, and its line in the log."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from aiohttp import web

from dokimasia.domain.call import ImageEdit, ModelCall
from dokimasia.errors import ConfigError, NotFound, TransportError
from dokimasia.prompts import PromptLibrary
from dokimasia.simulation.blindspots.editing import edit
from dokimasia.simulation.candidates import REFUSAL
from dokimasia.simulation.draws import request_hash
from dokimasia.simulation.embedding import embed
from dokimasia.simulation.profiles import Profile
from dokimasia.simulation.respond import respond
from dokimasia.simulation.serving.faults import LASTING_FAULTS, TRANSPORT_FAULTS, Tries, transport_error
from dokimasia.simulation.serving.image_wire import edited_body, read_image_edit
from dokimasia.simulation.serving.wire import completion, error_body, read_embedding, read_request, vectors

_BROKEN = {
    "html": b"<!doctype html><html><head><title>502 Bad Gateway</title></head><body>upstream is away</body></html>",
    "empty_choices": b'{"id":"chatcmpl-0","object":"chat.completion","choices":[]}',
    "cut_json": b'{"id":"chatcmpl-0","object":"chat.completion","choices":[{"index":0,"message":{"role":"assist',
}
"""Bodies of replies that cannot be used; that of any other fault is empty."""

_CLOSED = (ConnectionError, TimeoutError)
_PATIENCE = 6000
"""Looks, 5 ms apart, at whether a reply has left, before it counts as lost."""


class Delivery(NamedTuple):
    """What leaves for a request, and what the log says of it; `whole` is false where no usable reply is in it.

    `tokens` are those that the reply says were used, input and output.
    """

    body: bytes
    status: int | None = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}
    whole: bool = True
    fault: str | None = None
    request: str | None = None
    model: str | None = None
    tokens: tuple[int, int] | None = None


class RequestLog:
    """One JSON line a request, flushed at once; counts on from the lines that the file already has."""

    def __init__(self, path: Path | None) -> None:
        self._file = None
        self._count = 0
        if path is not None:
            try:
                self._count = len(path.read_bytes().splitlines()) if path.exists() else 0
                self._file = path.open("ab", buffering=0)
            except OSError as error:
                raise ConfigError(f"the log {path} cannot be written: {error.strerror}") from None

    def write(self, delivery: Delivery, *, sent: bool, began: float, ended: float) -> None:
        if self._file is None:
            return
        self._count += 1
        line = {
            "n": self._count,
            "request": delivery.request,
            "model": delivery.model,
            "status": delivery.status,
            "sent": sent,
            "began": began,
            "ended": ended,
            "tokens": delivery.tokens,
        }
        self._file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


Asked = tuple[ModelCall, Mapping[str, bytes]]
"""What a request asks, with the bytes of its images by SHA-256."""


def read_body(path: str, body: bytes, form: Mapping[str, Any]) -> Asked:
    """Return what a request to an address asks: for a completion, for vectors, or, by its form, for an edited image.

    Raises:
        TransportError: of kind `bad_request`, saying which field is wrong.
    """
    if path.endswith("/images/edits"):
        edits, image = read_image_edit(form)
        return edits, {edits.image.sha256: image}
    return (read_embedding(body), {}) if path.endswith("/embeddings") else read_request(body)


def decide(
    read: Callable[[], Asked],
    tries: Tries,
    models: Mapping[str, Profile],
    authorization: str,
    *,
    library: PromptLibrary | None = None,
) -> Delivery:
    """Work out what a request gets: a reply, an error, or the fault whose turn it is."""
    try:
        call, images = read()
    except TransportError as error:
        return Delivery(error_body(str(error), kind="invalid_request_error"), status=error.status)
    key, name = request_hash(call), call.model.model
    fault = tries.next_fault(key)
    if fault is not None:
        return _faulty(fault, authorization)._replace(request=key, model=name)
    try:
        if call.kind == "image_edit":
            return _edited(call, images[call.image.sha256], tries)._replace(request=key, model=name)
        if call.kind == "embedding":
            reply = vectors(call, embed(call))
        else:
            reply = completion(call, tries.spoil(respond(call, images, known=models, library=library), call), key)
    except NotFound as error:
        text = error_body(str(error), kind="invalid_request_error", code="model_not_found")
        return Delivery(text, status=404, request=key, model=name)
    return Delivery(orjson.dumps(reply), request=key, model=name, tokens=_tokens(reply))


def _tokens(reply: Mapping[str, Any]) -> tuple[int, int] | None:
    used = reply.get("usage")
    return None if used is None else (used["prompt_tokens"], used.get("completion_tokens", 0))


def _edited(call: ImageEdit, image: bytes, tries: Tries) -> Delivery:
    png, usage = edit(call, image)
    if png is None or tries.refuses(call):
        refused = error_body(REFUSAL, kind="image_generation_user_error", code="moderation_blocked")
        return Delivery(refused, status=400)
    return Delivery(edited_body(png, usage))


def too_large(limit: int) -> Delivery:
    """Return the refusal of a body of more than `limit` bytes, which is not read to its end."""
    return Delivery(error_body(f"the body is larger than {limit} bytes", kind="invalid_request_error"), status=413)


def _faulty(fault: str, authorization: str) -> Delivery:
    error = transport_error(fault, api_key=authorization.removeprefix("Bearer "))
    status = error.status
    code = (TRANSPORT_FAULTS.get(fault) or LASTING_FAULTS[fault]).code
    if status is not None and status >= 400:
        kind = "invalid_request_error" if status < 429 else code
        headers = {} if error.retry_after is None else {"Retry-After": str(round(error.retry_after))}
        return Delivery(error_body(str(error), kind=kind, code=code), status=status, headers=headers)
    media_type = "text/html" if fault == "html" else "application/json"
    return Delivery(_BROKEN.get(fault, b""), status=status, content_type=media_type, whole=False, fault=fault)


async def deliver(request: web.Request, delivery: Delivery) -> tuple[web.StreamResponse, bool]:
    """Send what was decided; the second value is whether it left whole while the client was still there.

    A request that is to time out waits until it is cancelled, which is when the client goes away.
    """
    response = web.Response(
        body=delivery.body, status=delivery.status or 200, content_type=delivery.content_type, headers=delivery.headers
    )
    if delivery.fault == "timeout":
        await asyncio.Event().wait()
    if delivery.fault == "reset" and request.transport is not None:
        request.transport.abort()
    if not _connected(request):
        return response, False
    try:
        await response.prepare(request)
        await response.write_eof()
        for _ in range(_PATIENCE):
            if not (request.transport is not None and _waiting(request.transport)):
                break
            await asyncio.sleep(0.005)
        else:
            return response, False
    except _CLOSED:
        return response, False
    return response, delivery.whole and _connected(request)


def _connected(request: web.Request) -> bool:
    return request.transport is not None and not request.transport.is_closing()


def _waiting(transport: asyncio.BaseTransport) -> bool:
    """Whether bytes are still in this process, not yet with the kernel."""
    return (
        isinstance(transport, asyncio.WriteTransport)
        and not transport.is_closing()
        and transport.get_write_buffer_size() > 0
    )
