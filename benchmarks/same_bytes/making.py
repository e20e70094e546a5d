"""Makes a run over a home and reads what came of it, counts what workers do, and kills one of them."""

import asyncio
import contextlib
import io
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks.cluster import Nodes
from benchmarks.command import BenchmarkFailed
from benchmarks.crash.evidence import ServerLog, committed
from benchmarks.kinds import KINDS, make
from benchmarks.same_bytes.cases import Case
from dokimasia.cli.main import run as command
from dokimasia.distribution import engine
from dokimasia.distribution.driver import DriverHandler
from dokimasia.settings import Settings, load_settings


class Made(NamedTuple):
    """What came of a run: figures and export as bytes, requests at the server, walks by workers, and seconds."""

    figures: bytes
    export: bytes
    requests: Counter[str]
    walks: int
    seconds: float


class Watch:
    """Counts what workers are given and what they ask for.

    `shared` are the calls that several asked at once, `places` the nodes that they were on, `copies` how often an image lies
    on a node.
    """

    def __init__(self) -> None:
        self.walks = self.kills = 0
        self.places: set[int] = set()
        self.copies = 0.0
        self.images: Counter[tuple[Any, str]] = Counter()
        self.shared: set[str] = set()
        self._open: dict[str, list[Any]] = {}

    @contextmanager
    def watching(self) -> Iterator["Watch"]:
        """Count while something is done."""
        walk, serve = engine.WorkerProxy.execute, DriverHandler.serve

        async def walked(post: Any, *holds: Any) -> Any:
            self.walks += 1
            return await walk(post, *holds)

        async def served(desk: Any, bearer: Any, name: str, holds: tuple[Any, ...]) -> Any:
            if name == "image":
                self.images[bearer, holds[0]] += 1
            if name != "carried":
                return await serve(desk, bearer, name, holds)
            asking = self._open.setdefault(holds[2], [])
            asking.append(bearer)
            if len(set(asking)) > 1:
                self.shared.add(holds[2])
            try:
                return await serve(desk, bearer, name, holds)
            finally:
                asking.remove(bearer)

        with patch.object(engine.WorkerProxy, "execute", walked), patch.object(DriverHandler, "serve", served):
            yield self


class Scene:
    """The folder, the server's log, the nodes, and homes of what is made in one process."""

    def __init__(self, folder: Path, runner: asyncio.Runner, nodes: Nodes, watch: Watch) -> None:
        self.folder, self.nodes, self.watch, self._runner = folder, nodes, watch, runner
        self.randomness = random.Random(1)
        self.log = ServerLog(folder / "server.log")

    def made(self, case: Case, home: Path, **changes: Any) -> Made:
        """Make a run over a home and read it."""
        settings = load_settings(config=case.config, home=home, env={})
        walks, started = self.watch.walks, time.perf_counter()
        done = self._runner.run(make(settings, case.data, case.kind, **changes))
        seconds = time.perf_counter() - started
        if not done.complete:
            raise BenchmarkFailed(f"{case.name}: the run is not complete")
        return self.read(settings, done.run, self.watch.walks - walks, seconds)

    def read(self, settings: Settings, run: str, walks: int, seconds: float) -> Made:
        """Read what the command line says of a run, and what the server was asked since this was done last."""
        path, home = self.folder / "export.jsonl", str(settings.home)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            codes = (
                command(["show", run, "--json", "--home", home]),
                command(["export", run, "-o", str(path), "--home", home]),
            )
        if any(codes):
            raise BenchmarkFailed(f"run {run} cannot be read")
        time.sleep(0.1)  # what the server has answered is written to its log
        return Made(printed.getvalue().encode(), path.read_bytes(), Counter(self.log.new_requests()), walks, seconds)

    def prepared(self, case: Case, home: Path) -> None:
        """Put a home there that has what a run rests on."""
        if case.kind.on:
            on = KINDS[case.kind.on]
            kept = self.folder / "on" / on.id
            if not kept.exists():
                self.prepared(Case(on.id, on, case.data, case.config), kept)
                self.made(Case(on.id, on, case.data, case.config), kept)
            shutil.copytree(kept, home)


@contextmanager
def killing(scene: Scene, home: Path, after: int) -> Iterator[None]:
    """Kill a worker once so many calls more than now are committed in a home."""
    over, before, there = threading.Event(), committed(home), scene.nodes.workers()[-1]

    def kill() -> None:
        while not over.wait(0.01):
            if committed(home) - before >= after:
                os.kill(there, signal.SIGKILL)
                scene.watch.kills += 1
                return

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def compared(alone: Made, done: Made, *, repeated: int = 0) -> str:
    """Say whether what workers made is what one process made, or what is not; so many requests may be there again."""
    more = done.requests - alone.requests
    asked = not alone.requests - done.requests and more.keys() <= alone.requests.keys() and more.total() <= repeated
    other = [
        what
        for what, same in (
            ("figures", alone.figures == done.figures),
            ("export", alone.export == done.export),
            ("requests", asked),
        )
        if not same
    ]
    return f"other {' and '.join(other)}" if other else "same"
