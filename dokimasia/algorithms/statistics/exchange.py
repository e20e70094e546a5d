"""Chance that respects samples: what belongs to a sample's criteria moves as a whole, between samples of equal size."""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.statistics.clusters import number_clusters

Whole = NDArray[np.intp]


class Exchange:
    """Criteria in an order in which exchanges between samples with equal numbers of them are cheap.

    Parameters
    ----------
    samples : sequence of hashable
        Each criterion's sample.

    Attributes
    ----------
    order : array of int
        The criteria's positions, smallest samples first; a sample's criteria stand together, in the order given.
    sample : array of int
        The sample of each criterion in that order, numbered from 0.
    start : array of int
        The place in that order at which each criterion's sample begins.

    Examples
    --------
    >>> exchange = Exchange(["b", "a", "c", "b", "c"])
    >>> exchange.order.tolist(), exchange.start.tolist(), exchange.share
    ([1, 0, 3, 2, 4], [0, 1, 1, 3, 3], 0.8)
    >>> sorted({tuple(source.tolist()) for source in exchange.draw(20, seed=0)})
    [(0, 1, 2, 3, 4), (0, 3, 4, 1, 2)]
    """

    def __init__(self, samples: Sequence[Hashable]) -> None:
        number = number_clusters(samples, len(samples))
        count = np.bincount(number).astype(np.intp)
        self.order: Whole = np.lexsort((number, count[number])).astype(np.intp)
        ordered = number[self.order]
        first = np.flatnonzero(np.diff(ordered, prepend=-1)).astype(np.intp)
        sizes = np.diff(first, append=len(ordered)).astype(np.intp)
        self.sample: Whole = np.repeat(np.arange(len(sizes), dtype=np.intp), sizes)
        self.start: Whole = first[self.sample]
        strata = (first[sizes == size, None] + np.arange(size, dtype=np.intp) for size in np.unique(sizes).tolist())
        self._strata: list[Whole] = [stratum for stratum in strata if len(stratum) > 1]

    @property
    def share(self) -> float:
        """The share of criteria that can be moved: those of samples whose size another sample has too."""
        return sum(stratum.size for stratum in self._strata) / len(self.order) if len(self.order) else 0.0

    def draw(self, permutations: int, *, seed: int) -> Iterator[Whole]:
        """Yield for each permutation where each criterion's leaf comes from, in the order; one array, filled anew."""
        generator = np.random.default_rng(seed)
        source = np.arange(len(self.order), dtype=np.intp)
        places = [source[one[0, 0] : one[0, 0] + one.size].reshape(one.shape) for one in self._strata]
        for _ in range(permutations):
            for stratum, place in zip(self._strata, places, strict=True):
                np.take(stratum, generator.permutation(len(stratum)), axis=0, out=place, mode="clip")
            yield source
