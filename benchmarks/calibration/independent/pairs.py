"""Correlations of samples that share images: two measurements of each sample, both alike within an image."""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.calibration.independent.figures import Correlation
from benchmarks.calibration.independent.worlds import (
    ALIKE,
    BALANCED,
    CEILING,
    MIDDLE,
    UNEQUAL,
    Design,
    Floats,
    Generator,
    Level,
    scores,
)

POPULATION = 1_000_000
METHODS: tuple[Correlation, ...] = ("pearson", "spearman", "kendall")


class World(NamedTuple):
    """How two measurements go together: between images and within, and the level of the second where it is a score."""

    name: str
    between: float
    within: float
    level: Level | None = None


WORLDS = (
    World("unrelated", 0.0, 0.0),
    World("0.5", 0.5, 0.5),
    World("0.95", 0.95, 0.95),
    World("images related, samples not", 0.8, 0.0),
    World("length and mid-scale scores", 0.5, 0.5, MIDDLE),
    World("length and scores at the ceiling", 0.5, 0.5, CEILING),
)
DESIGNS = (
    UNEQUAL,
    Design("20 images of 1 to 20 samples", lambda generator: generator.integers(1, 21, 20)),
    Design("40 images of 1 to 20 samples", lambda generator: generator.integers(1, 21, 40)),
    BALANCED,
    Design("12 images, two of 40 and 60 samples", lambda generator: np.array([1] * 6 + [2] * 4 + [40, 60])),
)


def draw(world: World, sizes: Any, generator: Generator) -> tuple[Floats, Floats, list[int]]:
    """Return two measurements of each sample, and its image."""
    image = np.repeat(np.arange(len(sizes)), sizes)
    x, shared = _pair(world.between, len(sizes), generator)
    own, noise = _pair(world.within, len(image), generator)
    first = math.sqrt(ALIKE) * x[image] + math.sqrt(1 - ALIKE) * own
    second = math.sqrt(ALIKE) * shared[image] + math.sqrt(1 - ALIKE) * noise
    return first, second if world.level is None else scores(second, world.level), image.tolist()


@cache
def truth(world: World, method: Correlation) -> float:
    """Return the correlation of very many samples, each with an image of its own."""
    rho = ALIKE * world.between + (1 - ALIKE) * world.within
    if world.level is None:
        return {"pearson": rho, "spearman": 6 / math.pi * math.asin(rho / 2), "kendall": 2 / math.pi * math.asin(rho)}[
            method
        ]
    from scipy import stats

    first, second, _ = draw(world, np.ones(POPULATION, np.int64), np.random.default_rng(1 << 40))
    correlate = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
    return float(correlate(first, second)[0])


def interval(world: World, design: Design, method: Correlation, seed: int) -> tuple[Any, float]:
    """Return the interval that the package gives one data set, None where it refuses the data, and the truth."""
    from dokimasia.algorithms.statistics import correlation_interval

    generator = np.random.default_rng([WORLDS.index(world), DESIGNS.index(design), seed])
    first, second, images = draw(world, design.sizes(generator), generator)
    try:
        found = correlation_interval(first.tolist(), second.tolist(), method=method, clusters=images)
    except ValueError:
        found = None
    return found, truth(world, method)


def _pair(rho: float, n: int, generator: Generator) -> tuple[Floats, Floats]:
    x = generator.normal(size=n)
    return x, rho * x + math.sqrt(1 - rho**2) * generator.normal(size=n)
