"""A stub of the chat-completions API in a process of its own: it answers at once, or after a fixed latency.

`python -m benchmarks.stub [--latency SECONDS] [--places N]` prints its base URL and serves until its standard input is
closed, so that it never outlives who started it. `GET /stats` says how many requests came and how many were in hand
at once at the most.
"""

import argparse
import asyncio
import json
import re
import subprocess
import sys
import urllib.request
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from aiohttp import web

from benchmarks.command import ROOT, BenchmarkFailed

BODY_LIMIT = 8 * 2**20
"""Bytes of a request that are read at most."""

JUDGE = "judge"
_JUDGED = re.compile(rb'"model":\s?"(?:openai/)?judge"')
_FILLER = (
    "The picture shows a table by a window with several objects on it, and the light falls from the left. "
    "Counting from the door, the third shelf holds the items that the question is about. "
)

_SCORES = "1 | score: [4]\\n2 | score: [5]\\n3 | score: [3]"
_GRADE = "GRADE: C"
"""What a judge says: three scores to the checkpoint scorer, a grade to a model-graded one, which asks for it by this word."""


def completion(body: bytes) -> bytes:
    """Return the reply to a request: of a judge the verdict, of anyone else an answer that depends on the whole body.

    Equal requests have equal replies, and different ones nearly always differ, so that nothing is asked once that was
    to be asked twice. An answer has some 600 characters.
    """
    tag = f"{zlib.crc32(body):08x}-{len(body):x}"
    verdict = _GRADE if b"GRADE" in body else _SCORES
    text = verdict if _JUDGED.search(body) else f"Answer {tag}. {_FILLER * 3}So the answer is {tag}."
    return (
        f'{{"id":"chatcmpl-{tag}","object":"chat.completion","created":1700000000,"model":"stub","choices":'
        f'[{{"index":0,"message":{{"role":"assistant","content":"{text}"}},"finish_reason":"stop"}}],'
        f'"usage":{{"prompt_tokens":{len(body) // 4},"completion_tokens":{len(text) // 4},'
        f'"total_tokens":{(len(body) + len(text)) // 4}}}}}'
    ).encode()


class Stub:
    """Answers requests, counts them, and takes no more than `places` at a time; the others wait for a place."""

    def __init__(self, *, latency: float = 0.0, places: int | None = None) -> None:
        self._latency = latency
        self._places = asyncio.Semaphore(places) if places else None
        self.requests = 0
        self.in_hand = 0
        self.most_in_hand = 0

    async def __call__(self, request: web.BaseRequest) -> web.Response:
        """Answer one request."""
        if request.method == "GET":
            figures = {"requests": self.requests, "most_in_hand": self.most_in_hand}
            self.most_in_hand = self.in_hand
            return web.json_response(figures)
        if (request.content_length or 0) > BODY_LIMIT:
            return web.Response(status=413, text="too large")
        self.requests += 1
        self.in_hand += 1
        self.most_in_hand = max(self.most_in_hand, self.in_hand)
        try:
            body = await request.read()
            if self._places is None:
                await self._wait()
            else:
                async with self._places:
                    await self._wait()
            return web.Response(body=completion(body), content_type="application/json")
        finally:
            self.in_hand -= 1

    async def _wait(self) -> None:
        if self._latency:
            await asyncio.sleep(self._latency)


async def serve(*, latency: float, places: int | None) -> None:
    """Serve on a free loopback port until standard input is closed."""
    loop = asyncio.get_running_loop()
    runner = web.ServerRunner(web.Server(Stub(latency=latency, places=places), access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=2048).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


class Running(NamedTuple):
    """A stub that serves: its base URL."""

    url: str

    def stats(self) -> dict[str, Any]:
        """Return `requests` so far, and `most_in_hand` at once since this was last asked."""
        with urllib.request.urlopen(f"{self.url}/stats", timeout=30) as reply:
            return json.load(reply)


@contextmanager
def running_stub(*, latency: float = 0.0, places: int | None = None) -> Iterator[Running]:
    """Serve from a process of its own for the length of the block.

    Raises:
        BenchmarkFailed: it did not start.
    """
    command = [sys.executable, "-m", "benchmarks.stub", "--latency", str(latency), "--places", str(places or 0)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            if not url:
                raise BenchmarkFailed("the stub did not start")
            yield Running(url)
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stub", description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds that every reply waits")
    parser.add_argument("--places", type=int, default=0, help="requests that are answered at once; 0: all")
    options = parser.parse_args(arguments)
    asyncio.run(serve(latency=options.latency, places=options.places or None))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
