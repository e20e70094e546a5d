# pyright: standard
# networkx ships no types; values read from a tree are annotated at once.
"""The capability tree as a networkx.DiGraph: functions that grow, merge, prune and query it, and return a new tree."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dokimasia.algorithms.trees.validity import Null, Validity, permutation_null, validity
from dokimasia.domain.capability import CATEGORIES, LAYERS, ROOT, CapabilityPath, Level, plain_name

if TYPE_CHECKING:
    import networkx as nx

Tree: TypeAlias = "nx.DiGraph"

__all__ = [
    "NodeAttributes",
    "Null",
    "Tree",
    "Validity",
    "add",
    "add_all",
    "assign",
    "attributes_of",
    "carry",
    "categories_of",
    "copy_of",
    "deepest",
    "fold",
    "hang",
    "holder",
    "leaves",
    "merge",
    "merge_all",
    "new_tree",
    "path_of",
    "permutation_null",
    "prune",
    "validity",
]

Path = str | CapabilityPath


class NodeAttributes(NamedTuple):
    """The attributes of a node, as `new_tree` describes them."""

    layer: int
    support: int
    members: frozenset[str]
    absorbed: tuple[str, ...]


def attributes_of(tree: Tree, node: str) -> NodeAttributes:
    """Return the attributes of a node.

    Examples
    --------
    >>> attributes_of(new_tree(["A"]), "<A>")
    NodeAttributes(layer=1, support=0, members=frozenset(), absorbed=())
    """
    return NodeAttributes(**tree.nodes[node])


def categories_of(tree: Tree) -> tuple[str, ...]:
    """Return the fixed categories of a tree in the order given; none where the graph names none.

    Examples
    --------
    >>> categories_of(new_tree(["A", "B"]))
    ('A', 'B')
    """
    return tuple(tree.graph.get("categories", ()))


_EMPTY: dict[str, object] = {"support": 0, "members": frozenset(), "absorbed": ()}


def new_tree(categories: Iterable[str] = CATEGORIES, *, level: Level = "capability") -> Tree:
    """Return a tree of a root and its fixed anchors.

    Parameters
    ----------
    categories : iterable of str
        Names of the categories, at least one; duplicates count once.
    level : {"capability", "parent"}
        The layer of the leaves. In a tree at the level of parents, the parents hold the criteria and have no children.

    Returns
    -------
    networkx.DiGraph
        Edges lead from parent to child. A node's id is its path (`<A><B><C>`; the root is `root`). Its attributes:
        `layer` (0 root, 1 category, 2 parent, 3 capability), `support` (the number of criteria it holds itself), `members`
        (their ids, a frozenset) and `absorbed` (the sorted ids of nodes that were merged or folded into it, and its
        former names). `tree.graph["categories"]` are the anchors in the order given, `tree.graph["level"]` the level.

    Raises
    ------
    ValueError
        If there is no category, or a name is invalid.

    References
    ----------
    ATOM, section 3.2 and appendix E.1.

    Examples
    --------
    >>> tree = add(new_tree(["Perception"]), "<Perception><Enumeration><Object Counting>")
    >>> list(tree.successors("<Perception>"))
    ['<Perception><Enumeration>']
    """
    import networkx as nx

    names = tuple(dict.fromkeys(plain_name(name) for name in categories))
    if not names:
        raise ValueError("a tree needs at least one category")
    tree = nx.DiGraph(categories=names, level=level)
    tree.add_node(ROOT, layer=0, **_EMPTY)
    for name in names:
        hang(tree, CapabilityPath(names=(name,)))
    return tree


def add(tree: Tree, path: Path) -> Tree:
    """Return the tree with a node and any missing ancestors added; an existing node changes nothing.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree.
    path : str or CapabilityPath
        The path of a capability, or of a parent that gets capabilities later.

    Returns
    -------
    networkx.DiGraph
        A new tree. New nodes have no support.

    Raises
    ------
    ValueError
        If the path is malformed or its category is not one of the fixed anchors.

    Examples
    --------
    >>> tree = add(new_tree(["A"]), "<A><B><C>")
    >>> leaves(add(tree, "<A><B><C>"))
    ['<A><B><C>']
    """
    return add_all(tree, (path,))


def add_all(tree: Tree, paths: Iterable[Path]) -> Tree:
    """Return the tree with many nodes added as by `add`, in a single copy.

    Raises
    ------
    ValueError
        As `add`.
    """
    grown = copy_of(tree)
    for path in map(path_of, paths):
        if f"<{path.category}>" not in grown:
            anchors = ", ".join(categories_of(grown))
            raise ValueError(f"<{path.category}> is none of the fixed categories: {anchors}")
        hang(grown, path)
    return grown


def hang(tree: Tree, path: CapabilityPath) -> None:
    """Add a node and its missing ancestors, in place."""
    parent = ROOT
    for depth in range(1, path.layer + 1):
        node = "".join(f"<{name}>" for name in path.names[:depth])
        if node not in tree:
            tree.add_node(node, layer=depth, **_EMPTY)
            tree.add_edge(parent, node)
        parent = node


def merge(tree: Tree, keep: Path, drop: Path) -> Tree:
    """Return the tree with one leaf merged into another.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree.
    keep, drop : str or CapabilityPath
        Two leaves, of the same parent or not.

    Returns
    -------
    networkx.DiGraph
        A new tree, in which `keep` has the members and the support of both (a criterion of both counts once) and has
        absorbed `drop`. The parent of `drop` stays.

    Raises
    ------
    ValueError
        If one of the two is not a leaf of the tree, or both are the same.

    Examples
    --------
    >>> tree = assign(add_all(new_tree(["A"]), ["<A><B><C>", "<A><B><D>"]), {"x": "<A><B><C>", "y": "<A><B><D>"})
    >>> merged = merge(tree, "<A><B><C>", "<A><B><D>")
    >>> leaves(merged), merged.nodes["<A><B><C>"]["support"], holder(merged, "<A><B><D>")
    (['<A><B><C>'], 2, '<A><B><C>')
    """
    return merge_all(tree, ((keep, drop),))


def merge_all(tree: Tree, pairs: Iterable[tuple[Path, Path]]) -> Tree:
    """Return the tree after many merges (keep, drop) in sequence, in a single copy.

    Raises
    ------
    ValueError
        As `merge`: also if a pair names a leaf that an earlier one merged away.
    """
    merged = copy_of(tree)
    for keep, drop in pairs:
        keeper, dropped = _leaf(merged, keep), _leaf(merged, drop)
        if keeper == dropped:
            raise ValueError(f"{keeper} cannot be merged with itself")
        fold(merged, keeper, dropped)
    return merged


def prune(tree: Tree, min_support: int) -> Tree:
    """Return the tree without leaves of insufficient support; their criteria are kept elsewhere.

    Below each parent the weakest leaf (fewest criteria, then the first by id) with a support below the threshold is
    folded into its best-supported sibling (most criteria, then the first by id), repeatedly until no such leaf remains.
    A leaf without a sibling is dropped, and its members are kept on the parent.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree.
    min_support : int
        Minimum number of criteria of a leaf.

    Returns
    -------
    networkx.DiGraph
        A new tree. Pruning it again with the same threshold changes nothing. Parents remain even without leaves.

    References
    ----------
    ATOM, appendix E.1 (a threshold of 5) and F.3.

    Examples
    --------
    >>> tree = add_all(new_tree(["A"]), ["<A><B><C>", "<A><B><D>", "<A><E><F>"])
    >>> tree = assign(tree, {"x": "<A><B><C>", "y": "<A><B><C>", "z": "<A><B><D>", "u": "<A><E><F>"})
    >>> pruned = prune(tree, 2)
    >>> leaves(pruned), sorted(pruned.nodes["<A><B><C>"]["members"]), sorted(pruned.nodes["<A><E>"]["members"])
    (['<A><B><C>'], ['x', 'y', 'z'], ['u'])
    """
    from heapq import heapify, heappop, heappush

    pruned = copy_of(tree)
    support: dict[str, int] = {node: int(pruned.nodes[node].get("support", 0)) for node in pruned}
    for parent in sorted(node for node in pruned if _layer(pruned, node) == deepest(pruned) - 1):
        weakest = [(support[leaf], leaf) for leaf in pruned.successors(parent)]
        best = [(-count, leaf) for count, leaf in weakest]
        heapify(weakest)
        heapify(best)
        removed: set[str] = set()
        while weakest and weakest[0][0] < min_support:
            count, leaf = heappop(weakest)
            if leaf in removed or support[leaf] != count:
                continue
            removed.add(leaf)
            while best and (best[0][1] in removed or -best[0][0] != support[best[0][1]]):
                heappop(best)
            into = best[0][1] if best else parent
            fold(pruned, into, leaf)
            if best:
                support[into] = attributes_of(pruned, into).support
                heappush(weakest, (support[into], into))
                heappush(best, (-support[into], into))
    return pruned


def leaves(tree: Tree) -> list[str]:
    """Return the ids of all capabilities, sorted, or those of all parents if the tree is at their level.

    Examples
    --------
    >>> leaves(new_tree(["A"]))
    []
    >>> leaves(add(new_tree(["A"], level="parent"), "<A><B>"))
    ['<A><B>']
    """
    layer = deepest(tree)
    return sorted(node for node in tree if _layer(tree, node) == layer)


def deepest(tree: Tree) -> int:
    """Return the layer of a tree's leaves: 3, or 2 at the level of parents."""
    return LAYERS.index(tree.graph.get("level", "capability"))


