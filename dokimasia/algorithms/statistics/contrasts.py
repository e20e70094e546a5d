"""The interval of a difference of two estimates from their own intervals, which may be asymmetric."""

from math import hypot

from dokimasia.algorithms.statistics.shares import ConfidenceInterval


def contrast_interval(
    first: float, first_interval: ConfidenceInterval, second: float, second_interval: ConfidenceInterval
) -> ConfidenceInterval:
    """Return an interval of the first estimate minus the second, at the level of the two intervals.

    Parameters
    ----------
    first, second : float
        Two estimates in the same unit, from different data.
    first_interval, second_interval : ConfidenceInterval
        Each estimate's interval, which contains it; both at the same level.

    Returns
    -------
    ConfidenceInterval
        The distance of each limit from the difference is the square root of the sum of squares of the two corresponding
        distances. If the two estimates are positively correlated, the interval is wider than necessary.

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
        method=first_interval.method or second_interval.method,
    )
