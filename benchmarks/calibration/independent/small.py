"""Means and paired differences of few or similar images: which interval is printed, how often it covers, and how wide it is.

    python -m benchmarks.calibration.independent.small [--sets 2000] [--cells ceiling] [--save cells.json]

The worlds are drawn with numpy alone. A line a cell: the interval printed until there was Gaffke's (the bootstrap's, where
the rule of `refusal` finds enough spread, or that of equal clusters), the whole switching rule, and each branch by itself;
beside them the betting interval of Waudby-Smith and Ramdas over images of equal size, and Student's t over images. Of each:
the share of data sets that have it, the share of these that it covers, and its mean width. Exits with 1 if the rule, or a
branch that at least a fifth of the data sets take, covers significantly less than 94 %, or where a data set has no interval.
(A branch that few data sets take is taken by the unlucky ones, whichever interval it prints: of twelve scores of which one in
twelve is 4.5, only those with three or more of them, 7 %, take the bootstrap, and a quarter of these have four or more.)
"""

import argparse
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from benchmarks.calibration.independent.worlds import (
    CEILING,
    FLOOR,
    MIDDLE,
    Drawn,
    Floats,
    Generator,
    Level,
    Whole,
    again,
    draw,
    scores,
)

FULL = 2000
LEAST = 0.94
"""The share of data sets that the rule and each branch have to cover, up to chance."""
SIGNIFICANT = 0.001
OFTEN = 0.2
"""The share of data sets from which on a branch is held to that by itself."""
POPULATION = 400_000
SCORES, DIFFERENCES = (1.0, 5.0), (-4.0, 4.0)

Values = Callable[[Drawn, Generator], Floats]


class World(NamedTuple):
    """The sizes of the images, their values, and the ends of the values' scale."""

    sizes: Callable[[Generator], Whole]
    values: Values
    scale: tuple[float, float]


class Found(NamedTuple):
    """How many data sets have an interval, how many of these it covers, and its mean width."""

    printed: int
    covered: int
    width: float | None


def equal(images: int, samples: int) -> Callable[[Generator], Whole]:
    """Return the design of so many images with so many samples each."""
    return lambda generator: np.full(images, samples, np.int64)


def unequal(generator: Generator) -> Whole:
    """Return 12 images of 1 to 20 samples."""
    return generator.integers(1, 21, 12)


def geometric(generator: Generator) -> Whole:
    """Return 12 images, most of a few samples and a few of many."""
    return np.minimum(60, generator.geometric(0.15, 12))


def graded(level: Level) -> Values:
    """Return scores of one model."""
    return lambda drawn, generator: scores(drawn.behind, level)


def paired(level: Level, likeness: float, shift: float = 0.0) -> Values:
    """Return differences of two models so alike, the second better by `shift` standard deviations of what lies behind."""

    def values(drawn: Drawn, generator: Generator) -> Floats:
        other = again(drawn, generator, likeness=likeness) + shift
        return scores(other, level) - scores(drawn.behind, level)

    return values


def independent(values: Sequence[float], shares: Sequence[float]) -> Values:
    """Return values that come as often as their shares say, each sample by itself."""
    return lambda drawn, generator: generator.choice(np.array(values), size=len(drawn.image), p=shares)


def normal(mean: float, sd: float) -> Values:
    """Return normal values, each sample by itself."""
    return lambda drawn, generator: generator.normal(mean, sd, len(drawn.image))


def larger_are_worse(drawn: Drawn, generator: Generator) -> Floats:
    """Return scores of images that are 1 throughout, the more often the more samples an image has, or 5 throughout."""
    sizes = np.bincount(drawn.image)
    bad = generator.random(len(sizes)) < 0.02 + 0.01 * sizes
    return np.where(bad[drawn.image], 1.0, 5.0)


