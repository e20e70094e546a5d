"""How far two mappings of the same criteria agree: two judges, two versions, or a judge and a person."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.algorithms.statistics import rate_interval
from dokimasia.algorithms.trees.partitions import cluster_agreement, mapping_agreement
from dokimasia.methods.tree.node_scores import LEVEL, rounded
from dokimasia.runs.measures import coefficient_limits, limits

_LeafPair = tuple[str | None, str | None]

LISTED = 20


def mapping_comparison(
    first: Mapping[str, str | None], second: Mapping[str, str | None], cluster_of: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return how far two mappings agree as plain JSON.

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
    pairs = [(first[criterion], second[criterion]) for criterion in both]
    clusters = [(cluster_of or {}).get(criterion, criterion) for criterion in both]
    share = rate_interval([ours == theirs for ours, theirs in pairs], clusters=clusters, level=LEVEL)
    kappa = None
    if agreed.kappa is not None:
        ends = coefficient_limits(
            lambda numbers: _kappa_of([pairs[number] for number in numbers]), len(pairs), clusters
        )
        kappa = {"value": rounded(agreed.kappa), **ends}
    return {
        "n": agreed.n,
        "only_first": len(first.keys() - second.keys()),
        "only_second": len(second.keys() - first.keys()),
        "unplaced": {
            "first": sum(ours is None for ours, _ in pairs),
            "second": sum(theirs is None for _, theirs in pairs),
        },
        "hit_rate": {"share": rounded(agreed.hit_rate), **limits(share)},
        "by_category": _by_category(pairs, clusters),
        "kappa": kappa,
        "groups": {name: rounded(value) for name, value in groups._asdict().items() if name != "n"},
        "by_layer": {"categories": _agreement_above(pairs, 1), "parents": _agreement_above(pairs, 2)},
        "disagreements": _disagreements(pairs, both),
    }


def _agreement_above(pairs: Sequence[_LeafPair], layer: int) -> float:
    """Return the share of pairs of leaves that have the same ancestor in a layer."""
    return rounded(sum(_cut(ours, layer) == _cut(theirs, layer) for ours, theirs in pairs) / len(pairs))


def _by_category(pairs: Sequence[_LeafPair], clusters: Sequence[str]) -> dict[str, dict[str, Any]]:
    hits: dict[str, list[bool]] = {}
    hit_clusters: dict[str, list[str]] = {}
    for (ours, theirs), cluster in zip(pairs, clusters, strict=True):
        category = _cut(ours, 1)
        if category is not None:
            hits.setdefault(category, []).append(ours == theirs)
            hit_clusters.setdefault(category, []).append(cluster)
    by_category: dict[str, dict[str, Any]] = {}
    for category in sorted(hits):
        own = hits[category]
        interval = rate_interval(own, clusters=hit_clusters[category], level=LEVEL)
        by_category[category.strip("<>")] = {"n": len(own), "share": rounded(sum(own) / len(own)), **limits(interval)}
    return by_category


def _kappa_of(pairs: Sequence[_LeafPair]) -> float:
    """Return Cohen's kappa from counts alone, fast enough to be asked once a cluster; 1 where all is one leaf."""
    n = len(pairs)
    ours, theirs = (Counter(side) for side in zip(*pairs, strict=True))
    equal = sum(our_leaf == their_leaf for our_leaf, their_leaf in pairs)
    chance = sum(count * theirs[leaf] for leaf, count in ours.items()) / n**2
    return 1.0 if chance >= 1 else (equal / n - chance) / (1 - chance)


def _cut(leaf: str | None, layer: int) -> str | None:
    """Return the beginning of a path down to a layer."""
    return None if leaf is None else ">".join(leaf.split(">")[:layer])


def _disagreements(pairs: Sequence[_LeafPair], both: Sequence[str]) -> list[dict[str, Any]]:
    apart: dict[_LeafPair, list[str]] = {}
    for name, pair in zip(both, pairs, strict=True):
        if pair[0] != pair[1]:
            apart.setdefault(pair, []).append(name)
    ranked = sorted(apart.items(), key=lambda item: (-len(item[1]), item[1][0]))
    return [
        {"first": mine, "second": yours, "n": len(names), "example": names[0]}
        for (mine, yours), names in ranked[:LISTED]
    ]
