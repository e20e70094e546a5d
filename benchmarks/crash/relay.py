"""Passes connections on: `... relay FROM TO`, each a port of this machine's or the path of a socket, until it is killed.

By a socket in a folder, processes of two network namespaces reach the same server, whatever the network between them does.
"""

import asyncio
import sys
from contextlib import suppress


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def relay(source: str, target: str) -> None:
    """Pass on what comes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if target.isdigit():
            to = await asyncio.open_connection("127.0.0.1", int(target))
        else:
            to = await asyncio.open_unix_connection(target)
        await asyncio.gather(_pass(reader, to[1]), _pass(to[0], writer))

    if source.isdigit():
        server = await asyncio.start_server(serve, "127.0.0.1", int(source))
    else:
        server = await asyncio.start_unix_server(serve, source)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(relay(*sys.argv[1:3]))
