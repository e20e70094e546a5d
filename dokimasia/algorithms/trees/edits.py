# pyright: standard
# networkx ships no types; what is read from a tree here is given its type at once.
"""Edits by hand: a node of the capability tree under another name or in another place, its children with it."""

from typing import TYPE_CHECKING

from dokimasia.algorithms.taxonomy import Path, copy_of, path_of
from dokimasia.domain.capability import CapabilityPath

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree


def rename(tree: "Tree", node: Path, name: str) -> "Tree":
    """Return the tree with a parent or a leaf under another name, its children with it.

    Raises
    ------
    ValueError
        If there is no such node, it is an anchor, or its parent has another child of that name.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add, leaves, new_tree
    >>> leaves(rename(add(new_tree(["A"]), "<A><B><C>"), "<A><B>", "Z"))
    ['<A><Z><C>']
    """
    path = path_of(node)
    if path.parent is None:
        raise ValueError(f"{path} is a fixed anchor and keeps its name")
    return _relocate(tree, path, path.parent.child(name))


def move(tree: "Tree", node: Path, under: Path) -> "Tree":
    """Return the tree with a leaf under another parent, or a parent with its leaves under another category.

    Raises
    ------
    ValueError
        If there is no such node, the place is not one layer above it or not there, or has a child of that name already.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add, leaves, new_tree
    >>> leaves(move(add(add(new_tree(["A"]), "<A><B><C>"), "<A><D>"), "<A><B><C>", "<A><D>"))
    ['<A><D><C>']
    """
    path, above = path_of(node), path_of(under)
    if above.layer != path.layer - 1 or str(above) not in tree:
        raise ValueError(f"{path} cannot be moved under {above}: that is no node of the layer above it")
    return _relocate(tree, path, above.child(path.name))


def _relocate(tree: "Tree", old: CapabilityPath, new: CapabilityPath) -> "Tree":
    import networkx as nx

    if str(old) not in tree:
        raise ValueError(f"{old} is no node of the tree")
    if old == new:
        return copy_of(tree)
    if str(new) in tree:
        raise ValueError(f"{new} is there already: merge the two instead")
    moved = copy_of(tree)
    under = [str(old), *sorted(nx.descendants(moved, str(old)))]
    names = {node: str(CapabilityPath(names=new.names + path_of(node).names[old.layer :])) for node in under}
    for node in under:
        known = moved.nodes[node].get("absorbed", ())
        moved.nodes[node]["absorbed"] = tuple(sorted({*known, node} - {names[node]}))
    moved.remove_edge(next(iter(moved.predecessors(str(old)))), str(old))
    nx.relabel_nodes(moved, names, copy=False)
    moved.add_edge(str(new.parent), str(new))
    return moved
