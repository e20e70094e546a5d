"""Model calls per second against a stub that answers at once: Dokimasia and its peers on the same messages."""

import argparse
import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks import workload
from benchmarks.command import BenchmarkFailed, Options, in_process_of_its_own, run_benchmark, say, scratch, sized
from benchmarks.figures import Figure, Report
from benchmarks.peers import peer_python
from benchmarks.stub import Running, running_stub
from benchmarks.workload import IMAGE_BYTES, Workload, write_workload

CONTESTANTS = ("dokimasia", "aiohttp + ledger", "aiohttp", "litellm", "Inspect AI")
PER_INSPECT, OF_LEDGER = 20, 0.45

Measured = dict[str, Any]


def measure(options: Options) -> Report:
    """Let each contestant send its calls, in turn, in every round, without images and with one image a sample."""
    samples = options.samples or sized(options, quick=100, usual=1500)
    rounds = options.rounds or sized(options, quick=1, usual=1, full=3)
    rows: list[Measured] = []
    figures: list[Figure] = []
    notes: list[str] = []
    absent: set[str] = set(options.without)
    for image_bytes in (0, IMAGE_BYTES):
        shown = "image of 160 KB" if image_bytes else "text only"
        seen: dict[str, list[Measured]] = {}
        for number in range(rounds):
            with scratch() as folder, running_stub() as stub:
                work = write_workload(folder, samples=samples, url=stub.url, image_bytes=image_bytes)
                for name in CONTESTANTS:
                    if name in absent:
                        continue
                    say(f"{shown}, round {number + 1} of {rounds}: {name}")
                    try:
                        seen.setdefault(name, []).append(_one(name, work, stub, images=bool(image_bytes)))
                    except BenchmarkFailed as error:
                        if name == "dokimasia":
                            raise
                        notes.append(f"{name} was not measured: {error}")
                        absent.add(name)
                        seen.pop(name, None)
        rows += [_row(shown, name, every) for name, every in seen.items()]
        figures += _figures(shown, seen)
    notes.append(
        "Dokimasia, aiohttp and aiohttp + ledger: 8 calls a sample (4 candidates answer, the judge scores each); litellm "
        "and Inspect AI: 2. Figures are medians over the rounds; ratios are taken within each."
    )
    return Report("throughput", tuple(figures), tuple(rows), tuple(notes))


def _one(name: str, work: Workload, stub: Running, *, images: bool) -> Measured:
    before = stub.stats()["requests"]
    if name == "dokimasia":
        found = in_process_of_its_own("benchmarks.ours", work.folder, "--home", work.folder / "home")
        if not found["n_scored"] == work.samples * work.candidates == found["sent"] / 2:
            raise BenchmarkFailed(f"the evaluation did not score everything, each by two calls: {found}")
    elif name == "Inspect AI":
        module, python = "benchmarks.throughput.inspect_peer", peer_python("inspect")
        found = in_process_of_its_own(module, stub.url, work.folder, "--samples", work.samples, python=python)
    else:
        contestant = {"aiohttp": "raw", "aiohttp + ledger": "ledger", "litellm": "litellm"}[name]
        size = ("--samples", work.samples, "--candidates", 1 if name == "litellm" else work.candidates)
        more = ("--images", work.folder) if images else ()
        found = in_process_of_its_own("benchmarks.throughput.plain", contestant, stub.url, *size, *more)
    came = stub.stats()["requests"] - before
    if came < found["calls"]:
        raise BenchmarkFailed(f"{name} says {found['calls']} calls, but the stub saw {came}")
    return found


def _rate(found: Measured) -> float:
    return found["calls"] / found["seconds"]


def _row(shown: str, name: str, every: Sequence[Measured]) -> Measured:
    return {
        "messages": shown,
        "client": name,
        "calls": every[0]["calls"],
        "calls/s": round(statistics.median(map(_rate, every)), 1),
        "CPU ms a call": round(statistics.median(1000 * one["cpu"] / one["calls"] for one in every), 3),
        "peak MB": round(max(one["peak_mb"] for one in every)),
    }


def _figures(shown: str, seen: dict[str, list[Measured]]) -> list[Figure]:
    ours = seen["dokimasia"]

    def ratio(peer: str) -> float:
        return statistics.median(_rate(a) / _rate(b) for a, b in zip(ours, seen[peer], strict=True))

    figures = [Figure(f"{shown}: calls a second", statistics.median(map(_rate, ours)))]
    if "Inspect AI" in seen:
        figures.append(Figure(f"{shown}: times Inspect AI", ratio("Inspect AI"), target=PER_INSPECT))
    if "aiohttp + ledger" in seen:
        figures.append(Figure(f"{shown}: share of aiohttp + ledger", ratio("aiohttp + ledger"), target=OF_LEDGER))
    if "litellm" in seen:
        figures.append(Figure(f"{shown}: times litellm alone", ratio("litellm")))
    return figures


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--samples", type=int, help=f"samples of {2 * workload.CANDIDATES} calls each")
    parser.add_argument("--rounds", type=int, help="how often everything is measured")
    parser.add_argument("--without", action="append", default=[], choices=CONTESTANTS[1:], help="leave a peer out")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("throughput", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
