# pyright: standard
# networkx ships no types; values read from a tree are annotated at once.
"""Checks of a capability tree, and the differences of two trees."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from dokimasia.algorithms.taxonomy import Tree, attributes_of, categories_of, deepest, holder, leaves
from dokimasia.algorithms.trees.places import mapping_of
from dokimasia.domain.capability import LAYERS, ROOT, CapabilityPath
from dokimasia.domain.wording import shortened

_NAMED = 5


class TreeDiff(NamedTuple):
    """The differences of a tree from an older one; all parts are sorted, nodes by id and criteria by name.

    `merged` maps a removed node to the node that absorbed it, and `removed` are nodes that no node absorbed; `moved`
    maps a criterion to its old and its new node, None for no node; `support` maps a leaf of both trees to its numbers
    of criteria, if they differ.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    merged: dict[str, str]
    moved: dict[str, tuple[str | None, str | None]]
    support: dict[str, tuple[int, int]]


def check_tree(
    tree: Tree, *, categories: Collection[str] | None = None, criteria: Collection[str] | None = None
) -> list[str]:
    """Return the problems of a tree, in words; empty for a valid tree.

    Parameters
    ----------
    tree : networkx.DiGraph
        Any directed graph.
    categories : collection of str, optional
        The exact anchors that it must have; by default those that the tree declares.
    criteria : collection of str, optional
        Previously mapped criteria, each of which must still be held by one leaf.

    Returns
    -------
    list of str
        The checks: one root; four layers, ids that are paths below the one parent, no cycle and no unconnected node; the
        anchors; names that differ in more than case from those of siblings, and for capabilities from all others; supports
        that equal the number of members, if a node has any; criteria held twice, or nowhere.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add, new_tree
    >>> tree = add(new_tree(["A"]), "<A><B><C>")
    >>> check_tree(tree)
    []
    >>> tree.add_edge("<A><B><C>", "<A>")
    >>> check_tree(tree)[0]
    'there is a cycle: <A> > <A><B> > <A><B><C> > <A>'
    """
    if ROOT not in tree:
        return [f"there is no node '{ROOT}'"]
    return [
        *_cycle(tree),
        *_shape(tree),
        *_anchors(tree, categories),
        *_duplicates(tree),
        *_membership_problems(tree, criteria),
    ]


def diff(old: Tree, new: Tree) -> TreeDiff:
    """Return the differences between two trees.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add_all, assign, merge, new_tree
    >>> old = assign(add_all(new_tree(["A"]), ["<A><B><C>", "<A><B><D>"]), {"x": "<A><B><C>", "y": "<A><B><D>"})
    >>> change = diff(old, merge(old, "<A><B><C>", "<A><B><D>"))
    >>> change.merged, change.moved, change.support
    ({'<A><B><D>': '<A><B><C>'}, {'y': ('<A><B><D>', '<A><B><C>')}, {'<A><B><C>': (1, 2)})
    """
    removed = sorted(set(old) - set(new))
    absorbed = {node: holder(new, node) for node in removed}
    before, after = mapping_of(old), mapping_of(new)
    shared = sorted(set(leaves(old)) & set(leaves(new)))
    sizes = {leaf: (attributes_of(old, leaf).support, attributes_of(new, leaf).support) for leaf in shared}
    return TreeDiff(
        added=tuple(sorted(set(new) - set(old))),
        removed=tuple(node for node in removed if absorbed[node] is None),
        merged={node: into for node, into in absorbed.items() if into is not None},
        moved={
            criterion: (before.get(criterion), after.get(criterion))
            for criterion in sorted(before.keys() | after.keys())
            if before.get(criterion) != after.get(criterion)
        },
        support={leaf: counts for leaf, counts in sizes.items() if counts[0] != counts[1]},
    )


