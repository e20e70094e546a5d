"""One evaluation of a workload, in a process that does nothing else, with what it took.

`python -m benchmarks.ours FOLDER --home HOME` prints one JSON object.
"""

import argparse
import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks import workload
from benchmarks.figures import peak_rss_mb, rss_mb
from dokimasia.gateway.direct import transport as direct
from dokimasia.gateway.events import GatewayEvent
from dokimasia.methods.evaluation import EvaluationRequest, evaluate, work
from dokimasia.methods.evaluation.criteria import import_criteria
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.observer import Progress, SilentObserver
from dokimasia.settings import load_settings
from dokimasia.simulation.serving import transport as simulated
from dokimasia.storage.home import Home


class Watch(SilentObserver):
    """Remembers when the calls began, what was done, and how much memory was held on the way."""

    def __init__(self, look_every: int = 0) -> None:
        """Look at the memory after every `look_every` answers; 0: never."""
        self.begun = 0.0
        self.sent = self.answered = self.cached = self.failed_tries = 0
        self.memory: list[tuple[int, float]] = []
        self._look_every = look_every
        self._answers = 0

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """The run is accepted, and the calls begin."""
        self.begun = time.perf_counter()

    def progressed(self, progress: Progress) -> None:
        """Take the figures down."""
        stats = progress.stats
        self.sent, self.answered = stats.sent, stats.answered
        self.cached, self.failed_tries = stats.cached, stats.failed_tries

    def happened(self, event: GatewayEvent) -> None:
        """Count the answers, and look at the memory where it is time."""
        if event.kind == "answered":
            self._answers += 1
            if self._look_every and self._answers % self._look_every == 0:
                self.memory.append((self._answers, round(rss_mb(), 1)))


LOADED = (work, direct, simulated)
"""What an evaluation loads when it begins to work is loaded before the clock starts, as it is for every contestant."""


class Processes:
    """The workers of a run, which outlive it, so that what they took can be read."""

    def __init__(self) -> None:
        """Begin without any."""
        self.cluster: Any = None

    @property
    def cpu(self) -> list[float]:
        """Seconds of processor time that each worker has taken, with all its threads."""
        if self.cluster is None:
            return []
        times = [(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]).split() for pid in self.cluster.living]
        return [(int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") for fields in times]


@asynccontextmanager
async def with_workers(count: int) -> AsyncIterator[Processes]:
    """Have so many workers on this machine ready before the clock starts; with 0 nothing is started."""
    processes = Processes()
    if not count:
        yield processes
        return
    from dokimasia.distribution.cluster import cluster

    async with cluster(None) as processes.cluster:
        await processes.cluster.begin()
        for worker in [await processes.cluster.hire() for _ in range(count)]:
            processes.cluster.release(worker)
        yield processes


async def evaluate_workload(
    folder: Path, home: Path, *, candidates: int, repeats: int, fresh: bool, look_every: int = 0, workers: int = 0
) -> dict[str, Any]:
    """Evaluate with criteria that are ready and return what it took; the criteria are imported before the clock starts."""
    settings = load_settings(config=folder / "dokimasia.toml", home=home, env={})
    with Home.open(home, write=True) as opened:
        collection, _ = await import_criteria(opened, folder / "criteria.jsonl")
    request = EvaluationRequest(
        data=folder / "data.jsonl",
        judge=workload.JUDGE,
        models=workload.candidates(candidates),
        criteria=collection,
        repeats=repeats,
        fresh=fresh,
        workers=max(workers, 1),
        engine="ray" if workers else None,
    )
    watch = Watch(look_every)
    async with with_workers(workers) as processes:
        before = processes.cpu
        started, cpu = time.perf_counter(), time.process_time()
        result = await evaluate(request, settings=settings, observer=watch)
        ended, cpu = time.perf_counter(), time.process_time() - cpu
        took = [after - earlier for earlier, after in zip(before, processes.cpu, strict=True)]
    models = result.summary["models"].values()
    return {
        "calls": watch.answered + watch.cached,
        "sent": watch.sent,
        "cached": watch.cached,
        "failed_tries": watch.failed_tries,
        "n": sum(model["n"] for model in models),
        "n_scored": sum(model["n_scored"] for model in models),
        "run": result.run,
        "complete": result.complete,
        "seconds": ended - started,
        "calling_seconds": ended - watch.begun if watch.begun else 0.0,
        "cpu": cpu,
        "workers_cpu": took,
        "rss_mb": rss_mb(),
        "peak_mb": peak_rss_mb(),
        "memory": watch.memory,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate once and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ours", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--candidates", type=int, default=workload.CANDIDATES)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="a new run of the same work, answered from the ledger")
    parser.add_argument("--workers", type=int, default=0, help="walk graphs in so many processes")
    parser.add_argument("--look-every", type=int, default=0, help="look at the memory after so many answers")
    parser.add_argument(
        "--profile", type=Path, help="write a cProfile of the evaluation here; the times are not to be used"
    )
    options = parser.parse_args(arguments)

    def work() -> dict[str, Any]:
        return asyncio.run(
            evaluate_workload(
                options.folder,
                options.home,
                candidates=options.candidates,
                repeats=options.repeats,
                fresh=options.fresh,
                look_every=options.look_every,
                workers=options.workers,
            )
        )

    if options.profile is None:
        found = work()
    else:
        import cProfile

        with cProfile.Profile() as profile:
            found = work()
        profile.dump_stats(options.profile)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
