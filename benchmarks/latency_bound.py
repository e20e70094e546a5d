"""Replies that take a second, 256 in flight: how much of the time the endpoint's places are in use.

With `--workers N` also by so many processes, over which the 256 are spread.

The ideal is `waves` × latency: every place busy from the first moment to the last. The limit is held at 256, since one
that grows would hide what is measured.
"""

import argparse
from collections.abc import Sequence
from typing import Any

from benchmarks import workload
from benchmarks.command import BenchmarkFailed, Options, in_process_of_its_own, run_benchmark, say, scratch, sized
from benchmarks.figures import Figure, Report
from benchmarks.stub import Running, running_stub
from benchmarks.workload import write_workload

SHARE = 0.95
PEERS = ("aiohttp", "litellm")


def measure(options: Options) -> Report:
    """Evaluate, and let the peers send as much, with `--in-flight` requests at a time."""
    waves = options.waves or sized(options, quick=4, usual=40)
    per_sample = 2 * workload.CANDIDATES
    samples = -(-waves * options.in_flight // per_sample)
    rows: list[dict[str, Any]] = []
    with scratch() as folder, running_stub(latency=options.latency) as stub:
        work = write_workload(folder, samples=samples, url=stub.url, concurrency=options.in_flight)
        say(f"{work.calls} calls, {options.in_flight} in flight, {options.latency:g} s each")
        found = in_process_of_its_own("benchmarks.ours", folder, "--home", folder / "home")
        rows.append(_row("dokimasia", found, stub, options))
        if options.workers:
            say(f"{options.workers} workers")
            asked = (folder, "--home", folder / "home-of-workers", "--workers", options.workers)
            rows.append(
                _row(f"{options.workers} workers", in_process_of_its_own("benchmarks.ours", *asked), stub, options)
            )
        for peer in PEERS:
            if peer not in options.without:
                say(peer)
                rows.append(_row(peer, _peer(peer, stub, samples, options), stub, options))
    figures = [
        Figure("share of the ideal", rows[0]["share of the ideal"], target=SHARE),
        Figure("requests at once at the most", rows[0]["at once"], target=options.in_flight, rule="at most"),
        Figure("waves", waves),
    ]
    if options.workers:
        figures.insert(
            1, Figure(f"share of the ideal, {options.workers} workers", rows[1]["share of the ideal"], target=SHARE)
        )
    return Report("latency_bound", tuple(figures), tuple(rows))


def _peer(peer: str, stub: Running, samples: int, options: Options) -> dict[str, Any]:
    contestant = {"aiohttp": "raw", "litellm": "litellm"}[peer]
    # LiteLLM's share does not depend on how long it runs, and it takes long.
    candidates = 1 if peer == "litellm" else workload.CANDIDATES
    size = ("--samples", samples, "--candidates", candidates, "--concurrency", options.in_flight)
    return in_process_of_its_own("benchmarks.throughput.plain", contestant, stub.url, *size)


def _row(name: str, found: dict[str, Any], stub: Running, options: Options) -> dict[str, Any]:
    if not found["calls"]:
        raise BenchmarkFailed(f"{name} sent no call")
    ideal = found["calls"] / options.in_flight * options.latency
    return {
        "client": name,
        "calls": found["calls"],
        "seconds": round(found["seconds"], 2),
        "ideal": round(ideal, 2),
        "share of the ideal": round(ideal / found["seconds"], 3),
        "CPU s": round(found["cpu"], 2),
        "CPU s of workers": " ".join(f"{took:.2f}" for took in found.get("workers_cpu", ())),
        "at once": stub.stats()["most_in_hand"],
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--waves", type=int, help="how often the places are filled")
    parser.add_argument("--in-flight", type=int, default=256)
    parser.add_argument("--workers", type=int, default=0, help="also by so many processes, which Ray starts")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds a reply takes")
    parser.add_argument("--without", action="append", default=[], choices=PEERS, help="leave a peer out")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("latency_bound", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
