"""Edges of the statistics: smallest samples, ends of scales, and limits computed a second time by their formulas."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from dokimasia.algorithms.statistics import clopper_pearson, false_discovery_rate
from dokimasia.algorithms.statistics.agreement import krippendorff_alpha
from dokimasia.algorithms.statistics.clusters import Clusters
from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.algorithms.statistics.correlation import pearson
from dokimasia.algorithms.statistics.intervals import accelerated, bootstrap_interval, jackknifed, rate_interval
from dokimasia.algorithms.statistics.power import Design, power
from dokimasia.algorithms.statistics.refusal import refusal
from dokimasia.algorithms.statistics.replacement import PanelComparison, alternative_test
from dokimasia.algorithms.statistics.shares import ConfidenceInterval

SKEWED = np.array([0.0, 0.1, 0.1, 0.2, 0.2, 0.2, 0.3, 0.4, 0.9, 1.0])


def test_p_values_of_0_and_1_are_adjusted() -> None:
    """Both ends of the range are p-values."""
    assert false_discovery_rate([0.0, 1.0, 0.5]) == (0.0, 1.0, 0.75)
    for outside in (-1e-9, 1 + 1e-9):
        with pytest.raises(ValueError, match="between 0 and 1"):
            false_discovery_rate([outside])


def test_alpha_of_two_values() -> None:
    """Two values are enough for alpha: 1 minus the observed disagreement by the expected one, worked out by hand."""
    pairs = [(1, 1), (1, 1), (2, 2), (1, 2)]
    observed, expected = 2 * 1 / 8, 2 * 5 * 3 / (8 * 7)
    assert krippendorff_alpha(pairs, scale="nominal") == pytest.approx(1 - observed / expected)


@pytest.mark.parametrize("first", ["gaffke", ""])
def test_a_contrast_names_the_method_of_either_interval(first: str) -> None:
    """The reader learns of a special interval on either side."""
    second = "" if first else "gaffke"
    interval = contrast_interval(
        1.0, ConfidenceInterval(0.0, 2.0, method=first), 0.5, ConfidenceInterval(0.0, 1.0, method=second)
    )
    assert interval.method == "gaffke"


def test_no_correlation_exceeds_1() -> None:
    """Rounding takes no correlation of a series with itself, or with its negative, out of the range."""
    generator = np.random.default_rng(0)
    for size in range(2, 200):
        values = generator.normal(size=size)
        assert pearson(values, 3 * values + 1) <= 1
        assert pearson(values, -7 * values) >= -1


def test_a_jackknife_leans_to_the_longer_tail() -> None:
    """On a bounded scale the limit towards the skewness is moved by its second-order term, and the other is not."""
    n, mean = len(SKEWED), float(SKEWED.mean())
    left_out = (SKEWED.sum() - SKEWED) / (n - 1)
    interval = jackknifed(mean, left_out, level=0.9, bounds=(-5.0, 5.0))
    without = jackknifed(mean, left_out, level=0.9)
    centred = left_out - left_out.mean()
    error = math.sqrt((n - 1) / n * np.square(centred).sum())
    quantile = (without.high - mean) / error
    skewness = -np.mean(centred**3) / np.mean(centred**2) ** 1.5
    lean = error * skewness / (6 * math.sqrt(n)) * (1 + 2 * quantile**2)
    assert lean > 0
    assert interval.low == pytest.approx(without.low)
    assert interval.high == pytest.approx(without.high + lean)


def test_a_value_beyond_its_scale_by_rounding_is_taken() -> None:
    """Sums of a hundred tenths miss the end of the scale by a little; a real excess is refused."""
    bounds = (0.0, 1000.0)
    assert bootstrap_interval([0.0, 500.0, 1000.0 + 5e-10], bounds=bounds, seed=0).high <= 1000 + 1e-9
    with pytest.raises(ValueError, match="not within the bounds"):
        bootstrap_interval([0.0, 500.0, 1000.1], bounds=bounds, seed=0)


def test_the_rate_of_one_trial() -> None:
    """One trial has the exact interval of one trial."""
    assert rate_interval([True]) == clopper_pearson(1, 1)
    assert rate_interval([False]) == clopper_pearson(0, 1)


@pytest.mark.parametrize("shift", [-0.4, 0.0, 0.3])
def test_accelerated_limits_by_their_formula(shift: float) -> None:
    """The limits are the quantiles that Efron's formula names, by another library's normal distribution."""
    generator = np.random.default_rng(1)
    resampled = generator.choice(SKEWED, size=(4000, len(SKEWED))).mean(axis=1) + shift * SKEWED.std()
    mean, n = float(SKEWED.mean()), len(SKEWED)
    left_out = (SKEWED.sum() - SKEWED) / (n - 1)
    below = (np.mean(resampled < mean) + np.mean(resampled <= mean)) / 2
    bias = stats.norm.ppf(below)
    deviations = left_out.mean() - left_out
    acceleration = np.sum(deviations**3) / (6 * np.sum(deviations**2) ** 1.5)
    assert abs(acceleration) > 0.01
    interval = accelerated(resampled, mean, left_out, NormalDist().inv_cdf(0.975))
    for side, quantile in ((-1.96, interval.low), (1.96, interval.high)):
        z = math.copysign(stats.norm.ppf(0.975), side)
        share = stats.norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))
        assert quantile == pytest.approx(np.quantile(resampled, share), abs=1e-9)


@pytest.mark.parametrize("mean", [-1.0, 2.0])
def test_accelerated_limits_where_all_resamples_lie_on_one_side(mean: float) -> None:
    """A figure outside all of its resamples has limits all the same: those at the nearer end."""
    resampled = np.linspace(0.0, 1.0, 101)
    interval = accelerated(resampled, mean, SKEWED, 1.96)
    assert 0.0 <= interval.low <= interval.high <= 1.0
    assert (interval.high < 0.5) == (mean < 0)


def test_a_certain_difference_has_power_1() -> None:
    """Differences of hundreds of standard errors are found for certain."""
    assert power(50, 1000.0, Design(sd=1.0)) == 1.0
    assert power(50, 1e-9, Design(sd=1.0)) == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "region"),
    [
        ([0.02, 0.02, 0.02, 0.02, 0.9], "at the floor"),
        ([0.98, 0.98, 0.98, 0.98, 0.1], "at the ceiling"),
        ([0.5, 0.5, 0.5, 0.5, 0.51], "nearly alike"),
    ],
)
def test_a_refusal_says_where_clusters_lie(values: list[float], region: str) -> None:
    """Clusters close to an end of the scale lie at it."""
    assert f"5 clusters {region}:" in refusal(Clusters(np.array(values), np.ones(5)), (0.0, 1.0))


def comparison(person: int, judge: int, n: int, name: str = "a") -> PanelComparison:
    """A place where the person is closer to the others so often, the judge so often, and else neither."""
    items = tuple(str(number) for number in range(n))
    leads = [1.0] * person + [-1.0] * judge + [0.0] * (n - person - judge)
    return PanelComparison(name, items, tuple(leads), (0.0,) * n)


@pytest.mark.parametrize("epsilon", [0.1, 0.2, 0.35])
@pytest.mark.parametrize(("person", "judge", "n"), [(5, 9, 40), (20, 4, 60), (0, 3, 30), (11, 0, 35), (25, 25, 80)])
def test_the_p_value_of_a_place_is_the_larger_of_two_tests(person: int, judge: int, n: int, epsilon: float) -> None:
    """The score test's variance is that of the most likely shares under the null hypothesis, sought on a fine grid."""
    judge_share = np.linspace(1e-9, (1 - epsilon) / 2 - 1e-9, 400_001)
    likelihood = (
        person * np.log(judge_share + epsilon)
        + judge * np.log(judge_share)
        + (n - person - judge) * np.log(1 - 2 * judge_share - epsilon)
    )
    best = float(judge_share[np.argmax(likelihood)])
    score = (epsilon - (person - judge) / n) / math.sqrt((2 * best + epsilon - epsilon**2) / n)
    leads = np.array(comparison(person, judge, n).lead)
    published = stats.ttest_1samp(leads, epsilon, alternative="less").pvalue
    p_value = alternative_test([comparison(person, judge, n)], epsilon=epsilon).people[0].p_value
    assert p_value == pytest.approx(max(stats.norm.sf(score), published), rel=1e-3)


