"""Duels and agreement with people: verdicts counted, rewards, and how far a judge is from human ratings."""

from collections.abc import Sequence
from math import floor
from typing import NamedTuple

CLOSE = 1.0
"""A judge is consistent with a human rating that it misses by no more than this."""

_MOST = 2


class RewardBounds(NamedTuple):
    """The lowest and highest reward that the failed verdicts leave possible, -100 to 100."""

    low: float
    high: float


class VerdictCounts(NamedTuple):
    """How the verdicts on one model fell, over both orders; higher reward and win rate are better.

    `failed` verdicts are no ties: they leave the denominators, and `reward_bounds` says what they leave open. Without a
    valid verdict reward and win rate are None.

    References
    ----------
    Creation-MMBench, section 3.3 and table 2.

    Examples
    --------
    >>> counts = VerdictCounts(much_better=1, better=2, tie=1, worse=1, much_worse=0, failed=1)
    >>> counts.reward, counts.win_rate, counts.n_valid
    (30.0, 60.0, 5)
    >>> low, high = counts.reward_bounds
    >>> round(low, 6), round(high, 6)
    (8.333333, 41.666667)
    """

    much_better: int
    better: int
    tie: int
    worse: int
    much_worse: int
    failed: int = 0

    @property
    def n_valid(self) -> int:
        """How many verdicts there are without the failed ones."""
        return self.much_better + self.better + self.tie + self.worse + self.much_worse

    @property
    def reward(self) -> float | None:
        """50 times the mean of the valid verdicts, +2 to -2 for the evaluated model: -100 to 100."""
        return 50 * self._total / self.n_valid if self.n_valid else None

    @property
    def win_rate(self) -> float | None:
        """Percent of the valid verdicts that are better or much better; ties are not half wins."""
        return 100 * (self.much_better + self.better) / self.n_valid if self.n_valid else None

    @property
    def reward_bounds(self) -> RewardBounds:
        """The reward if every failed verdict were much worse, and if every one were much better."""
        n = self.n_valid + self.failed
        if not n:
            return RewardBounds(-50.0 * _MOST, 50.0 * _MOST)
        return RewardBounds(50 * (self._total - _MOST * self.failed) / n, 50 * (self._total + _MOST * self.failed) / n)

    @property
    def _total(self) -> int:
        return 2 * self.much_better + self.better - self.worse - 2 * self.much_worse


def mae(judged: Sequence[float], human: Sequence[float]) -> float:
    """Return the mean absolute difference of a judge from people, in the unit of the ratings; lower is better.

    Parameters
    ----------
    judged, human : sequence of float
        The judge's rating of each thing and the (mean) human one, in the same order. A thing that lacks one has no
        place here.

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
    _check_pairs(judged, human)
    return sum(abs(one - other) for one, other in zip(judged, human, strict=True)) / len(judged)


def consistency(judged: Sequence[float], human: Sequence[float]) -> float:
    """Return the share, 0 to 1, of things whose rating misses the human one by at most 1; higher is better.

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
    _check_pairs(judged, human)
    close = sum(abs(one - other) <= CLOSE + 1e-9 for one, other in zip(judged, human, strict=True))
    return close / len(judged)


def to_category(value: float, low: int, high: int) -> int:
    """Return the nearest whole rating of a scale; what lies halfway between two takes the one nearer to the middle.

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


def position_consistency(first: Sequence[int], swapped: Sequence[int]) -> float:
    """Return the share, 0 to 1, of pairs that both orders decide for the same side; higher is better.

    Parameters
    ----------
    first, swapped : sequence of int
        Each pair's verdict with the evaluated model shown first, and with places swapped, both as values for the
        evaluated model (+2 to -2). Win, tie and loss are told apart, by how much is not. A pair that lacks a valid
        verdict in one order has no place here.

    Raises
    ------
    ValueError
        If the lengths differ or are 0, or a verdict is not within -2 to 2.

    Examples
    --------
    >>> position_consistency([2, 1, 0, -1], [1, -1, 0, -2])
    0.75
    """
    _check_pairs(first, swapped)
    if not all(-_MOST <= verdict <= _MOST for verdict in (*first, *swapped)):
        raise ValueError("a verdict lies between -2 and 2")
    same = sum(_sign(one) == _sign(other) for one, other in zip(first, swapped, strict=True))
    return same / len(first)


def _sign(verdict: int) -> int:
    return (verdict > 0) - (verdict < 0)


def _check_pairs(one: Sequence[float], other: Sequence[float]) -> None:
    if len(one) != len(other) or not len(one):
        raise ValueError(f"the same things are rated twice, at least one: {len(one)} and {len(other)} ratings")
