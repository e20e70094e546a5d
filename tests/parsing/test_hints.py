"""Hints between tags, and verdicts on leaks: bounded, and never more than the text states."""

import pytest

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.hints import MAX_WORDS, parse_hint, parse_leak


def test_a_hint_is_what_stands_between_the_tags() -> None:
    """What stands around the tags is overlooked, and a thought before them."""
    assert parse_hint("Sure!\n<hint>\nLook at the left edge.\n</hint>\nGood luck.") == "Look at the left edge."
    assert parse_hint("<think>It is 4. <hint>4</hint></think><hint>Count the legs.</hint>") == "Count the legs."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Look at the left edge.", "once, in the form"),
        ("<hint>one</hint><hint>two</hint>", "once, in the form"),
        ("<hint>never ends", "once, in the form"),
        ("</hint>late<hint>", "once, in the form"),
        ("<hint>  </hint>", "empty"),
        ("<hint>I'm sorry, but I can't help with this request.</hint>", "declines"),
        ("<hint>You are so brilliant! Great job. Keep it up!</hint>", "only praises"),
        (f"<hint>{'look ' * (MAX_WORDS + 1)}</hint>", "161 words; write at most 80"),
        (f"<hint>{'look ' * 5_000}</hint>", "5000 words"),
        (f"<hint>{'x' * 5_000}</hint>", "words"),
        ("<hint>" * 100_000, "more than 1000 times"),
    ],
)
def test_what_is_no_hint_is_named(text: str, reason: str) -> None:
    """Each way to give none is told in words that the peer can act on, however long the reply is."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_hint(text)


def test_praise_is_left_out_of_a_hint() -> None:
    """A sentence that only flatters does not reach the model; the rest does."""
    text = "<hint>You're doing great! Look at the axis first. Greater values lie higher.</hint>"
    assert parse_hint(text) == "Look at the axis first. Greater values lie higher."
    for useful in ("Great care is needed where the lines cross.", "You will find it best at the left edge of the map."):
        assert parse_hint(f"<hint>{useful}</hint>") == useful


def test_a_verdict_is_leak_or_clean() -> None:
    """One verdict, once or repeated; both or none is no verdict."""
    assert parse_leak("It names the colour.\n\nVerdict: [[leak]]") is True
    assert parse_leak("Verdict: [[ Clean ]] [[clean]]") is False
    for text in ("", "leak", "[[leak]] or [[clean]]", "[[leaky]]"):
        with pytest.raises(UnparsableReply, match=r"\[\[leak\]\]"):
            parse_leak(text)
