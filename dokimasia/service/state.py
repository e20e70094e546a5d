"""The state of a service, which routes receive as a dependency: home, settings, queue of runs, tokens, limits."""

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
from dokimasia.service.allowances import Allowances
from dokimasia.service.cache import FigureCache
from dokimasia.service.engine import RunEngine
from dokimasia.service.guard import SCOPES, AccessTokens, Caller, Limits, token_of_request
from dokimasia.service.run_events import Events
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from dokimasia.storage.runs import Run

AT_ONCE = 2
"""The most simultaneous slow reads: fewer than the threads (`app.READERS`), to leave some for quick requests."""

WAITING = 40
"""The maximum number of slow reads in progress or waiting for their turn."""


@dataclass(slots=True)
class ReadSemaphore:
    """Bounds the number of slow reads.

    Attributes:
        taken: the number in progress or waiting.
    """

    taken: int = 0
    _gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a turn and hold it in the `with` block.

        Raises:
            RequestRefused: too many wait.
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
"""The cookie with the name of the person at a browser, used if no token names them."""


LONGEST_NAME = 100
"""Maximum number of characters of a person's name."""


@dataclass(kw_only=True)
class Service:
    """A service over one home.

    Attributes:
        settings: configuration and keys.
        home: its home, open for writing.
        runner: the queue of runs.
        tokens: the accepted tokens, with their rights.
        limits: its limits on requests.
        data_root: the folder below which requests may name files, besides uploads; None: uploads only.
        workers: the number of processes that execute the graphs of a run; 0 for only this one.
        hosts: its names besides this machine's own.
        allowances: the limits on spending and models that its runner has.
        redact: removes secrets from every text that leaves the service.
        cache: computed figures and pages.
        read_semaphore: bounds the number of slow reads.
        checking: names of the models being checked.
        events: the logs of the runs, which provide the queue's observers (`events.observer_of`).
    """

    settings: Settings
    home: Home
    runner: RunEngine
    tokens: AccessTokens = field(default_factory=AccessTokens)
    limits: Limits = field(default_factory=Limits)
    data_root: Path | None = None
    workers: int = 0
    hosts: Sequence[str] = ()
    allowances: Allowances = field(default_factory=Allowances)
    redact: Redactor = field(default_factory=Redactor, repr=False)
    cache: FigureCache = field(default_factory=FigureCache, repr=False)
    read_semaphore: ReadSemaphore = field(default_factory=ReadSemaphore, repr=False)
    checking: set[str] = field(default_factory=set[str], repr=False)
    events: Events = None  # pyright: ignore[reportAssignmentType]  # made below where it is not given

    def __post_init__(self) -> None:
        """Create the logs of events if none are passed."""
        if self.events is None:  # pyright: ignore[reportUnnecessaryComparison]
            self.events = Events(self.home, self.redact)

    def configure(self, settings: Settings) -> None:
        """Use other settings from now on, also for runs that are accepted or resumed."""
        self.settings = settings
        self.runner.configure(settings)
        self.redact.add(settings.secrets)

    def run(self, name: str) -> Run:
        """Return a run by its name, the beginning of its id, or `last`.

        Raises:
            NotFound: there is no such run.
        """
        return resolve_run(self.home, name)


def service_of(request: Request) -> Service:
    """Return the service that answers a request."""
    service: Service = request.app.state.service
    return service


def person_of(request: Request) -> Caller:
    """Return the caller: the holder of the token in the header or cookie; without tokens, the person at this machine.

    Raises:
        RequestRefused: a token is needed, and it is missing or unknown.
    """
    service = service_of(request)
    if not service.tokens.needed:
        return Caller(_name_at_browser(request), frozenset(SCOPES), self_named=True)
    token = token_of_request(request)
    if token and service.tokens.is_own(token):
        return Caller(_name_at_browser(request), frozenset(SCOPES), self_named=True)
    person = service.tokens.holder(token) if token else None
    if person is None:
        raise RequestRefused(
            HTTPStatus.UNAUTHORIZED,
            "this token is not known" if token else "a token is needed: send it as Authorization: Bearer TOKEN",
            headers={"www-authenticate": "Bearer"},
        )
    return person


class Needs:
    """A route dependency that requires a right and returns the `Caller`, as in `Depends(Needs("run"))`."""

    def __init__(self, scope: Right) -> None:
        self.scope: Right = scope

    def __call__(self, request: Request) -> Caller:
        """Return the caller.

        Raises:
            RequestRefused: the caller lacks the right.
        """
        person = person_of(request)
        if self.scope not in person.scopes:
            reason = f"the token of {person.name} lacks the scope {self.scope!r}: ask whoever runs this service for it"
            raise RequestRefused(HTTPStatus.FORBIDDEN, reason)
        return person


TheService = Annotated[Service, Depends(service_of)]
Reader = Annotated[Caller, Depends(Needs("read"))]
Starter = Annotated[Caller, Depends(Needs("run"))]
Reviewer = Annotated[Caller, Depends(Needs("review"))]
Operator = Annotated[Caller, Depends(Needs("operate"))]


async def _wait_for_turn(service: TheService, person: Reader) -> AsyncIterator[None]:
    async with service.read_semaphore.slot():
        yield


IN_TURN = Depends(_wait_for_turn, scope="function")
"""For the `dependencies` of a slow route: waits for a turn, once the caller's right to read has been checked."""


def _name_at_browser(request: Request) -> str:
    """Return the name of the person at a browser or terminal, used if no token names them."""
    plain = "".join(
        character if character.isprintable() else " " for character in unquote(request.cookies.get(WHO_COOKIE, ""))
    )
    return " ".join(plain.split())[:LONGEST_NAME] or _user()


@cache
def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # the system knows no name, as in some containers
        return "somebody"
