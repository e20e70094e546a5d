"""The difference of two estimates from their own intervals, which near the end of a scale lean to one side."""

from math import hypot

from dokimasia.algorithms.statistics.shares import ConfidenceInterval


def contrast_interval(
    first: float, first_interval: ConfidenceInterval, second: float, second_interval: ConfidenceInterval
) -> ConfidenceInterval:
    """Return an interval of the first estimate minus the second, as sure as the intervals of both.

    Parameters
    ----------
    first, second : float
        Two estimates in the same unit, from different values.
    first_interval, second_interval : ConfidenceInterval
        Each estimate's own interval, which contains it; both of one level.

    Returns
    -------
    ConfidenceInterval
        Each limit is as far from the difference as the two distances that would move it there, put together like the
        sides of a right angle. Values that belong together across the two and go the same way make it wider than it
        need be.

    Raises
    ------
    ValueError
        If an interval does not contain its estimate.

    References
    ----------
    Zou and Donner, Construction of confidence limits about effect measures: a general approach, 2008, section 2.

    Examples
    --------
    >>> low, high = contrast_interval(40.0, ConfidenceInterval(37.0, 46.0), 60.0, ConfidenceInterval(52.0, 64.0))
    >>> round(low, 6), round(high, 6)
    (-25.0, -10.0)
    """
    for value, (low, high) in ((first, first_interval), (second, second_interval)):
        if not low <= value <= high:
            raise ValueError(f"the interval from {low} to {high} does not contain {value}")
    difference = first - second
    return ConfidenceInterval(
        difference - hypot(first - first_interval.low, second_interval.high - second),
        difference + hypot(first_interval.high - first, second - second_interval.low),
    )
