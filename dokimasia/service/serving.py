"""The service at an address: refused where it would be open to others without a token, drained when it is told to stop."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn
from anyio.to_thread import current_default_thread_limiter

from dokimasia.errors import ConfigError
from dokimasia.service.app import create_app
from dokimasia.service.guarding.requests import loopback
from dokimasia.service.state import Service

READERS = 8
"""Threads that read at once. They and the event loop take turns, so that each more slows the runs down where much is read."""


def check_address(host: str, *, tokens: bool) -> None:
    """Refuse an address that others reach where no token is asked for.

    Raises:
        ConfigError: with the way out.
    """
    if not loopback(host) and not tokens:
        raise ConfigError(
            f"--host {host}: other machines reach this address, so a token is needed: name a file of tokens with "
            "--token-file, or serve on 127.0.0.1"
        )


class Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it, and says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals as they are."""
        yield


async def serve(
    service: Service,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[str], None] = lambda url: None,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve until `stop`, or without it SIGTERM or Ctrl-C: no new request is taken then, and those under way are answered.

    Args:
        service: what is served.
        host: the address.
        port: the port; 0 takes a free one.
        ready: told the URL once requests are answered.
        stop: set by whoever ends it, who looks after signals then.

    Raises:
        ConfigError: the address is open to others and no token is asked for, or it is taken.
    """
    check_address(host, tokens=service.tokens.needed)
    current_default_thread_limiter().total_tokens = READERS
    config = uvicorn.Config(
        create_app(service),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=10,
    )
    try:
        bound = config.bind_socket()
    except SystemExit:
        raise ConfigError(
            f"{host}:{port} is taken or is no address of this machine; choose another with --port"
        ) from None
    name = f"[{host}]" if ":" in host else host
    server = Server(config, lambda: ready(f"http://{name}:{bound.getsockname()[1]}"))
    stopping = stop or asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in () if stop is not None else (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stopping.set)

    async def end() -> None:
        await stopping.wait()
        service.events.drain()
        server.should_exit = True

    ending = asyncio.ensure_future(end())
    try:
        await server.serve(sockets=[bound])
    finally:
        ending.cancel()
        bound.close()
