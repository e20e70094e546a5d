"""Persistent HTTP connections shared by both transports: no redirects, no cookies, replies of limited length."""

import asyncio
import zlib
from http import HTTPStatus
from ssl import SSLContext

import aiohttp
import orjson
from pydantic import JsonValue

from dokimasia.domain.identity import JsonObject

KEEP_ALIVE = 4.0
"""Seconds before an idle connection is closed: less than the 5 after which common servers (uvicorn) close theirs, so
that no request uses a connection that is being closed.
"""


_GZIP_BITS = 16 + zlib.MAX_WBITS

_GZIP_START = b"\x1f\x8b"
"""The first bytes of a gzip member."""

_MOST_PADDING = 1 << 20
"""The maximum number of skipped zero bytes after the members of a gzip body."""


class Connections:
    """One HTTP session per event loop. The gateway limits concurrency, so connections are not limited.

    Neither proxies nor keys are read from the environment.
    """

    def __init__(self) -> None:
        """Store the settings; connections are opened on first use."""
        self._sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}

    def session(self, *, ssl: SSLContext | bool = True) -> aiohttp.ClientSession:
        """Return this event loop's session; `ssl` configures certificate checks of a new one."""
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            session = self._sessions[loop] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE, ssl=ssl),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                auto_decompress=False,  # aiohttp accepts a truncated gzip reply as complete; read_body does not
            )
        return session

    async def aclose(self) -> None:
        """Close all connections, including those of other running event loops. Call it before those loops end."""
        while self._sessions:
            loop, session = self._sessions.popitem()
            if loop is not asyncio.get_running_loop() and loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(session.close(), loop))
            else:
                await session.close()


async def read_body(response: aiohttp.ClientResponse, most: int) -> bytes | None:
    """Return the decoded body, or None if it exceeds `most` bytes; the connection is then closed with the rest unread.

    Raises:
        aiohttp.ClientPayloadError: the body is cut off or damaged, or has an encoding other than gzip and deflate.
    """
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    decoder = None if encoding in ("", "identity") else _Decoder(encoding)
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        decoded = chunk if decoder is None else decoder.decode(chunk, most + 1 - size)
        size += len(decoded)
        if size > most:
            response.close()
            return None
        chunks.append(decoded)
    if decoder is not None:
        decoder.check_end()
    if len(chunks) == 1:
        return chunks[0]
    return b"".join(chunks)


async def ask_json(
    connections: Connections, url: str, *, body: JsonObject | None = None, seconds: float, most: int
) -> JsonValue:
    """Return the JSON of a reply with status 200; None for any other reply, or for none in time.

    Args:
        connections: opens the connection.
        url: the address; redirects are not followed.
        body: sent as JSON by POST; without it, the request is a GET.
        seconds: the timeout of the whole reply.
        most: the maximum number of bytes of the reply.
    """
    method = "GET" if body is None else "POST"
    try:
        async with (
            asyncio.timeout(seconds),
            connections.session().request(method, url, json=body, allow_redirects=False) as response,
        ):
            content = await read_body(response, most) if response.status == HTTPStatus.OK else None
            if content is None:
                return None
            return orjson.loads(content)
    except (OSError, ValueError, aiohttp.ClientError):  # a timeout is an OSError
        return None


class _Decoder:
    """Decodes a compressed body piece by piece, and checks that it is complete."""

    def __init__(self, encoding: str) -> None:
        """Raise aiohttp.ClientPayloadError for an unknown encoding."""
        if encoding not in ("gzip", "x-gzip", "deflate"):
            raise aiohttp.ClientPayloadError(f"the encoding {encoding[:40]!r} is not known")
        self._gzip = encoding != "deflate"
        self._stream = zlib.decompressobj(wbits=_GZIP_BITS) if self._gzip else None
        self._ended = True
        self._begun = b""  # of another member, where a piece ends inside its first two bytes
        self._padding = 0

    def decode(self, chunk: bytes, most: int) -> bytes:
        """Return the decoded bytes of the next piece, up to `most` of them.

        Raises:
            aiohttp.ClientPayloadError: the piece is damaged.
        """
        decoded = bytearray()
        while chunk and len(decoded) < most:
            if self._stream is None:
                # Some servers send deflate without the zlib header.
                self._stream = (
                    zlib.decompressobj() if chunk[0] & 0xF == 8 else zlib.decompressobj(wbits=-zlib.MAX_WBITS)
                )
            elif self._stream.eof and self._gzip:  # a body may have several members, followed by zeros
                chunk = self._next_member(chunk)
                if not chunk:
                    break
                self._stream = zlib.decompressobj(wbits=_GZIP_BITS)
            try:
                decoded += self._stream.decompress(chunk, most - len(decoded))
            except zlib.error as error:
                raise aiohttp.ClientPayloadError("the compressed body is damaged") from error
            self._ended = self._stream.eof
            chunk = self._stream.unused_data if self._gzip else b""
        return bytes(decoded)

    def _next_member(self, chunk: bytes) -> bytes:
        """Return the bytes after a member, from the next one's first bytes on; nothing if they have not arrived yet.

        Raises:
            aiohttp.ClientPayloadError: anything else follows it, or too many zeros.
        """
        data = self._begun + chunk
        rest = data.lstrip(b"\0")
        self._padding += len(data) - len(rest)
        self._begun = rest if len(rest) < len(_GZIP_START) else b""
        self._ended = not rest
        if self._padding > _MOST_PADDING or not rest.startswith(_GZIP_START[: len(rest)]):
            raise aiohttp.ClientPayloadError("the compressed body is damaged")
        return b"" if self._begun else rest

    def check_end(self) -> None:
        """Raise aiohttp.ClientPayloadError if the last bytes are missing."""
        if not self._ended:
            raise aiohttp.ClientPayloadError("the compressed body is cut off")
