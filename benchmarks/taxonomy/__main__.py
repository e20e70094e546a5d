"""Trees grown from 10,000 to 100,000 criteria of the made-up world: CPU without the models', memory, calls a criterion.

`python -m benchmarks.taxonomy [--quick] [--sizes 10000 100000] [--json]`. Each tree is grown in a process of its own that asks a
simulated judge; the CPU time that the judge itself takes is measured call by call and left out.
"""

import argparse
from collections.abc import Sequence
from math import log
from typing import Any

from benchmarks.command import Options, in_process_of_its_own, run_benchmark, say, scratch
from benchmarks.figures import Figure, Report
from dokimasia.simulation.lexicon import made_up_capabilities

SIZES = (10_000, 30_000, 100_000)
QUICK = (500, 1_000, 2_000)
CPU_SECONDS, PEAK_MB, CALLS_A_CRITERION, RAND = 60, 1_000, 0.15, 0.98
BIG = 5_000
"""Criteria from which on every planted leaf has support enough to be kept, so that the tree must come back."""

EXPONENT = 1.15
"""What CPU time may grow with: the power of the number of criteria; 1 is linear."""


def measure(options: Options) -> Report:
    """Grow a tree of each size."""
    rows: list[dict[str, Any]] = []
    for count in sorted(options.sizes or (QUICK if options.quick else SIZES)):
        say(f"{count:,} criteria")
        with scratch() as folder:
            rows.append(in_process_of_its_own("benchmarks.taxonomy.growth", count, folder))
    few, many = rows[0], rows[-1]
    big, planted = few["criteria"] >= BIG, made_up_capabilities()
    figures = (
        Figure(f"CPU of {many['criteria']:,} criteria without the models'", many["CPU s"], "s", CPU_SECONDS, "at most"),
        *(
            [Figure("CPU grows with the criteria to the power", _exponent(few, many), "", EXPONENT, "at most")]
            if many["criteria"] > few["criteria"]
            else []
        ),
        Figure("peak memory", many["peak MB"], "MB", PEAK_MB, "at most"),
        Figure("model calls a criterion", many["each"], "", CALLS_A_CRITERION, "at most"),
        Figure(
            "adjusted Rand index to the planted tree, lowest",
            min(row["Rand"] for row in rows),
            "",
            RAND,
            "at least",
            must=big,
        ),
        Figure(
            "share of criteria without a place, highest",
            max(round(row["unplaced"] / row["criteria"], 5) for row in rows),
        ),
    )
    notes = (
        "CPU s: all of the process from reading the file on, without the simulated models' own time (models s).",
        "each: model calls a criterion. Rand: the adjusted Rand index of the grown leaves and the planted ones.",
        f"{len(planted)} leaves are planted, each under {len(next(iter(planted.values())).names)} names that no "
        "criterion contains; the tree grows from 260 samples, and a leaf that these hardly touch may be missing.",
    )
    return Report("taxonomy", figures, tuple(rows), notes)


def _exponent(few: dict[str, Any], many: dict[str, Any]) -> float:
    """Return the power of the number of criteria that the CPU time grows with between two sizes."""
    return round(log(many["CPU s"] / few["CPU s"]) / log(many["criteria"] / few["criteria"]), 3)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("taxonomy", __doc__, measure, arguments, add=add_options)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--sizes", type=int, nargs="+", metavar="CRITERIA", help="numbers of criteria")


if __name__ == "__main__":
    raise SystemExit(main())
