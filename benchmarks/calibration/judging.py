"""Judging methods against people: a holistic judge with outcome bias, scoring by criteria, batches, and a world without bias."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.trials import Seed, Trial, tested, trial
from dokimasia.domain.judging.judgements import HumanRanking
from dokimasia.methods.judging.figures import ShownRanking, comparisons_of, judging_tables, order_effect
from dokimasia.report.fields import as_json

IMAGES, MODELS, STEPS = 40, 5, 10
SKILLS = (1.6, 0.9, 0.3, -0.3, -0.9)
"""Log odds that a step of a model's response is right, before what the image brings."""

OF_IMAGE = 0.8
"""Standard deviation, in log odds."""

BIAS = 0.5
"""The rate at which the holistic judge goes by the final answer alone, which is right half of the time whatever the steps."""

LUCKY, UNLUCKY = 9.0, 3.0
NOISE = 0.35
"""Standard deviation of what the judge of criteria adds to a score from 1 to 5, before it is rounded to tenths."""

SLIP = 0.15
FIRST = 0.3
"""The rate at which a batch puts the response that it is shown first before all others."""

POPULATION = 40_000
CATEGORIES = ("read", "count")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class World:
    """Responses to samples of images: how many steps of each are right, what two people and two judges say of it."""

    def __init__(self, generator: np.random.Generator, images: int, *, bias: float) -> None:
        """Draw it; the image of each sample is `image`, one or two samples each, and rows are samples, columns models."""
        several = generator.integers(1, 3, size=images)
        self.image: Ints = np.repeat(np.arange(images), several)
        odds = (generator.normal(size=images) * OF_IMAGE)[self.image, None] + np.array(SKILLS)
        self.merit: Ints = generator.binomial(STEPS, 1 / (1 + np.exp(-odds)))
        shape = self.merit.shape
        self.people = [self.merit + _slips(generator, shape) for _ in range(2)]
        plain = np.clip(1 + np.round(9 * self.merit / STEPS) + _slips(generator, shape), 1, 10).astype(float)
        lucky = np.where(generator.random(shape) < 0.5, LUCKY, UNLUCKY)
        self.holistic: Floats = np.where(generator.random(shape) < bias, lucky, plain)
        self.atoms: Floats = np.round(1 + 4 * self.merit / STEPS + generator.normal(size=shape) * NOISE, 1)


def judging(seed: int) -> Seed:
    """Two methods, a batch in two orders and two people on 40 images; and two equal methods in a world without bias."""
    generator = np.random.default_rng([seed, 90])
    world = World(generator, IMAGES, bias=BIAS)
    found = _figures(world, {"atom": world.atoms, "pointwise": world.holistic}, seed)
    results = found["results"]["judge"]
    gap = next(one for one in found["gaps"] if one["category"] is None)
    inner = next(one for one in found["gaps"] if one["category"] == CATEGORIES[0])
    expected = {
        method: float(np.mean([expected_accuracy(method, margin) for margin in results[method]["margins"]]))
        for method in ("atom", "pointwise")
    }
    between = 100 * (expected["pointwise"] - expected["atom"])
    intervals: dict[str, Trial] = {
        "gap between methods": trial(gap["difference"], between),
        "gap between methods, in one category": trial(inner["difference"], between),
        "judging, people with one another": trial(found["people"]["accuracy"], planted()["people"]),
        "judging, people in one category": trial(found["people"]["by_category"][CATEGORIES[0]], planted()["people"]),
    }
    for method in ("atom", "pointwise"):
        intervals[f"judging, accuracy of {method}"] = trial(results[method]["accuracy"], expected[method])
        intervals[f"judging, accuracy of {method} in one category"] = trial(
            results[method]["by_category"][CATEGORIES[0]], expected[method]
        )
        intervals[f"judging, accuracy of {method} with equal scores alone"] = trial(
            results[method]["unfitted"], expected_accuracy(method, 0.0)
        )
    order = as_json(order_effect(_batches(world, generator), orders=2, seed=seed))
    intervals["judging, same verdict in two orders"] = trial(order["consistent"], planted()["consistent"])
    intervals["judging, prefers the earlier"] = trial(order["earlier"], planted()["earlier"])
    return Seed(intervals, _null(generator, seed))


