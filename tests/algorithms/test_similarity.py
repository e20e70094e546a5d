"""Sentences that no criterion touches are found by shared words."""

from dokimasia.algorithms.text.similarity import uncovered_sentences, word_overlap
from dokimasia.algorithms.text.words import content_words, words


def test_sentences_without_a_criterion_are_listed() -> None:
    """A sentence is covered once one criterion shares enough of its words."""
    reference = "Two leather suitcases are stacked. A cat sleeps on top! Okay."
    criteria = ["What is stacked? Leather suitcases", "Is it okay? It is okay"]
    assert uncovered_sentences(reference, criteria) == ["A cat sleeps on top!"]
    assert uncovered_sentences("", criteria) == []
    assert uncovered_sentences("A cat.", []) == ["A cat."]


def test_overlap_is_a_share() -> None:
    """All, half or none of a text's words are shared; a text without content is contained in any."""
    assert word_overlap("red cat", "a cat that is red") == 1
    assert word_overlap("red cat", "red dog") == 0.5
    assert word_overlap("red", "") == 0
    assert word_overlap("of the", "red") == 1


def test_words_are_plain() -> None:
    """Case, articles, punctuation, number words and thousands separators are evened out."""
    assert words("The NINE o'clock train: 1,000 km/h (COVID-19)") == [
        "9", "o'clock", "train", "1000", "km", "h", "covid", "19",
    ]  # fmt: skip
    assert words("group A") == ["group", "a"]
    assert content_words("Which of these is it?") == []
