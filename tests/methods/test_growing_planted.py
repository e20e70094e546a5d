"""Trees grown from the planted world are the planted trees, and what is planted in models is found in them."""

from collections.abc import Mapping
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import orjson
import pytest

from dokimasia.algorithms.taxonomy import permutation_null
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.algorithms.trees.partitions import adjusted_rand
from dokimasia.algorithms.trees.weakness import node_findings
from dokimasia.cli.main import run as dokimasia
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.tree import grow_tree
from dokimasia.methods.tree.node_scores import weaknesses_of
from dokimasia.runs.lifecycle import RunResult
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.lexicon import all_capabilities, capability_by_name, made_up_capabilities, parent_of
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.tree_world import PlantedCriterion, categories_of, planted_criteria, planted_scores
from dokimasia.simulation.world import make_world, write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from dokimasia.storage.trees.versions import get_version, mappings, tree_criteria

NOISE = 0.05
SEEDS = 8


async def grown(home: Path, criteria: list[PlantedCriterion], judge: JudgeProfile | None = None, **options: Any):
    """Grow a tree in a home of its own; return the result and each criterion's leaf, None for none."""
    profile = judge or JudgeProfile(name="sim/test")
    categories = categories_of(criteria)
    rows = [
        {
            "criterion": one.question,
            "ground_truth": one.ground_truth,
            "sample_id": one.sample,
            "category": categories[one.sample],
        }
        for one in criteria
    ]
    result = await grow_tree(
        rows,
        judge=profile.name,
        settings=load_settings(home=home, cwd=home.parent, env={}),
        transports={"sim": SimTransport(models={profile.name: profile})},
        **options,
    )
    id_of = {(one.question, one.sample): one.id for one in criteria}
    with Home.open(home, write=False) as opened:
        keys = {one.key: id_of[one.text, one.sample_id] for one in tree_criteria(opened, result.summary["tree"])}
        leaf_of = {keys[one.criterion]: one.leaf for one in mappings(opened, result.summary["version"])}
    return result, leaf_of


def planted_in(leaf_of: Mapping[str, str | None]) -> dict[str, str | None]:
    """The planted capability that each leaf's name stands for."""
    return {
        one: None if leaf is None else capability_by_name(leaf[leaf.rindex("<") + 1 : -1])
        for one, leaf in leaf_of.items()
    }


@pytest.mark.parametrize("embedding", [None, "sim/embedding"])
async def test_without_noise_the_planted_leaves_are_recovered(tmp_path: Path, embedding: str | None) -> None:
    """All 72 leaves come back under one name each, criteria without a place counting as a group of their own."""
    criteria = list(planted_criteria(1_600, 0, themes=True))
    truth = {one.id: one.capability for one in criteria}
    result, leaf_of = await grown(tmp_path / "home", criteria, embedding=embedding)
    assert result.complete
    assert leaf_of.keys() == truth.keys()
    assert adjusted_rand(truth, leaf_of) >= 0.98
    placed = {one: path for one, path in planted_in(leaf_of).items() if path is not None}
    assert all(truth[one] == path for one, path in placed.items())
    assert result.summary["mapped"] + sum(result.summary["unplaced"].values()) == len(criteria)
    assert result.summary["rejected"] == 0
    added = sum(phase["added"] for phase in result.summary["phases"])
    merged = sum(phase["merged"] for phase in result.summary["phases"])
    assert added > 2 * len(result.summary["leaves"]), "most capabilities were proposed under several names"
    assert merged >= len(result.summary["leaves"])


@pytest.mark.full
async def test_with_mapping_noise_the_tree_is_nearly_as_good_as_a_perfect_one(tmp_path: Path) -> None:
    """Over eight seeds the mean index is within 0.03 of what the planted tree itself reaches under that noise."""
    judge = JudgeProfile(name="sim/test", misplaces=NOISE)
    reached: list[float] = []
    perfect: list[float] = []
    for seed in range(SEEDS):
        criteria = list(planted_criteria(360, seed, width=1))
        truth = {one.id: one.capability for one in criteria}
        _, leaf_of = await grown(tmp_path / f"home-{seed}", criteria, judge, seed=seed)
        reached.append(adjusted_rand(truth, leaf_of))
        perfect.append(adjusted_rand(truth, misplaced(truth, seed)))
    assert fmean(reached) == pytest.approx(fmean(perfect), abs=0.03)
    assert 0.8 < fmean(perfect) < 0.97


def misplaced(truth: Mapping[str, str], seed: int) -> dict[str, str]:
    """The planted tree with the noise drawn here, by another hand than the judge's."""
    rng, leaves = Random(seed), sorted(set(truth.values()))
    return {
        one: rng.choice([other for other in leaves if other != leaf]) if rng.random() < NOISE else leaf
        for one, leaf in truth.items()
    }


@pytest.mark.full
async def test_missed_synonyms_are_caught_by_another_list(tmp_path: Path) -> None:
    """A judge that overlooks a tenth of all equal names still leads to nearly the planted tree."""
    criteria = list(planted_criteria(600, 3, width=1))
    truth = {one.id: one.capability for one in criteria}
    _, leaf_of = await grown(tmp_path / "home", criteria, JudgeProfile(name="sim/test", misses_synonym=0.1))
    assert adjusted_rand(truth, leaf_of) > 0.9


