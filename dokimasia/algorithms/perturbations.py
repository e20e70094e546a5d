"""Several planted errors in one text: which of them can be planted together without touching each other."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from dokimasia.domain.perturbation import TextChange, spans

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")


def together(text: str, errors: Sequence[Sequence[TextChange]], most: int) -> list[list[int]]:
    """Return groups of errors, by position, such that no two of a group change the same sentence of the text.

    Parameters
    ----------
    text : str
        The text in which the errors are planted.
    errors : sequence of sequence of TextChange
        The changes of each error; an error without changes is in no group.
    most : int
        The most groups. Errors go, in order, into the first group that can take them; an error that fits in none is left
        out.

    Returns
    -------
    list of list of int
        Non-empty groups whose errors can be planted at once, each alone in the sentences that it changes.

    Examples
    --------
    >>> def change(original, new):
    ...     return [TextChange(original=original, new=new)]
    >>> errors = [change("Two cats", "Three cats"), change("sleep", "eat"), change("red", "blue"), []]
    >>> together("Two cats sleep. The bowl is red.", errors, most=2)
    [[0, 2], [1]]
    """
    begins = [0, *(gap.end() for gap in _BETWEEN_SENTENCES.finditer(text))]
    groups: list[tuple[list[int], set[int]]] = []
    for place, changes in enumerate(errors):
        touched = {
            sentence
            for start, end in spans(text, changes)
            for sentence in range(bisect_right(begins, start), bisect_right(begins, end - 1) + 1)
        }
        if not touched:
            continue
        fitting = next((group for group in groups if not group[1] & touched), None)
        if fitting is None and len(groups) < most:
            fitting = (list[int](), set[int]())
            groups.append(fitting)
        if fitting is not None:
            fitting[0].append(place)
            fitting[1].update(touched)
    return [members for members, _ in groups]
