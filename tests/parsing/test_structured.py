"""Scores and verdicts in JSON objects are read as strictly as in lines: exactly what was asked, or all that is wrong."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.domain.judgement import CriterionScore
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.criterion_scores import SILENT
from dokimasia.parsing.structured import parse_structured_equivalence, parse_structured_scores

pytestmark = pytest.mark.quick

GOOD = '{"scores": [{"n": 1, "score": 4}, {"n": 2, "score": 5}]}'
READ = [CriterionScore(4, stated=True), CriterionScore(5, stated=True)]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        '{"scores": [{"score": 5, "n": 2, "why": "fits"}, {"n": 1, "score": 4}]}',
        f"```json\n{GOOD}\n```",
        f'<think>{{"scores": [{{"n": 1, "score": 1}}]}}</think>Here: {GOOD}',
        f"{GOOD}\n{GOOD}",
        GOOD.replace('"score"', '"stated": true, "score"'),
        f"{GOOD}\n1 | score: [4]\n2 | score: [5]",
        "1 | score: [4]\n2 | score: [5]",
    ],
)
def test_scores_are_read_from_the_object(text: str) -> None:
    """Order, further fields, fences and agreeing repetitions do not matter; lines are read where there is no object."""
    assert parse_structured_scores(text, 2) == READ


@pytest.mark.parametrize(
    "text",
    [
        '{"scores": [{"n": 1, "stated": true, "score": 4}, {"n": 2, "stated": false, "score": 1}]}',
        '{"scores": [{"n": 1, "score": 4}, {"n": 2, "stated": false, "score": null}]}',
        '{"scores": [{"n": 1, "score": 4}, {"n": 2, "stated": false}]}',
        '{"scores": [{"n": 1, "score": 4}, {"n": 2, "stated": false}]}\n1 | score: [4]\n2 | score: [not stated]',
        "1 | score: [4]\n2 | score: [not stated]",
    ],
)
def test_what_the_response_does_not_speak_of_is_told_from_an_error(text: str) -> None:
    """A criterion that is not stated has a 1, or no score, in the object; it counts 1 and is not an error."""
    assert parse_structured_scores(text, 2) == [CriterionScore(4, stated=True), CriterionScore(1, stated=False)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no complete JSON object"),
        (GOOD[:-3], "no complete JSON object"),
        ("[4, 5]", "no complete JSON object"),
        ('{"scores": [{"n": 1, "score": 4}]}', "no score for criterion 2"),
        ('{"scores": []}', "no score for criterion 1, 2"),
        ('{"scores": [{"n": 1, "score": 4}, {"n": 2, "score": 7}]}', "criterion 2 has the score 7"),
        ('{"scores": [{"n": 1, "score": 4}, {"n": 2, "score": 4.5}]}', "criterion 2 has the score 4.5"),
        ('{"scores": [{"n": 1, "score": 4}, {"n": 2, "score": "5"}]}', "criterion 2 has the score '5'"),
        ('{"scores": [{"n": 1, "score": 4}, {"n": 2, "score": true}]}', "criterion 2 has the score True"),
        ('{"scores": [{"n": 1, "score": 4}, {"n": 2}]}', "criterion 2 has the score None"),
        (GOOD.replace('"score": 5', '"stated": false, "score": 5'), "criterion 2 is not stated and has the score 5"),
        (
            GOOD.replace('"score": 5', '"stated": "no", "score": 1'),
            "criterion 2: stated is 'no', neither true nor false",
        ),
        (GOOD.replace('"score": 5', '"stated": true'), "criterion 2 has the score None"),
        (f"{GOOD.replace('5', '1')}\n1 | score: [4]\n2 | score: [not stated]", "twice"),
        ('{"scores": [{"n": 1, "score": 4}, {"n": 1, "score": 5}]}', "criterion 1 is scored more than once"),
        ('{"scores": [{"n": 1, "score": 4}, {"n": 3, "score": 5}]}', "criterion 3, but the criteria are 1 to 2"),
        ('{"scores": [{"n": true, "score": 4}]}', "n is True"),
        ('{"scores": [4, 5]}', "no object with n and score"),
        (f"{GOOD} {GOOD.replace('5', '3')}", "more than one JSON object"),
        (f"{GOOD}\n1 | score: [4]\n2 | score: [2]", "twice"),
        (f"{GOOD}\n1 | score: [2]", "no line of the form"),
        ("1 | score: [4]", "criterion 2"),
    ],
)
def test_what_is_wrong_with_scores_is_named(text: str, reason: str) -> None:
    """Nothing that is missing, doubled, out of range, not asked for or contradictory becomes a score."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_structured_scores(text, 2)


def test_no_criteria_are_a_callers_mistake() -> None:
    """At least one criterion is expected."""
    with pytest.raises(ValueError, match="at least one"):
        parse_structured_scores(GOOD, 0)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ('{"reasoning": "They agree.", "verdict": "same"}', True),
        ('{"verdict": "Different"}', False),
        ('{"verdict": "same"}\nVerdict: [[same]]', True),
        ("Verdict: [[different]]", False),
    ],
)
def test_a_verdict_is_read_from_the_object(text: str, same: bool) -> None:
    """The object's verdict, or the one in brackets where there is no object."""
    assert parse_structured_equivalence(text) is same


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("same", "no complete JSON object"),
        ('{"verdict": "alike"}', "'alike', neither"),
        ('{"verdict": true}', "no complete JSON object"),
        ('{"verdict": "same"} {"verdict": "different"}', "differ"),
        ('{"reasoning": "[[different]]", "verdict": "same"}', "twice"),
        ('{"verdict": "same"} [[same]] [[different]]', "both"),
    ],
)
def test_what_is_wrong_with_a_verdict_is_named(text: str, reason: str) -> None:
    """A verdict that is missing, another word, or contradicted is none."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_structured_equivalence(text)


PIECES = st.sampled_from(
    [
        '{"scores": ',
        "[",
        "]",
        "{",
        "}",
        '"n": ',
        '"score": ',
        '"stated": false, ',
        "1",
        "2",
        "5",
        "7",
        ", ",
        "\n1 | score: [4]",
        "\n2 | score: [5]",
        "\n2 | score: [not stated]",
    ]
)


@given(st.lists(PIECES, max_size=24).map("".join) | st.text(max_size=80))
@settings(max_examples=400, deadline=None)
def test_any_text_gives_scores_that_it_states_or_a_reason(text: str) -> None:
    """Whatever the text is: two scores of its own, or UnparsableReply."""
    try:
        scores = parse_structured_scores(text, 2)
    except UnparsableReply:
        return
    assert len(scores) == 2
    assert all(str(one.score) in text or (one == SILENT and "stated" in text) for one in scores)


@given(st.permutations(range(1, 5)), st.lists(st.integers(1, 5), min_size=4, max_size=4))
@settings(max_examples=100, deadline=None)
def test_every_whole_object_is_read(order: list[int], scores: list[int]) -> None:
    """Any order of the criteria gives their scores in the criteria's order."""
    text = json.dumps({"scores": [{"n": number, "score": scores[number - 1]} for number in order]})
    assert [one.score for one in parse_structured_scores(text, 4)] == scores
