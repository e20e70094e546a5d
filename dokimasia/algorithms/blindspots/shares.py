"""Shares of items, with failed judgements and pairs judged in two orders, and their intervals."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from dokimasia.algorithms.statistics import ConfidenceInterval, rate_interval
from dokimasia.algorithms.statistics.clusters import Bounds


class ItemShare(NamedTuple):
    """A share of items, 0 to 1, over those whose judgements did not fail.

    Attributes
    ----------
    n, n_scored : int
        The number of items, and of those with a judgement.
    share : float or None
        Over `n_scored`; for pairs the mean over both orders. None if no item has a judgement.
    interval : ConfidenceInterval or None
        95 %, clustered by image (`rate_interval`).
    bounds : tuple of float or None
        The share over all n if none, or all, of the failed ones counted. None without an item.
    """

    n: int
    n_scored: int
    share: float | None
    interval: ConfidenceInterval | None
    bounds: Bounds | None

    @property
    def coverage(self) -> float | None:
        """The share of items with a judgement; None without items."""
        if self.n:
            return self.n_scored / self.n
        return None


def item_share(values: Sequence[tuple[float | None, Hashable]]) -> ItemShare:
    """Return the share of items for which something is true.

    Parameters
    ----------
    values : sequence of tuple
        For each item 0, 1, or 1/2 if its two orders differ, None if the judgement failed; and its cluster. If any value is
        1/2, each item counts as two trials of its cluster, one per order.

    Raises
    ------
    ValueError
        If a value is not one of these.

    Examples
    --------
    >>> estimate = item_share([(1, "a"), (0, "b"), (None, "c"), (0.5, "d")])
    >>> estimate.n, estimate.n_scored, estimate.share, estimate.bounds
    (4, 3, 0.5, (0.375, 0.625))
    """
    scored = [(value, cluster) for value, cluster in values if value is not None]
    if not {value for value, _ in scored} <= {0, 0.5, 1}:
        raise ValueError("an item counts 0, 1/2 or 1")
    n, total = len(values), sum(value for value, _ in scored)
    bounds = (total / n, (total + n - len(scored)) / n) if n else None
    if not scored:
        return ItemShare(n, 0, None, None, bounds)
    if any(value == 0.5 for value, _ in scored):
        trials = [(hit, cluster) for value, cluster in scored for hit in (value > 0, value == 1)]
    else:
        trials = [(value == 1, cluster) for value, cluster in scored]
    interval = rate_interval([hit for hit, _ in trials], clusters=[cluster for _, cluster in trials])
    return ItemShare(n, len(scored), total / len(scored), interval, bounds)
