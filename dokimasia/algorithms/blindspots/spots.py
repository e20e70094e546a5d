"""Which kinds of error a judge misses more often than the others: a test of all dimensions, and the rule that names them."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.statistics.clusters import number_clusters

DRAWS, FEWEST = 10_000, 1_000
OPEN = 0.08
"""Where every p-value lies above this after the fewest draws, none can be at most 0.05, and no more are made."""

LEVEL = 0.05
_AT_ONCE = 2_000_000

Floats = NDArray[np.float64]


class SpotTest(NamedTuple):
    """What the test says of a dimension: its p-value, one-sided, and that value adjusted for all that was looked at.

    `blind` says whether the dimension is called a blind spot: the adjusted p-value is at most 0.05.
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
) -> dict[str, float]:
    """Return of each dimension how likely chance alone would let as many of its errors go undetected, were it like the rest.

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
        How many exchanges are drawn; a thousand where these show that no p-value is small.

    Returns
    -------
    dict of str to float
        One-sided p-values by dimension, in order of appearance. Fewer than two dimensions cannot be compared: nothing
        then. They are not adjusted yet for the many dimensions, and ways of judging, that are looked at.

    Notes
    -----
    A blind spot is a kind of error that is missed more often than the rest; a judge that misses everything has none,
    and its share over all dimensions says so. Under the null hypothesis it does not matter to what is missed which
    dimension an error is of. So outcomes may be exchanged among the items of one image, and whole images' outcomes
    between images with equal numbers of items, which keeps what an image makes easy or hard. The p-value is the share of
    exchanges, the one seen among them, in which at least as much of the dimension goes undetected.

    References
    ----------
    Phipson and Smyth, Permutation p-values should never be zero, 2010.

    Examples
    --------
    >>> missed = [1, 1, 1, 1, 1, 1] + [0, 0, 1, 0, 0, 0] * 2
    >>> found = blind_spots(missed, ["count"] * 6 + ["colour"] * 6 + ["place"] * 6, list(range(6)) * 3, seed=0)
    >>> [name for name, p in found.items() if p < 0.05]
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
    seen = np.bincount(member, weights=values, minlength=len(names))
    sizes = np.bincount(number)
    strata = [sizes[number] == size for size in np.unique(sizes)]
    blocks = [
        (values[own].reshape(-1, size), member[own].reshape(-1, size))
        for own, size in zip(strata, np.unique(sizes).tolist(), strict=True)
    ]
    reached = np.ones(len(names))
    generator = np.random.default_rng(seed)
    step, made = max(1, min(FEWEST, _AT_ONCE // len(values))), 0
    while made < draws and (made < FEWEST or (reached / (1 + made)).min() <= OPEN):
        now = min(step, draws - made)
        sums = sum(_exchanged(generator, *block, len(names), now) for block in blocks)
        reached += (sums >= seen - 1e-9).sum(axis=0)
        made += now
    return {name: float(p) for name, p in zip(names, reached / (1 + made), strict=True)}


def _exchanged(
    generator: np.random.Generator, values: Floats, member: NDArray[np.intp], dimensions: int, draws: int
) -> Floats:
    """Return what goes undetected by dimension after exchanges within images and between them, a row a draw.

    Values and dimensions are those of images of one size, a row each. Where all of these have the same dimensions, it makes
    no difference to the sums which image outcomes come from.
    """
    count, size = values.shape
    blocks = np.broadcast_to(values, (draws, count, size))
    holds = np.eye(dimensions)
    if (member == member[0]).all():
        return generator.permuted(blocks, axis=2).sum(axis=1) @ holds[member[0]]
    rows = np.argsort(generator.random((draws, count)), axis=1)
    moved = np.take_along_axis(blocks, rows[:, :, None], axis=1)
    return generator.permuted(moved, axis=2).reshape(draws, -1) @ holds[member.ravel()]
