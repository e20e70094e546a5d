"""Server-sent events as they come, taken up again after the last one where a service went away and came back."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import httpx
import orjson

from dokimasia.client.connection import PATIENCE, Connection, pause


class Event(NamedTuple):
    """One event of a run: what kind it is, its id in the stream, and what it says."""

    kind: str
    id: str
    data: dict[str, Any]


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
        connection: to the service.
        path: the stream's address there.
        after: the id of the last event that is known already.
        patience: seconds without the service after which it is given up.
        lost: told each time that the stream breaks off.

    Raises:
        Unreachable: the service does not come back.
        DokimasiaError: there is no such stream.
    """
    known, tries, since = after, 0, time.monotonic()
    while True:
        headers = {"accept": "text/event-stream", **({"last-event-id": known} if known else {})}
        try:
            with connection.stream(path, headers=headers) as reply:
                tries = 0
                for event in parsed(reply.iter_lines()):
                    known, since = event.id or known, time.monotonic()
                    yield event
                return
        except httpx.TransportError as problem:
            if not tries:
                since = time.monotonic()
            tries += 1
            gone = connection.gone(problem)
            if time.monotonic() - since > patience:
                raise gone from None
            lost(str(gone))
            time.sleep(pause(tries))


def parsed(lines: Iterable[str]) -> Iterator[Event]:
    """Yield events of lines as the standard has them; a comment, such as one that keeps the stream open, is none."""
    kind, id, data = "", "", list[str]()
    for line in lines:
        if not line:
            if data:
                yield Event(kind or "message", id, _said("\n".join(data)))
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


def _said(text: str) -> dict[str, Any]:
    try:
        found: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"text": text}
    return found if isinstance(found, dict) else {"value": found}
