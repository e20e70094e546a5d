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


class ImageCounts(NamedTuple):
    """On how many images errors of a dimension stand beside errors of another one, and on how many they stand alone."""

    mixed: int
    alone: int


class SpotTest(NamedTuple):
    """What the test says of a dimension: its p-value, one-sided, and that value adjusted for all that was looked at.

    `images` is on how many images it rests, and `alone` how many it leaves out, since they hold errors of this dimension
    and of no other. `blind` says whether the dimension is called a blind spot: the adjusted p-value is at most 0.05.
    """

    p_value: float
    adjusted: float
    images: int
    alone: int

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
        One-sided p-values by dimension, in order of appearance, of the dimensions that share an image with another one:
        nothing else can be compared. They are not adjusted yet for the many dimensions, and ways of judging, that are
        looked at.

    Notes
    -----
    A blind spot is a kind of error that is missed more often than the other kinds on the same images; a judge that misses
    everything has none, and its share over all dimensions says so. Under the null hypothesis it does not matter to what is
    missed on an image which dimension an error is of. So outcomes are exchanged among the items of one image, and never
    between images: a kind that stands mostly on hard images is missed more often for the images' sake, and is no blind
    spot. An image whose errors are of one dimension says nothing of it (`images_of`). The p-value is the share of
    exchanges, the one seen among them, in which at least as much of the dimension goes undetected.

    References
    ----------
    Phipson and Smyth, Permutation p-values should never be zero, 2010.

    Examples
    --------
    >>> missed = [1, 1, 1, 1, 1, 1] + [0, 0, 1, 0, 0, 0] * 2
    >>> p_values = blind_spots(missed, ["count"] * 6 + ["colour"] * 6 + ["place"] * 6, list(range(6)) * 3, seed=0)
    >>> [name for name, p in p_values.items() if p < 0.05]
    ['count']
    """
    number = number_clusters(clusters, len(undetected))
    kinds = _dimensions_by_cluster(dimensions, number)
    names = [name for name, counts in images_of(dimensions, clusters).items() if counts.mixed]
    if not names:
        return {}
    comparable = np.flatnonzero([len(kinds[cluster]) > 1 for cluster in number.tolist()])
    values, number = np.asarray(undetected, dtype=np.float64)[comparable], number[comparable]
    member = np.asarray([names.index(dimensions[at]) for at in comparable.tolist()])
    order = np.lexsort((values, member, number, np.bincount(number)[number]))
    values, member, number = values[order], member[order], number[order]
    observed = np.bincount(member, weights=values, minlength=len(names))
    sizes = np.bincount(number)[number]
    strata = [(sizes == size, size) for size in np.unique(sizes).tolist()]
    blocks = [(values[chosen].reshape(-1, size), member[chosen].reshape(-1, size)) for chosen, size in strata]
    exceeded = np.ones(len(names))
    generator = np.random.default_rng(seed)
    step, drawn = max(1, min(FEWEST, _AT_ONCE // len(values))), 0
    while drawn < draws and (drawn < FEWEST or (exceeded / (1 + drawn)).min() <= OPEN):
        batch = min(step, draws - drawn)
        sums = sum(_exchanged(generator, *block, len(names), batch) for block in blocks)
        exceeded += (sums >= observed - 1e-9).sum(axis=0)
        drawn += batch
    return {name: float(p) for name, p in zip(names, exceeded / (1 + drawn), strict=True)}


def images_of(dimensions: Sequence[str], clusters: Sequence[Hashable]) -> dict[str, ImageCounts]:
    """Return of each dimension, in order of appearance, how many images hold it with another dimension, and how many alone.

    Examples
    --------
    >>> images_of(["count", "colour", "count", "count"], ["a", "a", "b", "b"])
    {'count': ImageCounts(mixed=1, alone=1), 'colour': ImageCounts(mixed=1, alone=0)}
    """
    counts = dict.fromkeys(dimensions, ImageCounts(0, 0))
    for names in _dimensions_by_cluster(dimensions, number_clusters(clusters, len(dimensions))).values():
        for name in names:
            mixed, alone = counts[name]
            counts[name] = ImageCounts(mixed + (len(names) > 1), alone + (len(names) == 1))
    return counts


def _dimensions_by_cluster(dimensions: Sequence[str], number: NDArray[np.intp]) -> dict[int, set[str]]:
    by_cluster: dict[int, set[str]] = {}
    for cluster, dimension in zip(number.tolist(), dimensions, strict=True):
        by_cluster.setdefault(cluster, set()).add(dimension)
    return by_cluster


def _exchanged(
    generator: np.random.Generator, values: Floats, member: NDArray[np.intp], dimensions: int, draws: int
) -> Floats:
    """Return what goes undetected by dimension after exchanges within images of one size, a row each, a row a draw."""
    moved = generator.permuted(np.broadcast_to(values, (draws, *values.shape)), axis=2)
    one_hot = np.eye(dimensions)
    if (member == member[0]).all():
        return moved.sum(axis=1) @ one_hot[member[0]]
    return moved.reshape(draws, -1) @ one_hot[member.ravel()]
