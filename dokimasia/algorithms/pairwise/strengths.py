"""Strengths from wins, ties and losses by Davidson's model: whether they are finite, and batched fits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dokimasia.algorithms.statistics.clusters import Floats, Mask, Positions

if TYPE_CHECKING:
    import networkx as nx

_STEPS = 60
_LONGEST = 2.0
_CLOSE = 1e-9
_RIDGE = 1e-12
_FAR = 30.0
"""The difference of log-strengths beyond which a fit counts as divergent."""

NEVER_MET = "never met the others, directly or by way of others"
ONE_SIDED = "always won or always lost against all others"
TIES = "no circle of verdicts in which wins outnumber ties"


class PairOutcome(NamedTuple):
    """A verdict on two models, by name: 1 if the first won, 0 for a tie, -1 if the second won."""

    first: str
    second: str
    outcome: int


class OutcomeTables(NamedTuple):
    """Counted outcomes: the first model's wins, ties and losses for each cluster and pair (positions in `names`).

    The order of clusters depends only on their counts.
    """

    names: tuple[str, ...]
    pairs: Positions
    counts: Floats


class Fits(NamedTuple):
    """A batch of fits, one per row: log-strengths of mean 0, the logarithm of the tie parameter, and whether they are finite."""

    strengths: Floats
    ties: Floats
    finite: Mask


def tables(comparisons: Sequence[PairOutcome], clusters: Positions, names: Sequence[str]) -> OutcomeTables:
    """Return the outcomes among some models, counted by cluster and pair; other comparisons are ignored."""
    place = {name: at for at, name in enumerate(names)}
    rows: list[tuple[int, int, int, int]] = []
    for (first_name, second_name, outcome), cluster in zip(comparisons, clusters.tolist(), strict=True):
        if first_name in place and second_name in place:
            first, second = place[first_name], place[second_name]
            rows.append((first, second, outcome, cluster) if first < second else (second, first, -outcome, cluster))
    pairs = sorted({(first, second) for first, second, _, _ in rows})
    numbers = {pair: at for at, pair in enumerate(pairs)}
    counts = np.zeros((int(clusters.max()) + 1, len(pairs), 3))
    for first, second, outcome, cluster in rows:
        counts[cluster, numbers[first, second], 1 - outcome] += 1
    occupied = counts[counts.any(axis=(1, 2))]
    order = np.lexsort(occupied.reshape(len(occupied), -1).T)
    return OutcomeTables(tuple(names), np.array(pairs, dtype=np.intp).reshape(-1, 2), occupied[order])


def groups(comparisons: Sequence[PairOutcome]) -> list[tuple[str, ...]]:
    """Return the models in groups within which each has won or tied against every other, directly or through others.

    The difference of two strengths of different groups has no finite estimate. A group comes after those that won against
    it and never lost to it; groups that never met are in the order of their names.

    Examples
    --------
    >>> groups([PairOutcome("a", "b", 1), PairOutcome("b", "c", 0)])
    [('a',), ('b', 'c')]
    """
    import networkx as nx

    graph = _outcome_graph(comparisons)
    condensed = nx.condensation(graph)
    members = {node: tuple(sorted(condensed.nodes[node]["members"])) for node in condensed}
    order = nx.lexicographical_topological_sort(condensed, key=members.__getitem__)
    return [members[node] for node in order]


def unbounded(comparisons: Sequence[PairOutcome], group: Sequence[str]) -> str:
    """Return why the strengths of a group have no finite estimate; empty if they have one.

    Notes
    -----
    The likelihood of Davidson's model has a maximum unless parameters can grow without bound such that no observed
    outcome becomes less likely. Growing strengths alone are the known case (Ford, 1957): some models never lost a point
    to the others, and `groups` separates them. Strengths and tie parameter together can grow if every observed win is
    between models that can lie at least as far apart as any that tied: a system of differences, which is solvable
    unless a cycle of verdicts, followed from winner to loser and along ties, has more wins than ties.
    """
    import networkx as nx

    if len(group) == 1:
        met = any(group[0] in (comparison.first, comparison.second) for comparison in comparisons)
        return ONE_SIDED if met else NEVER_MET
    weights: dict[tuple[str, str], int] = {}
    for first, second, outcome in comparisons:
        if first in group and second in group:
            edges = [(first, second), (second, first)]
            if outcome:
                edges = [(first, second) if outcome > 0 else (second, first)]
            for source, target in edges:
                weight = 1 if outcome == 0 else -1
                weights[source, target] = min(weight, weights.get((source, target), 1))
    inside: nx.DiGraph[str] = nx.DiGraph()
    inside.add_weighted_edges_from((*edge, weight) for edge, weight in weights.items())
    if nx.negative_edge_cycle(inside):
        return ""
    return TIES


def fit(pairs: Positions, counts: Floats, models: int) -> Fits:
    """Fit Davidson's model to many tables at once, by Newton's method on a concave likelihood.

    Parameters
    ----------
    pairs : array of int, (P, 2)
        Positions of the models of each pair.
    counts : array, (B, P, 3)
        For each fit and pair, the first model's wins, ties and losses; whole or weighted.
    models : int
        The number of models.

    Notes
    -----
    With u half the difference of log-strengths and t the tie parameter's logarithm, win, tie and loss are as likely as
    exp(u), exp(t), exp(-u). Fits without a tie omit t. A fit whose strengths diverge is marked as not finite.
    """
    fits, (first, second) = len(counts), pairs.T
    signs = np.zeros((len(pairs), models))
    signs[np.arange(len(pairs)), first], signs[np.arange(len(pairs)), second] = 0.5, -0.5
    squares = (signs[:, :, None] * signs[:, None, :]).reshape(len(pairs), -1)
    games, tied = counts.sum(axis=2), counts[:, :, 1].sum(axis=1)
    points = (counts[:, :, 0] - counts[:, :, 2]) @ signs
    strengths, ties = np.zeros((fits, models)), np.where(tied > 0, 0.0, -np.inf)
    finite, active = np.zeros(fits, dtype=bool), np.flatnonzero(_connected(pairs, games, models))
    for _ in range(_STEPS):
        if not len(active):
            break
        n, with_ties = games[active], tied[active] > 0
        u = strengths[active] @ signs.T
        weights = np.stack([np.exp(u), np.exp(ties[active])[:, None] * np.ones_like(u), np.exp(-u)])
        win, tie, loss = weights / weights.sum(axis=0)
        lead = win - loss
        curve = np.zeros((len(active), models + 1, models + 1))
        curve[:, :models, :models] = ((n * (1 - tie - lead**2)) @ squares).reshape(-1, models, models)
        curve[:, :models, :models] += 1 / models  # the level of the strengths is free, so their mean stays 0
        curve[:, :models, models] = curve[:, models, :models] = -(n * lead * tie) @ signs
        curve[:, models, models] = np.where(with_ties, (n * tie * (1 - tie)).sum(axis=1), 1.0)
        size: Floats = np.einsum("bii->b", curve)
        curve = curve + _RIDGE * size[:, None, None] * np.eye(models + 1)
        slope = np.empty((len(active), models + 1))
        slope[:, :models] = points[active] - (n * lead) @ signs
        slope[:, models] = np.where(with_ties, tied[active] - (n * tie).sum(axis=1), 0.0)
        step = np.linalg.solve(curve, slope[:, :, None])[:, :, 0].astype(np.float64)
        longest: Floats = np.abs(step).max(axis=1)
        step = step * np.minimum(1.0, _LONGEST / np.maximum(longest, _CLOSE))[:, None]
        strengths[active] += step[:, :models]
        ties[active] += step[:, models]
        ended = longest < _CLOSE
        finite[active[ended]] = True
        active = active[~ended & (np.ptp(strengths[active], axis=1) < _FAR)]
    return Fits(strengths - strengths.mean(axis=1, keepdims=True), ties, finite)


def _connected(pairs: Positions, games: Floats, models: int) -> Mask:
    """Return, for each fit, whether all models met, directly or through others."""
    import networkx as nx

    patterns, pattern_of = np.unique(games > 0, axis=0, return_inverse=True)
    connected = np.zeros(len(patterns), dtype=bool)
    for at, pattern in enumerate(patterns):
        graph: nx.Graph[int] = nx.Graph()
        graph.add_nodes_from(range(models))
        graph.add_edges_from(map(tuple, pairs[pattern].tolist()))
        connected[at] = nx.is_connected(graph)
    return connected[pattern_of.reshape(-1)]


def _outcome_graph(comparisons: Sequence[PairOutcome]) -> "nx.DiGraph[str]":
    """Return a graph with an edge from each model to those it has won or tied against."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(sorted({name for comparison in comparisons for name in comparison[:2]}))
    for first, second, outcome in comparisons:
        if outcome >= 0:
            graph.add_edge(first, second)
        if outcome <= 0:
            graph.add_edge(second, first)
    return graph
