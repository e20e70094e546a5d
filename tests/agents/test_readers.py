"""What goes along with a question to a person: the reader of every role's reply can be kept, and says what it would say."""

import doctest
from functools import partial

import pytest

from dokimasia.agents import Ask, readers
from dokimasia.agents.candidate import answer_question
from dokimasia.agents.duel import compare_responses
from dokimasia.agents.evaluation import extract_criteria, judge_equivalence, score_criteria, write_chain
from dokimasia.agents.judging import rate_response
from dokimasia.agents.readers import aid_of, faults_of, kept_reader
from dokimasia.agents.reply_form import form_of
from dokimasia.agents.review import review_candidates, vote_for_best
from dokimasia.domain.criterion import Anchor, CriteriaSet, Criterion, ReferenceChain
from dokimasia.domain.duel import CaseCriteria
from dokimasia.domain.question import Aid
from dokimasia.domain.sample import Sample
from dokimasia.errors import UnparsableReply
from dokimasia.prompts import render

SAMPLE = Sample(id="a", prompt="How many?", reference_answer="3")


def _aid(what: Ask) -> Aid:
    return aid_of(render(what.prompt, what.inputs, count=what.count), what.parse, what.count)


@pytest.mark.parametrize(
    ("what", "good", "bad"),
    [
        (judge_equivalence(SAMPLE, "three"), "They say the same.\nVerdict: [[same]]", "Verdict: maybe"),
        (write_chain(SAMPLE), "<reasoning>\n1. Three.\n</reasoning>\n<answer>\n3\n</answer>", "3"),
        (rate_response(SAMPLE, "three"), "Rating: [[7]]", "good"),
        (
            compare_responses(SAMPLE, CaseCriteria(subjective="Be brief.", factuality=""), ("a", "b")),
            None,
            "A is better",
        ),
        (vote_for_best(SAMPLE, ["one text", "another"]), None, "the first"),
        (review_candidates(SAMPLE, ["one text", "another"]), None, "the first"),
    ],
    ids=lambda one: one.prompt if isinstance(one, Ask) else "",
)
def test_a_reply_is_read_as_the_role_reads_it(what: Ask, good: str | None, bad: str) -> None:
    """A reader that was kept as text finds the same faults as the role's own, and passes what that passes."""
    aid = _aid(what)
    assert aid.reader
    assert aid.form
    assert what.parse is not None
    with pytest.raises(UnparsableReply) as problem:
        what.parse(bad)
    assert faults_of(aid, bad) == problem.value.reason
    if good is not None:
        what.parse(good)
        assert faults_of(aid, good) == ""
    assert faults_of(aid, aid.form) == "the form is not filled in"
    assert faults_of(aid, "  ") == "the reply is empty"


def test_a_form_has_a_line_for_each_thing() -> None:
    """Of a prompt that asks for a line a criterion, the empty form has as many lines as there are criteria."""
    one = Criterion(question="How many?", ground_truth="3", weight=5, anchor=Anchor())
    two = one.model_copy(update={"question": "Which colour?", "ground_truth": "red"})
    criteria = CriteriaSet(criteria=(one, two))
    aid = _aid(score_criteria(SAMPLE, criteria, "Three."))
    assert aid.form == "1 | score: [SCORE]\n2 | score: [SCORE]"
    assert "criterion 2" in faults_of(aid, "1 | score: [4]")
    assert faults_of(aid, "1 | score: [4]\n2 | score: [not stated]") == ""


def test_a_person_states_the_final_answer_that_the_prompt_asks_for() -> None:
    """A reply without the line, or with the empty form's words in it, is refused; the form has a place for it."""
    aid = _aid(answer_question(SAMPLE))
    wrong = 'it has no last line of its own that begins with "Final answer:" and says the answer'
    assert faults_of(aid, "The red car") == wrong
    assert faults_of(aid, "I see it.\n" + aid.form.splitlines()[-1]) == wrong
    assert faults_of(aid, "I see it.\nFinal answer: the red car") == ""
    form = form_of(aid, "")
    assert form is not None
    assert [one.label for one in form.places] == ["Reasons", "Final answer"]
    for given in ({"0": ["I see\nit."], "1": ["red"]}, {"1": ["red"]}):
        reply = form.compose(given)
        assert faults_of(aid, reply) == ""
        assert form.read(reply) == {"0": [], **given}


def test_what_cannot_be_kept_is_left_to_the_run() -> None:
    """A function that is not this package's, or with arguments that have no plain form, is no reader; only empty is refused."""
    assert kept_reader(lambda text: text) == ""
    assert kept_reader(partial(int, base=object())) == ""
    assert _aid(answer_question(SAMPLE, plain=True)) == Aid()
    assert faults_of(Aid(), "anything") == ""
    assert faults_of(Aid(), "") == "the reply is empty"


def test_no_foreign_function_is_called_from_a_home() -> None:
    """A reader that somebody wrote into a home calls nothing outside of this package."""
    with pytest.raises(ValueError, match="os is no module of this package"):
        faults_of(Aid(reader='{"function":"os:system"}'), "true")


def test_the_examples_are_right() -> None:
    """The examples in the docstrings run."""
    found = doctest.testmod(readers)
    assert (found.failed, found.attempted > 3) == (0, True)


def test_criteria_keep_the_number_of_images() -> None:
    """Arguments of a reader are those of the role: an anchor to an image that the sample lacks is a fault."""
    chain = ReferenceChain(reasoning="1. Three.", answer="3")
    assert '"image_count"' in kept_reader(extract_criteria(SAMPLE, chain).parse)
