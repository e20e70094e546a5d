# pyright: standard
# networkx ships no types; values read from a tree are annotated at once.
"""Merging equal nodes of a capability tree, and renaming or folding vague ones, by a judge's decisions."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, combinations

from dokimasia.algorithms.taxonomy import Tree, attributes_of, carry, copy_of, deepest, fold, leaves
from dokimasia.algorithms.trees.growth import Grown, judged
from dokimasia.algorithms.trees.places import members_below, place_of
from dokimasia.domain.capability import LAYERS, CapabilityPath, EditKind, TreeEdit


def parents(tree: Tree) -> list[str]:
    """Return the nodes directly above leaves, sorted; empty for a tree at the level of parents."""
    leaf_parents = {leaf.rpartition("<")[0] for leaf in leaves(tree)}
    return sorted(node for node in leaf_parents if node.count("<") > 1)


def comparisons(
    tree: Tree,
    *,
    nodes: Sequence[str] | None = None,
    half: int = 30,
    limit: int = 64,
    new: Collection[str] | None = None,
) -> list[tuple[str, ...]]:
    """Return lists of leaves to search for duplicates, such that any two leaves of a category share a list.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree.
    nodes : sequence of str, optional
        Nodes of one other layer instead of the leaves.
    half : int
        Half of the maximum number of nodes of a list.
    limit : int
        If this many lists suffice for all pairs of nodes in the tree, the categories are not separated.
    new : collection of str, optional
        Nodes of which each list must contain at least one, since the others were compared before.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add_all, new_tree
    >>> tree = add_all(new_tree(["A", "B"]), ["<A><P><1>", "<A><P><2>", "<B><Q><3>"])
    >>> comparisons(tree, half=1, limit=1)
    [('<A><P><1>', '<A><P><2>')]
    """
    all_nodes = leaves(tree) if nodes is None else sorted(nodes)
    lists = _pairs_of_halves(all_nodes, half)
    if len(lists) > limit:
        members: defaultdict[str, list[str]] = defaultdict(list)
        for node in all_nodes:
            members[CapabilityPath.parse(node).category].append(node)
        lists = [leaves for category in sorted(members) for leaves in _pairs_of_halves(members[category], half)]
    required = set(all_nodes if new is None else new)
    return [leaves for leaves in lists if len(leaves) > 1 and required.intersection(leaves)]


def unite(
    tree: Tree,
    groups: Iterable[Sequence[str]],
    vague: Mapping[str, str] | None = None,
    *,
    fixed: Collection[str] = (),
) -> Grown:
    """Return the tree after merging equal nodes and renaming or folding vague ones.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree.
    groups : iterable of sequence of str
        Equal nodes of one layer, first the one whose name is kept. Groups with a common node become one. If parents are
        merged, their descendants move along.
    vague : mapping of str to str, optional
        Nodes whose name does not say what belongs there, to a better name or an empty one. A node takes its better
        name, or is merged with a node that has it. A leaf without one is folded into its best-supported sibling that is
        not vague, or, if there is none, dropped with its members kept on the node above; a parent without one keeps its
        name, since its capabilities belong below no other parent.
    fixed : collection of str
        Nodes that must not change: others may be merged into them, but they are never merged into others.

    Returns
    -------
    Grown
        The kept node of a group is one that is not vague, then was listed first most often, then has most criteria,
        then is the first by id.
    """
    tidier = _TreeTidier(tree, fixed)
    chosen = [[node for node in group if node in tree] for group in groups]
    unclear = {node: name for node, name in (vague or {}).items() if node in tree}
    layers = {node.count("<") for node in chain(unclear, *chosen)}
    for layer in sorted(layers, reverse=True):
        of_layer = {node: name for node, name in unclear.items() if node.count("<") == layer}
        tidier.merge([group for group in chosen if group and group[0].count("<") == layer], of_layer)
        tidier.mend(of_layer)
    return Grown(tidier.tree, tidier.changes, tidier.refused)


class _TreeTidier:
    """A tree in the process of being tidied, with its changes and the refused requests."""

    def __init__(self, tree: Tree, fixed: Collection[str]) -> None:
        self.tree, self.fixed = copy_of(tree), frozenset(fixed)
        self.changes: list[TreeEdit] = []
        self.refused: list[tuple[str, str]] = []

    def merge(self, groups: Iterable[Sequence[str]], vague: Collection[str]) -> None:
        """Merge the nodes of each group of one layer."""
        import networkx as nx

        support = self._support()
        first: Counter[str] = Counter()
        alike = nx.Graph()
        for group in groups:
            first.update(group[:1])
            nx.add_path(alike, group)
        for group in sorted(sorted(part) for part in nx.connected_components(alike)):
            old = [node for node in group if node in self.fixed]
            keep = min(old or group, key=lambda node: (node in vague, -first[node], -support[node], node))
            for node in group:
                if node == keep:
                    continue
                if node in self.fixed:
                    self.refused.append(
                        (node, f"it is said to be the same as {keep}, but both were in the tree before")
                    )
                elif not self._fits(node, keep):
                    self.refused.append(
                        (node, f"it is said to be the same as {keep}, whose name a node below it bears")
                    )
                else:
                    self._carry("merge", node, keep, f"the same {LAYERS[node.count('<')]} as {keep}")

    def mend(self, vague: Mapping[str, str]) -> None:
        """Rename or fold vague nodes of one layer, those with a better name first."""
        for node in sorted(vague, key=lambda node: (not vague[node], node)):
            if node not in self.tree:
                continue
            if node in self.fixed:
                self.refused.append((node, "it is said to be vague, but was in the tree before"))
            elif not (vague[node] and self._rename(node, vague[node], vague)) and not self._fold(node, vague):
                self.refused.append((node, "it is said to be vague, but no name that it could bear is given"))

    def _rename(self, node: str, name: str, vague: Collection[str]) -> bool:
        """Give a node a better name, and return whether that was possible."""
        parent = place_of(node).parent or ""
        leaf = node.count("<") == deepest(self.tree)
        others = leaves(self.tree) if leaf else list(self.tree.successors(parent))
        twin = next((node for node in others if place_of(node).name.casefold() == name.casefold()), None)
        to = twin or f"{parent}<{name}>"
        if twin in vague or not self._fits(node, to):
            return False
        if twin is None:
            self._carry("rename", node, to, "its name is vague")
        else:
            self._carry("merge", node, to, f"its name is vague, and {twin} says what it is")
        return True

    def _fold(self, node: str, vague: Collection[str]) -> bool:
        """Fold a leaf into a sibling or the node above, and return whether it is a leaf."""
        if node.count("<") < deepest(self.tree):
            return False
        parent, support = place_of(node).parent or "", self._support()
        siblings = sorted(
            (node for node in self.tree.successors(parent) if node not in vague),
            key=lambda node: (-support[node], node),
        )
        reason = "its name is vague" if siblings else "its name is vague, and no sibling could take it in"
        into = siblings[0] if siblings else parent
        self.changes.append(judged("prune", node, into, reason, attributes_of(self.tree, node).members))
        fold(self.tree, into, node)
        return True

    def _fits(self, node: str, to: str) -> bool:
        """Return whether no ancestor or descendant has a node's new name."""
        *ancestors, name = (part.casefold() for part in CapabilityPath.parse(to).names)
        return name not in {*ancestors, *(place_of(node).name.casefold() for node in self.tree.successors(node))}

    def _carry(self, kind: EditKind, node: str, to: str, reason: str) -> None:
        members = members_below(self.tree)
        self.changes.append(judged(kind, node, to, reason, members[node]))
        for child in sorted(self.tree.successors(node)):
            moved = to + child.removeprefix(node)
            self.changes.append(judged("move", child, moved, f"what it is below is {to} now", members[child]))
        carry(self.tree, node, to)

    def _support(self) -> dict[str, int]:
        members = members_below(self.tree)
        return {node: max(len(members[node]), attributes_of(self.tree, node).support) for node in members}


def _pairs_of_halves(nodes: Sequence[str], half: int) -> list[tuple[str, ...]]:
    parts = [tuple(nodes[at : at + half]) for at in range(0, len(nodes), half)]
    if len(parts) < 2:
        return parts
    return [(*first, *second) for first, second in combinations(parts, 2)]
