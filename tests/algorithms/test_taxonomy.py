"""The capability tree is grown, merged, pruned and edited without losing anything, and never in place."""

import random
import subprocess
import sys

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.algorithms.taxonomy import (
    add,
    add_all,
    assign,
    holder,
    leaves,
    merge,
    merge_all,
    new_tree,
    prune,
)
from dokimasia.algorithms.trees.checks import check_tree, diff
from dokimasia.algorithms.trees.formats import to_json
from dokimasia.domain.capability import CapabilityPath

PATHS = [
    f"<{category}><P{parent}><L{category}{parent}{leaf}>" for category in "AB" for parent in (0, 1) for leaf in range(3)
]


@pytest.fixture
def tree() -> nx.DiGraph:
    """A tree of twelve leaves; the leaf at place n holds n criteria."""
    return assign(add_all(new_tree("AB"), PATHS), {f"{at:02d}-{n}": PATHS[at] for at in range(12) for n in range(at)})


def everything(tree: nx.DiGraph) -> list[str]:
    return sorted(one for node in tree for one in tree.nodes[node]["members"])


def test_a_new_tree_has_its_anchors() -> None:
    """A root and the six categories by default, with layers and no support."""
    tree = new_tree()
    assert sorted(tree.successors("root"))[0] == "<Generation>"
    assert len(tree) == 7
    assert tree.nodes["root"]["layer"] == 0
    assert tree.nodes["<Perception>"] == {"layer": 1, "support": 0, "members": frozenset(), "absorbed": ()}
    with pytest.raises(ValueError, match="at least one"):
        new_tree([])


def test_add_creates_what_is_missing_and_is_idempotent() -> None:
    """Parents come with their first leaf; the same path again, as text or value, changes nothing."""
    empty = new_tree(["A"])
    tree = add(empty, "<A><B><C>")
    assert sorted(tree) == ["<A>", "<A><B>", "<A><B><C>", "root"]
    assert [tree.nodes[node]["layer"] for node in sorted(tree)] == [1, 2, 3, 0]
    assert to_json(add(tree, CapabilityPath.parse("<A><B><C>"))) == to_json(tree)
    assert len(empty) == 2
    assert leaves(add(tree, "<A><D>")) == ["<A><B><C>"]


@pytest.mark.parametrize("path", ["<Z><B><C>", "<A><B><C><D>", "A/B/C", "root"])
def test_add_refuses_what_has_no_place(path: str) -> None:
    """Another category, a fifth layer and what is no path raise."""
    with pytest.raises(ValueError, match=r"categories|layers|no path"):
        add(new_tree(["A"]), path)


def test_merge_unites_support_and_members(tree: nx.DiGraph) -> None:
    """The kept leaf holds both leaves' criteria, one that both hold once, and stands for the dropped one."""
    before = to_json(tree)
    merged = merge(tree, PATHS[3], PATHS[10])
    assert merged.nodes[PATHS[3]]["support"] == len(merged.nodes[PATHS[3]]["members"]) == 13
    assert PATHS[10] not in merged
    assert holder(merged, PATHS[10]) == PATHS[3]
    assert holder(merged, "<A><P0><Never>") is None
    assert everything(merged) == everything(tree)
    assert to_json(tree) == before
    shared = add_all(new_tree("A"), ["<A><P><X>", "<A><P><Y>"])
    shared.nodes["<A><P><X>"].update(members={"1", "2"}, support=2)
    shared.nodes["<A><P><Y>"].update(members={"2", "3"}, support=2)
    assert merge(shared, "<A><P><X>", "<A><P><Y>").nodes["<A><P><X>"]["support"] == 3
    chain = merge_all(tree, [(PATHS[1], PATHS[2]), (PATHS[0], PATHS[1])])
    assert chain.nodes[PATHS[0]]["absorbed"] == (PATHS[1], PATHS[2])


@pytest.mark.parametrize(("keep", "drop"), [(0, 0), (0, "<A><P0>"), ("<A><P0><No>", 1), ("root", 1)])
def test_merge_takes_two_leaves(tree: nx.DiGraph, keep: int | str, drop: int | str) -> None:
    """A leaf with itself, an inner node and an unknown id raise."""
    one, other = (PATHS[name] if isinstance(name, int) else name for name in (keep, drop))
    with pytest.raises(ValueError, match=r"itself|no leaf"):
        merge(tree, one, other)


