"""Answers held against every accepted one: dates, lists, parts and tolerance, and what a short answer may contain."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.algorithms.scoring import addressed_score
from dokimasia.algorithms.text.answers import accepted_answer, same_answer
from dokimasia.algorithms.text.dates import read_date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("March 5, 2014", (2014, 3, 5)),
        ("5 March 2014", (2014, 3, 5)),
        ("the 5th of March 2014", None),
        ("5th of March, 2014.", (2014, 3, 5)),
        ("Wednesday, March 5th, 2014", (2014, 3, 5)),
        ("Wed 5 Mar 2014", (2014, 3, 5)),
        ("2014-03-05", (2014, 3, 5)),
        ("2014/3/5", (2014, 3, 5)),
        ("25/12/2020", (2020, 12, 25)),
        ("12/25/2020", (2020, 12, 25)),
        ("05.05.2014", (2014, 5, 5)),
        ("03/05/2014", None),
        ("31/02/2014", None),
        ("February 30, 2014", None),
        ("Sept. 2019", (2019, 9)),
        ("march 2019", (2019, 3)),
        ("Marchland 2019", None),
        ("2019", None),
        ("maybe March 5, 2014", None),
    ],
)
def test_dates(text: str, date: tuple[int, ...] | None) -> None:
    """A whole text that states one date in one way only is that date; what could be two, or is none, is left alone."""
    assert read_date(text) == date


@given(st.text(max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_date_or_none(text: str) -> None:
    """Nothing is raised, and a date has a year, a month of twelve and perhaps a day."""
    found = read_date(text)
    assert found is None or (len(found) in (2, 3) and 1 <= found[1] <= 12)


@pytest.mark.parametrize(
    ("answer", "reference", "verdict", "rule"),
    [
        ("5 March 2014", "March 5, 2014", "same", "date"),
        ("2014-03-06", "March 5, 2014", "different", "date"),
        ("March 2014", "March 5, 2014", "unsure", "none"),
        ("03/05/2014", "March 5, 2014", "unsure", "none"),
        ("red; green and blue", "Red, green, blue", "same", "list"),
        ("green, red", "red, green", "unsure", "none"),
        ("1, 2 and 3", "1, 2, 4", "different", "list"),
        ("1, 2", "1, 2, 3", "different", "list"),
        ("3, 2, 1", "1, 2, 3", "unsure", "none"),
        ("1,250", "1250", "same", "exact"),
        ("cats, dogs", "cats, birds", "unsure", "none"),
    ],
)
def test_dates_and_lists(answer: str, reference: str, verdict: str, rule: str) -> None:
    """Dates are compared as dates, lists thing by thing; lists of numbers alone can be told to differ."""
    assert same_answer(answer, reference) == (verdict, rule)


@pytest.mark.parametrize(
    ("answer", "accepted", "verdict"),
    [
        ("13.7", [["13.6"], ["13.7"]], "same"),
        ("13.65", [["13.6"], ["13.7"]], "different"),
        ("yes", [["no"], ["empty"]], "unsure"),
        ("2012 and 2000", [["2000", "2012"]], "same"),
        ("2000", [["2000", "2012"]], "unsure"),
        ("1996, 2000 and 2012", [["2000", "2012"]], "unsure"),
        ("milk", [["eggs", "flour"], ["milk"]], "same"),
        ("anything", [], "unsure"),
        ("anything", [[]], "unsure"),
    ],
)
def test_any_alternative_is_enough_and_every_part_is_needed(
    answer: str, accepted: list[list[str]], verdict: str
) -> None:
    """The same as any alternative is the same; different only from all; parts stand in any order, and no other beside."""
    assert accepted_answer(answer, accepted).verdict == verdict


QUESTION = "How many tomatoes and apples are on the plate, what is the value, which colour has the dark bus, what would one say?"


@pytest.mark.parametrize(("tolerance", "verdict"), [(0, "different"), (0.01, "different"), (0.05, "same")])
def test_numbers_are_the_same_within_the_tolerance(tolerance: float, verdict: str) -> None:
    """The tolerance is relative to the larger number, and holds in lists and in what an answer contains, too."""
    assert accepted_answer("104", [["100"]], tolerance=tolerance).verdict == verdict
    assert accepted_answer("104 and 7", [["100", "7"]], tolerance=tolerance).verdict in ("same", "unsure")
    assert accepted_answer("There are 104.", [["100"]], tolerance=tolerance, question=QUESTION).verdict == verdict


@pytest.mark.parametrize(
    ("answer", "reference", "verdict", "rule"),
    [
        ("There are 5 tomatoes.", "5", "same", "contains"),
        ("There are five tomatoes on the plate.", "5 tomatoes", "same", "contains"),
        ("There are 4 tomatoes.", "5", "different", "number"),
        ("It is a dark red bus.", "red bus", "same", "contains"),
        ("It is empty", "empty", "same", "contains"),
        ("The value is 5%", "5%", "same", "contains"),
        ("The value is -5", "5", "different", "number"),
        ("There are 4 or 5", "5", "unsure", "none"),
        ("There are 4 tomatoes and 5 apples", "5", "unsure", "none"),
        ("It isn't red", "red", "unsure", "none"),
        ("I can't tell whether it is red", "red", "unsure", "none"),
        ("I cannot see a red bus", "red bus", "unsure", "none"),
        ("Nobody wears red", "red", "unsure", "none"),
        ("Is it red?", "red", "unsure", "none"),
        ("less than 5 tomatoes", "5 tomatoes", "unsure", "none"),
        ("The value is 1.5 million", "1.5", "unsure", "none"),
        ("The value is 5%", "5", "unsure", "none"),
        ("blackberry", "berry", "unsure", "none"),
        ("the bus is red, " * 9, "red", "unsure", "none"),
        ("no bus", "no", "same", "contains"),
    ],
)
def test_what_a_short_answer_contains(answer: str, reference: str, verdict: str, rule: str) -> None:
    """Without a judge a short answer that holds the reference's words counts, unless it asks, doubts, denies or says more."""
    assert accepted_answer(answer, [[reference]], question=QUESTION) == (verdict, rule)
    assert accepted_answer(answer, [[reference]]).verdict == "unsure" or verdict != "same"


