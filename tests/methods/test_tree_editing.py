"""A person's single changes of a tree: each a new version with its reason, and refused in words where it would make no tree."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dokimasia.algorithms.taxonomy import add_all, assign, new_tree
from dokimasia.algorithms.trees.formats import to_version
from dokimasia.algorithms.trees.places import leaf_mapping
from dokimasia.domain.growth import Placement, TreeCriterion
from dokimasia.errors import DataError, DokimasiaError, InputError
from dokimasia.methods.tree.editing import TreeChange, edit_tree
from dokimasia.methods.tree.stored_trees import load_tree
from dokimasia.storage.home import Home
from dokimasia.storage.trees.versions import create_tree, keep_criteria, put_version, versions

PLACES = {
    "u:1": "<A><Look><Colour>",
    "u:2": "<A><Look><Colour>",
    "v:1": "<A><Look><Shape>",
    "v:2": "<A><Number><Count>",
    "w:1": "<B><Words><Reading>",
}


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    """A home with one small tree, `small`."""
    with Home.open(tmp_path / "home", write=True) as home:
        await create_tree(home, "small")
        await keep_criteria(home, "small", [TreeCriterion(key, f"text of {key}", key[0]) for key in PLACES])
        tree = assign(add_all(new_tree(["A", "B"]), PLACES.values()), PLACES)
        rows = [Placement(key, leaf) for key, leaf in PLACES.items()]
        await put_version(home, "small", to_version(tree), phase="map", made_by="sim/judge", placements=rows)
        yield home


async def _changed(home: Home, kind: str, node: str, into: str = "", *criteria: str) -> dict[str, str]:
    change = TreeChange.model_validate(
        {"kind": kind, "node": node, "into": into, "criteria": criteria, "reason": f"why it is a {kind}"}
    )
    newest = load_tree(home, "small").stored.position
    kept = await edit_tree(home, "small", change, version=newest, person="ana")
    assert kept.new
    assert kept.position == newest + 1
    assert {edit.reason for edit in kept.edits} == {f"why it is a {kind}"}
    return leaf_mapping(load_tree(home, "small").tree)


async def test_each_change_is_a_new_version_of_the_person(home: Home) -> None:
    """Rename, move, merge, split, add and prune lead where they say, lose no criterion, and say who made the version."""
    held = await _changed(home, "rename", "<A><Look><Colour>", "Hue")
    assert held["u:1"] == held["u:2"] == "<A><Look><Hue>"
    held = await _changed(home, "move", "<A><Look><Hue>", "<A><Number>")
    assert held["u:1"] == "<A><Number><Hue>"
    held = await _changed(home, "split", "<A><Number><Hue>", "Tint", "u:2")
    assert (held["u:1"], held["u:2"]) == ("<A><Number><Hue>", "<A><Number><Tint>")
    held = await _changed(home, "split", "<A><Number><Tint>", "<A><Look><Shape>", "u:2")
    assert held["u:2"] == "<A><Look><Shape>"
    held = await _changed(home, "merge", "<A><Number><Count>", "<A><Number><Hue>")
    assert held["v:2"] == "<A><Number><Hue>"
    held = await _changed(home, "merge", "<A><Number>", "<A><Look>")
    assert held["v:2"] == "<A><Look><Hue>"
    await _changed(home, "add", "<B><Words>", "Spelling")
    assert "<B><Words><Spelling>" in load_tree(home, "small").tree
    held = await _changed(home, "prune", "<A><Look><Shape>")
    assert set(held) == set(PLACES)
    assert held["v:1"] == "<A><Look><Hue>"
    made = versions(home, "small")
    assert [(one.phase, one.made_by) for one in made] == [("map", "sim/judge"), *[("edit", "ana")] * (len(made) - 1)]


@pytest.mark.parametrize(
    ("kind", "node", "into", "criteria", "said"),
    [
        ("rename", "<A>", "C", (), "one of the fixed categories"),
        ("rename", "<A><Look><Colour>", "Shape", (), "merge the two instead"),
        ("rename", "<A><Look><Colour>", "", (), "name"),
        ("rename", "<A><Look><Nowhere>", "X", (), "there is no node"),
        ("rename", "<A><Look><Colour>", "reading", (), "Reading"),
        ("move", "<A><Look><Colour>", "<B>", (), "hangs below a parent"),
        ("merge", "<A><Look><Colour>", "<A><Number>", (), "two of one layer"),
        ("merge", "<A><Look>", "<A><Look>", (), "merged with itself"),
        ("split", "<A><Look><Colour>", "Hue", ("w:1",), "does not hold"),
        ("split", "<A><Look>", "Hue", ("u:1",), "only leaves"),
        ("split", "<A><Look><Colour>", "Hue", (), "no criterion is named"),
        ("add", "<A><Look><Colour>", "Hue", (), "no layer below"),
        ("add", "<A><Look>", "Colour", (), "already"),
        ("prune", "<A><Number>", "", (), "has criteria below it"),
        ("prune", "<A><Number><Count>", "", (), "no sibling"),
    ],
)
async def test_what_makes_no_tree_is_refused_in_words(
    home: Home, kind: str, node: str, into: str, criteria: tuple[str, ...], said: str
) -> None:
    """A change that cannot be made is refused with the reason, and the tree has no other version after it."""
    with pytest.raises(DokimasiaError, match=said) as refused:
        await _changed(home, kind, node, into, *criteria)
    assert isinstance(refused.value, InputError | DataError)
    assert str(refused.value).endswith("Nothing was changed.")
    assert len(versions(home, "small")) == 1


async def test_an_edit_of_an_older_version_undoes_nothing_newer(home: Home) -> None:
    """Of two people who edit the same version the second is told, and the first one's change stands."""
    await _changed(home, "rename", "<A><Look><Colour>", "Hue")
    late = TreeChange(kind="rename", node="<A><Look><Shape>", into="Form", reason="late")
    with pytest.raises(InputError, match="small@1, but small@2 is newer"):
        await edit_tree(home, "small", late, version=1, person="bob")
    assert len(versions(home, "small")) == 2
