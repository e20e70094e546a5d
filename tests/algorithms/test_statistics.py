"""Intervals cover what they claim to, and correlations are right."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from dokimasia.algorithms.distributions import beta_cdf, student_t_cdf, student_t_quantile
from dokimasia.algorithms.statistics import (
    Interval,
    bootstrap_interval,
    clopper_pearson,
    pearson,
    r_squared,
    spearman,
)

SEEDS = 400
NEEDED = 370
CEILING = ((1, 2, 3, 4, 5), (0.02, 0.03, 0.05, 0.15, 0.75))


def normal(generator: np.random.Generator) -> tuple[list[float], list[int] | None, float]:
    """Thirty independent normal values."""
    return generator.normal(size=30).tolist(), None, 0.0


def ceiling(generator: np.random.Generator) -> tuple[list[float], list[int] | None, float]:
    """Thirty scores of 1 to 5, three quarters of them at the top."""
    values, shares = CEILING
    return generator.choice(values, 30, p=shares).astype(float).tolist(), None, float(np.dot(values, shares))


def clustered(clusters: int, correlation: float, sizes: tuple[int, ...]):
    """Return a scenario: clusters of the given sizes in turn, whose values share a part of their variance."""

    def draw(generator: np.random.Generator) -> tuple[list[float], list[int] | None, float]:
        index = np.repeat(np.arange(clusters), [sizes[i % len(sizes)] for i in range(clusters)])
        shared = generator.normal(size=clusters)[index] * math.sqrt(correlation)
        return (shared + generator.normal(size=len(index)) * math.sqrt(1 - correlation)).tolist(), index.tolist(), 0.0

    return draw


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(normal, id="normal"),
        pytest.param(ceiling, id="ceiling"),
        pytest.param(clustered(23, 0.3, (3,)), id="23 images, three questions each"),
        pytest.param(clustered(23, 0.6, (3,)), id="23 images, alike"),
        pytest.param(clustered(12, 0.6, (3,)), id="12 images"),
        pytest.param(clustered(20, 0.6, (1, 2, 3, 5, 8, 12)), id="unequal"),
    ],
)
def test_interval_covers_at_its_level(scenario) -> None:
    """Over 400 seeds a 95 % interval contains the true mean at least 370 times."""
    covered = 0
    for seed in range(SEEDS):
        values, clusters, truth = scenario(np.random.default_rng(seed))
        low, high = bootstrap_interval(values, clusters=clusters, seed=seed)
        covered += low <= truth <= high
    assert covered >= NEEDED


def test_interval_is_not_over_wide() -> None:
    """For normal values the mean width stays within a tenth of Student's exact one."""
    widths, exact = [], []
    for seed in range(100):
        values, _, _ = normal(np.random.default_rng(seed))
        low, high = bootstrap_interval(values, seed=seed)
        widths.append(high - low)
        exact.append(2 * student_t_quantile(0.975, 29) * np.std(values, ddof=1) / math.sqrt(30))
    assert np.mean(widths) < 1.1 * np.mean(exact)


def test_clusters_widen_the_interval() -> None:
    """The same values give a wider interval when they come in clusters that are alike."""
    values, clusters, _ = clustered(20, 0.9, (5,))(np.random.default_rng(3))
    apart = bootstrap_interval(values, seed=0)
    together = bootstrap_interval(values, clusters=clusters, seed=0)
    assert together.high - together.low > 1.5 * (apart.high - apart.low)


def test_interval_depends_on_seed_and_content_only() -> None:
    """Order of the values and names of the clusters do not matter; the seed does."""
    values, clusters, _ = clustered(12, 0.5, (1, 4))(np.random.default_rng(5))
    assert clusters is not None
    pairs = list(zip(values, [f"image {cluster}" for cluster in clusters], strict=True))
    random.Random(1).shuffle(pairs)
    expected = bootstrap_interval(values, clusters=clusters, seed=7)
    assert bootstrap_interval([p[0] for p in pairs], clusters=[p[1] for p in pairs], seed=7) == expected
    assert bootstrap_interval(values, clusters=clusters, seed=8) != expected


def test_interval_of_one_cluster_says_that_nothing_is_known() -> None:
    """A single value or cluster gives the whole scale, and without a known scale everything."""
    assert bootstrap_interval([3.0], seed=0) == Interval(-math.inf, math.inf)
    assert bootstrap_interval([3, 4], clusters=["a", "a"], seed=0, bounds=(1, 5)) == Interval(1, 5)


