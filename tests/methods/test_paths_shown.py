"""An evaluation with a capability tree: the judge sees each criterion's path, where the tree has one, and it is recorded."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.agents.evaluation import criteria_text, score_criteria
from dokimasia.domain.call import Chat
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.judgement import CheckpointScores
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, InputError, NotFound, UnparsableReply
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.evaluation import METHOD, EvaluationRequest, evaluate
from dokimasia.prompts import Recognised, recognise
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import SqliteValueStore, get_run
from dokimasia.storage.trees.lookup import criterion_key
from dokimasia.storage.trees.versions import mappings, resolve_tree
from tests.planted_trees import plant_tree

SAMPLES, SEED = 14, 4
PATHS = ["<Perception><Text><Digits>", "", "<Reasoning><Sums><Adding>"]
SAMPLE = Sample(id="s", prompt="What do the two cost?")
CRITERIA = CriteriaSet(
    criteria=tuple(
        Criterion(question=f"Which price has item {at}?", ground_truth=f"{at} euros", weight=weight)
        for at, weight in enumerate((4, 3, 3))
    ),
)


def test_paths_stand_with_their_criteria() -> None:
    """The row of a criterion has its capability and its weight; one without a path has none, and no paths change nothing."""
    rows = json.loads(criteria_text(CRITERIA, PATHS))
    assert [row.get("capability") for row in rows] == [PATHS[0], None, PATHS[2]]
    assert [row["weight"] for row in rows] == [4, 3, 3]
    assert criteria_text(CRITERIA, ["", "", ""]) == criteria_text(CRITERIA)


@pytest.mark.parametrize("published", [False, True])
def test_the_published_form_of_a_line_is_read(published: bool) -> None:
    """Where paths are shown a line may name its criterion by path; a path that is another criterion's is a fault."""
    asked = score_criteria(SAMPLE, CRITERIA, "4 euros", paths=PATHS, published=published)
    assert asked.parse is not None
    assert asked.shown == ("question", "criteria", "path", "response")
    lines = f"{PATHS[0]} | score: [5] | Weight 4\n2 | score: [3]\n{PATHS[2]} | score: [1] | Weight 3"
    assert [one.score for one in asked.parse(lines)] == [5, 3, 1]
    with pytest.raises(UnparsableReply, match="not its own"):
        asked.parse(f"1 {PATHS[2]} | score: [5]\n2 | score: [3]\n3 | score: [1]")
    assert score_criteria(SAMPLE, CRITERIA, "4 euros").shown == ("question", "criteria", "response")


@pytest.fixture
def planted(settings: Settings, tmp_path: Path) -> Callable[..., Any]:
    """Make a request on a small world."""
    write_world(tmp_path / "world.jsonl", SAMPLES, SEED)
    settings.home.mkdir(parents=True, exist_ok=True)
    defaults: dict[str, Any] = {"data": tmp_path / "world.jsonl", "judge": "sim/judge", "models": ("sim/strong",)}
    return lambda **options: EvaluationRequest(**{**defaults, **options})


def asked_by(transport: CountingTransport) -> list[Recognised]:
    """What was asked, by which prompts."""
    return [request for call in transport.sent if isinstance(call, Chat) and (request := recognise(call.messages))]


def shown_rows(transport: CountingTransport) -> dict[str, str | None]:
    """Each criterion's question that a scorer was shown, to its path."""
    found: dict[str, str | None] = {}
    for request in asked_by(transport):
        if request.name == "checkpoints":
            found |= {row["question"]: row.get("capability") for row in json.loads(request.inputs["criteria"])}
    return found


async def test_the_judge_sees_the_paths_of_a_tree(settings: Settings, planted: Callable[..., Any]) -> None:
    """The same criteria scored with their tree: its version is the plan's, each mapped criterion comes with its path, the
    others without; criteria and answers are not asked for again, and every judgement says what was shown."""
    first = await evaluate(planted(), settings=settings)
    await asyncio.to_thread(plant_tree, settings.home, first.run, SAMPLES, SEED, name="T", min_support=3)
    transport = CountingTransport(SimTransport())
    second = await evaluate(planted(tree="T"), settings=settings, transports={"sim": transport})
    assert second.complete
    assert second.run != first.run
    with Home.open(settings.home, write=False) as home:
        version = resolve_tree(home, "T")
        leaf_of = {one.criterion: one.leaf for one in mappings(home, version.id)}
        row = get_run(home, second.run)
        plan, request = METHOD.read(row)
        scored = [one for one in results(home, second.run) if one.kind == "score" and one.outcome == "scored"]
        store = SqliteValueStore(home, second.run)
        expected: dict[str, str | None] = {}
        for one in scored:
            made = await store.get(CriteriaSet, str(one.criteria_id))
            keys = [criterion_key(str(one.criteria_id), number) for number in range(1, len(made.criteria) + 1)]
            expected |= {each.question: leaf_of.get(key) for each, key in zip(made.criteria, keys, strict=True)}
            judgement = await store.get(CheckpointScores, str(one.judgement_id))
            assert ("path" in judgement.provenance.shown) == any(leaf_of.get(key) for key in keys)
    assert plan.tree == version.id
    assert request.tree == "T"
    assert "--tree T" in row.command
    shown = shown_rows(transport)
    assert shown == expected
    assert None in shown.values()
    assert any(shown.values())
    assert {request.name for request in asked_by(transport)} == {"checkpoints"}
    again = CountingTransport(SimTransport())
    assert await evaluate(planted(tree=version.id), settings=settings, transports={"sim": again}) == second
    assert again.sent == []


async def test_a_tree_that_cannot_be_shown_is_refused(settings: Settings, planted: Callable[..., Any]) -> None:
    """An unknown tree, a version before its mapping, and a tree without a judge are errors that say what to do."""
    first = await evaluate(planted(), settings=settings)
    with pytest.raises(NotFound, match="no tree yet"):
        await evaluate(planted(tree="T"), settings=settings)
    await asyncio.to_thread(plant_tree, settings.home, first.run, SAMPLES, SEED, name="T", min_support=3)
    with pytest.raises(InputError, match=r"no criterion is mapped in T@1 \(merge\).*dokimasia tree list T"):
        await evaluate(planted(tree="T@1"), settings=settings)
    with pytest.raises(ConfigError, match="`tree` is for a judge"):
        await evaluate(planted(tree="T", judge=None), settings=settings)
