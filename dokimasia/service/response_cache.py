"""Answers to reads that are given again as long as they hold, so that reading takes little from the runs at work."""

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
"""Seconds for which an answer that shows a run at work is given again while that goes on; twice as long to those who ask
while the next one is made."""

SPARED = 5
"""An answer that took long is fresh for so many times as long as it took, so that figures of a large run do not slow it."""

LARGEST, MOST = 4_000_000, 64_000_000
"""Bytes of an answer that is kept, and of all of them; the one not asked for longest is forgotten first."""


def keep(request: Request, *runs: Run) -> None:
    """Have the answer to a request given again until something in the home changes, to the same person.

    What the runs at work add is no such change, but where one of these `runs` is at work, whose rows the answer shows.
    Such an answer rests on path, query and person alone, and on no other header.
    """
    request.state.kept = not any(run.status in AT_WORK for run in runs)


@dataclass(slots=True)
class CachedAnswer:
    """An answer as it was sent.

    Attributes:
        headers: of the reply, before the guard's own.
        body: its bytes.
        route: what answered, which the metrics name.
        stands: what changes with everything that it rests on but what runs at work add.
        additions: what changes with these; None: it does not rest on them.
        began: when it was asked for, by the monotonic clock.
        took: seconds until it was there.
        renewed: whether the next one is being made.
    """

    headers: list[tuple[bytes, bytes]]
    body: bytes
    route: Any
    stands: Hashable
    additions: int | None
    began: float
    took: float = 0.0
    renewed: bool = False

    def holds(self, stands: Hashable, additions: int) -> bool:
        """Whether it is to be given again; of those who ask when it is no longer fresh one is told no, and makes the next."""
        if stands != self.stands:
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
    """Gives an answer again in the event loop, without a thread, a query or a template, where its route asked for that."""

    app: ASGIApp
    service: Service = field(kw_only=True)
    _known: Recent[Hashable, CachedAnswer] = field(default_factory=lambda: Recent(MOST))
    _making: dict[Hashable, asyncio.Event] = field(default_factory=dict[Hashable, asyncio.Event])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with what was answered before where that holds."""
        key = None if self.service.home.stands is None else self._key(scope)
        if key is None:
            await self.app(scope, receive, send)
            return
        while (known := self._holding(key)) is None and key in self._making:
            await self._making[key].wait()  # of many who ask for the same when it has changed, one makes it
        if known is not None:
            scope["route"] = known.route
            await send({"type": "http.response.start", "status": 200, "headers": list(known.headers)})
            await send({"type": "http.response.body", "body": known.body})
            return
        state: dict[str, Any] = scope.setdefault("state", {})
        answer: CachedAnswer | None = None
        (stands, additions), began = self._stands(), monotonic()
        making = asyncio.Event()
        if self._known.get(key) is not None:
            self._making[key] = making

        async def sending(message: Message) -> None:
            nonlocal answer
            if message["type"] == "http.response.start" and message["status"] == 200 and "kept" in state:
                rests_on = None if state["kept"] else additions
                answer = CachedAnswer(list(message["headers"]), b"", scope.get("route"), stands, rests_on, began)
            elif message["type"] == "http.response.body" and answer is not None:
                answer.body += message.get("body", b"")
                if not message.get("more_body"):
                    answer.took = monotonic() - began
                    self._known.drop(key)
                    if len(answer.body) <= LARGEST:
                        self._known.put(key, answer, len(answer.body))
                    self._made(key, making)
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            if self._making.get(key) is making:  # nothing was kept, so that nobody need wait for the next one
                self._known.drop(key)
                self._made(key, making)

    def _stands(self) -> tuple[Hashable, int]:
        """Return what changes with everything but what runs at work add, and what changes with that."""
        changes, additions = self.service.home.stands or (0, 0)
        return (changes, self.service.cache.computed), additions

    def _holding(self, key: Hashable) -> CachedAnswer | None:
        """Return the answer that is to be given again."""
        known = self._known.get(key)
        return known if known is not None and known.holds(*self._stands()) else None

    def _made(self, key: Hashable, making: asyncio.Event) -> None:
        if self._making.get(key) is making:
            del self._making[key]
        making.set()

    def _key(self, scope: Scope) -> Hashable | None:
        """Return what tells the answer to a request from others, None where it is no read, or nobody may ask."""
        if scope["type"] != "http" or scope["method"] != "GET":
            return None
        try:
            return scope["path"], scope["query_string"], person_of(Request(scope))
        except RequestRefused:
            return None
