"""Planted errors: dimensions of error, and the changes that plant one error of a dimension in a text (FOCUS, 2.2 and 2.3)."""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from pydantic import Field

from dokimasia.domain.identity import Value


class Dimension(Value):
    """A sort of error: its name, what is wrong where it occurs, and an example, words that are right and made wrong."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    definition: str = Field(min_length=1)
    right: str = Field(min_length=1)
    wrong: str = Field(min_length=1)


class Target(NamedTuple):
    """An error to plant: its dimension, and a statement whose point it is to concern (empty: any point of the text)."""

    dimension: Dimension
    about: str = ""


class Change(Value):
    """Words of a text, which stand in it once, and the words that are put in their place."""

    original: str = Field(min_length=1)
    new: str = Field(min_length=1)


class Perturbation(Value):
    """One planted error: its dimension, and every change that it takes; the rest of the text stays as it was.

    An error takes several changes where the text says the same thing in several places.
    """

    dimension: str
    changes: tuple[Change, ...] = Field(min_length=1)


def spans(text: str, changes: Iterable[Change]) -> list[tuple[int, int]]:
    """Return where in a text its changes begin and end, in the order of the changes.

    Raises:
        ValueError: the original words of a change stand in the text more or less than once, or two changes overlap.
    """
    found: list[tuple[int, int]] = []
    for change in changes:
        times = text.count(change.original)
        if times != 1:
            raise ValueError(f"'{change.original}' stands in the text {times} times, not once")
        start = text.index(change.original)
        found.append((start, start + len(change.original)))
    if any(before[1] > after[0] for before, after in pairwise(sorted(found))):
        raise ValueError("two changes overlap")
    return found


def changed(text: str, changes: Iterable[Change]) -> str:
    """Return a text with its changes made, and otherwise as it was.

    Raises:
        ValueError: as `spans`.
    """
    listed = list(changes)
    for (start, end), change in sorted(zip(spans(text, listed), listed, strict=True), key=lambda one: -one[0][0]):
        text = text[:start] + change.new + text[end:]
    return text
