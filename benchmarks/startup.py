"""How long one waits before anything begins: `import dokimasia` and `dokimasia --help`."""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks.command import ROOT, BenchmarkFailed, Options, run_benchmark, sized
from benchmarks.figures import Figure, Report

IMPORT_SECONDS, HELP_SECONDS = 0.1, 0.25
_TIMED_IMPORT = "import time; t = time.perf_counter(); import dokimasia; print(time.perf_counter() - t)"


def measure(options: Options) -> Report:
    """Start each in turn, `--runs` times after one that warms the file cache, and take the medians."""
    runs = options.runs or sized(options, quick=3, usual=15)
    imports: list[float] = []
    helps: list[float] = []
    bare: list[float] = []
    for _ in range(runs + 1):
        imports.append(float(_run("-c", _TIMED_IMPORT)[1]))
        helps.append(_run("-m", "dokimasia", "--help")[0])
        bare.append(_run("-c", "pass")[0])
    medians = {
        "import dokimasia": statistics.median(imports[1:]),
        "dokimasia --help": statistics.median(helps[1:]),
        "Python alone": statistics.median(bare[1:]),
    }
    figures = (
        Figure("import dokimasia", medians["import dokimasia"], "s", IMPORT_SECONDS, "at most"),
        Figure("dokimasia --help, the whole process", medians["dokimasia --help"], "s", HELP_SECONDS, "at most"),
    )
    rows = tuple({"what": name, "median s": round(value, 4)} for name, value in medians.items())
    return Report("startup", figures, rows)


def _run(*arguments: str) -> tuple[float, str]:
    started = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise BenchmarkFailed(f"python {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-1000:]}")
    return seconds, done.stdout


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--runs", type=int)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("startup", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
