"""The alternative-annotator test keeps its level where the judge is just too bad, and finds a judge that is as good."""

import numpy as np
import pytest

from dokimasia.algorithms.statistics.replacement import (
    AlternativeTest,
    PanelComparison,
    alternative_test,
    compare_with_panels,
)

EPSILON = 0.15


def _made(generator: np.random.Generator, items: int, person: float, judge: float, size: int = 1) -> PanelComparison:
    """Return a comparison in which so large a share of clusters of items has the person, or the judge, in front."""
    lead = generator.choice([1.0, -1.0, 0.0], size=items // size, p=[person, judge, 1 - person - judge]).repeat(size)
    names = tuple(str(number) for number in range(len(lead)))
    return PanelComparison("ann", names, tuple((lead > 0) * 1.0), tuple((lead < 0) * 1.0))


@pytest.mark.parametrize(
    ("items", "person", "judge", "size"),
    [
        (30, 0.15, 0.0, 1),
        pytest.param(30, 0.25, 0.10, 1, marks=pytest.mark.full),
        pytest.param(60, 0.15, 0.0, 1, marks=pytest.mark.full),
        (60, 0.45, 0.30, 1),
        (200, 0.20, 0.05, 1),
        (120, 0.25, 0.10, 3),
        pytest.param(300, 0.25, 0.10, 5, marks=pytest.mark.full),
    ],
)
def test_a_judge_at_epsilon_passes_at_most_at_the_level(items: int, person: float, judge: float, size: int) -> None:
    """Where the person leads by epsilon exactly, at most 5 % of judges pass, clusters or not (2,000 simulations)."""
    generator = np.random.default_rng(7)
    clusters = {str(number): str(number // size) for number in range(items)} if size > 1 else None
    passed = 0
    for _ in range(2000):
        made = _made(generator, items, person, judge, size)
        passed += alternative_test([made], epsilon=EPSILON, clusters=clusters).passed
    assert passed / 2000 <= 0.065


def test_a_judge_as_good_as_people_passes_with_the_items_needed() -> None:
    """The number of items that the test asks for gives 80 % power for a judge that leads as often as the person."""
    generator = np.random.default_rng(3)
    pilot = PanelComparison("ann", *_exactly(200, 30, 30))
    needed = alternative_test([pilot], epsilon=EPSILON).items_needed
    assert needed is not None
    assert 60 <= needed <= 110
    share = np.mean([
        alternative_test([_made(generator, needed, 0.15, 0.15)], epsilon=EPSILON).passed for _ in range(1000)
    ])  # fmt: skip
    assert 0.74 <= share <= 0.90


def _exactly(items: int, person: int, judge: int) -> tuple[tuple[str, ...], tuple[float, ...], tuple[float, ...]]:
    lead = [1.0] * person + [-1.0] * judge + [0.0] * (items - person - judge)
    return (
        tuple(str(number) for number in range(items)),
        tuple(float(value > 0) for value in lead),
        tuple(float(value < 0) for value in lead),
    )


def _tested(people: dict[str, dict[str, str]], judge: dict[str, str]) -> AlternativeTest:
    return alternative_test(compare_with_panels(people, judge, alignment="same"), epsilon=0.1)


def test_a_copy_of_the_majority_wins_everybody_and_noise_nobody() -> None:
    """A judge that says what most people say wins all three; one that guesses wins none."""
    generator = np.random.default_rng(0)
    truth = {str(number): str(generator.choice(["a", "b"])) for number in range(150)}
    people = {
        name: {item: value if generator.random() < 0.85 else "ab".replace(value, "") for item, value in truth.items()}
        for name in ("ann", "ben", "cho")
    }
    good = _tested(people, truth)
    assert (good.winning_rate, good.passed) == (1.0, True)
    assert good.advantage is not None
    assert good.advantage > 0.9
    guess = _tested(people, {item: str(generator.choice(["a", "b"])) for item in truth})
    assert (guess.winning_rate, guess.passed, guess.items_needed) == (0.0, False, None)


def test_people_with_few_items_are_not_tested() -> None:
    """With fewer than 30 items there is no p-value, and without a tested person no winning rate."""
    people = {name: {str(number): "a" for number in range(29)} for name in ("ann", "ben")}
    test = _tested(people, people["ann"])
    assert [one.p_value for one in test.people] == [None, None]
    assert (test.winning_rate, test.advantage, test.passed) == (None, None, False)


def test_p_values_are_those_of_the_paired_t_test_or_larger() -> None:
    """The t-test of the paper bounds each p-value from below; where few differ the score test is what holds."""
    from scipy import stats

    generator = np.random.default_rng(5)
    for items, person, judge in ((40, 0.2, 0.1), (90, 0.1, 0.1), (35, 0.05, 0.0)):
        made = _made(generator, items, person, judge)
        published = float(stats.ttest_1samp(made.lead, EPSILON, alternative="less").pvalue)
        p_value = alternative_test([made], epsilon=EPSILON).people[0].p_value
        assert p_value is not None
        assert p_value >= published - 1e-9
    rare = PanelComparison("ann", *_exactly(30, 1, 0))
    p_value = alternative_test([rare], epsilon=0.1).people[0].p_value
    assert p_value is not None
    assert p_value > 0.05
