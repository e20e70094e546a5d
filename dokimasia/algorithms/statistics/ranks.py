"""Ranks that hold simultaneously for several names, by tests of every pair with the same sign flips."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.statistics.clusters import Floats
from dokimasia.algorithms.statistics.paired import sign_patterns

PATTERNS = 10_000
EXACT_CLUSTERS = 12
_AT_ONCE = 256
_ROUNDING = 1e-9


class Ranking(NamedTuple):
    """Adjusted p-values of pairs (0 to 1), and the best and worst possible rank of each name, from 1."""

    p_values: Mapping[tuple[str, str], float]
    ranks: Mapping[str, tuple[int, int]]


def simultaneous_ranks(
    names: Sequence[str], pairs: Sequence[tuple[str, str]], differences: Floats, *, seed: int, level: float = 0.05
) -> Ranking:
    """Return the ranks of several names that hold simultaneously, by a sign-flip test of every pair.

    The statistic of a pair is the sum of its differences over the root of the sum of their squares. A p-value is the share
    of sign patterns in which the largest statistic of all pairs is at least as large (max-T), so that the error rate is that
    of the whole family. All differences of a cluster flip together, in all pairs, which keeps the dependence of pairs.

    Parameters
    ----------
    names : sequence of str
        The ranked names; the highest value has rank 1.
    pairs : sequence of (str, str)
        The compared pairs of names; the order of other pairs stays open.
    differences : array of float, clusters by pairs
        The sum of the differences, second minus first, of each cluster in each pair.
    seed : int
        Seed of the random sign patterns, if there are too many to enumerate.
    level : float
        Maximum probability that any pair is ordered wrongly; 0 to 1.

    Returns
    -------
    Ranking
        With at most 12 clusters, all sign patterns are enumerated; else the observed pattern counts as one of 10,001.

    References
    ----------
    Westfall and Young, Resampling-based multiple testing, 1993, section 2.3 (the largest statistic); Mogstad, Romano,
    Shaikh and Wilhelm, Inference for ranks, 2024, section 3 (ranks from the signs of all pairs).

    Examples
    --------
    >>> simultaneous_ranks(["a", "b"], [("a", "b")], np.ones((10, 1)), seed=0).ranks
    {'a': (2, 2), 'b': (1, 1)}
    """
    sizes = np.sqrt((differences**2).sum(axis=0))
    scaled = differences / np.where(sizes > 0, sizes, 1.0)
    totals = scaled.sum(axis=0)
    reached, patterns = _count_reaching(scaled, np.abs(totals) - _ROUNDING, seed)
    p_values = {
        pair: float(count) / patterns if size > 0 else 1.0
        for pair, count, size in zip(pairs, reached, sizes, strict=True)
    }
    best, worst = dict.fromkeys(names, 1), dict.fromkeys(names, len(names))
    for (first, second), total in zip(pairs, totals, strict=True):
        if p_values[first, second] > level:
            continue
        higher, lower = (second, first) if total > 0 else (first, second)
        best[lower] += 1
        worst[higher] -= 1
    return Ranking(p_values, {name: (best[name], worst[name]) for name in names})


def _count_reaching(scaled: Floats, limits: Floats, seed: int) -> tuple[Floats, int]:
    """Return the number of sign patterns whose largest statistic reaches each limit, and the number of patterns."""
    clusters, pairs = scaled.shape
    if not pairs:
        return np.zeros(0), 1
    counts = np.zeros(pairs)
    if clusters <= EXACT_CLUSTERS:
        signs = sign_patterns(clusters)
        largest = np.abs(signs @ scaled).max(axis=1)
        return (largest[:, None] >= limits).sum(axis=0), len(signs)
    generator = np.random.default_rng(seed)
    for start in range(0, PATTERNS, _AT_ONCE):
        number = min(_AT_ONCE, PATTERNS - start)
        signs = 1.0 - 2.0 * generator.integers(0, 2, size=(number, clusters), dtype=np.int8)
        largest = np.abs(signs @ scaled).max(axis=1)
        counts += (largest[:, None] >= limits).sum(axis=0)
    return counts + 1, PATTERNS + 1
