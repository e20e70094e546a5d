"""Planted errors: dimensions of error, the changes and edits that plant them, gold answers, and checks (FOCUS, 2)."""

import operator
from collections.abc import Iterable
from itertools import pairwise
from typing import ClassVar, NamedTuple, Self

from pydantic import Field, model_validator

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import ImageRef


class Dimension(Value):
    """A sort of error: its name, what is wrong where it occurs, and an example, words that are right and made wrong."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    definition: str = Field(min_length=1)
    right: str = Field(min_length=1)
    wrong: str = Field(min_length=1)


class PerturbationTarget(NamedTuple):
    """An error to plant: its dimension, and a statement that it must concern (empty: any point of the text)."""

    dimension: Dimension
    about: str = ""


class TextChange(Value):
    """Words of a text, which stand in it once, and the words that are put in their place."""

    stored_as: ClassVar[str] = "Change"

    original: str = Field(min_length=1)
    new: str = Field(min_length=1)


class Perturbation(Value):
    """One planted error: its dimension, and every change that it takes; the rest of the text stays as it was.

    An error takes several changes where the text says the same thing in several places.
    """

    dimension: str
    changes: tuple[TextChange, ...] = Field(min_length=1)


def spans(text: str, changes: Iterable[TextChange]) -> list[tuple[int, int]]:
    """Return the start and end of each change in a text, in the order of the changes.

    Raises:
        ValueError: the original words of a change do not occur exactly once, or two changes overlap.
    """
    positions: list[tuple[int, int]] = []
    for change in changes:
        times = text.count(change.original)
        if times != 1:
            raise ValueError(f"'{change.original}' stands in the text {times} times, not once")
        start = text.index(change.original)
        positions.append((start, start + len(change.original)))
    if any(before[1] > after[0] for before, after in pairwise(sorted(positions))):
        raise ValueError("two changes overlap")
    return positions


def changed(text: str, changes: Iterable[TextChange]) -> str:
    """Return a text with its changes applied.

    Raises:
        ValueError: as `spans`.
    """
    listed = list(changes)
    for (start, end), change in sorted(zip(spans(text, listed), listed, strict=True), key=lambda pair: -pair[0][0]):
        text = text[:start] + change.new + text[end:]
    return text


class GoldAnswer(Value):
    """An answer to a sample that is held to be right, from which perturbed ones are made.

    `by` is the model that wrote it, empty where the data gave it. `right` is what a checking model said of it, None where
    nobody was asked; where it is false, `words` are those that are wrong and `why` says what is so instead.
    """

    sample: str
    text: str = Field(min_length=1)
    by: str = ""
    right: bool | None = None
    words: str = ""
    why: str = ""
    provenance: Provenance | None = None
    checked: Provenance | None = None

    @property
    def word_count(self) -> int:
        """Number of words."""
        return len(self.text.split())


class GoldImage(Value):
    """An image that is held to be right, made by a sample's prompt or given by the data, from which edited ones are made.

    `by` is the image model, empty where the data gave it. `right` and `why` are as in `GoldAnswer`; `call` is the ledger key
    of the call that made it.
    """

    sample: str
    image: ImageRef
    by: str = ""
    right: bool | None = None
    why: str = ""
    call: str = ""
    checked: Provenance | None = None


class Rewritten(NamedTuple):
    """A perturbing model's rewriting of an answer: the whole new text, the changes, and why they are easy to miss.

    `none` states why it makes no change.
    """

    text: str = ""
    description: str = ""
    rationale: str = ""
    none: str = ""


class NotApplicable(Value):
    """A dimension in which a gold answer cannot be perturbed, and why: as a model says, or since it is `too_short`."""

    sample: str
    dimension: str
    why: str
    too_short: bool = False
    provenance: Provenance | None = None


class ChangeCheck(Value):
    """What a checking model says of a change, without being told what it was meant as.

    `kind` is the dimension that it takes the change for, empty for none; `also` are others in which it finds something
    worse beside; `worse` whether the changed answer is the worse one. `of` is the id of the perturbation.
    """

    of: str
    kind: str
    also: tuple[str, ...] = ()
    worse: bool
    why: str = ""
    provenance: Provenance

    def doubts(self, dimension: str, *, neutral: bool) -> tuple[str, ...]:
        """Return the doubts about the change having its intended effect: `kind`, `also`, `worse`, or none."""
        doubts = {"kind": self.kind != dimension, "also": bool(self.also), "worse": self.worse == neutral}
        return tuple(name for name, doubted in doubts.items() if doubted)


class PerturbOptions(GraphOptions):
    """Options of perturbing: `judge` is who perturbs answers, or writes the instructions by which images are edited.

    `editor` is the image model that edits them, and `writer` who writes gold answers, or the image model that makes gold
    images. `checker` is who says whether a gold answer or image is right, what a change is of, and whether an edit was
    carried out; empty where nobody is asked.
    """

    editor: str = ""
    writer: str = ""
    checker: str = ""


class EditInstruction(Value):
    """How an image is to be edited so that it is at fault in one dimension, and what will be wrong with it then.

    `rationale` says why that is easy to miss. `unsuited` says why the image cannot be edited so; then there is no instruction.
    """

    instruction: str = ""
    change: str = ""
    rationale: str = Field(default="", exclude_if=operator.not_)
    unsuited: str = ""

    @model_validator(mode="after")
    def _either_or(self) -> Self:
        if bool(self.instruction and self.change) == bool(self.unsuited):
            raise ValueError("there is an instruction that says what is changed, or why there is none")
        return self


class EditCheck(Value):
    """What somebody says who saw both images: whether the edit was carried out, whether alone, and what differs."""

    done: bool
    alone: bool
    seen: str = ""


class EditRecord(Value):
    """How an edited image came about, beside what was changed in it: kept with the item, and no part of its identity.

    `changed` is the share of pixels (0 to 1) that are not as they were; it is a hint and no verdict, since image models
    redraw what they leave as it is. `call` is the ledger key of the edit; `check` is None where nobody was asked.
    """

    perturbed: str
    changed: float = Field(ge=0, le=1)
    call: str
    check: EditCheck | None = None
