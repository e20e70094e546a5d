"""Final answers of closed sets are decided by rule where their meaning is beyond doubt, and left to a judge elsewhere."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dokimasia.algorithms.text.answers import accepted_answer
from dokimasia.algorithms.text.closed import closed_readings, compare_closed
from dokimasia.algorithms.text.comparing import TextComparison
from dokimasia.algorithms.text.no_answer import gives_no_answer
from dokimasia.algorithms.text.options import options_in

FOLDER = Path(__file__).parent / "final_answers"
MEANT = {"same": "right", "different": "wrong", "unsure": "open"}
# fmt: off
VALUES = (
    "yes", "Yep", "no", "Not at all", "true", "False", "3", "three", "4 cups", "1,250", "twenty-one", "50%", "0.5", "a dozen",
    "$5", "2½", "March", "Mar.", "May", "Monday", "tues", "March 5", "5 May 2014", "3:30 pm", "15:30", "noon", "first", "2nd",
    "red", "grey", "gray", "blue", "left", "on the right", "north", "I don't know", "B", "(C)", "a dog",
)
# fmt: on
QUESTIONS = ("", "Which is it?\nA. red\nB. blue\nC. a dog", "On which day?", "How many cups are there?")


def rows(name: str) -> list[dict[str, Any]]:
    """The labelled answers of a file: `right` and `wrong` beyond doubt, and `open`, which no rule may decide."""
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def decided(row: dict[str, Any], *, contains: bool) -> TextComparison:
    """What the rules say of a labelled answer."""
    accepted = row.get("accepted") or [[row["reference"]]]
    return accepted_answer(row["answer"], accepted, row.get("choices", ()), question=row["question"], contains=contains)


@pytest.mark.parametrize(("name", "least"), [("first.jsonl", 0.98), ("second.jsonl", 0.96), ("third.jsonl", 0.97)])
@pytest.mark.parametrize("contains", [False, True])
def test_no_labelled_answer_is_decided_wrongly_and_nearly_all_closed_ones_are(
    name: str, least: float, contains: bool
) -> None:
    """What is open stays undecided, and what is decided is decided as labelled; words alone are taken without a judge."""
    found = [
        (row, MEANT[decided(row, contains=contains).verdict])
        for row in rows(name)
        if not (contains and row.get("words_alone"))
    ]
    assert [(row["answer"], said) for row, said in found if said not in ("open", row["label"])] == []
    closed = Counter(said == row["label"] for row, said in found if row["label"] != "open")
    assert closed[True] >= least * closed.total()


def test_the_labelled_answers_are_many_and_no_two_alike() -> None:
    """There are several hundred of each label, and each question, reference and answer stands once."""
    every = [*rows("first.jsonl"), *rows("second.jsonl"), *rows("third.jsonl")]
    keys = {json.dumps({name: one for name, one in row.items() if name not in ("label", "group")}) for row in every}
    assert len(keys) == len(every)
    assert Counter(row["label"] for row in every) == {"right": 637, "wrong": 626, "open": 1161}
    said = Counter(MEANT[decided(row, contains=False).verdict] for row in every)
    assert said == {"right": 624, "wrong": 619, "open": 1181}


@given(
    st.sampled_from([*rows("first.jsonl"), *rows("second.jsonl"), *rows("third.jsonl")]),
    st.sampled_from(["", " ", "  ", "\t"]),
    st.sampled_from(["{}", "**{}**", "{} ", "_{}_", '"{}"']),
)
@settings(max_examples=400, deadline=None)
def test_space_and_emphasis_around_an_answer_change_no_decision(row: dict[str, Any], space: str, around: str) -> None:
    """An answer in bold, in quotation marks or with space around it is decided as it is without them."""
    said = decided({**row, "answer": space + around.format(row["answer"])}, contains=False)
    assert said.verdict == decided(row, contains=False).verdict


@given(st.sampled_from(VALUES), st.sampled_from(VALUES), st.sampled_from(QUESTIONS))
@settings(max_examples=600, deadline=None)
def test_values_compare_alike_in_both_orders_and_in_any_case(first: str, second: str, question: str) -> None:
    """Which of two values is the reference does not matter, but for answers that give none; nor do case and a full stop."""
    there = accepted_answer(first, [[second]], question=question, contains=False)
    back = accepted_answer(second, [[first]], question=question, contains=False)
    if not (gives_no_answer(first, question) or gives_no_answer(second, question)):
        assert there.verdict == back.verdict
    for one in (first.upper(), first.lower(), f"{first.rstrip('.')}."):
        assert accepted_answer(one, [[second]], question=question, contains=False).verdict == there.verdict


@given(st.sampled_from(VALUES), st.sampled_from(QUESTIONS))
@settings(max_examples=200, deadline=None)
def test_a_value_is_the_same_as_itself_and_as_its_readings(value: str, question: str) -> None:
    """No value differs from itself, and reading a value twice gives the same readings."""
    assert accepted_answer(value, [[value]], question=question, contains=False).verdict == "same"
    readings = closed_readings(value, question)
    assert readings == closed_readings(value, question)
    assert not readings or compare_closed(readings, readings, tolerance=1e-6) == ("same", readings[0].kind)


@given(
    st.sampled_from(VALUES),
    st.sampled_from(
        [
            "{} or {}",
            "{}?",
            "maybe {}",
            "probably {}",
            "not {}",
            "{} or so",
            "about {}",
            "{}, or rather {}",
            "{}, no, {}",
        ]
    ),
    st.sampled_from(VALUES),
    st.sampled_from(QUESTIONS),
)
@settings(max_examples=600, deadline=None)
def test_an_answer_with_doubt_is_never_right(value: str, form: str, other: str, question: str) -> None:
    """Two values, a question mark, a word of doubt or a denial beside the right value leave it undecided or wrong."""
    answer = form.format(value, other)
    if answer.casefold() not in ("not at all or so", "about a dozen"):
        assert accepted_answer(answer, [[value]], question=question, contains=False).verdict != "same"


@given(
    st.text(max_size=80) | st.text(alphabet="aAbB.():-/ 0123456789?,'\n", max_size=80),
    st.text(max_size=60),
    st.lists(st.text(max_size=20), max_size=5),
    st.text(max_size=80) | st.text(alphabet="ABCab.():- ?\n", max_size=80),
)
@example("(((((A)", "A", ["A", "a"], "A. A\nB. B")
@settings(max_examples=500, deadline=None)
def test_any_texts_are_compared_without_an_error(
    answer: str, reference: str, choices: list[str], question: str
) -> None:
    """Whatever answer, reference, options and question are, there is a verdict."""
    found = accepted_answer(answer, [[reference]], choices, question=question, contains=False)
    assert found.verdict in MEANT
    assert isinstance(options_in(question), tuple)


@pytest.mark.parametrize(
    "text",
    [
        "(A) " * 6000,
        "A. " + "x " * 9000,
        "no " * 9000,
        "1, " * 9000,
        "I don't know " + "the " * 6000,
        "it is " * 5000,
        "one hundred and " * 2000,
        "(" * 20_000,
        "a (b" * 5000,
        "\\boxed{" * 3000,
    ],
)
def test_hostile_texts_are_compared_and_never_right(text: str) -> None:
    """Long repetitions as answer, reference or question end with a verdict."""
    for answer, reference, question in ((text, "3", "How many?"), ("3", text, text), (text, "A", text)):
        assert accepted_answer(answer, [[reference]], question=question).verdict != "same" or answer == reference


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("Which?\nA. red\nB. blue", ("red", "blue")),
        ("Which?\n(A) red\n(B) blue\nAnswer with the letter.", ("red", "blue")),
        ("Which? A) red B) blue C) green", ("red", "blue", "green")),
        ("Which?\nA. red\nC. blue", ()),
        ("Which?\nA. red\nB. red", ()),
        ("A. Smith and B. Jones met. Who came first?", ()),
        ("Is it vitamin A. or B. that is meant?", ()),
        ("Which?", ()),
    ],
)
def test_options_are_those_that_the_question_letters_in_a_row(question: str, options: tuple[str, ...]) -> None:
    """Options are read from A on without a gap, on lines of their own or behind each other, and nothing else is."""
    assert options_in(question) == options


def test_what_a_real_judge_said_of_answers_is_what_the_rules_say(shared_data: Path) -> None:
    """Of real answers that a judge compared with their reference, no rule says anything else than the judge did."""
    path = shared_data / "rehearsal" / "exchanges.jsonl"
    seen: Counter[str] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        exchange = json.loads(line)
        if "You decide whether two answers" not in exchange["messages"][0]["text"]:
            continue
        parts = re.findall(r"<<<([A-Z ]+) \w{16}>>>\n(.*?)\n<<<END", exchange["messages"][1]["text"], re.DOTALL)
        shown = dict(parts)
        judged = "same" if "[[same]]" in exchange["reply"] else "different"
        for contains in (False, True):
            found = accepted_answer(
                shown["ANSWER"], [[shown["REFERENCE ANSWER"]]], question=shown["QUESTION"], contains=contains
            )
            assert found.verdict in ("unsure", judged)
            seen[found.verdict] += 1
    assert seen["different"] >= 8
    assert seen.total() >= 90


def test_references_of_other_questions_are_never_right(shared_data: Path) -> None:
    """Real reference answers agree with themselves, and no rule takes one of them for that of another question."""
    path = shared_data / "coco30" / "samples.jsonl"
    samples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for one in samples:
        for other in samples:
            found = accepted_answer(
                other["reference_answer"], [[one["reference_answer"]]], question=one["prompt"], contains=False
            )
            assert (found.verdict == "same") == (one["id"] == other["id"])
