"""All benchmarks in one run on one machine: `python -m benchmarks [--quick | --full] [--json] [--save FILE]`.

Without an option they take less than a quarter of an hour; `--full` adds the long ones: memory at 100,000 samples, the
report of 40 models, half a million calls, 200 kills, and every ratio three times.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.command import ROOT, say
from benchmarks.figures import Figure, figure_of, figures_table, machine, machine_line

USUAL = ("startup", "checkpoint_size", "throughput", "latency_bound", "replay", "taxonomy", "crash")
LONG = ("memory", "large_run", "soak")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them one after the other; return 1 if one did not run or broke a rule that must hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join((*USUAL, *LONG))}")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--save", type=Path, help="also write the JSON to this file")
    parser.add_argument("--strict", action="store_true", help="also return 1 if a target is not reached")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small runs that show that it works")
    size.add_argument("--full", action="store_true", help="all, in the sizes that the targets speak of")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - {*USUAL, *LONG})
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}")
    names = options.names or ((*USUAL, *LONG) if options.full or options.quick else USUAL)
    found, started = machine(), time.perf_counter()
    reports: dict[str, dict[str, Any] | None] = {}
    for name in names:
        say(f"{name} ...")
        reports[name] = _run(name, [f"--{size}" for size in ("quick", "full") if getattr(options, size)])
    seconds = time.perf_counter() - started
    whole = {
        "machine": found,
        "seconds": round(seconds, 1),
        "not_run": [name for name, report in reports.items() if report is None],
        "benchmarks": {name: report for name, report in reports.items() if report is not None},
    }
    if options.save is not None:
        options.save.write_text(json.dumps(whole, indent=2) + "\n")
    figures = [
        (name, figure_of(read)) for name, report in reports.items() if report is not None for read in report["figures"]
    ]
    if options.json:
        print(json.dumps(whole, indent=2))
    else:
        _print(figures, whole)
    missed = [figure for _, figure in figures if figure.reached is False and (figure.must or options.strict)]
    return 1 if missed or whole["not_run"] else 0


def _run(name: str, size: list[str]) -> dict[str, Any] | None:
    command = [sys.executable, "-m", f"benchmarks.{name}", "--json", *size]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        say(f"{name} did not run")
        return None


def _print(figures: Sequence[tuple[str, Figure]], whole: dict[str, Any]) -> None:
    console = Console()
    console.print(figures_table(figures))
    for name, report in whole["benchmarks"].items():
        for note in report["notes"]:
            console.print(f"{name}: {note}", style="dim", highlight=False)
    if whole["not_run"]:
        console.print(f"[red]not run: {', '.join(whole['not_run'])}[/red]")
    console.print(f"{machine_line(whole['machine'])}; {whole['seconds']:.0f} s in all", style="dim", highlight=False)


if __name__ == "__main__":
    raise SystemExit(main())
