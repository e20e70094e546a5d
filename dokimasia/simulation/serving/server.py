"""Simulated models behind OpenAI-compatible routes for chats, embeddings and image edits, with latency, faults and a log."""

import asyncio
import hashlib
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

import orjson
from aiohttp import web

from dokimasia.domain.call import ImageEdit, ModelCall
from dokimasia.errors import ConfigError, NotFound, TransportError
from dokimasia.prompts import PromptLibrary
from dokimasia.simulation.candidates import REFUSAL
from dokimasia.simulation.draws import request_hash
from dokimasia.simulation.embedding import embed_texts
from dokimasia.simulation.image_edits import edit_by_model
from dokimasia.simulation.profiles import Profile, profiles
from dokimasia.simulation.respond import respond
from dokimasia.simulation.serving.faults import LASTING_FAULTS, TRANSPORT_FAULTS, Faults, Tries, transport_error
from dokimasia.simulation.serving.wire import (
    completion,
    edited_body,
    error_body,
    model_list,
    read_embedding,
    read_form,
    read_image_edit,
    read_image_generation,
    read_request,
    vectors,
)

_BROKEN = {
    "html": b"<!doctype html><html><head><title>502 Bad Gateway</title></head><body>upstream is away</body></html>",
    "empty_choices": b'{"id":"chatcmpl-0","object":"chat.completion","choices":[]}',
    "cut_json": b'{"id":"chatcmpl-0","object":"chat.completion","choices":[{"index":0,"message":{"role":"assist',
}
"""Bodies of unusable replies; that of any other fault is empty."""

_CLOSED = (ConnectionError, TimeoutError)
_PATIENCE = 6000
"""The number of checks, every 5 ms, whether a reply has been sent before it counts as lost."""


class Delivery(NamedTuple):
    """The response to a request, and its log entry; `whole` is false if it contains no usable reply.

    `tokens` are the reported input and output tokens.
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
    """One JSON line for each request, flushed at once; numbering continues from the lines already in the file."""

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


ReceivedCall = tuple[ModelCall, Mapping[str, bytes]]
"""A received call, with the bytes of its images by SHA-256."""


def read_call(path: str, body: bytes, form: Mapping[str, object]) -> ReceivedCall:
    """Return the call in a request to an address: for a completion, vectors, a new image, or, by its form, an edited
    one.

    Raises:
        TransportError: of kind `bad_request`; the message names the wrong field.
    """
    if path.endswith("/images/edits"):
        edits, image = read_image_edit(form)
        return edits, {hashlib.sha256(image).hexdigest(): image}
    if path.endswith("/images/generations"):
        return read_image_generation(body), {}
    if path.endswith("/embeddings"):
        return (read_embedding(body), {})
    return read_request(body)


def decide(
    read: Callable[[], ReceivedCall],
    tries: Tries,
    models: Mapping[str, Profile],
    authorization: str,
    *,
    library: PromptLibrary | None = None,
) -> Delivery:
    """Return the response to a request: a reply, an error, or the fault whose turn it is."""
    try:
        call, images = read()
    except TransportError as error:
        return Delivery(error_body(str(error), kind="invalid_request_error"), status=error.status)
    key, name = request_hash(call), call.model.model
    fault = tries.next_fault(key)
    if fault is not None:
        return _fault_delivery(fault, authorization)._replace(request=key, model=name)
    try:
        if call.kind == "image_edit":
            image = None if call.image is None else images[call.image.sha256]
            return _edit_delivery(call, image, tries)._replace(request=key, model=name)
        if call.kind == "embedding":
            embedded = embed_texts(call)
            body, usage = vectors(call, embedded), embedded.usage
        else:
            reply = tries.spoil(respond(call, images, models=models, library=library), call)
            body, usage = completion(call, reply, key), reply.usage
    except NotFound as error:
        text = error_body(str(error), kind="invalid_request_error", code="model_not_found")
        return Delivery(text, status=404, request=key, model=name)
    tokens = None if usage.input_tokens is None else (usage.input_tokens, usage.output_tokens or 0)
    return Delivery(orjson.dumps(body), request=key, model=name, tokens=tokens)


def _edit_delivery(call: ImageEdit, image: bytes | None, tries: Tries) -> Delivery:
    png, usage = edit_by_model(call, image)
    if png is None or tries.refuses(call):
        refused = error_body(REFUSAL, kind="image_generation_user_error", code="moderation_blocked")
        return Delivery(refused, status=400)
    return Delivery(edited_body(png, usage))


def too_large(limit: int) -> Delivery:
    """Return the refusal of a body of more than `limit` bytes, the rest of which is not read."""
    return Delivery(error_body(f"the body is larger than {limit} bytes", kind="invalid_request_error"), status=413)


def _fault_delivery(fault: str, authorization: str) -> Delivery:
    error = transport_error(fault, api_key=authorization.removeprefix("Bearer "))
    status = error.status
    code = (TRANSPORT_FAULTS.get(fault) or LASTING_FAULTS[fault]).code
    if status is not None and status >= 400:
        kind = "invalid_request_error" if status < 429 else code
        headers = {} if error.retry_after is None else {"Retry-After": str(round(error.retry_after))}
        return Delivery(error_body(str(error), kind=kind, code=code), status=status, headers=headers)
    media_type = "text/html" if fault == "html" else "application/json"
    return Delivery(_BROKEN.get(fault, b""), status=status, content_type=media_type, whole=False, fault=fault)


async def send_delivery(request: web.Request, delivery: Delivery) -> tuple[web.StreamResponse, bool]:
    """Send the delivery, and return the response and whether it was sent completely while the client was still
    connected.

    A request that should time out waits until it is cancelled, which happens when the client disconnects.
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
    """Return whether bytes are still in this process and not yet passed to the kernel."""
    return (
        isinstance(transport, asyncio.WriteTransport)
        and not transport.is_closing()
        and transport.get_write_buffer_size() > 0
    )


