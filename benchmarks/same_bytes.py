"""Every kind of run in one process, then by 1, 2 and 4 workers on a cluster of three simulated nodes: the same bytes.

`python -m benchmarks.same_bytes [--kinds KIND ...] [--workers N ...]`. All models are asked over HTTP at the simulated server.
What `show --json` prints and what an export holds are compared byte by byte, and the server's log says whether workers
asked it for just what one process asks for, each request once. Beside the kinds: images of 1 MB, whose copies are counted
on each node; images that are made smaller; and samples that come twice, so that workers ask the same at once. At the end
one run is made by the command line on a cluster that is reached by Ray's client (`ray://`).
"""

import argparse
import asyncio
import contextlib
import io
import random
import shutil
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import orjson

from benchmarks.cluster import Nodes, free_port, nodes_of
from benchmarks.command import ROOT, BenchmarkFailed, Options, run_benchmark, say, scratch
from benchmarks.crash.__main__ import server_of
from benchmarks.crash.evidence import ServerLog
from benchmarks.figures import Figure, Report
from benchmarks.kinds import JUDGE, KINDS, MODELS, Kind, make, models_of, write_data
from dokimasia.cli.main import run as command
from dokimasia.distribution import engine
from dokimasia.distribution.cluster import cluster
from dokimasia.distribution.serving import Desk
from dokimasia.log import configure
from dokimasia.settings import Settings, load_settings

LATENCY = 0.05
WORKERS = (1, 2, 4)
SIDE = 64
"""Pixels of the longer side that images are made smaller to."""

PADDING = 1_000_000
"""Bytes that are added to an image."""

BY_THE_DRIVER = ("tree", "diagnosis")
"""What is one walk a run, which the driver takes."""

MODEL = """
[models."{name}"]
model = "openai/{name}"
endpoint = "planted"
api_base = "{url}"
transport = "direct"
max_concurrency = 8
{more}"""
LARGE, SMALLER, TWICE = "evaluate large images", "evaluate images made smaller", "evaluate the same twice"
CLIENT = "evaluate by Ray's client"


class Case(NamedTuple):
    """A kind of run over data, under a configuration."""

    name: str
    kind: Kind
    data: Path
    config: Path


class Made(NamedTuple):
    """What came of a run: figures and export as bytes, requests at the server, walks by workers, and seconds."""

    figures: bytes
    export: bytes
    requests: Counter[str]
    walks: int
    seconds: float


class Watch:
    """Counts what workers are given and what they ask for."""

    def __init__(self) -> None:
        self.walks = 0
        self.images: Counter[tuple[Any, str]] = Counter()
        self.shared: set[str] = set()
        self._open: dict[str, list[Any]] = {}

    @contextmanager
    def watching(self) -> Iterator["Watch"]:
        """Count while something is done."""
        walk, serve = engine.Post.walk, Desk.serve

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

        with patch.object(engine.Post, "walk", walked), patch.object(Desk, "serve", served):
            yield self


class Scene:
    """The folder, the server's log, and homes of what is made in one process."""

    def __init__(self, folder: Path, runner: asyncio.Runner, watch: Watch) -> None:
        self.folder, self._runner, self._watch = folder, runner, watch
        self.log = ServerLog(folder / "server.log")

    def made(self, case: Case, home: Path, **changes: Any) -> Made:
        """Make a run over a home and read it."""
        settings = load_settings(config=case.config, home=home, env={})
        walks, started = self._watch.walks, time.perf_counter()
        done = self._runner.run(make(settings, case.data, case.kind, **changes))
        seconds = time.perf_counter() - started
        if not done.complete:
            raise BenchmarkFailed(f"{case.name}: the run is not complete")
        return self.read(settings, done.run, self._watch.walks - walks, seconds)

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


def measure(options: Options) -> Report:
    """Make all runs and compare them."""
    configure(level="error")
    counts = tuple(options.workers or ((2,) if options.quick else WORKERS))
    rows, copies = list[dict[str, Any]](), list[float]()
    with (
        scratch() as folder,
        server_of(folder, LATENCY) as url,
        nodes_of(options.seed) as nodes,
        asyncio.Runner() as runner,
        Watch().watching() as watch,
    ):
        scene = Scene(folder, runner, watch)
        stack, ray = AsyncExitStack(), cluster(nodes.address)
        runner.run(stack.enter_async_context(ray))
        places = set[int]()
        try:
            for case in _cases(folder, url, options.kinds or (["evaluate"] if options.quick else [])):
                say(f"{case.name} ...")
                before = _stored()
                rows.append(_compared(scene, case, counts, nodes, places))
                if case.name == LARGE:
                    copies = [(after - before[node]) / _size_of_images(case.data) for node, after in _stored().items()]
        finally:
            runner.run(stack.aclose())
        if not options.kinds:
            rows.append(_by_client(scene, _cases(folder, url, ["evaluate"])[0], options.seed))
    return _report(rows, watch, copies, len(places))


def _cases(folder: Path, url: str, wanted: Sequence[str]) -> list[Case]:
    """Write data and configurations; return the cases."""
    data, config, smaller = folder / "world.jsonl", folder / "dokimasia.toml", folder / "smaller.toml"
    if not data.exists():
        write_data(data)
        for path, more in ((config, ""), (smaller, f"max_image_side = {SIDE}\n")):
            names = models_of(KINDS.values())
            path.write_text("".join(MODEL.format(name=name, url=url, more=more) for name in names))
        lines = [orjson.loads(line) for line in data.read_bytes().splitlines()]
        _write(folder / "large.jsonl", (_enlarged(folder, line) for line in lines))
        _write(folder / "twice.jsonl", (*lines, *({**line, "id": f"{line['id']}-again"} for line in lines)))
    plain = KINDS["evaluate"]
    cases = (
        *(Case(kind.id, kind, data, config) for kind in KINDS.values()),
        Case(LARGE, plain, folder / "large.jsonl", config),
        Case(SMALLER, plain, data, smaller),
        Case(TWICE, plain, folder / "twice.jsonl", config),
    )
    unknown = set(wanted) - {case.name for case in cases}
    if unknown:
        raise BenchmarkFailed(
            f"there is no kind {sorted(unknown)}; there are: {', '.join(case.name for case in cases)}"
        )
    return [case for case in cases if not wanted or case.name in wanted]