def test_prune_folds_into_the_best_supported_sibling(tree: nx.DiGraph) -> None:
    """Weak leaves go to the strongest sibling; what stays is above the threshold, and nothing is lost."""
    pruned = prune(tree, 5)
    assert all(pruned.nodes[leaf]["support"] >= 5 for leaf in leaves(pruned))
    assert holder(pruned, PATHS[3]) == PATHS[5]
    assert everything(pruned) == everything(tree)
    assert holder(pruned, PATHS[1]) == "<A><P0>"
    assert pruned.nodes["<A><P0>"]["members"] == {"01-0", "02-0", "02-1"}
    assert pruned.nodes["<A><P0>"]["support"] == 3
    assert to_json(prune(pruned, 5)) == to_json(pruned)
    assert to_json(prune(tree, 0)) == to_json(tree)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=12, max_size=12), st.integers(0, 12), st.randoms())
def test_pruning_does_not_depend_on_order(sizes: list[int], threshold: int, shuffled: random.Random) -> None:
    """The same leaves and criteria in another order of arrival give the same tree, valid and complete."""
    leaf_of = {f"{at}-{n}": PATHS[at] for at, size in enumerate(sizes) for n in range(size)}
    other, items = PATHS[:], list(leaf_of.items())
    shuffled.shuffle(other)
    shuffled.shuffle(items)
    one = prune(assign(add_all(new_tree("AB"), PATHS), leaf_of), threshold)
    two = prune(assign(add_all(new_tree("AB"), other), dict(items)), threshold)
    assert to_json(one) == to_json(two)
    assert everything(one) == sorted(leaf_of)
    assert check_tree(one) == []
    assert all(holder(one, path) is not None for path in PATHS)


def test_assign_maps_anew(tree: nx.DiGraph) -> None:
    """Criteria are held where they are mapped to and nowhere else; a leaf that is not there raises."""
    mapped = assign(tree, {"new": PATHS[0]})
    assert everything(mapped) == ["new"]
    with pytest.raises(ValueError, match="no leaf"):
        assign(tree, {"new": "<A><P0>"})


def test_what_is_wrong_with_a_tree_is_said(tree: nx.DiGraph) -> None:
    """Each fault is named in words, and a sound tree has none."""
    assert check_tree(tree, categories="AB", criteria=everything(tree)) == []

    def broken(change) -> str:
        wrong = tree.copy()
        change(wrong)
        return " | ".join(check_tree(wrong, categories="AB", criteria=everything(tree)))

    assert "cycle: <A> > <A><P0>" in broken(lambda t: t.add_edge(PATHS[0], "<A>"))
    assert "is an orphan" in broken(lambda t: t.remove_edge("<A><P0>", PATHS[0]))
    assert "hangs below <A><P0>, <A><P1>" in broken(lambda t: t.add_edge("<A><P1>", PATHS[0]))
    assert "anchor <B> is missing" in broken(lambda t: t.remove_node("<B>"))
    assert "<C> is none of the fixed" in broken(lambda t: (t.add_node("<C>", layer=1), t.add_edge("root", "<C>")))
    assert "5 layers" in broken(lambda t: t.add_edge(PATHS[0], "<A><B><C><D><E>"))
    assert "has the layer 2" in broken(lambda t: t.nodes[PATHS[0]].update(layer=2))
    assert "there is no node 'root'" in broken(lambda t: t.remove_node("root"))
    assert "4 mapped criteria are held by no leaf" in broken(lambda t: t.remove_node(PATHS[4]))
    assert "more than one node" in broken(lambda t: t.nodes[PATHS[0]].update(members={"04-0"}, support=1))
    assert "support of 9" in broken(lambda t: t.nodes[PATHS[2]].update(support=9))
    assert "siblings have the same name" in " ".join(check_tree(add(tree, "<A><P0><lA00>")))
    assert "different parents" in " ".join(check_tree(add(tree, "<A><P1><LA00>")))


def test_a_comparison_says_what_moved(tree: nx.DiGraph) -> None:
    """Added, merged and removed nodes, moved criteria and changed supports are told apart."""
    new = add(merge(tree, PATHS[3], PATHS[4]), "<A><P2><New>")
    new.remove_node(PATHS[0])
    change = diff(tree, new)
    assert change.added == ("<A><P2>", "<A><P2><New>")
    assert change.removed == (PATHS[0],)
    assert change.merged == {PATHS[4]: PATHS[3]}
    assert change.moved == {f"04-{n}": (PATHS[4], PATHS[3]) for n in range(4)}
    assert change.support == {PATHS[3]: (3, 7)}
    assert diff(tree, tree) == ((), (), {}, {}, {})


def test_importing_the_tree_loads_nothing_heavy() -> None:
    """The module's import brings neither scikit-learn, SciPy nor networkx."""
    code = "import sys, dokimasia.algorithms.taxonomy; print([m for m in ('sklearn', 'scipy', 'networkx') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
