"""Duels are counted as defined, failures stay failures, and agreement with people is the papers'."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.pairwise import (
    VerdictCounts,
    consistency,
    count_verdicts,
    mae,
    position_bias,
    position_bias_interval,
    position_consistency,
    position_consistency_interval,
    reward_interval,
    win_rate_interval,
)

counts = st.integers(0, 50)
verdicts = st.integers(-2, 2)


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
    lost, won = VerdictCounts(a, b, c, d, e + failed).win_rate, VerdictCounts(a + failed, b, c, d, e).win_rate
    assert duel.win_rate_bounds == ((0, 100) if lost is None or won is None else pytest.approx((lost, won)))


@given(st.lists(verdicts, min_size=1), st.integers(0, 5))
def test_verdicts_are_counted_by_value(values: list[int], failed: int) -> None:
    """Counting verdicts keeps their mean, their number and the failed ones; anything else is no verdict."""
    counted = count_verdicts(values, failed)
    assert (counted.n_valid, counted.failed) == (len(values), failed)
    assert counted.reward == pytest.approx(50 * sum(values) / len(values))
    for wrong in (([3], 0), ([0], -1)):
        with pytest.raises(ValueError, match=r"between|failed"):
            count_verdicts(*wrong)


def test_intervals_take_both_orders_of_a_case_for_one() -> None:
    """Two equal verdicts of a case carry no more than one: the clustered interval is wider, and contains the figure."""
    values = [verdict for verdict in (1, 0, -1, 2, 0, 1, 1, -2, 0, 1, 0, 2) for _ in (0, 1)]
    cases = [case for case in range(len(values) // 2) for _ in (0, 1)]
    counted = count_verdicts(values)
    alone, together = reward_interval(values, seed=0), reward_interval(values, clusters=cases, seed=0)
    assert together.high - together.low > 1.2 * (alone.high - alone.low)
    assert counted.reward is not None
    assert -100 <= together.low < counted.reward < together.high <= 100
    alone, together = win_rate_interval(values), win_rate_interval(values, clusters=cases)
    assert together.high - together.low > 1.2 * (alone.high - alone.low)
    assert counted.win_rate is not None
    assert 0 <= together.low < counted.win_rate < together.high <= 100
    assert reward_interval([0, 0, 0, 0, 0, 1], seed=0).method == "gaffke"


@given(st.lists(st.tuples(verdicts, verdicts), min_size=1, max_size=20))
def test_position_bias_is_what_one_order_alone_is_wrong_by(pairs: list[tuple[int, int]]) -> None:
    """One order's reward is that of both orders plus the bias, the other's is that less the bias; swapping turns its sign."""
    first, swapped = [one for one, _ in pairs], [other for _, other in pairs]
    both = count_verdicts([*first, *swapped]).reward
    assert both is not None
    bias = position_bias(first, swapped)
    assert count_verdicts(first).reward == pytest.approx(both + bias)
    assert count_verdicts(swapped).reward == pytest.approx(both - bias)
    assert position_bias(swapped, first) == pytest.approx(-bias)
    assert position_bias([2] * len(pairs), [-2] * len(pairs)) == 100
    found = position_bias_interval(first, swapped, seed=0)
    assert found.low <= bias + 1e-9
    assert found.high >= bias - 1e-9
    same = position_consistency_interval(first, swapped)
    assert same.low <= position_consistency(first, swapped) <= same.high


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
