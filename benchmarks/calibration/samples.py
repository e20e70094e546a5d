"""Small and awkward samples, rates, correlations, agreement and sample sizes, from plain distributions."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.algorithms.statistics import (
    bootstrap_interval,
    clopper_pearson,
    correlation_interval,
    jackknife_interval,
    rate_interval,
)
from dokimasia.algorithms.statistics.agreement import cohen_kappa
from dokimasia.algorithms.statistics.correlation import Method
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.algorithms.statistics.power import Design, samples_needed

SCORES = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
CEILING = np.array([0.02, 0.03, 0.05, 0.15, 0.75])
BOUNDS = (1.0, 5.0)
EQUAL, UNEQUAL = (3,), (1, 2, 3, 5, 8, 12)

Generator = np.random.Generator


def means(seed: int) -> Seed:
    """Means of few values: normal ones, and scores that crowd at the top, alone and in clusters that are alike."""
    intervals: dict[str, Trial] = {}
    top = float(SCORES @ CEILING)
    for clusters, sizes, alike, name in (
        (30, (1,), 0.0, "30 alone"),
        (12, EQUAL, 0.6, "12 clusters of 3"),
        (20, EQUAL, 0.6, "20 clusters of 3"),
        (12, UNEQUAL, 0.6, "12 unequal clusters"),
        (20, UNEQUAL, 0.6, "20 unequal clusters"),
    ):
        latent, index = _latent(np.random.default_rng(seed), clusters, sizes, alike)
        scores = _at_the_top(latent)
        plain = bootstrap_interval(latent.tolist(), clusters=index, seed=seed)
        intervals[f"normal values, {name}"] = trial(plain, 0.0)
        within = bootstrap_interval(scores, clusters=index, seed=seed, bounds=BOUNDS)
        intervals[f"scores at the ceiling, {name}"] = trial(within, top)
        without = bootstrap_interval(scores, clusters=index, seed=seed)
        intervals[f"scores at the ceiling, {name}, scale unknown"] = trial(without, top)
    return Seed(intervals, {})


def rates(seed: int) -> Seed:
    """Shares of failed or detected things: independent ones, and ones that fail by the image."""
    generator = np.random.default_rng(seed)
    intervals: dict[str, Trial] = {}
    for rate, n in ((0.02, 69), (0.3, 69), (0.9, 20)):
        interval = clopper_pearson(int(generator.binomial(n, rate)), n)
        intervals[f"rate {rate:g} of {n}, independent"] = trial(interval, rate)
    for rate, alike in ((0.1, 0.5), (0.5, 0.5)):
        per_image = generator.beta(rate * (1 / alike - 1), (1 - rate) * (1 / alike - 1), size=40)
        images = np.repeat(np.arange(40), 4).tolist()
        hits = [bool(hit) for hit in generator.random(160) < np.repeat(per_image, 4)]
        intervals[f"rate {rate:g} of 160 on 40 images, clustered"] = trial(rate_interval(hits, clusters=images), rate)
        intervals[f"rate {rate:g} of 160 on 40 images, unclustered"] = trial(rate_interval(hits), rate)
    return Seed(intervals, {})


def correlations(seed: int) -> Seed:
    """Correlations of 25 models' figures, loose and close, and of samples on images of unequal size, by three measures."""
    intervals: dict[str, Trial] = {}
    for rho in (0.5, 0.95):
        generator = np.random.default_rng(seed)
        x = generator.normal(size=25)
        y = rho * x + math.sqrt(1 - rho**2) * generator.normal(size=25)
        truths: dict[Method, float] = {
            "pearson": rho,
            "spearman": 6 / math.pi * math.asin(rho / 2),
            "kendall": 2 / math.pi * math.asin(rho),
        }
        for method, truth in truths.items():
            interval = correlation_interval(x.tolist(), y.tolist(), method=method)
            intervals[f"{method} correlation {rho:g}, 25 pairs"] = trial(interval, truth)
    for clusters in (18, 30):
        generator = np.random.default_rng(seed)
        x, index = _latent(generator, clusters, UNEQUAL, 0.6)
        noise, _ = _latent(generator, clusters, UNEQUAL, 0.6)
        y = 0.5 * x + math.sqrt(0.75) * noise
        for method, truth in {"pearson": 0.5, "spearman": 6 / math.pi * math.asin(0.25), "kendall": 1 / 3}.items():
            interval = correlation_interval(x.tolist(), y.tolist(), method=method, clusters=index)
            intervals[f"{method} correlation 0.5, {clusters} unequal clusters"] = trial(interval, truth)
    return Seed(intervals, {})


def agreement(seed: int) -> Seed:
    """Cohen's kappa of two raters who each name the right one of three categories four times in five."""
    generator = np.random.default_rng(seed)
    shares, hit = np.array([0.5, 0.3, 0.2]), 0.8
    confusion = np.full((3, 3), (1 - hit) / 2) + np.eye(3) * (hit - (1 - hit) / 2)
    true = generator.choice(3, 80, p=shares)
    raters = [[int(generator.choice(3, p=confusion[one])) for one in true] for _ in range(2)]
    table = confusion.T @ np.diag(shares) @ confusion
    observed, chance = float(np.trace(table)), float(np.square(table.sum(axis=0)).sum())

    def kappa(use: Sequence[int]) -> float:
        return cohen_kappa([raters[0][i] for i in use], [raters[1][i] for i in use])

    interval = jackknife_interval(kappa, 80, bounds=(-1.0, 1.0))
    return Seed({"Cohen's kappa of 80 ratings": trial(interval, (observed - chance) / (1 - chance))}, {})


def power(seed: int) -> Seed:
    """The sample size that shows half a standard deviation at 80 %, alone and in clusters of three."""
    p_values: dict[str, float] = {}
    for name, sizes, alike in (("alone", (1,), 0.0), ("clusters of 3", EQUAL, 0.4)):
        each = sizes[0]
        design = Design(sd=1.0, cluster_size=each, design_effect=1 + (each - 1) * alike)
        n = samples_needed(0.5, design)
        latent, index = _latent(np.random.default_rng(seed), -(-n // each), sizes, alike)
        test = sign_flip_test((latent + 0.5).tolist(), clusters=index, seed=seed, permutations=2000)
        p_values[f"samples for a power of 80 %, {name}"] = test.p_value
    return Seed({}, p_values)


def _latent(
    generator: Generator, clusters: int, sizes: Sequence[int], alike: float
) -> tuple[NDArray[np.float64], list[int]]:
    """Draw standard normal values in clusters of the given sizes in turn, correlated by `alike` within a cluster."""
    index = np.repeat(np.arange(clusters), [sizes[i % len(sizes)] for i in range(clusters)])
    shared = generator.normal(size=clusters)[index] * math.sqrt(alike)
    return shared + generator.normal(size=len(index)) * math.sqrt(1 - alike), index.tolist()


def _at_the_top(latent: NDArray[np.float64]) -> list[float]:
    """Turn standard normal values into scores of 1 to 5, three quarters of them 5, in the same order."""
    places = np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in latent])
    return SCORES[np.minimum(np.searchsorted(np.cumsum(CEILING), places), 4)].tolist()