def _null(generator: np.random.Generator, seed: int) -> dict[str, float]:
    """Return p-values of a world without bias, in which methods differ by their draws alone and order does nothing."""
    world = World(generator, IMAGES, bias=0.0)
    shape = world.merit.shape
    methods = {
        name: np.clip(1 + np.round(9 * world.merit / STEPS) + _slips(generator, shape), 1, 10).astype(float)
        for name in ("pointwise", "atom", "scan")
    }
    found = _figures(world, methods, seed)
    whole = [one for one in found["gaps"] if one["category"] is None]
    unbiased = as_json(order_effect(_batches(world, generator, first=0.0, noise=True), orders=2, seed=seed))
    return {
        "judging, gap in the world without bias": tested(whole[0]["p_value"]),
        "judging, smallest adjusted gap of any mode": min(tested(one["adjusted"]) for one in found["gaps"]),
        "judging, order in the world without bias": tested(unbiased["p_value"]),
    }


def _figures(world: World, methods: Mapping[str, Floats], seed: int) -> dict[str, Any]:
    names = [f"m{at}" for at in range(MODELS)]
    rankings = [
        HumanRanking(sample=f"s{row}", annotator=f"a{who}", scores=dict(zip(names, map(float, said[row]), strict=True)))
        for row in range(len(world.image))
        for who, said in enumerate(world.people)
    ]
    clusters = {f"s{row}": f"i{image}" for row, image in enumerate(world.image)}
    categories = {f"s{row}": [CATEGORIES[image % 2]] for row, image in enumerate(world.image)}
    scores = {
        method: {
            (f"s{row}", name): float(value)
            for row, each in enumerate(table)
            for name, value in zip(names, each, strict=True)
        }
        for method, table in methods.items()
    }
    comparisons = comparisons_of(rankings, clusters, categories, seed=seed)
    return as_json(judging_tables(comparisons, {"judge": scores}, seed=seed))


def _slips(generator: np.random.Generator, shape: tuple[int, ...]) -> Ints:
    """Return what a person, or a judge, takes responses for beyond what they are: 2 better or worse at the rate of slips."""
    fate = generator.random(shape)
    return np.where(fate < SLIP, 2, np.where(fate < 2 * SLIP, -2, 0))


def _batches(
    world: World, generator: np.random.Generator, *, first: float = FIRST, noise: bool = False
) -> list[list[ShownRanking]]:
    """Return each sample's rankings in an order and in the same backwards."""
    found: list[list[ShownRanking]] = []
    for row, image in enumerate(world.image):
        drawn = generator.permutation(MODELS)
        several: list[ShownRanking] = []
        for order in (drawn, drawn[::-1]):
            value = world.merit[row][order].astype(float)
            value += _slips(generator, (MODELS,)) if noise else 0
            if generator.random() < first:
                value[0] = STEPS + 3.0
            ranks = [1 + int(np.sum(np.unique(value) > one)) for one in value]
            several.append(ShownRanking(f"i{image}", [f"m{at}" for at in order], ranks))
        found.append(several)
    return found


@cache
def _population() -> tuple[World, NDArray[np.intp], NDArray[np.intp]]:
    one, other = np.triu_indices(MODELS, 1)
    return World(np.random.default_rng(11), POPULATION, bias=BIAS), one, other


@cache
def expected_accuracy(method: str, margin: float) -> float:
    """Return a method's accuracy in the population of images at a margin, by numpy alone."""
    world, one, other = _population()
    table = world.atoms if method == "atom" else world.holistic
    apart = np.round(table[:, one] - table[:, other], 6)
    verdict = np.where(np.abs(apart) <= margin, 0, np.sign(apart))
    said = [np.sign(people[:, one] - people[:, other]) for people in world.people]
    return float(np.mean([verdict == each for each in said]))


@cache
def planted() -> Mapping[str, float]:
    """Return how often people agree, and what order does to batches, in the population of images."""
    world, one, other = _population()
    first, second = (np.sign(people[:, one] - people[:, other]) for people in world.people)
    generator = np.random.default_rng(12)
    merit = world.merit.astype(float)
    drawn = np.argsort(generator.random(merit.shape), axis=1)
    same: list[float] = []
    signs: list[Floats] = []
    verdicts: list[Floats] = []
    for order in (drawn, drawn[:, ::-1]):
        shown = np.take_along_axis(merit, order, axis=1)
        shown[:, 0] = np.where(generator.random(len(shown)) < FIRST, STEPS + 3.0, shown[:, 0])
        signs.append(np.sign(shown[:, one] - shown[:, other]))
        back = np.empty_like(shown)
        np.put_along_axis(back, order, shown, axis=1)
        verdicts.append(np.sign(back[:, one] - back[:, other]))
    same.append(float(np.mean(verdicts[0] == verdicts[1])))
    told = np.concatenate([each.ravel() for each in signs])
    return {
        "people": float(np.mean(first == second)),
        "consistent": same[0],
        "earlier": float(np.mean(told[told != 0] > 0)),
    }
