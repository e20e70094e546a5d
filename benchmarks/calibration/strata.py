"""Means of people's labels by strata: rates and scores, of random draws and of draws of each category, alone and in images."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.algorithms.correction import Powered, RatedAnswers, stratified_difference, stratified_mean

Generator = np.random.Generator
Floats = NDArray[np.float64]

SHARES = (0.6, 0.3, 0.1)
"""The share of answers of each of three categories."""

RATES, SENSITIVITIES, SPECIFICITIES = (0.9, 0.6, 0.3), (0.9, 0.7, 0.5), (0.95, 0.8, 0.9)
LEVELS, SLOPES, SHIFTS = (4.1, 3.3, 2.5), (0.9, 0.6, 0.2), (0.5, 1.0, 0.0)
"""By category: the rate of right answers and the judge's rates; the level of scores, and slope and shift of the judge's."""

SPREAD = 0.7
"""The standard deviation of scores between images, and that within one, before they are rounded to 1 to 5."""

LABELS = 60
RATE = float(np.dot(SHARES, RATES))


class World(NamedTuple):
    """Answers by image and category: people's value of each, and the judge's."""

    images: NDArray[np.int_]
    category: NDArray[np.int_]
    true: Floats
    said: Floats


def strata(seed: int) -> Seed:
    """Rates and scores from labels of a random draw and of each category, and differences of two models."""
    generator = np.random.default_rng([seed, 61])
    intervals: dict[str, Trial] = {}
    for images, each, where in ((300, 1, "300 images"), (60, 5, "60 images of 5")):
        for of_each in (False, True):
            drawn = "20 labels of each category" if of_each else f"{LABELS} labels at random"
            rates, scores = _rates(generator, images, each), _scores(generator, images, each)
            intervals |= _mean(f"by labels and category, rate, {drawn}, {where}", generator, rates, (0.0, 1.0), of_each)
            intervals |= _mean(
                f"by labels and category, score, {drawn}, {where}", generator, scores, (1.0, 5.0), of_each
            )
    return Seed({**intervals, **_difference(generator)}, {})


def _categories(generator: Generator, images: int, each: int) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    place = np.repeat(np.arange(images), each)
    return place, generator.choice(len(SHARES), size=images, p=SHARES)[place]


def _rates(generator: Generator, images: int, each: int) -> World:
    """Return right and wrong answers; half of those to an image stand and fall together."""
    place, category = _categories(generator, images, each)
    together = generator.random(len(place)) < 0.5 * (each > 1)
    chance = np.where(together, generator.random(images)[place], generator.random(len(place)))
    true = chance < np.array(RATES)[category]
    says_right = np.where(true, np.array(SPECIFICITIES)[category], 1 - np.array(SENSITIVITIES)[category])
    return World(place, category, true.astype(np.float64), (generator.random(len(place)) < says_right).astype(float))


def _scores(generator: Generator, images: int, each: int, better: float = 0.0) -> World:
    place, category = _categories(generator, images, each)
    noise = SPREAD * generator.standard_normal(images)[place] + SPREAD * generator.standard_normal(len(place))
    return _scored(generator, place, category, noise, better)


def _scored(
    generator: Generator, place: NDArray[np.int_], category: NDArray[np.int_], noise: Floats, better: float
) -> World:
    true = np.clip(np.round(np.array(LEVELS)[category] + noise + better), 1, 5)
    own = 0.5 * generator.standard_normal(len(place))
    said = 3.3 + np.array(SHIFTS)[category] + np.array(SLOPES)[category] * (true - 3.3) + own
    return World(place, category, true, np.clip(np.round(said), 1, 5))


def planted_score(better: float = 0.0) -> float:
    """Return the mean score of the population: that of each category weighted by its share."""
    grid = np.linspace(-8, 8, 160_001)
    weight = np.exp(-(grid**2) / 2)
    scores = [
        float(np.average(np.clip(np.round(level + better + SPREAD * 2**0.5 * grid), 1, 5), weights=weight))
        for level in LEVELS
    ]
    return float(np.dot(SHARES, scores))


SCORE, BETTER = planted_score(), planted_score(0.4)


def _drawn(generator: Generator, category: NDArray[np.int_], of_each: bool) -> set[int]:
    if not of_each:
        return set(generator.choice(len(category), LABELS, replace=False).tolist())
    places: set[int] = set()
    for one in range(len(SHARES)):
        among = np.flatnonzero(category == one)
        places |= set(generator.permutation(among)[: LABELS // len(SHARES)].tolist())
    return places


def _answers(world: World, drawn: set[int]) -> RatedAnswers:
    labels = [value if place in drawn else None for place, value in enumerate(world.true.tolist())]
    return RatedAnswers(world.said.tolist(), labels, world.category.tolist())


def _mean(
    name: str, generator: Generator, world: World, scale: tuple[float, float], of_each: bool
) -> Mapping[str, Trial]:
    answers = _answers(world, _drawn(generator, world.category, of_each))
    found = stratified_mean(answers, clusters=world.images.tolist(), scale=scale, together=not of_each)
    return _trials(name, found, RATE if scale[1] == 1 else SCORE)


def _difference(generator: Generator) -> Mapping[str, Trial]:
    """Return the difference of two models' scores: the second is a little better on the same samples."""
    place, category = _categories(generator, 100, 3)
    shared = SPREAD * generator.standard_normal(100)[place]
    worlds = [
        _scored(generator, place, category, shared + SPREAD * generator.standard_normal(len(place)), better)
        for better in (0.0, 0.4)
    ]
    drawn = _drawn(generator, category, False)
    found = stratified_difference(*(_answers(one, drawn) for one in worlds), clusters=place.tolist(), scale=(1.0, 5.0))
    return _trials("by labels and category, difference of two models' scores on 100 images of 3", found, BETTER - SCORE)


def _trials(name: str, found: Powered, truth: float) -> Mapping[str, Trial]:
    alone = None if found.alone is None else found.alone.interval
    return {name: trial(found.interval, truth), f"{name}, labels alone": trial(alone, truth)}
