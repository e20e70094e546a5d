"""A judge's agreement with people: the mean absolute error, and the share within one point."""

from collections.abc import Sequence
from math import floor

CLOSE = 1.0
"""The largest distance from a human rating that counts as consistent."""


def mae(judged: Sequence[float], human: Sequence[float]) -> float:
    """Return the mean absolute difference between a judge and people, in the unit of the ratings; lower is better.

    Parameters
    ----------
    judged, human : sequence of float
        The judge's rating of each item and the (mean) human one, in the same order. Leave out items that lack one.

    Raises
    ------
    ValueError
        If the lengths differ or are 0.

    References
    ----------
    Creation-MMBench, appendix F.2, equation 1.

    Examples
    --------
    >>> mae([2, 0, -1], [1, 0, 1])
    1.0
    """
    check_pairs(judged, human)
    return sum(abs(rating - truth) for rating, truth in zip(judged, human, strict=True)) / len(judged)


def consistency(judged: Sequence[float], human: Sequence[float]) -> float:
    """Return the share, 0 to 1, of items whose rating differs from the human one by at most 1; higher is better.

    Parameters
    ----------
    judged, human : sequence of float
        As `mae`.

    Raises
    ------
    ValueError
        As `mae`.

    References
    ----------
    Creation-MMBench, appendix F.2, equation 2.

    Examples
    --------
    >>> consistency([2, 0, -1, 1], [1, 0, 1, 1])
    0.75
    """
    check_pairs(judged, human)
    close = sum(abs(rating - truth) <= CLOSE + 1e-9 for rating, truth in zip(judged, human, strict=True))
    return close / len(judged)


def check_pairs(first: Sequence[float], second: Sequence[float]) -> None:
    """Raise ValueError unless both sequences have the same length and are not empty."""
    if len(first) != len(second) or not len(first):
        raise ValueError(f"the same things are rated twice, at least one: {len(first)} and {len(second)} ratings")


def to_category(value: float, low: int, high: int) -> int:
    """Return the nearest whole rating of a scale; a value halfway between two gets the one nearer to the middle.

    Parameters
    ----------
    value : float
        A rating, or the mean of several.
    low, high : int
        The ends of the scale.

    Raises
    ------
    ValueError
        If the value lies outside of the scale.

    Examples
    --------
    >>> [to_category(value, -2, 2) for value in (1.5, -0.5, 0.75, -1.75)]
    [1, 0, 1, -2]
    """
    if not low - 1e-9 <= value <= high + 1e-9:
        raise ValueError(f"{value:g} lies outside {low} to {high}")
    middle = (low + high) / 2
    inwards = 1e-9 if value < middle else -1e-9
    return min(high, max(low, floor(value + inwards + 0.5)))
