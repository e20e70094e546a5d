"""Several inserted errors in one text: which of them can be inserted together without touching each other."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from dokimasia.domain.perturbation import TextChange, spans

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")


def together(text: str, errors: Sequence[Sequence[TextChange]], most: int) -> list[list[int]]:
    """Return groups of errors, by position, such that no two errors of a group change the same sentence.

    Parameters
    ----------
    text : str
        The text to insert the errors into.
    errors : sequence of sequence of TextChange
        The changes of each error; an error without changes is in no group.
    most : int
        Maximum number of groups. In order, each error joins the first group that it fits; errors that fit no group are
        left out.

    Returns
    -------
    list of list of int
        Non-empty groups whose errors can be inserted together, each alone in the sentences that it changes.

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
