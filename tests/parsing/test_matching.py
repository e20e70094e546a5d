"""Which model a report is about: the line is found in many writings, and what contradicts itself is refused."""

import pytest

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.matching import parse_match


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("Report 1: [[A]]", "A"),
        ("It misreads dials.\n\nReport 1: [[B]]", "B"),
        ("**Report 1: [[ b ]]**", "B"),
        ("Report one is about model [[A]], report two is about [[B]].", "A"),
        ("Report 2: [[A]]", "B"),
        ("<think>Report 1: [[A]]?</think>Report 1: [[B]]", "B"),
        ("report 1: [[A]]\nReport 1: [[A]]\nReport 2: [[B]]", "A"),
    ],
)
def test_the_model_of_the_first_report(text: str, model: str) -> None:
    """What is said of the second report counts, too."""
    assert parse_match(text) == model


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no line"),
        ("Report 1: A", "no line"),
        ("Report 1: [[C]]", "no line"),
        ("Report 3: [[A]]", "no line"),
        ("[[A]]", "no line"),
        ("Report 1: [[A]] or Report 1: [[B]]", "two different"),
        ("Report 1: [[A]]\nReport 2: [[A]]", "two different"),
    ],
)
def test_what_says_nothing_or_both_is_no_match(text: str, reason: str) -> None:
    """A reason is given."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_match(text)