def assign(tree: Tree, leaf_of: Mapping[str, str]) -> Tree:
    """Return the tree with new assignments of criteria: only its leaf holds each criterion.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree; the criteria of its nodes are replaced, and absorbed nodes are kept.
    leaf_of : mapping of str to str
        Criterion to leaf. No node holds a missing criterion.

    Returns
    -------
    networkx.DiGraph
        A new tree, in which every support is the number of members.

    Raises
    ------
    ValueError
        If a criterion is mapped to something that is not a leaf of the tree.
    """
    members: dict[str, list[str]] = {}
    for criterion, leaf in leaf_of.items():
        members.setdefault(leaf, []).append(criterion)
    mapped = copy_of(tree)
    for leaf in members:
        _leaf(mapped, leaf)
    for node in mapped:
        criteria = frozenset(members.get(node, ()))
        mapped.nodes[node].update(members=criteria, support=len(criteria))
    return mapped


def holder(tree: Tree, path: Path) -> str | None:
    """Return the node that represents a path: the node itself, or the node that absorbed it; None if it never existed.

    A path that several nodes absorbed (merged, added again, merged again) is represented by the first of them by id.
    """
    node = str(path)
    if node in tree:
        return node
    return min((other for other in tree if node in tree.nodes[other].get("absorbed", ())), default=None)


