"""Ten times the samples: how much more memory a run holds, and how large its database is beside the text in it."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import Options, in_process_of_its_own, run_benchmark, say, scratch, sized
from benchmarks.figures import Figure, Report
from benchmarks.stub import running_stub
from benchmarks.workload import write_workload
from dokimasia.storage.content.packing import unpack
from dokimasia.storage.home import Home

GROWTH_MB, BYTES_PER_BYTE = 200, 1.5
FEWER = 10


def measure(options: Options) -> Report:
    """Evaluate a tenth of the samples, then all, each in a new home and a process of its own."""
    samples = options.samples or sized(options, quick=1000, usual=10_000, full=100_000)
    rows: list[dict[str, Any]] = []
    for count in (max(1, samples // FEWER), samples):
        say(f"{count} samples")
        with scratch() as folder, running_stub() as stub:
            work = write_workload(folder, samples=count, url=stub.url, candidates_count=options.candidates)
            home = folder / "home"
            found = in_process_of_its_own("benchmarks.ours", folder, "--home", home, "--candidates", options.candidates)
            held = _text_bytes(home)
            size = (home / "dokimasia.db").stat().st_size
        rows.append(
            {
                "samples": count,
                "calls": work.calls,
                "calls/s": round(work.calls / found["seconds"], 1),
                "peak MB": round(found["peak_mb"], 1),
                "MB at the end": round(found["rss_mb"], 1),
                "database MB": round(size / 1e6, 1),
                "text MB": round(held / 1e6, 1),
                "database / text": round(size / held, 3),
            }
        )
    few, many = rows
    figures = (
        Figure(f"growth from {few['samples']:,} to {samples:,} samples", many["peak MB"] - few["peak MB"], "MB",
               GROWTH_MB, "at most"),
        Figure("database, bytes a byte of text", many["database / text"], target=BYTES_PER_BYTE, rule="at most"),
    )  # fmt: skip
    return Report(
        "memory",
        figures,
        tuple(rows),
        ("Text: each prompt and reply once, as UTF-8; the database packs the long ones.",),
    )


def _text_bytes(home: Path) -> int:
    """Return the bytes of the prompts and replies that a home holds, each once, as UTF-8 and not as they are stored."""
    held = 0
    with Home.open(home, write=False) as opened:
        last = ""
        while rows := opened.all("SELECT hash, text FROM texts WHERE hash > ? ORDER BY hash LIMIT 1000", (last,)):
            held += sum(len(unpack(text).encode()) for _, text in rows)
            last = rows[-1][0]
    return held


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--samples", type=int, help=f"the larger number; the smaller one is 1/{FEWER} of it")
    parser.add_argument("--candidates", type=int, default=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("memory", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
