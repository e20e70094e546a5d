"""Results are summed up a tree as published, and weak nodes are found where they are planted and nowhere else."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from dokimasia.algorithms.taxonomy import add_all, assign, merge, new_tree
from dokimasia.algorithms.trees.weakness import NodeTotal, evident_nodes, node_findings, roll_up

MODELS = ("gpt-4o-2024-08-06", "deepseek-coder-6.7b-base")
PATHS = [f"<{'ABC'[leaf % 3]}><P{leaf % 6}><L{leaf:02d}>" for leaf in range(18)]
WEAK = PATHS[4]


def children(node: dict[str, Any]) -> list[Any]:
    below = node["subtrees"]
    return list(below.values()) if isinstance(below, dict) else below if isinstance(below, list) else []


def published(folder: Path, model: str) -> tuple[nx.DiGraph, dict[int, int], dict[str, dict[str, Any]]]:
    """The published tree as a graph, a model's results by instance, and the published statistics by node."""
    tree, stats = nx.DiGraph(), {}
    results = dict(enumerate(json.loads((folder / f"{model}.results.json").read_text())))
    structure = json.loads((folder / "tree.json").read_text())
    waiting = [("0", structure, json.loads((folder / f"{model}.node_stats.json").read_text()))]
    while waiting:
        name, node, stat = waiting.pop()
        stats[name] = stat
        leaf = node["subtrees"] if isinstance(node["subtrees"], int) else None
        tree.add_node(name, members=frozenset() if leaf is None else frozenset({leaf}))
        for at, (child, below) in enumerate(zip(children(node), children(stat), strict=True)):
            tree.add_edge(name, f"{name}.{at}")
            waiting.append((f"{name}.{at}", child, below))
    return tree, results, stats


@pytest.mark.parametrize("model", MODELS)
def test_roll_up_agrees_with_the_published_statistics(shared_data: Path, model: str) -> None:
    """At all 945 nodes of the published tree number and sum of the results are those that were published."""
    tree, results, stats = published(shared_data / "evaltree-ds1000", model)
    totals = roll_up(tree, results)
    assert len(totals) == len(stats) == 945
    assert {name: (one.n, one.total) for name, one in totals.items()} == {
        name: (stat["size"], stat["sum_metrics"]) for name, stat in stats.items()
    }


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("side", ["below", "above"])
def test_descent_ends_where_the_published_intervals_say(shared_data: Path, model: str, side: str) -> None:
    """For several thresholds the nodes taken are those that the published intervals lead to, found by plain recursion."""
    tree, results, stats = published(shared_data / "evaltree-ds1000", model)

    def passes(stat: dict[str, Any], threshold: float) -> bool:
        if stat["confidence_interval"] is None:
            return False
        low, high = stat["confidence_interval"]["0.05"]
        return high < threshold if side == "below" else low > threshold

    def taken(name: str, stat: dict[str, Any], threshold: float) -> list[str]:
        below = [(f"{name}.{at}", child) for at, child in enumerate(children(stat))]
        if passes(stat, threshold) and all(passes(one, threshold) for _, one in below if one["size"] >= 20):
            return [name]
        return [node for child, one in below for node in taken(child, one, threshold)]

    found = 0
    for threshold in (0.25, 0.35, 0.45, 0.55, 0.65, 0.75):
        expected = taken("0", stats["0"], threshold)
        assert evident_nodes(tree, results, threshold, side=side) == expected
        found += len(expected)
    assert found > 0


def test_roll_up_counts_what_has_a_result() -> None:
    """Inner nodes add their own members to their leaves'; what has no result, or no place, counts nowhere."""
    tree = assign(
        add_all(new_tree("AB"), ["<A><P><X>", "<A><P><Y>"]), {"1": "<A><P><X>", "2": "<A><P><Y>", "3": "<A><P><Y>"}
    )
    tree.nodes["<A><P>"].update(members=frozenset({"4"}), support=1)
    totals = roll_up(tree, {"1": 10.0, "2": 20.0, "4": 40.0, "elsewhere": 80.0})
    assert totals["<A><P>"] == NodeTotal(3, 70.0)
    assert totals["<A><P><Y>"].mean == 20.0
    assert totals["<B>"].mean is None
    tree.add_edge("<A><P><X>", "<A>")
    with pytest.raises(ValueError, match="no tree"):
        roll_up(tree, {})


def world(seed: int, *, drop: float) -> tuple[nx.DiGraph, dict[str, float], dict[str, str]]:
    """Scores in steps of 25, crowded at the top, alike within a sample; at one leaf they are lower by `drop`."""
    generator = np.random.default_rng(seed)
    leaf_of: dict[str, str] = {}
    scores: dict[str, float] = {}
    for sample in range(150):
        shared = generator.normal()
        for at in range(4):
            name = f"s{sample:03d}#{at}"
            leaf_of[name] = PATHS[int(generator.integers(len(PATHS)))]
            latent = 80 + 15 * shared + 20 * generator.normal() - (drop if leaf_of[name] == WEAK else 0)
            scores[name] = float(np.clip(25 * round(latent / 25), 0, 100))
    return assign(add_all(new_tree("ABC"), PATHS), leaf_of), scores, {name: name[:4] for name in leaf_of}


