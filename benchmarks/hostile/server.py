"""The server of the hostile replies, in a process of its own: raw bytes over loopback, one kind an address.

It prints its base URL and serves until its standard input is closed. `GET /seen/N` says what came for the kind N.
"""

import asyncio
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from benchmarks.command import ROOT
from benchmarks.hostile.replies import KINDS, Hostile

SEEN: defaultdict[str, dict[str, Any]] = defaultdict(lambda: {"requests": 0, "elsewhere": 0, "cookies": 0})


@contextmanager
def running_server() -> Iterator[str]:
    """Serve in a process of its own; yields the base URL."""
    command = [sys.executable, "-m", "benchmarks.hostile.server"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate()


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, limit=2**26)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        path = head.split(" ", 2)[1]
        fields = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if ": " in line)
        await reader.readexactly(int(fields.get("content-length", 0)))
        number = path.split("/")[2 if path.startswith("/seen/") else 1]
        if path.startswith("/seen/"):
            await _send(writer, Hostile(json.dumps(SEEN[number]).encode()))
        elif number.isdecimal():
            SEEN[number]["requests"] += 1
            SEEN[number]["cookies"] += "cookie" in fields
            SEEN["last"] = SEEN[number]
            await _send(writer, list(KINDS.values())[int(number)])
        else:
            SEEN["last"]["elsewhere"] += 1
            await _send(writer, KINDS["an ordinary reply"])
    writer.close()


async def _send(writer: asyncio.StreamWriter, reply: Hostile) -> None:
    headers = {"Content-Type": "application/json", "Connection": "close"} | dict(reply.headers)
    if isinstance(reply.body, bytes):
        headers["Content-Length"] = str(len(reply.body))
    lines = [f"HTTP/1.1 {reply.status} Planted", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    if isinstance(reply.body, bytes):
        writer.write(reply.body[: reply.abort_after])
        await writer.drain()
        return
    async for chunk in reply.body():
        writer.write(chunk)
        await writer.drain()


if __name__ == "__main__":
    asyncio.run(_serve())
