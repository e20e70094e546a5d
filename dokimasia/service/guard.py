"""The outermost layer of the service: request ids, and checks of host, origin, rate, size and token."""

import asyncio
import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import get_args

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dokimasia.errors import ConfigError
from dokimasia.log import logger
from dokimasia.operations.operation import RequestRefused, Right
from dokimasia.service.problems import ErrorPage, refusal
from dokimasia.version import __version__

MANY_CLIENTS = 10_000
"""The number of clients whose rates are tracked; the least recently seen client is dropped first."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a service.

    Attributes:
        rate: requests per second of one client, on average.
        burst: requests of one client in quick succession.
        body: bytes of a request body.
        upload: bytes of an uploaded file.
        streams: simultaneously open event streams.
        patience: seconds to wait for the next piece of a body, and for a body in addition to the time that `slowest`
            allows.
        slowest: the minimum average rate of a body, in bytes per second.
    """

    rate: float = 200.0
    burst: int = 600
    body: int = 1_000_000
    upload: int = 2_000_000_000
    streams: int = 2_000
    patience: float = 60.0
    slowest: int = 1_000


@dataclass(slots=True)
class RateLimiter:
    """Rate limits by client, each with a token bucket."""

    limits: Limits
    clock: Callable[[], float] = time.monotonic
    _buckets: "OrderedDict[str, tuple[float, float]]" = field(default_factory=OrderedDict[str, tuple[float, float]])

    def wait(self, client: str) -> float:
        """Count one request of a client; return 0 if it is accepted, else the seconds until the next one would be."""
        now = self.clock()
        tokens, last_request = self._buckets.pop(client, (float(self.limits.burst), now))
        tokens = min(float(self.limits.burst), tokens + (now - last_request) * self.limits.rate)
        seconds = max(0.0, 1.0 - tokens) / self.limits.rate
        self._buckets[client] = (tokens if seconds else tokens - 1.0, now)
        while len(self._buckets) > MANY_CLIENTS:
            self._buckets.popitem(last=False)
        return seconds


SCOPES: tuple[Right, ...] = get_args(Right)
COOKIE = "dokimasia_token"
"""The cookie that holds a browser's token: HttpOnly, SameSite=Strict."""

SHORTEST = 16
"""Minimum number of characters of a token."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller: name, rights, and whether the name is self-declared, so that they may also act for others."""

    name: str
    scopes: frozenset[Right]
    self_named: bool = False

    @property
    def payer(self) -> str:
        """The name whose allowance runs count against; empty for a caller without their own token."""
        return "" if self.self_named else self.name


@dataclass(slots=True)
class AccessTokens:
    """The tokens that a service accepts; without any, everyone who reaches it may do everything.

    Attributes:
        known: the SHA-256 of each token, and its holder.
        own: the SHA-256 of the token of this user's own commands on this machine, which may act for anyone.
    """

    known: Sequence[tuple[bytes, Caller]] = field(default=(), repr=False)
    own: bytes = field(default=b"", repr=False)

    @property
    def needed(self) -> bool:
        """Whether a request needs a token."""
        return bool(self.known)

    def holder(self, token: str) -> Caller | None:
        """Return the holder of a token, or None. Compares all tokens, so that timing reveals nothing."""
        digest = token_digest(token)
        holder: Caller | None = None
        for token_hash, person in self.known:
            if hmac.compare_digest(token_hash, digest):
                holder = person
        return holder

    def is_own(self, token: str) -> bool:
        """Whether a token belongs to this user's own commands on this machine."""
        return hmac.compare_digest(self.own, token_digest(token)) and bool(self.own)

    def replace_known(self, others: "AccessTokens") -> None:
        """Accept other tokens from now on; the token of this user's own commands stays."""
        self.known = others.known

    def with_own(self, token: str) -> "AccessTokens":
        """Return these tokens with another for this user's own commands on this machine."""
        return AccessTokens(self.known, token_digest(token))


