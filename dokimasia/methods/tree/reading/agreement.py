"""How far two mappings of the same criteria agree: two judges, two versions, or a judge and a person."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.algorithms.statistics import rate_interval
from dokimasia.algorithms.trees.partitions import cluster_agreement, mapping_agreement
from dokimasia.methods.tree.reading.view import LEVEL, rounded
from dokimasia.runs.reading.rates import coefficient_limits, limits

_Leaves = tuple[str | None, str | None]

LISTED = 20


def mapping_comparison(
    first: Mapping[str, str | None], second: Mapping[str, str | None], cluster_of: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return how far two mappings agree, ready for JSON.

    Args:
        first: criterion to leaf, None for a criterion that was looked at and not placed.
        second: the same, of another judge, version or person.
        cluster_of: criterion to cluster, so that intervals respect that what is asked about one image belongs together.

    Returns:
        n (criteria in both), only_first, only_second, hit_rate {share, low, high} (the same leaf; 95 %), kappa {value,
        low, high} (Cohen's, None where it has no value), by_category (the hit rate {n, share, low, high} on what the first
        places in each category, as in ATOM's Figure 7), groups {adjusted_rand, adjusted_mutual_information,
        homogeneity, completeness} (whatever the leaves are called), by_layer {categories, parents} (share of the same
        category, of the same parent), and disagreements [{first, second, n, example}], the most frequent first.

    Raises:
        ValueError: they have no criterion in common.
    """
    agreed, groups = mapping_agreement(first, second), cluster_agreement(first, second)
    both = sorted(first.keys() & second.keys())
    pairs = [(first[one], second[one]) for one in both]
    clusters = [(cluster_of or {}).get(one, one) for one in both]
    share = rate_interval([one == other for one, other in pairs], clusters=clusters, level=LEVEL)
    return {
        "n": agreed.n,
        "only_first": len(first.keys() - second.keys()),
        "only_second": len(second.keys() - first.keys()),
        "unplaced": {
            "first": sum(one is None for one, _ in pairs),
            "second": sum(other is None for _, other in pairs),
        },
        "hit_rate": {"share": rounded(agreed.hit_rate), **limits(share)},
        "by_category": _by_category(pairs, clusters),
        "kappa": None
        if agreed.kappa is None
        else {
            "value": rounded(agreed.kappa),
            **coefficient_limits(lambda kept: _kappa_of([pairs[at] for at in kept]), len(pairs), clusters),
        },
        "groups": {name: rounded(value) for name, value in groups._asdict().items() if name != "n"},
        "by_layer": {
            name: rounded(sum(_cut(one, layer) == _cut(other, layer) for one, other in pairs) / len(pairs))
            for name, layer in (("categories", 1), ("parents", 2))
        },
        "disagreements": _disagreements(pairs, both),
    }


def _by_category(pairs: Sequence[_Leaves], clusters: Sequence[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for category in sorted({one for first, _ in pairs if (one := _cut(first, 1)) is not None}):
        here = [at for at, (first, _) in enumerate(pairs) if _cut(first, 1) == category]
        hits = [pairs[at][0] == pairs[at][1] for at in here]
        ends = rate_interval(hits, clusters=[clusters[at] for at in here], level=LEVEL)
        found[category.strip("<>")] = {
            "n": len(hits),
            "share": rounded(sum(hits) / len(hits)),
            **limits(ends),
        }
    return found


def _kappa_of(pairs: Sequence[_Leaves]) -> float:
    """Return Cohen's kappa from counts alone, fast enough to be asked once a cluster; 1 where all is one leaf."""
    n = len(pairs)
    ours, theirs = (Counter(side) for side in zip(*pairs, strict=True))
    equal = sum(one == other for one, other in pairs)
    chance = sum(count * theirs[leaf] for leaf, count in ours.items()) / n**2
    return 1.0 if chance >= 1 else (equal / n - chance) / (1 - chance)


def _cut(leaf: str | None, layer: int) -> str | None:
    """Return the beginning of a path down to a layer."""
    return None if leaf is None else ">".join(leaf.split(">")[:layer])


def _disagreements(pairs: Sequence[_Leaves], both: Sequence[str]) -> list[dict[str, Any]]:
    apart: dict[_Leaves, list[str]] = {}
    for name, pair in zip(both, pairs, strict=True):
        if pair[0] != pair[1]:
            apart.setdefault(pair, []).append(name)
    ranked = sorted(apart.items(), key=lambda item: (-len(item[1]), item[1][0]))
    return [
        {"first": mine, "second": yours, "n": len(names), "example": names[0]}
        for (mine, yours), names in ranked[:LISTED]
    ]
