"""A judge's words on which capabilities are the same: read as they stand, bounded, and never guessed at."""

import pytest

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.trees.merges import Merges, parse_merges


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("same: 3, 7, 12\nsame: 4, 9\nvague: 5", Merges(((3, 7, 12), (4, 9)), (5,))),
        ("none", Merges()),
        ("**None.**", Merges()),
        ("- same: 1 = 2\n- Vague: 3, 4.", Merges(((1, 2),), (3, 4))),
        ("<think>same: 1, 2</think>\nsame: 3 4", Merges(((3, 4),))),
        ("same: none\nvague: none", Merges()),
        ("These stand out.\nsame: 2, 2, 1", Merges(((2, 1),))),
        ("vague: 10 | Weighing Evidence\nvague: 4", Merges((), (10, 4), ((10, "Weighing Evidence"),))),
        ('vague: <3> -> "Reading Order".', Merges((), (3,), ((3, "Reading Order"),))),
        ("vague: 3 | none", Merges((), (3,))),
    ],
)
def test_replies_are_read(text: str, found: Merges) -> None:
    """Groups keep their order, the first is kept; decoration and thoughts do not count."""
    assert parse_merges(text, 12) == found


@pytest.mark.parametrize(
    ("text", "reason", "left"),
    [
        ("same: 1, 99", "there is no capability 99", Merges()),
        ("same: 1, 2\nsame: 2, 3, 4", "capability 2 stands in more than one group", Merges(((1, 2), (3, 4)))),
        ("same: 3\nsame: 5, 6", "fewer than two", Merges(((5, 6),))),
        ("same: 1, 2 and also 3", "no list of numbers", Merges()),
        ("vague: 3 | <better name>", "only stands for a name", Merges((), (3,))),
        ("vague: 3, 4 | Weighing", "is given to 2 capabilities", Merges((), (3, 4))),
        ("vague: 3 | a name that goes on and on and never ends at all", "is a sentence", Merges((), (3,))),
    ],
)
def test_wrong_lines_spoil_a_strict_reply(text: str, reason: str, left: Merges) -> None:
    """Read strictly a wrong line is named; read leniently what is wrong is left out."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_merges(text, 12)
    assert parse_merges(text, 12, strict=False) == left


FORM = "same: <number>, <number>\nvague: <number> | <better name>\nvague: <number>"


@pytest.mark.parametrize(
    ("text", "times"),
    [("", 1), ("I merged them all.", 1), ("x", 17_000_000), ("same ", 2_000_000), ("same: 1, 2\n", 2_000), (FORM, 1)],
)
def test_what_says_nothing_is_unparsable(text: str, times: int) -> None:
    """Neither a group nor the word none, the form as it stands, or more lines than anyone means: unparsable, in little time."""
    with pytest.raises(UnparsableReply):
        parse_merges(text * times, 12)


def test_something_is_expected() -> None:
    """A list of nothing is the caller's mistake."""
    with pytest.raises(ValueError, match="at least one"):
        parse_merges("none", 0)
