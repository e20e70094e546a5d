"""Criterion scores become one number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.scoring import normalise, weighted_score

pytestmark = pytest.mark.quick

SCORES_AND_WEIGHTS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 10)), min_size=1, max_size=8)


def test_weighted_score_is_the_mean_by_weight() -> None:
    """A criterion of weight 5 counts five times as much as one of weight 1."""
    assert weighted_score([5, 1], [5, 1]) == pytest.approx(26 / 6)


@given(SCORES_AND_WEIGHTS)
def test_weighted_score_stays_between_the_scores(pairs: list[tuple[int, int]]) -> None:
    """The score never leaves the range of the scores it is made of, not even by rounding."""
    scores, weights = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    assert min(scores) <= weighted_score(scores, weights) <= max(scores)


@pytest.mark.parametrize(
    ("scores", "weights"),
    [([], []), ([3], [1, 2]), ([0], [1]), ([6], [1]), ([3], [0]), ([3], [-1]), ([3], [float("nan")])],
)
def test_weighted_score_refuses_what_is_no_score(scores: list[float], weights: list[float]) -> None:
    """Nothing, unequal lengths, scores off the scale and useless weights raise."""
    with pytest.raises(ValueError, match=r"score|weight"):
        weighted_score(scores, weights)


def test_normalise_maps_the_scale_to_percent() -> None:
    """1 is 0, 3 is 50, 5 is 100, and a score off the scale raises."""
    assert [normalise(s) for s in (1, 3, 5)] == [0, 50, 100]
    for bad in (0.99, 5.01, float("nan")):
        with pytest.raises(ValueError, match="between 1 and 5"):
            normalise(bad)