def _write(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))


def _compared(scene: Scene, case: Case, counts: Sequence[int], nodes: Nodes, places: set[int]) -> dict[str, Any]:
    """Make a case's run in one process and by workers; return what is the same as a row."""
    homes = scene.folder / "homes" / case.name
    scene.prepared(case, homes / "alone")
    scene.log.new_lines()
    alone = scene.made(case, homes / "alone")
    row: dict[str, Any] = {"run": case.name, "requests": alone.requests.total()}
    for count in counts:
        home = homes / str(count)
        scene.prepared(case, home)
        scene.log.new_lines()
        done = scene.made(case, home, workers=count, address=nodes.address)
        row |= {_by(count): _said(alone, done), "walks": done.walks, "s": round(done.seconds, 1)}
        places |= nodes.places()
    return row


def _said(alone: Made, done: Made) -> str:
    """Say whether what workers made is what one process made, or what is not."""
    other = [
        what
        for what, same in (
            ("figures", alone.figures == done.figures),
            ("export", alone.export == done.export),
            ("requests", alone.requests == done.requests),
        )
        if not same
    ]
    return f"other {' and '.join(other)}" if other else "same"


def _by_client(scene: Scene, case: Case, seed: int) -> dict[str, Any]:
    """Make an evaluation by the command line on a cluster of one node that is reached by Ray's client; return its row."""
    port, home = free_port(), scene.folder / "homes" / CLIENT
    scene.log.new_lines()
    alone = scene.made(case, scene.folder / "homes" / "beside it")
    asked = ["evaluate", case.data, "--judge", JUDGE, "--models", ",".join(MODELS), "--json", "--config", case.config]
    far = ["--home", home, "--workers", "2", "--address", f"ray://127.0.0.1:{port}"]
    with nodes_of(seed, 1, port):
        say(f"{CLIENT} ...")
        line, started = [sys.executable, "-m", "dokimasia", *map(str, (*asked, *far))], time.perf_counter()
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - started
        if done.returncode:
            raise BenchmarkFailed(f"{CLIENT}: it ended with {done.returncode}: {done.stderr[-2000:]}")
    settings = load_settings(config=case.config, home=home, env={})
    made = scene.read(settings, "last", 0, seconds)
    return {"run": CLIENT, "requests": alone.requests.total(), _by(2): _said(alone, made), "s": round(seconds, 1)}


def _by(count: int) -> str:
    return f"by {count}"


def _stored() -> dict[str, float]:
    """Return the bytes that were put into each node's object store so far."""
    import ray
    from ray._private.internal_api import node_stats

    living = [
        (node["NodeID"], node["NodeManagerAddress"], node["NodeManagerPort"]) for node in ray.nodes() if node["Alive"]
    ]
    return {name: node_stats(host, port, False).store_stats.cumulative_created_bytes for name, host, port in living}


def _enlarged(folder: Path, line: dict[str, Any]) -> dict[str, Any]:
    """Return a data file's line with an image of its own that has bytes in it which nobody reads."""
    png, name = (folder / line["image"]).read_bytes(), f"images/large-{line['id']}.png"
    drawn = b"prVt" + random.Random(line["id"]).randbytes(PADDING)
    chunk = PADDING.to_bytes(4) + drawn + zlib.crc32(drawn).to_bytes(4)
    (folder / name).write_bytes(png[:-12] + chunk + png[-12:])  # before the last chunk, IEND
    return {**line, "image": name}


def _size_of_images(data: Path) -> int:
    return sum((data.parent / orjson.loads(line)["image"]).stat().st_size for line in data.read_bytes().splitlines())


def _report(rows: list[dict[str, Any]], watch: Watch, copies: Sequence[float], places: int) -> Report:
    shared = any(row["run"] == TWICE for row in rows)
    said = [value for row in rows for name, value in row.items() if name.startswith("by ")]
    driven = [row["run"] for row in rows if not row.get("walks", 1) and row["run"] not in BY_THE_DRIVER]
    other = sum(one != "same" for one in said)
    figures = [
        Figure("runs by workers", len(said)),
        _most("runs by workers with other figures, exports or requests", other, 0),
        _most("kinds of which workers walked nothing, but those of the driver", len(driven), 0),
        Figure("nodes with workers", places),
        _most("questions of a worker for an image in a run", max(watch.images.values(), default=0), 1),
        Figure("calls that several workers asked at once", len(watch.shared), target=float(shared), must=True),
    ]
    if copies:
        figures.append(_most("copies of large images on a node", round(max(copies), 2), 1.1))
    notes = (f"walked by the driver: {', '.join(BY_THE_DRIVER)}; walks and s (seconds): by the most workers",)
    return Report("same_bytes", tuple(figures), tuple(rows), notes)


def _most(what: str, value: float, most: float) -> Figure:
    return Figure(what, value, target=most, rule="at most", must=True)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--kinds", nargs="+", metavar="KIND", help="only these")
    parser.add_argument("--workers", nargs="+", type=int, metavar="N", help="only so many (default: 1 2 4)")
    parser.add_argument("--seed", type=int, default=1, help="of the simulated nodes")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("same_bytes", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
