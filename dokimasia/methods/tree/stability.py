"""Stability of trees that are grown from other samples of the same criteria (ATOM, appendix E.1)."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, stdev

from pydantic import Field

from dokimasia.algorithms.trees.partitions import cluster_agreement
from dokimasia.domain.identity import Value
from dokimasia.methods.tree.editing import mapping_from
from dokimasia.report.fields import Count
from dokimasia.runs.measures import rounded
from dokimasia.storage.home import Home


class GrownTree(Value):
    """A tree that was grown from one draw of the samples."""

    tree: str
    seed: int = Field(ge=0)
    leaves: Count = Field(description="leaves that hold criteria")
    mapped: Count = Field(description="criteria that have a leaf")
    categories: dict[str, float] = Field(description="share of the mapped criteria in each category, 0 to 1")


class GrownPair(Value):
    """How far two trees agree on the criteria that both place, whatever their leaves are called."""

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
    """Return how far trees agree that were grown from other samples of the same criteria.

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
        mappings[name] = _placed(mapping_from(home, name).leaf_of)
        grown.append(_grown(name, seed, mappings[name]))
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


def _placed(mapping: Mapping[str, str | None]) -> dict[str, str]:
    return {criterion: leaf for criterion, leaf in mapping.items() if leaf is not None}


def _grown(name: str, seed: int, mapping: Mapping[str, str]) -> GrownTree:
    counts: dict[str, int] = {}
    for leaf in mapping.values():
        category = _above(leaf, 1).strip("<>")
        counts[category] = counts.get(category, 0) + 1
    return GrownTree(
        tree=name,
        seed=seed,
        leaves=len(set(mapping.values())),
        mapped=len(mapping),
        categories={category: rounded(count / len(mapping)) for category, count in sorted(counts.items())},
    )


def _pair(first: str, second: str, mappings: Mapping[str, Mapping[str, str]]) -> GrownPair:
    mapping, other = mappings[first], mappings[second]
    shared = mapping.keys() & other.keys()
    groups = cluster_agreement(mapping, other)
    parents = cluster_agreement(_ancestors(mapping, 2), _ancestors(other, 2))
    same = len(_ancestors(mapping, 1).items() & _ancestors(other, 1).items())
    return GrownPair(
        first=first,
        second=second,
        n=len(shared),
        adjusted_rand=rounded(groups.adjusted_rand),
        adjusted_mutual_information=rounded(groups.adjusted_mutual_information),
        parents=rounded(parents.adjusted_rand),
        categories=rounded(same / len(shared)),
    )


def _ancestors(mapping: Mapping[str, str], layer: int) -> dict[str, str]:
    """Return the ancestor of each criterion's leaf in a layer, counted from the categories."""
    return {criterion: _above(leaf, layer) for criterion, leaf in mapping.items()}


def _above(leaf: str, layer: int) -> str:
    """Return the ancestor of a leaf in a layer, counted from the categories."""
    return ">".join(leaf.split(">")[:layer]) + ">"


def _spread(numbers: Sequence[float]) -> Spread:
    deviation = stdev(numbers) if len(numbers) > 1 else 0.0
    return Spread(
        mean=rounded(fmean(numbers)), sd=rounded(deviation), least=rounded(min(numbers)), greatest=rounded(max(numbers))
    )