def test_interval_of_equal_values() -> None:
    """Equal values are a point where no scale is known, and with bounds reach as far as the unseen may."""
    assert bootstrap_interval([5.0] * 10, seed=0) == Interval(5, 5)
    low, high = bootstrap_interval([5.0] * 10, seed=0, bounds=(1, 5))
    assert high == 5
    assert low == pytest.approx(5 - 4 * (1 - 0.025**0.1))


def test_interval_stays_within_bounds() -> None:
    """With bounds no limit leaves the scale."""
    low, high = bootstrap_interval([5, 5, 5, 5, 1], seed=0, bounds=(1, 5))
    assert 1 <= low < 4.2 < high <= 5


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([], {}),
        ([float("nan")], {}),
        ([1, 2], {"clusters": ["a"]}),
        ([1, 2], {"level": 1.0}),
        ([1, 6], {"bounds": (1, 5)}),
    ],
)
def test_interval_refuses_what_it_cannot_use(values: list[float], options: dict) -> None:
    """No values, missing values, wrong clusters, levels and bounds raise."""
    with pytest.raises(ValueError, match=r"value|level|bounds"):
        bootstrap_interval(values, seed=0, **options)


@pytest.mark.parametrize(("k", "n"), [(1, 10), (7, 20), (29, 30), (200, 400)])
def test_clopper_pearson_solves_its_equations(k: int, n: int) -> None:
    """At the limits, the exact binomial tails are 2.5 %."""
    low, high = clopper_pearson(k, n)

    def at_most(count: int, share: float) -> float:
        p = Fraction(share)
        return float(sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(count + 1)))

    assert 1 - at_most(k - 1, low) == pytest.approx(0.025, abs=1e-11)
    assert at_most(k, high) == pytest.approx(0.025, abs=1e-11)


def test_clopper_pearson_at_the_ends() -> None:
    """None of n reaches down to 0, all of n up to 1; impossible counts raise."""
    assert clopper_pearson(0, 7).low == 0
    assert clopper_pearson(7, 7).high == 1
    assert clopper_pearson(0, 7).high == pytest.approx(1 - 0.025 ** (1 / 7), abs=1e-12)
    assert clopper_pearson(7, 7).low == pytest.approx(0.025 ** (1 / 7), abs=1e-12)
    for k, n in ((-1, 3), (4, 3), (0, 0)):
        with pytest.raises(ValueError, match="no share"):
            clopper_pearson(k, n)


def test_distributions_agree_with_closed_forms() -> None:
    """Beta(2, 3) and Student's t with 1 and 2 degrees of freedom have distribution functions that can be written down."""
    for x in (0.01, 0.3, 0.5, 0.9, 0.999):
        assert beta_cdf(x, 2, 3) == pytest.approx(x * x * (6 - 8 * x + 3 * x * x), abs=1e-13)
    for t in (-30.0, -1.5, 0.2, 4.0):
        assert student_t_cdf(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, abs=1e-13)
        assert student_t_cdf(t, 2) == pytest.approx(0.5 + t / (2 * math.sqrt(2 + t * t)), abs=1e-13)
    assert student_t_quantile(0.975, 1e7) == pytest.approx(1.959964, abs=1e-5)


def test_correlations() -> None:
    """Pearson, Spearman with ties, and r squared against values worked out by hand."""
    assert pearson([1, 2, 3, 4], [2, 1, 4, 3]) == pytest.approx(0.6)
    assert r_squared([1, 2, 3, 4], [2, 1, 4, 3]) == pytest.approx(0.36)
    assert spearman([1, 2, 2, 4], [10, 20, 30, 40]) == pytest.approx(0.9486832980505138)
    assert pearson([1e-200, 2e-200], [1e200, 2e200]) == pytest.approx(1)


@pytest.mark.parametrize(("x", "y"), [([1], [1]), ([1, 2], [1]), ([1, 1], [1, 2]), ([1, float("inf")], [1, 2])])
def test_correlations_refuse_what_has_none(x: list[float], y: list[float]) -> None:
    """Too few pairs, unequal lengths, a constant side and infinite values raise."""
    for correlate in (pearson, spearman, r_squared):
        with pytest.raises(ValueError, match=r"pairs|vary|finite"):
            correlate(x, y)
