"""One change of a capability tree by a person, checked as an edited file is, and kept as the tree's newest version."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from dokimasia.algorithms.taxonomy import add, carry, copy_of, fold, leaves
from dokimasia.algorithms.trees.changes import edits_by_hand, with_absorbed
from dokimasia.algorithms.trees.checks import check_tree
from dokimasia.algorithms.trees.places import in_order, leaf_mapping, place_of
from dokimasia.domain.capability import LAYERS, ROOT, CapabilityPath
from dokimasia.domain.identity import Value
from dokimasia.errors import DecidedMeanwhile, InputError
from dokimasia.methods.tree.reading.files import keep_tree, refuse
from dokimasia.methods.tree.reading.trees import load_tree
from dokimasia.storage.home import Home

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

ChangeKind = Literal["rename", "move", "merge", "split", "add", "prune"]


class TreeChange(Value):
    """One change of a tree, and why.

    `node` is the id of the node that is changed, such as `<Perception><Attributes><Colour>`. What `into` says: rename, its
    new name; move, the id of the node that it is to hang below; merge, the id of the node that takes its criteria; split,
    the name of the new sibling that gets `criteria`, or the id of a leaf that is there; add, the name of a new node below
    `node`; prune, nothing: its criteria go to its sibling with most of them.
    """

    kind: ChangeKind
    node: str = Field(min_length=1, max_length=1000)
    into: str = Field(default="", max_length=1000)
    criteria: tuple[str, ...] = ()
    reason: str = Field(min_length=1, max_length=500)


async def edit_tree(home: Home, tree: str, change: TreeChange, *, version: int, who: str) -> dict[str, Any]:
    """Change a tree and keep it as its newest version.

    Args:
        home: open for writing.
        tree: its name.
        change: what is done, and why.
        version: the position of the version that was looked at; where there is a newer one, nothing is changed.
        who: the person.

    Returns:
        tree, position, version, new, edits.

    Raises:
        NotFound: there is no such tree.
        DecidedMeanwhile: there is a newer version.
        InputError: there is no such node, or the change cannot be made.
        DataError: the tree would be none any more; the message says why, as that of an edited file.
    """
    base = load_tree(home, tree)
    name = base.stored.tree
    if version != base.stored.position:
        raise DecidedMeanwhile(
            f"this is an edit of {name}@{version}, but {base.name} is newer, and would be undone: look at {base.name} and "
            "edit that. Nothing was changed."
        )
    try:
        changed = _changed(base.tree, change)
    except ValueError as error:
        raise InputError(f"{base.name}: {error}. Nothing was changed.") from None
    refuse(
        f"{base.name} after this {change.kind}",
        check_tree(changed, categories=base.version.categories, criteria=leaf_mapping(base.tree)),
    )
    edits = edits_by_hand(base.tree, changed, reason=" ".join(change.reason.split()))
    return await keep_tree(home, name, with_absorbed(changed, edits, base.tree), base, edits, phase="edit", made_by=who)


def _changed(tree: "Tree", change: TreeChange) -> "Tree":
    """Return a tree after a change.

    Raises:
        ValueError: the change cannot be made, in words.
    """
    node = _known(tree, change.node)
    place = place_of(node)
    if change.kind == "add":
        return _added(tree, node, change.into)
    if place.layer < 2:
        raise ValueError(
            f"{'the root' if node == ROOT else f'{node} is one of the fixed categories, which'} stays as it is"
        )
    if change.kind == "rename":
        return _carried(tree, node, _sibling(node, change.into))
    if change.kind == "move":
        under = _known(tree, change.into)
        if place_of(under).layer != place.layer - 1:
            raise ValueError(
                f"{under} is a {_layer(under)}, and a {_layer(node)} hangs below a {LAYERS[place.layer - 1]}"
            )
        return _carried(tree, node, f"{under}<{place.name}>")
    if change.kind == "merge":
        return _merged(tree, node, _known(tree, change.into))
    return _split(tree, node, change) if change.kind == "split" else _pruned(tree, node)


def _known(tree: "Tree", node: str) -> str:
    if node not in tree:
        raise ValueError(f"there is no node {node or 'without a name'}")
    return node


def _layer(node: str) -> str:
    return LAYERS[place_of(node).layer]


def _sibling(node: str, name: str) -> str:
    parent = place_of(node).parent or ROOT
    return str(CapabilityPath.parse(parent).child(name))


def _added(tree: "Tree", under: str, name: str) -> "Tree":
    if under == ROOT:
        raise ValueError("the categories are fixed: add a node below one of them")
    path = CapabilityPath.parse(under).child(name)
    if str(path) in tree:
        raise ValueError(f"there is a node {path} already")
    return add(tree, path)


def _carried(tree: "Tree", node: str, to: str) -> "Tree":
    if to == node:
        raise ValueError(f"{node} is there already: nothing is changed")
    if to in tree:
        raise ValueError(f"there is a node {to} already: merge the two instead")
    carried = copy_of(tree)
    carry(carried, node, to)
    return carried


def _merged(tree: "Tree", node: str, into: str) -> "Tree":
    if node == into:
        raise ValueError(f"{node} cannot be merged with itself")
    if _layer(node) != _layer(into):
        raise ValueError(f"{node} is a {_layer(node)}, {into} a {_layer(into)}: merge two of one layer")
    merged = copy_of(tree)
    carry(merged, node, into)
    return merged


def _split(tree: "Tree", node: str, change: TreeChange) -> "Tree":
    held = leaf_mapping(tree)
    if node not in leaves(tree):
        raise ValueError(f"{node} is a {_layer(node)}, and only leaves hold criteria that can be split off")
    strange = [one for one in change.criteria if held.get(one) != node]
    if strange or not change.criteria:
        raise ValueError(
            f"{node} does not hold the criteria {', '.join(strange)}" if strange else "no criterion is named"
        )
    target = change.into if change.into in tree else _sibling(node, change.into)
    if target == node:
        raise ValueError(f"{node} holds these criteria already")
    grown = tree if target in tree else add(tree, target)
    if target not in leaves(grown):
        raise ValueError(f"{target} is no leaf, and only leaves hold criteria")
    divided, moved = copy_of(grown), frozenset(change.criteria)
    for one, members in (
        (node, divided.nodes[node]["members"] - moved),
        (target, divided.nodes[target]["members"] | moved),
    ):
        divided.nodes[one].update(members=members, support=len(members))
    return divided


def _pruned(tree: "Tree", node: str) -> "Tree":
    pruned = copy_of(tree)
    if node not in leaves(tree):
        below = [one for one in map(str, in_order(tree)) if one.startswith(node)]
        if any(tree.nodes[one]["members"] for one in below):
            raise ValueError(f"{node} has criteria below it: move or merge what hangs below it first")
        pruned.remove_nodes_from(below)
        return pruned
    siblings = [str(one) for one in tree.successors(place_of(node).parent) if one != node]
    if not siblings:
        if tree.nodes[node]["members"]:
            raise ValueError(f"{node} has no sibling to take its criteria: merge it with another leaf instead")
        pruned.remove_node(node)
        return pruned
    fold(pruned, min(siblings, key=lambda one: (-int(tree.nodes[one]["support"]), one)), node)
    return pruned
