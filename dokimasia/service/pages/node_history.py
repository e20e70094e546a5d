"""How a node of a capability tree came about: what was done to it under each of the names that it has had."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.methods.tree.stored_trees import edit_row
from dokimasia.storage.home import Home
from dokimasia.storage.trees.versions import get_version


class Past(NamedTuple):
    """What was done to a node, the newest first, with the reasons; and the ids that it had before, the newest first."""

    edits: Sequence[Mapping[str, Any]]
    former: Sequence[str]


def past_of(home: Home, node: str, history: Sequence[Mapping[str, Any]]) -> Past:
    """Return the past of a node of the last of some versions, over renames and moves of it and of what it hangs below."""
    edits: list[dict[str, Any]] = []
    former: list[str] = []
    named = node
    for one in reversed(history):
        if not one["edits"]:
            continue
        version = get_version(home, one["id"])
        there = {other.id for other in version.nodes}
        called = [
            edit
            for edit in version.edits
            if edit.kind in ("rename", "move") and edit.into and named.startswith(edit.into) and edit.node not in there
        ]
        own = max(called, key=lambda edit: len(edit.into or ""), default=None)
        edits += [
            {"position": one["position"], "who": row["model"] or one["by"], **row}
            for edit in version.edits
            if edit is own or named in (edit.node, edit.into)
            for row in [edit_row(edit)]
        ]
        if own is not None:
            named = own.node + named.removeprefix(own.into or "")
            former.append(named)
    return Past(edits, [one for one in dict.fromkeys(former) if one != node])
