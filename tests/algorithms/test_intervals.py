"""Intervals of means: what their bounds do with values at the ends of a scale."""

import pytest

from dokimasia.algorithms.statistics import bootstrap_interval


def test_a_value_that_rounding_puts_outside_the_scale_lies_at_its_end() -> None:
    """A mean of hundreds may be 100.00000000000001; a value that is truly outside is refused."""
    values = [100.00000000000001, 0.0, 50.0, 100.0]
    rounded = bootstrap_interval(values, seed=0, bounds=(0.0, 100.0))
    assert rounded == bootstrap_interval([100.0, *values[1:]], seed=0, bounds=(0.0, 100.0))
    with pytest.raises(ValueError, match="not within the bounds"):
        bootstrap_interval([100.1, *values[1:]], seed=0, bounds=(0.0, 100.0))
