"""Names while a tree grows: a batch alone first, parents made one, vague leaves renamed, and the level of parents."""

import json
from collections import Counter
from typing import Any

import pytest

from dokimasia.algorithms.trees.checks import check_tree
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.domain.call import Chat, ModelCall, ModelReply, ModelSpec
from dokimasia.domain.capability import TreeEdit
from dokimasia.domain.ports import BlobStore
from dokimasia.errors import ConfigError
from dokimasia.methods.tree import grow_tree
from dokimasia.methods.tree.request import GrowthRequest
from dokimasia.prompts import recognise
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.lifecycle import RunResult
from dokimasia.runs.observer import SilentObserver
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.trees.versions import get_version, mappings, tree_criteria, versions
from tests.tree_judge_double import JudgeTransport, answer, pairs, skill_of

SKILLS = {"count": "Perception", "colour": "Perception", "read": "Understanding", "add": "Reasoning"}


async def grown(settings: Settings, judge: JudgeTransport, **options: Any) -> RunResult:
    """Grow a tree of eighty criteria on four skills."""
    defaults: dict[str, Any] = {"judge": "sim/judge", "min_support": 2, "name": "T", "criteria": pairs(20)}
    return await grow_tree(settings=settings, transports={"sim": judge}, **{**defaults, **options})


def edits_of(settings: Settings, kind: str) -> list[TreeEdit]:
    """All events of a kind in the history of the tree."""
    with Home.open(settings.home, write=False) as home:
        return [edit for one in versions(home, "T") for edit in get_version(home, one.id).edits if edit.kind == kind]


async def test_the_first_batch_is_done_alone_and_the_rest_see_its_names(settings: Settings) -> None:
    """One batch of proposals is answered before any other is asked; the rest of its round is shown what it made."""
    shown: list[tuple[str, list[str]]] = []

    def reply(prompt: str, inputs: dict[str, str]) -> str:
        if prompt == "tree_propose":
            samples = [one["criterion"].rpartition(" ")[2] for one in json.loads(inputs["criteria"])]
            shown.append((inputs["tree"], samples))
        return answer(prompt, inputs)

    result = await grown(settings, JudgeTransport(reply), rounds=1)
    first, *rest = shown
    assert first[0].count("\n") == 5, "the anchors alone"
    assert len(first[1]) == 10
    assert len(set(first[1])) > 3, "it is spread over the samples"
    assert len(rest) == 7
    assert {tree for tree, _ in rest} == {rest[0][0]}
    assert rest[0][0].count("\n") > 5
    assert sum(len(samples) for _, samples in shown) == 80
    assert result.summary["phases"][0]["calls"] == 8
    assert result.summary["phases"][0]["placed"] == 80


async def test_a_lost_first_batch_loses_nothing_else(settings: Settings) -> None:
    """Where the batch alone brings nothing the others go on from the bare anchors, and its criteria are proposed for later."""
    asked = 0

    def reply(prompt: str, inputs: dict[str, str]) -> str:
        nonlocal asked
        asked += prompt == "tree_propose"
        return "no idea" if prompt == "tree_propose" and asked <= 2 else answer(prompt, inputs)

    result = await grown(settings, JudgeTransport(reply))
    assert result.summary["phases"][0]["unplaced"] == {"unplaced": 10}
    assert result.summary["mapped"] == 80


def under_two_parents(prompt: str, inputs: dict[str, str]) -> str:
    """A judge that calls a parent by another name where it does not see the tree's, and says that both are one."""
    if prompt == "tree_merge":
        rows = json.loads(inputs["capabilities"])
        if any(row["path"].count("<") == 2 for row in rows):
            same = [str(row["n"]) for row in rows if row["path"] in ("<Reasoning><Arithmetic>", "<Reasoning><Sums>")]
            return f"same: {', '.join(same)}" if len(same) > 1 else "none"
        return "none"
    text = answer(prompt, inputs)
    return text.replace("<Arithmetic>,Summing Up", "<Sums>,Summing Up").replace(
        "<ADD,<Reasoning>,Arithmetic>", "<ADD,<Reasoning>,Arithmetic>\n<ADD,<Reasoning>,Sums>"
    )


