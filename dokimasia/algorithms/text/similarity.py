"""How much of one text another covers, by shared words; a hint without a model call, not a verdict."""

import re
from collections.abc import Iterable

from dokimasia.algorithms.text.words import content_words, signs, words

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_STEM = 5
COVERING = 0.3
"""Minimum share of a sentence's content words that a criterion must contain to cover it."""


def word_overlap(text: str, other: str) -> float:
    """Return the share of a text's content words that another text contains, 0 to 1.

    Words are compared by their first five letters, so that `suitcase` and `suitcases` match. A text without content
    words counts as contained in any other: 1.

    Examples
    --------
    >>> word_overlap("Two red suitcases", "The suitcase is red")
    0.6666666666666666
    """
    stems = beginnings(text)
    if stems:
        return len(stems & beginnings(other)) / len(stems)
    return 1.0


def substance(text: str) -> str:
    """Return a text without case, space, punctuation and articles, which is equal for texts of equal wording.

    An additional, missing or moved word changes the substance. Similarity would not suffice: two long descriptions that
    differ in one number share 99 % of their words, and one of them is wrong.

    Examples
    --------
    >>> substance("Five tomatoes  lie on the vine.") == substance("five tomatoes lie on a vine")
    True
    >>> substance("Five tomatoes lie there.") == substance("Four tomatoes lie there.")
    False
    """
    return " ".join([*words(text), *signs(text)])


def beginnings(text: str) -> frozenset[str]:
    """Return the first five letters of a text's content words."""
    return frozenset(word[:_STEM] for word in content_words(text))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, as written; every line has at least one.

    Examples
    --------
    >>> sentences("A dog sleeps. Is it old?\\n- red collar")
    ['A dog sleeps.', 'Is it old?', '- red collar']
    """
    return [sentence for piece in _SENTENCE_END.split(text) if (sentence := piece.strip())]


def uncovered_sentences(reference: str, criteria: Iterable[str]) -> list[str]:
    """Return the sentences of a reference answer that no criterion covers, in order.

    Parameters
    ----------
    reference : str
        The reference answer.
    criteria : iterable of str
        One text per criterion: its question and ground truth together.

    Returns
    -------
    list of str
        Sentences as written in the reference; empty if all are covered.

    Examples
    --------
    >>> uncovered_sentences("A dog sleeps. The sky is grey.", ["What does the dog do? It sleeps."])
    ['The sky is grey.']
    """
    texts = list(criteria)
    return [
        sentence
        for sentence in sentences(reference)
        if content_words(sentence) and all(word_overlap(sentence, text) < COVERING for text in texts)
    ]
