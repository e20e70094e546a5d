"""Every kind of run in one process, then by 1, 2 and 4 workers on a cluster of three simulated nodes: the same bytes.

`python -m benchmarks.same_bytes [--kinds KIND ...] [--workers N ...]`. All models are asked over HTTP at the simulated server.
What `show --json` prints and what an export holds are compared byte by byte, and the server's log says whether workers
asked it for just what one process asks for, each request once. Then a run of each kind has a worker killed by SIGKILL at a
random moment: the same bytes, and requests again for no more than was in flight. Beside the kinds: images of 1 MB, whose
copies are counted on each node; images that are made smaller; and samples that come twice, so that workers ask the same at
once. At the end one run is made by the command line on a cluster that is reached by Ray's client (`ray://`).
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from benchmarks.cluster import free_port, nodes_of
from benchmarks.command import ROOT, BenchmarkFailed, Options, run_benchmark, say, scratch
from benchmarks.crash.__main__ import server_of
from benchmarks.figures import Figure, Report
from benchmarks.kinds import JUDGE, MODELS
from benchmarks.same_bytes.cases import IN_FLIGHT, LARGE, TWICE, Case, cases_of, size_of_images
from benchmarks.same_bytes.making import Scene, Watch, compared, killing
from dokimasia.distribution.cluster import cluster
from dokimasia.log import configure
from dokimasia.settings import load_settings

LATENCY = 0.05
WORKERS = (1, 2, 4)
BY_THE_DRIVER = ("tree", "diagnosis")
"""What is one walk a run, which the driver takes."""

CLIENT = "evaluate by Ray's client"


def measure(options: Options) -> Report:
    """Make all runs and compare them."""
    configure(level="error")
    counts = tuple(options.workers or ((2,) if options.quick else WORKERS))
    rows = list[dict[str, Any]]()
    with (
        scratch() as folder,
        server_of(folder, LATENCY) as url,
        nodes_of(options.seed) as nodes,
        asyncio.Runner() as runner,
        Watch().watching() as watch,
    ):
        scene = Scene(folder, runner, nodes, watch)
        stack, ray = AsyncExitStack(), cluster(nodes.address)
        try:
            runner.run(runner.run(stack.enter_async_context(ray)).begin())
            for case in cases_of(folder, url, options.kinds or (["evaluate"] if options.quick else [])):
                say(f"{case.name} ...")
                rows.append(_row_of(scene, case, counts))
        finally:
            runner.run(stack.aclose())
        if not options.kinds:
            rows.append(_by_client(scene, cases_of(folder, url, ["evaluate"])[0], options.seed))
    return _report(rows, watch)


def _row_of(scene: Scene, case: Case, counts: Sequence[int]) -> dict[str, Any]:
    """Make a case's run in one process and by workers; return what is the same as a row."""
    homes, address, stored = scene.folder / "homes" / case.name, scene.nodes.address, _stored()
    scene.prepared(case, homes / "alone")
    scene.log.new_lines()
    alone = scene.made(case, homes / "alone")
    row: dict[str, Any] = {"run": case.name, "requests": alone.requests.total()}
    for count in counts:
        home = homes / str(count)
        scene.prepared(case, home)
        scene.log.new_lines()
        done = scene.made(case, home, workers=count, address=address)
        row |= {_by(count): compared(alone, done), "walks": done.walks, "s": round(done.seconds, 1)}
        scene.watch.places |= scene.nodes.places()
    if case.name == LARGE:
        size = size_of_images(case.data)
        scene.watch.copies = max((after - stored[node]) / size for node, after in _stored().items())
    home = homes / "killed"
    scene.prepared(case, home)
    scene.log.new_lines()
    with killing(scene, home, round(scene.randomness.uniform(0, 0.9) * alone.requests.total())):
        done = scene.made(case, home, workers=max(counts), address=address)
    again = done.requests.total() - alone.requests.total()
    return row | {"one killed": compared(alone, done, repeated=IN_FLIGHT), "again": again}


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
    return {"run": CLIENT, "requests": alone.requests.total(), _by(2): compared(alone, made), "s": round(seconds, 1)}


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


def _report(rows: list[dict[str, Any]], watch: Watch) -> Report:
    shared = any(row["run"] == TWICE for row in rows)
    said = [value for row in rows for name, value in row.items() if name.startswith(("by ", "one "))]
    driven = [row["run"] for row in rows if not row.get("walks", 1) and row["run"] not in BY_THE_DRIVER]
    other = sum(one != "same" for one in said)
    figures = [
        Figure("runs by workers", len(said)),
        _most("runs by workers with other figures, exports or requests", other, 0),
        _most("kinds of which workers walked nothing, but those of the driver", len(driven), 0),
        Figure("workers killed at work", watch.kills),
        Figure("nodes with workers", len(watch.places)),
        _most("questions of a worker for an image in a run", max(watch.images.values(), default=0), 1),
        Figure("calls that several workers asked at once", len(watch.shared), target=float(shared), must=True),
    ]
    if watch.copies:
        figures.append(_most("copies of large images on a node", round(watch.copies, 2), 1.1))
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