async def test_parents_are_merged_with_a_reason(settings: Settings) -> None:
    """Two names of one parent become one, with the judge's word; the leaves of both are below it, and the tree is one."""
    judge = JudgeTransport(under_two_parents)
    result = await grown(settings, judge, criteria=pairs(20, skills=("add", "count")))
    (merged,) = [edit for edit in edits_of(settings, "merge") if edit.node.count("<") == 2]
    assert {merged.node, merged.into} == {"<Reasoning><Arithmetic>", "<Reasoning><Sums>"}
    assert merged.reason == f"the same parent as {merged.into}"
    moved = edits_of(settings, "move")
    assert moved
    for edit in (merged, *moved):
        assert edit.by == "judge"
        assert edit.provenance is not None
        assert edit.criteria
    reasoning = [leaf["leaf"] for leaf in result.summary["leaves"] if leaf["leaf"].startswith("<Reasoning>")]
    assert len({leaf.rpartition("<")[0] for leaf in reasoning}) == 1
    with Home.open(settings.home, write=False) as home:
        for one in versions(home, "T"):
            assert check_tree(from_version(get_version(home, one.id))) == []


@pytest.mark.parametrize("better", ["Weighing Evidence", ""])
async def test_a_vague_leaf_is_renamed_or_goes(settings: Settings, better: str) -> None:
    """The only leaf of its parent, called vague, gets the better name and keeps its criteria; without one it goes, and its
    name is not taken up again."""

    def reply(prompt: str, inputs: dict[str, str]) -> str:
        if prompt == "tree_merge":
            rows = json.loads(inputs["capabilities"])
            named = f" | {better}" if better else ""
            return "\n".join(f"vague: {row['n']}{named}" for row in rows if "<Summing Up>" in row["path"]) or "none"
        text = answer(prompt, inputs).replace(",Addition>", ",Summing Up>")
        if prompt == "tree_map" and f"<{better}>" in inputs["paths"]:
            wanted = [one["n"] for one in json.loads(inputs["criteria"]) if skill_of(one["criterion"]) == "add"]
            path = next(path for path in inputs["paths"].splitlines() if better in path)
            text = "\n".join(
                f"{n} | {path}" if int(n) in wanted else line
                for line in text.splitlines()
                for n in [line.split(" |")[0]]
            )
        return text

    judge = JudgeTransport(reply)
    criteria = [*pairs(12, skills=("add", "count"))]
    result = await grown(settings, judge, criteria=criteria)
    leaves = {leaf["leaf"]: leaf["support"] for leaf in result.summary["leaves"]}
    assert not [leaf for leaf in leaves if "Summing Up" in leaf]
    if better:
        assert leaves[f"<Reasoning><Arithmetic><{better}>"] == 12
        (renamed,) = edits_of(settings, "rename")
        assert renamed.reason == "its name is vague"
        assert renamed.provenance is not None
        assert sum(phase["renamed"] for phase in result.summary["phases"]) == 1
    else:
        assert result.summary["unplaced"] == {"unplaced": 12}
        assert any("dropped before" in one["reason"] for one in result.summary["rejections"])
        assert {edit.reason for edit in edits_of(settings, "prune")} >= {
            "its name is vague, and no sibling could take it in"
        }


async def test_at_the_level_of_parents_the_leaves_are_parents(settings: Settings) -> None:
    """With `level="parent"` criteria are proposed for, merged and mapped to parents, and nothing lies below one."""
    result = await grown(settings, JudgeTransport(answer), level="parent")
    assert result.summary["level"] == "parent"
    assert Counter(leaf["leaf"] for leaf in result.summary["leaves"]) == Counter(
        ["<Perception><Attributes>", "<Perception><Enumeration>", "<Reasoning><Arithmetic>", "<Understanding><Text>"]
    )
    assert result.summary["parents"] == 4
    with Home.open(settings.home, write=False) as home:
        text_of = {one.key: one.text for one in tree_criteria(home, "T")}
        placed = {text_of[one.criterion]: one.leaf for one in mappings(home, result.summary["version"])}
        for one in versions(home, "T"):
            version = get_version(home, one.id)
            assert version.level == "parent"
            assert {node.id.count("<") for node in version.nodes} <= {0, 1, 2}
            assert check_tree(from_version(version)) == []
    assert len(placed) == 80
    for text, leaf in placed.items():
        assert leaf is not None
        assert leaf.startswith(f"<{SKILLS[str(skill_of(text))]}>")


