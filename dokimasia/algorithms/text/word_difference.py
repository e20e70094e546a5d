"""The difference of two texts, word by word: common, removed and added words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
"""Characters of scripts without spaces between words, each of which counts as a word."""
_WORD = re.compile(rf"([{_UNSPACED}]|[^\W{_UNSPACED}]+(?:['’.,:/-][^\W{_UNSPACED}]+)*|[^\w\s])(\s*)")

Kind = Literal["same", "removed", "added"]


class DifferencePiece(NamedTuple):
    """Consecutive words, each with the space after it: in both texts, only in the first, or only in the second."""

    kind: Kind
    text: str


class Extent(NamedTuple):
    """The extent of a change to a text: words of the first text, removed words, and added words."""

    words: int
    removed: int
    added: int

    @property
    def share(self) -> float:
        """The share of removed words in the first text, or the added words as a share of it, whichever is larger."""
        return max(self.removed, self.added) / max(1, self.words)


def word_difference(before: str, after: str) -> tuple[DifferencePiece, ...]:
    """Return two texts merged into one: the words of both in order, with words of only one text marked.

    Words are compared as written; the space between them does not count, and a sign such as a full stop is a separate
    word.

    Parameters
    ----------
    before, after : str
        The texts.

    Returns
    -------
    tuple of DifferencePiece
        No two adjacent pieces are of the same kind. All pieces except the added ones make up the first text, all except
        the removed ones the second, up to space. If words replace others, the removed ones come first.

    Notes
    -----
    The longest common run of words is kept, then the longest one on either side of it, and so on; among runs of equal
    length, the first. The same texts give the same pieces on every machine.

    Examples
    --------
    >>> word_difference("A red bus stops.", "A blue bus stops there.")
    ... # doctest: +NORMALIZE_WHITESPACE
    (DifferencePiece(kind='same', text='A '), DifferencePiece(kind='removed', text='red '),
    DifferencePiece(kind='added', text='blue '), DifferencePiece(kind='same', text='bus stops '),
    DifferencePiece(kind='added', text='there'), DifferencePiece(kind='same', text='.'))
    """
    old, new = _split(before), _split(after)
    matcher = SequenceMatcher(None, [word for word, _ in old], [word for word, _ in new], autojunk=False)
    pieces: list[DifferencePiece] = []
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            _append(pieces, "same", _spaced(old[old_from:old_to], new[new_from:new_to]))
            continue
        _append(pieces, "removed", "".join(word + space for word, space in old[old_from:old_to]))
        _append(pieces, "added", "".join(word + space for word, space in new[new_from:new_to]))
    return tuple(_with_spaces(pieces))


def extent(pieces: Iterable[DifferencePiece]) -> Extent:
    """Return how much two texts differ, in words; signs such as a full stop do not count.

    Examples
    --------
    >>> extent(word_difference("A red bus stops.", "A blue bus stops there."))
    Extent(words=4, removed=1, added=2)
    """
    counts: Counter[str] = Counter()
    for kind, text in pieces:
        counts[kind] += sum(word[0].isalnum() or word[0] == "_" for word, _ in _split(text))
    return Extent(counts["same"] + counts["removed"], counts["removed"], counts["added"])


def _split(text: str) -> list[tuple[str, str]]:
    """Return the words and signs of a text, each with the space after it."""
    return [(match[1], match[2]) for match in _WORD.finditer(text)]


def _spaced(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> str:
    """Return words that both texts have, with the wider of their spaces, so that neighbouring words stay separate."""
    return "".join(word + max(before, after, key=len) for (word, before), (_, after) in zip(old, new, strict=True))


def _append(pieces: list[DifferencePiece], kind: Kind, text: str) -> None:
    if text:
        pieces.append(DifferencePiece(kind, text))


def _with_spaces(pieces: Sequence[DifferencePiece]) -> Iterator[DifferencePiece]:
    """Yield the pieces, with a space between removed words and the words added in their place."""
    for number, piece in enumerate(pieces):
        follows = pieces[number + 1].kind if number + 1 < len(pieces) else "same"
        glued = piece.kind == "removed" and follows == "added" and not piece.text[-1].isspace()
        yield piece._replace(text=piece.text + " ") if glued else piece
