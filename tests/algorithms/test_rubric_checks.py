"""The rules of a set of rubrics find what breaks them and leave alone what does not."""

import re
import time
from pathlib import Path

import pytest

from dokimasia.algorithms.rubric_checks import asks_for_one_thing, dimension_of, rubric_problems
from dokimasia.domain.rubric import ErrorKind, Rubric, polarity_of


def rubric(text: str, *, kind: ErrorKind | None = None, evidence: str = "so it is") -> Rubric:
    """A rubric that demands, or forbids, what the text says."""
    statement = f"The response must {text}."
    return Rubric(
        stream="must_right", statement=statement, polarity=polarity_of(statement), kind=kind, evidence=evidence
    )


def rules(*texts: str) -> list[tuple[int, str]]:
    """The rules that rubrics of these texts break, by place."""
    return [(one.place, one.rule) for one in rubric_problems([rubric(text) for text in texts])]


@pytest.mark.parametrize(
    "text",
    [
        "mention a dog and a cat",
        "say that the sky is blue and that the sea is calm",
        "identify the title and state the date",
        "name the speaker as well as mention the room",
        "note both the clock and the calendar",
        "state that there are 3 cups and 2 plates",
        "mention a car; it must also give its colour",
        "mention a car. The car must be red",
    ],
)
def test_two_demands_in_one_are_found(text: str) -> None:
    """A rubric that asks two things can be half right, which no answer of a judge can say."""
    assert rules(text) == [(0, "atomicity")]


@pytest.mark.parametrize(
    "text",
    [
        "identify the tool as a saw or knife",
        "not mention the presence of a dog or an apple",
        "quote the heading 'Terms and Conditions'",
        "say that the man and the woman hold hands",
        "note that the cup stands between the plate and the jug",
        "mention a vase with black and white stripes",
    ],
)
def test_one_demand_in_many_words_is_left_alone(text: str) -> None:
    """Alternatives, quotations, pairs in one relation and compound attributes are one thing."""
    assert rules(text) == []


def test_the_papers_own_rubrics_are_atomic(shared_data: Path) -> None:
    """None of the example rubrics of the paper is taken for two."""
    paper = (shared_data.parent / "papers" / "perception-rubrics.txt").read_text()
    examples = [a or b for a, b in re.findall(r'"(The response must [^"\n]+)"|"(The response [^"\n]+)"', paper)]
    assert len(examples) > 20
    assert [one for one in examples if not asks_for_one_thing(one)] == []


def test_duplicates_in_other_words() -> None:
    """The same demand under another verb is found at its later place; another order of a relation is no duplicate."""
    assert rules("mention a dog", "state that a dog is visible") == [(1, "duplicate")]
    assert rules("say that the cup is left of the jug", "say that the jug is left of the cup") == []
    assert rules("say that the cup is on the table", "say that the cup is under the table") == []
    assert rules("label the left axis 'Time'", "label the right axis 'Time'") == []


def test_one_point_in_two_wordings_on_the_same_words_of_the_caption() -> None:
    """Two demands of one kind that rest on the same words are one; another kind, or other words, make another point."""
    first = rubric("say that six books stand upright in the row", kind="count", evidence="Six books stand upright")
    second = rubric("say that the row has six books", kind="count", evidence="six books")
    assert [(one.place, one.rule) for one in rubric_problems([first, second])] == [(1, "duplicate")]
    assert rubric_problems([first, second.model_copy(update={"kind": "order"})]) == []
    assert rubric_problems([first, second.model_copy(update={"evidence": "the shelf is full"})]) == []
    clothes = [
        rubric(f"say that the {one}", kind="attribute", evidence="a red cap, a red jersey")
        for one in ("cap is red", "jersey has stripes")
    ]
    assert rubric_problems(clothes) == []
    said = "arrives at 07:25 and costs 4.20"
    figures = [
        rubric(f"give the {one} of the departure at 06:40", kind="value", evidence=said)
        for one in ("arrival as 07:25", "fare as 4.20")
    ]
    assert rubric_problems(figures) == [], "two figures of one row are two points"


def test_contradictions() -> None:
    """A demand and its ban contradict, and so do two numbers or two colours of one thing; two things do not."""
    assert rules("say that the door is white", "not say that the door is white") == [(1, "contradiction")]
    assert rules("say that the number of cups is 3", "say that the number of cups is 4") == [(1, "contradiction")]
    assert rules("say that the door is white", "say that the door is green") == [(1, "contradiction")]
    assert rules("say that the bar of 2019 is tallest", "say that the bar of 2020 is tallest") == []
    counted = [rubric(f"mention {n} cups on the shelf", kind="count") for n in (3, 4)]
    assert [one.rule for one in rubric_problems(counted)] == ["contradiction"]


def test_the_blame_goes_where_evidence_lacks() -> None:
    """Of two that contradict the later one is to be mended, unless only the earlier one rests on nothing."""
    first, second = rubric("say that the door is white"), rubric("say that the door is green")
    assert [one.place for one in rubric_problems([first.model_copy(update={"evidence": ""}), second])] == [0]
    assert [one.place for one in rubric_problems([first, second.model_copy(update={"evidence": ""})])] == [1]


def test_form_and_polarity() -> None:
    """A question is no statement, and a ban that calls itself a demand is sent back."""
    question = Rubric(stream="must_right", statement="Is there a dog?", polarity="positive")
    wrong = rubric("not mention a dog").model_copy(update={"polarity": "positive"})
    assert [one.rule for one in rubric_problems([question])] == ["form"]
    assert [one.rule for one in rubric_problems([wrong])] == ["polarity"]


def test_a_gate_that_silence_passes_is_found() -> None:
    """A must-right rubric that forbids is sent back unless the gate may be silent; an easy-wrong one may forbid."""
    bans = [rubric(text) for text in ("not mention a dog", "avoid claiming that it rains", "mention a cat")]
    found = rubric_problems(bans, silent_gate=False)
    assert [(one.place, one.rule) for one in found] == [(0, "gate"), (1, "gate")]
    assert rubric_problems(bans) == []
    easy = [one.model_copy(update={"stream": "easy_wrong"}) for one in bans]
    assert rubric_problems(easy, silent_gate=False) == []


def test_the_dimension_of_a_rubric_is_its_kind_or_read_off_it() -> None:
    """Published rubrics name no kind: quotations test text, numbers a count, sides a position, all else an object."""
    assert dimension_of(rubric("mention two cups", kind="state")) == "state"
    assert dimension_of(rubric("quote 'Two cups'")) == "text"
    assert dimension_of(rubric("mention two cups")) == "count"
    assert dimension_of(rubric("put the cup on the left")) == "position"
    assert dimension_of(rubric("mention one of the cups")) == "object"


def test_hostile_statements_are_checked_in_bounded_time() -> None:
    """Long runs of words and quotes do not make the rules slow."""
    begun = time.process_time()
    for text in ("mention a " + "a" * 900, "mention a " + "a " * 450, "say '" * 200, "mention a b and a " + "b-" * 400):
        rules(text)
    assert time.process_time() - begun < 5