async def test_a_tree_of_parents_is_grown_on_at_its_level(settings: Settings) -> None:
    """Grown on, a tree of parents stays one: what fits is mapped to its parents, what does not makes new ones."""
    await grown(settings, JudgeTransport(answer), level="parent", criteria=pairs(10, skills=("count", "colour")))
    result = await grown(settings, JudgeTransport(answer), onto="T", name=None, criteria=pairs(30))
    assert result.summary["level"] == "parent"
    assert result.summary["new_leaves"] == ["<Reasoning><Arithmetic>", "<Understanding><Text>"]
    assert result.summary["mapped"] == result.summary["n"] == 120
    assert result.summary["moved_count"] == 0
    assert result.summary["notes"] == []


async def test_a_tree_of_capabilities_is_not_grown_on_at_another_level(settings: Settings) -> None:
    """`--level parent` onto a tree of capabilities is refused before anything is asked."""
    await grown(settings, JudgeTransport(answer))
    judge = JudgeTransport(answer)
    with pytest.raises(ConfigError, match="`level` parent"):
        await grown(settings, judge, onto="T", name=None, level="parent", criteria=pairs(30))
    assert judge.asked == []


class Told(SilentObserver):
    """Keeps the notes of what was planned, and how many calls had been made by then."""

    def __init__(self, judge: JudgeTransport) -> None:
        self.judge = judge
        self.notes: list[tuple[str, int]] = []

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """Keep what is said."""
        self.notes += [(note, len(self.judge.asked)) for note in estimate.notes]


@pytest.mark.parametrize(
    ("count", "options", "said"),
    [
        (10, {}, "40 criteria are few for 4 to 20 capabilities (one for 2 to 10 criteria, and at most 80)"),
        (99, {}, "396 criteria are few for 40 to 80 capabilities"),
        (100, {}, ""),
        (10, {"level": "parent"}, ""),
    ],
)
async def test_few_criteria_are_said_before_anything_is_asked(
    settings: Settings, count: int, options: dict[str, str], said: str
) -> None:
    """Fewer criteria than five for each leaf to be expected: it is said first, with the level of parents as the way out."""
    judge = JudgeTransport(answer)
    observer = Told(judge)
    result = await grown(settings, judge, criteria=pairs(count), subsample=5, observer=observer, **options)
    assert [asked for _, asked in observer.notes] == ([0] if said else [])
    for note in (*(note for note, _ in observer.notes), *result.summary["notes"]):
        assert note.startswith(said)
        assert "--level parent" in note
    assert len(result.summary["notes"]) == bool(said)


async def test_growing_on_expects_the_leaves_that_are_there(settings: Settings) -> None:
    """Of a tree that is grown on the number of leaves is known: criteria are few only for these."""
    await grown(settings, JudgeTransport(answer))
    judge = JudgeTransport(answer)
    observer = Told(judge)
    more = [(f"{text} Again.", sample, category) for text, sample, category in pairs(3)]
    await grown(settings, judge, onto="T", name=None, criteria=more, observer=observer)
    assert observer.notes == []


def test_the_level_is_an_option() -> None:
    """The command that repeats a growth says at which level it is."""
    request = GrowthRequest(judge="J", run="last", level="parent")
    assert "--level parent" in request.command
    with pytest.raises(ValueError, match="level"):
        GrowthRequest.model_validate({"judge": "J", "run": "last", "level": "leaf"})


async def test_parents_are_judged_beside_leaves(settings: Settings) -> None:
    """No list of parents is waited for by itself: each is asked while a list of leaves is."""
    waiting: list[str] = []
    beside: list[bool] = []

    class Slow(JudgeTransport):
        async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
            """Answer a call, and see what else is waited for meanwhile."""
            request = recognise(call.messages) if isinstance(call, Chat) else None
            assert request is not None
            layers = {row["path"].count("<") for row in json.loads(request.inputs.get("capabilities", "[]"))}
            kind = {(2,): "parents", (3,): "leaves"}.get(tuple(layers), request.name)
            beside.extend(["leaves" in waiting] if kind == "parents" else [])
            waiting.append(kind)
            reply = await super().send(call, spec, api_key=api_key, blobs=blobs)
            waiting.remove(kind)
            return reply

    judge = Slow(delay=lambda number: 0.05 if judge.asked[number] == "tree_merge" else 0.0)
    await grown(settings, judge)
    assert len(beside) == 2, "one list in each round: only Perception has two parents"
    assert all(beside)
