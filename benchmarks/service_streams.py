"""A thousand event streams on one run: what each was sent, and what they cost in memory and processor time.

The readers are a process of their own. A tenth of them break off half way and come again with the id of their last event;
some others read nothing at all. A reader has lost an event if a failure, a changed limit, a status or the end did not come
to it, or the ids did not increase.
"""

import argparse
import asyncio
import json
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import BenchmarkFailed, Options, run_benchmark, say, scratch, sized
from benchmarks.figures import Figure, Report, rss_mb
from dokimasia.gateway.events import GatewayEvent
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.observer import Progress
from dokimasia.service.app import serve
from dokimasia.service.run_events import Events
from dokimasia.service.state import Service
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, create_run, get_run

EACH_SECOND = 20
"""Failures that are told a second, besides progress."""

IDLE = 10
"""Readers that read nothing."""

MOST_MB = 100.0


def measure(options: Options) -> Report:
    """Tell a run's events for some seconds to all readers."""
    streams = options.streams or sized(options, quick=50, usual=1000)
    seconds = sized(options, quick=4, usual=20)
    _many_files()
    with scratch() as folder:
        found = asyncio.run(_told(folder, streams, seconds))
    figures = [
        Figure("streams that lost an event", found["lost"], target=0, rule="exactly", must=True),
        Figure("streams that saw the end", found["ended"], target=streams, rule="exactly", must=True),
        Figure("streams that came again half way", found["again"]),
        Figure("memory that they took", found["opened_mb"] - found["before_mb"], "MB", target=MOST_MB, rule="at most"),
        Figure(
            "memory that the events took on top",
            found["after_mb"] - found["opened_mb"],
            "MB",
            target=20.0,
            rule="at most",
        ),
        Figure("processor time a second", found["cpu"] / seconds, "s"),
    ]
    return Report("service_streams", tuple(figures), (found,))


async def _told(folder: Path, streams: int, seconds: int) -> dict[str, Any]:
    settings = load_settings(home=folder / "home", cwd=folder, env={})
    with Home.open(folder / "home", write=True) as home:
        estimate = Estimate(samples=0, models={})
        row = Run(id="run", method="evaluate", status="running", options={"estimate": estimate.model_dump(mode="json")})
        await create_run(home, row)
        events = Events(home)
        observer = events.observer_of(get_run(home, "run"))
        url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        stop = asyncio.Event()
        service = Service(settings=settings, home=home, runner=None, events=events)  # pyright: ignore[reportArgumentType]
        serving = asyncio.create_task(serve(service, ready=url.set_result, stop=stop))
        address = (await url).removeprefix("http://127.0.0.1:")
        observer.became("running")
        observer.planned("run", estimate)
        before = rss_mb()
        readers = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchmarks.service_streams", "--port", address, "--streams", str(streams),
            "--breaks-after", str(seconds / 2), "--failures", str(seconds * EACH_SECOND), stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.timeout(120):
            while events.streams < streams + min(IDLE, streams):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        say(f"{events.streams} streams are open")
        opened, cpu = rss_mb(), time.process_time()
        for tick in range(seconds * 2):
            for number in range(EACH_SECOND // 2):
                observer.failed(f"item {tick}/{number}", "model", "unparsable", "no score was found in the reply " * 4)
            if tick % 4 == 0:
                observer.happened(GatewayEvent(kind="limit", endpoint="vendor", limit=tick + 1, reason="it grew"))
            observer.progressed(Progress(items=seconds * 100, done=tick))
            await asyncio.sleep(0.5)
        used = time.process_time() - cpu
        after = rss_mb()
        observer.became("done", end="complete")
        said, _ = await readers.communicate()
        stop.set()
        await serving
    if readers.returncode:
        raise BenchmarkFailed("the readers broke")
    return {
        **json.loads(said),
        "streams": streams,
        "before_mb": round(before, 1),
        "opened_mb": round(opened, 1),
        "after_mb": round(after, 1),
        "cpu": round(used, 2),
    }


class Reader:
    """One reader of the stream: counts what came, and sees whether the ids increase."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.last = 0
        self.failures = self.limits = 0
        self.ended = self.disordered = False

    async def read(self, *, seconds: float | None = None) -> None:
        """Read until the end, or for some seconds, from where it broke off."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        known = f"last-event-id: {self.last}\r\n" if self.last else ""
        writer.write(f"GET /api/runs/run/events?after=0 HTTP/1.1\r\nhost: 127.0.0.1\r\n{known}\r\n".encode())
        try:
            async with asyncio.timeout(seconds):
                id, kind = self.last, ""
                while not self.ended and (line := await reader.readline()):
                    if line.startswith(b"id: "):
                        id = int(line[4:])
                    elif line.startswith(b"event: "):
                        kind = line[7:].decode().strip()
                    elif line.startswith(b"data: "):
                        self._take(id, kind, line)
        except TimeoutError:
            pass
        finally:
            writer.close()

    def _take(self, id: int, kind: str, line: bytes) -> None:
        self.disordered = self.disordered or id < self.last
        self.last = id
        self.ended = kind == "ended"
        self.failures += kind == "failure"
        self.limits += kind == "limit"
        if kind == "snapshot":
            counts = json.loads(line[6:])["picture"]["failures"].values()
            self.failures = sum(one["count"] for one in counts)


async def _readers(port: int, streams: int, breaks_after: float, failures: int) -> dict[str, Any]:
    readers = [Reader(port) for _ in range(streams)]

    async def one(reader: Reader, *, breaks: bool) -> None:
        if breaks:
            await reader.read(seconds=breaks_after)
        await reader.read()

    idle = [await asyncio.open_connection("127.0.0.1", port, limit=1) for _ in range(min(IDLE, streams))]
    for _, writer in idle:
        writer.write(b"GET /api/runs/run/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
    again = [reader for place, reader in enumerate(readers) if place % 10 == 0]
    await asyncio.gather(*(one(reader, breaks=reader in again) for reader in readers))
    lost = [each for each in readers if each.failures != failures or each.disordered or not each.limits]
    return {"lost": len(lost), "ended": sum(each.ended for each in readers), "again": len(again)}


def _many_files() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most if most != resource.RLIM_INFINITY else 65_536, most))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told; a process with `--port` is the readers."""
    parser.add_argument("--streams", type=int, help="how many")
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--breaks-after", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--failures", type=int, help=argparse.SUPPRESS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, or its readers."""
    parser = argparse.ArgumentParser(add_help=False)
    add_options(parser)
    told, _ = parser.parse_known_args(arguments)
    if told.port:
        _many_files()
        print(json.dumps(asyncio.run(_readers(told.port, told.streams, told.breaks_after, told.failures))))
        return 0
    return run_benchmark("service_streams", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
