"""Connections that send no whole request: a time limit, places for others, and a log that stays short."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import structlog
import uvicorn

from dokimasia.service.connections import BoundedConnection, ConnectionLimit
from tests.processes import PATIENCE

HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Half: "
WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """An application that answers every request with `ok`; of `/held` after the body is complete."""
    while scope["path"] == "/held" and (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def listening(limit: ConnectionLimit) -> AsyncIterator[int]:
    """The port of a server with that limit."""
    config = uvicorn.Config(answer, log_config=None, ws="none", lifespan="off")
    config.load()
    state = uvicorn.Server(config).server_state
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: BoundedConnection(config, limit, server_state=state, app_state={}, _loop=loop), "127.0.0.1", 0
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for connection in tuple(state.connections):
            connection.transport.abort()  # type: ignore[attr-defined]


async def opened(port: int, data: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection that has sent some bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    await writer.drain()
    return reader, writer


async def everything(reader: asyncio.StreamReader) -> bytes:
    """What comes until the connection is closed."""
    try:
        return await asyncio.wait_for(reader.read(), PATIENCE)
    except ConnectionResetError:
        return b""


@pytest.fixture
def lines() -> Any:
    """The lines of the log."""
    with structlog.testing.capture_logs() as logs:
        yield logs


async def test_half_sent_headers_are_given_up(lines: list[Any]) -> None:
    """A connection that has sent half a request is closed after the time for headers, and the log says so once."""
    limit = ConnectionLimit(most=10, patience=0.05)
    async with listening(limit) as port:
        halves = [await opened(port, HALF) for _ in range(5)]
        assert [await everything(reader) for reader, _ in halves] == [b""] * 5
        assert limit.count == 0
        assert not limit.idle
        for _, writer in halves:
            writer.close()
    assert [line["event"] for line in lines] == ["no whole request came within 0.05 s: the connection is closed"]


async def test_trickled_headers_are_given_up() -> None:
    """Bytes that come in between do not extend the time, also after a request that was answered."""
    async with listening(ConnectionLimit(most=10, patience=0.2)) as port:
        reader, writer = await opened(port, WHOLE + HALF)
        assert (await asyncio.wait_for(reader.readuntil(b"ok"), PATIENCE)).startswith(b"HTTP/1.1 200")

        async def trickle() -> None:
            while True:
                writer.write(b"x")
                await asyncio.sleep(0.02)

        trickling = asyncio.create_task(trickle())
        assert await everything(reader) == b""
        trickling.cancel()
        writer.close()


async def test_half_open_connections_keep_nobody_out(lines: list[Any]) -> None:
    """Where all places are taken, the longest idle connection gives its place to the new one, which is answered."""
    limit = ConnectionLimit(most=3, patience=PATIENCE)
    async with listening(limit) as port:
        halves = [await opened(port, HALF) for _ in range(9)]
        for _ in range(4):
            reader, writer = await opened(port, WHOLE)
            assert (await asyncio.wait_for(reader.readuntil(b"ok"), PATIENCE)).endswith(b"ok")
            writer.close()
            assert limit.count <= 3
        assert [await everything(reader) for reader, _ in halves[:6]] == [b""] * 6
        for _, writer in halves:
            writer.close()
    assert len(lines) == 1


async def test_requests_at_work_are_not_closed_for_others() -> None:
    """Where every place has a request at work, a new connection is closed, and the requests are answered."""
    limit = ConnectionLimit(most=2, patience=PATIENCE)
    async with listening(limit) as port:
        start = b"POST /held HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\na"
        held = [await opened(port, start) for _ in range(2)]
        while limit.idle:  # noqa: ASYNC110
            await asyncio.sleep(0)
        reader, late = await opened(port, WHOLE)
        assert await everything(reader) == b""
        late.close()
        for waiting, writer in held:
            writer.write(b"b")
            assert (await asyncio.wait_for(waiting.readuntil(b"ok"), PATIENCE)).endswith(b"ok")
            writer.close()
