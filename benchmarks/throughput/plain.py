"""What there is to come close to: the same messages by aiohttp alone, by aiohttp with a ledger, and by LiteLLM.

`python -m benchmarks.throughput.plain raw|ledger|litellm URL` prints one JSON object.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import os
import queue
import sqlite3
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import orjson

from benchmarks import workload
from benchmarks.figures import peak_rss_mb
from benchmarks.stub import completion

GROUP = 512


class Request(NamedTuple):
    """A model, its messages as (role, text), and the JSON text of an image's data URI, if it is shown one."""

    model: str
    messages: tuple[tuple[str, str], ...]
    image: bytes | None = None

    def written(self, image: Callable[[bytes], Any]) -> list[dict[str, Any]]:
        """Return the messages in the format of the API; `image` makes the URL's value."""
        told: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in self.messages]
        if self.image is not None:
            part = {"type": "image_url", "image_url": {"url": image(self.image)}}
            told[-1]["content"] = [part, {"type": "text", "text": told[-1]["content"]}]
        return told

    def body(self, image: Callable[[bytes], Any] = orjson.Fragment) -> bytes:
        """Return the request's body."""
        return orjson.dumps({"model": self.model, "messages": self.written(image)})


Send = Callable[[Request], Awaitable[None]]


def requests(samples: int, candidates: int, images: Path | None) -> Iterator[Request]:
    """Yield what an evaluation asks: each candidate about each sample, and the judge about each answer."""
    answer = json.loads(completion(b""))["choices"][0]["message"]["content"]
    for number, pair in enumerate(workload.pairs(samples, answer=answer)):
        image = _data_uri(images / workload.image_name(number)) if images else None
        for name in workload.candidates(candidates):
            yield Request(name, pair.asked, image)
            yield Request(workload.JUDGE, (*pair.judged[:-1], ("user", f"{pair.judged[-1][1]}\n{name}")))


@asynccontextmanager
async def raw(url: str, concurrency: int) -> AsyncIterator[Send]:
    """Post each body and read the reply's JSON; keep nothing."""
    async with _session() as session:

        async def send(request: Request) -> None:
            await _post(session, url, request.body())

        yield send


@asynccontextmanager
async def ledger(url: str, concurrency: int) -> AsyncIterator[Send]:
    """The same, and go on only when request and reply are committed; one thread commits all that waits as one group."""
    with tempfile.TemporaryDirectory(prefix="dokimasia-benchmark-") as folder:
        writer = GroupedLedger(Path(folder) / "ledger.db")
        try:
            async with _session() as session:

                async def send(request: Request) -> None:
                    reply = await _post(session, url, request.body())
                    kept = request.body(lambda image: hashlib.sha256(image).hexdigest())
                    await writer.commit((hashlib.sha256(kept).hexdigest(), kept, reply))

                yield send
        finally:
            writer.close()


@asynccontextmanager
async def litellm(url: str, concurrency: int) -> AsyncIterator[Send]:
    """`litellm.acompletion`, without retries; keep nothing."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    from litellm import acompletion

    async def send(request: Request) -> None:
        messages = request.written(lambda image: orjson.loads(image))
        reply: Any = await acompletion(
            model=f"openai/{request.model}",
            messages=messages,
            api_base=url,
            api_key="none",
            num_retries=0,
            max_retries=0,
        )
        if not reply.choices[0].message.content:
            raise ValueError("an empty reply")

    yield send


class GroupedLedger:
    """A table of requests and replies in SQLite, written by one thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._queue: queue.SimpleQueue[tuple[tuple[str, bytes, bytes], asyncio.Future[None]] | None] = (
            queue.SimpleQueue()
        )
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    async def commit(self, row: tuple[str, bytes, bytes]) -> None:
        """Return once the row is committed."""
        future = self._loop.create_future()
        self._queue.put((row, future))
        await future

    def close(self) -> None:
        """Let the thread end."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        connection = sqlite3.connect(self._path, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("CREATE TABLE calls (key TEXT PRIMARY KEY, request BLOB, reply BLOB) WITHOUT ROWID")
        running = True
        while running:
            group = [self._queue.get()]
            while len(group) < GROUP and not self._queue.empty():
                group.append(self._queue.get())
            running = None not in group
            written = [one for one in group if one is not None]
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR IGNORE INTO calls VALUES (?, ?, ?)", [row for row, _ in written])
            connection.execute("COMMIT")
            if written:
                self._loop.call_soon_threadsafe(_done, [future for _, future in written])
        connection.close()


CONTESTANTS = {"raw": raw, "ledger": ledger, "litellm": litellm}


async def measure(
    contestant: str, url: str, *, samples: int, candidates: int, concurrency: int, images: Path | None
) -> dict[str, Any]:
    """Send everything once, so many at a time, and return what it took; one request beforehand warms up."""
    asked = requests(samples, candidates, images)
    async with CONTESTANTS[contestant](url, concurrency) as send:
        await send(Request(workload.JUDGE, (("user", "warm up"),)))
        done = 0

        async def worker() -> None:
            nonlocal done
            for request in asked:
                await send(request)
                done += 1

        started, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(worker() for _ in range(concurrency)))
        return {
            "calls": done,
            "seconds": time.perf_counter() - started,
            "cpu": time.process_time() - cpu,
            "peak_mb": peak_rss_mb(),
        }


def _done(futures: list["asyncio.Future[None]"]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"Content-Type": "application/json"},
        timeout=aiohttp.ClientTimeout(total=120),
    )


async def _post(session: aiohttp.ClientSession, url: str, body: bytes) -> bytes:
    async with session.post(f"{url}/chat/completions", data=body) as response:
        reply = await response.read()
    if not orjson.loads(reply)["choices"][0]["message"]["content"]:
        raise ValueError("an empty reply")
    return reply


def _data_uri(path: Path) -> bytes:
    return b'"data:image/png;base64,' + base64.b64encode(path.read_bytes()) + b'"'


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure one contestant and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput.plain", description=__doc__)
    parser.add_argument("contestant", choices=list(CONTESTANTS))
    parser.add_argument("url")
    parser.add_argument("--samples", type=int, default=1500)
    parser.add_argument("--candidates", type=int, default=workload.CANDIDATES)
    parser.add_argument("--concurrency", type=int, default=workload.CONCURRENCY)
    parser.add_argument("--images", type=Path, help="the workload's folder, if images are shown")
    options = parser.parse_args(arguments)
    found = measure(
        options.contestant,
        options.url,
        samples=options.samples,
        candidates=options.candidates,
        concurrency=options.concurrency,
        images=options.images,
    )
    print(json.dumps(asyncio.run(found)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
