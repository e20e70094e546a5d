"""Intervals cover what they claim to, differences, rates and many tests at once are accounted for."""

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from dokimasia.algorithms.statistics import (
    ConfidenceInterval,
    bootstrap_interval,
    clopper_pearson,
    difference_interval,
    false_discovery_rate,
    jackknife_interval,
    rate_interval,
)
from dokimasia.algorithms.statistics.clusters import on_grid
from dokimasia.algorithms.statistics.distributions import student_t_quantile
from dokimasia.algorithms.statistics.intervals import jackknifed

SEEDS = 400
NEEDED = 370
NEEDED_ELSEWHERE = 366
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


def ceiling_by_image(clusters: int, correlation: float, sizes: tuple[int, ...]):
    """Return a scenario: scores of 1 to 5 in clusters that are alike, three quarters of them at the top."""
    latent = clustered(clusters, correlation, sizes)
    values, shares = CEILING

    def draw(generator: np.random.Generator) -> tuple[list[float], list[int] | None, float]:
        below, index, _ = latent(generator)
        places = [NormalDist().cdf(value) for value in below]
        drawn = np.minimum(np.searchsorted(np.cumsum(shares), places), len(values) - 1)
        return np.array(values, dtype=float)[drawn].tolist(), index, float(np.dot(values, shares))

    return draw


@pytest.mark.parametrize("bounds", [None, (1.0, 5.0)], ids=["scale unknown", "scale known"])
@pytest.mark.parametrize("clusters", [12, *(pytest.param(count, marks=pytest.mark.full) for count in (14, 16)), 20])
@pytest.mark.parametrize("sizes", [(3,), (1, 2, 3, 5, 8, 12)], ids=["equal", "unequal"])
def test_interval_covers_at_the_ceiling_with_few_clusters(
    clusters: int, sizes: tuple[int, ...], bounds: tuple[float, float] | None
) -> None:
    """Twelve to twenty images whose scores crowd at the top: over 400 seeds the truth is covered at least 366 times."""
    scenario = ceiling_by_image(clusters, 0.6, sizes)
    covered = 0
    for seed in range(SEEDS):
        values, by, truth = scenario(np.random.default_rng(seed))
        low, high = bootstrap_interval(values, clusters=by, seed=seed, bounds=bounds)
        covered += low <= truth <= high
    assert covered >= NEEDED_ELSEWHERE


@pytest.mark.parametrize("clusters", [2, 3, 4, 5, 6])
def test_interval_covers_with_very_few_clusters(clusters: int) -> None:
    """From two clusters on, normal values are covered at the level."""
    scenario = clustered(clusters, 0.3, (3,))
    covered = 0
    for seed in range(SEEDS):
        values, by, truth = scenario(np.random.default_rng(seed))
        low, high = bootstrap_interval(values, clusters=by, seed=seed)
        covered += low <= truth <= high
    assert covered >= NEEDED


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
    """Order of the values and names of the clusters do not matter, and the same seed gives the same interval."""
    values, clusters, _ = clustered(12, 0.5, (1, 4))(np.random.default_rng(5))
    assert clusters is not None
    pairs = list(zip(values, [f"image {cluster}" for cluster in clusters], strict=True))
    random.Random(1).shuffle(pairs)
    expected = bootstrap_interval(values, clusters=clusters, seed=7)
    assert bootstrap_interval([p[0] for p in pairs], clusters=[p[1] for p in pairs], seed=7) == expected
    assert bootstrap_interval(values, clusters=clusters, seed=7) == expected


