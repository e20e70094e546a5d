"""What every request passes first: its id, the host and the origin it names, its rate, its size, and the headers of the reply."""

import asyncio
import ipaddress
import re
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dokimasia.log import logger
from dokimasia.service.guarding.limits import Limits, Rates
from dokimasia.service.guarding.tokens import Tokens, sent_with
from dokimasia.service.problems import ErrorPage, Refused, refusal
from dokimasia.version import __version__

UPLOADS = "/api/uploads"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
"""The content security policy of every page: only scripts of the service itself run, and nothing comes from elsewhere."""

HEADERS = {
    "dokimasia-version": __version__,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
_AUTHORITY = re.compile(r"([\w.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_of(authority: str) -> str:
    """Return the host of `host:port`, lower-case and without brackets; empty where it is none."""
    found = _AUTHORITY.fullmatch(authority)
    return found[1].strip("[]").lower() if found else ""


def from_elsewhere(headers: Headers, *, safe: bool) -> bool:
    """Whether a page of another origin asks; a link there that a person follows to a page of the service is none.

    Args:
        headers: of the request.
        safe: whether its method changes nothing.
    """
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != headers.get("host", "").lower():
        return True
    followed = safe and headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return headers.get("sec-fetch-site", "").lower() in ("cross-site", "same-site") and not followed


@dataclass(slots=True)
class Guard:
    """The outermost part of the service.

    Attributes:
        app: what answers a request that passes.
        error_page: draws a refusal for a browser; it is drawn before anybody is known, and says nobody's name.
        hosts: names by which the service is reached beside this machine's own; a request that names another is a page's
            elsewhere, whose name was made to lead here.
        tokens: by whose holders requests are counted.
        limits: how much is taken.
    """

    app: ASGIApp
    error_page: ErrorPage
    hosts: Collection[str] = ()
    tokens: Tokens = field(default_factory=Tokens)
    limits: Limits = field(default_factory=Limits)
    rates: Rates = field(init=False)

    def __post_init__(self) -> None:
        """Begin to count."""
        self.rates = Rates(self.limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it before anything looks at it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["id"] = id
        began = time.monotonic()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                out = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    out.setdefault(name, value)
                out.setdefault("content-security-policy", POLICY)
                out.setdefault("cache-control", "no-cache" if scope["path"].startswith("/static/") else "no-store")
                out["x-request-id"] = id
            await send(message)

        try:
            self._check(scope, headers)
            await self.app(scope, _Counted(receive, self._most(scope), self.limits.patience), sending)
        except Refused as refused:
            if status:
                raise
            await refusal(Request(scope), refused, self.error_page)(scope, receive, sending)
        finally:
            logger(__name__).info(
                "request",
                request=id,
                method=scope["method"],
                path=scope["path"],
                status=status,
                seconds=round(time.monotonic() - began, 4),
            )

    def _check(self, scope: Scope, headers: Headers) -> None:
        host = host_of(headers.get("host", ""))
        if not (loopback(host) or host in self.hosts):
            raise Refused(
                HTTPStatus.MISDIRECTED_REQUEST,
                f"this service is not {host or 'a host without a name'}: reach it by its own address, or start it with "
                "--allow-host",
            )
        if from_elsewhere(headers, safe=scope["method"] in SAFE):
            raise Refused(HTTPStatus.FORBIDDEN, "a page of another origin may not ask this service")
        if "content-length" in headers and "transfer-encoding" in headers:
            raise Refused(HTTPStatus.BAD_REQUEST, "the request says its length in two ways: send one of them")
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self._most(scope):
            raise too_large(self._most(scope))
        if (wait := self.rates.wait(self._client(scope))) > 0:
            raise Refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"more than {self.limits.rate:g} requests a second: wait {wait:.2f} s",
                headers={"retry-after": str(max(1, round(wait)))},
            )

    def _client(self, scope: Scope) -> str:
        """Return who asks: the holder of a token that is known, else the address, whatever a header says."""
        person = self.tokens.holder(sent_with(HTTPConnection(scope)))
        return f"token of {person.name}" if person else (scope.get("client") or ("",))[0]

    def _most(self, scope: Scope) -> int:
        path: str = scope["path"]
        return self.limits.upload if path.startswith(UPLOADS) else self.limits.body


def too_large(most: int) -> Refused:
    """Return the refusal of a body that is too long."""
    return Refused(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {most:,} bytes, the most that is taken"
    )


@dataclass(slots=True)
class _Counted:
    """Receives a body and refuses it once it is longer than it may be, whatever its header said, or does not go on."""

    receive: Receive
    most: int
    patience: float
    taken: int = 0
    whole: bool = False

    async def __call__(self) -> Message:
        try:
            message = await asyncio.wait_for(self.receive(), None if self.whole else self.patience)
        except TimeoutError:
            raise Refused(
                HTTPStatus.REQUEST_TIMEOUT,
                f"nothing more of the body came for {self.patience:g} seconds",
                headers={"connection": "close"},
            ) from None
        self.whole = not message.get("more_body", False)
        self.taken += len(message.get("body", b""))
        if self.taken > self.most:
            raise too_large(self.most)
        return message
