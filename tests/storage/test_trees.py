"""Trees in a home: versions in order and once each, criteria and mappings, and what a name may mean."""

import pytest

from dokimasia.algorithms.taxonomy import add, assign, new_tree
from dokimasia.algorithms.trees.formats import to_version
from dokimasia.domain.capability import TreeVersion
from dokimasia.domain.growth import Placement, TreeCriterion
from dokimasia.errors import ConfigError, NotFound
from dokimasia.storage.home import Home
from dokimasia.storage.trees.versions import (
    create_tree,
    get_version,
    keep_criteria,
    list_trees,
    mappings,
    put_version,
    resolve_tree,
    tree_criteria,
    versions,
    versions_of_run,
)

LEAF = "<Perception><Enumeration><Counting>"
CRITERIA = [TreeCriterion("b:1", "How many?", "s1", "count"), TreeCriterion("a:1", "Which?", "s2", "kind", "red", "Q")]
PLACEMENTS = [
    Placement("b:1", LEAF, call="k", model="J", prompt="tree_map", prompt_version=1),
    Placement("a:1", None, "unplaced", "the judge says that no leaf fits"),
]


def version(before: str | None = None) -> TreeVersion:
    """A version with one criterion in one leaf."""
    return to_version(assign(add(new_tree(), LEAF), {"b:1": LEAF}), before=before)


async def filled(home: Home) -> tuple[str, str]:
    """Put a tree of two versions into a home and return their ids."""
    await create_tree(home, "T", run_id="run1", source="evaluation7")
    await keep_criteria(home, "T", CRITERIA)
    first = await put_version(home, "T", to_version(new_tree()), phase="propose", run_id="run1", made_by="J")
    second = await put_version(
        home,
        "T",
        version(first.id),
        phase="map",
        run_id="run1",
        made_by="J",
        report={"calls": 2},
        placements=PLACEMENTS,
    )
    return first.id, second.id


async def test_versions_keep_their_order(home: Home) -> None:
    """Versions are numbered from 1 in the order of their making, with phase, run, maker and report."""
    first, second = await filled(home)
    found = versions(home, "T")
    assert [(one.position, one.id, one.phase) for one in found] == [(1, first, "propose"), (2, second, "map")]
    assert (found[1].run_id, found[1].made_by, found[1].report) == ("run1", "J", {"calls": 2})
    assert versions_of_run(home, "run1") == found
    assert get_version(home, second) == version(first)
    assert [(one.name, one.versions, one.source) for one in list_trees(home)] == [("T", 2, "evaluation7")]


async def test_a_version_is_kept_once(home: Home) -> None:
    """Done again, as after a crash, a phase adds neither a version nor mappings."""
    first, second = await filled(home)
    again = await put_version(home, "T", version(first), phase="map", run_id="run1", placements=PLACEMENTS)
    assert (again.id, again.position) == (second, 2)
    assert len(versions(home, "T")) == 2
    assert len(mappings(home, second)) == 2


async def test_criteria_and_mappings_come_back_sorted(home: Home) -> None:
    """What was kept comes back by key; a criterion that is known stays as it was; an early version has no mapping."""
    first, second = await filled(home)
    await keep_criteria(home, "T", [CRITERIA[0]._replace(text="Another text")])
    assert tree_criteria(home, "T") == sorted(CRITERIA)
    assert mappings(home, second) == mappings(home, second, tree="T") == sorted(PLACEMENTS)
    assert mappings(home, first) == []
    assert mappings(home, second, tree="other") == []


@pytest.mark.parametrize("text", ["T", "last", "run1", "evaluation", "T@2"])
async def test_what_a_name_may_mean(home: Home, text: str) -> None:
    """A tree's name, its growth, the run it was grown from, `last` and a position all mean the newest version here."""
    _, second = await filled(home)
    assert resolve_tree(home, text).id == second


async def test_the_beginning_of_a_version_will_do(home: Home) -> None:
    """A version is found by the beginning of its id, and what means nothing is an error that lists the trees."""
    first, _ = await filled(home)
    assert resolve_tree(home, first[:12]).position == 1
    with pytest.raises(NotFound, match="the newest trees are: T"):
        resolve_tree(home, "zzz")
    with pytest.raises(NotFound, match="no version 7"):
        resolve_tree(home, "T@7")
    with pytest.raises(NotFound, match="no version"):
        get_version(home, "f" * 32)


async def test_a_name_belongs_to_one_growth(home: Home) -> None:
    """The same growth gets its tree again; another is refused."""
    await filled(home)
    assert (await create_tree(home, "T", run_id="run1")).versions == 2
    with pytest.raises(ConfigError, match="--onto T"):
        await create_tree(home, "T", run_id="run2")
