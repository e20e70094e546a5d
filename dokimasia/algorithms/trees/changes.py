# pyright: standard
# networkx ships no types; values read from a tree are annotated at once.
"""Manual changes of a capability tree as edits: nodes added, renamed, moved, merged or pruned, and criteria moved."""

from collections import Counter
from collections.abc import Iterable, Sequence

from dokimasia.algorithms.taxonomy import Tree, attributes_of, copy_of
from dokimasia.algorithms.trees.places import mapping_of, members_below, place_of
from dokimasia.domain.capability import ROOT, EditKind, TreeEdit


def edits_by_hand(old: Tree, new: Tree, *, reason: str = "") -> tuple[TreeEdit, ...]:
    """Return the edits that lead from one tree to another, as far as the trees reveal them.

    A removed node counts as renamed or moved if a new node of the same layer has exactly the same content (renamed if
    the parent is the same), as merged if most of its criteria are now in one node, and else as pruned.

    Parameters
    ----------
    old, new : networkx.DiGraph
        Capability trees.
    reason : str
        The reason recorded with every edit.

    Returns
    -------
    tuple of TreeEdit
        All by a person: renames and moves first, then merges, prunes, additions, and criteria that changed their leaf
        for no other reason (`kind` "move", `node` and `into` the leaves, "(none)" if a criterion had none).

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add_all, assign, new_tree
    >>> old = assign(add_all(new_tree(["A"]), ["<A><B><C>", "<A><B><D>"]), {"x": "<A><B><C>", "y": "<A><B><D>"})
    >>> new = assign(add_all(new_tree(["A"]), ["<A><B><E>", "<A><B><D>"]), {"x": "<A><B><E>", "y": "<A><B><D>"})
    >>> [(edit.kind, edit.node, edit.into) for edit in edits_by_hand(old, new)]
    [('rename', '<A><B><C>', '<A><B><E>')]
    """
    held_before, held_after = members_below(old), members_below(new)
    removed = sorted(set(old) - set(new), key=lambda node: (node.count("<"), node))
    fresh = sorted(set(new) - set(old), key=lambda node: (node.count("<"), node))
    before, after = mapping_of(old), mapping_of(new)
    became: dict[str, str] = {}
    edits: list[TreeEdit] = []
    heirs: set[str] = set()
    for node in removed:
        heir = _heir(node, held_before, fresh, held_after, heirs, became)
        if heir is None:
            continue
        heirs.add(heir)
        became[node] = heir
        if _path_after_changes(node, became) == heir:
            continue
        stayed = _path_after_changes(_parent(node), became) == _parent(heir)
        edits.append(_edit("rename" if stayed else "move", node, heir, held_before[node], reason))
    for node in removed:
        if node in became:
            continue
        members = sorted(old.nodes[node].get("members", ()))
        into = _majority(members, after)
        if into is not None:
            became[node] = into
        edits.append(_edit("merge" if into else "prune", node, into, members, reason))
    edits += [_edit("add", node, None, (), reason) for node in fresh if node not in heirs]
    strayed: dict[tuple[str, str], list[str]] = {}
    for criterion in sorted(before.keys() | after.keys()):
        was, now = before.get(criterion, "(none)"), after.get(criterion, "(none)")
        if became.get(was, was) != now:
            strayed.setdefault((was, now), []).append(criterion)
    edits += [_edit("move", node, into, moved, reason) for (node, into), moved in sorted(strayed.items())]
    return tuple(edits)


def with_absorbed(new: Tree, edits: Sequence[TreeEdit], old: Tree) -> Tree:
    """Return the tree with nodes that also absorb what a person renamed, moved or merged into them.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add, holder, new_tree
    >>> tree = add(new_tree(["A"]), "<A><B><D>")
    >>> edit = TreeEdit(kind="merge", node="<A><B><C>", into="<A><B><D>")
    >>> holder(with_absorbed(tree, [edit], add(tree, "<A><B><C>")), "<A><B><C>")
    '<A><B><D>'
    """
    remembering = copy_of(new)
    for edit in edits:
        if edit.into is not None and edit.into in remembering and edit.node not in remembering and edit.node in old:
            data = remembering.nodes[edit.into]
            earlier = old.nodes[edit.node].get("absorbed", ())
            absorbed = {*attributes_of(remembering, edit.into).absorbed, *earlier, edit.node}
            data.update(absorbed=tuple(sorted(absorbed - {edit.into})))
    return remembering


def _heir(
    node: str,
    before: dict[str, list[str]],
    fresh: Sequence[str],
    after: dict[str, list[str]],
    heirs: set[str],
    became: dict[str, str],
) -> str | None:
    """Return the new node of the same layer with exactly the content of a node, preferably below its parent's heir."""
    if not before[node]:
        return None
    alike = [
        candidate
        for candidate in fresh
        if candidate not in heirs and candidate.count("<") == node.count("<") and after[candidate] == before[node]
    ]
    carried = _path_after_changes(node, became)
    return min(
        alike,
        key=lambda candidate: (candidate != carried, _parent(candidate) != _parent(node), candidate),
        default=None,
    )


def _path_after_changes(node: str, became: dict[str, str]) -> str:
    """Return the path that a node would have if only its ancestors had changed."""
    if node == ROOT:
        return ROOT
    parent = _parent(node)
    parent_path = became[parent] if parent in became else _path_after_changes(parent, became)
    name = place_of(node).name
    if parent_path == ROOT:
        return f"<{name}>"
    return f"{parent_path}<{name}>"


def _parent(node: str) -> str:
    return place_of(node).parent or ROOT


def _majority(members: Sequence[str], after: dict[str, str]) -> str | None:
    """Return the node that now holds more than half of some criteria."""
    counts = Counter(after[criterion] for criterion in members if criterion in after)
    heir = min(counts, key=lambda node: (-counts[node], node), default=None)
    if heir is not None and counts[heir] * 2 > len(members):
        return heir
    return None


def _edit(kind: EditKind, node: str, into: str | None, criteria: Iterable[str], reason: str) -> TreeEdit:
    return TreeEdit(kind=kind, node=node, into=into, reason=reason, by="person", criteria=tuple(sorted(criteria)))
