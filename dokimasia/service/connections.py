"""Connections of the service: their number, the time for their headers, and the descriptors reserved for runs."""

import asyncio
import logging
import resource
from collections import OrderedDict
from dataclasses import dataclass, field

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from dokimasia.domain.identity import JsonObject
from dokimasia.log import logger

CONNECTIONS = 4_000
"""The maximum number of simultaneous connections; fewer if the process may open fewer descriptors."""

BACKLOG = 64
"""The connections accepted in one turn of the event loop, before any of them can be closed again."""

HEADER_PATIENCE = 10.0
"""Seconds for a connection to send the headers of a request."""

QUIET_TIME = 60.0
"""Seconds between two log lines about the same trouble."""


def descriptors() -> int:
    """Raise this process's limit on open files as far as the system allows, and return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    if soft == resource.RLIM_INFINITY:
        return 65_536
    return soft


def connections_for(descriptors: int) -> int:
    """Return the maximum number of connections for this many descriptors: half of them; the rest is for runs.

    Example:
        >>> connections_for(1024), connections_for(65_536)
        (512, 4000)
    """
    return max(16, min(CONNECTIONS, descriptors // 2))


def drop_repeated(record: logging.LogRecord) -> bool:
    """Return whether to write a record of uvicorn's log, which excludes those that `Troubles` writes once a minute."""
    return not record.getMessage().startswith("Invalid HTTP request")


@dataclass(slots=True)
class Troubles:
    """Log lines about recurring troubles: the first at once, then one a minute with their number."""

    counts: dict[str, int] = field(default_factory=dict[str, int])

    def note(self, message: str) -> None:
        """Count a trouble, and write a line about it unless there was one within the last minute."""
        if message in self.counts:
            self.counts[message] += 1
            return
        self.counts[message] = 0
        logger(__name__).warning(message)
        asyncio.get_running_loop().call_later(QUIET_TIME, self._sum_up, message)

    def _sum_up(self, message: str) -> None:
        count = self.counts.pop(message)
        if count:
            self.counts[message] = 0
            logger(__name__).warning(message, times=count, seconds=QUIET_TIME)
            asyncio.get_running_loop().call_later(QUIET_TIME, self._sum_up, message)


@dataclass(slots=True)
class ConnectionLimit:
    """The connections of one server.

    At the limit, a new connection replaces the one that has waited longest without an active request, so that half-sent
    headers keep nobody out. If all have an active request, the new one is closed.

    Attributes:
        most: the maximum number of simultaneous connections.
        patience: seconds for the headers of a request.
        troubles: logs refused and closed connections.
        count: the number of open connections.
        idle: connections without an active request, the longest idle first.
    """

    most: int = CONNECTIONS
    patience: float = HEADER_PATIENCE
    troubles: Troubles = field(default_factory=Troubles)
    count: int = 0
    idle: "OrderedDict[BoundedConnection, None]" = field(default_factory=OrderedDict["BoundedConnection", None])

    def add(self, connection: "BoundedConnection") -> bool:
        """Count a new connection; return whether it is accepted."""
        self.count += 1
        if self.count <= self.most:
            return True
        self.troubles.note(
            f"there are {self.most} connections, which is the most: the longest idle is closed for a new one"
        )
        longest_idle = next(iter(self.idle), None)
        if longest_idle is None:
            return False
        longest_idle.close_at_once()
        return True

    def handle_loop_problem(self, loop: asyncio.AbstractEventLoop, context: JsonObject) -> None:
        """Handle an exception of the event loop; one repeated by a flood of connections is logged once a minute."""
        if "socket.accept()" in str(context.get("message", "")):
            self.troubles.note(f"no connection can be accepted: {context.get('exception')}")
            return
        loop.default_exception_handler(context)


class BoundedConnection(H11Protocol):
    """A connection within a `ConnectionLimit`; it is closed if the headers of a request do not arrive in time."""

    def __init__(self, config: Config, limit: ConnectionLimit, **state: object) -> None:
        super().__init__(config, **state)  # pyright: ignore[reportArgumentType]  # what uvicorn hands over
        self._limit = limit
        self._deadline: asyncio.TimerHandle | None = None
        self._open = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Accept the connection, or close it."""
        super().connection_made(transport)
        self._open = True
        if self._limit.add(self):
            self._watch()
        else:
            self.close_at_once()

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection's place."""
        self._leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read received data."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """End a request."""
        super().on_response_complete()
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Refuse malformed HTTP, and close."""
        self._limit.troubles.note("what came on a connection is no HTTP: it was refused")
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def close_at_once(self) -> None:
        """Close without an answer, and release the place now."""
        self._leave()
        self.transport.abort()

    def _leave(self) -> None:
        if self._open:
            self._open = False
            self._limit.count -= 1
        self._limit.idle.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _watch(self) -> None:
        """Start the timeout for the next headers if no request is active, and cancel it otherwise."""
        at_work = self.cycle is not None and not self.cycle.response_complete
        if at_work or not self._open:
            self._limit.idle.pop(self, None)
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None
        elif self._deadline is None:
            self._limit.idle[self] = None
            self._deadline = self.loop.call_later(self._limit.patience, self._too_late)

    def _too_late(self) -> None:
        self._deadline = None
        self._limit.troubles.note(f"no whole request came within {self._limit.patience:g} s: the connection is closed")
        self.close_at_once()
