"""What one seed of a calibration yields: intervals beside their planted truth, p-values beside what they should find."""

from collections.abc import Mapping
from typing import NamedTuple

from dokimasia.algorithms.statistics import ConfidenceInterval
from dokimasia.report.fields import Limited


class Trial(NamedTuple):
    """An interval drawn at one seed, None where the figure had none to print, and the planted value of this seed's things.

    The truth that intervals are compared with is the mean of `planted` over all seeds: the value in the population that
    every seed draws its things from.
    """

    low: float | None
    high: float | None
    planted: float


class Seed(NamedTuple):
    """All that one family yields at one seed: intervals and p-values by name."""

    intervals: Mapping[str, Trial]
    p_values: Mapping[str, float]


def trial(interval: ConfidenceInterval | Limited | Mapping[str, float | None] | None, planted: float) -> Trial:
    """Return a trial from an interval, or from a printed figure with `low` and `high`; None where none is given."""
    if interval is None:
        return Trial(None, None, planted)
    if isinstance(interval, ConfidenceInterval):
        return Trial(None, None, planted) if interval.reason else Trial(interval.low, interval.high, planted)
    if isinstance(interval, Mapping):
        return Trial(interval["low"], interval["high"], planted)
    return Trial(interval.low, interval.high, planted)


def tested(p_value: float | None) -> float:
    """Return a p-value of a world in which there always is one.

    Raises:
        ValueError: there is none.
    """
    if p_value is None:
        raise ValueError("a calibrated world has exchanges enough for a p-value")
    return p_value
