"""The writer's ceiling alone: commits of 2 KB a second through the home's writer, all threads on one core.

Rows are made before the clock starts: keys, requests, packed texts of 2 KB that do not compress below it, replies. Three
ways of handing them over: all at once, so that the writer's queue is never empty; with so many in flight from an event
loop, each waiting for its commit; and by the ledger's `commit` as a driver with workers calls it, which also makes a row
of the reply.
"""

import argparse
import asyncio
import hashlib
import os
import random
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, cast

from benchmarks.command import BenchmarkFailed, Options, run_benchmark, say, scratch, sized
from benchmarks.figures import Figure, Report
from dokimasia.distribution.driver import RemoteCallLedger
from dokimasia.domain.call import ChatReply, ModelCall, ModelRef, Usage
from dokimasia.gateway.remote_call import RemoteCall
from dokimasia.storage.content.folding import Folded
from dokimasia.storage.content.packing import packed
from dokimasia.storage.home import Home

CEILING = 8000
"""Commits of 2 KB a second on one core."""

Job = Callable[[sqlite3.Connection], None]


def measure(options: Options) -> Report:
    """Commit so many rows in each way, each into a home of its own."""
    count = options.commits or sized(options, quick=2_000, usual=40_000, full=200_000)
    ways = {"queue never empty": _queued, "awaited in an event loop": _awaited, "the ledger's commit": _committed}
    rows: list[dict[str, Any]] = []
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        for name, way in ways.items():
            say(name)
            with scratch() as folder, Home.open(folder / "home", write=True) as home:
                rows.append({"way": name, **way(home, count, options)})
    finally:
        os.sched_setaffinity(0, cores)
    alone = rows[0]
    figures = (
        Figure("commits a second, writer alone", alone["a second"], target=CEILING),
        Figure("commits a second of processor time, writer alone", alone["a CPU second"], target=CEILING),
        Figure("processor time of the writer a commit", alone["writer µs"], "µs"),
        Figure("processor time of a ledger's commit", rows[2]["CPU µs"], "µs"),
        Figure("bytes on the disk a commit", alone["bytes"]),
    )
    return Report("writer", figures, tuple(rows), (f"{count:,} commits each; one core for all threads.",))


def _rows(count: int, size: int) -> list[tuple[str, Folded]]:
    """Return keys and requests, each with a text of its own that takes so many bytes packed."""
    draw = random.Random(5)
    made: list[tuple[str, Folded]] = []
    for _ in range(count):
        text = draw.randbytes(size).hex()  # a hexadecimal digit holds half a byte, and deflates to it
        name = hashlib.sha256(text.encode()).hexdigest()
        body = f'{{"messages":[{{"role":"user","text":{{"$text":"{name}"}}}}],"sampling":{{}}}}'
        made.append((hashlib.sha256(name.encode()).hexdigest(), Folded(body, {name: packed(text)})))
    return made


def _reply() -> ChatReply:
    return ChatReply(
        text="The answer is on the left. " * 8, finish_reason="stop", usage=Usage(input_tokens=500, output_tokens=60)
    )


def _call(key: str, request: Folded) -> ModelCall:
    ref = ModelRef(name="m", model="openai/m", endpoint="stub")
    return cast("ModelCall", RemoteCall("chat", ref, key, Usage(), folded=request))


class _Keeping:
    """A home that keeps what it is to write."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    async def write(self, job: Job, *, routine: bool) -> None:
        """Keep a job."""
        self.jobs.append(job)


def _jobs(options: Options, count: int) -> list[Job]:
    keeping = _Keeping()
    asyncio.run(_flow(_commits(cast("Home", keeping), _rows(count, options.bytes)), options))
    return keeping.jobs


def _commits(home: Home, rows: Iterable[tuple[str, Folded]]) -> Iterator[Awaitable[None]]:
    ledger, reply = RemoteCallLedger(home), _reply()
    for key, request in rows:
        yield ledger.commit(key, _call(key, request), reply, cost=0.001, label="candidate", latency=1.0)


def _queued(home: Home, count: int, options: Options) -> dict[str, Any]:
    jobs = _jobs(options, count)

    def work() -> None:
        for future in [home.writer.submit(job, routine=True) for job in jobs]:
            future.result()

    return _timed(home, count, work)


def _awaited(home: Home, count: int, options: Options) -> dict[str, Any]:
    jobs = _jobs(options, count)
    return _timed(home, count, lambda: asyncio.run(_flow((home.write(job, routine=True) for job in jobs), options)))


def _committed(home: Home, count: int, options: Options) -> dict[str, Any]:
    rows = _rows(count, options.bytes)
    return _timed(home, count, lambda: asyncio.run(_flow(_commits(home, rows), options)))


async def _flow(work: Iterable[Awaitable[Any]], options: Options) -> None:
    left = iter(work)

    async def one() -> None:
        for piece in left:
            await piece

    await asyncio.gather(*(one() for _ in range(options.in_flight)))


def _timed(home: Home, count: int, work: Callable[[], None]) -> dict[str, Any]:
    """Do the work and return what it took: the writer's own time is that of its thread."""

    def thread_time() -> float:
        return home.writer.submit(lambda _: time.thread_time(), routine=True).result()

    before, cpu, started = thread_time(), time.process_time(), time.perf_counter()
    work()
    seconds, cpu, writer = time.perf_counter() - started, time.process_time() - cpu, thread_time() - before
    if (held := home.one("SELECT count(*) FROM calls")) != (count,):
        raise BenchmarkFailed(f"{held} commits are there, not {count}")
    files = sum(path.stat().st_size for path in home.path.glob("dokimasia.db*"))
    return {
        "commits": count,
        "seconds": round(seconds, 2),
        "a second": round(count / seconds),
        "a CPU second": round(count / cpu),
        "CPU µs": round(cpu / count * 1e6, 1),
        "writer µs": round(writer / count * 1e6, 1),
        "groups": home.writer.additions,
        "bytes": round(files / count),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--commits", type=int, help="how many in each way")
    parser.add_argument("--bytes", type=int, default=2048, help="bytes of text that a commit takes, packed")
    parser.add_argument("--in-flight", type=int, default=256)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("writer", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