def _cycle(tree: Tree) -> list[str]:
    import networkx as nx

    if nx.is_directed_acyclic_graph(tree):
        return []
    edges: list[tuple[str, str]] = nx.find_cycle(tree)
    names = [str(edge[0]) for edge in edges]
    first = names.index(min(names))
    return [f"there is a cycle: {' > '.join([*names[first:], *names[:first], names[first]])}"]


def _shape(tree: Tree) -> list[str]:
    """Return a problem for each node whose position does not match its id."""
    problems: list[str] = []
    if tree.in_degree(ROOT):
        problems.append(f"the root has a parent: {shortened(tree.predecessors(ROOT), _NAMED)}")
    if tree.nodes[ROOT].get("layer") != 0:
        problems.append("the root's layer is not 0")
    for node in sorted(map(str, tree)):
        if node == ROOT:
            continue
        try:
            path = CapabilityPath.parse(node)
        except ValueError as error:
            problems.append(str(error))
            continue
        if str(path) != node:
            problems.append(f"{node} is spelled {path}")
        parents = sorted(map(str, tree.predecessors(node)))
        expected = ROOT if path.parent is None else str(path.parent)
        if not parents:
            problems.append(f"{node} is an orphan: it hangs below no node")
        elif parents != [expected]:
            problems.append(f"{node} hangs below {shortened(parents, _NAMED)} instead of {expected}")
        if tree.nodes[node].get("layer") != path.layer:
            layer = tree.nodes[node].get("layer")
            problems.append(f"{node} has the layer {layer}, but is a {LAYERS[path.layer]}: {path.layer}")
    return problems


def _anchors(tree: Tree, categories: Collection[str] | None) -> list[str]:
    expected = [f"<{name}>" for name in (categories_of(tree) if categories is None else categories)]
    anchors = {str(node) for node in tree if tree.nodes[node].get("layer") == 1}
    problems = [f"the anchor {node} is missing" for node in expected if node not in anchors]
    return problems + [f"{node} is none of the fixed categories" for node in sorted(anchors.difference(expected))]


def _duplicates(tree: Tree) -> list[str]:
    """Return a problem for siblings, and for capabilities of the whole tree, whose names differ only in case."""
    last = {str(node): str(node).rstrip(">").rpartition("<")[2].casefold() for node in tree if node != ROOT}
    problems: list[str] = []
    for alike in _duplicate_groups(
        (str(node).rpartition("<")[0] + last[str(node)], str(node)) for node in tree if node != ROOT
    ):
        problems.append(f"siblings have the same name: {shortened(alike, _NAMED)}")
    for alike in _duplicate_groups((last[leaf], leaf) for leaf in leaves(tree) if leaf in last):
        if len({leaf.rpartition("<")[0] for leaf in alike}) > 1:
            problems.append(f"capabilities of different parents have the same name: {shortened(alike, _NAMED)}")
    return problems


def _duplicate_groups(keyed: Iterable[tuple[str, str]]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for key, node in keyed:
        groups.setdefault(key, []).append(node)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


def _membership_problems(tree: Tree, criteria: Collection[str] | None) -> list[str]:
    """Return a problem for criteria held twice or by no leaf, and for supports that are not the number of members."""
    problems: list[str] = []
    everywhere: Counter[str] = Counter()
    on_leaves: set[str] = set()
    for node in sorted(map(str, tree)):
        members = tree.nodes[node].get("members", ())
        support = tree.nodes[node].get("support")
        everywhere.update(set(members))
        if tree.nodes[node].get("layer") == deepest(tree):
            on_leaves.update(members)
        if members and support != len(members):
            problems.append(f"{node} has {len(members)} members and a support of {support}")
    twice = sorted(criterion for criterion, count in everywhere.items() if count > 1)
    if twice:
        problems.append(f"{len(twice)} criteria are held by more than one node: {shortened(twice, _NAMED)}")
    lost = sorted(set(criteria or ()) - on_leaves)
    if lost:
        problems.append(f"{len(lost)} mapped criteria are held by no leaf: {shortened(lost, _NAMED)}")
    return problems
