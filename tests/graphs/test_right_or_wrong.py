"""Whether an answer is right is decided beside its score: by rule where one applies, else by the judge, or by nobody."""

from collections.abc import Mapping
from typing import Any

import pytest

from dokimasia import as_runnable
from dokimasia.domain.call import Chat, ModelCall, ModelRef, ModelSpec
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import Sample
from dokimasia.errors import CallFailed
from dokimasia.gateway.doubles import FunctionGateway
from dokimasia.graphs.context import Context
from dokimasia.prompts import recognise
from dokimasia.storage.memory import MemoryStore

pytestmark = pytest.mark.quick

CRITERIA = CriteriaSet(
    criteria=(
        Criterion(question="How many jars?", ground_truth="Five", weight=7),
        Criterion(question="Where do they stand?", ground_truth="On the shelf", weight=3),
    )
)
MODELS = {name: ModelSpec(ref=ModelRef(name=name, model=f"test/{name}")) for name in ("judge", "cand")}
SILENT = "1 | score: [4]\n2 | score: [not stated]"


class World:
    """A candidate and a judge that say one thing to each prompt; everything that was asked is kept."""

    def __init__(self, answer: str, *, reference: Any = "5 jars", equivalence: Any = "Verdict: [[same]]") -> None:
        self.says: Mapping[str, Any] = {
            "candidate": answer,
            "candidate_plain": answer,
            "checkpoints": SILENT,
            "checkpoints_published": SILENT.replace("not stated", "1"),
            "equivalence": equivalence,
        }
        accepted = tuple(reference) if isinstance(reference, list) else ()
        first = accepted[0] if accepted else reference
        self.sample = Sample(
            id="one", prompt="How many jars are on the shelf?", reference_answer=first, reference_answers=accepted
        )
        self.asked: list[tuple[str, Chat]] = []
        self.store = MemoryStore()

    def _reply(self, call: ModelCall) -> Any:
        assert isinstance(call, Chat)
        found = recognise(call.messages)
        assert found is not None
        self.asked.append((found.name, call))
        return self.says[found.name]

    @property
    def prompts(self) -> list[str]:
        return sorted(name for name, _ in self.asked)

    async def walk(self, *, judged: bool = True, **options: Any) -> dict[str, Any]:
        """Ask the candidate and score it; the item as it ended, with its verdict as `decided`."""
        told = GraphOptions(judge="judge", models=MODELS, **options)
        graph = as_runnable("checkpoint_scoring", Context(FunctionGateway(self._reply), self.store, told))
        given: dict[str, Any] = {"sample": await self.store.put(self.sample), "items": [{"model": "cand"}]}
        if judged:
            given["criteria"] = await self.store.put(CRITERIA)
        item = (await graph.ainvoke(given))["items"][0]
        final = None if "final" not in item else await self.store.get(FinalAnswer, item["final"])
        return {**item, "decided": final}


@pytest.mark.parametrize(
    ("answer", "verdict", "rule", "stated"),
    [
        ("I count them.\n\nFinal answer: 5", "right", "number", True),
        ("I count them.\n\nFinal answer: five jars", "right", "exact", True),
        ("I count them.\n\nFinal answer: 4 jars", "wrong", "number", True),
        ("5 jars", "right", "exact", False),
    ],
)
async def test_a_rule_decides_without_a_call(answer: str, verdict: str, rule: str, stated: bool) -> None:
    """Where a rule applies, the judge is asked for scores alone; the record says by which rule, and what was compared."""
    world = World(answer)
    ended = await world.walk()
    assert world.prompts == ["candidate", "checkpoints"]
    final = ended["decided"]
    assert (final.verdict, final.rule, final.stated, final.calls) == (verdict, rule, stated, ())
    assert final.answer == answer.rpartition("Final answer: ")[2]


@pytest.mark.parametrize(("word", "verdict"), [("same", "right"), ("different", "wrong")])
async def test_the_judge_decides_what_rules_cannot(word: str, verdict: str) -> None:
    """Where no rule applies the judge says whether the answer is the reference's, beside its scores; both calls count."""
    world = World("Final answer: a handful", equivalence=f"They agree or not.\n\nVerdict: [[{word}]]")
    ended = await world.walk()
    assert world.prompts == ["candidate", "checkpoints", "equivalence"]
    assert (ended["decided"].verdict, ended["decided"].rule) == (verdict, "judge")
    assert len(ended["calls"]) == 3
    assert set(ended["decided"].calls) < set(ended["calls"])
    asked = next(call for name, call in world.asked if name == "equivalence")
    assert "a handful" in asked.messages[-1].text


async def test_alternatives_are_shown_to_the_judge_as_such() -> None:
    """Where several answers are accepted, any of them is right by rule, and the judge is told of all."""
    world = World("Final answer: 6", reference=["5 jars", "6"])
    assert (await world.walk())["decided"].verdict == "right"
    world = World("Final answer: a few", reference=["5 jars", "6"])
    await world.walk()
    asked = next(call for name, call in world.asked if name == "equivalence")
    assert "Any one of these is accepted: 5 jars; 6" in asked.messages[-1].text


