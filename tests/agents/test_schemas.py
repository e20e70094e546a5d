"""Output schemas go to judges that take them, and every reply is read by the same strict parsers."""

import pytest

from dokimasia.agents import ask, ask_once
from dokimasia.agents.evaluation import extract_criteria, judge_equivalence, score_criteria
from dokimasia.agents.schemas import Structured, criteria, criteria_check, criterion_scores, equivalence
from dokimasia.domain.call import Chat, ModelRef, ModelSpec, call_key
from dokimasia.domain.criterion import CriteriaSet, Criterion, ReferenceChain
from dokimasia.domain.judgement import CriterionScore
from dokimasia.domain.sample import Sample
from dokimasia.gateway.doubles import ScriptedGateway
from dokimasia.gateway.openai_format import response_format

pytestmark = pytest.mark.quick

PLAIN = ModelSpec(ref=ModelRef(name="J", model="sim/judge"))
HELD = PLAIN.model_copy(update={"capabilities": ("json_schema",)})
SAMPLE = Sample(id="s", prompt="How many cups?", reference_answer="two")
CRITERIA = CriteriaSet(
    criteria=tuple(Criterion(question=f"What {n}?", ground_truth=f"It is {n}.", weight=5) for n in (1, 2))
)
SCORES = score_criteria(SAMPLE, CRITERIA, "Two.")
OBJECT = '{"scores": [{"n": 1, "score": 4}, {"n": 2, "score": 5}]}'
LINES = "1 | score: [4]\n2 | score: [5]"
SCORED = [CriterionScore(4, stated=True), CriterionScore(5, stated=True)]


@pytest.mark.parametrize(
    "form",
    [
        criterion_scores(3),
        criterion_scores(3, published=True),
        criteria(2),
        criteria(0, published=True),
        criteria_check(4),
        equivalence(),
    ],
)
def test_schemas_are_closed_and_strict(form: Structured[object]) -> None:
    """Every object requires all of its properties and allows no others, so that strict modes take it."""
    assert response_format(form.schema)["json_schema"]["strict"] is True


async def test_the_schema_goes_where_the_capability_is() -> None:
    """A judge that takes a schema gets it, with the form in its instructions; another one gets neither."""
    gateway = ScriptedGateway([LINES, OBJECT])
    asked = [await ask(SCORES, gateway=gateway, model=judge) for judge in (PLAIN, HELD)]
    assert [one.value for one in asked] == [SCORED, SCORED]
    plain, held = gateway.calls
    assert isinstance(plain, Chat)
    assert isinstance(held, Chat)
    assert plain.output_schema is None
    assert held.output_schema == criterion_scores(2).schema
    assert held.messages[0].text.startswith(plain.messages[0].text)
    assert criterion_scores(2).form in held.messages[0].text
    assert held.messages[1:] == plain.messages[1:]
    assert call_key(plain) != call_key(held)


async def test_an_object_is_no_score_where_lines_were_asked_for() -> None:
    """A judge that was not given the schema is read by the lines alone."""
    asked = await ask_once(SCORES, gateway=ScriptedGateway([OBJECT]), model=PLAIN)
    assert asked.failure.kind == "unparsable"


async def test_a_reply_that_breaks_its_schema_is_unparsable_and_can_be_sent_back() -> None:
    """The schema is no proof: a 7 is refused with its reason, and the repair asks for the object again."""
    gateway = ScriptedGateway([OBJECT.replace("5", "7"), OBJECT])
    asked = await ask(SCORES, gateway=gateway, model=HELD)
    assert asked.value == SCORED
    assert asked.sent_back is not None
    assert "criterion 2 has the score 7" in asked.sent_back.problem
    assert isinstance(gateway.calls[1], Chat)
    assert gateway.calls[1].output_schema == criterion_scores(2).schema


@pytest.mark.parametrize("judge", [PLAIN, HELD])
async def test_a_judge_may_say_that_the_response_is_silent(judge: ModelSpec) -> None:
    """In lines and in the object alike a criterion may be not stated; as published, neither form offers it."""
    silent = '{"scores": [{"n": 1, "stated": true, "score": 4}, {"n": 2, "stated": false, "score": 1}]}'
    reply = silent if judge is HELD else "1 | score: [4]\n2 | score: [not stated]"
    gateway = ScriptedGateway([reply, OBJECT if judge is HELD else LINES])
    assert (await ask(SCORES, gateway=gateway, model=judge)).value == [
        CriterionScore(4, True),
        CriterionScore(1, False),
    ]
    published = score_criteria(SAMPLE, CRITERIA, "Two.", published=True)
    assert [one.stated for one in (await ask(published, gateway=gateway, model=judge)).value or ()] == [None, None]
    ours, theirs = (call.messages[0].text for call in gateway.calls if isinstance(call, Chat))
    assert "stated" in ours.partition("Reply with one line")[2]
    assert "stated" not in theirs


async def test_criteria_and_equivalence_have_objects_too() -> None:
    """The extractor's array stands in an object, and the verdict is a field."""
    row = '{"question": "What?", "ground_truth": "Two.", "weight": 4, "anchor": {"image": 0, "box": null}}'
    chain = ReferenceChain(reasoning="Count.", answer="two")
    gateway = ScriptedGateway([f'{{"criteria": [{row}]}}', '{"reasoning": "Alike.", "verdict": "same"}'])
    extracted = await ask(extract_criteria(SAMPLE, chain), gateway=gateway, model=HELD)
    assert extracted.value is not None
    assert [one.ground_truth for one in extracted.value] == ["Two."]
    assert (await ask(judge_equivalence(SAMPLE, "2"), gateway=gateway, model=HELD)).value is True
