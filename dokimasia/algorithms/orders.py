"""Rankings of several responses at once: display orders, scores from ranks, and effects of the order."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np


def drawn_orders(n: int, count: int, *, seed: Sequence[int]) -> list[tuple[int, ...]]:
    """Return random orders of n items; every second one reverses the previous one, so that each pair is shown both ways.

    Parameters
    ----------
    n : int
        The number of items.
    count : int
        The number of orders to draw.
    seed : sequence of int
        Seed of the draws.

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
    """Return, for each item, the share of others that it is ranked above (ties count half), 0 to 1, higher is better.

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
    """Return, for each untied pair, 1 if the item shown earlier ranks higher, else -1; ranks are in displayed order.

    Examples
    --------
    >>> earlier_preferred([1, 2, 2])
    [1, 1]
    """
    return [1 if earlier < later else -1 for earlier, later in combinations(ranks, 2) if earlier != later]
