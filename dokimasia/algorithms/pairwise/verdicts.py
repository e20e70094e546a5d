"""Verdict counts, rewards and win rates, with intervals, and with bounds for failed verdicts."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dokimasia.algorithms.statistics import ConfidenceInterval, bootstrap_interval, rate_interval
from dokimasia.algorithms.statistics.clusters import ClusterNames

MOST = 2
"""The strongest verdict in either direction."""


class RewardBounds(NamedTuple):
    """The lowest and highest reward that the failed verdicts leave possible, -100 to 100."""

    low: float
    high: float


class WinRateBounds(NamedTuple):
    """The lowest and highest win rate that the failed verdicts leave possible, in percent."""

    low: float
    high: float


class VerdictCounts(NamedTuple):
    """The verdicts on one model by kind, over both orders; higher reward and win rate are better.

    `failed` verdicts are not ties: they are excluded from the denominators, and `reward_bounds` accounts for them.
    Without a valid verdict, reward and win rate are None.

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
        """The number of verdicts except failed ones."""
        return self.much_better + self.better + self.tie + self.worse + self.much_worse

    @property
    def reward(self) -> float | None:
        """50 times the mean of the valid verdicts, +2 to -2 for the evaluated model: -100 to 100."""
        if self.n_valid:
            return 50 * self._total / self.n_valid
        return None

    @property
    def win_rate(self) -> float | None:
        """The percentage of valid verdicts that are better or much better; ties are not half wins."""
        if self.n_valid:
            return 100 * (self.much_better + self.better) / self.n_valid
        return None

    @property
    def reward_bounds(self) -> RewardBounds:
        """The reward if every failed verdict were much worse, or if every one were much better."""
        n = self.n_valid + self.failed
        if not n:
            return RewardBounds(-50.0 * MOST, 50.0 * MOST)
        return RewardBounds(50 * (self._total - MOST * self.failed) / n, 50 * (self._total + MOST * self.failed) / n)

    @property
    def win_rate_bounds(self) -> WinRateBounds:
        """The win rate if every failed verdict were lost, or if every one were won."""
        n, won = self.n_valid + self.failed, self.much_better + self.better
        if n:
            return WinRateBounds(100 * won / n, 100 * (won + self.failed) / n)
        return WinRateBounds(0.0, 100.0)

    @property
    def _total(self) -> int:
        return 2 * self.much_better + self.better - self.worse - 2 * self.much_worse


def count_verdicts(verdicts: Sequence[int], failed: int = 0) -> VerdictCounts:
    """Return the counts of verdicts, +2 to -2 for the evaluated model, over both orders, and of failed ones.

    Raises
    ------
    ValueError
        If a verdict is not a whole number within -2 to 2, or `failed` is negative.

    Examples
    --------
    >>> count_verdicts([2, 1, 0, 0, -1], failed=1)
    VerdictCounts(much_better=1, better=1, tie=2, worse=1, much_worse=0, failed=1)
    """
    check_verdicts(verdicts)
    if failed < 0:
        raise ValueError(f"{failed} verdicts cannot have failed")
    counts = Counter(verdicts)
    return VerdictCounts(counts[2], counts[1], counts[0], counts[-1], counts[-2], failed)


def reward_interval(verdicts: Sequence[int], *, clusters: ClusterNames | None = None, seed: int) -> ConfidenceInterval:
    """Return a confidence interval of the reward of valid verdicts, -100 to 100, resampling whole cases.

    Parameters
    ----------
    verdicts : sequence of int
        +2 to -2 for the evaluated model, both orders. Leave out failed verdicts; `reward_bounds` accounts for them.
    clusters : sequence of hashable, optional
        The case of each verdict (or what several cases share, such as an image): both orders of a case are one cluster.
        By default each verdict is its own cluster.
    seed
        As `bootstrap_interval`, whose refusals hold here too.

    Raises
    ------
    ValueError
        If there is no verdict, or one is not a whole number within -2 to 2.

    Examples
    --------
    >>> low, high = reward_interval([1, 1, 0, 0, -1, 0, 1, 1, 2, 1], clusters="aabbccddee", seed=0)
    >>> -100 < low < 30 < high < 100
    True
    """
    check_verdicts(verdicts)
    rewards = [50.0 * verdict for verdict in verdicts]
    return bootstrap_interval(rewards, clusters=clusters, seed=seed, bounds=(-50.0 * MOST, 50.0 * MOST))


def win_rate_interval(verdicts: Sequence[int], *, clusters: ClusterNames | None = None) -> ConfidenceInterval:
    """Return a confidence interval of the win rate of valid verdicts, in percent, by `rate_interval`.

    Parameters
    ----------
    verdicts, clusters
        As `reward_interval`.

    Raises
    ------
    ValueError
        As `reward_interval`.

    Examples
    --------
    >>> low, high = win_rate_interval([1, 1, 0, 0, -1, 0, 1, 1, 2, 1], clusters="aabbccddee")
    >>> 0 <= low < 60 < high <= 100
    True
    """
    check_verdicts(verdicts)
    return percent(rate_interval([verdict > 0 for verdict in verdicts], clusters=clusters))


def percent(interval: ConfidenceInterval) -> ConfidenceInterval:
    """Return an interval of a share, 0 to 1, in percent."""
    return ConfidenceInterval(100 * interval.low, 100 * interval.high, interval.reason)


def check_verdicts(verdicts: Sequence[int]) -> None:
    """Raise ValueError unless all verdicts are whole numbers within -2 to 2."""
    if not all(verdict in range(-MOST, MOST + 1) for verdict in verdicts):
        raise ValueError("a verdict lies between -2 and 2")