WORLDS = {
    "mean, 12 unequal images, ceiling": World(unequal, graded(CEILING), SCORES),
    "mean, 12 unequal images, floor": World(unequal, graded(FLOOR), SCORES),
    "mean, 12 unequal images, mid-scale": World(unequal, graded(MIDDLE), SCORES),
    "mean, 12 images, a few large, ceiling": World(geometric, graded(CEILING), SCORES),
    "mean, 12 unequal images, larger are worse": World(unequal, larger_are_worse, SCORES),
    "mean, 12 images of 1, ceiling": World(equal(12, 1), graded(CEILING), SCORES),
    "mean, 8 images of 5, ceiling": World(equal(8, 5), graded(CEILING), SCORES),
    "mean, 5 images of 10, ceiling": World(equal(5, 10), graded(CEILING), SCORES),
    "mean, 3 images of 4, ceiling": World(equal(3, 4), graded(CEILING), SCORES),
    "mean, 3 images of 4, mid-scale": World(equal(3, 4), graded(MIDDLE), SCORES),
    "mean, 20 images of 1, 4 with sd .05": World(equal(20, 1), normal(4.0, 0.05), SCORES),
    "mean, 12 images of 1, fives and 4.5": World(equal(12, 1), independent((5.0, 4.5), (11 / 12, 1 / 12)), SCORES),
    "mean, 12 images of 1, fives, 4.5 and 1": World(equal(12, 1), independent((5, 4.5, 1), (0.9, 0.06, 0.04)), SCORES),
    "mean, 20 images of 1, 1 in 20 at the floor": World(equal(20, 1), independent((5, 1), (0.95, 0.05)), SCORES),
    "mean, 20 images of 5, mid-scale": World(equal(20, 5), graded(MIDDLE), SCORES),
    "paired, 12 unequal images, similar": World(unequal, paired(CEILING, 0.9, -0.4), DIFFERENCES),
    "paired, 12 unequal images, null, ceiling": World(unequal, paired(CEILING, 0.9), DIFFERENCES),
    "paired, 12 unequal images, null, very similar": World(unequal, paired(MIDDLE, 0.99), DIFFERENCES),
    "paired, 12 images, a few large, similar": World(geometric, paired(CEILING, 0.9, -0.4), DIFFERENCES),
    "paired, 8 images of 5, similar": World(equal(8, 5), paired(CEILING, 0.9, -0.4), DIFFERENCES),
    "paired, 5 images of 10, similar": World(equal(5, 10), paired(CEILING, 0.9, -0.4), DIFFERENCES),
    "paired, 5 images of 10, null": World(equal(5, 10), paired(MIDDLE, 0.97), DIFFERENCES),
    "paired, 3 images of 4, null": World(equal(3, 4), paired(MIDDLE, 0.9), DIFFERENCES),
    "paired, 20 images of 1, .02 with sd .05": World(equal(20, 1), normal(0.02, 0.05), DIFFERENCES),
    "paired, 12 images of 1, 1 in 20 either way": World(
        equal(12, 1), independent((0, -2, 2), (0.9, 0.05, 0.05)), DIFFERENCES
    ),
    "paired, 40 images of 1, 1 in 50 falls by 4": World(equal(40, 1), independent((0, -4), (0.98, 0.02)), DIFFERENCES),
    "paired, 20 images of 5, mid-scale": World(equal(20, 5), paired(MIDDLE, 0.9, -0.4), DIFFERENCES),
}


