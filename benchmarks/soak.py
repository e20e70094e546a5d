"""Half a million calls in one process: whether the memory that it holds stays flat."""

import argparse
import statistics
from collections.abc import Sequence

from benchmarks import workload
from benchmarks.command import BenchmarkFailed, Options, in_process_of_its_own, run_benchmark, say, scratch, sized
from benchmarks.figures import Figure, Report
from benchmarks.stub import running_stub
from benchmarks.workload import write_workload

FLAT_MB = 50
"""What the memory may grow by from the second tenth of the calls to the last, and still be called flat."""
TENTHS = 10
LOOKS = 10
"""Looks at the memory in each tenth of the calls."""

REPEATS = 5


def measure(options: Options) -> Report:
    """Evaluate until so many calls are made, and look at the memory on the way."""
    calls = options.calls or sized(options, quick=8_000, usual=50_000, full=500_000)
    per_sample = 2 * workload.CANDIDATES * REPEATS
    samples = max(1, calls // per_sample)
    with scratch() as folder, running_stub() as stub:
        work = write_workload(folder, samples=samples, url=stub.url)
        say(f"{samples * per_sample} calls")
        more = ("--repeats", REPEATS, "--look-every", max(1, samples * per_sample // (TENTHS * LOOKS)))
        found = in_process_of_its_own("benchmarks.ours", folder, "--home", work.folder / "home", *more)
    if found["calls"] != samples * per_sample:
        raise BenchmarkFailed(f"{found['calls']} calls were made, not {samples * per_sample}")
    looks: list[tuple[int, float]] = [(done, mb) for done, mb in found["memory"]]
    rows = [
        {"calls": f"{tenth * found['calls'] // TENTHS:,}", "resident MB": round(statistics.median(held), 1)}
        for tenth in range(1, TENTHS + 1)
        if (held := [mb for done, mb in looks if tenth - 1 < done * TENTHS / found["calls"] <= tenth])
    ]
    if len(rows) < TENTHS:
        raise BenchmarkFailed(f"the memory was looked at only in {len(rows)} tenths of {found['calls']} calls")
    figures = (
        Figure("growth from the second tenth to the last", rows[-1]["resident MB"] - rows[1]["resident MB"], "MB",
               FLAT_MB, "at most"),
        Figure("calls", found["calls"]),
        Figure("calls a second", found["calls"] / found["seconds"]),
    )  # fmt: skip
    return Report("soak", figures, tuple(rows))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--calls", type=int)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("soak", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
