"""Agreement of two mappings of the same criteria: of two judges, two versions, or a judge and a person."""

from collections import Counter
from collections.abc import Mapping, Sequence

from dokimasia.algorithms.statistics import rate_interval
from dokimasia.algorithms.trees.partitions import cluster_agreement, mapping_agreement
from dokimasia.methods.tree.node_scores import LEVEL, rounded
from dokimasia.runs.measures import coefficient_limits, limits

_LeafPair = tuple[str | None, str | None]

LISTED = 20


def mapping_comparison(
    first: Mapping[str, str | None], second: Mapping[str, str | None], cluster_of: Mapping[str, str] | None = None
) -> dict[str, object]:
    """Return the agreement of two mappings as plain JSON.

    Args:
        first: leaf of each criterion; None for a criterion that could not be placed.
        second: the same, from another judge, version or person.
        cluster_of: cluster of each criterion; criteria about one image belong to one cluster.

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
    shared = sorted(first.keys() & second.keys())
    pairs = [(first[criterion], second[criterion]) for criterion in shared]
    clusters = [(cluster_of or {}).get(criterion, criterion) for criterion in shared]
    share = rate_interval(
        [first_leaf == second_leaf for first_leaf, second_leaf in pairs], clusters=clusters, level=LEVEL
    )
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
            "first": sum(first_leaf is None for first_leaf, _ in pairs),
            "second": sum(second_leaf is None for _, second_leaf in pairs),
        },
        "hit_rate": {"share": rounded(agreed.hit_rate), **limits(share)},
        "by_category": _by_category(pairs, clusters),
        "kappa": kappa,
        "groups": {name: rounded(value) for name, value in groups._asdict().items() if name != "n"},
        "by_layer": {"categories": _agreement_above(pairs, 1), "parents": _agreement_above(pairs, 2)},
        "disagreements": _disagreements(pairs, shared),
    }


def _agreement_above(pairs: Sequence[_LeafPair], layer: int) -> float:
    """Return the share of pairs of leaves that have the same ancestor in a layer."""
    return rounded(
        sum(_ancestor(first_leaf, layer) == _ancestor(second_leaf, layer) for first_leaf, second_leaf in pairs)
        / len(pairs)
    )


def _by_category(pairs: Sequence[_LeafPair], clusters: Sequence[str]) -> dict[str, dict[str, object]]:
    hits: dict[str, list[bool]] = {}
    hit_clusters: dict[str, list[str]] = {}
    for (first_leaf, second_leaf), cluster in zip(pairs, clusters, strict=True):
        category = _ancestor(first_leaf, 1)
        if category is not None:
            hits.setdefault(category, []).append(first_leaf == second_leaf)
            hit_clusters.setdefault(category, []).append(cluster)
    by_category: dict[str, dict[str, object]] = {}
    for category in sorted(hits):
        category_hits = hits[category]
        interval = rate_interval(category_hits, clusters=hit_clusters[category], level=LEVEL)
        by_category[category.strip("<>")] = {
            "n": len(category_hits),
            "share": rounded(sum(category_hits) / len(category_hits)),
            **limits(interval),
        }
    return by_category


def _kappa_of(pairs: Sequence[_LeafPair]) -> float:
    """Return Cohen's kappa; 1 if all criteria are on one leaf. Uses counts only: it is called once per cluster."""
    n = len(pairs)
    first_counts, second_counts = (Counter(side) for side in zip(*pairs, strict=True))
    equal = sum(first_leaf == second_leaf for first_leaf, second_leaf in pairs)
    chance = sum(count * second_counts[leaf] for leaf, count in first_counts.items()) / n**2
    return 1.0 if chance >= 1 else (equal / n - chance) / (1 - chance)


def _ancestor(leaf: str | None, layer: int) -> str | None:
    """Return a leaf's ancestor in a layer; None for no leaf."""
    return None if leaf is None else ">".join(leaf.split(">")[:layer])


def _disagreements(pairs: Sequence[_LeafPair], criteria: Sequence[str]) -> list[dict[str, object]]:
    by_pair: dict[_LeafPair, list[str]] = {}
    for criterion, pair in zip(criteria, pairs, strict=True):
        if pair[0] != pair[1]:
            by_pair.setdefault(pair, []).append(criterion)
    ranked = sorted(by_pair.items(), key=lambda item: (-len(item[1]), item[1][0]))
    return [
        {"first": first_leaf, "second": second_leaf, "n": len(criteria_of_pair), "example": criteria_of_pair[0]}
        for (first_leaf, second_leaf), criteria_of_pair in ranked[:LISTED]
    ]
