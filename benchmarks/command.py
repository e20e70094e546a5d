"""The one command line that every benchmark has, and processes of their own for what is measured."""

import argparse
import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.figures import Report, machine, print_report

ROOT = Path(__file__).resolve().parents[1]
TIME_LIMIT = 3600.0
"""Seconds that a measured process may take."""

Options = argparse.Namespace
"""What the command line said: `quick`, `full`, and what the benchmark added."""


class BenchmarkFailed(RuntimeError):
    """Something that was to be measured did not run; the message ends with what it said."""


def run_benchmark(
    name: str,
    document: str | None,
    measure: Callable[[Options], Report],
    arguments: Sequence[str] | None = None,
    *,
    add: Callable[[argparse.ArgumentParser], None] | None = None,
) -> int:
    """Measure and print; return 1 if a rule that must hold was broken, or something did not run."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=document)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--quick", action="store_true", help="a small run that shows that it works; its figures say little"
    )
    size.add_argument("--full", action="store_true", help="the size that the targets speak of, where it takes long")
    if add is not None:
        add(parser)
    options = parser.parse_args(arguments)
    found, started = machine(), time.perf_counter()
    try:
        report = measure(options)
    except BenchmarkFailed as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    report = replace(report, machine=found, seconds=time.perf_counter() - started)
    if options.json:
        print(json.dumps(report.as_json(), indent=2))
    else:
        print_report(report)
    return 1 if report.failed else 0


def sized(options: Options, *, quick: int, usual: int, full: int | None = None) -> int:
    """Return the size that the options ask for."""
    if options.quick:
        return quick
    return full if options.full and full is not None else usual


def say(text: str) -> None:
    """Tell the user what is going on, on the error output."""
    print(f"  {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A new folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="dokimasia-benchmark-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def in_process_of_its_own(
    module: str, *arguments: object, python: str | Path = sys.executable, limit: float = TIME_LIMIT
) -> dict[str, Any]:
    """Run a module that prints one JSON object as its last line, and return that object.

    Raises:
        BenchmarkFailed: it ended otherwise, or not within `limit` seconds.
    """
    command = [str(python), "-m", module, *map(str, arguments)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise BenchmarkFailed(f"{module} did not end within {limit:.0f} s") from None
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise BenchmarkFailed(f"{module} ended with {done.returncode}: {said}")
    return json.loads(lines[-1])
