"""The interval of a difference follows from the intervals of both sides."""

import pytest

from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.algorithms.statistics.shares import ConfidenceInterval


def test_two_equal_sides_make_it_wider_by_the_root_of_two() -> None:
    """Symmetric intervals of one width give one that is symmetric around the difference."""
    low, high = contrast_interval(10.0, ConfidenceInterval(7.0, 13.0), 4.0, ConfidenceInterval(1.0, 7.0))
    assert low == pytest.approx(6.0 - 3.0 * 2**0.5)
    assert high == pytest.approx(6.0 + 3.0 * 2**0.5)


def test_a_side_that_is_known_exactly_adds_nothing() -> None:
    """With a point on one side the limits are those of the other."""
    low, high = contrast_interval(0.0, ConfidenceInterval(0.0, 52.0), 80.0, ConfidenceInterval(80.0, 80.0))
    assert (low, high) == (-80.0, -28.0)


def test_an_interval_that_misses_its_estimate_is_refused() -> None:
    """What does not contain its own estimate is an error of the caller's."""
    with pytest.raises(ValueError, match="does not contain"):
        contrast_interval(5.0, ConfidenceInterval(6.0, 7.0), 0.0, ConfidenceInterval(0.0, 0.0))
