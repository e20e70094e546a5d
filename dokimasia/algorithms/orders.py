"""What is done with rankings of several responses at once: orders to show them in, scores from places, effects of order."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np


def drawn_orders(n: int, count: int, *, seed: Sequence[int]) -> list[tuple[int, ...]]:
    """Return orders of n things: each second one is the one before it backwards, so that every two are seen both ways.

    Parameters
    ----------
    n : int
        How many things there are.
    count : int
        How many orders are drawn.
    seed : sequence of int
        Of the draws.

    Examples
    --------
    >>> first, back = drawn_orders(4, 2, seed=[0])
    >>> sorted(first), back == first[::-1]
    ([0, 1, 2, 3], True)
    """
    generator = np.random.default_rng(list(seed))
    orders: list[tuple[int, ...]] = []
    while len(orders) < count:
        drawn = tuple(int(index) for index in generator.permutation(n))
        orders += [drawn, drawn[::-1]]
    return orders[:count]


def beaten(ranks: Sequence[int]) -> list[float]:
    """Return of each thing the share of the others that it is ranked above, a tie counting half; 0 to 1, higher is better.

    Examples
    --------
    >>> beaten([1, 2, 2])
    [1.0, 0.25, 0.25]
    """
    if len(ranks) < 2:
        return [0.5] * len(ranks)
    others = len(ranks) - 1
    return [
        (sum(rank > place for rank in ranks) + (sum(rank == place for rank in ranks) - 1) / 2) / others
        for place in ranks
    ]


def earlier_preferred(ranks: Sequence[int]) -> list[int]:
    """Return of all pairs, ranks given in the order shown, 1 where the earlier one is ranked above, -1 below; ties are none.

    Examples
    --------
    >>> earlier_preferred([1, 2, 2])
    [1, 1]
    """
    return [1 if earlier < later else -1 for earlier, later in combinations(ranks, 2) if earlier != later]
