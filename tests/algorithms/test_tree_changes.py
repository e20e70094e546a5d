"""What a person did to a tree by hand is told as the edits that they made."""

import networkx as nx

from dokimasia.algorithms.taxonomy import add_all, assign, holder, merge, new_tree
from dokimasia.algorithms.trees.changes import edits_by_hand, with_absorbed
from tests.hand_edits import move, rename

PATHS = ["<A><B><C>", "<A><B><D>", "<A><E><F>"]
LEAF_OF = {"x": "<A><B><C>", "y": "<A><B><C>", "z": "<A><B><D>", "u": "<A><E><F>"}


def grown() -> nx.DiGraph:
    return assign(add_all(new_tree(["A", "Z"]), PATHS), LEAF_OF)


def told(new: nx.DiGraph) -> list[tuple[str, str, str | None]]:
    return [(edit.kind, edit.node, edit.into) for edit in edits_by_hand(grown(), new)]


def test_nothing_done_is_nothing_told() -> None:
    """Equal trees have no edits between them."""
    assert told(grown()) == []


def test_a_leaf_is_renamed_moved_and_merged() -> None:
    """Each single act by hand is told as that act, with the criteria behind it."""
    assert told(rename(grown(), "<A><B><C>", "Cc")) == [("rename", "<A><B><C>", "<A><B><Cc>")]
    assert told(move(grown(), "<A><B><C>", "<A><E>")) == [("move", "<A><B><C>", "<A><E><C>")]
    assert told(merge(grown(), "<A><B><C>", "<A><B><D>")) == [("merge", "<A><B><D>", "<A><B><C>")]
    (edit,) = edits_by_hand(grown(), rename(grown(), "<A><B><C>", "Cc"), reason="clearer")
    assert (edit.by, edit.reason, edit.criteria) == ("person", "clearer", ("x", "y"))


def test_what_follows_its_parent_is_no_edit_of_its_own() -> None:
    """A renamed or moved parent takes its leaves along in one edit."""
    assert told(rename(grown(), "<A><B>", "Bb")) == [("rename", "<A><B>", "<A><Bb>")]
    assert told(move(grown(), "<A><E>", "<Z>")) == [("move", "<A><E>", "<Z><E>")]


def test_additions_removals_and_single_criteria() -> None:
    """A new node is added, one whose criteria are gone is pruned, and a lone criterion is moved."""
    assert told(assign(add_all(grown(), ["<Z><N><M>"]), LEAF_OF)) == [
        ("add", "<Z><N>", None),
        ("add", "<Z><N><M>", None),
    ]
    small = assign(add_all(new_tree(["A", "Z"]), PATHS[:2]), {one: leaf for one, leaf in LEAF_OF.items() if one != "u"})
    assert told(small) == [("prune", "<A><E>", None), ("prune", "<A><E><F>", None), ("move", "<A><E><F>", "(none)")]
    strayed = assign(grown(), {**LEAF_OF, "y": "<A><E><F>"})
    assert told(strayed) == [("move", "<A><B><C>", "<A><E><F>")]


def test_what_was_called_otherwise_is_found_again() -> None:
    """After a rename by hand the old name still leads to the node, and so do the names before it."""
    old = merge(grown(), "<A><B><C>", "<A><B><D>")
    new = assign(
        add_all(new_tree(["A", "Z"]), ["<A><B><Cc>", "<A><E><F>"]),
        {"x": "<A><B><Cc>", "y": "<A><B><Cc>", "z": "<A><B><Cc>", "u": "<A><E><F>"},
    )
    remembering = with_absorbed(new, edits_by_hand(old, new), old)
    assert holder(remembering, "<A><B><C>") == "<A><B><Cc>"
    assert holder(remembering, "<A><B><D>") == "<A><B><Cc>"