def token_of_request(request: HTTPConnection) -> str:
    """Return the token in a request's header or cookie; empty if there is none."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    return request.cookies.get(COOKIE, "")


def read_tokens(path: Path) -> AccessTokens:
    """Read a file of tokens: on each line a name, comma-separated scopes, and the token; `#` starts a comment.

    Raises:
        ConfigError: the file cannot be read, others may read it, or a line is wrong; no message contains a token.
    """
    try:
        text = path.read_text(encoding="utf-8")
        others_rights = path.stat().st_mode & 0o077
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(
            f"--token-file {path} cannot be read: {getattr(problem, 'strerror', 'no UTF-8 text')}"
        ) from None
    if others_rights:
        raise ConfigError(f"--token-file {path}: other users of this machine may read it; run chmod 600 {path}")
    holders: list[tuple[bytes, Caller]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        place = f"--token-file {path}, line {number}"
        if len(words) != 3:
            raise ConfigError(f"{place}: write a name, its scopes and the token, such as: ana read,review TOKEN")
        name, scopes, token = words
        unknown = sorted(set(scopes.split(",")) - set(SCOPES))
        if unknown:
            raise ConfigError(f"{place}: there is no scope {', '.join(unknown)}; scopes are {', '.join(SCOPES)}")
        if len(token) < SHORTEST:
            raise ConfigError(f"{place}: a token has at least {SHORTEST} characters")
        if not token.isascii():
            raise ConfigError(
                f"{place}: a token has letters, digits and signs of ASCII alone, since a header carries it"
            )
        if token_digest(token) in {digest for digest, _ in holders}:
            raise ConfigError(f"{place}: the same token stands above already")
        granted = frozenset[Right](scope for scope in SCOPES if scope == "read" or scope in scopes.split(","))
        holders.append((token_digest(token), Caller(name, granted)))
    if not holders:
        raise ConfigError(f"--token-file {path} holds no token")
    return AccessTokens(tuple(holders))


TOKEN_INTERVAL = 2.0
"""Seconds between two checks of the file of tokens."""


async def follow_tokens(path: Path | None, tokens: AccessTokens, *, interval: float = TOKEN_INTERVAL) -> None:
    """Accept the tokens of a file as it changes; a broken or missing file changes nothing but is logged."""
    last = None if path is None else _state_of(path)
    while path is not None:
        await asyncio.sleep(interval)
        state = _state_of(path)
        if state == last:
            continue
        last = state
        try:
            tokens.replace_known(read_tokens(path))
        except ConfigError as problem:
            logger(__name__).error("the tokens stay as they are", problem=str(problem))
        else:
            logger(__name__).warning("the file of tokens was read again", tokens=len(tokens.known))


def _state_of(path: Path) -> tuple[int, ...] | None:
    """Return the state of a file that changes with it: its identity, time, size and rights; None if it is missing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode


