"""Kept HTTP connections that both transports send over: no redirects, no cookies, and replies of limited length."""

import asyncio
from typing import Any

import aiohttp

KEEP_ALIVE = 4.0
"""Seconds that an idle connection is kept: less than the 5 after which the usual servers (uvicorn) close theirs, so that
no request runs into a connection that is just being closed."""


class Connections:
    """A session in each event loop, without a limit on connections; how many there are is the gateway's to say.

    They ask the environment for neither proxies nor keys.
    """

    def __init__(self) -> None:
        """Make no connection yet."""
        self._sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}

    def session(self, *, ssl: Any = True) -> aiohttp.ClientSession:
        """Return this event loop's session; `ssl` is how certificates are checked by a new one."""
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            session = self._sessions[loop] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE, ssl=ssl),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
            )
        return session

    async def aclose(self) -> None:
        """Close all connections, also those in other event loops that are running. Call it before its loops end."""
        while self._sessions:
            loop, session = self._sessions.popitem()
            if loop is not asyncio.get_running_loop() and loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(session.close(), loop))
            else:
                await session.close()


async def read_body(response: aiohttp.ClientResponse, most: int) -> bytes | None:
    """Return the decoded body, or None if it has more than `most` bytes; the connection is closed then, the rest unread."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > most:
            response.close()
            return None
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
