"""The earlier text that a sentence comes from, found by similarity of sentences through successive rewrites."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dokimasia.algorithms.text.similarity import beginnings, sentences

LIKENESS = 0.6
"""Minimum similarity at which a sentence counts as a rewording of an earlier one."""


class Text(NamedTuple):
    """A text and the ids of the texts that its author saw; a draft has none."""

    text: str
    sources: Sequence[str] = ()


class Descent(NamedTuple):
    """The origin of a sentence.

    `text` is the id of the oldest text that contains it or an earlier wording; `likeness` is the lowest similarity of
    two successive wordings, 0 to 1. `also` are other texts with an equally similar sentence, which may also be its
    origin.
    """

    sentence: str
    text: str
    likeness: float
    also: tuple[str, ...] = ()


def likeness(sentence: str, other: str) -> float:
    """Return the similarity of two sentences, 0 to 1: twice their shared content words divided by the sum of both.

    Words are compared by their first five letters. Sentences without content words are similar only if they are equal.

    Examples
    --------
    >>> likeness("Two red suitcases stand there.", "There stand two red suitcases.")
    1.0
    >>> likeness("Two red suitcases", "Three red suitcases")
    0.6666666666666666
    """
    if sentence == other:
        return 1.0
    return _similarity(beginnings(sentence), beginnings(other))


def trace_sentences(start: str, texts: Mapping[str, Text]) -> list[Descent]:
    """Return the origin of each sentence of a text, by following the text's sources.

    Parameters
    ----------
    start : str
        The id of the text whose sentences are traced.
    texts : mapping of str to Text
        All texts by id; the sources must not form a cycle.

    Returns
    -------
    list of Descent
        One per sentence, in order. A sentence that is in no source originates in the text itself.

    Raises
    ------
    KeyError
        A text or a source is not among the texts.
    ValueError
        The sources form a cycle.

    Notes
    -----
    Among several sources, the one with the most similar sentence is followed (the first among equals), and the others
    are listed. Similarity of words is a hint, not a proof: it cannot distinguish copying from seeing the same thing.

    Examples
    --------
    >>> texts = {"a": Text("A dog sleeps."), "b": Text("A cat sits."), "c": Text("A cat sits. It rains.", ["a", "b"])}
    >>> [(descent.sentence, descent.text) for descent in trace_sentences("c", texts)]
    [('A cat sits.', 'b'), ('It rains.', 'c')]
    """
    stemmed = {
        id: [(sentence, beginnings(sentence)) for sentence in sentences(text.text)] for id, text in texts.items()
    }
    return [_trace(sentence, stems, start, texts, stemmed) for sentence, stems in stemmed[start]]


_Stemmed = Mapping[str, Sequence[tuple[str, frozenset[str]]]]


def _trace(sentence: str, stems: frozenset[str], start: str, texts: Mapping[str, Text], stemmed: _Stemmed) -> Descent:
    at, least, also = start, 1.0, ()
    current = (sentence, stems)
    for _ in range(len(texts)):
        candidates = [(id, *_nearest(current, stemmed[id])) for id in dict.fromkeys(texts[at].sources)]
        best = max((value for _, value, _ in candidates), default=0.0)
        if best < LIKENESS:
            return Descent(sentence, at, least, also)
        equals = [(id, neighbour) for id, value, neighbour in candidates if value == best]
        at, current = equals[0]
        least, also = min(least, best), tuple(id for id, _ in equals[1:])
    raise ValueError(f"the sources of {start} run in a circle")


def _nearest(
    sentence: tuple[str, frozenset[str]], others: Sequence[tuple[str, frozenset[str]]]
) -> tuple[float, tuple[str, frozenset[str]]]:
    best, nearest = 0.0, sentence
    for other in others:
        value = 1.0 if other[0] == sentence[0] else _similarity(sentence[1], other[1])
        if value > best:
            best, nearest = value, other
            if value == 1.0:
                break
    return best, nearest


def _similarity(first: frozenset[str], second: frozenset[str]) -> float:
    size = len(first) + len(second)
    if size:
        return 2 * len(first & second) / size
    return 0.0