def of_few_kinds(count: int) -> tuple[list[float], list[int], list[float]]:
    """Return values of four kinds, their clusters, and the same values moved apart by a billionth."""
    drawn = random.Random(4)
    values = [drawn.choice([1.0, 2.6, 4.0, 5.0]) for _ in range(count)]
    clusters = [number // 2 if number < 1000 else number for number in range(count)]
    return values, clusters, [value + drawn.random() * 1e-9 * (-1 if value > 4 else 1) for value in values]


def test_very_many_equal_clusters_are_drawn_by_kind() -> None:
    """Where tens of thousands of clusters are of few kinds, the limits are those of drawing each cluster, but for chance."""
    values, clusters, unequal = of_few_kinds(18_000)
    by_kind = bootstrap_interval(values, clusters=clusters, seed=0, bounds=(1.0, 5.0))
    one_by_one = bootstrap_interval(unequal, clusters=clusters, seed=0, bounds=(1.0, 5.0))
    assert by_kind == pytest.approx(one_by_one, abs=0.1 * (by_kind.high - by_kind.low))
    assert by_kind != pytest.approx(one_by_one, abs=1e-6), "the kinds were drawn, and not the clusters"


@pytest.mark.parametrize("count", [1200, 6000])
def test_equal_clusters_share_the_draws_of_unequal_ones(count: int) -> None:
    """Values that differ by a billionth have the same interval as equal ones, to within a billionth."""
    values, clusters, unequal = of_few_kinds(count)
    by_kind = bootstrap_interval(values, clusters=clusters, seed=0, bounds=(1.0, 5.0))
    assert by_kind == pytest.approx(bootstrap_interval(unequal, clusters=clusters, seed=0, bounds=(1.0, 5.0)), abs=2e-9)


@pytest.mark.parametrize("count", [250, 251, 257, 1024, 1030])
def test_draws_that_numbers_of_clusters_share_keep_the_width(count: int) -> None:
    """Whether a number of clusters has draws of its own or shares them, normal values have an interval as wide as Student's."""
    ratios: list[float] = []
    for seed in range(20):
        values = np.random.default_rng(seed).normal(size=count).astype(np.float64)
        low, high = bootstrap_interval(values, seed=seed)
        ratios.append((high - low) / (2 * student_t_quantile(0.975, count - 1) * np.std(values, ddof=1) / count**0.5))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("bounds", [None, (-1.0, 1.0)], ids=["scale unknown", "scale known"])
@pytest.mark.parametrize("each", [1, 3], ids=["single", "clustered"])
@pytest.mark.parametrize("n", [2, 3, 7, 12, 40, 300])
def test_opposite_differences_have_opposite_intervals(n: int, each: int, bounds: tuple[float, float] | None) -> None:
    """The interval of A minus B is that of B minus A with its signs changed, to the last digit and in any order."""
    clusters = [number // each for number in range(n)]
    for seed in range(25):
        generator = np.random.default_rng([n, each, seed])
        first, second = generator.choice([0.0, 1 / 3, 0.6, 1.0], (2, n)).astype(np.float64)
        steps = (first - second).round(seed % 3).tolist()
        order = generator.permutation(n).tolist()
        low, high = interval = bootstrap_interval(steps, clusters=clusters, seed=seed, bounds=bounds)
        turned, own = [-steps[place] for place in order], [clusters[place] for place in order]
        opposite = bootstrap_interval(turned, clusters=own, seed=seed, bounds=bounds)
        assert opposite == ConfidenceInterval(-high, -low)
        assert (opposite.reason, opposite.method) == (interval.reason, interval.method)


def test_intervals_of_differences_without_a_direction_are_symmetric() -> None:
    """Steps that are as often up as down by as much have an interval symmetric around 0; others with the mean 0 do not."""
    for values in ([-1.0, 1.0], [-0.5, 0.5, 0.1, -0.1, 0.3, -0.3], [-0.7, 0.0, 0.7] * 9, [0.0] * 5):
        for bounds in (None, (-1.0, 1.0)):
            low, high = bootstrap_interval(values, seed=1, bounds=bounds)
            assert low == -high
    skewed = [-0.9, 0.3, 0.3, 0.3] * 3
    low, high = bootstrap_interval(skewed, seed=1, bounds=(-1.0, 1.0))
    assert low != -high
    assert bootstrap_interval([-value for value in skewed], seed=1, bounds=(-1.0, 1.0)) == ConfidenceInterval(
        -high, -low
    )


def test_opposite_values_within_other_bounds_have_opposite_intervals() -> None:
    """A scale may lie anywhere: scores of 1 to 5 and their negatives within -5 to -1, or a mean of 0 near one end."""
    for values, bounds in (
        ([1.0, 5.0, 4.0, 2.0, 3.0, 5.0], (1.0, 5.0)),
        ([-1.0, 1.0, 0.5, -0.5, 0.25, -0.25], (-1.0, 3.0)),
    ):
        low, high = bootstrap_interval(values, seed=2, bounds=bounds)
        negative = bootstrap_interval([-value for value in values], seed=2, bounds=(-bounds[1], -bounds[0]))
        assert negative == ConfidenceInterval(-high, -low)


def test_sums_on_a_grid_do_not_depend_on_their_order() -> None:
    """Any order of additions, and a product of matrices, give the same bits; the values move by less than they are precise."""
    generator = np.random.default_rng(0)
    for values in (generator.normal(size=3001), generator.random(5) * 1e-200, generator.random(700) * 1e200):
        rounded = on_grid(values)
        assert np.abs(rounded - values).max() <= 2**-50 * len(values) * np.abs(values).max()
        total = math.fsum(rounded)
        for _ in range(5):
            assert float(np.cumsum(generator.permutation(rounded))[-1]) == total
        counts = generator.multinomial(2 * len(values), np.full(len(values), 1 / len(values)), size=20)
        assert (counts @ rounded).tolist() == [math.fsum(np.repeat(rounded, row)) for row in counts]


def test_interval_of_one_cluster_says_that_nothing_is_known() -> None:
    """A single value or cluster gives the whole scale, and without a known scale everything."""
    assert bootstrap_interval([3.0], seed=0) == ConfidenceInterval(-math.inf, math.inf)
    assert bootstrap_interval([3, 4], clusters=["a", "a"], seed=0, bounds=(1, 5)) == ConfidenceInterval(1, 5)


def test_interval_of_equal_values() -> None:
    """Equal values are a point where no scale is known, and with bounds reach as far as the unseen may."""
    assert bootstrap_interval([5.0] * 10, seed=0) == ConfidenceInterval(5, 5)
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


def test_clopper_pearson_agrees_with_published_intervals(shared_data: Path) -> None:
    """Of a published tree's two models, every node that carries intervals carries ours, at both of its levels."""
    seen = 0
    files = sorted((shared_data / "evaltree-ds1000").glob("*.node_stats.json"))
    assert len(files) == 2
    for file in files:
        waiting = [json.loads(file.read_text())]
        while waiting:
            node = waiting.pop()
            children = node["subtrees"]
            waiting += (
                children.values() if isinstance(children, dict) else children if isinstance(children, list) else []
            )
            for alpha, (low, high) in (node["confidence_interval"] or {}).items():
                ours = clopper_pearson(node["sum_metrics"], node["size"], 1 - float(alpha))
                assert ours.low == pytest.approx(low, abs=1e-9)
                assert ours.high == pytest.approx(high, abs=1e-9)
                seen += 1
    assert seen == 2 * 82 * 2


def test_nearly_equal_and_extreme_values_give_finite_limits() -> None:
    """Values that differ in the last digits, tiny and huge ones keep the interval finite and around the mean."""
    for values in ([1.0, 1.0, 1 + 1e-11], [1e-200, 2e-200, 4e-200], [1e150, 2e150, 4e150], [1e-9, 0.0, 0.0, 5.0]):
        low, high = bootstrap_interval(values, seed=0)
        assert math.isfinite(low)
        assert math.isfinite(high)
        assert low <= sum(values) / len(values) <= high


def test_difference_interval_is_that_of_the_differences() -> None:
    """Pairs are subtracted, second minus first, and known bounds become those of a difference."""
    first, second = [1.0, 2.0, 5.0, 4.0, 3.0, 2.0, 1.0], [2.0, 2.0, 5.0, 5.0, 5.0, 1.0, 2.0]
    images = ["a", "a", "b", "c", "d", "e", "f"]
    gaps = [b - a for a, b in zip(first, second, strict=True)]
    ours = difference_interval(first, second, clusters=images, seed=3, bounds=(1, 5))
    assert ours == bootstrap_interval(gaps, clusters=images, seed=3, bounds=(-4, 4))
    for wrong in ({"second": [1.0]}, {"second": [*second[:-1], 6.0]}):
        with pytest.raises(ValueError, match=r"pairs|bounds"):
            difference_interval(first, wrong["second"], seed=0, bounds=(1, 5))


def test_rate_interval_of_independent_trials_is_exact() -> None:
    """Without clusters, or with each trial in its own, the interval is Clopper and Pearson's."""
    hits = [True] * 7 + [False] * 4
    assert rate_interval(hits) == rate_interval(hits, clusters=range(11)) == clopper_pearson(7, 11)


def test_rate_interval_of_clusters_that_are_all_alike() -> None:
    """Images that fail as a whole count once each, and images that never fail bound how many others might."""
    together = rate_interval([True] * 20 + [False] * 20, clusters=[i // 4 for i in range(40)])
    assert together.low < clopper_pearson(20, 40).low
    assert together.high > clopper_pearson(20, 40).high
    assert rate_interval([False] * 40, clusters=[i // 4 for i in range(40)]) == clopper_pearson(0, 10)
    assert rate_interval([True, False], clusters="aa") == ConfidenceInterval(0, 1)


def test_jackknife_interval_of_a_mean_is_students() -> None:
    """For the mean of light-tailed values the jackknife gives Student's t interval, and bounds cut it."""
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]

    def mean(use) -> float:
        return sum(values[i] for i in use) / len(use)

    low, high = jackknife_interval(mean, 6)
    margin = student_t_quantile(0.975, 5) * np.std(values, ddof=1) / math.sqrt(6)
    assert (low, high) == pytest.approx((3.5 - margin, 3.5 + margin))
    assert jackknife_interval(mean, 6, bounds=(3, 4)) == ConfidenceInterval(3, 4)
    assert jackknife_interval(mean, 6, clusters="aaaaaa") == ConfidenceInterval(-math.inf, math.inf)
    with pytest.raises(ValueError, match="cluster names"):
        jackknife_interval(mean, 6, clusters="aa")


def test_false_discovery_rate_by_hand() -> None:
    """Benjamini and Hochberg's smallest p m / rank from above, times the harmonic sum for any dependence."""
    p_values = [0.04, 0.001, 0.9, 0.02]
    assert false_discovery_rate(p_values) == pytest.approx([0.16 / 3, 0.004, 0.9, 0.04])
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4
    anyhow = false_discovery_rate(p_values, dependence="any")
    assert anyhow == pytest.approx([0.16 / 3 * harmonic, 0.004 * harmonic, 1.0, 0.04 * harmonic])
    assert false_discovery_rate([]) == ()
    for wrong in ([0.5, 1.2], [-0.1], [math.nan]):
        with pytest.raises(ValueError, match=r"p-value|finite"):
            false_discovery_rate(wrong)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_skewed_jackknife_on_a_scale_reaches_farther_to_the_long_side(sign: int) -> None:
    """Between two bounds one limit moves outwards by what the skewness asks for, and the other one stays."""
    offsets = np.array([0.1, 0.05, 0.0, -0.02, 0.03, 0.08, 0.02, -0.01, 0.04, -0.9])
    plain = jackknifed(5.0, 5 + sign * offsets, level=0.95)
    leaning = jackknifed(5.0, 5 + sign * offsets, level=0.95, bounds=(-100.0, 100.0))
    assert plain.high - 5 == pytest.approx(5 - plain.low)
    stays, moves = ("low", "high") if sign > 0 else ("high", "low")
    assert getattr(leaning, stays) == getattr(plain, stays)
    assert abs(getattr(leaning, moves) - 5) > abs(getattr(plain, moves) - 5) + 1
