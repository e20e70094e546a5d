"""A run in the service against an endpoint that takes a second, 256 in flight, while somebody reads 100 times a second.

The same work is done again and again in one process, with and without the reading in turns; the reader is a process of its
own, and asks for what pages ask for: the list of runs, a finished run's figures, its page, its samples, and the metrics.

Each turn beside the reading is held against the turns before and after it, so that what else the machine does counts on both
sides. Processor time is measured beside the time that passes: it says what reading takes also where the machine is not idle.
"""

import argparse
import asyncio
import contextlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp

from benchmarks import workload
from benchmarks.command import Options, run_benchmark, say, scratch, sized
from benchmarks.figures import Figure, Report
from benchmarks.stub import running_stub
from benchmarks.workload import write_config, write_workload
from dokimasia.log import configure
from dokimasia.methods.evaluation import EvaluationRequest
from dokimasia.methods.evaluation.criteria import import_criteria
from dokimasia.service.app import serve
from dokimasia.service.engine import RunEngine
from dokimasia.service.guard import Limits
from dokimasia.service.run_events import Events
from dokimasia.service.state import Service
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home

RATE = 100
SLOWER = 1.10
PATHS = (
    ("/api/runs", 20),
    ("/api/runs/{run}", 20),
    ("/api/runs/{run}/samples", 20),
    ("/runs/{run}", 10),
    ("/", 20),
    ("/metrics", 10),
)
"""What is read, and how many times in a hundred."""

ALONE = 200
"""Reads of one path, one after the other, by which the processor time of a read of it is measured."""

TICK = 0.005
"""Seconds between two looks at how late the event loop is."""


def measure(options: Options) -> Report:
    """Do the same work with and without the reading."""
    configure(level="warning")  # as the service does: a line for each read is more than the read
    samples = options.samples or sized(options, quick=32, usual=320)
    pairs = options.pairs or sized(options, quick=1, usual=4)
    with scratch() as folder, running_stub() as fast, running_stub(latency=1.0) as slow:
        write_workload(folder, samples=samples * (2 * pairs + 3), url=fast.url, concurrency=256)
        _split(folder, samples)
        rows, each = asyncio.run(_measured(folder, slow.url, pairs))
    alone, read = rows[::2], rows[1::2]
    calls = 2 * workload.CANDIDATES * samples
    ratios = [2 * row["seconds"] / (rows[at - 1]["seconds"] + rows[at + 1]["seconds"]) for at, row in _odd(rows)]
    more = [row["cpu"] - (rows[at - 1]["cpu"] + rows[at + 1]["cpu"]) / 2 for at, row in _odd(rows)]
    figures = [
        Figure(
            "time beside the reading, over the turns before and after", median(ratios), target=SLOWER, rule="at most"
        ),
        Figure("reads a second", median(row["a second"] for row in read), target=0.95 * RATE),
        Figure("reads that failed", sum(row["failed"] for row in read), target=0, rule="exactly", must=True),
        Figure("median of a read", median(row["p50"] for row in read), "s"),
        Figure("processor time of a call, alone", 1e3 * median(row["cpu"] for row in alone) / calls, "ms"),
        Figure(
            "share of a core that the reading takes",
            median(one / row["seconds"] for one, row in zip(more, read, strict=True)),
        ),
        Figure("longest delay of the event loop, alone", median(row["late"] for row in alone), "s"),
        Figure("longest delay of the event loop, beside the reading", median(row["late"] for row in read), "s"),
        *(Figure(f"processor time of a read of {path}", 1e3 * seconds, "ms") for path, seconds in each.items()),
    ]
    return Report("service_reading", tuple(figures), tuple(rows))