def test_a_planted_weakness_is_the_one_that_is_named() -> None:
    """In ten worlds the weakest node is the planted leaf, called weak; nothing outside its branch is."""
    branch = {WEAK, WEAK.rpartition("<")[0], "<B>"}
    for seed in range(10):
        tree, scores, sample_of = world(seed, drop=45)
        findings = node_findings(tree, scores, sample_of, seed=seed)
        assert findings[0].node == WEAK
        assert findings[0].verdict == "weak"
        assert findings[0].interval.low <= findings[0].mean <= findings[0].interval.high
        assert findings[0].n == roll_up(tree, scores)[WEAK].n
        weak = {one.node for one in findings if one.verdict == "weak"}
        assert weak <= branch


def test_a_world_without_weaknesses_rarely_cries_wolf() -> None:
    """Where nothing is planted, at most 31 in 400 worlds have any finding: 4 in 60."""
    alarms = 0
    for seed in range(60):
        findings = node_findings(*world(seed, drop=0), seed=seed, permutations=1000)
        alarms += any(one.verdict != "unclear" for one in findings)
    assert alarms <= 31 * 60 // 400


def shared_images(seed: int) -> tuple[dict[str, str], dict[str, float], dict[str, str], dict[str, str]]:
    """Draw 20 images of 6 questions of 2 criteria: an image has a theme and a difficulty, which have nothing to do with it."""
    generator = np.random.default_rng(seed)
    leaf_of: dict[str, str] = {}
    scores: dict[str, float] = {}
    for image in range(20):
        theme, shared = int(generator.integers(len(PATHS))), generator.normal()
        for question in range(6):
            for at in range(2):
                name = f"i{image:02d}q{question}#{at}"
                leaf_of[name] = PATHS[theme]
                scores[name] = float(np.clip(60 + 20 * shared + 8 * generator.normal(), 0, 100))
    return leaf_of, scores, {one: one[:5] for one in leaf_of}, {one: one[:3] for one in leaf_of}


def test_questions_that_share_images_are_exchanged_with_them() -> None:
    """Whole images exchanged keep the promise where questions share them; whole samples would mark nodes in most worlds."""
    by_sample = by_image = 0
    for seed in range(40):
        leaf_of, scores, sample_of, image_of = shared_images(seed)
        tree = assign(add_all(new_tree("ABC"), PATHS), leaf_of)
        for clusters in (sample_of, image_of):
            marked = any(
                one.verdict in ("weak", "strong")
                for one in node_findings(tree, scores, clusters, seed=seed, permutations=1000)
            )
            by_sample += marked and clusters is sample_of
            by_image += marked and clusters is image_of
    assert by_image <= 31 * 40 // 400
    assert by_sample > 20


def test_too_few_images_of_one_size_leave_nodes_untested() -> None:
    """Where images have different numbers of criteria nothing can be exchanged: no p-value, no mark, and the reason."""
    leaf_of = {f"{image}#{at}": PATHS[at % 3] for image in range(1, 9) for at in range(image)}
    scores = {one: 100.0 if leaf == PATHS[0] else 0.0 for one, leaf in leaf_of.items()}
    tree = assign(add_all(new_tree("ABC"), PATHS), leaf_of)
    found = node_findings(tree, scores, {one: one.partition("#")[0] for one in leaf_of}, seed=0)
    assert {(one.p_value, one.q_value, one.verdict) for one in found} == {(None, None, "untested")}
    assert all("in 1 way (at least 200 are needed)" in one.reason for one in found)


def test_findings_say_what_the_test_cannot_move() -> None:
    """Criteria of an image whose number no other has keep their leaves: the share of the others stands with each finding."""
    leaf_of = {f"{image}#{at}": PATHS[(image + at) % 3] for image in range(10) for at in range(3)}
    leaf_of |= {f"large#{at}": PATHS[0] for at in range(10)}
    scores = {one: float(len(one)) for one in leaf_of}
    tree = assign(add_all(new_tree("ABC"), PATHS), leaf_of)
    found = node_findings(tree, scores, {one: one.partition("#")[0] for one in leaf_of}, seed=0)
    assert {one.exchanged for one in found} == {0.75}
    assert not any(one.reason for one in found)


def test_small_nodes_and_repeated_ones_are_not_looked_at() -> None:
    """A node with few criteria, one with all, and a parent that is its only child's equal have no finding."""
    paths = ["<A><P><X>", "<A><Q><Y>", "<A><Q><Z>"]
    leaf_of = {f"{at}": paths[0 if at < 20 else 1 if at < 38 else 2] for at in range(40)}
    tree = assign(add_all(new_tree("A"), paths), leaf_of)
    scores = {name: 50.0 + int(name) % 7 for name in leaf_of}
    found = node_findings(tree, scores, {name: name for name in leaf_of}, seed=0)
    assert {one.node for one in found} == {"<A><P><X>", "<A><Q>", "<A><Q><Y>"}
    assert node_findings(tree, {}, {}, seed=0) == ()
    with pytest.raises(ValueError, match="within"):
        node_findings(tree, {"1": 101.0}, {"1": "1"}, seed=0)


def test_findings_do_not_depend_on_order() -> None:
    """Another order of leaves and criteria, or a tree merged from others, gives the same findings."""
    tree, scores, sample_of = world(1, drop=30)
    again = assign(
        add_all(new_tree("CBA"), reversed(PATHS)),
        {name: leaf for leaf in reversed(PATHS) for name in sorted(tree.nodes[leaf]["members"])},
    )
    one = node_findings(tree, scores, sample_of, seed=2)
    assert node_findings(again, dict(reversed(scores.items())), sample_of, seed=2) == one
    merged = merge(tree, PATHS[0], PATHS[1])
    assert {one.node for one in node_findings(merged, scores, sample_of, seed=2)}.isdisjoint({PATHS[1]})