DEFAULT_PORT = 8377
BODY_LIMIT = 64 * 2**20


class ServerOptions(TypedDict, total=False):
    """The options of a server of simulated models.

    Attributes:
        latency: seconds that every reply waits.
        faults: the faults, and their rates.
        log_path: the file to which a JSON line is appended for every completion request: `n`, `request` (the canonical
            request's hash), `model`, `status`, `sent` (whether the reply was sent completely while the client was
            connected), `began` and `ended` (when the request arrived and when its reply started or its client was gone,
            in seconds of the machine's monotonic clock), and `tokens`: the reported usage, input and output.
        models: the available models; by default the included ones.
        library: the prompts that judges know; by default the included ones.
    """

    latency: float
    faults: Faults | None
    log_path: Path | None
    models: Mapping[str, Profile] | None
    library: PromptLibrary | None


def build_app(**options: Unpack[ServerOptions]) -> web.Application:
    """Return the application: `GET /v1/models` and four `POST` addresses.

    These are `/v1/chat/completions`, `/v1/embeddings`, `/v1/images/edits` and `/v1/images/generations`.

    Raises:
        ConfigError: the log cannot be written.
    """
    models, latency = options.get("models") or profiles(), options.get("latency", 0.0)
    tries = Tries(options.get("faults"))
    log = RequestLog(options.get("log_path"))

    async def complete(request: web.Request) -> web.StreamResponse:
        edits, began = request.path.endswith("/images/edits"), time.monotonic()
        try:
            body, form = (b"", await read_form(request)) if edits else (await request.read(), {})
        except web.HTTPRequestEntityTooLarge:
            delivery = too_large(BODY_LIMIT)
        else:
            authorization = request.headers.get("Authorization", "")
            read = partial(read_call, request.path, body, form)
            delivery = decide(read, tries, models, authorization, library=options.get("library"))
        sent, left = False, 0.0
        try:
            if latency:
                await asyncio.sleep(latency)
            if delivery.fault != "timeout":
                left = time.monotonic()
            response, sent = await send_delivery(request, delivery)
        finally:
            log.write(delivery, sent=sent, began=began, ended=left or time.monotonic())
        return response

    async def list_models(request: web.Request) -> web.Response:
        return web.Response(body=model_list(models), content_type="application/json")

    async def close_log(app: web.Application) -> AsyncIterator[None]:
        yield
        log.close()

    app = web.Application(client_max_size=BODY_LIMIT, middlewares=[_errors_as_json])
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_post("/v1/embeddings", complete)
    app.router.add_post("/v1/images/edits", complete)
    app.router.add_post("/v1/images/generations", complete)
    app.router.add_get("/v1/models", list_models)
    app.cleanup_ctx.append(close_log)
    return app


async def serve(
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    *,
    ready: Callable[[str], None] | None = None,
    **options: Unpack[ServerOptions],
) -> None:
    """Serve until cancelled; `ready` is called with the base URL (`http://host:port/v1`) once connections are accepted.

    Port 0 selects a free one.

    Raises:
        ConfigError: the address is taken or cannot be used, or the log cannot be written.
    """
    runner = web.AppRunner(build_app(**options), access_log=None, shutdown_timeout=0.5, handler_cancellation=True)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise ConfigError(f"cannot listen on {host}:{port}: {error.strerror}; choose another with --port") from None
        if ready is not None:
            address = f"[{host}]" if ":" in host else host
            ready(f"http://{address}:{runner.addresses[0][1]}/v1")
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


@contextmanager
def running_server(**options: Unpack[ServerOptions]) -> Iterator[str]:
    """Serve on a free loopback port from a separate thread; yield the base URL, and stop at the end of the block.

    Raises:
        ConfigError: the server cannot start.
    """
    loop = asyncio.new_event_loop()
    started = threading.Event()
    base_url: list[str] = []
    failures: list[BaseException] = []

    def ready(url: str) -> None:
        base_url.append(url)
        started.set()

    task = loop.create_task(serve(port=0, ready=ready, **options))

    def run() -> None:
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        except Exception as error:  # passed to the waiting thread, which raises it
            failures.append(error)
        finally:
            loop.close()
            started.set()

    thread = threading.Thread(target=run, name="simulated-models", daemon=True)
    thread.start()
    started.wait()
    if failures:
        thread.join()
        raise failures[0]
    try:
        yield base_url[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()


@web.middleware
async def _errors_as_json(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        text = error_body(error.reason, kind="invalid_request_error")
        return web.Response(body=text, status=error.status, content_type="application/json")