@pytest.mark.full
async def test_planted_weaknesses_are_named_in_a_grown_tree(tmp_path: Path) -> None:
    """The grown tree predicts scores beyond chance, the weak capability is named, and nothing far from it is."""
    criteria = list(planted_criteria(1_600, 5, themes=True))
    result, leaf_of = await grown(tmp_path / "home", criteria)
    keys, tree = await stored_tree(tmp_path / "home", result, criteria)
    sample_of = {keys[one.id]: one.sample for one in criteria}
    weak = next(path for path in made_up_capabilities() if path.startswith("<Reasoning>"))
    branch = parent_of(weak)
    scores = planted_scores(criteria, 1, weak={weak: 0.1}, spread=0.12)
    placed = {keys[one]: leaf for one, leaf in leaf_of.items() if leaf is not None}
    null = permutation_null({"m": {keys[one]: score for one, score in scores.items()}}, placed, sample_of, seed=0)
    assert null.validity.delta is not None
    assert null.validity.delta > null.percentile(99)
    plain = {keys[one]: score for one, score in planted_scores(criteria, 2, weak={weak: 0.1}).items()}
    findings = node_findings(tree, plain, sample_of, seed=0)
    assert capability_by_name(findings[0].node[findings[0].node.rindex("<") + 1 : -1]) == weak
    named_weak = {one.node for one in findings if one.verdict == "weak"}
    assert findings[0].node in named_weak
    assert all(findings[0].node.startswith(node) for node in named_weak), f"all lie above {weak} in {branch}"


async def stored_tree(home: Path, result: RunResult, criteria: list[PlantedCriterion]):
    """The keys of criteria in a grown tree, and the tree."""
    id_of = {(one.question, one.sample): one.id for one in criteria}
    with Home.open(home, write=False) as opened:
        keys = {id_of[one.text, one.sample_id]: one.key for one in tree_criteria(opened, result.summary["tree"])}
        return keys, from_version(get_version(opened, result.summary["version"]))


@pytest.mark.full
async def test_without_planted_weaknesses_a_grown_tree_names_none(tmp_path: Path) -> None:
    """In forty worlds in which all capabilities are equally hard false alarms stay within the rule for forty."""
    criteria = list(planted_criteria(600, 7, themes=True, width=1))
    result, _ = await grown(tmp_path / "home", criteria)
    keys, tree = await stored_tree(tmp_path / "home", result, criteria)
    sample_of = {keys[one.id]: one.sample for one in criteria}
    alarms = 0
    for seed in range(40):
        scores = {keys[one]: score for one, score in planted_scores(criteria, seed).items()}
        findings = node_findings(tree, scores, sample_of, seed=seed)
        alarms += any(one.verdict != "unclear" for one in findings)
    assert alarms <= 5


async def test_a_run_of_the_planted_scenes_gets_its_tree_and_its_weaknesses(tmp_path: Path, settings: Settings) -> None:
    """From pictures to a tree: every leaf holds criteria of one planted capability, and the planted weakness is named."""
    data = tmp_path / "world.jsonl"
    write_world(data, 140, 11)
    request = EvaluationRequest(data=data, judge="sim/judge", models=("sim/nearsighted",))
    run = await evaluate(request, settings=settings)
    result = await grow_tree(judge="sim/judge", run=run.run, settings=settings)
    capability = {step.question: step.capability for _, question in make_world(140, 11) for step in question.steps}
    with Home.open(settings.home, write=False) as home:
        text_of = {one.key: one.text for one in tree_criteria(home, result.summary["tree"])}
        leaf_of = {one.criterion: one.leaf for one in mappings(home, result.summary["version"])}
        found = weaknesses_of(home, get_run(home, run.run), "sim/nearsighted")
    truth = {key: capability[text] for key, text in text_of.items()}
    assert set(truth.values()) <= set(all_capabilities())
    assert all(truth[key] == path for key, path in planted_in(leaf_of).items() if path is not None)
    assert result.summary["coverage"] > 0.85
    weak = [row.node for row in found.weak]
    assert any(node.startswith("<Perception>") for node in weak), weak
    assert not any(node.startswith(("<Reasoning>", "<Knowledge>", "<Generation>")) for node in weak)


def test_published_capability_sentences_all_have_a_place_or_are_counted(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The 600 sentences of a published tree go through the command line: each is mapped to a leaf, or counted."""
    folder = shared_data / "evaltree-ds1000"
    sentences = orjson.loads((folder / "capabilities.json").read_bytes())
    chosen = orjson.loads((folder / "600-400.json").read_bytes())
    file = tmp_path / "capabilities.jsonl"
    rows = [{"criterion": sentences[number], "sample_id": f"ds1000-{number}"} for number in chosen]
    file.write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    home = str(tmp_path / "home")
    command = ["tree", "grow", "--criteria", str(file), "--judge", "sim/judge", "--home", home, "--json"]
    assert dokimasia(command) == 0
    summary = orjson.loads(capsys.readouterr().out)
    assert summary["n"] == len(chosen) == 600
    assert summary["mapped"] == sum(leaf["support"] for leaf in summary["leaves"])
    assert summary["mapped"] + sum(summary["unplaced"].values()) == 600
    assert set(summary["unplaced"]) <= {"unplaced"}
    assert summary["mapped"] > 300
    assert all(leaf["support"] > 0 for leaf in summary["leaves"])
