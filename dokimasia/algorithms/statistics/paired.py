"""Paired comparisons: whether differences between two measurements of the same items may be due to chance."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.statistics.clusters import ClusterNames, Floats, by_cluster

PERMUTATIONS = 20_000
EXACT_CLUSTERS = 14
_ROUNDING = 1e-9
_FLIPPED_AT_ONCE = 8
_MOST_CACHED = 16_000_000
"""Maximum number of batches of flips by permutations to cache: 48 MB."""

_MOST_COUNTED = 32_000
"""Maximum number of clusters whose flips are counted in 16 bits."""


class SignFlips(NamedTuple):
    """A sign-flip test: its two-sided p-value (0 to 1), the number of sign patterns, and whether those are all."""

    p_value: float
    patterns: int
    exact: bool


def sign_flip_test(
    differences: Sequence[float] | Floats,
    *,
    clusters: ClusterNames | None = None,
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
    clusters : sequence of hashable or array of int, optional
        The cluster of each pair (such as pairs that share an image), by name or number, whose signs flip together; by
        default each pair is its own cluster.
    seed : int
        Seed of the random patterns, if there are too many to enumerate. The order of the pairs does not matter.
    permutations : int
        The number of random patterns, at least 1.

    Returns
    -------
    SignFlips
        With at most 14 clusters that differ from zero, all patterns are enumerated and the p-value is exact; else the
        observed pattern counts as one of the drawn ones, so that the p-value is valid and never 0. If no cluster
        differs from zero, it is 1.

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
    totals = _few_kinds_flipped(sizes, limit, tolerance, seed, permutations)
    if totals is None:
        totals = _flip_totals(sizes, seed, permutations)
    return SignFlips((1 + _as_large(totals, limit)) / (1 + permutations), 1 + permutations, exact=False)


def _flip_totals(sizes: Floats, seed: int, permutations: int) -> Floats:
    """Return the total of the sizes for each random pattern of signs."""
    generator, totals = np.random.default_rng(seed), np.zeros(permutations)
    for start in range(0, len(sizes), _FLIPPED_AT_ONCE):
        batch = sizes[start : start + _FLIPPED_AT_ONCE]
        batch_totals = sign_patterns(len(batch)) @ batch
        totals += batch_totals[generator.integers(0, len(batch_totals), size=permutations, dtype=np.uint8)]
    return totals


def _few_kinds_flipped(sizes: Floats, limit: float, tolerance: float, seed: int, permutations: int) -> Floats | None:
    """Return the result of `_flip_totals` for ordered sizes of few kinds, to a tenth of the tolerance; None for many.

    No total is returned if none can reach the limit.

    Scores have few values, so that most clusters have the same difference as others. A total is then the sum of all
    sizes, minus twice each kind of size times the number of its clusters with flipped signs, and these numbers are
    counted once for all comparisons of a report.
    """
    count, slack = len(sizes), tolerance / (10 * len(sizes))
    ends = np.append(np.flatnonzero(np.diff(sizes) > slack) + 1, count)
    starts = np.insert(ends[:-1], 0, 0)
    batches = count // _FLIPPED_AT_ONCE
    most = 1 << max(0, batches - 1).bit_length()
    if 2 * len(ends) > batches or most * permutations > _MOST_CACHED or count > _MOST_COUNTED:
        return None
    if float((sizes[ends - 1] - sizes[starts]).max()) > slack:
        return None
    flips = _drawn_flips(seed, permutations, most)
    steps = np.diff(sizes[starts], append=0.0)
    furthest = flips.furthest[ends // _FLIPPED_AT_ONCE] + ends % _FLIPPED_AT_ONCE
    if float(np.abs(steps) @ furthest) + tolerance < limit:
        return np.zeros(0)
    totals: Floats = np.full(permutations, float(sizes.sum()))
    for end, step in zip(ends.tolist(), steps.tolist(), strict=True):
        batch, rest = divmod(end, _FLIPPED_AT_ONCE)
        flipped = flips.before[batch]
        if rest:
            drawn = flips.drawn(batch, count, permutations)
            flipped = flipped + np.bitwise_count(drawn & np.uint8((1 << rest) - 1))
        totals += (2 * step) * flipped
    return totals


class _Flips(NamedTuple):
    """Random signs in batches of eight: a bit for each, the flips before each batch, and the generator's states.

    `furthest` is the maximum distance from 0 of the sum of the signs before each batch.
    """

    bits: NDArray[np.uint8]
    before: NDArray[np.int16]
    states: list[Mapping[str, object]]
    furthest: NDArray[np.int64]

    def drawn(self, batch: int, count: int, permutations: int) -> NDArray[np.uint8]:
        """Return the bits of a batch among those of `count` clusters; the last batch may have fewer than eight."""
        size = min(_FLIPPED_AT_ONCE, count - batch * _FLIPPED_AT_ONCE)
        if size == _FLIPPED_AT_ONCE:
            return self.bits[batch]
        generator = np.random.default_rng(0)
        generator.bit_generator.state = self.states[batch]
        return generator.integers(0, 1 << size, size=permutations, dtype=np.uint8)


@lru_cache(maxsize=2)
def _drawn_flips(seed: int, permutations: int, batches: int) -> _Flips:
    """Return the signs drawn by `_flip_totals`; the last ones are cached, for the pairs of models in a report."""
    generator = np.random.default_rng(seed)
    bits = np.empty((batches, permutations), dtype=np.uint8)
    before = np.zeros((batches + 1, permutations), dtype=np.int16)
    states: list[Mapping[str, object]] = [generator.bit_generator.state]
    furthest = np.zeros(batches + 1, dtype=np.int64)
    for batch in range(batches):
        bits[batch] = generator.integers(0, 1 << _FLIPPED_AT_ONCE, size=permutations, dtype=np.uint8)
        np.add(before[batch], np.bitwise_count(bits[batch]), out=before[batch + 1])
        states.append(generator.bit_generator.state)
        furthest[batch + 1] = np.abs(_FLIPPED_AT_ONCE * (batch + 1) - 2 * before[batch + 1].astype(np.int32)).max()
    return _Flips(bits, before, states, furthest)


@lru_cache(maxsize=EXACT_CLUSTERS + 1)
def sign_patterns(count: int) -> Floats:
    """Return all patterns of this many signs, 1 and -1, one per row."""
    flipped = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1
    patterns = 1.0 - 2.0 * flipped.astype(np.float64)
    patterns.flags.writeable = False
    return patterns


def _as_large(totals: Floats, limit: float) -> int:
    """Return the number of totals that reach the limit on either side."""
    return int(np.count_nonzero(np.abs(totals) >= limit))
