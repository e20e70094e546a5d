"""Run it: `python -m benchmarks.calibration.independent [--sets 1000] [--figures ...] [--against before.json]`."""

import argparse
import json
import math
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from benchmarks.calibration.independent import pairs
from benchmarks.calibration.independent.figures import FIGURES, Correlation, correlation
from benchmarks.calibration.independent.worlds import BALANCED, DESIGNS, LEVELS, MIDDLE, draw

FULL = 1000
FIRST = 10_000
"""The first data set's number; the rule of refusal was fixed on the 200 from 0 on, which are not drawn again."""
BEFORE = Path(__file__).with_name("before.json")
LEAST, ASKED, OF = 366, 370, 400
"""A 95 % interval covers at least so many of so many: any figure, and those that are named."""
FALLS_SHORT = {LEAST: 0.0015, ASKED: 0.0125}
"""How rarely intervals of exactly 95 % fall short of these."""
NAMED = ("mean score", "paired difference")
PRINTED, WIDER = 0.99, 1.15
POPULATION = 1_000_000
CORRELATIONS: list[tuple[Correlation, int, float]] = [
    (method, n, rho)
    for method in ("pearson", "spearman", "kendall")
    for n, rho in ((5, 0.9), (8, 0.95), (10, 0.5), (10, 0.95), (12, 0.9), (15, 0.95), (25, 0.5), (25, 0.95))
]


class Cell(NamedTuple):
    """What came of one figure in one world: of `sets` intervals `printed`, of these `covered`, and their mean width."""

    name: str
    sets: int
    printed: int
    covered: int
    width: float | None

    def kept(self) -> bool:
        """Whether the printed ones hold their level: the rule's share, or where few are printed what it leaves to chance."""
        return self.covered >= least(self.printed, ASKED if self.name.startswith(NAMED) else LEAST)


def least(printed: int, of_400: int) -> int:
    """Return how many of the printed intervals have to cover.

    That is the rule's number in proportion; where few are printed, the number that intervals of exactly 95 % fall short of
    as rarely.
    """
    return min(of_400 * printed // OF, _quantile(printed, 0.95, FALLS_SHORT[of_400]))


def _quantile(n: int, share: float, tail: float) -> int:
    """Return the smallest number of hits of n that independent ones reach or stay below with more than the tail's chance."""
    below = 0.0
    for hits in range(n + 1):
        ways = math.lgamma(n + 1) - math.lgamma(hits + 1) - math.lgamma(n - hits + 1)
        below += math.exp(ways + hits * math.log(share) + (n - hits) * math.log(1 - share))
        if below > tail:
            return hits
    return n


def cells(sets: int, figures: Sequence[str]) -> Iterator[Cell]:
    """Yield what came of each figure in each world, then of the correlations, also of samples that share images."""
    for figure in figures:
        if figure not in FIGURES:
            continue
        rows, value, interval = FIGURES[figure]
        for design in DESIGNS:
            for level in LEVELS:
                name = f"{figure}, {design.name}, {level.name}"
                start = zlib.crc32(name.encode())
                generator = np.random.default_rng([start, 1 << 40])
                truth = value(rows(draw(np.ones(POPULATION, np.int64), generator), level, generator))
                found: list[Any] = []
                for seed in range(FIRST, FIRST + sets):
                    generator = np.random.default_rng([start, seed])
                    drawn = draw(design.sizes(generator), generator)
                    found.append((interval(rows(drawn, level, generator), drawn.image.tolist(), seed), truth))
                yield cell(name, found)
    if "correlations" in figures:
        for method, n, rho in CORRELATIONS:
            yield cell(
                f"{method} of {n} pairs, {rho}",
                [correlation(method, n, rho, seed) for seed in range(FIRST, FIRST + sets)],
            )
    if "pairs" in figures:
        for method in pairs.METHODS:
            for world in pairs.WORLDS:
                for design in pairs.DESIGNS:
                    found = [pairs.interval(world, design, method, seed) for seed in range(FIRST, FIRST + sets)]
                    yield cell(f"{method}, {world.name}, {design.name}", found)


def cell(name: str, found: Sequence[tuple[Any, float]]) -> Cell:
    """Count the intervals that are printed, and those of them that contain the truth."""
    shown = [(one.low, one.high, truth) for one, truth in found if one is not None and not getattr(one, "reason", "")]
    covered = sum(low <= truth <= high for low, high, truth in shown)
    width = sum(high - low for low, high, _ in shown) / len(shown) if shown else None
    return Cell(name, len(found), len(shown), covered, width)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line a figure and world; return 1 where a rule is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration.independent", description=__doc__)
    parser.add_argument("--sets", type=int, default=FULL, help="data sets a cell")
    every = [*FIGURES, "correlations", "pairs"]
    parser.add_argument("--figures", nargs="+", choices=every, default=every)
    parser.add_argument("--save", type=Path, help="write the cells to this file, for --against")
    parser.add_argument("--against", type=Path, default=BEFORE, help="cells of an earlier version, for the widths")
    chosen = parser.parse_args(arguments)
    before = {one["name"]: one for one in json.loads(chosen.against.read_text())} if chosen.against.is_file() else {}
    done: list[Cell] = []
    broken = 0
    for one in cells(chosen.sets, chosen.figures):
        done.append(one)
        then = before.get(one.name)
        ratio = one.width / then["width"] if then and one.width is not None and then["width"] else None
        usual = f", {BALANCED.name}, {MIDDLE.name}" in one.name
        fine = one.kept() and not (usual and (one.printed < PRINTED * one.sets or (ratio or 0) > WIDER))
        broken += not fine
        print(line(one, then, ratio, fine=fine), flush=True)
    if chosen.save:
        chosen.save.write_text(json.dumps([one._asdict() for one in done], indent=1) + "\n")
    print(f"{len(done) - broken} of {len(done)} rules kept")
    return 1 if broken else 0


def line(one: Cell, then: dict[str, Any] | None, ratio: float | None, *, fine: bool) -> str:
    """Return a cell as text."""
    share = f"{100 * one.covered / one.printed:5.1f} %" if one.printed else "     –"
    width = f"{one.width:8.3f}" if one.width is not None else "       –"
    earlier = f"{100 * then['covered'] / then['printed']:5.1f} %" if then and then["printed"] else "     –"
    times = f"x {ratio:.2f}" if ratio is not None else ""
    return (
        f"{'ok  ' if fine else 'FAIL'} {one.name:<71} covers {share} of {100 * one.printed / one.sets:5.1f} % printed, "
        f"before {earlier}; width {width} {times}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
