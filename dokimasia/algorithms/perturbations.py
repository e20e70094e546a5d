"""Several planted errors in one text: which may stand in it together without one touching what another is about."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from dokimasia.domain.perturbation import TextChange, spans

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")


def together(text: str, errors: Sequence[Sequence[TextChange]], most: int) -> list[list[int]]:
    """Return groups of errors, by place, such that no two of a group change the same sentence of the text.

    Parameters
    ----------
    text : str
        What the errors are planted in.
    errors : sequence of sequence of Change
        The changes of each error; one without changes is in no group.
    most : int
        The number of groups at most. Errors are put into the first group that takes them, in order; one that none
        takes is left out.

    Returns
    -------
    list of list of int
        Not empty groups; within one the errors can be planted at once, and each is alone in the sentences that it is in.

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