def copy_of(tree: Tree) -> Tree:
    """Return a copy that shares no mutable data."""
    copied = tree.copy()
    for node in copied:
        attributes = copied.nodes[node]
        members, absorbed = frozenset(attributes.get("members", ())), tuple(attributes.get("absorbed", ()))
        support = attributes.get("support", len(members))
        attributes.update(members=members, absorbed=absorbed, support=support)
    return copied


def fold(tree: Tree, keep: str, drop: str) -> None:
    """Merge a leaf, or a parent without leaves, into another node, in place."""
    keeper, dropped = attributes_of(tree, keep), attributes_of(tree, drop)
    tree.nodes[keep].update(
        members=keeper.members | dropped.members,
        support=keeper.support + dropped.support - len(keeper.members & dropped.members),
        absorbed=tuple(sorted({*keeper.absorbed, *dropped.absorbed, drop} - {keep})),
    )
    tree.remove_node(drop)


def carry(tree: Tree, node: str, to: str) -> None:
    """Move a node and its descendants to another path of its layer, in place, merging it with any existing node.

    Examples
    --------
    >>> tree = add_all(new_tree(["A"]), ["<A><B><C>", "<A><D><E>"])
    >>> carry(tree, "<A><D>", "<A><B>")
    >>> leaves(tree), holder(tree, "<A><D><E>")
    (['<A><B><C>', '<A><B><E>'], '<A><B><E>')
    """
    hang(tree, path_of(to))
    for child in sorted(tree.successors(node)):
        carry(tree, child, to + child.removeprefix(node))
    fold(tree, to, node)


def _layer(tree: Tree, node: str) -> int | None:
    return tree.nodes[node].get("layer")


def _leaf(tree: Tree, path: Path) -> str:
    node = str(path)
    if node not in tree or _layer(tree, node) != deepest(tree):
        raise ValueError(f"{node} is no leaf of the tree")
    return node


def path_of(path: Path) -> CapabilityPath:
    """Return a path as a `CapabilityPath`.

    Raises
    ------
    ValueError
        If the text is not a path.
    """
    if isinstance(path, CapabilityPath):
        return path
    return CapabilityPath.parse(path)
