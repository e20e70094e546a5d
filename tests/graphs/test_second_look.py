"""The second look at criteria: what is found is mended once or left out, is on record, and costs nobody a sample."""

import json
from typing import Any

import pytest

from dokimasia.domain.criterion import CriteriaSet, CriterionFault
from dokimasia.domain.sample import Sample
from dokimasia.errors import CallFailed
from dokimasia.prompts import recognise
from tests.graphs.test_cognitive_replay import SAMPLE, asked, chain, criteria, look, replay

INCIDENTAL = (1, "needed", "nobody has to know the surface")


async def settled(*replies: Any, sample: Sample = SAMPLE, **options: Any) -> tuple[CriteriaSet, list[tuple[str, bool]]]:
    """What a judge's criteria become, given its later replies, and what was asked after the chain."""
    state, gateway, store = await replay([chain(), *replies], sample, **options)
    return await store.get(CriteriaSet, state["criteria"]), asked(gateway)[1:]


def faults(made: CriteriaSet) -> list[tuple[str, str, str]]:
    """Defect, reason and what became of it."""
    return [(one.defect, one.reason, one.became) for one in made.faults]


async def test_what_nobody_needs_is_left_out_without_another_call() -> None:
    """An incidental criterion goes, weights are rescaled to ten, and what was found stays on record."""
    made, calls = await settled(criteria((4, 3, 3)), look(INCIDENTAL))
    assert calls == [("criteria", False), ("criteria_check", False)]
    assert [one.ground_truth for one in made.criteria] == ["Blue cups", "Three"]
    assert made.weights == (5, 5)
    assert made.faults == (
        CriterionFault(question="What is the surface?", defect="unnecessary", reason=INCIDENTAL[2], became="dropped"),
    )


async def test_the_final_answer_is_never_left_out() -> None:
    """Where all else goes, the point that is the final answer stays, alone, and the set says that it is alone."""
    made, _ = await settled(criteria(), look(*[(n, "needed", "no") for n in (1, 2, 3)]))
    assert [(one.question, one.weight, one.final) for one in made.criteria] == [
        ("What number does the count give?", 10, True)
    ]
    assert made.only_final


async def test_without_a_final_point_the_final_answer_is_the_last_resort() -> None:
    """A set of which nothing remains becomes the sample's own question with the chain's answer."""
    rows = [{"question": "Which wood is it?", "ground_truth": "Oak", "weight": 10}]
    made, _ = await settled(json.dumps(rows), look((1, "needed", "no"), count=1))
    (one,) = made.criteria
    assert (one.question, one.ground_truth, one.weight, one.final) == (SAMPLE.prompt, "3", 10, True)


async def test_what_can_be_mended_is_sent_back_once_with_all_that_was_found() -> None:
    """Compound, suggestive, needless and missing points are named in one message, and what comes is looked at, too."""
    found = look((1, "single", "surface and colour"), (2, "open", "names the cups"), missing="who counts")
    made, calls = await settled(criteria(), found, criteria(question="Which surface is seen?"), look())
    assert calls == [("criteria", False), ("criteria_check", False), ("criteria", True), ("criteria_check", False)]
    assert made.checked
    assert made.criteria[0].question == "Which surface is seen?"
    assert faults(made) == [
        ("compound", "surface and colour", "mended"),
        ("suggestive", "names the cups", "left"),
        ("missing", "who counts", "mended"),
    ]


async def test_the_message_names_every_fault_and_quotes_the_set_as_it_was_asked_for() -> None:
    """The judge reads its own reply in the form that it was given, and each fault with its reason."""
    row = {"anchor": {"image": 0, "box": [0.1, 0.2, 0.3, 0.4]}}
    found = look(INCIDENTAL, (3, "single", "two"), missing="the cups behind")
    _, gateway, _ = await replay([chain(), criteria(**row), found, criteria(), look()])
    again = gateway.calls[3].messages
    quoted = json.loads(again[2].text)
    assert quoted[2]["final"] is True
    assert set(quoted[0]) == {"question", "ground_truth", "weight", "final"}  # the sample has no image to anchor to
    read = recognise(again)
    assert read is not None
    assert read.problem is not None
    for said in (
        f"the answer does not rest on criterion 1 ({INCIDENTAL[2]}): leave it out",
        "criterion 3 asks for more than one thing (two)",
        "no criterion asks for: the cups behind",
        "weights so that all sum to 10",
    ):
        assert said in read.problem


async def test_what_is_still_wrong_is_left_out() -> None:
    """A set is sent back once: a fault that came back costs its criterion."""
    compound = (1, "single", "two things")
    made, calls = await settled(criteria(), look(compound), criteria(), look(compound))
    assert len(calls) == 4
    assert [one.ground_truth for one in made.criteria] == ["Blue cups", "Three"]
    assert faults(made) == [("compound", "two things", "dropped")]


async def test_a_faulty_question_for_the_final_answer_becomes_the_samples_own() -> None:
    """The final answer can always be asked for by the question itself."""
    compound = (3, "single", "two things")
    made, _ = await settled(criteria(), look(compound), criteria(), look(compound))
    assert made.criteria[2].question == SAMPLE.prompt
    assert faults(made) == [("compound", "two things", "mended")]


@pytest.mark.parametrize("reply", ["I find them all good.", CallFailed("api_error", "gone")])
async def test_a_look_that_fails_costs_no_sample(reply: Any) -> None:
    """Where no second look can be had the set stays as it is and says that it was not looked at."""
    replies = [reply] if isinstance(reply, Exception) else [reply, reply]
    made, _ = await settled(criteria(), *replies)
    assert (len(made.criteria), made.checked, made.faults) == (3, False, ())


async def test_a_mending_that_fails_leaves_out_what_is_faulty() -> None:
    """A judge that mends into nothing usable loses the faulty criteria, not the sample."""
    made, _ = await settled(criteria(), look((1, "open", "says it")), "I would rather not.")
    assert [one.ground_truth for one in made.criteria] == ["Blue cups", "Three"]
    assert made.checked


async def test_a_budget_that_ends_in_a_second_look_leaves_the_sample_open() -> None:
    """A look that may not be paid for ends the item as `budget`, which a resume takes up."""
    state, _, _ = await replay([chain(), criteria(), CallFailed("budget", "all spent")])
    assert state["failed"] == "budget"


async def test_all_accepted_answers_stand_in_the_final_point() -> None:
    """A response that gives another accepted answer than the chain's is right on the final point, too."""
    sample = SAMPLE.model_copy(update={"reference_answer": "3", "reference_answers": ("3", "four if the mug counts")})
    made, _ = await settled(criteria(), look(), sample=sample)
    assert [one.ground_truth for one in made.criteria] == [
        "A wooden table",
        "Blue cups",
        "Three (also accepted: four if the mug counts)",
    ]


async def test_as_many_are_asked_for_as_are_wanted() -> None:
    """The least and the greatest number stand in the prompt, are checked, and hold against the second look."""
    state, gateway, store = await replay([chain(), criteria(), look(INCIDENTAL)], criteria_count=(3, 5))
    read = recognise(gateway.calls[1].messages)
    assert read is not None
    assert read.inputs["count"] == "3 to 5"
    made = await store.get(CriteriaSet, state["criteria"])
    assert len(made.criteria) == 3
    assert faults(made) == [("unnecessary", INCIDENTAL[2], "left")]
    state, _, _ = await replay([chain(), criteria(), criteria()], criteria_count=(4, 4))
    assert state["failed"] == "unparsable"
