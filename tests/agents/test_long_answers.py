"""An answer that is too long for a judge is cut, the prompt says so, and what is kept beside the judgement, too."""

from typing import Any

import pytest

from dokimasia.agents.answers import FIRST, LAST
from dokimasia.agents.asking import Ask
from dokimasia.agents.evaluation import judge_equivalence, score_criteria
from dokimasia.agents.modes import AnswerPoints, note_failures
from dokimasia.agents.rubrics import assess_response
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.rubric import RubricSet
from dokimasia.domain.sample import Sample
from dokimasia.prompts import recognise, render

SAMPLE = Sample(id="s", prompt="What is the total?", reference_answers=("12",))
CRITERIA = CriteriaSet(criteria=(Criterion(question="Total?", ground_truth="12", weight=10),))


def asks(answer: str) -> list[Ask[Any]]:
    """Return every question about one answer that a judge is asked."""
    rubrics = RubricSet(sample_id="s")
    return [
        judge_equivalence(SAMPLE, answer),
        score_criteria(SAMPLE, CRITERIA, answer),
        score_criteria(SAMPLE, CRITERIA, answer, published=True),
        assess_response(SAMPLE, rubrics, answer),
        note_failures(AnswerPoints(SAMPLE, CRITERIA.criteria, answer)),
    ]


@pytest.mark.parametrize("place", range(5))
def test_a_long_answer_is_cut_and_said_to_be(place: int) -> None:
    """Of an answer of 31 million characters beginning and end are shown; prompt and judgement say how much."""
    answer = "word " * 6_200_000 + "Final answer: 12"
    ask = asks(answer)[place]
    rendered = render(ask.prompt, ask.inputs)
    text = rendered.messages[-1].text
    said = f"the first {FIRST} and the last {LAST} of {len(answer)} characters"
    assert len(text) < FIRST + LAST + 5_000
    assert "Final answer: 12" in text
    assert "only a part is shown" in text
    assert said in text
    assert any(said in one for one in ask.shown)
    found = recognise(rendered.messages)
    assert found is not None
    assert found.inputs == ask.inputs


@pytest.mark.parametrize("place", range(5))
def test_an_answer_of_ordinary_length_is_shown_whole(place: int) -> None:
    """Up to the limit nothing is left out and nothing is said of it."""
    answer = "x" * (FIRST + LAST)
    ask = asks(answer)[place]
    text = render(ask.prompt, ask.inputs).messages[-1].text
    assert answer in text
    assert "only a part" not in text
    assert {"answer", "response"} & set(ask.shown)
