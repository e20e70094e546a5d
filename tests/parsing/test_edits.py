"""Edit instructions and checks of gold images: what may be left out is no fault, and a check does not contradict itself."""

import json
from typing import Any

import pytest

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.blindspots.edits import parse_edit_instruction, parse_gold_image_check

WHY = "Four boats instead of three."


@pytest.mark.parametrize("rationale", [None, "", " "])
def test_an_instruction_need_not_say_why_its_change_is_easy_to_miss(rationale: str | None) -> None:
    """Null says nothing, as an empty text does."""
    reply = {"instruction": "Paint the roof blue.", "change": "The roof becomes blue.", "rationale": rationale}
    assert parse_edit_instruction(json.dumps(reply)).rationale == ""


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"right": True}, ""),
        ({"right": True, "why": None}, ""),
        ({"right": False, "why": WHY}, WHY),
    ],
)
def test_a_check_of_a_gold_image_says_what_is_wrong(said: dict[str, Any], wrong: str) -> None:
    """Nothing is wrong with a right one."""
    assert parse_gold_image_check(json.dumps(said)) == wrong


@pytest.mark.parametrize("said", [{"right": True, "why": WHY}, {"right": False, "why": None}, {"right": False}])
def test_a_check_of_a_gold_image_that_contradicts_itself_is_refused(said: dict[str, Any]) -> None:
    """A right image has no fault, and a wrong one has."""
    with pytest.raises(UnparsableReply, match="is said to be"):
        parse_gold_image_check(json.dumps(said))
