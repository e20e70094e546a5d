"""Run the mutation tests: `python -m benchmarks.mutation [--sample 100] [--seed 0] [--workers 2] [--json]`.

Each mutant is one small fault in a file of `dokimasia/algorithms/statistics`, and is killed if a test of the statistics
fails on it. The mutation score is the share that is killed. A mutant that means the same as the source cannot be killed,
so that the score has no use as an absolute figure: it says by comparison whether tests became weaker.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.mutation.mutants import Mutant, mutants_of
from benchmarks.mutation.trying import Suite
from dokimasia.algorithms.statistics import clopper_pearson

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "dokimasia" / "algorithms" / "statistics"


def sample_mutants(count: int, seed: int) -> list[Mutant]:
    """Return a random sample of the mutants of the statistics, all of them if there are fewer."""
    every = [mutant for path in sorted(PACKAGE.glob("*.py")) for mutant in mutants_of(path)]
    return sorted(
        random.Random(seed).sample(every, min(count, len(every))), key=lambda mutant: (mutant.path, mutant.number)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the mutants that live, and the score at the end; return 1 if the tests fail without any fault."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, default=100, help="mutants drawn from all that can be made")
    parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same mutants of the same source")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    if options.sample < 1 or options.workers < 1:
        parser.error("--sample and --workers are at least 1")
    started = time.perf_counter()
    tests = Suite(ROOT)
    if tests.notice(None):
        print("the tests of the statistics fail on the source as it is", file=sys.stderr)
        return 1
    mutants = sample_mutants(options.sample, options.seed)
    alive: list[str] = []
    with ThreadPoolExecutor(options.workers) as pool:
        for mutant, noticed in zip(mutants, pool.map(tests.notice, mutants), strict=True):
            if not noticed:
                alive.append(f"{mutant.path.name}:{mutant.line}: {mutant.change}")
                print(f"alive: {alive[-1]}", file=sys.stderr, flush=True)
    killed = len(mutants) - len(alive)
    low, high = clopper_pearson(killed, len(mutants))
    if options.json:
        score = {"killed": killed, "n": len(mutants), "score": killed / len(mutants), "interval": [low, high]}
        print(json.dumps({**score, "seed": options.seed, "alive": alive}, indent=2))
        return 0
    print(
        f"mutation score of the statistics: {killed} of {len(mutants)} killed, {killed / len(mutants):.0%} "
        f"({low:.0%} to {high:.0%} at 95 %), seed {options.seed}, {time.perf_counter() - started:.0f} s"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
