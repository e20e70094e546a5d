"""Edits by hand for the tests: a node of the capability tree under another name or in another place, its children with it."""

import networkx as nx

from dokimasia.algorithms.taxonomy import copy_of


def rename(tree: nx.DiGraph, node: str, name: str) -> nx.DiGraph:
    """Return the tree with a parent or a leaf under another name."""
    return _relocated(tree, node, f"{node.rpartition('<')[0]}<{name}>")


def move(tree: nx.DiGraph, node: str, under: str) -> nx.DiGraph:
    """Return the tree with a leaf under another parent, or a parent with its leaves under another category."""
    return _relocated(tree, node, f"{under}<{node.rpartition('<')[2]}")


def _relocated(tree: nx.DiGraph, old: str, new: str) -> nx.DiGraph:
    moved = copy_of(tree)
    names = {node: new + node.removeprefix(old) for node in [old, *nx.descendants(moved, old)]}
    for node in names:
        moved.nodes[node]["absorbed"] = tuple(sorted({*moved.nodes[node]["absorbed"], node}))
    moved.remove_edge(next(iter(moved.predecessors(old))), old)
    nx.relabel_nodes(moved, names, copy=False)
    moved.add_edge(new.rpartition("<")[0], new)
    return moved
