"""What the service is made of, and how a route gets at it: home, settings, the queue of runs, tokens, limits."""

import asyncio
import getpass
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Request

from dokimasia.log import Redactor
from dokimasia.operations.operation import RequestRefused, Right
from dokimasia.service.cache import FigureCache
from dokimasia.service.engine import RunEngine
from dokimasia.service.guard import SCOPES, AccessTokens, Caller, Limits, token_of_request
from dokimasia.service.run_events import Events
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from dokimasia.storage.runs import Run

AT_ONCE = 2
"""Fewer than there are threads that read (`serving.READERS`): the others answer what takes no time, and the runs go on."""

WAITING = 40
"""Readings that are under way or wait for their turn."""


@dataclass(slots=True)
class ReadSemaphore:
    """Bounds how many readings that may take long are under way.

    Attributes:
        taken: how many are under way or wait.
    """

    taken: int = 0
    _gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it for the time inside.

        Raises:
            Refused: too many wait.
        """
        if self.taken >= WAITING:
            raise RequestRefused(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{WAITING} readings that take long are under way or wait: come again later",
                headers={"retry-after": "10"},
            )
        self.taken += 1
        try:
            async with self._gate:
                yield
        finally:
            self.taken -= 1


WHO_COOKIE = "dokimasia_who"
"""The cookie that holds the name of who sits at a browser, where no token says it."""


LONGEST_NAME = 100
"""Characters of the name under which a decision is kept."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A service over one home.

    Attributes:
        settings: configuration and keys.
        home: its home, open for writing.
        runner: the queue of runs.
        tokens: who may ask what.
        limits: how much.
        data_root: the folder below which requests may name files, beside uploads; None: uploads only.
        workers: how many processes walk the graphs of a run; 0: this one alone.
        hosts: names by which it is reached, beside this machine's own.
        redact: applied to every text that leaves.
        cache: figures and pages that were worked out.
        read_semaphore: bounds how many readings that may take long are under way.
        events: what happens in the runs; whoever makes the queue has it make its observers (`events.observing`).
    """

    settings: Settings
    home: Home
    runner: RunEngine
    tokens: AccessTokens = field(default_factory=AccessTokens)
    limits: Limits = field(default_factory=Limits)
    data_root: Path | None = None
    workers: int = 0
    hosts: Sequence[str] = ()
    redact: Redactor = field(default_factory=Redactor, repr=False)
    cache: FigureCache = field(default_factory=FigureCache, repr=False)
    read_semaphore: ReadSemaphore = field(default_factory=ReadSemaphore, repr=False)
    events: Events = None  # pyright: ignore[reportAssignmentType]  # made below where it is not given

    def __post_init__(self) -> None:
        """Make the logs of events where the queue has none."""
        if self.events is None:  # pyright: ignore[reportUnnecessaryComparison]
            object.__setattr__(self, "events", Events(self.home, self.redact))

    def run(self, name: str) -> Run:
        """Return a run by its name, the beginning of its id, or `last`.

        Raises:
            NotFound: there is none.
        """
        return resolve_run(self.home, name)


def service_of(request: Request) -> Service:
    """Return the service that answers a request."""
    service: Service = request.app.state.service
    return service


def person_of(request: Request) -> Caller:
    """Return who asks: the holder of the token in the header or the cookie; without tokens, whoever sits here.

    Raises:
        Refused: a token is needed, and there is none, or nobody's.
    """
    service = service_of(request)
    if not service.tokens.needed:
        return Caller(_named(request), frozenset(SCOPES), self_named=True)
    given = token_of_request(request)
    if given and service.tokens.is_own(given):
        return Caller(_named(request), frozenset(SCOPES), self_named=True)
    person = service.tokens.holder(given) if given else None
    if person is None:
        raise RequestRefused(
            HTTPStatus.UNAUTHORIZED,
            "this token is not known" if given else "a token is needed: send it as Authorization: Bearer TOKEN",
            headers={"www-authenticate": "Bearer"},
        )
    return person


class Needs:
    """A route's dependency: who asks, once it is sure that they may.

    `Depends(Needs("run"))` gives the `Caller`.
    """

    def __init__(self, scope: Right) -> None:
        self.scope: Right = scope

    def __call__(self, request: Request) -> Caller:
        """Return who asks.

        Raises:
            Refused: they may not.
        """
        person = person_of(request)
        if self.scope not in person.scopes:
            lacks = f"the token of {person.name} lacks the scope {self.scope!r}: ask whoever runs this service for it"
            raise RequestRefused(HTTPStatus.FORBIDDEN, lacks)
        return person


TheService = Annotated[Service, Depends(service_of)]
Reader = Annotated[Caller, Depends(Needs("read"))]
Starter = Annotated[Caller, Depends(Needs("run"))]
Reviewer = Annotated[Caller, Depends(Needs("review"))]


async def _turn(service: TheService, person: Reader) -> AsyncIterator[None]:
    async with service.read_semaphore.slot():
        yield


IN_TURN = Depends(_turn, scope="function")
"""For the `dependencies` of a route whose reading may take long; whoever may not read is refused before a turn is waited for."""


def _named(request: Request) -> str:
    """Return who sits at a browser or a terminal, where no token says it."""
    plain = "".join(one if one.isprintable() else " " for one in unquote(request.cookies.get(WHO_COOKIE, "")))
    return " ".join(plain.split())[:LONGEST_NAME] or _user()


@cache
def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name is known to the system, as in some containers
        return "somebody"
