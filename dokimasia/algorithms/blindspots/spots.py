"""Kinds of error that a judge misses more often than others: a test of all dimensions, and the rule for blind spots."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.statistics.clusters import Floats, Positions, number_clusters

DRAWS, FEWEST = 10_000, 1_000
OPEN = 0.08
"""If every p-value exceeds this after the minimum number of draws, none will fall to 0.05, and drawing stops."""

LEVEL = 0.05
_AT_ONCE = 2_000_000

Floats = Floats


class ImageCounts(NamedTuple):
    """The number of images with errors of a dimension and of another one, and of images with this dimension alone."""

    mixed: int
    alone: int


class SpotTest(NamedTuple):
    """The test of a dimension: its one-sided p-value, and that value adjusted for all tests of the judge.

    `images` is the number of images it rests on, and `alone` the number it leaves out because they hold errors of this
    dimension only. `blind` says whether the dimension is called a blind spot: the adjusted p-value is at most 0.05.
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
    """Return for each dimension how likely chance alone would leave as many of its errors undetected.

    Parameters
    ----------
    undetected : sequence of float
        For each item, 0 to 1, the degree to which its error went undetected. Leave out failed judgements.
    dimensions : sequence of str
        The error dimension of each item.
    clusters : sequence of hashable
        The cluster (image) of each item.
    seed : int
        Seed of the draws; the order of the items does not matter.
    draws : int
        Number of permutations to draw; a thousand are enough if they show that no p-value is small.

    Returns
    -------
    dict of str to float
        One-sided p-values by dimension, in order of appearance, of the dimensions that share an image with another one:
        the others cannot be compared. The p-values are not yet adjusted for the number of dimensions and evaluators.

    Notes
    -----
    A blind spot is a kind of error that is missed more often than the other kinds on the same images; a judge that
    misses everything has none, as its share over all dimensions shows. Under the null hypothesis the dimension of an
    error does not influence whether it is missed on its image. So outcomes are permuted among the items of one image,
    and never between images: a kind that occurs mostly on hard images is missed more often because of the images, and
    is not a blind spot. An image whose errors are all of one dimension gives no evidence about it (`images_of`). The
    p-value is the share of permutations, the observed one included, in which at least as much of the dimension goes
    undetected.

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
        sums = sum(_permuted_totals(generator, *block, len(names), batch) for block in blocks)
        exceeded += (sums >= observed - 1e-9).sum(axis=0)
        drawn += batch
    return {name: float(p) for name, p in zip(names, exceeded / (1 + drawn), strict=True)}


def images_of(dimensions: Sequence[str], clusters: Sequence[Hashable]) -> dict[str, ImageCounts]:
    """Return, for each dimension in order of appearance, the numbers of images with and without another dimension.

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


def _dimensions_by_cluster(dimensions: Sequence[str], number: Positions) -> dict[int, set[str]]:
    by_cluster: dict[int, set[str]] = {}
    for cluster, dimension in zip(number.tolist(), dimensions, strict=True):
        by_cluster.setdefault(cluster, set()).add(dimension)
    return by_cluster


def _permuted_totals(
    generator: np.random.Generator, values: Floats, member: Positions, dimensions: int, draws: int
) -> Floats:
    """Return what goes undetected by dimension after permuting within images of one size, one row per draw."""
    moved = generator.permuted(np.broadcast_to(values, (draws, *values.shape)), axis=2)
    one_hot = np.eye(dimensions)
    if (member == member[0]).all():
        return moved.sum(axis=1) @ one_hot[member[0]]
    return moved.reshape(draws, -1) @ one_hot[member.ravel()]
