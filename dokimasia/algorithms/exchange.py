"""Chance that respects samples: what belongs to a sample's criteria moves as a whole, between samples of equal size."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.intp]


class Exchange:
    """Exchanges between samples with equal numbers of criteria.

    Parameters
    ----------
    sample : array of int
        Each criterion's sample, in ascending order.

    Examples
    --------
    >>> exchange = Exchange(np.array([0, 0, 1, 1, 2]))
    >>> exchange.share
    0.8
    >>> sorted({tuple(source.tolist()) for source in exchange.draw(20, seed=0)})
    [(0, 1, 2, 3, 4), (2, 3, 0, 1, 4)]
    """

    def __init__(self, sample: Whole) -> None:
        self._size = len(sample)
        first = np.flatnonzero(np.diff(sample, prepend=-1))
        sizes = np.diff(first, append=self._size)
        alike: list[Whole] = [
            (first[sizes == size, None] + np.arange(size)).astype(np.intp) for size in np.unique(sizes)
        ]
        self._strata = [stratum for stratum in alike if len(stratum) > 1]

    @property
    def share(self) -> float:
        """The share of criteria that can be moved: those of samples whose size another sample has too."""
        return sum(stratum.size for stratum in self._strata) / self._size if self._size else 0.0

    def draw(self, permutations: int, *, seed: int) -> Iterator[Whole]:
        """Yield for each permutation the criterion that each criterion's leaf comes from; one array, filled anew."""
        generator = np.random.default_rng(seed)
        source = np.arange(self._size, dtype=np.intp)
        for _ in range(permutations):
            for stratum in self._strata:
                source[stratum] = generator.permutation(stratum)
            yield source
