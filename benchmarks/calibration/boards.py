"""Boards over planted accuracies: means over data sets, and ranks that hold for all models at once.

Each image shifts the chances of all models on its questions, images have one to five questions, and data sets differ in
difficulty. The truth is what the chances come to in the population of images, by numerical integration.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.algorithms.statistics.ranks import simultaneous_ranks
from dokimasia.report.fields import Interval
from dokimasia.runs.measures import mean_with_interval, strict_accuracy
from dokimasia.runs.reading.board import mean_of

Floats = NDArray[np.float64]

IMAGES = {"charts": 20, "maps": 30, "photographs": 40}
DIFFICULTY = {"charts": 0.8, "maps": 0.0, "photographs": -1.2}
MODELS = {"a": 1.0, "b": 0.4, "c": 0.4, "d": 0.0, "e": -0.6}
OF_IMAGE = 1.0
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


def boards(seed: int) -> Seed:
    """Return the intervals of means over data sets, and the smallest adjusted p-value of models that are equal."""
    generator = np.random.default_rng([seed, 41])
    intervals: dict[str, Trial] = {}
    drawn = {data: _draw(generator, data, MODELS) for data in IMAGES}
    for model in ("a", "e"):
        truth = float(np.mean([_chance(MODELS[model], data) for data in IMAGES]))
        rates: list[Interval] = []
        scores: list[Interval] = []
        for clusters, hits in drawn.values():
            right = hits[list(MODELS).index(model)]
            rate = strict_accuracy(["right" if hit else "wrong" for hit in right], clusters)
            limits = rate.model_dump(include={"low", "high", "no_interval", "interval_method"})
            rates.append(Interval(mean=rate.share or 0.0, **limits))
            score = mean_with_interval((1 + 4 * right).tolist(), clusters, seed=seed, bounds=(1.0, 5.0))
            assert score is not None
            scores.append(score)
        intervals[f"accuracy of {model} over 3 data sets"] = trial(mean_of(rates).model_dump(), truth)
        intervals[f"score of {model} over 3 data sets"] = trial(mean_of(scores).model_dump(), 1 + 4 * truth)
    equal = dict.fromkeys(MODELS, 0.4)
    null = {data: _draw(generator, data, equal) for data in IMAGES}
    return Seed(
        intervals,
        {
            "ranks of 5 equal models, any pair": min(_p_values(null, list(equal), seed).values()),
            "ranks of 5 models, wrong order of any pair": _wrong(_p_values(drawn, list(MODELS), seed), drawn),
        },
    )


def _chance(strength: float, data: str) -> float:
    """Return the chance of a right answer in the population of a data set's images."""
    chances = 1 / (1 + np.exp(-(strength - DIFFICULTY[data] + OF_IMAGE * NODES)))
    return float((WEIGHTS * chances).sum() / WEIGHTS.sum())


Drawn = tuple[list[int], Floats]


def _draw(generator: np.random.Generator, data: str, models: Mapping[str, float]) -> Drawn:
    """Return the image of each question, and for each model which answers are right (1 or 0)."""
    sizes = generator.integers(1, 6, size=IMAGES[data])
    clusters = np.repeat(np.arange(IMAGES[data]), sizes)
    shift = OF_IMAGE * generator.normal(size=IMAGES[data])[clusters]
    chances = 1 / (1 + np.exp(-(np.array(list(models.values()))[:, None] - DIFFICULTY[data] + shift)))
    return clusters.tolist(), (generator.random(chances.shape) < chances).astype(np.float64)


def _p_values(drawn: Mapping[str, Drawn], names: Sequence[str], seed: int) -> Mapping[tuple[str, str], float]:
    pairs = list(combinations(range(len(names)), 2))
    parts: list[Floats] = []
    for clusters, hits in drawn.values():
        part = np.zeros((max(clusters) + 1, len(pairs)))
        for column, (first, second) in enumerate(pairs):
            part[:, column] = np.bincount(clusters, weights=hits[second] - hits[first]) / len(clusters) / len(drawn)
        parts.append(part)
    named = [(names[first], names[second]) for first, second in pairs]
    return simultaneous_ranks(names, named, np.concatenate(parts), seed=seed).p_values


def _wrong(p_values: Mapping[tuple[str, str], float], drawn: Mapping[str, Drawn]) -> float:
    """Return the smallest p-value among equal pairs, and pairs whose order in the sample is wrong."""
    names = list(MODELS)
    means = {name: np.mean([hits[place].mean() for _, hits in drawn.values()]) for place, name in enumerate(names)}
    wrong = [
        p_value
        for (first, second), p_value in p_values.items()
        if (MODELS[second] - MODELS[first]) * (means[second] - means[first]) <= 0
    ]
    return min(wrong, default=1.0)
