"""Worlds with a known truth: how many images of how many samples, where on the scale, and how alike an image's samples are."""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Whole = np.ndarray[Any, np.dtype[np.int64]]
Generator = np.random.Generator

ALIKE = 0.7
"""The intraclass correlation of what lies behind the scores of one image."""
RUBRICS = 4


class Design(NamedTuple):
    """How many samples each image has, drawn anew for each data set."""

    name: str
    sizes: Callable[[Generator], Whole]


class Level(NamedTuple):
    """Where on the scale a model is: how often each score from 1 to 5 comes, and how often a rubric holds."""

    name: str
    scores: tuple[float, ...]
    rubric: float


UNEQUAL = Design("12 images of 1 to 20 samples", lambda generator: generator.integers(1, 21, 12))
SINGLE = Design("40 single images", lambda generator: np.ones(40, np.int64))
BALANCED = Design("20 images of 5 samples", lambda generator: np.full(20, 5, np.int64))
DESIGNS = (UNEQUAL, SINGLE, BALANCED)

CEILING = Level("ceiling", (0.02, 0.02, 0.03, 0.05, 0.88), 0.985)
FLOOR = Level("floor", (0.9, 0.05, 0.02, 0.015, 0.015), 0.4)
MIDDLE = Level("mid-scale", (0.1, 0.2, 0.4, 0.2, 0.1), 0.85)
LEVELS = (CEILING, FLOOR, MIDDLE)


class Drawn(NamedTuple):
    """One data set: each sample's image, and what lies behind its scores, of mean 0 and variance 1."""

    image: Whole
    behind: Floats


def draw(sizes: Whole, generator: Generator) -> Drawn:
    """Return samples whose images make them alike."""
    image = np.repeat(np.arange(len(sizes)), sizes)
    shared = generator.normal(size=len(sizes))[image]
    return Drawn(image, math.sqrt(ALIKE) * shared + math.sqrt(1 - ALIKE) * generator.normal(size=len(image)))


def again(drawn: Drawn, generator: Generator, *, likeness: float) -> Floats:
    """Return what lies behind another model's or judge's scores of the same samples, alike by so much, image by image."""
    images = int(drawn.image.max()) + 1
    own = generator.normal(size=images)[drawn.image]
    noise = math.sqrt(ALIKE) * own + math.sqrt(1 - ALIKE) * generator.normal(size=len(drawn.image))
    return likeness * drawn.behind + math.sqrt(1 - likeness**2) * noise


def scores(behind: Floats, level: Level) -> Floats:
    """Return scores from 1 to 5 that come as often as the level says."""
    return 1.0 + np.asarray(np.searchsorted(_cuts(level.scores), behind), dtype=np.float64)


def rubrics(
    behind: Floats, level: Level, generator: Generator, *, harder: float = 0.0
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return for each sample whether each rubric holds; half of what decides it is the sample's own."""
    noise = generator.normal(size=(len(behind), RUBRICS))
    return (behind[:, None] + noise) / math.sqrt(2) < NormalDist().inv_cdf(level.rubric) - harder


def _cuts(shares: tuple[float, ...]) -> Floats:
    return np.array([NormalDist().inv_cdf(share) for share in np.cumsum(shares)[:-1].tolist()])
