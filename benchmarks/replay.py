"""The same again: a finished run asked for once more, and the same work as a fresh run answered from the ledger."""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import workload
from benchmarks.command import ROOT, BenchmarkFailed, Options, in_process_of_its_own, run_benchmark, say, scratch, sized
from benchmarks.figures import Figure, Report
from benchmarks.stub import running_stub
from benchmarks.workload import Workload, write_workload

SECONDS, RATE = 2.0, 2000
AGAIN = 3


def measure(options: Options) -> Report:
    """Finish a run; ask for it again by the command line; do the same work as a fresh run; count what was sent."""
    samples = options.samples or sized(options, quick=200, usual=10_000)
    with scratch() as folder, running_stub() as stub:
        say(f"a first run of {samples} samples")
        work = write_workload(folder, samples=samples, url=stub.url, candidates_count=options.candidates)
        home = folder / "home"
        more = ("--home", home, "--candidates", options.candidates)
        first = in_process_of_its_own("benchmarks.ours", folder, *more)
        if not first["complete"]:
            raise BenchmarkFailed(f"the first run did not end: {first}")
        before = stub.stats()["requests"]
        say("the same command again")
        again = [_command_again(work, home, first["run"]) for _ in range(AGAIN)]
        inside = in_process_of_its_own("benchmarks.ours", folder, *more)
        say("a fresh run of the same work")
        fresh = in_process_of_its_own("benchmarks.ours", folder, *more, "--fresh")
        sent = stub.stats()["requests"] - before
    rows = (
        _row("first run", first["calls"], first["sent"], first["seconds"]),
        _row("the command again", 0, inside["sent"], statistics.median(again)),
        _row("the same inside a process", inside["calls"], inside["sent"], inside["seconds"]),
        _row("fresh run", fresh["calls"], fresh["sent"], fresh["seconds"]),
    )
    figures = (
        Figure("requests sent again", sent, target=0, rule="exactly", must=True),
        Figure("a finished run again, the whole command", statistics.median(again), "s", SECONDS, "at most"),
        Figure("a finished run again, without start-up", inside["seconds"], "s"),
        Figure("fresh run from the ledger: calls a second", fresh["calls"] / fresh["seconds"], target=RATE),
        Figure("samples", samples),
    )
    if fresh["calls"] != work.calls or fresh["cached"] != work.calls:
        raise BenchmarkFailed(f"the fresh run was to be answered {work.calls} times by the ledger: {fresh}")
    return Report("replay", figures, rows)


def _command_again(work: Workload, home: Path, run: str) -> float:
    """Return the seconds that the whole command takes to print a finished run's figures."""
    models = ",".join(workload.candidates(work.candidates))
    collection = _collection(home)
    command = [sys.executable, "-m", "dokimasia", "evaluate", work.folder / "data.jsonl", "--json", "--home", home]
    command += ["--config", work.folder / "dokimasia.toml", "--judge", workload.JUDGE, "--models", models]
    command += ["--criteria", collection]
    started = time.perf_counter()
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode or run not in done.stdout:
        raise BenchmarkFailed(f"the command did not print run {run}: {(done.stderr or done.stdout)[-1000:]}")
    return seconds


def _collection(home: Path) -> str:
    from dokimasia.storage.home import Home

    with Home.open(home, write=False) as opened:
        found = opened.one("SELECT collection_id FROM criteria_collections LIMIT 1")
    if found is None:
        raise BenchmarkFailed(f"{home} has no criteria")
    return found[0]


def _row(what: str, calls: int, sent: int, seconds: float) -> dict[str, str | float]:
    rate = round(calls / seconds, 1)
    return {"what": what, "answers": calls, "requests": sent, "seconds": round(seconds, 2), "answers/s": rate}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--samples", type=int)
    parser.add_argument("--candidates", type=int, default=workload.CANDIDATES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("replay", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
