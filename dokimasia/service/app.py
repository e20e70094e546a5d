"""The service as an ASGI application, and a server for it, which requires tokens if other machines can reach it."""

import asyncio
import importlib
import logging
import pkgutil
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import resources

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

from dokimasia.domain.identity import JsonObject
from dokimasia.errors import ConfigError
from dokimasia.service import pages
from dokimasia.service.connections import (
    BACKLOG,
    BoundedConnection,
    ConnectionLimit,
    connections_for,
    descriptors,
    drop_repeated,
)
from dokimasia.service.drawing import error_page, refusal_page
from dokimasia.service.guard import Guard, loopback
from dokimasia.service.metrics import Metrics, RequestMeter
from dokimasia.service.problems import PROBLEMS, handle_problems
from dokimasia.service.response_cache import ResponseCache
from dokimasia.service.routes import api_routers
from dokimasia.service.state import Service
from dokimasia.version import __version__

DESCRIPTION = """Runs of every method over HTTP: begin, watch, stop, resume, fork, show, export, report; uploads, trees,
and decisions of people. Errors are `application/problem+json` with the sentence that the command line prints."""


def create_app(service: Service) -> FastAPI:
    """Return the application of a service, with the router of each module of `routes` and `pages` that has one."""
    metrics = Metrics(service)
    app = FastAPI(
        title="Dokimasia",
        version=__version__,
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        middleware=[
            Middleware(RequestMeter, metrics=metrics),
            Middleware(
                Guard,
                error_page=refusal_page,
                hosts=tuple(service.hosts),
                tokens=service.tokens,
                limits=service.limits,
            ),
            Middleware(ResponseCache, service=service),
        ],
    )
    app.state.service, app.state.metrics = service, metrics
    handle_problems(app, partial(_for_callers, service), error_page=error_page)
    for router in api_routers():
        app.include_router(router, prefix="/api")
    for router in page_routers():
        for route in router.routes:
            if isinstance(route, APIRoute) and route.methods and "GET" in route.methods:
                route.methods.add("HEAD")
        app.include_router(router, include_in_schema=False)
    static = str(resources.files("dokimasia.service").joinpath("static"))
    app.mount("/static", StaticFiles(directory=static), name="static")
    app.openapi = partial(_description, app, app.openapi, tokens=service.tokens.needed)
    return app


def _for_callers(service: Service, text: str) -> str:
    """Return a message without secrets; for holders of tokens also without the folder of the home."""
    text = service.redact(text)
    if service.tokens.needed:
        for folder in {str(service.home.path), str(service.home.path.resolve())}:
            text = text.replace(folder, "the home")
    return text


SCHEME = "token"
OPEN = ("/api/health", "/api/openapi.json")
"""Paths of the API that need no token."""


def _description(app: FastAPI, describe: Callable[[], JsonObject], *, tokens: bool) -> JsonObject:
    """Return the OpenAPI description, with the token that routes need where the service has a file of tokens."""
    if app.openapi_schema is None:
        description = describe()
        schemes = {
            SCHEME: {"type": "http", "scheme": "bearer", "description": "A token of the service's --token-file."}
        }
        description.setdefault("components", {})["securitySchemes"] = schemes
        for path, methods in description["paths"].items():
            for operation in methods.values() if tokens and path not in OPEN else ():
                operation["security"] = [{SCHEME: []}]
    return app.openapi_schema or {}


def page_routers() -> Iterator[APIRouter]:
    """Yield the routers of the modules of `pages` that have one, in the order of their names."""
    for info in sorted(pkgutil.iter_modules(pages.__path__), key=lambda module: module.name):
        module = importlib.import_module(f"{pages.__name__}.{info.name}")
        if hasattr(module, "router"):
            yield module.router


READERS = 8
"""Threads that answer reads. They share the interpreter with the event loop, so more of them would slow the runs."""


def check_address(host: str, *, tokens: bool) -> None:
    """Refuse an address that other machines can reach if no tokens are configured.

    Raises:
        ConfigError: the address is open to others; the message says what to do.
    """
    if not loopback(host) and not tokens:
        raise ConfigError(
            f"--host {host}: other machines reach this address, so a token is needed: name a file of tokens with "
            "--token-file, or serve on 127.0.0.1"
        )


class Server(uvicorn.Server):
    """A server that installs no signal handlers, and calls `ready` once it accepts requests."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then call `ready`."""
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no handlers."""
        yield


async def serve(
    service: Service,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[str], None] = lambda url: None,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve until `stop` is set, or without it until SIGTERM or Ctrl-C. Requests in progress are still answered.

    Args:
        service: the service.
        host: the address.
        port: the port; 0 for a free one.
        ready: called with the URL once requests are answered.
        stop: ends the server when set; the caller then handles signals.

    Raises:
        ConfigError: the address is open to others without tokens, or is already in use.
    """
    check_address(host, tokens=service.tokens.needed)
    current_default_thread_limiter().total_tokens = READERS
    limit = ConnectionLimit(connections_for(descriptors()))
    streams = min(service.limits.streams, limit.most * 3 // 4)  # the rest is for other requests
    service = replace(service, limits=replace(service.limits, streams=streams))
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(limit.handle_loop_problem)
    logging.getLogger("uvicorn.error").addFilter(drop_repeated)
    config = uvicorn.Config(
        create_app(service),
        host=host,
        port=port,
        http=partial(BoundedConnection, limit=limit),  # pyright: ignore[reportArgumentType]  # called like the class
        backlog=BACKLOG,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=10,
    )
    try:
        listener = config.bind_socket()
    except SystemExit:
        raise ConfigError(
            f"{host}:{port} is taken or is no address of this machine; choose another with --port"
        ) from None
    name = f"[{host}]" if ":" in host else host
    server = Server(config, lambda: ready(f"http://{name}:{listener.getsockname()[1]}"))
    stopping = stop or asyncio.Event()
    for signal_number in () if stop is not None else (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal_number, stopping.set)

    async def end() -> None:
        await stopping.wait()
        service.events.drain()
        server.should_exit = True

    ending = asyncio.ensure_future(end())
    try:
        await server.serve(sockets=[listener])
    finally:
        ending.cancel()
        listener.close()
