"""What a description is told to pay attention to, as a describer says it."""

import pytest

from dokimasia.agents.duel import LONGEST_OBSERVED, say_what_to_observe
from dokimasia.domain.sample import Sample
from dokimasia.errors import UnparsableReply


def read(reply: str) -> str:
    """Return what is read from a describer's reply."""
    parse = say_what_to_observe(Sample(id="s", prompt="Write a poem about this square.")).parse
    assert parse is not None
    return parse(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "the fountain and the\npeople",
        "Contents to observe: the fountain and the people",
        "**Contents to observe:** the fountain and the people",
    ],
)
def test_a_repeated_label_is_left_out(reply: str) -> None:
    """The request ends with the label, and some models repeat it."""
    assert read(reply) == "the fountain and the people"


@pytest.mark.parametrize("reply", ["", "Contents to observe:", "x" * (LONGEST_OBSERVED + 1)])
def test_nothing_or_too_much_is_no_reply(reply: str) -> None:
    """A label alone says nothing."""
    with pytest.raises(UnparsableReply):
        read(reply)