def cell(name: str, sets: int) -> dict[str, Found]:
    """Return what came of each interval in one world."""
    from dokimasia.algorithms.statistics import bootstrap_interval

    world, start = WORLDS[name], zlib.crc32(name.encode())
    generator = np.random.default_rng([start, 1 << 40])
    sizes = np.concatenate([world.sizes(generator) for _ in range(POPULATION // 20)])
    truth = float(world.values(draw(sizes, generator), generator).mean())
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(sets):
        generator = np.random.default_rng([start, seed])
        drawn = draw(world.sizes(generator), generator)
        values = world.values(drawn, generator)
        rule = bootstrap_interval(values.tolist(), clusters=drawn.image.tolist(), seed=seed, bounds=world.scale)
        branch = rule.method or ("all alike" if _alike(values, drawn.image) else "bootstrap")
        before = [] if rule.method or rule == world.scale else [rule]
        intervals = {"before": before, "rule": [rule], branch: [rule]}
        if len(set(np.bincount(drawn.image).tolist())) == 1:
            means = np.bincount(drawn.image, weights=values) / np.bincount(drawn.image)
            intervals |= {"betting": [betting(means, world.scale)], "t": [student(means)]}
        for kind, several in intervals.items():
            found.setdefault(kind, []).extend((float(one[0]), float(one[1])) for one in several)
    return {kind: _found(several, truth) for kind, several in found.items()}


def _alike(values: Floats, images: Whole) -> bool:
    means = np.bincount(images, weights=values) / np.bincount(images)
    return bool(np.ptp(means) < 1e-9)


def _found(intervals: Sequence[tuple[float, float]], truth: float) -> Found:
    covered = sum(low - 1e-9 <= truth <= high + 1e-9 for low, high in intervals)
    width = sum(high - low for low, high in intervals) / len(intervals) if intervals else None
    return Found(len(intervals), covered, width)


def betting(values: Floats, scale: tuple[float, float], level: float = 0.95) -> tuple[float, float]:
    """Return the hedged betting interval with predictable plug-in bets, of values in random order, over a grid of means.

    Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, 2024, sections 4.2 and 4.4. It depends on
    the order of the values.
    """
    alpha, n = 1 - level, len(values)
    placed = (values - scale[0]) / (scale[1] - scale[0])
    count = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(placed)) / (count + 1)
    variances = (0.25 + np.cumsum(np.square(placed - means))) / (count + 1)
    earlier = np.concatenate(([0.25], variances[:-1]))
    bets = np.sqrt(2 * math.log(2 / alpha) / (n * earlier))
    grid = np.linspace(0, 1, 801)[1:-1]
    gains = placed[:, None] - grid
    up = np.log1p(np.minimum(bets[:, None], 0.75 / grid) * gains).sum(axis=0)
    down = np.log1p(-np.minimum(bets[:, None], 0.75 / (1 - grid)) * gains).sum(axis=0)
    kept = grid[np.maximum(up, down) < math.log(2 / alpha)]
    low, high = (float(kept[0]), float(kept[-1])) if len(kept) else (float(placed.mean()),) * 2
    low, high = (0.0 if low <= grid[0] else low), (1.0 if high >= grid[-1] else high)
    return scale[0] + low * (scale[1] - scale[0]), scale[0] + high * (scale[1] - scale[0])


def student(means: Floats, level: float = 0.95) -> tuple[float, float]:
    """Return Student's t interval over the images."""
    from scipy import stats

    margin = float(stats.t.ppf((1 + level) / 2, len(means) - 1)) * float(means.std(ddof=1)) / math.sqrt(len(means))
    return float(means.mean()) - margin, float(means.mean()) + margin


def broken(kinds: dict[str, Found], sets: int) -> list[str]:
    """Return the intervals of the package that some data sets lack, or that cover significantly less than the least share."""
    from scipy import stats

    wrong = [] if kinds["rule"].printed == sets else ["not all printed"]
    for kind in ("rule", "bootstrap", "gaffke", "all alike"):
        printed, covered, _ = kinds.get(kind, Found(0, 0, None))
        if printed >= OFTEN * sets and float(stats.binom.cdf(covered, printed, LEAST)) < SIGNIFICANT:
            wrong.append(kind)
    return wrong


def line(name: str, kinds: dict[str, Found], sets: int) -> str:
    """Return a cell as text."""
    parts: list[str] = []
    for kind in ("before", "rule", "bootstrap", "gaffke", "all alike", "betting", "t"):
        one = kinds.get(kind)
        if one is None or one.width is None:
            parts.append(f"{kind} –")
        else:
            share, covers = 100 * one.printed / sets, 100 * one.covered / one.printed
            parts.append(f"{kind} {share:.1f} % covers {covers:.1f} % width {one.width:.2f}")
    wrong = broken(kinds, sets)
    return f"{'FAIL ' + ', '.join(wrong) if wrong else 'ok'}  {name}: {'; '.join(parts)}"


def cells(sets: int, chosen: str = "") -> Iterator[tuple[str, dict[str, Found]]]:
    """Yield what came of each world whose name contains a text."""
    for name in WORLDS:
        if chosen in name:
            yield name, cell(name, sets)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line a world; return 1 where an interval does not cover."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration.independent.small", description=__doc__)
    parser.add_argument("--sets", type=int, default=FULL, help="data sets a cell")
    parser.add_argument("--cells", default="", help="only worlds whose name contains this")
    parser.add_argument("--save", type=Path, help="write the cells to this file")
    chosen = parser.parse_args(arguments)
    done: dict[str, Any] = {}
    failed = 0
    for name, kinds in cells(chosen.sets, chosen.cells):
        done[name] = {kind: one._asdict() for kind, one in kinds.items()}
        failed += bool(broken(kinds, chosen.sets))
        print(line(name, kinds, chosen.sets), flush=True)
    if chosen.save:
        chosen.save.write_text(json.dumps(done, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