def token_digest(token: str) -> bytes:
    """Return the SHA-256 that identifies a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


UPLOADS = "/api/uploads"
HEALTH = "/healthz"
"""The path answered under every host name, since balancers ask by address; it reveals nothing of the home."""

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
"""The content security policy of every page: only the service's own scripts run, and nothing loads from elsewhere."""

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
    """Return whether a host name or address means this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_of(authority: str) -> str:
    """Return the host of `host:port`, lower-case and without brackets; empty if malformed."""
    match = _AUTHORITY.fullmatch(authority)
    if match:
        return match[1].strip("[]").lower()
    return ""


def from_elsewhere(headers: Headers, *, safe: bool) -> bool:
    """Return whether a page of another origin sent the request; following a link to a page of the service does not
    count.

    Args:
        headers: the headers of the request.
        safe: whether the method changes nothing.
    """
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != headers.get("host", "").lower():
        return True
    is_link = safe and headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return headers.get("sec-fetch-site", "").lower() in ("cross-site", "same-site") and not is_link


@dataclass(slots=True)
class Guard:
    """The outermost middleware of the service.

    Attributes:
        app: the application that answers accepted requests.
        error_page: draws a refusal for a browser, before the caller is known.
        hosts: names of the service besides this machine's own; a request for any other name comes from a foreign page
            whose name was made to resolve to this address (DNS rebinding).
        tokens: the accepted tokens; requests are counted by their holders.
        limits: the limits of the service.
    """

    app: ASGIApp
    error_page: ErrorPage
    hosts: Collection[str] = ()
    tokens: AccessTokens = field(default_factory=AccessTokens)
    limits: Limits = field(default_factory=Limits)
    rates: RateLimiter = field(init=False)

    def __post_init__(self) -> None:
        """Create the rate limiter."""
        self.rates = RateLimiter(self.limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it before the application sees it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        sent_id = headers.get("x-request-id", "")
        id = sent_id if _REQUEST_ID.fullmatch(sent_id) else secrets.token_hex(8)
        scope.setdefault("state", {})["id"] = id
        began = time.monotonic()
        status = 0

        async def send_with_headers(message: Message) -> None:
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
            await self.app(scope, _BoundedBody(receive, self._most(scope), self.limits), send_with_headers)
        except RequestRefused as refused:
            if status:
                raise
            await refusal(Request(scope), refused, self.error_page)(scope, receive, send_with_headers)
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
        if not (loopback(host) or host in self.hosts or scope["path"] == HEALTH):
            raise RequestRefused(
                HTTPStatus.MISDIRECTED_REQUEST,
                f"this service is not {host or 'a host without a name'}: reach it by its own address, or start it with "
                "--allow-host",
            )
        if from_elsewhere(headers, safe=scope["method"] in SAFE):
            raise RequestRefused(HTTPStatus.FORBIDDEN, "a page of another origin may not ask this service")
        if "content-length" in headers and "transfer-encoding" in headers:
            raise RequestRefused(HTTPStatus.BAD_REQUEST, "the request says its length in two ways: send one of them")
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self._most(scope):
            raise too_large(self._most(scope))
        if (wait := self.rates.wait(self._client(scope))) > 0:
            raise RequestRefused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"more than {self.limits.rate:g} requests per second: wait {wait:.2f} s",
                headers={"retry-after": str(max(1, round(wait)))},
            )

    def _client(self, scope: Scope) -> str:
        """Return the client: the holder of a known token, else the address of the connection, never one from a header."""
        person = self.tokens.holder(token_of_request(HTTPConnection(scope)))
        if person:
            return f"token of {person.name}"
        return (scope.get("client") or ("",))[0]

    def _most(self, scope: Scope) -> int:
        uploading = scope["method"] == "POST" and scope["path"].startswith(UPLOADS)
        if uploading:
            return self.limits.upload
        return self.limits.body


def too_large(most: int) -> RequestRefused:
    """Return the refusal of an oversized body."""
    return RequestRefused(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {most:,} bytes, the most that is taken"
    )


@dataclass(slots=True)
class _BoundedBody:
    """Receives a body; refuses one that stalls or trickles, or exceeds the limit, whatever its Content-Length."""

    receive: Receive
    most: int
    limits: Limits
    received: int = 0
    complete: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def _wait(self) -> float | None:
        """Seconds to wait for the next piece; None once the body is complete."""
        if self.complete:
            return None
        limits = self.limits
        seconds = self.began + limits.patience + self.received / limits.slowest - time.monotonic()
        return max(0.0, min(limits.patience, seconds))

    async def __call__(self) -> Message:
        try:
            message = await asyncio.wait_for(self.receive(), self._wait)
        except TimeoutError:
            raise RequestRefused(
                HTTPStatus.REQUEST_TIMEOUT,
                f"nothing more of the body came for {self.limits.patience:g} seconds, or less than "
                f"{self.limits.slowest:,} bytes a second",
                headers={"connection": "close"},
            ) from None
        self.complete = not message.get("more_body", False)
        self.received += len(message.get("body", b""))
        if self.received > self.most:
            raise too_large(self.most)
        return message
