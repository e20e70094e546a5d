"""A cache of responses to GET requests, so that viewers take little time from the runs at work."""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dokimasia.operations.operation import RequestRefused
from dokimasia.service.state import Service, person_of
from dokimasia.storage.content.recent import Recent
from dokimasia.storage.runs import AT_WORK, Run

FRESH = 1.0
"""Seconds for which a response about a run at work is reused; twice as long while its replacement is being made."""

SPARED = 5
"""A slow response stays fresh for this many times its duration, so that figures of a large run do not slow the run."""

LARGEST, MOST = 4_000_000, 64_000_000
"""Bytes of one cached response and of all; the least recently used is dropped first."""


def keep(request: Request, *runs: Run) -> None:
    """Cache the response to a request, for the same person, until the home changes.

    Rows added by runs at work count as a change only if one of these `runs`, which the response shows, is at work. A
    cached response must depend only on path, query and person, and on no other header.
    """
    request.state.kept = not any(run.status in AT_WORK for run in runs)


@dataclass(slots=True)
class CachedResponse:
    """A cached response.

    Attributes:
        headers: its headers, without those of the guard.
        body: its bytes.
        route: the route that answered, for the metrics.
        version: the version of everything it depends on, except rows added by runs at work.
        additions: the version of these rows; None if it does not depend on them.
        began: the time of the request, by the monotonic clock.
        took: seconds until it was complete.
        renewed: whether its replacement is being made.
    """

    headers: list[tuple[bytes, bytes]]
    body: bytes
    route: Any
    version: Hashable
    additions: int | None
    began: float
    took: float = 0.0
    renewed: bool = False

    def is_reusable(self, version: Hashable, additions: int) -> bool:
        """Return whether it can be reused. Once stale, one caller gets False and replaces it; the others reuse it."""
        if version != self.version:
            return False
        if self.additions in (None, additions):
            return True
        fresh = max(FRESH, SPARED * self.took)
        if monotonic() - self.began < (2 * fresh if self.renewed else fresh):
            return True
        self.renewed = True
        return False


@dataclass(slots=True)
class ResponseCache:
    """Middleware that reuses responses, without a thread, a query or a template, for routes that call `keep`."""

    app: ASGIApp
    service: Service = field(kw_only=True)
    _cached: Recent[Hashable, CachedResponse] = field(default_factory=lambda: Recent(MOST))
    _making: dict[Hashable, asyncio.Event] = field(default_factory=dict[Hashable, asyncio.Event])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, from the cache if possible."""
        key = None if self.service.home.stands is None else self._key(scope)
        if key is None:
            await self.app(scope, receive, send)
            return
        while (cached := self._reusable(key)) is None and key in self._making:
            await self._making[key].wait()  # after a change, only one of several identical requests makes the response
        if cached is not None:
            scope["route"] = cached.route
            await send({"type": "http.response.start", "status": 200, "headers": list(cached.headers)})
            await send({"type": "http.response.body", "body": cached.body})
            return
        state: dict[str, Any] = scope.setdefault("state", {})
        response: CachedResponse | None = None
        (version, additions), began = self._versions(), monotonic()
        making = asyncio.Event()
        if self._cached.get(key) is not None:
            self._making[key] = making

        async def send_and_cache(message: Message) -> None:
            nonlocal response
            if message["type"] == "http.response.start" and message["status"] == 200 and "kept" in state:
                depends_on = None if state["kept"] else additions
                response = CachedResponse(list(message["headers"]), b"", scope.get("route"), version, depends_on, began)
            elif message["type"] == "http.response.body" and response is not None:
                response.body += message.get("body", b"")
                if not message.get("more_body"):
                    response.took = monotonic() - began
                    self._cached.drop(key)
                    if len(response.body) <= LARGEST:
                        self._cached.put(key, response, len(response.body))
                    self._finish(key, making)
            await send(message)

        try:
            await self.app(scope, receive, send_and_cache)
        finally:
            if self._making.get(key) is making:  # nothing was cached, so nobody needs to wait
                self._cached.drop(key)
                self._finish(key, making)

    def _versions(self) -> tuple[Hashable, int]:
        """Return the version of everything except rows added by runs at work, and the version of these rows."""
        changes, additions = self.service.home.stands or (0, 0)
        return (changes, self.service.cache.computed), additions

    def _reusable(self, key: Hashable) -> CachedResponse | None:
        """Return the cached response to reuse, if there is one."""
        cached = self._cached.get(key)
        if cached is not None and cached.is_reusable(*self._versions()):
            return cached
        return None

    def _finish(self, key: Hashable, making: asyncio.Event) -> None:
        if self._making.get(key) is making:
            del self._making[key]
        making.set()

    def _key(self, scope: Scope) -> Hashable | None:
        """Return the cache key of a request; None if it is not a GET request, or the caller has no access."""
        if scope["type"] != "http" or scope["method"] != "GET":
            return None
        try:
            return scope["path"], scope["query_string"], person_of(Request(scope))
        except RequestRefused:
            return None
