"""The difference of two texts, word by word: complete, the same every time, and no larger than need be."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.text.word_difference import extent, word_difference

WORDS = st.lists(st.sampled_from(["a", "red", "bus", "stops", ".", "there,", "it's", "12.5", "\n", "é"]), max_size=14)


def _bare(text: str) -> str:
    return "".join(text.split())


@given(WORDS, WORDS)
def test_both_texts_can_be_read_off_their_difference(first: list[str], second: list[str]) -> None:
    """What was not added is the first text, what was not removed the second, up to space; no two neighbours are alike."""
    before, after = " ".join(first), " ".join(second)
    pieces = word_difference(before, after)
    assert _bare("".join(one.text for one in pieces if one.kind != "added")) == _bare(before)
    assert _bare("".join(one.text for one in pieces if one.kind != "removed")) == _bare(after)
    assert all(one.kind != next_one.kind for one, next_one in pairwise(pieces))
    assert all(one.text.strip() for one in pieces)
    assert word_difference(before, after) == pieces


@given(WORDS)
def test_a_text_does_not_differ_from_itself(words: list[str]) -> None:
    """Equal texts have no word removed or added, and neither have texts that differ in space alone."""
    text = " ".join(words)
    assert extent(word_difference(text, text))[1:] == (0, 0)
    assert extent(word_difference(text, text.replace(" ", "\n  ")))[1:] == (0, 0)


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("six candles burn", "seven candles burn", "[-six-]{+seven+}candles burn"),
        ("the ferry, its bow ramp lowered, waits", "the ferry waits", "the ferry[-, its bow ramp lowered,-]waits"),
        ("two chairs stand", "two chairs and a parasol stand", "two chairs{+and a parasol+}stand"),
        ("It's 12.5 cm.", "It's 12.6 cm.", "It's[-12.5-]{+12.6+}cm."),
        ("", "a bus", "{+a bus+}"),
        ("红色的车", "蓝色的车", "[-红-]{+蓝+}色的车"),
    ],
)
def test_changes_are_marked_where_they_are(before: str, after: str, shown: str) -> None:
    """Replaced, removed and added words stand in their places; a number with its point is one word."""
    marks = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    assert "".join(marks[one.kind].format(one.text.strip()) for one in word_difference(before, after)) == shown


def test_the_extent_counts_words_and_not_signs() -> None:
    """A full stop is no word; the share is that of the larger of what was removed and what was added."""
    found = extent(word_difference("A red bus stops.", "A blue and white bus stops!"))
    assert found == (4, 1, 3)
    assert found.share == 0.75
