"""Sentences traced through rewrites, whatever the wording, the order or the ties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.text.descent import Text, likeness, trace_sentences

DRAFTS = {
    "a": Text("A brown dog sleeps on the mat. The clock shows four."),
    "b": Text("A brown dog sleeps on the mat. Three cups stand on the shelf."),
}


def test_through_two_rewrites() -> None:
    """A sentence that was reworded twice is followed to the draft; one that was added begins where it was added."""
    texts = {
        **DRAFTS,
        "c": Text("On the shelf stand three blue cups. It rains outside.", ("a", "b")),
        "d": Text("Three blue cups stand on the wooden shelf. It rains outside. A bell rings.", ("c",)),
    }
    cups, rain, bell = trace_sentences("d", texts)
    assert (cups.text, rain.text, bell.text) == ("b", "c", "d")
    assert cups.likeness < 1.0 == rain.likeness


def test_ties_name_all() -> None:
    """A sentence that two drafts hold word for word is credited to the first and names the other."""
    texts = {**DRAFTS, "c": Text("A brown dog sleeps on the mat.", ("a", "b"))}
    (dog,) = trace_sentences("c", texts)
    assert (dog.text, dog.also) == ("a", ("b",))


def test_a_circle_is_refused() -> None:
    """Texts that were written from each other cannot be traced."""
    texts = {"a": Text("A dog sleeps.", ("b",)), "b": Text("A dog sleeps.", ("a",))}
    with pytest.raises(ValueError, match="circle"):
        trace_sentences("a", texts)


def test_a_source_that_is_not_there() -> None:
    """A source that is missing is a mistake of the caller."""
    with pytest.raises(KeyError):
        trace_sentences("a", {"a": Text("A dog sleeps.", ("z",))})


@given(st.text(max_size=80), st.text(max_size=80))
def test_likeness_is_symmetric(first: str, second: str) -> None:
    """Likeness lies between 0 and 1, does not depend on the order, and is 1 of a sentence with itself."""
    assert likeness(first, second) == likeness(second, first)
    assert 0 <= likeness(first, second) <= 1
    assert likeness(first, first) == 1
