"""The closed loop's prompts: read back from their messages, and no word of a secret in what a model is told."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.agents.refiner import answer_again, later_draw, points_text
from dokimasia.domain.refinement import Point
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.prompts import default_library, recognise, render

NAMES = ("retry", "self_feedback", "peer_feedback", "peer_hint", "hint_rewrite", "leak_check")
IMAGE = ImageRef(sha256="ab" * 32, media_type="image/png", width=8, height=8)
SAMPLE = Sample(id="s", prompt="How many legs?", images=(IMAGE,), choices=("two", "four"), reference_answer="four")
POINTS = (
    Point(atom=1, question="Which animal is it?"),
    Point(atom=3, question="What does it stand on?", hint="Look below.", peer="p"),
)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=20)
def test_each_is_recognised(name: str, data: st.DataObject) -> None:
    """Whatever stands in the inputs, the messages give them back."""
    prompt = default_library().get(name)
    texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=40)
    inputs = {key: data.draw(texts) for key in prompt.inputs if not prompt.optional(key) or data.draw(st.booleans())}
    found = recognise(render(name, inputs).messages)
    assert found is not None
    assert (found.name, found.inputs) == (name, inputs)


def test_each_arm_has_its_prompt() -> None:
    """The same prompt anew, a bare retry, questions, and questions with hints; with less to say, the lesser prompt."""

    def name(arm: str, points: tuple[Point, ...] = ()) -> str:
        return answer_again(SAMPLE, arm, points).prompt  # pyright: ignore[reportArgumentType]  # arms by name

    assert [name("again"), name("retry"), name("self", POINTS[:1]), name("peer", POINTS)] == [
        "candidate",
        "retry",
        "self_feedback",
        "peer_feedback",
    ]
    assert (name("self"), name("peer"), name("peer", POINTS[:1])) == ("retry", "retry", "self_feedback")
    again = answer_again(SAMPLE, "again", earlier="Three legs.")
    assert again.inputs == {"question": "How many legs?", "choices": "A. two\nB. four"}
    assert (again.images, again.shown) == ((IMAGE,), ["image", "question"])


def test_a_feedback_holds_questions_and_hints_only() -> None:
    """A point is a number, a question and a hint where there is one; the earlier answer only where it is to be shown."""
    assert points_text(POINTS) == (
        '[\n{"n":1,"question":"Which animal is it?"},\n'
        '{"hint":"Look below.","n":2,"question":"What does it stand on?"}\n]'
    )
    told = answer_again(SAMPLE, "peer", POINTS)
    assert set(told.inputs) == {"question", "choices", "points"}
    assert told.shown == ["image", "question", "points", "hints"]
    shown = answer_again(SAMPLE, "peer", POINTS, earlier="Three legs.")
    assert shown.inputs == {**told.inputs, "earlier_answer": "Three legs."}
    assert shown.images == (IMAGE,)


def test_later_draws_meet_no_other() -> None:
    """Rounds and judgements are draws of their own, apart from repeats and from the first retry of any."""
    draws = [later_draw(repeat, round, number) for repeat in (0, 999) for round in range(6) for number in range(6)]
    later = [draw for draw in draws if draw not in (0, 999)]
    assert len(set(draws)) == len(draws)
    assert min(later) >= 1_000
    assert max(later) < 1_000_000
