"""HTTP requests to a service, and its event streams; errors are raised as this package's, and none reveals the token."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple
from urllib.parse import quote, urlsplit

import httpx
import orjson

from dokimasia import errors
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import ConfigError, DokimasiaError, InputError, NotFound, Unreachable
from dokimasia.log import Redactor, logger
from dokimasia.version import __version__

ERROR_HEADER = "dokimasia-error"
VERSION_HEADER = "dokimasia-version"
SAFE = frozenset({"GET", "HEAD"})
AWAY = frozenset({502, 503, 504})
TRIES = 5
PAGE = 500
"""The number of entries on a page of a list."""

MOST_REPLY = 2_000_000_000
"""The maximum number of bytes of an unpacked reply."""

MOST_PAGE = 1_000_000
"""The same for a reply from anything but a service, such as the login page of a network."""

ENCODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that describe the encoding of a reply in transit."""

PATIENCE = 60.0
"""Seconds to wait for a service that has answered before."""

LONGEST_PAUSE = 5.0
_LOST = (httpx.TransportError,)


class Connection:
    """Sends requests to a service.

    GET and HEAD requests are repeated if the service does not answer or is busy; others only if it refused them unread.

    Args:
        url: the address of the service.
        token: the access token; never part of a message, a log or `repr`.
        who: the person who decides, if the service accepts self-declared names.
        timeout: seconds to wait for a reply.
        transport: an HTTP transport to use instead of the network.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str = "",
        who: str = "",
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise ConfigError(f"{parts.scheme or 'this'} is no address of a service: write http://HOST:PORT")
        self.url = url.rstrip("/")
        self.redact = Redactor((token,) if token else ())
        headers = {"user-agent": f"dokimasia/{__version__}", "accept": "application/json"}
        if token:
            if not token.isascii() or not token.isprintable() or " " in token:
                raise ConfigError("the token is no token: it has characters that no header can carry")
            headers["authorization"] = f"Bearer {token}"
        local = parts.hostname in {"127.0.0.1", "localhost", "::1"}
        self._http = httpx.Client(
            base_url=self.url,
            headers=headers,
            cookies={"dokimasia_who": quote(who)} if who else None,
            timeout=httpx.Timeout(timeout, connect=10.0),
            transport=transport,
            trust_env=not local,
            verify=parts.scheme == "https" or not local,  # without TLS the certificates of authorities are not loaded
        )
        self._answered = False
        self._warned = False

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def get(self, path: str, **query: object) -> JsonObject:
        """Return the JSON of a route."""
        return self._json(self.request("GET", path, query=query))

    def pages(self, path: str, **query: object) -> Iterator[JsonObject]:
        """Yield all pages of a route's list."""
        after: str | None = None
        while True:
            page = self.get(path, limit=PAGE, after=after, **query)
            yield page
            after = page["next"]
            if after is None:
                return

    def send(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Send a request to a route, and return its JSON; None for an empty response."""
        reply = self.request(method, path, query=query, json=body)
        if reply.content:
            return self._json(reply)
        return None

    def _json(self, reply: httpx.Response) -> JsonObject:
        """Return the JSON of a reply.

        Raises:
            ConfigError: it is not JSON, such as a page of a proxy or of a network login.
        """
        try:
            return orjson.loads(reply.content)
        except orjson.JSONDecodeError:
            kind = reply.headers.get("content-type", "no stated type").partition(";")[0]
            raise ConfigError(
                f"{self.url} answers with {kind[:80]} where a service of Dokimasia answers with JSON: is the address right, "
                "and does a proxy or the login page of a network stand in between?"
            ) from None

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        json: object = None,
        data: Mapping[str, str] | None = None,
        files: Sequence[tuple[str, tuple[str, IO[bytes]]]] | None = None,
    ) -> httpx.Response:
        """Send a request, with JSON, or with a form and its files, and return the reply.

        Raises:
            DokimasiaError: the service refused the request; raised as the class that the service names.
            Unreachable: the service does not answer.
        """
        parameters = {name: _query_value(value) for name, value in (query or {}).items() if value is not None}
        started, tries = time.monotonic(), 0
        while True:
            tries += 1
            try:
                request = self._http.build_request(method, path, params=parameters, json=json, data=data, files=files)
                reply = self._read(self._http.send(request, stream=True))
            except _LOST as problem:
                if not self._may_repeat(method, tries, started):
                    raise self.gone(problem) from None
                time.sleep(pause(tries))
                continue
            self.answered(reply)
            if reply.is_success:
                return reply
            wait = self._retry_delay(method, reply, tries)
            if wait is None:
                raise self.error(reply)
            time.sleep(wait)

    def _read(self, reply: httpx.Response) -> httpx.Response:
        """Read a whole reply, up to `MOST_REPLY` bytes, or `MOST_PAGE` unless a service of Dokimasia sent it.

        Raises:
            ConfigError: it is longer.
        """
        data = bytearray()
        most = MOST_REPLY if VERSION_HEADER in reply.headers else MOST_PAGE
        try:
            for piece in reply.iter_bytes():
                data += piece
                if len(data) > most:
                    raise ConfigError(f"{self.url} answers with more than {most:,} bytes: it is not read any further")
        finally:
            reply.close()
        headers = [pair for pair in reply.headers.multi_items() if pair[0] not in ENCODED]
        return httpx.Response(reply.status_code, headers=headers, content=bytes(data), request=reply.request)

    @contextmanager
    def stream(self, path: str, *, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        """Open a response whose body is read as it arrives.

        Raises:
            DokimasiaError: the service refused the request.
            httpx.TransportError: the service does not answer, or is shutting down.
        """
        timeout = httpx.Timeout(10.0, read=90.0)
        with self._http.stream("GET", path, headers=dict(headers), timeout=timeout) as reply:
            self.answered(reply)
            if not reply.is_success:
                reply.read()
                if reply.status_code in AWAY:
                    raise httpx.RemoteProtocolError(str(self.error(reply)))
                raise self.error(reply)
            yield reply

    def gone(self, lost: Exception) -> Unreachable:
        """Return the error for a service that does not answer."""
        any_more = " any more" if self._answered else ""
        return Unreachable(
            f"the service at {self.url} does not answer{any_more} ({self.redact(_brief(lost))}): start it there with "
            "`dokimasia serve`, or give its address with --server"
        )

    def answered(self, reply: httpx.Response) -> None:
        """Remember that the service answered, and warn once if its version differs."""
        self._answered = True
        version = reply.headers.get(VERSION_HEADER)
        if version and not self._warned and _minor(version) != _minor(__version__):
            self._warned = True
            logger(__name__).warning(
                f"the service at {self.url} is version {version} and this is {__version__}: some options may differ"
            )

    def error(self, reply: httpx.Response) -> DokimasiaError:
        """Return the error of a reply as the error class of this package."""
        try:
            problem = reply.json()
            detail = str(problem["detail"])
        except (ValueError, KeyError, TypeError):
            detail = f"{self.url} answers {reply.status_code} and no sentence: is it a service of Dokimasia?"
        detail = self.redact(detail)
        error_class = getattr(errors, reply.headers.get(ERROR_HEADER, ""), None)
        if isinstance(error_class, type) and issubclass(error_class, DokimasiaError):
            try:
                return error_class(detail)
            except TypeError:  # its constructor takes more than a message
                return DokimasiaError(detail)
        if reply.status_code == httpx.codes.UNAUTHORIZED:
            return ConfigError(f"{self.url}: {detail} (DOKIMASIA_SERVER_TOKEN or --server-token-file)")
        if reply.status_code == httpx.codes.NOT_FOUND:
            return NotFound(detail)
        if reply.is_client_error:
            return InputError(detail)
        return DokimasiaError(detail)

    def _may_repeat(self, method: str, number: int, began: float) -> bool:
        if method not in SAFE:
            return False
        if not self._answered:
            return False
        return time.monotonic() - began < PATIENCE

    def _retry_delay(self, method: str, reply: httpx.Response, number: int) -> float | None:
        """Return the delay, in seconds, before a refused request is sent again; None if it is not."""
        busy = reply.status_code == httpx.codes.TOO_MANY_REQUESTS
        unavailable = reply.status_code in AWAY and method in SAFE and ERROR_HEADER not in reply.headers
        if number >= TRIES or not (busy or unavailable):
            return None
        retry_after = reply.headers.get("retry-after", "")
        if retry_after.isdigit():
            return min(float(retry_after), 30.0)
        return pause(number)


def pause(number: int) -> float:
    """Return the seconds before the next try, doubled with each of the `number` tries, at most `LONGEST_PAUSE`."""
    return min(0.2 * 2 ** (number - 1), LONGEST_PAUSE)


def _query_value(value: object) -> str | list[str]:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return [str(element) for element in value]
    return str(value)


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def _brief(problem: Exception) -> str:
    return " ".join(str(problem).split())[:200] or type(problem).__name__


class Event(NamedTuple):
    """An event of a run: its kind, its id in the stream, and its data."""

    kind: str
    id: str
    data: JsonObject


def events(
    connection: Connection,
    path: str,
    *,
    after: str = "",
    patience: float = PATIENCE,
    lost: Callable[[str], None] = lambda why: None,
) -> Iterator[Event]:
    """Yield the events of a stream until it ends by itself.

    Args:
        connection: the connection to the service.
        path: the path of the stream.
        after: the id of the last received event.
        patience: seconds without an answer after which to give up.
        lost: called with the reason each time the stream breaks.

    Raises:
        Unreachable: the service does not come back.
        DokimasiaError: there is no such stream.
    """
    position, tries, since = after, 0, time.monotonic()
    while True:
        headers = {"accept": "text/event-stream", **({"last-event-id": position} if position else {})}
        try:
            with connection.stream(path, headers=headers) as reply:
                tries = 0
                for event in parsed(reply.iter_lines()):
                    position, since = event.id or position, time.monotonic()
                    yield event
                return
        except httpx.TransportError as problem:
            if not tries:
                since = time.monotonic()
            tries += 1
            lost_connection = connection.gone(problem)
            if time.monotonic() - since > patience:
                raise lost_connection from None
            lost(str(lost_connection))
            time.sleep(pause(tries))


def parsed(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events in the lines of a server-sent event stream; comments, such as heartbeats, are skipped."""
    kind, id, data = "", "", list[str]()
    for line in lines:
        if not line:
            if data:
                yield Event(kind or "message", id, _event_data("\n".join(data)))
            kind, data = "", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            kind = value
        elif name == "data":
            data.append(value)
        elif name == "id" and "\0" not in value:
            id = value


def _event_data(text: str) -> JsonObject:
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"text": text}
    if isinstance(data, dict):
        return data
    return {"value": data}
