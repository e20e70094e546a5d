"""Simulated models behind OpenAI's formats of chats, embeddings and image edits on HTTP: latency, faults and a log to order."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from aiohttp import web

from dokimasia.errors import ConfigError
from dokimasia.prompts import PromptLibrary
from dokimasia.simulation.profiles import Profile, profiles
from dokimasia.simulation.serving.delivery import RequestLog, decide, deliver, read_body, too_large
from dokimasia.simulation.serving.faults import Faults, Tries
from dokimasia.simulation.serving.image_wire import read_form
from dokimasia.simulation.serving.wire import error_body, model_list

DEFAULT_PORT = 8377
BODY_LIMIT = 64 * 2**20


def build_app(
    *,
    latency: float = 0.0,
    faults: Faults | None = None,
    log_path: Path | None = None,
    known: Mapping[str, Profile] | None = None,
    library: PromptLibrary | None = None,
) -> web.Application:
    """Return the application: `POST /v1/chat/completions`, `/v1/embeddings` and `/v1/images/edits`, and `GET /v1/models`.

    Args:
        latency: seconds that every reply waits.
        faults: what goes wrong, and how often.
        log_path: where a JSON line is appended for every request for a completion: `n`, `request` (the canonical
            request's hash), `model`, `status`, `sent`: whether the reply left whole while the client was there, `began`
            and `ended`: when the request came and when its reply began to leave or its client was gone, in seconds of
            the machine's monotonic clock, and `tokens`: those used as the reply says, input and output.
        known: the models there are; by default those that ship.
        library: the prompts that judges know; by default those that ship.

    Raises:
        ConfigError: the log cannot be written.
    """
    models = profiles() if known is None else known
    tries = Tries(faults)
    log = RequestLog(log_path)

    async def complete(request: web.Request) -> web.StreamResponse:
        edits, began = request.path.endswith("/images/edits"), time.monotonic()
        try:
            body, form = (b"", await read_form(request)) if edits else (await request.read(), {})
        except web.HTTPRequestEntityTooLarge:
            delivery = too_large(BODY_LIMIT)
        else:
            authorization = request.headers.get("Authorization", "")
            read = partial(read_body, request.path, body, form)
            delivery = decide(read, tries, models, authorization, library=library)
        sent, left = False, 0.0
        try:
            if latency:
                await asyncio.sleep(latency)
            if delivery.fault != "timeout":
                left = time.monotonic()
            response, sent = await deliver(request, delivery)
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
    app.router.add_get("/v1/models", list_models)
    app.cleanup_ctx.append(close_log)
    return app


async def serve(
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    *,
    latency: float = 0.0,
    faults: Faults | None = None,
    log_path: Path | None = None,
    ready: Callable[[str], None] | None = None,
    known: Mapping[str, Profile] | None = None,
    library: PromptLibrary | None = None,
) -> None:
    """Serve until cancelled; `ready` is called with the base URL (`http://host:port/v1`) once connections are accepted.

    Port 0 takes a free one.

    Raises:
        ConfigError: the address is taken or cannot be used, or the log cannot be written.
    """
    app = build_app(latency=latency, faults=faults, log_path=log_path, known=known, library=library)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5, handler_cancellation=True)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise ConfigError(f"cannot listen on {host}:{port}: {error.strerror}; choose another with --port") from None
        if ready is not None:
            shown = f"[{host}]" if ":" in host else host
            ready(f"http://{shown}:{runner.addresses[0][1]}/v1")
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


@contextmanager
def running_server(
    *,
    latency: float = 0.0,
    faults: Faults | None = None,
    log_path: Path | None = None,
    known: Mapping[str, Profile] | None = None,
    library: PromptLibrary | None = None,
) -> Iterator[str]:
    """Serve on a free loopback port from a thread of its own; yields the base URL and stops at the end of the block.

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

    async def work() -> None:
        await serve(
            port=0, latency=latency, faults=faults, log_path=log_path, ready=ready, known=known, library=library
        )

    task = loop.create_task(work())

    def run() -> None:
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        except Exception as error:  # handed to the thread that waits, which raises it
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