def test_a_person_who_always_wins_has_no_evidence_against_them() -> None:
    """Leads without any spread are evidence by the score test alone, and none at all on the person's side."""
    p_value = alternative_test([comparison(0, 40, 40)], epsilon=0.2).people[0].p_value
    assert p_value == pytest.approx(stats.norm.sf(1.2 / math.sqrt(0.96 / 40)), rel=1e-9, abs=0)
    assert alternative_test([comparison(40, 0, 40)], epsilon=0.2).people[0].p_value == 1.0


def test_two_clusters_are_enough_for_a_test_and_one_is_not() -> None:
    """One cluster shows no spread between clusters."""
    place = comparison(0, 30, 40)
    halves = {item: int(item) % 2 for item in place.items}
    two, one = (alternative_test([place], epsilon=0.2, clusters=c) for c in (halves, dict.fromkeys(place.items, 0)))
    assert one.people[0].p_value == 1.0
    assert two.people[0].p_value is not None
    assert two.people[0].p_value < 0.5


def test_the_items_that_several_people_need_allow_for_the_adjustment() -> None:
    """With three people the first to pass half has the level of two in three, divided by 1 + 1/2 + 1/3."""
    places = [comparison(10, 14, 60, name) for name in "abc"]
    lead = np.array(places[0].lead)
    level, margin = 0.05 * 2 / (3 * (1 + 1 / 2 + 1 / 3)), 0.2 - lead.mean()
    spread = math.sqrt(lead.var(ddof=1))
    least = ((stats.norm.isf(level) + stats.norm.isf(0.2)) * spread / margin) ** 2
    needed = alternative_test(places, epsilon=0.2).items_needed
    assert needed is not None
    assert least <= needed <= 1.2 * least + 1
