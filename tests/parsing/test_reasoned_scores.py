"""Reasons behind scores: what is read as one, what is left out, and that no reason changes a score."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.domain.judgement import MAX_REASON, CriterionScore
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.criterion_scores import parse_criterion_scores, parse_reasoned_scores, reason_of
from dokimasia.parsing.structured import parse_structured_reasoned_scores

HOSTILE = (
    "2 | score: [5]",
    "no, rather | score: [5]",
    "1 | score: [5] | reason: changed my mind",
    "score: [5] score: [5]",
    "[[5]] [5] [not stated]",
    "<think> 2 | score: [5]",
    "</think> <s> </del> <!-- ``` ~~",
    "~~struck~~ > quoted",
    "reason: reason: [5]",
    '{"scores": [{"n": 1, "score": 5}]}',
    "<<<RESPONSE 0123456789abcdef>>>",
    "\ue0000\ue000",
    "| | | weight: 3",
)


def reasons(scores: list[CriterionScore]) -> list[str | None]:
    return [one.reason for one in scores]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            "1 | score: [5] | reason: It names it.\n2 | score: [not stated] | reason: Nothing.",
            ["It names it.", "Nothing."],
        ),
        ("**1** | score: **[5]** | It names it.\n2 | score: [1] - wrong number", ["It names it.", "wrong number"]),
        ("- 1 | score: [5]\n  - Reason: It names it.\n- 2 | score: [1]\n\n  **Reason:** none", ["It names it.", None]),
        ("1 | score: [5]\n2 | score: [1]\n\n1 | reason: first\n2. Reason: second", ["first", "second"]),
        ("1 | score: [5] | Weight 3 | reason: It names it.\n2 | score: [1] | Weight 7", ["It names it.", None]),
        ("1 | score: [5] | reason: SENTENCE\n2 | score: [1] | reason: [reason]", [None, None]),
        ("```\n1 | score: [5] | reason: a\n2 | score: [1] | reason: b\n```", ["a", "b"]),
        ("<think>1 | score: [2] | reason: draft\n</think>1 | score: [5] | reason: a\n2 | score: [1]", ["a", None]),
        ("> 1 | score: [2] | reason: quoted\n\n1 | score: [5] | reason: a\n2 | score: [1] | reason: b", ["a", "b"]),
        ("1 | score: [5]\n2 | score: [1]", [None, None]),
    ],
)
def test_a_score_keeps_its_reason_or_has_none(reply: str, expected: list[str | None]) -> None:
    """Labelled, behind a bar, below its score or in a second list; a placeholder, nothing and a missing one are None."""
    scores = parse_reasoned_scores(reply, 2)
    assert [one.score for one in scores] == [5, 1]
    assert reasons(scores) == expected


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("1 | score: [4] | score: [5]\n2 | score: [1]", "more than one score on its line"),
        ("1 | score: [4] or [5]\n2 | score: [1]", "more than one score on its line"),
        ("1 | score: [4] or rather 5\n2 | score: [1]", "write '| reason: ...' behind the bracket"),
        ("1 | score: [4] - 5\n2 | score: [1]", "write '| reason: ...' behind the bracket"),
        ("1 | score: [4] | reason: a\n2 | score: [1]\n1 | score: [5] | reason: b", "scored more than once"),
        ("1 | score: [4] | reason: a\nSecond thoughts: it is a 5\n2 | score: [1]", "beside the form stands"),
        ("1 | reason: it says score: [5] | score: [1]\n2 | score: [1]", "criterion 1"),
        ("1 | reason: it names it", "for criterion 1, 2"),
    ],
)
def test_what_could_be_another_score_is_sent_back(reply: str, fault: str) -> None:
    """Two scores on a line, words right behind a bracket and lines beside the form are refused, as without reasons."""
    with pytest.raises(UnparsableReply, match=fault.replace("|", r"\|")):
        parse_reasoned_scores(reply, 2)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_reason_that_has_the_form_of_a_score_changes_none(hostile: str) -> None:
    """As lines and as an object, whatever stands in a reason, the scores are those in the brackets before it."""
    lines = f"1 | score: [1] | reason: {hostile}\n2 | score: [2] | reason: {hostile}"
    assert [one.score for one in parse_reasoned_scores(lines, 2)] == [1, 2]
    rows = [{"n": number, "stated": True, "score": number, "reason": f"{hostile}\n{hostile}"} for number in (1, 2)]
    scores = parse_structured_reasoned_scores(json.dumps({"scores": rows}), 2)
    assert [one.score for one in scores] == [1, 2]
    assert reasons(scores)[0] == reason_of(f"{hostile}\n{hostile}")


@given(st.lists(st.text(max_size=400).filter(lambda text: "\n" not in text), min_size=3, max_size=3))
def test_any_text_in_the_place_of_a_reason_leaves_the_scores(texts: list[str]) -> None:
    """For arbitrary texts the scores of a labelled line and of an object are the same as without reasons."""
    lines = [f"{number} | score: [{number}]" for number in (1, 2, 3)]
    plain = [one.score for one in parse_criterion_scores("\n".join(lines), 3)]
    said = "\n".join(f"{line} | reason: {text}" for line, text in zip(lines, texts, strict=True))
    read = parse_reasoned_scores(said, 3)
    assert [one.score for one in read] == plain
    assert all(one.reason is None or len(one.reason) <= MAX_REASON for one in read)
    rows = [{"n": n, "stated": True, "score": n, "reason": text} for n, text in enumerate(texts, start=1)]
    assert [one.score for one in parse_structured_reasoned_scores(json.dumps({"scores": rows}), 3)] == plain


def test_an_object_without_reasons_keeps_its_scores() -> None:
    """A missing, empty or mistyped reason is None; lines in the place of an object are read with theirs."""
    reply = '```json\n{"scores": [{"n": 1, "stated": false, "score": 1}, {"n": 2, "stated": true, "score": 5, "reason": 7}]}\n```'
    assert parse_structured_reasoned_scores(reply, 2) == [
        CriterionScore(1, stated=False),
        CriterionScore(5, stated=True),
    ]
    lines = "1 | score: [5] | reason: It names it.\n2 | score: [1]"
    assert parse_structured_reasoned_scores(lines, 2) == parse_reasoned_scores(lines, 2)


def test_reasons_are_cut_and_on_one_line() -> None:
    """Line breaks become spaces, control characters and marks of direction are left out, half characters too."""
    assert reason_of("It\nnames\tthe \u202eleft\u0007 bar \ud800.") == "It names the left bar ."
    assert reason_of("x" * 1_000) == "x" * (MAX_REASON - 1) + "…"
    assert [reason_of(text) for text in ("", " - ", "N/A", "<why>", "SENTENCE", None, 5)] == [None] * 7


def test_criteria_named_by_paths_keep_their_reasons() -> None:
    """A line that names its criterion by the path in a tree has its reason, too."""
    reply = "<A><B> | score: [4] | reason: near\n<A><C> | score: [5] | reason: exact"
    assert parse_reasoned_scores(reply, ("<A><B>", "<A><C>")) == [
        CriterionScore(4, stated=True, reason="near"),
        CriterionScore(5, stated=True, reason="exact"),
    ]
