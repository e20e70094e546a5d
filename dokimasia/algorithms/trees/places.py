# pyright: standard
# networkx ships no types; values read from a tree are annotated at once.
"""Positions in a capability tree: the layer, name and parent of nodes, and the nodes that hold criteria."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dokimasia.algorithms.taxonomy import Tree, categories_of, leaves
from dokimasia.domain.capability import ROOT, CapabilityPath


class NodePosition(NamedTuple):
    """A node's layer (0 root, 1 category, 2 parent, 3 capability), its name, and the node above it (None: the root)."""

    layer: int
    name: str
    parent: str | None


def place_of(node: str) -> NodePosition:
    """Return the position of a node from its id.

    Raises
    ------
    ValueError
        If the id is not a path.

    Examples
    --------
    >>> place_of("<A><B>")
    NodePosition(layer=2, name='B', parent='<A>')
    """
    if node == ROOT:
        return NodePosition(0, ROOT, None)
    path = CapabilityPath.parse(node)
    return NodePosition(path.layer, path.name, str(path.parent or ROOT))


def in_order(tree: Tree) -> Iterator[str]:
    """Return the nodes from the root down, each before its children: anchors in their order, others by name."""
    import networkx as nx

    rank = {f"<{name}>": position for position, name in enumerate(categories_of(tree))}

    def ordered(below: Iterable[str]) -> list[str]:
        return sorted(below, key=lambda node: (rank.get(node, len(rank)), node.casefold(), node))

    return nx.dfs_preorder_nodes(tree, ROOT, sort_neighbors=ordered)


def mapping_of(tree: Tree) -> dict[str, str]:
    """Return the node of each criterion: its leaf, or the parent that kept it when its leaf was dropped."""
    mapping: dict[str, str] = {}
    for node in sorted(map(str, tree)):
        for criterion in sorted(tree.nodes[node].get("members", ())):
            mapping[criterion] = node
    return mapping


def leaf_mapping(tree: Tree) -> dict[str, str]:
    """Return the leaf of each criterion that has one."""
    all_leaves = set(leaves(tree))
    return {criterion: node for criterion, node in mapping_of(tree).items() if node in all_leaves}


def members_below(tree: Tree) -> dict[str, list[str]]:
    """Return all criteria at and below each node, sorted."""
    members: dict[str, list[str]] = {}
    for node in reversed(list(in_order(tree))):
        criteria = list(tree.nodes[node].get("members", ()))
        for child in tree.successors(node):
            criteria += members[str(child)]
        members[node] = sorted(criteria)
    return members
