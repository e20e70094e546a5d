"""Cognitive replay: from a sample to its criteria, with every way in which a judge can spoil it."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from dokimasia import as_runnable
from dokimasia.domain.call import CallKeys, ChatReply, ModelRef, ModelSpec
from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.judgement import Failed
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import Sample
from dokimasia.errors import CallFailed
from dokimasia.gateway.doubles import ScriptedGateway
from dokimasia.graphs.context import Context
from dokimasia.graphs.evaluation.cognitive_replay import replay_fields
from dokimasia.prompts import recognise
from dokimasia.storage.memory import MemoryStore

JUDGE = ModelSpec(ref=ModelRef(name="judge", model="test/judge"))
OPTIONS = GraphOptions(judge="judge", models={"judge": JUDGE})
SAMPLE = Sample(id="one", prompt="How many cups stand on the table?", reference_answer="3")


def chain(answer: str = "3") -> str:
    return f"<reasoning>\n1. There is a table.\n2. Cups stand on it.\n</reasoning>\n<answer>\n{answer}\n</answer>"


def criteria(weights: Sequence[int] = (5, 3, 2), **changes: Any) -> str:
    rows: list[dict[str, Any]] = [
        {"question": "What is the surface?", "ground_truth": "A wooden table", "weight": weights[0]},
        {"question": "Which vessels are seen?", "ground_truth": "Blue cups", "weight": weights[1]},
        {"question": "What number does the count give?", "ground_truth": "Three", "weight": weights[2], "final": True},
    ]
    rows[0].update(changes)
    return json.dumps(rows)


def look(*faulty: tuple[int, str, str], count: int = 3, missing: str = "nothing") -> str:
    """A second look in which the named verdicts are NO: (criterion, verdict, reason)."""
    lines: list[str] = []
    for number in range(1, count + 1):
        wrong = {verdict: reason for one, verdict, reason in faulty if one == number}
        said = " | ".join(
            f"{verdict}: {'NO' if verdict in wrong else 'YES'}" for verdict in ("needed", "single", "open")
        )
        lines.append(f"{number} | {said} | {' and '.join(wrong.values()) or '-'}")
    return "\n".join([*lines, f"missing: {missing}"])


async def replay(
    replies: Sequence[Any], sample: Sample = SAMPLE, **options: Any
) -> tuple[dict[str, Any], ScriptedGateway, MemoryStore]:
    gateway, store = ScriptedGateway(replies), MemoryStore()
    graph = as_runnable("cognitive_replay", Context(gateway, store, OPTIONS.model_copy(update=options)))
    state = await graph.ainvoke({"sample": await store.put(sample)})
    return state, gateway, store


def asked(gateway: ScriptedGateway) -> list[tuple[str, bool]]:
    """Which prompts were asked, and whether as a repair."""
    found = [recognise(call.messages) for call in gateway.calls if call.kind == "chat"]
    return [(one.name, one.problem is not None) for one in found if one is not None]


async def test_a_good_judge_needs_three_calls() -> None:
    """A chain whose answer agrees by rule, criteria that keep the rules, and a second look at these cost one call each."""
    state, gateway, store = await replay([chain(), criteria(), look()])
    assert asked(gateway) == [("solver", False), ("criteria", False), ("criteria_check", False)]
    assert (await store.get(ReferenceChain, state["chain"])).answer == "3"
    made = await store.get(CriteriaSet, state["criteria"])
    assert made.weights == (5, 3, 2)
    assert (made.repaired, made.checked, made.faults) == (False, True, ())
    assert [one.final for one in made.criteria] == [False, False, True]
    assert state["agreed"] == "number" or state["agreed"]
    assert len(state["calls"]) == 1
    assert len((await store.get(CallKeys, state["drawing"])).calls) == 2
    assert not gateway.calls[2].messages[-1].images


async def test_an_answer_that_no_rule_decides_is_judged() -> None:
    """Free wording is compared by one more call of the judge."""
    sample = SAMPLE.model_copy(update={"reference_answer": "A pale blue afternoon sky over the hills."})
    state, gateway, _ = await replay(
        [chain("The sky, light blue"), "Alike.\nVerdict: [[same]]", criteria(), look()], sample
    )
    assert asked(gateway)[:3] == [("solver", False), ("equivalence", False), ("criteria", False)]
    assert state["agreed"] == "judge"


async def test_a_contradicting_chain_is_asked_for_once_more() -> None:
    """A chain that contradicts the reference goes back once; agreeing then, the sample is saved."""
    state, gateway, _ = await replay([chain("4"), chain("3"), criteria(), look()])
    assert asked(gateway)[:3] == [("solver", False), ("solver", True), ("criteria", False)]
    assert not state.get("failed")


async def test_a_chain_that_contradicts_twice_fails_the_sample() -> None:
    """Twice against the reference is a failure of its own kind, and no criteria are paid for."""
    state, gateway, _ = await replay([chain("4"), chain("5")])
    assert state["failed"] == "reference_contradicted"
    assert len(gateway.calls) == 2


async def test_as_published_a_contradicting_chain_is_kept() -> None:
    """The paper checks no chain: the sample is not lost, and its outcome says what the chain contradicts."""
    state, gateway, store = await replay([chain("4"), criteria()], published=True)
    assert asked(gateway) == [("solver", False), ("criteria_published", False)]
    fields = await replay_fields(state, store)
    assert (fields["outcome"], fields["criteria_id"]) == ("made", state["criteria"])
    assert fields["reason"] == "the judge's chain contradicts the reference answer; its answer: 4"


async def test_without_a_reference_nothing_is_compared() -> None:
    """A sample without a reference answer goes straight to its criteria."""
    sample = SAMPLE.model_copy(update={"reference_answer": None})
    state, gateway, _ = await replay([chain("whatever"), criteria(), look()], sample)
    assert state["agreed"] == "no reference"
    assert "REFERENCE ANSWER" not in gateway.calls[0].messages[-1].text


async def test_an_unreadable_chain_is_sent_back_once() -> None:
    """The one re-ask quotes the bad reply and names what is wrong; a second bad reply fails the sample."""
    state, gateway, _ = await replay(["no tags at all", chain(), criteria(), look()])
    assert not state.get("failed")
    assert [message.role for message in gateway.calls[1].messages] == ["system", "user", "assistant", "user"]
    assert gateway.calls[1].messages[2].text == "no tags at all"
    state, gateway, _ = await replay(["nothing", "still nothing"])
    assert state["failed"] == "unparsable"
    assert len(gateway.calls) == 2


async def test_broken_rules_are_named_to_the_judge() -> None:
    """Criteria that leak or miscount go back with the broken rules in words."""
    bad = criteria(question="Is it a wooden table?")
    state, gateway, _ = await replay([chain(), bad, criteria(), look()])
    assert not state.get("failed")
    found = recognise(gateway.calls[2].messages)
    assert found is not None
    assert "criterion 1" in (found.problem or "")


async def test_weights_alone_are_rescaled_after_the_repair() -> None:
    """Weights that still miss ten after the repair are rescaled, and the set says so."""
    state, _, store = await replay([chain(), criteria((5, 5, 5)), criteria((2, 2, 1)), look()])
    made = await store.get(CriteriaSet, state["criteria"])
    assert made.repaired
    assert sum(made.weights) == 10


async def test_a_criterion_that_still_breaks_a_rule_is_left_out() -> None:
    """A leak that the repair did not mend costs the criterion and not the sample, and stays on record."""
    bad = criteria(question="Which wooden table is it?", ground_truth="wooden table")
    state, _, store = await replay([chain(), bad, bad, look(count=2)])
    made = await store.get(CriteriaSet, state["criteria"])
    assert made.weights == (6, 4)
    (fault,) = made.faults
    assert (fault.question, fault.defect, fault.became) == ("Which wooden table is it?", "rule", "dropped")


async def test_as_published_a_second_leak_fails_the_sample() -> None:
    """As published nothing but weights is mended after the repair, and nobody takes a second look."""
    bad = criteria(question="Is it a wooden table?")
    state, gateway, _ = await replay([chain(), criteria()], published=True)
    assert asked(gateway) == [("solver", False), ("criteria_published", False)]
    assert state["criteria"]
    state, _, store = await replay([chain(), bad, bad], published=True)
    assert state["failed"] == "unparsable"
    assert "criterion 1" in (await store.get(Failed, state["why"])).reason


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (ChatReply(text="", finish_reason="content_filter"), "refused"),
        (ChatReply(text="", refusal="I will not"), "refused"),
        (ChatReply(text="<reasoning>half", finish_reason="length"), "truncated"),
        (CallFailed("context_overflow", "too long"), "context_overflow"),
        (CallFailed("budget", "all spent"), "budget"),
        (CallFailed("api_error", "gone"), "api_error"),
    ],
)
async def test_failures_keep_their_kind(reply: Any, kind: str) -> None:
    """A refusal, a cut reply and a call without an answer end the sample under their own names, without a re-ask."""
    state, gateway, _ = await replay([reply])
    assert state["failed"] == kind
    assert len(gateway.calls) == 1


async def test_the_state_holds_no_text_of_models() -> None:
    """State carries ids and small words only, whatever the judge writes."""
    long = chain().replace("Cups stand on it.", "word " * 5000)
    state, _, _ = await replay([long, criteria(), look()])
    assert len(json.dumps(state)) < 1000
