"""Agreement of two mappings of the same criteria: of two judges, two versions, or a judge and a person."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import Field

from dokimasia.algorithms.statistics import rate_interval
from dokimasia.algorithms.trees.partitions import cluster_agreement, mapping_agreement
from dokimasia.domain.identity import Value
from dokimasia.methods.tree.node_scores import LEVEL
from dokimasia.report.fields import AgreementCoefficient, Count, Rate
from dokimasia.runs.measures import coefficient_limits, limits, rounded

_LeafPair = tuple[str | None, str | None]

LISTED = 20


class CategoryAgreement(Rate):
    """The hit rate on the criteria that the first mapping places in a category."""

    n: Count


class UnplacedCriteria(Value):
    """How many criteria each mapping places nowhere."""

    first: Count
    second: Count


class GroupAgreement(Value):
    """Agreement of two groupings, whatever the leaves are called; see `algorithms.trees.partitions.ClusterAgreement`."""

    adjusted_rand: float
    adjusted_mutual_information: float
    homogeneity: float
    completeness: float


class LayerAgreement(Value):
    """Shares of criteria in the same category, and below the same parent."""

    categories: float
    parents: float


class LeafDisagreement(Value):
    """Two leaves that the mappings place the same criteria on."""

    first: str | None
    second: str | None
    n: Count
    example: str


class MappingComparison(Value):
    """Agreement of two mappings of the same criteria."""

    n: Count = Field(description="criteria in both")
    only_first: Count
    only_second: Count
    unplaced: UnplacedCriteria
    hit_rate: Rate = Field(description="criteria on the same leaf")
    by_category: dict[str, CategoryAgreement] = Field(description="as in ATOM's Figure 7")
    kappa: AgreementCoefficient | None = Field(description="Cohen's; null where it has no value")
    groups: GroupAgreement
    by_layer: LayerAgreement
    disagreements: tuple[LeafDisagreement, ...] = Field(description="the most frequent first")


def mapping_comparison(
    first: Mapping[str, str | None], second: Mapping[str, str | None], cluster_of: Mapping[str, str] | None = None
) -> MappingComparison:
    """Return the agreement of two mappings: hit rate (ATOM, Figure 7), Cohen's kappa, agreement of clusters.
    Args:
        first: leaf of each criterion; None for a criterion that could not be placed.
        second: the same, from another judge, version or person.
        cluster_of: cluster of each criterion; criteria about one image belong to one cluster.

    Raises:
        ValueError: they have no criterion in common.
    """
    agreement, groups = mapping_agreement(first, second), cluster_agreement(first, second)
    shared = sorted(first.keys() & second.keys())
    pairs = [(first[criterion], second[criterion]) for criterion in shared]
    clusters = [(cluster_of or {}).get(criterion, criterion) for criterion in shared]
    share = rate_interval(
        [first_leaf == second_leaf for first_leaf, second_leaf in pairs], clusters=clusters, level=LEVEL
    )
    kappa = None
    if agreement.kappa is not None:
        ends = coefficient_limits(
            lambda numbers: _kappa_of([pairs[number] for number in numbers]), len(pairs), clusters
        )
        kappa = AgreementCoefficient(value=rounded(agreement.kappa), **ends)
    return MappingComparison(
        n=agreement.n,
        only_first=len(first.keys() - second.keys()),
        only_second=len(second.keys() - first.keys()),
        unplaced=UnplacedCriteria(
            first=sum(first_leaf is None for first_leaf, _ in pairs),
            second=sum(second_leaf is None for _, second_leaf in pairs),
        ),
        hit_rate=Rate(share=rounded(agreement.hit_rate), **limits(share)),
        by_category=_by_category(pairs, clusters),
        kappa=kappa,
        groups=GroupAgreement(
            adjusted_rand=rounded(groups.adjusted_rand),
            adjusted_mutual_information=rounded(groups.adjusted_mutual_information),
            homogeneity=rounded(groups.homogeneity),
            completeness=rounded(groups.completeness),
        ),
        by_layer=LayerAgreement(categories=_agreement_above(pairs, 1), parents=_agreement_above(pairs, 2)),
        disagreements=tuple(_disagreements(pairs, shared)),
    )


def _agreement_above(pairs: Sequence[_LeafPair], layer: int) -> float:
    """Return the share of pairs of leaves that have the same ancestor in a layer."""
    return rounded(
        sum(_ancestor(first_leaf, layer) == _ancestor(second_leaf, layer) for first_leaf, second_leaf in pairs)
        / len(pairs)
    )


def _by_category(pairs: Sequence[_LeafPair], clusters: Sequence[str]) -> dict[str, CategoryAgreement]:
    hits: dict[str, list[bool]] = {}
    hit_clusters: dict[str, list[str]] = {}
    for (first_leaf, second_leaf), cluster in zip(pairs, clusters, strict=True):
        category = _ancestor(first_leaf, 1)
        if category is not None:
            hits.setdefault(category, []).append(first_leaf == second_leaf)
            hit_clusters.setdefault(category, []).append(cluster)
    by_category: dict[str, CategoryAgreement] = {}
    for category in sorted(hits):
        category_hits = hits[category]
        interval = rate_interval(category_hits, clusters=hit_clusters[category], level=LEVEL)
        by_category[category.strip("<>")] = CategoryAgreement(
            n=len(category_hits), share=rounded(sum(category_hits) / len(category_hits)), **limits(interval)
        )
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


def _disagreements(pairs: Sequence[_LeafPair], criteria: Sequence[str]) -> list[LeafDisagreement]:
    by_pair: dict[_LeafPair, list[str]] = {}
    for criterion, pair in zip(criteria, pairs, strict=True):
        if pair[0] != pair[1]:
            by_pair.setdefault(pair, []).append(criterion)
    ranked = sorted(by_pair.items(), key=lambda item: (-len(item[1]), item[1][0]))
    return [
        LeafDisagreement(first=first_leaf, second=second_leaf, n=len(criteria_of_pair), example=criteria_of_pair[0])
        for (first_leaf, second_leaf), criteria_of_pair in ranked[:LISTED]
    ]
