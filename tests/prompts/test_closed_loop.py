"""The closed loop's prompts: read back from their messages, and no word of a secret in what a model is told."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.agents.refiner import answer_again, arm_draw, later_draw, points_text
from dokimasia.domain.refinement import ARMS, Feedback, FeedbackPoint
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.hints import hints_form, parse_hints
from dokimasia.prompts import default_library, recognise, render

NAMES = ("answer_again", "answer_again_published", "peer_hint", "hint_rewrite", "leak_check")
IMAGE = ImageRef(sha256="ab" * 32, media_type="image/png", width=8, height=8)
SAMPLE = Sample(id="s", prompt="How many legs?", images=(IMAGE,), choices=("two", "four"), reference_answer="four")
POINTS = (
    FeedbackPoint(atom=1, question="Which animal is it?"),
    FeedbackPoint(atom=3, question="What does it stand on?", stated=False, hint="Look below.", peer="p"),
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


def told(arm: str, answered: str = "wrong", points: tuple[FeedbackPoint, ...] = ()) -> str:
    """The feedback of an arm, as the model is given it."""
    feedback = Feedback.model_validate(
        {"sample": SAMPLE.digest, "model": "m", "arm": arm, "round": 1, "answered": answered, "points": points}
    )
    return answer_again(SAMPLE, feedback, draw=1, earlier="Three legs.").inputs["feedback"]


def test_arms_differ_in_the_feedback_alone() -> None:
    """What is the case, in each arm more of it; with less to say, the words of the lesser arm."""
    assert "wrong" not in told("again")
    assert told("again") == told("again", "right")
    assert told("retry") == told("self") == told("peer") == "The final answer is wrong."
    assert told("self", points=POINTS[:1]) == told("peer", points=POINTS[:1])
    for arm in ("retry", "self", "peer"):
        assert told(arm, "right", POINTS).startswith("The final answer is right.")
        assert told(arm, "unknown", POINTS).startswith("Whether the final answer is right is not known.")


def test_a_feedback_holds_questions_and_hints_only() -> None:
    """A point is a number, a question, what the answer did about it, and a hint where there is one; never a ground truth."""
    assert points_text(POINTS) == (
        '[\n{"n":1,"question":"Which animal is it?"},\n'
        '{"earlier":"not stated","hint":"Look below.","n":2,"question":"What does it stand on?"}\n]'
    )
    feedback = Feedback(sample=SAMPLE.digest, model="m", arm="peer", round=1, points=POINTS)
    asked = answer_again(SAMPLE, feedback, draw=14_000)
    assert set(asked.inputs) == {"question", "choices", "feedback"}
    assert (asked.shown, asked.repeat) == (["image", "question", "feedback", "points", "hints"], 14_000)
    shown = answer_again(SAMPLE, feedback, draw=14_000, earlier="Three legs.")
    assert shown.inputs == {**asked.inputs, "earlier_answer": "Three legs."}
    published = answer_again(SAMPLE, feedback, draw=14_000, earlier="Three legs.", published=True)
    assert (published.prompt, published.inputs) == ("answer_again_published", asked.inputs)


def test_later_draws_meet_no_other() -> None:
    """Rounds and judgements are draws of their own, apart from repeats and from the first retry of any."""
    draws = [later_draw(repeat, round, number) for repeat in (0, 999) for round in range(6) for number in range(6)]
    later = [draw for draw in draws if draw not in (0, 999)]
    assert len(set(draws)) == len(draws)
    assert min(later) >= 1_000
    assert max(later) < 1_000_000


def test_no_two_arms_share_a_draw() -> None:
    """Every arm, round and repeat asks under an index of its own."""
    draws = [arm_draw(repeat, round, arm) for arm in ARMS[1:] for round in range(1, 6) for repeat in (0, 1, 999)]
    assert len(set(draws)) == len(draws)


def test_the_form_of_hints_cannot_be_copied_as_it_is() -> None:
    """It has as many places as there are points, and what stands in them is no hint."""
    form = hints_form(3)
    assert form.count("<hint ") == form.count("</hint>") == 3
    with pytest.raises(UnparsableReply, match="hint 1 is empty; hint 2 is empty; hint 3 is empty"):
        parse_hints(form, 3)
