# pyright: standard
# networkx ships no types; values read from a tree are annotated at once.
"""A model's weak and strong capabilities: results totalled up a tree, tested against chance, and EvalTree's search."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import islice
from math import fsum
from typing import Literal, NamedTuple

import numpy as np

from dokimasia.algorithms.statistics import ConfidenceInterval, adjusted, bootstrap_interval, clopper_pearson
from dokimasia.algorithms.statistics.clusters import Bounds, Floats, Mask, Positions
from dokimasia.algorithms.statistics.exchange import Exchange
from dokimasia.algorithms.taxonomy import Tree, attributes_of

FEWEST_PERMUTATIONS, MOST_PERMUTATIONS = 2_000, 20_000
_AT_ONCE = 256
_ROUNDING = 1e-9

Verdict = Literal["weak", "strong", "unclear", "untested"]


class NodeTotal(NamedTuple):
    """The results of all criteria below a node: their number and sum."""

    n: int
    total: float

    @property
    def mean(self) -> float | None:
        """The mean; None without results."""
        if self.n:
            return self.total / self.n
        return None


class NodeFinding(NamedTuple):
    """A model's score at a node, and whether it differs from the model's score at all other nodes.

    `mean`, `interval` and `difference` (mean at the node minus mean over all other criteria) are in points of the scores,
    higher is better; `n` criteria come from `clusters` clusters. `p_value` is two-sided; `q_value` is adjusted for all
    tested nodes. A node is weak or strong if `q_value` is at or below the limit. With fewer than 200 distinct exchanges
    both are None, the node is untested, and `reason` says so. `exchanged` is the share of the model's scored criteria that
    the test can move: those of a cluster with a unique number of them keep their leaves.
    """

    node: str
    layer: int
    n: int
    clusters: int
    mean: float
    interval: ConfidenceInterval
    difference: float
    p_value: float | None
    q_value: float | None
    verdict: Verdict
    reason: str = ""
    exchanged: float = 1.0


def roll_up(tree: Tree, results: Mapping[str, float]) -> dict[str, NodeTotal]:
    """Return the results of all criteria at and below each node.

    Parameters
    ----------
    tree : networkx.DiGraph
        Any tree with edges from parent to child, of any depth, whose nodes may have `members`.
    results : mapping of criterion to float
        One model's results, in any unit. Members without a result and results without a member are ignored.

    Returns
    -------
    dict of node to NodeTotal
        For every node of the tree.

    Raises
    ------
    ValueError
        If the graph is not a tree.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add_all, assign, new_tree
    >>> tree = assign(add_all(new_tree(["A"]), ["<A><B><C>", "<A><B><D>"]), {"x": "<A><B><C>", "y": "<A><B><D>"})
    >>> totals = roll_up(tree, {"x": 100.0, "y": 50.0})
    >>> totals["<A><B><D>"].mean, totals["<A>"], totals["root"].mean
    (50.0, NodeTotal(n=2, total=150.0), 75.0)
    """
    totals: dict[str, NodeTotal] = {}
    for node in reversed(_downwards(tree)):
        scored = [results[criterion] for criterion in tree.nodes[node].get("members", ()) if criterion in results]
        child_totals = [totals[child] for child in tree.successors(node)]
        totals[node] = NodeTotal(
            len(scored) + sum(child.n for child in child_totals),
            fsum([*scored, *(child.total for child in child_totals)]),
        )
    return totals


def node_findings(
    tree: Tree,
    scores: Mapping[str, float],
    cluster_of: Mapping[str, Hashable],
    *,
    seed: int,
    min_support: int = 5,
    limit: float = 0.05,
    level: float = 0.95,
    bounds: Bounds = (0.0, 100.0),
    permutations: int | None = None,
) -> tuple[NodeFinding, ...]:
    """Return the tested nodes, with those at which a model is weaker or stronger than at all others.

    Differences are tested as in `permutation_null`: the leaves of whole clusters are exchanged between clusters with equal
    numbers of scored criteria. The p-values of all nodes are adjusted together (Benjamini and Hochberg; nodes that
    contain each other are positively dependent).

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree whose criteria are mapped.
    scores : mapping of str to float
        The model's score of each criterion, 0 to 100 unless `bounds` says otherwise; leave out missing ones.
    cluster_of : mapping of str to hashable
        Criterion to cluster, which comprises all questions about one image. Criteria without a cluster are left out.
    seed : int
        Seed of permutations and intervals. The order of the criteria does not matter.
    min_support : int
        A node with fewer scored criteria is not tested; nor is one that holds all criteria, or the same ones as its
        only child.
    limit : float
        The accepted share of false findings.
    level : float
        The level of each interval.
    bounds : tuple of float
        The lowest and highest possible score.
    permutations : int, optional
        By default enough for a single finding among all tested nodes, 2,000 to 20,000.

    Returns
    -------
    tuple of NodeFinding
        The lowest mean first, then by id.

    Raises
    ------
    ValueError
        If a score is not finite or outside the bounds, or a criterion is held by more than one node.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add_all, assign, new_tree
    >>> tree = add_all(new_tree(["A"]), ["<A><B><Adding>", "<A><B><Counting>"])
    >>> leaf_of = {f"{at}": "<A><B><Adding>" if at % 4 else "<A><B><Counting>" for at in range(60)}
    >>> scores = {criterion: 90.0 if leaf == "<A><B><Adding>" else 20.0 for criterion, leaf in leaf_of.items()}
    >>> for finding in node_findings(assign(tree, leaf_of), scores, {criterion: criterion for criterion in scores}, seed=0):
    ...     print(finding.node, finding.mean, finding.difference, finding.verdict)
    <A><B><Counting> 20.0 -70.0 weak
    <A><B><Adding> 90.0 70.0 strong
    """
    order, holders, holder_of = _scored_criteria(tree, scores, cluster_of)
    values = np.array([scores[criterion] for criterion in order], dtype=np.float64)
    if not order:
        return ()
    if not np.isfinite(values).all() or values.min() < bounds[0] or values.max() > bounds[1]:
        raise ValueError(f"a score is not within {bounds[0]:g} to {bounds[1]:g}")
    cluster = [cluster_of[criterion] for criterion in order]
    masks = _tested_nodes(tree, holders, np.bincount(holder_of, minlength=len(holders)), min_support)
    if not masks:
        return ()
    contains = np.array(list(masks.values()), dtype=np.float64)
    draws = permutations or min(MOST_PERMUTATIONS, max(FEWEST_PERMUTATIONS, int(2 * len(masks) / limit)))
    exchange = Exchange(cluster)
    reason = exchange.untested(holder_of[exchange.order])
    p_values: Sequence[float | None] = [None] * len(masks)
    if not reason:
        p_values = _p_values(values, holder_of, exchange, contains, seed=seed, permutations=draws)
    findings: list[NodeFinding] = []
    q_values = adjusted(p_values)
    for row, p_value, q_value in zip(masks.items(), p_values, q_values, strict=True):
        node, inside = row[0], row[1][holder_of]
        rows = np.flatnonzero(inside)
        node_scores, clusters = values[rows], [cluster[at] for at in rows]
        mean, difference = float(node_scores.mean()), float(node_scores.mean() - values[~inside].mean())
        verdict: Verdict = "weak" if difference < 0 else "strong"
        if q_value is None or q_value > limit:
            verdict = "untested" if q_value is None else "unclear"
        findings.append(
            NodeFinding(
                node=node,
                layer=attributes_of(tree, node).layer,
                n=len(rows),
                clusters=len(set(clusters)),
                mean=mean,
                interval=bootstrap_interval(
                    node_scores.tolist(), clusters=clusters, level=level, seed=seed, bounds=bounds
                ),
                difference=difference,
                p_value=p_value,
                q_value=q_value,
                verdict=verdict,
                reason=reason,
                exchanged=exchange.share,
            )
        )
    return tuple(sorted(findings, key=lambda finding: (finding.mean, finding.node)))


def evident_nodes(
    tree: Tree,
    hits: Mapping[str, bool],
    threshold: float,
    *,
    side: Literal["below", "above"] = "below",
    level: float = 0.95,
    min_size: int = 5,
    min_child: int = 20,
) -> list[str]:
    """Return the most specific nodes whose share of hits lies significantly on one side of a threshold, like EvalTree.

    A node passes if Clopper and Pearson's interval lies wholly on that side; nodes with fewer than `min_size` results
    are not tested. From the root down, a passing node is selected, and nothing below it, if every child with at least
    `min_child` results also passes, since the evidence is then at this node. Otherwise the search continues below. As
    published, trials count as independent and p-values are not adjusted for multiple tests; `node_findings` does both.

    Parameters
    ----------
    tree : networkx.DiGraph
        As `roll_up`.
    hits : mapping of criterion to bool
        Whether the model solved each criterion.
    threshold : float
        A share, 0 to 1.
    side : {"below", "above"}
        "below" finds weaknesses, "above" strengths.
    level : float
        The level of the two-sided interval.
    min_size, min_child : int
        Minimum numbers of results of a tested node, and of a child that counts.

    Returns
    -------
    list of nodes
        In the order of the search; none lies below another.

    References
    ----------
    Zeng et al., EvalTree: Profiling Language Model Weaknesses via Hierarchical Capability Trees, 2025, section 4.
    """
    totals = roll_up(tree, {criterion: float(bool(hit)) for criterion, hit in hits.items()})

    def passes(node: str) -> bool:
        n, total = totals[node]
        if n < min_size:
            return False
        low, high = clopper_pearson(round(total), n, level)
        if side == "below":
            return high < threshold
        return low > threshold

    evident: list[str] = []
    waiting = _downwards(tree)[:1]
    while waiting:
        node = waiting.pop()
        children = list(tree.successors(node))
        if passes(node) and all(passes(child) for child in children if totals[child].n >= min_child):
            evident.append(node)
        else:
            waiting += reversed(children)
    return evident


def _downwards(tree: Tree) -> list[str]:
    """Return all nodes, each before its children."""
    import networkx as nx

    if not len(tree) or not nx.is_arborescence(tree):
        raise ValueError("the graph is no tree: check_tree says what is wrong with it")
    return list(nx.topological_sort(tree))


def _scored_criteria(
    tree: Tree, scores: Mapping[str, float], cluster_of: Mapping[str, Hashable]
) -> tuple[list[str], list[str], Positions]:
    """Return the scored criteria, the nodes that hold any, and for each criterion the index of its node."""
    holders: list[str] = []
    holder_index: dict[str, int] = {}
    for node in sorted(_downwards(tree)):
        members = [
            criterion
            for criterion in tree.nodes[node].get("members", ())
            if criterion in scores and criterion in cluster_of
        ]
        twice = next((criterion for criterion in members if criterion in holder_index), None)
        if twice is not None:
            raise ValueError(f"the criterion {twice} is held by {holders[holder_index[twice]]} and by {node}")
        if members:
            holder_index.update(dict.fromkeys(members, len(holders)))
            holders.append(node)
    order = sorted(holder_index)
    return order, holders, np.array([holder_index[criterion] for criterion in order], dtype=np.intp)


def _tested_nodes(tree: Tree, holders: list[str], counts: Positions, min_support: int) -> dict[str, Mask]:
    """Return the nodes to test, each with a mask of the holders at or below it."""
    masks: dict[str, Mask] = {}
    position = {node: at for at, node in enumerate(holders)}
    for node in reversed(_downwards(tree)):
        inside = np.zeros(len(holders), dtype=np.bool_)
        if node in position:
            inside[position[node]] = True
        for child in tree.successors(node):
            inside |= masks[child]
        masks[node] = inside

    def worth(node: str) -> bool:
        n = int(counts[masks[node]].sum())
        same = any(np.array_equal(masks[node], masks[child]) for child in tree.successors(node))
        return min_support <= n < int(counts.sum()) and not same

    return {node: masks[node] for node in sorted(masks) if worth(node)}


def _p_values(
    values: Floats,
    holder_of: Positions,
    exchange: Exchange,
    contains: Floats,
    *,
    seed: int,
    permutations: int,
) -> list[float]:
    """Return each node's two-sided p-value: how often exchanged leaves bring a sum as extreme as the observed one."""
    values, holder_of = values[exchange.order] - values.mean(), holder_of[exchange.order]
    holders = contains.shape[1]
    observed = contains @ np.bincount(holder_of, values, minlength=holders)
    tolerance = _ROUNDING * max(1.0, float(np.abs(values).sum()))
    low, high = np.zeros(len(contains), dtype=np.int64), np.zeros(len(contains), dtype=np.int64)
    sources = exchange.draw(permutations, seed=seed)
    for start in range(0, permutations, _AT_ONCE):
        draws = np.array([source.copy() for source in islice(sources, min(_AT_ONCE, permutations - start))])
        cells = holder_of[draws] + holders * np.arange(len(draws))[:, None]
        sums = np.bincount(cells.ravel(), np.tile(values, len(draws)), minlength=holders * len(draws))
        totals = contains @ np.ascontiguousarray(sums.reshape(-1, holders).T)
        low += np.count_nonzero(totals <= observed[:, None] + tolerance, axis=1)
        high += np.count_nonzero(totals >= observed[:, None] - tolerance, axis=1)
    tails = (1 + np.minimum(low, high)) / (1 + permutations)
    return np.minimum(1.0, 2 * tails).tolist()
