"""The sign-flip test: exact where it can be, valid where it draws, and blind to the order of the pairs."""

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.algorithms.statistics.paired import sign_flip_test

pytestmark = pytest.mark.quick


def by_hand(sums: list[float]) -> float:
    """All sign patterns, one by one."""
    observed = abs(sum(sums))
    totals = [
        abs(sum(sign * one for sign, one in zip(signs, sums, strict=True)))
        for signs in product((1, -1), repeat=len(sums))
    ]
    return sum(total >= observed - 1e-9 for total in totals) / len(totals)


@settings(deadline=None)
@given(st.lists(st.integers(-16, 16).map(lambda n: n / 4), min_size=1, max_size=9))
def test_few_pairs_are_counted_exactly(differences: list[float]) -> None:
    """The p-value is the share of all sign patterns that bring at least the observed difference."""
    found = sign_flip_test(differences, seed=0)
    assert found.exact
    assert found.p_value == pytest.approx(by_hand(differences))


def test_clusters_flip_as_one() -> None:
    """Pairs of one cluster have one sign, so that many pairs on few images prove little."""
    differences = [1.0, 0.5, 0.25, 2.0, -0.5, 1.0]
    clusters = ["a", "a", "b", "b", "c", "c"]
    found = sign_flip_test(differences, clusters=clusters, seed=0)
    assert found.p_value == by_hand([1.5, 2.25, 0.5]) == 0.25
    assert sign_flip_test(differences, clusters=["a"] * 6, seed=0).p_value == 1


def test_no_difference_is_no_evidence() -> None:
    """Equal pairs have a p-value of 1 and do not count as clusters."""
    assert sign_flip_test([0.0, 0.0], seed=0) == (1.0, 1, True)
    assert sign_flip_test([1.0, 1.0, 0.0], seed=0) == sign_flip_test([1.0, 1.0], seed=0)


def test_drawn_patterns_agree_with_all_patterns() -> None:
    """With too many clusters to count, the drawn p-value lies near the exact one and is never 0."""
    random = Random(5)
    differences = [random.gauss(0.35, 1) for _ in range(15)]
    drawn = sign_flip_test(differences, seed=1)
    assert not drawn.exact
    assert drawn.patterns == 20_001
    assert drawn.p_value == pytest.approx(by_hand(differences), abs=0.01)
    assert sign_flip_test([1.0] * 200, seed=1).p_value == 1 / 20_001


def test_the_order_of_pairs_does_not_matter() -> None:
    """The same pairs in another order, and the same seed, give the same p-value to the bit."""
    random = Random(2)
    pairs = [(random.gauss(0.1, 1), str(number % 30)) for number in range(90)]
    first = sign_flip_test([one for one, _ in pairs], clusters=[name for _, name in pairs], seed=3)
    random.shuffle(pairs)
    assert sign_flip_test([one for one, _ in pairs], clusters=[name for _, name in pairs], seed=3) == first


def test_turning_the_differences_round_changes_nothing() -> None:
    """With drawn patterns, too, second minus first and first minus second have the same p-value to the bit."""
    random = Random(11)
    differences = [random.gauss(0.2, 1) for _ in range(40)]
    assert sign_flip_test(differences, seed=3) == sign_flip_test([-one for one in differences], seed=3)


def test_the_test_keeps_its_level() -> None:
    """Where there is no difference, at most about one in twenty tests finds one at 0.05."""
    random = Random(7)
    found = sum(
        sign_flip_test([random.gauss(0, 1) for _ in range(12)], seed=number).p_value <= 0.05 for number in range(600)
    )
    assert 10 <= found <= 45


def test_a_single_drawn_pattern_is_enough() -> None:
    """With one pattern drawn, p is a half where it stays below what was seen, and else 1."""
    random = Random(1)
    differences = [[random.gauss(0, 1) for _ in range(40)] for _ in range(20)]
    found = {sign_flip_test(one, seed=seed, permutations=1).p_value for seed, one in enumerate(differences)}
    assert found == {0.5, 1.0}


@pytest.mark.parametrize(
    ("differences", "clusters", "permutations"),
    [([], None, 10), ([float("nan")], None, 10), ([1.0, 2.0], ["a"], 10), ([1.0], None, 0)],
)
def test_what_cannot_be_tested_is_refused(
    differences: list[float], clusters: list[str] | None, permutations: int
) -> None:
    """Nothing, something that is no number, names that do not match, and no permutation are errors."""
    with pytest.raises(ValueError, match=r"at least one|cluster names"):
        sign_flip_test(differences, clusters=clusters, seed=0, permutations=permutations)


@pytest.mark.parametrize("count", [128, 131, 500])
@pytest.mark.parametrize("unit", [1.0, 0.1])
@pytest.mark.parametrize("shift", [0.1, 0.25, 0.5, 1.0, 3.0])
def test_few_kinds_of_differences_are_flipped_as_many_are(count: int, unit: float, shift: float) -> None:
    """Differences on a scale of a few steps have the p-value that the signs of all clusters, added one by one, come to.

    That holds for those that some signs reach, and for those that none can.
    """
    generator = np.random.default_rng(count)
    steps = unit * generator.integers(1, 5, count) - unit * generator.integers(1, 5, count) + unit * shift
    sizes = np.sort(np.abs(steps))
    bits = np.random.default_rng(3)
    totals = np.zeros(2000)
    for start in range(0, count, 8):
        batch = sizes[start : start + 8]
        drawn = bits.integers(0, 1 << len(batch), size=2000, dtype=np.uint8)
        for place, size in enumerate(batch):
            totals += np.where(drawn >> place & 1, -size, size)
    reached = np.count_nonzero(np.abs(totals) >= abs(steps.sum()) - 1e-9 * sizes.sum())
    assert sign_flip_test(steps, seed=3, permutations=2000).p_value == (1 + reached) / 2001


def test_clusters_are_told_by_number_as_by_name() -> None:
    """Numbers, with gaps or without, sort values into the same clusters as names."""
    values, numbers = [0.5, -1.0, 2.0, 0.25, -0.0], [4, 2, 4, 0, 2]
    named = sign_flip_test(values, clusters=[str(number) for number in numbers], seed=0)
    assert sign_flip_test(values, clusters=np.array(numbers), seed=0) == named
