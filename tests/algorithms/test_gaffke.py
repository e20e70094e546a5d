"""Gaffke's interval: exact values, and what it covers where too little spread was seen for the bootstrap."""

import math

import numpy as np
import pytest

from dokimasia.algorithms.statistics import bootstrap_interval, clopper_pearson, difference_interval
from dokimasia.algorithms.statistics.clusters import Clusters
from dokimasia.algorithms.statistics.gaffke import gaffke_interval, positive_chance


def ones(*values: float) -> Clusters:
    """Return clusters of one value each."""
    return Clusters(np.array(values), np.ones(len(values)))


@pytest.mark.parametrize(
    ("factors", "chance"),
    [
        ([1.0, -1.0], 1 / 2),
        ([3.0, -1.0], 3 / 4),
        ([1.0, 1.0, -2.0], 5 / 9),  # 1 - (2 / 3)^2
        ([2.0, 1.0, -1.0], 5 / 6),  # 4 / 3 - 1 / 2, by partial fractions
        ([1.0, 0.0], 1.0),
        ([-1.0, -2.0], 0.0),
        ([0.0, 0.0], 1.0),
    ],
)
def test_the_chance_of_a_positive_sum_by_hand(factors: list[float], chance: float) -> None:
    """Sums of two and three exponential variables have the chances that partial fractions give."""
    assert positive_chance(np.array(factors)) == pytest.approx(chance, abs=1e-10)


def test_equal_clusters_reach_the_exact_limit_of_none_seen() -> None:
    """Where all clusters are at one value, an end is Clopper and Pearson's limit for none among so many, by the scale."""
    for n in (3, 12, 400):
        unseen = clopper_pearson(0, n).high
        assert gaffke_interval(ones(*[5.0] * n), (1.0, 5.0)) == pytest.approx((5 - 4 * unseen, 5.0), abs=1e-7)
        assert gaffke_interval(ones(*[0.0] * n), (-4.0, 4.0)) == pytest.approx((-4 * unseen, 4 * unseen), abs=1e-7)


def test_two_values_by_hand() -> None:
    """With zeros and ones, weights of ones add to a beta variable, so that the limits are its quantiles."""
    from scipy.stats import beta

    low, high = gaffke_interval(ones(*[0.0] * 9, 1.0, 1.0, 1.0), (0.0, 1.0))
    assert low == pytest.approx(float(beta.ppf(0.025, 3, 10)), abs=1e-9)
    assert high == pytest.approx(float(beta.ppf(0.975, 4, 9)), abs=1e-9)


def test_clusters_count_by_their_size() -> None:
    """A weighted mean over clusters of unequal size has the quantiles of as many draws of exponential weights."""
    sizes = np.array([1.0, 4.0, 9.0, 2.0, 20.0])
    means = np.array([5.0, 4.0, 5.0, 2.0, 4.5])
    low, high = gaffke_interval(Clusters(means * sizes, sizes), (1.0, 5.0))
    weights = np.random.default_rng(0).exponential(size=(200_000, 6)) * np.append(sizes, sizes.max())
    weights /= weights.sum(axis=1, keepdims=True)
    drawn = [np.quantile(weights @ np.append(means, end), q) for end, q in ((1.0, 0.025), (5.0, 0.975))]
    assert (low, high) == pytest.approx(drawn, abs=0.02)
    mirrored = gaffke_interval(Clusters(-means * sizes, sizes), (-5.0, -1.0))
    assert (low, high) == pytest.approx((-mirrored.high, -mirrored.low), abs=1e-9)


def test_thousands_of_clusters_have_finite_limits_around_the_mean() -> None:
    """The integral holds for any number of clusters, tied or not."""
    drawn = np.random.default_rng(1).normal(4.0, 0.05, 2000)
    low, high = gaffke_interval(ones(*drawn), (1.0, 5.0))
    assert 3.98 < low < drawn.mean() < high < 4.01
    assert math.isclose(gaffke_interval(ones(*[5.0] * 2999, 1.0), (1.0, 5.0)).high, 4.99997, abs_tol=1e-4)


def test_eleven_fives_and_a_lower_score_have_an_interval_as_twelve_fives_have() -> None:
    """One score that differs a little widens the interval a little, and takes it away no more."""
    fives = bootstrap_interval([5.0] * 12, seed=0, bounds=(1.0, 5.0))
    one_lower = bootstrap_interval([5.0] * 11 + [4.5], seed=0, bounds=(1.0, 5.0))
    assert (one_lower.method, one_lower.reason) == ("gaffke", "")
    assert fives.low - 0.05 < one_lower.low < fives.low
    assert 4.99 < one_lower.high < 5


def test_similar_models_have_an_interval_of_their_difference() -> None:
    """Twenty differences of 0.05 on a scale of 4 have an interval, as wide as an unseen share of images may be."""
    drawn = np.random.default_rng(0).normal(3.0, 0.5, 20)
    found = difference_interval(drawn.tolist(), (drawn + 0.05).tolist(), seed=0, bounds=(1.0, 5.0))
    near = difference_interval(drawn.tolist(), (drawn + np.linspace(0.0, 0.1, 20)).tolist(), seed=0, bounds=(1.0, 5.0))
    assert near.method == "gaffke"
    assert near == pytest.approx(found, abs=0.02)


def test_a_few_large_images_are_covered() -> None:
    """An unseen image may be as large as the largest, so that two large images among small ones mislead no interval."""
    sizes = np.array([50.0, 50.0] + [1.0] * 20)
    generator = np.random.default_rng(0)
    misses = 0
    for _ in range(100):
        right = generator.integers(0, 2, len(sizes)).astype(float)
        low, high = gaffke_interval(Clusters(right * sizes, sizes), (0.0, 1.0))[:2]
        misses += not low <= 0.5 <= high
    assert misses <= 5
