"""Planted errors are read as changes of the text they are planted in, or refused with all that is wrong."""

import json
from typing import Any

import pytest

from dokimasia.domain.perturbation import TextChange, changed
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.perturbation import parse_perturbations

TEXT = 'Two cats sit on a wall.\nThe left cat is black, and the sign says "Keep off". Two bowls stand below.'


def error(n: int, *pairs: tuple[str, str]) -> dict[str, Any]:
    """An error as a model reports it: the words that it changes, and the words that it puts there."""
    return {"n": n, "changes": [{"original": original, "new": new} for original, new in pairs]}


def test_changes_are_read_and_leave_the_rest_as_it_was() -> None:
    """Each error comes back by its number; its text differs by nothing but its words."""
    reply = json.dumps(
        [error(2, ("Two bowls", "Three bowls")), {"n": 3, "none": True}, error(1, ("left cat", "right cat"))]
    )
    first, second, third = parse_perturbations(f"Here:\n```json\n{reply}\n```", TEXT, 3)
    assert changed(TEXT, first) == TEXT.replace("left cat", "right cat")
    assert changed(TEXT, second) == TEXT.replace("Two bowls", "Three bowls")
    assert third == ()


def test_one_error_may_take_several_changes_and_break_lines_otherwise() -> None:
    """What a text says twice is changed twice, and a quotation is found across a line's end, as the text has it."""
    reply = json.dumps([error(1, ("Two cats", "Three cats"), ("wall. The left", "wall. The far left"))])
    ((first, second),) = parse_perturbations(reply, TEXT, 1)
    assert first == TextChange(original="Two cats", new="Three cats")
    assert second.original == "wall.\nThe left"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([error(1, ("a dog", "a cat"))], "error 1: 'a dog' does not stand in the text"),
        ([error(1, ("Two", "Three"))], "'Two' stands in the text 2 times"),
        ([error(1, ("left cat", "LEFT  cat"))], "changed into itself"),
        ([error(1, ("left cat", " "))], 'no "original" or no "new"'),
        ([error(1, ("left cat", "w " * 61))], "more than 60 words"),
        ([error(1, ("left cat", "right cat"), ("The left", "The right"))], "two changes overlap"),
        ([error(1)], 'neither "changes" nor "none"'),
        ([{"n": 1, "changes": ["x"]}], "error 1: 'changes' holds 'x', which is no object"),
        ([error(7, ("left", "right"))], "n is 7, but the errors are 1 to 1; there is no object for error 1"),
        ([error(1, ("left", "right"))] * 2, "error 1 stands there twice"),
        (["1"], "no complete JSON array"),
    ],
)
def test_what_is_no_planted_error_is_refused(rows: list[Any], reason: str) -> None:
    """Words that do not stand there once, changes of nothing, of too much or of the same place, numbers that were not asked."""
    with pytest.raises(UnparsableReply) as refused:
        parse_perturbations(json.dumps(rows), TEXT, 1)
    assert reason in refused.value.reason


def test_all_faults_are_named_at_once_and_the_second_reply_loses_only_what_is_faulty() -> None:
    """The reason names every fault; after the re-ask a faulty error is one that was not planted, and the others stay."""
    reply = json.dumps([error(1, ("a dog", "a cat")), error(2, ("left cat", "right cat")), error(3, ("Two", "Six"))])
    with pytest.raises(UnparsableReply, match=r"error 1: .*; error 3: .*"):
        parse_perturbations(reply, TEXT, 3)
    first, second, third = parse_perturbations(reply, TEXT, 3, lenient=True)
    assert (first, third) == ((), ())
    assert second
    with pytest.raises(UnparsableReply, match="no complete JSON array"):
        parse_perturbations("I would rather not.", TEXT, 3, lenient=True)


def test_changes_that_do_not_fit_a_text_are_refused() -> None:
    """A text is never changed at a place that is not the one that was meant."""
    with pytest.raises(ValueError, match="0 times"):
        changed(TEXT, [TextChange(original="a dog", new="a cat")])
    with pytest.raises(ValueError, match="2 times"):
        changed(TEXT, [TextChange(original="Two", new="Three")])
