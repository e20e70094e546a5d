"""The simulated models in a process of its own that ends with whoever started it: `... server LATENCY LOG`.

It prints its base URL and serves until its standard input is closed.
"""

import asyncio
import contextlib
import os
import sys
import threading
from pathlib import Path

from dokimasia.simulation.serving.server import serve


async def serve_while_wanted(latency: float, log: Path) -> None:
    """Serve on a free loopback port until standard input is closed."""
    loop = asyncio.get_running_loop()

    def ready(url: str) -> None:
        print(url, flush=True)

    serving = asyncio.create_task(serve(port=0, latency=latency, log_path=log, ready=ready))

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        with contextlib.suppress(RuntimeError):  # the loop has ended by itself
            loop.call_soon_threadsafe(serving.cancel)

    threading.Thread(target=watch, daemon=True).start()
    with contextlib.suppress(asyncio.CancelledError):
        await serving


if __name__ == "__main__":
    asyncio.run(serve_while_wanted(float(sys.argv[1]), Path(sys.argv[2])))
