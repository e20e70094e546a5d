"""Agreement of mappings of the same criteria: of judges, versions or people, and of trees grown from other samples.

The last is the stability of trees (ATOM, appendix E.1).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, stdev

from pydantic import Field

from dokimasia.algorithms.statistics import rate_interval
from dokimasia.algorithms.trees.partitions import cluster_agreement, mapping_agreement
from dokimasia.domain.identity import Value
from dokimasia.methods.tree.editing import mapping_from
from dokimasia.methods.tree.node_scores import LEVEL
from dokimasia.report.fields import AgreementCoefficient, Count, Rate
from dokimasia.runs.measures import coefficient_limits, limits, rounded
from dokimasia.storage.home import Home

_LeafPair = tuple[str | None, str | None]

LISTED = 20


class CategoryAgreement(Rate):
    """The hit rate on the criteria that the first mapping places in a category."""

    n: Count


class UnplacedCriteria(Value):
    """The number of criteria without a place in each mapping."""

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
    """Return Cohen's kappa; 1 if all criteria are on one leaf. It uses only counts, since it runs once per cluster."""
    n = len(pairs)
    first_counts, second_counts = (Counter(side) for side in zip(*pairs, strict=True))
    equal = sum(first_leaf == second_leaf for first_leaf, second_leaf in pairs)
    chance = sum(count * second_counts[leaf] for leaf, count in first_counts.items()) / n**2
    if chance >= 1:
        return 1.0
    return (equal / n - chance) / (1 - chance)


def _ancestor(leaf: str | None, layer: int) -> str | None:
    """Return a leaf's ancestor in a layer; None without a leaf."""
    if leaf is None:
        return None
    return ">".join(leaf.split(">")[:layer])


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


class GrownTree(Value):
    """A tree that was grown from one draw of the samples."""

    tree: str
    seed: int = Field(ge=0)
    leaves: Count = Field(description="leaves that hold criteria")
    mapped: Count = Field(description="criteria that have a leaf")
    categories: dict[str, float] = Field(description="share of the mapped criteria in each category, 0 to 1")


class GrownPair(Value):
    """The agreement of two trees on the criteria that both place, regardless of the names of their leaves."""

    first: str
    second: str
    n: Count = Field(description="criteria that both place")
    adjusted_rand: float = Field(le=1, description="of the leaves; 1: the same groups, 0: chance")
    adjusted_mutual_information: float = Field(le=1, description="of the leaves; 1: the same groups, 0: chance")
    parents: float = Field(le=1, description="adjusted Rand index of the parents")
    categories: float = Field(ge=0, le=1, description="share of criteria in the same category")


class Spread(Value):
    """A number over the trees."""

    mean: float
    sd: float = Field(ge=0, description="standard deviation over the trees")
    least: float
    greatest: float


class TreeStability(Value):
    """How little trees change with the samples that they are grown from; there are two trees or more."""

    trees: tuple[GrownTree, ...]
    pairs: tuple[GrownPair, ...]
    leaves: Spread
    adjusted_rand: Spread = Field(description="over all pairs of trees")
    categories: dict[str, Spread] = Field(description="share of the mapped criteria in each category, 0 to 1")


def tree_stability(home: Home, trees: Sequence[tuple[str, int]]) -> TreeStability:
    """Return how far trees agree that were grown from different samples of the same criteria.

    Args:
        home: the home of the trees.
        trees: name and seed of each, two or more.

    Raises:
        NotFound: there is no such tree.
        ValueError: there are fewer than two trees, or two have no criterion in common.
    """
    if len(trees) < 2:
        raise ValueError("stability is of two trees or more")
    mappings: dict[str, dict[str, str]] = {}
    grown: list[GrownTree] = []
    shares: dict[str, list[float]] = {}
    for name, seed in trees:
        mappings[name] = _leaf_mapping(mapping_from(home, name).leaf_of)
        grown.append(_grown_tree(name, seed, mappings[name]))
        for category in grown[-1].categories:
            shares.setdefault(category, [])
    for tree in grown:
        for category, of_trees in shares.items():
            of_trees.append(tree.categories.get(category, 0.0))
    pairs: list[GrownPair] = []
    agreement: list[float] = []
    for first, second in combinations(mappings, 2):
        pairs.append(_pair(first, second, mappings))
        agreement.append(pairs[-1].adjusted_rand)
    return TreeStability(
        trees=tuple(grown),
        pairs=tuple(pairs),
        leaves=_spread([tree.leaves for tree in grown]),
        adjusted_rand=_spread(agreement),
        categories={category: _spread(of_trees) for category, of_trees in sorted(shares.items())},
    )


def _leaf_mapping(mapping: Mapping[str, str | None]) -> dict[str, str]:
    return {criterion: leaf for criterion, leaf in mapping.items() if leaf is not None}


def _grown_tree(name: str, seed: int, mapping: Mapping[str, str]) -> GrownTree:
    counts = Counter(_ancestors(mapping, 1).values())
    return GrownTree(
        tree=name,
        seed=seed,
        leaves=len(set(mapping.values())),
        mapped=len(mapping),
        categories={str(name).strip("<>"): rounded(counts[name] / len(mapping)) for name in sorted(counts, key=str)},
    )


def _pair(first: str, second: str, mappings: Mapping[str, Mapping[str, str]]) -> GrownPair:
    mapping, other = mappings[first], mappings[second]
    shared = mapping.keys() & other.keys()
    groups = cluster_agreement(mapping, other)
    parents = cluster_agreement(_ancestors(mapping, 2), _ancestors(other, 2))
    n_same = len(_ancestors(mapping, 1).items() & _ancestors(other, 1).items())
    return GrownPair(
        first=first,
        second=second,
        n=len(shared),
        adjusted_rand=rounded(groups.adjusted_rand),
        adjusted_mutual_information=rounded(groups.adjusted_mutual_information),
        parents=rounded(parents.adjusted_rand),
        categories=rounded(n_same / len(shared)),
    )


def _ancestors(mapping: Mapping[str, str], layer: int) -> dict[str, str | None]:
    """Return the ancestor of each criterion's leaf in a layer."""
    return {criterion: _ancestor(leaf, layer) for criterion, leaf in mapping.items()}


def _spread(numbers: Sequence[float]) -> Spread:
    deviation = stdev(numbers) if len(numbers) > 1 else 0.0
    return Spread(
        mean=rounded(fmean(numbers)), sd=rounded(deviation), least=rounded(min(numbers)), greatest=rounded(max(numbers))
    )
