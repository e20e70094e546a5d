"""Ranks that hold at once, held against a plain count of all sign patterns."""

from itertools import combinations, product

import numpy as np
import pytest

from dokimasia.algorithms.statistics import ranks
from dokimasia.algorithms.statistics.ranks import simultaneous_ranks

NAMES = ["a", "b", "c", "d"]
PAIRS = list(combinations(NAMES, 2))


def differences_of(scores: "np.ndarray") -> "np.ndarray":
    """Differences of all pairs, second minus first, of scores by cluster and name."""
    places = list(combinations(range(len(NAMES)), 2))
    return np.stack([scores[:, second] - scores[:, first] for first, second in places], axis=1)


def test_p_values_are_those_of_the_largest_statistic_over_all_patterns() -> None:
    """Adjusted p-values equal a count in pure Python over every sign pattern of nine clusters."""
    scores = np.random.default_rng(3).normal(size=(9, 4)) + np.array([1.2, 0.0, 0.1, -0.9])
    differences = differences_of(scores)
    ranking = simultaneous_ranks(NAMES, PAIRS, differences, seed=0)

    def statistic(signs: tuple[int, ...], column: int) -> float:
        values = differences[:, column]
        total = sum(sign * value for sign, value in zip(signs, values, strict=True))
        return abs(total) / sum(value * value for value in values) ** 0.5

    patterns = list(product((1, -1), repeat=9))
    largest = [max(statistic(signs, column) for column in range(6)) for signs in patterns]
    for column, pair in enumerate(PAIRS):
        observed = statistic((1,) * 9, column) - 1e-9
        assert ranking.p_values[pair] == pytest.approx(sum(value >= observed for value in largest) / len(patterns))
    assert ranking.ranks["a"][0] == 1
    assert ranking.ranks["d"][1] == 4


def test_equal_models_share_all_ranks_and_clear_ones_have_their_own() -> None:
    """Without a difference every rank is open; with a large one in each of 30 clusters every rank is certain."""
    alike = simultaneous_ranks(NAMES, PAIRS, differences_of(np.ones((30, 4))), seed=0)
    assert set(alike.ranks.values()) == {(1, 4)}
    assert set(alike.p_values.values()) == {1.0}
    noise = 0.1 * np.random.default_rng(1).normal(size=(30, 4))
    clear = simultaneous_ranks(NAMES, PAIRS, differences_of(np.array([1.0, 4.0, 2.0, 3.0]) + noise), seed=0)
    assert clear.ranks == {"b": (1, 1), "d": (2, 2), "c": (3, 3), "a": (4, 4)}


def test_a_pair_without_a_comparison_leaves_its_order_open() -> None:
    """Only pairs that are compared narrow ranks, and no pairs leave all of them."""
    ranking = simultaneous_ranks(["a", "b", "c"], [("a", "b")], np.ones((20, 1)), seed=0)
    assert ranking.ranks == {"a": (2, 3), "b": (1, 2), "c": (1, 3)}
    assert simultaneous_ranks(["a"], [], np.zeros((0, 0)), seed=0).ranks == {"a": (1, 1)}


def test_drawn_patterns_agree_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The p-values of drawn patterns come near those of all, and the same seed gives the same ones."""
    scores = np.random.default_rng(5).normal(size=(11, 4)) + np.array([0.6, 0.3, 0.0, 0.0])
    differences = differences_of(scores)
    exact = simultaneous_ranks(NAMES, PAIRS, differences, seed=0).p_values
    monkeypatch.setattr(ranks, "EXACT_CLUSTERS", 5)
    drawn = simultaneous_ranks(NAMES, PAIRS, differences, seed=0).p_values
    assert drawn == simultaneous_ranks(NAMES, PAIRS, differences, seed=0).p_values
    assert drawn != exact
    assert all(drawn[pair] == pytest.approx(exact[pair], abs=0.02) for pair in PAIRS)
