"""Persistent HTTP connections shared by both transports: no redirects, no cookies, replies of limited length."""

import asyncio
from ssl import SSLContext

import aiohttp

KEEP_ALIVE = 4.0
"""Seconds that an idle connection is kept: less than the 5 after which the usual servers (uvicorn) close theirs, so that
no request runs into a connection that is just being closed."""


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
    """Return the decoded body, or None if it exceeds `most` bytes; the connection is then closed with the rest unread."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > most:
            response.close()
            return None
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
