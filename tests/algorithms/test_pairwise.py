"""Duels are counted as defined, failures stay failures, and agreement with people is the papers'."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.pairwise import VerdictCounts, consistency, mae, position_consistency

counts = st.integers(0, 50)


def test_reward_and_win_rate() -> None:
    """The reward is fifty times the mean value, ties are no half wins, and failed verdicts leave the denominators."""
    duel = VerdictCounts(3, 4, 2, 1, 0, failed=5)
    assert duel.n_valid == 10
    assert duel.reward == pytest.approx(50 * (6 + 4 - 1) / 10)
    assert duel.win_rate == pytest.approx(70)


def test_without_valid_verdicts_there_is_no_number() -> None:
    """All failed: reward and win rate are None, and everything is possible."""
    duel = VerdictCounts(0, 0, 0, 0, 0, failed=4)
    assert duel.reward is None
    assert duel.win_rate is None
    assert duel.reward_bounds == VerdictCounts(0, 0, 0, 0, 0).reward_bounds == (-100, 100)


@given(counts, counts, counts, counts, counts, counts)
def test_bounds_are_what_failed_verdicts_could_have_been(a: int, b: int, c: int, d: int, e: int, failed: int) -> None:
    """The bounds are the rewards with all failures counted as much worse, and as much better."""
    duel = VerdictCounts(a, b, c, d, e, failed)
    worst, best = VerdictCounts(a, b, c, d, e + failed).reward, VerdictCounts(a + failed, b, c, d, e).reward
    if worst is not None and best is not None:
        assert duel.reward_bounds == pytest.approx((worst, best))
        assert -100 <= duel.reward_bounds.low <= duel.reward_bounds.high <= 100


def test_distance_from_people() -> None:
    """Mean absolute error, and the share within one point, that point included."""
    assert mae([2, -2, 0], [0.5, -1, 0.25]) == pytest.approx(2.75 / 3)
    assert consistency([2, -2, 0], [0.5, -1, 0.25]) == pytest.approx(2 / 3)
    assert consistency([0.1 + 0.2], [1.3]) == 1
    for wrong in (([], []), ([1], [1, 2])):
        for measure in (mae, consistency):
            with pytest.raises(ValueError, match="rated twice"):
                measure(*wrong)


def test_position_consistency_tells_sides_apart_and_not_strength() -> None:
    """Both orders name the same side, or both a tie."""
    assert position_consistency([2, 1, 0, -1, 1], [1, 2, 0, 1, 0]) == pytest.approx(0.6)
    for wrong in (([], []), ([3], [1])):
        with pytest.raises(ValueError, match=r"rated twice|between"):
            position_consistency(*wrong)
