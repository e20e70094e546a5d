"""Growth without models: sub-samples, proposals made one, lists to compare, merges, and pruning with reasons."""

import random
from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.taxonomy import add, add_all, assign, holder, leaves, new_tree
from dokimasia.algorithms.trees.checks import check_tree
from dokimasia.algorithms.trees.growth import (
    balanced,
    options_below,
    reconcile,
    slice_of,
    spread,
    thin_out,
)
from dokimasia.algorithms.trees.merging import comparisons, parents, unite
from dokimasia.domain.capability import CapabilityPath, Proposal


def proposal(under: str, name: str) -> Proposal:
    """A proposal of a name below a path."""
    return Proposal(under=CapabilityPath.parse(under), name=name)


def test_sub_samples_are_balanced_and_free_of_order() -> None:
    """Every beginning of the draw takes evenly from the strata, whatever their sizes and the order they come in."""
    strata = {f"s{number}": "abc"[min(number // 40, 2)] for number in range(200)}
    drawn = balanced(strata, 30, seed=1)
    assert set(Counter(strata[one] for one in drawn).values()) == {10}
    shuffled = list(strata.items())
    random.Random(2).shuffle(shuffled)
    assert balanced(dict(shuffled), 30, seed=1) == drawn
    assert balanced(strata, 30, seed=2) != drawn
    assert len(balanced(strata, 0)) == len(balanced(strata, 1000)) == 200


@given(st.integers(0, 300), st.integers(1, 15))
def test_slices_make_up_the_whole(size: int, rounds: int) -> None:
    """The rounds' parts together are the sub-sample, each of it once and in order."""
    whole = [str(number) for number in range(size)]
    assert [one for number in range(1, rounds + 1) for one in slice_of(whole, number, rounds)] == whole


def test_one_name_is_one_leaf() -> None:
    """The same capability below several parents, or in other case, is one leaf: where most criteria put it."""
    places = {
        "1": proposal("<A><P>", "Counting"),
        "2": proposal("<A><P>", "counting"),
        "3": proposal("<B><Q>", "Counting"),
        "4": proposal("<A><P>", "Counting"),
    }
    parents = [proposal("<A>", "P"), proposal("<B>", "Q"), proposal("<A>", "Unused")]
    grown, placed = reconcile(new_tree("AB"), places, parents)
    assert leaves(grown.tree) == ["<A><P><Counting>"]
    assert set(placed.values()) == {"<A><P><Counting>"}
    assert sorted(grown.tree) == ["<A>", "<A><P>", "<A><P><Counting>", "<B>", "root"]
    assert [change.node for change in grown.changes] == ["<A><P>", "<A><P><Counting>"]
    assert "also proposed as <A><P><counting>, <B><Q><Counting>" in grown.changes[1].reason
    assert check_tree(grown.tree, criteria=places) == []
    backwards = reconcile(new_tree("AB"), dict(reversed(places.items())), parents[::-1])
    assert (backwards[0].changes, backwards[1]) == (grown.changes, placed)


def test_what_does_not_fit_is_refused_with_a_reason() -> None:
    """Unknown categories and parents, names of nodes above, and leaves that are not there are refused, the rest taken."""
    places: dict[str, str | Proposal] = {
        "1": proposal("<Z><P>", "X"),
        "2": proposal("<A><Nowhere>", "X"),
        "3": proposal("<A><P>", "a"),
        "4": proposal("<A>", "Only a parent"),
        "5": "<A><P><Not there>",
        "6": proposal("<a><p>", "Good"),
    }
    grown, placed = reconcile(new_tree("A"), places, [proposal("<A>", "P"), proposal("<Z>", "P")])
    assert placed == {"6": "<A><P><Good>"}
    assert len(grown.refused) == 6
    assert check_tree(grown.tree) == []


def test_a_leaf_that_was_merged_away_is_the_other_one() -> None:
    """Proposed anew, a leaf that this growth merged into another means the other."""
    tree = add_all(new_tree("A"), ["<A><P><Counting>"])
    _, placed = reconcile(
        tree, {"1": proposal("<A><P>", "Tallying")}, absorbed={"<A><P><Tallying>": "<A><P><Counting>"}
    )
    assert placed == {"1": "<A><P><Counting>"}


def test_parents_that_are_gone_are_the_others_and_dropped_names_stay_out() -> None:
    """Below a parent that was merged away a capability comes below the other; a leaf that was dropped is not made again."""
    tree = add_all(new_tree("A"), ["<A><Maths><Adding>"])
    places = {"1": proposal("<A><Sums>", "Ratios"), "2": proposal("<A><Maths>", "Conclusions")}
    absorbed = {"<A><Sums>": "<A><Maths>", "<A><Logic><Conclusions>": "<A>"}
    grown, placed = reconcile(tree, places, [proposal("<A>", "Sums")], absorbed=absorbed)
    assert placed == {"1": "<A><Maths><Ratios>"}
    assert [reason for _, reason in grown.refused] == ["a leaf of that name was dropped before"]


@given(st.integers(2, 60), st.integers(1, 9))
def test_any_two_leaves_of_a_category_are_compared(count: int, half: int) -> None:
    """Whatever the sizes, any two leaves stand in one list together, and no list is longer than it may be."""
    tree = add_all(new_tree("A"), [f"<A><P><n{number}>" for number in range(count)])
    lists = comparisons(tree, half=half)
    together = {pair for one in lists for pair in combinations(sorted(one), 2)}
    assert together == set(combinations(leaves(tree), 2))
    assert max(map(len, lists)) <= 2 * half


def test_only_lists_with_new_leaves_are_compared() -> None:
    """Where a tree is grown on, lists of old leaves alone are left out."""
    tree = add_all(new_tree("A"), [f"<A><P><n{number}>" for number in range(8)])
    lists = comparisons(tree, half=2, new=["<A><P><n0>"])
    assert len(lists) == 3
    assert all("<A><P><n0>" in one for one in lists)


def test_groups_with_a_common_leaf_become_one() -> None:
    """Merging unites support, keeps what was named first most often, and does not depend on the order of the groups."""
    names = ["<A><P><1>", "<A><P><2>", "<A><P><3>", "<A><P><4>"]
    tree = assign(add_all(new_tree("A"), names), {"x": names[0], "y": names[1], "z": names[2], "u": names[3]})
    groups = [(names[1], names[0]), (names[1], names[2])]
    united = unite(tree, groups)
    assert leaves(united.tree) == [names[1], names[3]]
    assert united.tree.nodes[names[1]]["members"] == {"x", "y", "z"}
    assert [(change.node, change.into, change.criteria) for change in united.changes] == [
        (names[0], names[1], ("x",)),
        (names[2], names[1], ("z",)),
    ]
    assert unite(tree, groups[::-1]).changes == united.changes


def test_old_leaves_stay() -> None:
    """A fixed leaf takes others in and is never merged away; two fixed ones are not merged at all."""
    names = ["<A><P><1>", "<A><P><2>", "<A><P><3>"]
    tree = add_all(new_tree("A"), names)
    united = unite(tree, [(names[0], names[1], names[2])], vague={names[2]: "Clear"}, fixed=names[1:])
    assert leaves(united.tree) == names[1:]
    assert len(united.refused) == 2


def test_a_vague_leaf_never_stays() -> None:
    """A vague leaf without a better name goes to a sibling that is not vague, also as the best of its parent; else it goes."""
    names = ["<A><P><Good>", "<A><P><Vague>", "<A><P><Vaguer>", "<A><Q><Alone>"]
    tree = assign(add_all(new_tree("A"), names), {"x": names[0], "y": names[1], "z": names[1], "u": names[3]})
    united = unite(tree, [], dict.fromkeys(names[1:], ""))
    assert leaves(united.tree) == [names[0]]
    assert united.tree.nodes[names[0]]["members"] == {"x", "y", "z"}
    assert united.tree.nodes["<A><Q>"]["members"] == {"u"}
    assert [(change.kind, change.node, change.into) for change in united.changes] == [
        ("prune", names[1], names[0]),
        ("prune", names[2], names[0]),
        ("prune", names[3], "<A><Q>"),
    ]
    assert united.refused == []


def test_a_vague_leaf_takes_a_better_name() -> None:
    """A better name replaces a vague one, or makes the leaf one with the leaf that bears it; both can be found again."""
    names = ["<A><P><Conclusions>", "<A><P><Skill>", "<A><Q><Reading Order>", "<A><Q><Thing>"]
    tree = assign(add_all(new_tree("A"), names), {"x": names[0], "y": names[1], "z": names[2], "u": names[3]})
    better = {names[0]: "Weighing Evidence", names[1]: "reading order", names[3]: "Thing"}
    united = unite(tree, [], better)
    assert leaves(united.tree) == ["<A><P><Weighing Evidence>", names[2]]
    assert united.tree.nodes["<A><P><Weighing Evidence>"]["members"] == {"x"}
    assert united.tree.nodes[names[2]]["members"] == {"y", "z", "u"}
    assert [(change.kind, change.node) for change in united.changes] == [
        ("rename", names[0]),
        ("merge", names[1]),
        ("prune", names[3]),
    ]
    assert all(change.reason.startswith("its name is vague") for change in united.changes)
    assert holder(united.tree, names[0]) == "<A><P><Weighing Evidence>"
    assert check_tree(united.tree, criteria="xyzu") == []


def test_parents_become_one_with_all_below_them() -> None:
    """Of two parents that are the same the leaves come together below one, each step an event with its reason."""
    names = ["<A><Mathematical Reasoning><Adding>", "<A><Quantitative Reasoning><Ratios>", "<A><Text><Digits>"]
    tree = assign(add_all(new_tree("A"), names), {"x": names[0], "y": names[1], "z": names[2]})
    assert parents(tree) == ["<A><Mathematical Reasoning>", "<A><Quantitative Reasoning>", "<A><Text>"]
    united = unite(tree, [parents(tree)[:2]], {"<A><Text>": "Text Reading"})
    assert leaves(united.tree) == [
        "<A><Mathematical Reasoning><Adding>",
        "<A><Mathematical Reasoning><Ratios>",
        "<A><Text Reading><Digits>",
    ]
    assert [(change.kind, change.node) for change in united.changes] == [
        ("merge", "<A><Quantitative Reasoning>"),
        ("move", names[1]),
        ("rename", "<A><Text>"),
        ("move", names[2]),
    ]
    assert all(change.reason and change.into and change.criteria for change in united.changes)
    assert check_tree(united.tree, criteria="xyz") == []


def test_what_cannot_be_done_to_parents_is_refused() -> None:
    """Fixed parents stay, a vague parent without a better name too, and no leaf comes below its own name."""
    names = ["<A><Counting><Adding>", "<A><Sums><Counting>", "<A><Stuff><Digits>"]
    tree = add_all(new_tree("A"), names)
    united = unite(tree, [("<A><Counting>", "<A><Sums>")], {"<A><Stuff>": ""})
    assert leaves(united.tree) == leaves(tree)
    assert [node for node, _ in united.refused] == ["<A><Sums>", "<A><Stuff>"]
    fixed = unite(tree, [("<A><Stuff>", "<A><Counting>")], fixed=["<A><Counting>"])
    assert "<A><Counting><Digits>" in fixed.tree


def test_only_parents_of_one_category_are_compared() -> None:
    """Parents stand in lists by category; one that is alone in its category stands in none."""
    tree = add_all(new_tree("ABC"), ["<A><P><1>", "<A><Q><2>", "<B><R><3>", "<C><S><4>", "<C><T><5>"])
    assert comparisons(tree, nodes=parents(tree), limit=0) == [("<A><P>", "<A><Q>"), ("<C><S>", "<C><T>")]
    assert comparisons(tree, nodes=parents(tree), limit=0, new=["<C><T>"]) == [("<C><S>", "<C><T>")]


def test_a_batch_alone_is_spread_over_the_whole() -> None:
    """What is proposed for first comes from all over the sub-sample, and is never more than asked for."""
    assert spread(range(34), 10) == range(0, 30, 3)
    assert list(spread([], 10)) == []


@given(st.integers(0, 200), st.integers(1, 50))
def test_a_spread_is_no_longer_than_asked_for(count: int, size: int) -> None:
    """Whatever the sizes, it has all items that there are, up to the size, and none twice."""
    taken = spread(range(count), size)
    assert len(taken) == len(set(taken)) == min(count, size)


def test_at_the_level_of_parents_proposals_are_parents() -> None:
    """A capability that is proposed stands for its parent, which holds the criteria itself; nothing lies below it."""
    tree = add(new_tree("AB", level="parent"), "<A><P>")
    places: dict[str, str | Proposal] = {
        "1": "<A><P>",
        "2": proposal("<A><P>", "Counting"),
        "3": proposal("<B><Q>", "Adding"),
        "4": proposal("<B><Q>", "Ratios"),
        "5": proposal("<Z><Q>", "Ratios"),
    }
    grown, placed = reconcile(tree, places, [proposal("<B>", "Q")])
    assert placed == {"1": "<A><P>", "2": "<A><P>", "3": "<B><Q>", "4": "<B><Q>"}
    assert leaves(grown.tree) == ["<A><P>", "<B><Q>"]
    assert [change.node for change in grown.changes] == ["<B><Q>"]
    assert len(grown.refused) == 1
    assert check_tree(grown.tree, criteria=placed) == []
    assert parents(grown.tree) == []
    thin = thin_out(grown.tree, 2)
    assert leaves(thin.tree) == ["<A><P>", "<B><Q>"]
    folded = thin_out(assign(add(grown.tree, "<A><R>"), {**placed, "6": "<A><R>"}), 2)
    assert [(change.node, change.into) for change in folded.changes] == [("<A><R>", "<A><P>")]
    assert options_below(thin.tree, "root", shown=1) == ["<A>", "<B>"]
    assert options_below(thin.tree, "<A>", shown=1) == ["<A><P>"]


def test_thin_leaves_go_and_nothing_is_lost() -> None:
    """Rare leaves are folded or dropped with their reasons, parents without a leaf too; every criterion is still held."""
    paths = {"<A><P><Big>": 6, "<A><P><Small>": 2, "<A><Q><Lonely>": 1}
    where = {f"{leaf}{number}": leaf for leaf, count in paths.items() for number in range(count)}
    tree = assign(add_all(new_tree("A"), paths), where)
    thin = thin_out(tree, 5)
    assert leaves(thin.tree) == ["<A><P><Big>"]
    assert {change.node: change.into for change in thin.changes} == {
        "<A><P><Small>": "<A><P><Big>",
        "<A><Q><Lonely>": "<A><Q>",
        "<A><Q>": "<A>",
    }
    assert sorted(one for node in thin.tree for one in thin.tree.nodes[node]["members"]) == sorted(where)
    assert thin_out(tree, 5, fixed=[*paths, "<A><Q>"]).changes == []
    assert thin_out(tree, 50).tree.nodes["<A><P><Big>"]["support"] == 6


def test_a_big_tree_is_shown_in_parts() -> None:
    """Where leaves are too many, categories with any are offered first, then parents, then what is below one."""
    tree = add_all(new_tree("ABC"), [f"<{a}><{p}><{a}{p}{n}>" for a in "AB" for p in "PQ" for n in range(4)])
    assert options_below(tree, "root", shown=16) == leaves(tree)
    assert options_below(tree, "root", shown=10) == ["<A>", "<B>"]
    assert options_below(tree, "<A>", shown=5) == ["<A><P>", "<A><Q>"]
    assert len(options_below(tree, "<A><P>", shown=2)) == 4
