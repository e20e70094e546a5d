"""Which kinds of error a judge misses more often than the others: a test of all dimensions, and the rule that names them."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.statistics import false_discovery_rate
from dokimasia.algorithms.statistics.clusters import number_clusters

DRAWS = 4_000
LEVEL = 0.05
_AT_ONCE = 2_000_000

Floats = NDArray[np.float64]


class SpotTest(NamedTuple):
    """What the test says of a dimension: p-value, one-sided, and adjusted over all dimensions that were tested together.

    `blind` says that it is called a blind spot: the adjusted p-value is at most 0.05.
    """

    p_value: float
    adjusted: float

    @property
    def blind(self) -> bool:
        """Whether the dimension is called a blind spot."""
        return self.adjusted <= LEVEL


def blind_spots(
    undetected: Sequence[float],
    dimensions: Sequence[str],
    clusters: Sequence[Hashable],
    *,
    seed: int,
    draws: int = DRAWS,
) -> dict[str, SpotTest]:
    """Return of each dimension whether its errors go undetected more often than the judge's other errors.

    Parameters
    ----------
    undetected : sequence of float
        Of each item, 0 to 1, how far its error went undetected. What failed has no place here.
    dimensions : sequence of str
        Each item's dimension of error.
    clusters : sequence of hashable
        What each item shares its image with.
    seed : int
        Of the draws; the order of the items does not matter to what is tested.
    draws : int
        How many exchanges are drawn.

    Returns
    -------
    dict of str to SpotTest
        By dimension, in order of appearance. Fewer than two dimensions cannot be compared: nothing then. p-values are
        adjusted over the dimensions (Benjamini and Hochberg), so that a judge that misses all kinds of error equally
        often is said to have any blind spot in at most 5 % of cases, and of the blind spots that are named at most 5 %
        are expected to be false.

    Notes
    -----
    A blind spot is a kind of error that is missed more often than the rest; a judge that misses everything has none,
    and its share over all dimensions says so. Under the null hypothesis it does not matter to what is missed which
    dimension an error is of. So outcomes may be exchanged among the items of one image, and whole images' outcomes
    between images with equal numbers of items, which keeps what an image makes easy or hard. The p-value is the share of
    exchanges, the one seen among them, in which at least as much of the dimension goes undetected.

    References
    ----------
    Phipson and Smyth, Permutation p-values should never be zero, 2010; Benjamini and Hochberg, Controlling the false
    discovery rate, 1995.

    Examples
    --------
    >>> missed = [1, 1, 1, 1, 1, 1] + [0, 0, 1, 0, 0, 0] * 2
    >>> found = blind_spots(missed, ["count"] * 6 + ["colour"] * 6 + ["place"] * 6, list(range(6)) * 3, seed=0)
    >>> [name for name, test in found.items() if test.blind]
    ['count']
    """
    names = list(dict.fromkeys(dimensions))
    if len(names) < 2:
        return {}
    values = np.asarray(undetected, dtype=np.float64)
    number = number_clusters(clusters, len(values))
    member = np.asarray([names.index(one) for one in dimensions])
    order = np.lexsort((values, member, number, np.bincount(number)[number]))
    values, member, number = values[order], member[order], number[order]
    holds = np.eye(len(names))[member]
    seen = values @ holds
    reached = np.ones(len(names))
    generator = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // len(values))
    for start in range(0, draws, step):
        drawn = _exchanged(generator, values, number, min(step, draws - start))
        reached += (drawn @ holds >= seen - 1e-9).sum(axis=0)
    p_values = [float(one) for one in reached / (1 + draws)]
    return {
        name: SpotTest(p, adjusted)
        for name, p, adjusted in zip(names, p_values, false_discovery_rate(p_values), strict=True)
    }


def _exchanged(generator: np.random.Generator, values: Floats, number: NDArray[np.intp], draws: int) -> Floats:
    """Return the values with outcomes exchanged within images and between images of equal size, a row a draw.

    Clusters stand together, smaller ones first.
    """
    sizes = np.bincount(number)
    drawn = np.empty((draws, len(values)))
    at = 0
    for size in np.unique(sizes):
        count = int((sizes == size).sum())
        end = at + count * int(size)
        blocks = np.broadcast_to(values[at:end].reshape(1, count, int(size)), (draws, count, int(size)))
        rows = np.argsort(generator.random((draws, count)), axis=1)
        moved = np.take_along_axis(blocks, rows[:, :, None], axis=1)
        drawn[:, at:end] = generator.permuted(moved, axis=2).reshape(draws, -1)
        at = end
    return drawn
