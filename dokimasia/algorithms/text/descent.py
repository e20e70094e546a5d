"""Which earlier text a sentence came from, by likeness of sentences through rewrite after rewrite."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dokimasia.algorithms.text.similarity import beginnings, sentences

LIKENESS = 0.6
"""From this likeness on a sentence counts as an earlier one, reworded at most."""


class Text(NamedTuple):
    """A text and the ids of those that its author had before them; a draft has none."""

    text: str
    sources: Sequence[str] = ()


class Descent(NamedTuple):
    """Where a sentence came from.

    `text` is the id of the oldest text in which it, or what became of it, stands; `likeness` the least likeness of two
    neighbours on the way, 0 to 1. `also` are texts beside it that hold a sentence as like, so that it may as well have
    come from them.
    """

    sentence: str
    text: str
    likeness: float
    also: tuple[str, ...] = ()


def likeness(sentence: str, other: str) -> float:
    """Return how alike two sentences are, 0 to 1: twice the content words that both have, of all that each has.

    Words are compared by their first five letters. Sentences without content words are alike only if they are equal.

    Examples
    --------
    >>> likeness("Two red suitcases stand there.", "There stand two red suitcases.")
    1.0
    >>> likeness("Two red suitcases", "Three red suitcases")
    0.6666666666666666
    """
    return 1.0 if sentence == other else _alike(beginnings(sentence), beginnings(other))


def trace_sentences(start: str, texts: Mapping[str, Text], *, threshold: float = LIKENESS) -> list[Descent]:
    """Return where each sentence of a text came from, following the texts that it was written from.

    Parameters
    ----------
    start : str
        The id of the text whose sentences are traced.
    texts : mapping of str to Text
        All texts by id; a source comes before what was written from it, so that there is no circle.
    threshold : float
        The least likeness, 0 to 1, at which a sentence of a source counts as where it came from.

    Returns
    -------
    list of Descent
        One a sentence, in order. A sentence that is in no source began in the text itself.

    Raises
    ------
    KeyError
        A text or a source is not among the texts.
    ValueError
        The sources run in a circle.

    Notes
    -----
    Of several sources the one with the likest sentence is followed, of equals the one that comes first; the others are
    named. Likeness of words is a hint, not a proof: who copies is not told from who sees the same.

    Examples
    --------
    >>> texts = {"a": Text("A dog sleeps."), "b": Text("A cat sits."), "c": Text("A cat sits. It rains.", ["a", "b"])}
    >>> [(descent.sentence, descent.text) for descent in trace_sentences("c", texts)]
    [('A cat sits.', 'b'), ('It rains.', 'c')]
    """
    stemmed = {
        id: [(sentence, beginnings(sentence)) for sentence in sentences(text.text)] for id, text in texts.items()
    }
    return [_trace(sentence, stems, start, texts, stemmed, threshold) for sentence, stems in stemmed[start]]


_Stemmed = Mapping[str, Sequence[tuple[str, frozenset[str]]]]


def _trace(
    sentence: str, stems: frozenset[str], start: str, texts: Mapping[str, Text], stemmed: _Stemmed, threshold: float
) -> Descent:
    at, least, also = start, 1.0, ()
    current = (sentence, stems)
    for _ in range(len(texts)):
        candidates = [(id, *_nearest(current, stemmed[id])) for id in dict.fromkeys(texts[at].sources)]
        best = max((value for _, value, _ in candidates), default=0.0)
        if best < threshold or best == 0.0:
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
        value = 1.0 if other[0] == sentence[0] else _alike(sentence[1], other[1])
        if value > best:
            best, nearest = value, other
            if value == 1.0:
                break
    return best, nearest


def _alike(first: frozenset[str], second: frozenset[str]) -> float:
    size = len(first) + len(second)
    return 2 * len(first & second) / size if size else 0.0
