"""A tree's figures, a model's weak nodes, and two mappings compared with each other: on data whose answer is plain."""

import json
import random
from pathlib import Path

import networkx as nx
import pytest

from dokimasia.algorithms.taxonomy import add_all, assign, new_tree
from dokimasia.algorithms.trees.places import leaf_mapping, members_below
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.tree.agreement import mapping_comparison
from dokimasia.methods.tree.node_scores import MeasuredRun, evident_findings, measured_of, model_findings, tree_view
from dokimasia.report.fields import as_json
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

pytestmark = pytest.mark.quick

PATHS = [f"<{'AB'[leaf % 2]}><P{leaf % 4}><L{leaf}>" for leaf in range(8)]
WEAK = PATHS[3]


def world(samples: int = 120, *, gap: float = 45.0, seed: int = 0) -> tuple[nx.DiGraph, MeasuredRun]:
    """A tree of eight leaves and a model that is worse at one of them; a sample's three criteria share its luck."""
    draw = random.Random(seed)
    leaf_of: dict[str, str] = {}
    sample_of: dict[str, str] = {}
    scores: dict[str, float] = {}
    for sample in range(samples):
        luck = draw.gauss(0, 12)
        for number in range(3):
            key, leaf = f"s{sample}:{number}", PATHS[draw.randrange(8)]
            leaf_of[key], sample_of[key] = leaf, f"s{sample}"
            scores[key] = min(100.0, max(0.0, 75 + luck + draw.gauss(0, 10) - (gap if leaf == WEAK else 0)))
    return assign(add_all(new_tree(["A", "B"]), PATHS), leaf_of), MeasuredRun({"m": scores}, {}, sample_of)


def test_a_tree_is_summed_up_from_its_leaves() -> None:
    """Each node has the mean of all criteria below, within its interval; counts, order and parents are those of the tree."""
    tree, measured = world()
    view = as_json(tree_view(tree, measured, models=["m", "absent"]))
    assert view["counts"] == {"categories": 2, "parents": 4, "capabilities": 8, "criteria": 360}
    assert [node["layer"] for node in view["nodes"][:4]] == [0, 1, 2, 3]
    below = members_below(tree)
    for node in view["nodes"]:
        held = below[node["id"]]
        score = node["scores"]["m"]
        assert node["below"] == len(held) == score["n"] == score["held"]
        assert score["mean"] == pytest.approx(sum(measured.scores["m"][one] for one in held) / len(held), abs=1e-5)
        assert score["low"] < score["mean"] < score["high"]
        assert node["scores"]["absent"] is None
    assert view == as_json(tree_view(tree, measured, models=["m", "absent"]))


def test_failures_are_counted_and_open_the_bounds() -> None:
    """A criterion without a score is in no mean, but in what was asked, in the counts by kind and in the bounds."""
    tree = assign(add_all(new_tree(["A"]), ["<A><B><C>"]), dict.fromkeys("wxyz", "<A><B><C>"))
    measured = MeasuredRun({"m": {"w": 80.0, "x": 40.0}}, {"m": {"y": "refused", "z": "unparsable"}}, {})
    root = as_json(tree_view(tree, measured, models=["m"]))["nodes"][0]["scores"]["m"]
    assert (root["n"], root["held"], root["mean"]) == (2, 4, 60.0)
    assert root["failures"] == {"refused": 1, "unparsable": 1}
    assert root["bounds"] == {"low": 30.0, "high": 80.0}
    nothing = as_json(tree_view(tree, MeasuredRun({}, {"m": dict.fromkeys("wxyz", "refused")}, {}), models=["m"]))[
        "nodes"
    ][0]
    assert (nothing["scores"]["m"]["mean"], nothing["scores"]["m"]["n"]) == (None, 0)


