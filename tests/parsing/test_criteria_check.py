"""A second look at criteria is read from lines or from an object, and whatever is wrong with it is named at once."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.domain.criterion import CriteriaCheck, CriterionCheck
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.criteria_check import parse_criteria_check, parse_structured_check

GOOD = CriterionCheck(needed=True, single=True, open=True)
NEEDLESS = CriterionCheck(needed=False, single=True, open=True, reason="only the total counts")
EXPECTED = CriteriaCheck((GOOD, NEEDLESS), "the price of the Merlot")

LINES = """\
1 | needed: YES | single: YES | open: YES | -
2 | needed: NO | single: YES | open: YES | only the total counts
missing: the price of the Merlot"""


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        f"<think>Perhaps 1 | needed: NO</think>\n{LINES}",
        LINES.replace("YES", "yes").replace("1 |", "**1** |").replace("missing:", "**Missing:**"),
        LINES.replace("1 |", "Point 1:").replace("2 |", "- 2 |"),
        f"Here is what I found:\n\n{LINES}\n",
        LINES.replace(" | -\n", "\n"),
    ],
)
def test_lines_are_read_however_they_are_decorated(text: str) -> None:
    """Emphasis, bullets, case and talk around the lines do not matter."""
    assert parse_criteria_check(text, 2) == EXPECTED


@pytest.mark.parametrize("nothing", ["nothing", "Nothing.", "-", "none", "", "**nothing**"])
def test_nothing_missing_is_nothing(nothing: str) -> None:
    """However a judge says that nothing is missing."""
    assert parse_criteria_check(f"1 | needed: YES | single: YES | open: YES | -\nmissing: {nothing}", 1).missing == ""


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("All good.", ["no line of the form", "1, 2", "no line 'missing"]),
        (LINES.replace("2 |", "1 |"), ["criterion 1 has more than one line", "for 2"]),
        (LINES.replace("2 |", "3 |"), ["a line for criterion 3, but the criteria are 1 to 2"]),
        (LINES.replace("single: YES", "single: MAYBE", 1), ["criterion 1: 'single' is neither YES nor NO"]),
        (LINES.replace("open: YES", "open: YES open: NO", 1), ["criterion 1: 'open' is both YES and NO"]),
        (LINES.replace("1 |", "|"), ["names no criterion by its number", "for 1"]),
    ],
)
def test_all_that_is_wrong_is_named(text: str, reasons: list[str]) -> None:
    """A reply that leaves something open is refused with everything that is wrong with it."""
    with pytest.raises(UnparsableReply) as refused:
        parse_criteria_check(text, 2)
    for reason in reasons:
        assert reason in refused.value.reason


def as_object(check: CriteriaCheck) -> dict[str, object]:
    """The same as the object that the schema asks for."""
    rows = [{"n": number, **one._asdict()} for number, one in enumerate(check.criteria, start=1)]
    return {"criteria": rows, "missing": check.missing}


def test_an_object_says_the_same() -> None:
    """The object is read, and an endpoint that does not keep to its schema is read as lines."""
    assert parse_structured_check(json.dumps(as_object(EXPECTED)), 2) == EXPECTED
    assert parse_structured_check(LINES, 2) == EXPECTED


def test_a_faulty_object_is_named() -> None:
    """Criteria that are doubled, missing or without a verdict are all named; two objects that differ are refused."""
    body = as_object(EXPECTED)
    first = {"n": 1, "needed": "yes", "single": True, "open": True}
    with pytest.raises(UnparsableReply, match=r"'needed' is neither true nor false.*1 has more than one.*for 2"):
        parse_structured_check(json.dumps({**body, "criteria": [first, first]}), 2)
    with pytest.raises(UnparsableReply, match="they differ"):
        parse_structured_check(json.dumps(body) + json.dumps({**body, "missing": ""}), 2)


@given(st.text(st.sampled_from(list("12| :needopsigl\nYESNOmissing-")), max_size=200), st.integers(1, 5))
def test_any_text_is_a_look_or_a_reason(text: str, expected: int) -> None:
    """Nothing but an unparsable reply is ever raised, and a look is always of all criteria."""
    for parse in (parse_criteria_check, parse_structured_check):
        with contextlib.suppress(UnparsableReply):
            assert len(parse(text, expected).criteria) == expected