def _odd(rows: Sequence[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Return the turns beside the reading, which lie between two without it, and their places."""
    return list(enumerate(rows))[1::2]


async def _measured(folder: Path, slow: str, pairs: int) -> tuple[list[dict[str, Any]], dict[str, float]]:
    rows: list[dict[str, Any]] = []
    settings = load_settings(config=folder / "dokimasia.toml", home=folder / "home", env={})
    with Home.open(folder / "home", write=True) as home:
        collection, _ = await import_criteria(home, folder / "criteria.jsonl")
        events = Events(home)
        request = EvaluationRequest(
            data=folder / "data0.jsonl",
            judge=workload.JUDGE,
            models=workload.candidates(workload.CANDIDATES),
            criteria=collection,
        )
        async with RunEngine(settings, home, observers=events.observer_of) as engine:
            finished = await engine.submit("evaluate", request)
            await engine.ended(finished)
            say(f"a finished run to read: {finished.id}")
        write_config(folder, slow, candidates_count=workload.CANDIDATES, concurrency=256)
        settings = load_settings(config=folder / "dokimasia.toml", home=folder / "home", env={})
        async with RunEngine(settings, home, observers=events.observer_of) as engine:
            limits = Limits(rate=10_000, burst=10_000)
            service = Service(settings=settings, home=home, runner=engine, events=events, limits=limits)
            url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            stop = asyncio.Event()
            serving = asyncio.create_task(serve(service, ready=url.set_result, stop=stop))
            each = {path: await _each(await url, path.format(run=finished.id)) for path, _ in PATHS}
            for number in range(2 * pairs + 2):
                asked = request.model_copy(update={"data": folder / f"data{number + 1}.jsonl"})
                rows.append(await _turn(engine, asked, await url, finished.id, reads=number > 0 and number % 2 == 0))
                say(json.dumps(rows[-1]))
            stop.set()
            await serving
    return rows[1:], each  # the first turn only warms up


def _split(folder: Path, samples: int) -> None:
    """Write the questions of each turn into a file of their own, so that each asks what was not asked before."""
    lines = (folder / "data.jsonl").read_bytes().splitlines(keepends=True)
    for turn, start in enumerate(range(0, len(lines), samples)):
        (folder / f"data{turn}.jsonl").write_bytes(b"".join(lines[start : start + samples]))


async def _turn(
    engine: RunEngine, request: EvaluationRequest, url: str, finished: str, *, reads: bool
) -> dict[str, Any]:
    reader = None
    if reads:
        reader = await _reader("--url", url, "--run", finished)
        assert reader.stdout is not None
        await reader.stdout.readline()  # it has begun
    began, cpu = time.perf_counter(), time.process_time()
    async with _late() as late:
        run = await engine.submit("evaluate", request)
        await engine.ended(run)
    row = {
        "reads": reads,
        "seconds": round(time.perf_counter() - began, 2),
        "cpu": round(time.process_time() - cpu, 2),
        "late": round(max(late), 3),
        "load": round(os.getloadavg()[0], 1),
    }
    if reader is None:
        return row
    said, _ = await reader.communicate(b"\n")
    return row | json.loads(said.splitlines()[-1])


@contextlib.asynccontextmanager
async def _late() -> AsyncIterator[list[float]]:
    """Measure by how many seconds the event loop is late."""
    late = [0.0]

    async def look() -> None:
        while True:
            due = time.perf_counter() + TICK
            await asyncio.sleep(TICK)
            late.append(time.perf_counter() - due)

    looking = asyncio.create_task(look())
    try:
        yield late
    finally:
        looking.cancel()


async def _each(url: str, path: str) -> float:
    """Return the seconds of this process's processor time that a read of a path takes."""
    reader = await _reader("--url", url, "--path", path)
    assert reader.stdout is not None
    await reader.stdout.readline()
    cpu = time.process_time()
    await reader.communicate(b"\n")
    return (time.process_time() - cpu) / ALONE


async def _reader(*arguments: str) -> asyncio.subprocess.Process:
    """Begin a process that reads; it says so in a line."""
    command = (sys.executable, "-m", "benchmarks.service_reading", *arguments)
    return await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)


async def _read_one(url: str, path: str) -> None:
    """Read a path twice, and once there is a line on standard input again and again."""
    async with aiohttp.ClientSession() as client:
        async with client.get(f"{url}{path}?wait=true") as reply:
            await reply.read()  # what is worked out once is worked out
        for number in range(ALONE + 2):
            if number == 2:
                print("reading", flush=True)
                sys.stdin.readline()
            async with client.get(f"{url}{path}") as reply:
                await reply.read()


async def _read(url: str, run: str) -> dict[str, Any]:
    """Read at an even rate until standard input is closed."""
    took: list[float] = []
    answers: Counter[int] = Counter()
    paths = [path.format(run=run) for path, times in PATHS for _ in range(times)]
    done = asyncio.ensure_future(asyncio.to_thread(sys.stdin.readline))

    async def get(client: aiohttp.ClientSession, path: str) -> None:
        began = time.perf_counter()
        async with client.get(f"{url}{path}") as reply:
            await reply.read()
        answers[reply.status] += 1
        took.append(time.perf_counter() - began)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        for path in dict.fromkeys(paths):
            await get(client, path)  # what is worked out once is worked out
        took.clear()
        print("reading", flush=True)
        tasks: set[asyncio.Task[None]] = set()
        began = time.perf_counter()
        number = 0
        while not done.done():
            task = asyncio.create_task(get(client, paths[number * 37 % len(paths)]))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            number += 1
            await asyncio.sleep(max(0.0, began + number / RATE - time.perf_counter()))
        seconds = time.perf_counter() - began
        await asyncio.gather(*tasks)
    took.sort()
    failed = sum(count for status, count in answers.items() if status != 200)
    return {
        "a second": round(number / seconds, 1),
        "failed": failed,
        "p50": round(median(took), 3),
        "p99": round(took[int(len(took) * 0.99)], 3),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told; a process with `--url` is the reader."""
    parser.add_argument("--samples", type=int, help="questions of a turn; each takes eight calls")
    parser.add_argument("--pairs", type=int, help="turns with and without the reading")
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, or its reader."""
    parser = argparse.ArgumentParser(add_help=False)
    add_options(parser)
    told, _ = parser.parse_known_args(arguments)
    if told.path:
        asyncio.run(_read_one(told.url, told.path))
        return 0
    if told.url:
        print(json.dumps(asyncio.run(_read(told.url, told.run))))
        return 0
    return run_benchmark("service_reading", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
