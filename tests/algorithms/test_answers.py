"""Two answers are the same, different, or for a judge to say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.text.answers import accepted_answer, same_answer

pytestmark = pytest.mark.quick

COLOURS = ("red", "dark blue", "green")


@pytest.mark.parametrize(
    ("answer", "reference", "verdict", "rule"),
    [
        ("The Black cat.", "black cat", "same", "exact"),
        ("three", "3", "same", "exact"),
        ("１２", "12", "same", "exact"),  # noqa: RUF001 full-width digits are what is tested
        ("A", "a", "same", "exact"),
        ("vitamin A", "vitamin", "unsure", "none"),
        ("x < 5", "x > 5", "unsure", "none"),
        ("1,250 m", "1250", "same", "number"),
        ("50%", "0.5", "same", "number"),
        ("50%", "50", "unsure", "number"),
        ("3/4", "0.75", "same", "number"),
        ("-5", "5", "different", "number"),
        ("12.0000001", "12", "same", "number"),
        ("12.001", "12", "different", "number"),
        ("5 m", "5 cm", "unsure", "number"),
        ("twenty apples", "21 apples", "different", "number"),
        ("10 million", "10", "unsure", "none"),
        ("5 or more", "5", "unsure", "none"),
        ("12 dogs and 3 cats", "12", "unsure", "none"),
        ("1e999", "2e999", "unsure", "none"),
        ("5/0", "5", "unsure", "none"),
        ("yes", "No.", "different", "yes or no"),
        ("a dog", "a hound", "unsure", "none"),
        (" ", "dog", "different", "empty"),
        ("dog", "", "unsure", "empty"),
    ],
)
def test_short_answers(answer: str, reference: str, verdict: str, rule: str) -> None:
    """Each rule decides what it can and leaves the rest to a judge."""
    assert same_answer(answer, reference) == (verdict, rule)


@pytest.mark.parametrize(
    ("answer", "reference", "verdict"),
    [
        ("B", "dark blue", "same"),
        ("(b)", "Dark Blue", "same"),
        ("B) dark blue", "b", "same"),
        ("Option C.", "green", "same"),
        ("**A**", "red", "same"),
        ("A", "B", "different"),
        ("the green", "red", "different"),
        ("B) red", "dark blue", "unsure"),
        ("D", "red", "unsure"),
        ("light blue", "dark blue", "unsure"),
    ],
)
def test_choices_are_named_by_letter_or_text(answer: str, reference: str, verdict: str) -> None:
    """An option is known by its letter, its text, or both where they agree."""
    assert same_answer(answer, reference, COLOURS).verdict == verdict


@given(st.text(max_size=60), st.text(max_size=60))
def test_comparison_is_symmetric_and_total(first: str, second: str) -> None:
    """Any two texts compare, and neither order of two full texts changes whether they are the same."""
    there, back = same_answer(first, second), same_answer(second, first)
    assert (there.verdict == "same") == (back.verdict == "same")


@given(st.text(max_size=60).filter(lambda text: text.strip() != ""))
def test_a_text_is_the_same_as_itself(text: str) -> None:
    """No rule finds a text different from itself."""
    assert same_answer(text, text).verdict in ("same", "unsure")


@pytest.mark.parametrize(
    ("answer", "reference", "question"),
    [
        ("hot cat", "a cat", "Which animal is it?"),
        ("dark red", "red", "What colour is the car?"),
        ("before 2021", "2021", "When was it built?"),
        ("June, July, August", "June, July", "Which months are meant?"),
        ("a dog and a cat", "dog", "What is it?"),
    ],
)
def test_what_an_answer_adds_to_the_reference_leaves_it_undecided(answer: str, reference: str, question: str) -> None:
    """An answer that holds the reference's words is right only if it says nothing else but words of the question."""
    assert accepted_answer(answer, [[reference]], question=question).verdict == "unsure"


@pytest.mark.parametrize("answer", ["The answer is B", "The correct answer is (B).", "I choose B.", r"\boxed{B}"])
def test_words_that_only_say_that_it_is_an_answer_are_overlooked(answer: str) -> None:
    """An option that is named in a sentence of its own is that option."""
    assert same_answer(answer, "green", ["red", "green"]) == ("same", "choice")
