"""Permutations that respect clusters: the leaves of a cluster move as a whole, between clusters of equal size."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from math import exp, inf, lgamma

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.statistics.clusters import number_clusters

Whole = NDArray[np.intp]
Source = NDArray[np.intp] | NDArray[np.uint16]

FEWEST_EXCHANGES = 200
"""Minimum number of distinct exchanges for a p-value."""

_MOST_CACHED = 8_000_000
"""Maximum number of positions of draws to cache for the next test: at most 16 MB each."""


class Exchange:
    """Criteria in an order that makes exchanges between clusters with equal numbers of them cheap.

    Parameters
    ----------
    clusters : sequence of hashable
        Each criterion's cluster, such as its image.

    Attributes
    ----------
    order : array of int
        The positions of the criteria, smallest clusters first; the criteria of a cluster are adjacent, in the order given.
    cluster : array of int
        The cluster of each criterion in that order, numbered from 0.
    start : array of int
        The position in that order at which each criterion's cluster begins.

    Examples
    --------
    >>> exchange = Exchange(["b", "a", "c", "b", "c"])
    >>> exchange.order.tolist(), exchange.start.tolist(), exchange.share
    ([1, 0, 3, 2, 4], [0, 1, 1, 3, 3], 0.8)
    >>> sorted({tuple(source.tolist()) for source in exchange.draw(20, seed=0)})
    [(0, 1, 2, 3, 4), (0, 3, 4, 1, 2)]
    """

    def __init__(self, clusters: Sequence[Hashable]) -> None:
        number = number_clusters(clusters, len(clusters))
        count = np.bincount(number).astype(np.intp)
        self.order: Whole = np.lexsort((number, count[number])).astype(np.intp)
        ordered = number[self.order]
        first = np.flatnonzero(np.diff(ordered, prepend=-1)).astype(np.intp)
        sizes = np.diff(first, append=len(ordered)).astype(np.intp)
        self.cluster: Whole = np.repeat(np.arange(len(sizes), dtype=np.intp), sizes)
        self.start: Whole = first[self.cluster]
        strata = (first[sizes == size, None] + np.arange(size, dtype=np.intp) for size in np.unique(sizes).tolist())
        self._strata: list[Whole] = [stratum for stratum in strata if len(stratum) > 1]

    @property
    def share(self) -> float:
        """The share of criteria that can move: those of clusters whose size also occurs in another cluster."""
        if len(self.order):
            return sum(stratum.size for stratum in self._strata) / len(self.order)
        return 0.0

    def distinct(self, leaf: Whole) -> float:
        """Return the number of distinct ways in which exchanges can assign the leaves, including the observed one.

        Parameters
        ----------
        leaf : array of int
            The leaf of each criterion, in the order.

        Examples
        --------
        >>> exchange = Exchange(["a", "b", "c", "c"])
        >>> exchange.distinct(np.array([0, 1, 0, 1])), exchange.distinct(np.array([0, 0, 0, 1]))
        (2, 1)
        """
        ways = 0.0
        for stratum in self._strata:
            alike = Counter(map(bytes, leaf[stratum])).values()
            ways += lgamma(len(stratum) + 1) - sum(lgamma(count + 1) for count in alike)
        if ways < 30:
            return round(exp(ways))
        return inf

    def untested(self, leaf: Whole) -> str:
        """Return why there is no p-value, in words for readers; empty if there are enough exchanges."""
        ways = self.distinct(leaf)
        if ways >= FEWEST_EXCHANGES:
            return ""
        return (
            f"no p-value: whole images with equal numbers of criteria can exchange their leaves in {ways:,} "
            f"{'way' if ways == 1 else 'different ways'} (at least {FEWEST_EXCHANGES} are needed)"
        )

    def draw(self, permutations: int, *, seed: int) -> Iterator[Source]:
        """Yield, for each permutation, the source of each criterion's leaf, in the order; do not modify the arrays."""
        shapes = tuple((int(stratum[0, 0]), *stratum.shape) for stratum in self._strata)
        cacheable = permutations * len(self.order) <= _MOST_CACHED and len(self.order) <= np.iinfo(np.uint16).max
        draw = _cached if cacheable else _draw_exchanges
        yield from draw(len(self.order), shapes, permutations, seed)


def _draw_exchanges(
    length: int, strata: tuple[tuple[int, int, int], ...], permutations: int, seed: int
) -> Iterator[Whole]:
    """Yield exchanges within strata, given as first position, number of clusters and their size; the array is reused."""
    generator = np.random.default_rng(seed)
    source = np.arange(length, dtype=np.intp)
    views = [source[first : first + count * size].reshape(count, size) for first, count, size in strata]
    moves = [(stratum.copy().take, len(stratum), stratum) for stratum in views]
    for _ in range(permutations):
        for take, count, place in moves:
            take(generator.permutation(count), axis=0, out=place, mode="clip")
        yield source


@lru_cache(maxsize=4)
def _cached(length: int, strata: tuple[tuple[int, int, int], ...], permutations: int, seed: int) -> NDArray[np.uint16]:
    """Return the result of `_draw_exchanges`, one per row; cached, since models on the same images share exchanges."""
    draws = np.empty((permutations, length), dtype=np.uint16)
    for at, source in enumerate(_draw_exchanges(length, strata, permutations, seed)):
        draws[at] = source
    draws.flags.writeable = False
    return draws
