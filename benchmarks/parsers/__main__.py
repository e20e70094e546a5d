"""Run the trials of the parsers: `python -m benchmarks.parsers [--examples 1000000] [--seed 0] [--workers 2] [--json]`."""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.parsers.oracles import Refuted
from benchmarks.parsers.trials import PARSERS, chunks, trial

FULL = 1_000_000


def read_many(examples: int = FULL, *, first_seed: int = 0, workers: int = 1) -> dict[str, Counter[str]]:
    """Read at least so many texts; return by family how many there were and what each parser found in them.

    Raises:
        Refuted: a parser broke its word; the message has the text.
    """
    work = [(family, count, first_seed + number) for family, count, number in chunks(examples)]
    found: dict[str, Counter[str]] = {}
    with ProcessPoolExecutor(workers) as pool:
        for (family, _, _), counted in zip(work, pool.map(trial, *zip(*work, strict=True)), strict=True):
            found.setdefault(family, Counter()).update(counted)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was read; return 1 if a parser broke its word."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parsers", description=__doc__)
    parser.add_argument("--examples", type=int, default=FULL, help="texts, each of which every parser reads")
    parser.add_argument(
        "--seed", type=int, default=0, help="the first of the seeds; the same seeds draw the same texts"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    if chosen.examples < 1 or chosen.seed < 0 or chosen.workers < 1:
        parser.error("--examples and --workers are at least 1, --seed at least 0")
    started = time.perf_counter()
    try:
        found = read_many(chosen.examples, first_seed=chosen.seed, workers=chosen.workers)
    except Refuted as problem:
        print(f"refuted: {problem}", file=sys.stderr)
        return 1
    total = sum(found.values(), Counter[str]())
    if chosen.json:
        print(
            json.dumps({"texts": total["texts"], "found": {name: total[name] for name in PARSERS}, "families": found})
        )
    else:
        for name in PARSERS:
            print(f"{name:34} {total[name]:9,} of {total['texts']:,} texts")
        print(f"no parser raised anything else or said what its text does not; {time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