def test_the_planted_weakness_is_found_and_nothing_else() -> None:
    """The weak leaf is named, with its parent at most; in a world without one nothing is."""
    tree, measured = world()
    found = as_json(model_findings(tree, measured, "m", seed=0))
    assert WEAK in {one["node"] for one in found["weak"]}
    assert all(WEAK.startswith(one["node"]) for one in found["weak"])
    row = next(one for one in found["weak"] if one["node"] == WEAK)
    assert row["q_value"] <= 0.05
    assert row["low"] <= row["mean"] <= row["high"]
    assert [one["score"] for one in row["examples"]] == sorted(one["score"] for one in row["examples"])
    assert len({one["sample"] for one in row["examples"]}) == 3
    assert found["looked_at"] == len(found["weak"]) + len(found["strong"]) + len(found["unclear"])
    alarms = sum(
        bool(as_json(model_findings(*world(gap=0.0, seed=seed), "m", seed=seed))["weak"]) for seed in range(1, 9)
    )
    assert alarms <= 2


def test_the_published_descent() -> None:
    """EvalTree's descent names the weak leaf below a threshold; without one it takes the model's own share."""
    tree, measured = world(gap=70.0)
    found = as_json(evident_findings(tree, measured, "m", threshold=0.3))
    assert [one["node"] for one in found["weak"]] == [WEAK]
    assert found["weak"][0]["high"] < 0.3
    own = as_json(evident_findings(tree, measured, "m"))
    assert own["threshold"] == pytest.approx(own["overall"]["solved"] / own["overall"]["n"], abs=1e-6)
    assert not own["threshold_given"]


def test_a_model_without_scores_is_weak_nowhere() -> None:
    """Nothing measured is nothing found, by either method."""
    tree, _ = world(3)
    empty = MeasuredRun({"m": {}}, {}, {})
    assert as_json(model_findings(tree, empty, "m", seed=0))["looked_at"] == 0
    assert as_json(evident_findings(tree, empty, "m"))["weak"] == []


def test_two_mappings_are_held_against_each_other() -> None:
    """Hit rate, kappa and what differs most are those of the pairs; an unplaced criterion is an answer of its own."""
    tree, _ = world(40)
    first: dict[str, str | None] = dict(leaf_mapping(tree))
    second = {**first, "s0:0": PATHS[0] if first["s0:0"] != PATHS[0] else PATHS[1], "s1:0": None}
    found = mapping_comparison(first, second, {one: one.partition(":")[0] for one in first})
    assert found.n == 120
    assert found.hit_rate.share == pytest.approx(118 / 120, abs=1e-6)
    assert found.hit_rate.low < 118 / 120 < found.hit_rate.high
    assert found.kappa.low < found.kappa.value < 1
    assert (found.unplaced.first, found.unplaced.second) == (0, 1)
    assert {one.example for one in found.disagreements} == {"s0:0", "s1:0"}
    for category, one in found.by_category.items():
        here = [name for name in first if str(first[name]).startswith(f"<{category}>")]
        assert one.n == len(here)
        assert one.share == pytest.approx(sum(first[name] == second[name] for name in here) / len(here), abs=1e-6)
        assert one.low <= one.share <= one.high
    assert sum(one.n for one in found.by_category.values()) == 120
    same = mapping_comparison(first, first)
    assert (same.hit_rate.share, same.kappa.value, same.disagreements) == (1.0, 1.0, ())
    with pytest.raises(ValueError, match="in common"):
        mapping_comparison(first, {"other": PATHS[0]})


async def test_criteria_of_one_image_are_one_cluster(
    settings: Settings, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Questions about the same image are clustered together, however many samples they are."""
    planted: Path = request.getfixturevalue("world")
    lines = [json.loads(line) for line in planted.read_text().splitlines()[:4]]
    data = tmp_path / "shared.jsonl"
    pictures = [str(planted.parent / lines[at // 2 * 3]["image"]) for at in range(4)]
    data.write_text(
        "".join(json.dumps({**one, "image": picture}) + "\n" for one, picture in zip(lines, pictures, strict=True))
    )
    done = await evaluate(
        EvaluationRequest(data=data, judge="sim/judge", models=("sim/strong",), allow_outside=True), settings=settings
    )
    with Home.open(settings.home, write=False) as home:
        measured = measured_of(home, get_run(home, done.run))
    clusters = {sample: measured.cluster_of[one] for one, sample in measured.sample_of.items()}
    assert clusters.keys() == {one["id"] for one in lines}
    assert [len({clusters[one["id"]] for one in pair}) for pair in (lines[:2], lines[2:], lines)] == [1, 1, 2]
