"""The form of a reply in places: composed replies are those that the readers of the roles take, and are read back."""

from functools import partial

import pytest

from dokimasia.agents.readers import faults_of, kept_reader
from dokimasia.agents.reply_form import ReplyForm, form_of
from dokimasia.agents.rubrics import assess_response
from dokimasia.domain.question import Aid
from dokimasia.domain.rubric import Rubric, RubricSet
from dokimasia.domain.sample import Sample
from dokimasia.parsing.criterion_scores import parse_scores
from dokimasia.parsing.pairwise import parse_pairwise_verdict
from dokimasia.parsing.votes import parse_ballot, parse_peer_review
from dokimasia.prompts import default_library

pytestmark = pytest.mark.quick


def _asked(prompt: str, reader: object, count: int) -> tuple[Aid, ReplyForm]:
    made = default_library().get(prompt)
    form = made.form_for(count).partition("\n\n")[2]
    aid = Aid(form=form, reader=kept_reader(reader))  # pyright: ignore[reportArgumentType]
    found = form_of(aid, made.instructions(count), count)
    assert found is not None
    return aid, found


def test_a_ranking_keeps_or_rewrites() -> None:
    """A comparison has a place for each critique, an order, and either the first as it is or a text of one's own."""
    aid, form = _asked("peer_review", partial(parse_peer_review, n=2), 2)
    assert [one.kind for one in form.places] == ["text", "text", "order", "first", "text"]
    said = {"0": ["wrong colour"], "1": ["all right"], "2": ["2", "1"]}
    kept = form.compose({**said, "3": ["first"], "4": [""]})
    assert "<keep>2</keep>" in kept
    assert "<rewrite>" not in kept
    rewritten = form.compose({**said, "3": [""], "4": ["A cat lies on a red mat.\nIt sleeps."]})
    for reply in (kept, rewritten):
        assert faults_of(aid, reply) == ""
        read = form.read(reply)
        assert read is not None
        assert form.compose(read) == reply
    assert form.read("<review_result>by hand") is None


def test_a_vote_says_who_is_as_good() -> None:
    """Nobody ticked is `none` in the reply."""
    aid, form = _asked("peer_vote", partial(parse_ballot, n=3), 3)
    reply = form.compose({**{str(n): ["fine"] for n in range(3)}, "3": ["2"], "4": [], "5": ["the count"]})
    assert "<equally_good>none</equally_good>" in reply
    assert faults_of(aid, reply) == ""


def test_options_are_those_that_the_reader_takes() -> None:
    """What can be chosen stands in the instructions with its meaning, and the role's reader takes each of it."""
    _, form = _asked("duel_verdict", parse_pairwise_verdict, 1)
    assert dict(form.places[-1].options)["A>>B"] == "response A is much better"
    assert [value for value, _ in form.places[-1].options] == ["A>>B", "A>B", "A=B", "B>A", "B>>A"]


def test_a_published_verdict_has_an_evaluation_of_each_response() -> None:
    """A person fills in both evaluations and chooses the verdict."""
    aid, form = _asked("duel_verdict_published", parse_pairwise_verdict, 1)
    assert [one.label for one in form.places][-3:] == [
        "Response A Evaluation",
        "Response B Evaluation",
        "Final Verdict is",
    ]
    assert dict(form.places[-1].options)["A>>B"] == "response A is clearly better in both evaluations"
    said = {one.name: ["It is vivid."] for one in form.places[:-1]} | {form.places[-1].name: ["B>A"]}
    assert faults_of(aid, form.compose(said)) == ""


def test_every_rubric_has_its_verdict() -> None:
    """An assessment has a place for each rubric, which is met or not."""
    rubric = Rubric(statement="The response must name the cat.", stream="must_right", polarity="positive")
    made = assess_response(
        Sample(id="a", prompt="Describe."), RubricSet(sample_id="a", rubrics=(rubric, rubric)), "A cat."
    )
    aid = Aid(form=made.form, reader=kept_reader(made.parse))
    form = form_of(aid, "")
    assert form is not None
    assert [one.label for one in form.places] == ["Rubric 1 of group A", "Rubric 2 of group A"]
    assert faults_of(aid, form.compose({"0": ["true"], "1": ["false"]})) == ""


def test_numbered_lines_are_places() -> None:
    """A score for each criterion, chosen from what the instructions offer."""
    aid = Aid(form="1 | score: [SCORE]\n2 | score: [SCORE]", reader=kept_reader(partial(parse_scores, expected=2)))
    form = form_of(aid, default_library().get("checkpoints_published").instructions(2), 2)
    assert form is not None
    assert [value for value, _ in form.places[0].options] == ["1", "2", "3", "4", "5"]
    assert form.compose({"0": ["5"], "1": ["2"]}) == "1 | score: [5]\n2 | score: [2]"


@pytest.mark.parametrize("form", ["", "1 | <A>\n1 | none", '[{"n": <number>}]', "- {a} prints"])
def test_an_unknown_shape_is_no_form(form: str) -> None:
    """Where lines are alternatives or may be repeated, the reply is written by hand."""
    assert form_of(Aid(form=form), "") is None


def test_a_prompt_of_somebody_else_has_a_form_too() -> None:
    """Without a reader that is known, tags, ranges and words of the form itself make the places."""
    form = form_of(
        Aid(form="<mood>\n<tone>[a whole number from 1 to 3]</tone>\n<why>[one sentence]</why>\n</mood>"), ""
    )
    assert form is not None
    assert [value for value, _ in form.places[0].options] == ["1", "2", "3"]
    assert form.compose({"0": ["2"], "1": ["It is bright."]}) == (
        "<mood>\n<tone>2</tone>\n<why>It is bright.</why>\n</mood>"
    )
