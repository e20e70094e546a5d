"""Paired comparisons: whether differences between two measurements of the same items may be chance."""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.statistics.clusters import Floats, by_cluster

PERMUTATIONS = 20_000
EXACT_CLUSTERS = 14
_ROUNDING = 1e-9
_FLIPPED_AT_ONCE = 8


class SignFlips(NamedTuple):
    """A sign-flip test: its two-sided p-value (0 to 1), the number of sign patterns, and whether those are all."""

    p_value: float
    patterns: int
    exact: bool


def sign_flip_test(
    differences: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    seed: int,
    permutations: int = PERMUTATIONS,
) -> SignFlips:
    """Return the two-sided p-value of a mean difference by flipping signs.

    Under the null hypothesis that the two measurements of a pair are exchangeable, the differences of each cluster have
    either sign with equal probability, all of them together.

    Parameters
    ----------
    differences : sequence of float
        Second minus first, one per pair, in any unit.
    clusters : sequence of hashable, optional
        The cluster of each pair (pairs that share an image, say), whose signs flip as one; without it each pair is its own
        cluster.
    seed : int
        Seed of the random patterns, if there are too many to count all. The order of the pairs does not matter.
    permutations : int
        The number of random patterns, at least 1.

    Returns
    -------
    SignFlips
        With at most 14 clusters that differ from zero, all patterns are counted and the p-value is exact; else the
        observed pattern counts as one of the drawn ones, so that the p-value is valid and never 0. If no cluster
        differs from zero it is 1.

    Raises
    ------
    ValueError
        If there is no difference, one is not finite, the lengths differ, or `permutations` is below 1.

    References
    ----------
    Fisher, The Design of Experiments, 1935, section 21; Phipson and Smyth, Permutation p-values should never be zero,
    2010, section 3 (the drawn patterns).

    Examples
    --------
    >>> sign_flip_test([1.0, 1.0, 1.0, 1.0], seed=0)
    SignFlips(p_value=0.125, patterns=16, exact=True)
    >>> sign_flip_test([1.0, 1.0, 1.0, 1.0], clusters="aabb", seed=0)
    SignFlips(p_value=0.5, patterns=4, exact=True)
    """
    values: Floats = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError("a test needs one sequence of finite differences, at least one")
    if permutations < 1:
        raise ValueError(f"a test needs at least one permutation: {permutations}")
    if clusters is not None and len(clusters) != len(values):
        raise ValueError(f"{len(values)} differences for {len(clusters)} cluster names")
    sums = by_cluster(values, clusters).sums
    tolerance = _ROUNDING * float(np.abs(values).sum())
    sizes = np.sort(np.abs(sums[np.abs(sums) > tolerance]))
    limit = abs(float(sums.sum())) - tolerance
    if len(sizes) <= EXACT_CLUSTERS:
        totals = sign_patterns(len(sizes)) @ sizes
        return SignFlips(_as_large(totals, limit) / len(totals), len(totals), exact=True)
    generator, totals = np.random.default_rng(seed), np.zeros(permutations)
    for start in range(0, len(sizes), _FLIPPED_AT_ONCE):
        batch = sizes[start : start + _FLIPPED_AT_ONCE]
        batch_totals = sign_patterns(len(batch)) @ batch
        totals += batch_totals[generator.integers(0, len(batch_totals), size=permutations, dtype=np.uint8)]
    return SignFlips((1 + _as_large(totals, limit)) / (1 + permutations), 1 + permutations, exact=False)


@lru_cache(maxsize=EXACT_CLUSTERS + 1)
def sign_patterns(count: int) -> Floats:
    """Return all patterns of so many signs, 1 and -1, one per row."""
    flipped = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1
    patterns = 1.0 - 2.0 * flipped.astype(np.float64)
    patterns.flags.writeable = False
    return patterns


def _as_large(totals: Floats, limit: float) -> int:
    """Return the number of totals that reach the limit on either side."""
    return int(np.count_nonzero(np.abs(totals) >= limit))