async def test_an_unreadable_verdict_is_unknown_and_the_scores_stay() -> None:
    """A judge that gives no verdict leaves right or wrong unknown, with the kind of failure; the answer is scored."""
    ended = await World("Final answer: a handful", equivalence="Hard to say.").walk()
    final = ended["decided"]
    assert (final.verdict, final.rule, final.failure) == ("unknown", "unreadable", "unparsable")
    assert ended["judgement"]


async def test_a_budget_that_ends_at_the_verdict_fails_the_answer_as_budget() -> None:
    """An answer whose verdict could not be paid for is failed as `budget`, so that a resume takes it up again."""
    world = World("Final answer: a handful", equivalence=CallFailed("budget", "spent"))
    ended = await world.walk()
    assert ended["failed"] == "budget"
    assert "judgement" not in ended


async def test_without_a_reference_nothing_is_compared() -> None:
    """No reference answer: nothing is decided, no call is made for it, and the answer is scored."""
    world = World("Final answer: 5", reference=None)
    ended = await world.walk()
    assert world.prompts == ["candidate", "checkpoints"]
    assert (ended["decided"].verdict, ended["decided"].rule) == ("unknown", "no reference")


async def test_silence_is_kept_beside_the_score() -> None:
    """What the response does not speak of has a 1 in the judgement, and is marked as not stated."""
    world = World("Final answer: 5")
    judgement = await world.store.get(CheckpointScores, (await world.walk())["judgement"])
    assert (judgement.scores, judgement.stated) == ((4, 1), (True, False))
    assert judgement.score == pytest.approx((7 * 4 + 3 * 1) / 10)


async def test_the_published_protocol_does_not_tell_silence_from_error() -> None:
    """As published the judge scores with another prompt, and everything counts as spoken to."""
    world = World("Final answer: 5")
    judgement = await world.store.get(CheckpointScores, (await world.walk(published=True))["judgement"])
    assert world.prompts == ["candidate", "checkpoints_published"]
    assert (judgement.scores, judgement.stated, judgement.addressed) == ((4, 1), (), (True, True))


async def test_the_question_can_be_put_bare() -> None:
    """`plain` sends the data set's own words, and nothing is asked of how to answer."""
    world = World("5")
    await world.walk(plain=True)
    (_, asked), *_ = (one for one in world.asked if one[0] == "candidate_plain")
    assert asked.messages[0].text == "How many jars are on the shelf?"


@pytest.mark.parametrize(
    ("answer", "verdict", "rule"),
    [
        ("I look.\nFinal answer: There are five jars on the shelf.", "right", "number"),
        ("I look.\nFinal answer: There are four jars on the shelf.", "wrong", "number"),
        ("It is dark.\nFinal answer: I cannot tell how many jars are on the shelf", "wrong", "no answer"),
        ("I look.\nFinal answer: 5 jars or 6", "right", "judge"),
        ("I look.\nFinal answer: 5 jars?", "right", "judge"),
    ],
)
async def test_the_judge_is_asked_only_where_no_rule_decides(answer: str, verdict: str, rule: str) -> None:
    """A sentence in the question's words, or one that gives no answer, asks nobody; doubt is left to the judge."""
    world = World(answer)
    ended = await world.walk()
    assert (ended["decided"].verdict, ended["decided"].rule) == (verdict, rule)
    assert world.prompts == ["candidate", "checkpoints", *(["equivalence"] if rule == "judge" else [])]


@pytest.mark.parametrize(
    ("answer", "verdict", "rule"),
    [
        ("Final answer: five jars", "right", "exact"),
        ("There are 5 jars on the shelf.", "right", "number"),
        ("There are 5 jars.", "right", "contains"),
        ("I see 4 of them.\nFinal answer: 4", "wrong", "number"),
    ],
)
async def test_rules_alone_decide_without_a_judge(answer: str, verdict: str, rule: str) -> None:
    """Without criteria only the candidate is asked; a short answer that holds the reference's words counts, too."""
    world = World(answer)
    ended = await world.walk(judged=False)
    assert world.prompts == ["candidate"]
    assert not ended.get("failed")
    assert (ended["decided"].verdict, ended["decided"].rule) == (verdict, rule)


async def test_what_rules_cannot_decide_is_a_failure_of_its_kind() -> None:
    """Without a judge, what no rule can say is `undecided`, with what was compared and the way out, and never a guess."""
    ended = await World("Final answer: a handful").walk(judged=False)
    assert ended["failed"] == "undecided"
    assert all(words in ended["reason"] for words in ("'a handful'", "'5 jars'", "a judge can"))
    assert (ended["decided"].verdict, ended["decided"].rule) == ("unknown", "none")
    without = await World("Final answer: 5", reference=None).walk(judged=False)
    assert without["failed"] == "undecided"
    assert "--judge" in without["reason"]


@pytest.mark.parametrize(("tolerance", "verdict"), [(1e-6, "wrong"), (0.25, "right")])
async def test_the_tolerance_for_numbers_is_told(tolerance: float, verdict: str) -> None:
    """A number is right within the tolerance that the run was told."""
    ended = await World("Final answer: 4", reference="5").walk(judged=False, tolerance=tolerance)
    assert ended["decided"].verdict == verdict
