"""Ratings and equivalence verdicts are read from double brackets, or refused."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.verdicts import parse_equivalence, parse_rating

SHARED = Path(os.environ.get("DOKIMASIA_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
JUDGEMENTS = SHARED / "mtbench" / "single_judgments.jsonl"


@pytest.mark.skipif(not JUDGEMENTS.is_file(), reason=f"the published judgements are not at {JUDGEMENTS}")
def test_published_judgements_are_read() -> None:
    """Of 330 published judgements 326 give the score that is stored beside them; the four without a verdict raise."""
    rows = [json.loads(line) for line in JUDGEMENTS.read_text(encoding="utf-8").splitlines()]
    read, unread = 0, 0
    for row in rows:
        if row["score"] == -1:
            with pytest.raises(UnparsableReply):
                parse_rating(row["judgment"], 1, 10)
            unread += 1
        else:
            assert parse_rating(row["judgment"], 1, 10) == row["score"]
            read += 1
    assert (read, unread) == (326, 4)


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("Good. Rating: [[7]]", 7),
        ("Rating: [[ 7.5 ]].", 7.5),
        ("[[7]] and once more [[7.0]]", 7),
        ("As [[rating]] was asked for: [[10]]", 10),
        ("<think>[[3]] or so?</think>Rating: [[4]]", 4),
    ],
)
def test_rating_is_read(text: str, rating: float) -> None:
    """Spaces, decimals, repetition, echoed forms and a block of thought do not hide the rating."""
    assert parse_rating(text, 1, 10) == rating


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no rating"),
        ("$ERROR$", "no rating"),
        ("Rating: [7]", "no rating"),
        ("[[7]] or rather [[8]]", "different ratings"),
        ("[[11]]", "outside"),
        ("[[-1]]", "outside"),
        ("[[7/10]]", "not a plain number"),
        ("[[7,5]]", "not a plain number"),
        ("[[1e1]]", "not a plain number"),
        ("[[nan]]", "no rating"),
        ("<think>[[7]]", "ends before"),
        ("\ud800 [[7]]", "surrogate"),
        ("[[7]]" * 2000, "more than 1000"),
    ],
)
def test_rating_is_refused(text: str, reason: str) -> None:
    """What states no rating, two, or one that was not asked for is unparsable, with the reason."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_rating(text, 1, 10)


def test_rating_of_a_reply_of_megabytes_is_refused() -> None:
    """What is longer than any reply is not searched for a rating."""
    with pytest.raises(UnparsableReply, match="characters"):
        parse_rating(" " * 16_000_001, 1, 10)


@given(st.text(alphabet="[]0123456789.-/ ax\n<>think", max_size=80))
@settings(max_examples=400, deadline=None)
def test_rating_never_surprises(text: str) -> None:
    """Any text gives a rating on the scale that stands in it, or raises UnparsableReply and nothing else."""
    try:
        rating = parse_rating(text, 1, 10)
    except UnparsableReply:
        return
    assert 1 <= rating <= 10
    assert "[[" in text


@pytest.mark.parametrize(
    ("text", "same"),
    [("Verdict: [[same]]", True), ("**Verdict: [[ Different ]]**", False), ("[[same]] [[SAME]]", True)],
)
def test_equivalence_is_read(text: str, same: bool) -> None:
    """The verdict is read whatever its case and what stands around it."""
    assert parse_equivalence(text) is same


@pytest.mark.parametrize("text", ["", "same", "[[same]] [[different]]", "[same]", "<think>[[same]]</think>"])
def test_equivalence_is_refused(text: str) -> None:
    """No verdict, or both of them, is unparsable."""
    with pytest.raises(UnparsableReply, match="verdict"):
        parse_equivalence(text)


@pytest.mark.parametrize(
    "text",
    ["[[N/A]] [[7]]", "[[7]] [[unknown]]", "[[none]]\nThat is: [[7]]", "[[seven]] / [[7]]", "Rating: N/A [[7]]"],
)
def test_a_rating_beside_its_denial_is_refused(text: str) -> None:
    """A reply that says in double brackets that there is no rating, or another one in words, gives none."""
    with pytest.raises(UnparsableReply):
        parse_rating(text, 1, 10)


@pytest.mark.parametrize("text", ["[[N/A]] [[same]]", "[[same]] [[unclear]]", "[[neither]]\n[[different]]"])
def test_a_verdict_beside_its_denial_is_refused(text: str) -> None:
    """The same goes for whether two answers are equivalent."""
    with pytest.raises(UnparsableReply):
        parse_equivalence(text)
