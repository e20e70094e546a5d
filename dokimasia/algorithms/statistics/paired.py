"""Paired comparisons: whether differences between two measurements of the same things may be chance."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.statistics.clusters import Floats, by_cluster

PERMUTATIONS = 20_000
EXACT_CLUSTERS = 14
_DRAWS_AT_ONCE = 2_000_000
_ROUNDING = 1e-9


class SignFlips(NamedTuple):
    """A sign-flip test: its two-sided p-value (0 to 1), how many sign patterns it rests on, and whether those are all."""

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
    """Return how often chance alone would bring a mean difference as large as this one, either way.

    Under the null hypothesis that the two measurements of a pair could as well be exchanged, each cluster's differences
    have either sign with equal probability, all of them together.

    Parameters
    ----------
    differences : sequence of float
        Second minus first, one a pair, in any unit.
    clusters : sequence of hashable, optional
        The cluster that each pair belongs to (pairs that share an image, say), whose signs flip as one; without it each
        pair is its own.
    seed : int
        Of the random patterns, where there are too many for all. The order of the pairs does not matter.
    permutations : int
        How many random patterns to draw, at least 1.

    Returns
    -------
    SignFlips
        With at most 14 clusters that differ from zero, all patterns are counted and the p-value is exact; else the
        observed pattern counts as one of the drawn ones, so that the p-value is valid and never 0. Where no cluster
        differs it is 1.

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
    sums = np.sort(by_cluster(values, clusters).sums)
    tolerance = _ROUNDING * float(np.abs(values).sum())
    sums = sums[np.abs(sums) > tolerance]
    observed = abs(float(sums.sum()))
    if len(sums) <= EXACT_CLUSTERS:
        patterns = 1 << len(sums)
        bits = (np.arange(patterns)[:, None] >> np.arange(len(sums))) & 1
        hits = _as_large(sums, bits, observed - tolerance)
        return SignFlips(hits / patterns, patterns, exact=True)
    generator = np.random.default_rng(seed)
    hits, step = 0, max(1, _DRAWS_AT_ONCE // len(sums))
    for start in range(0, permutations, step):
        bits = generator.integers(0, 2, size=(min(step, permutations - start), len(sums)), dtype=np.int8)
        hits += _as_large(sums, bits, observed - tolerance)
    return SignFlips((1 + hits) / (1 + permutations), 1 + permutations, exact=False)


def _as_large(sums: Floats, bits: NDArray[np.integer], limit: float) -> int:
    """Count the patterns (one a row, 1: flipped) whose total is at least the limit on either side."""
    totals = sums.sum() - 2 * (bits.astype(np.float64) @ sums)
    return int(np.count_nonzero(np.abs(totals) >= limit))