@pytest.mark.parametrize(
    ("answer", "reference", "verdict"),
    [
        ("I would say dark blue", "dark blue", "same"),
        ("I would say blue", "blue", "same"),
        ("It is dark blue", "blue", "unsure"),
        ("red and dark blue", "red", "unsure"),
        ("Plan B is red", "B", "unsure"),
    ],
)
def test_an_answer_that_names_another_option_is_not_taken(answer: str, reference: str, verdict: str) -> None:
    """Where there are options, a text that holds another one, too, or one letter of a sentence, decides nothing."""
    options = ("red", "blue", "dark blue")
    assert accepted_answer(answer, [[reference]], options, question=QUESTION).verdict == verdict


@given(st.text(max_size=40), st.lists(st.lists(st.text(max_size=12), max_size=3), max_size=3), st.booleans())
@settings(max_examples=400, deadline=None)
def test_any_texts_compare(answer: str, accepted: list[list[str]], contains: bool) -> None:
    """Whatever the texts are, there is a verdict, and another alternative never makes what was the same anything else."""
    found = accepted_answer(answer, accepted, question=QUESTION if contains else None)
    assert found.verdict in ("same", "different", "unsure")
    if found.verdict == "same":
        assert (
            accepted_answer(answer, [*accepted, ["something else"]], question=QUESTION if contains else None).verdict
            == "same"
        )


def test_what_is_spoken_to_needs_as_many_of_each() -> None:
    """A criterion of no weight counts for nothing; unequal lengths raise."""
    assert addressed_score([5, 1, 3], [True, False, True], [4, 6, 0]) == (0.4, 5)
    with pytest.raises(ValueError, match="2 of whether they are stated for 3 weights"):
        addressed_score([5, 1, 3], [True, False], [4, 6, 0])
