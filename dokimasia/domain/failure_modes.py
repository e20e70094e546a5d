"""Failure modes: the read criteria, notes on them, the modes derived from notes, and the coding of
criteria by modes.
"""

from typing import ClassVar, Literal

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Answered, FailureKind, Provenance

ModeKind = Literal["commission", "omission"]
"""How a mode shows: the answer states something, with a phrase to quote; or it does not mention the point."""

MOST_MODES = 40
"""The maximum number of modes in a list; no reader distinguishes more."""


class Mode(Value):
    """A recurrent way to fail: its name, and a definition that two readers would apply alike.

    `notes` counts what it was made from, 0 where a person wrote it.
    """

    name: str = Field(min_length=1, max_length=120)
    kind: ModeKind
    definition: str = Field(min_length=1, max_length=800)
    notes: int = Field(default=0, ge=0)


class ModeList(Value):
    """Modes in a fixed order, and the images that they were made on (`image_mark`), on which they are not counted."""

    modes: tuple[Mode, ...] = Field(max_length=MOST_MODES)
    made_on: tuple[str, ...] = ()


class AnswerAtoms(Value):
    """One answer of an evaluation with those of its atoms that are read: values by id, atoms by their numbers from 1.

    `failed` and `met` are what the evaluation's judge made of them, and `verdict` what is known of the final answer: no reader
    is told. `silent` are those of both that the answer does not speak of.
    """

    sample_id: str
    sample_digest: str
    sample: str
    cluster: str
    model: str
    repeat: int = Field(ge=0)
    criteria: str
    response: str
    verdict: Answered = "unknown"
    failed: tuple[int, ...] = ()
    met: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the read criteria, in order."""
        return tuple(sorted((*self.failed, *self.met)))

    @property
    def key(self) -> str:
        """The answer's key in its run."""
        return f"{self.model}/{self.sample_id}/{self.repeat}"


class ModeSplit(Value):
    """What is read: answers whose failed atoms modes are made from, and others, by whose atoms they are counted.

    `failed` and `met` say, by model, how many failed and met atoms the counting half has, drawn or not.
    """

    stored_as: ClassVar[str] = "Drawn"

    making: tuple[AnswerAtoms, ...]
    counting: tuple[AnswerAtoms, ...]
    failed: dict[str, int] = Field(default_factory=dict)
    met: dict[str, int] = Field(default_factory=dict)


class Note(Value):
    """What a reader noted of a failed atom; `quote` stands in the answer, and is empty for an omission."""

    sample_id: str
    model: str
    repeat: int
    criterion: int = Field(ge=1)
    kind: ModeKind
    text: str
    quote: str = ""


class NotedMode(Value):
    """A mode in the making, with the notes under it by their places in the book."""

    mode: Mode
    notes: tuple[int, ...]


class Batch(Value):
    """One batch of notes: how many there were, and how many modes they brought that were not there yet."""

    notes: int = Field(ge=0)
    new: int = Field(ge=0)


class NoteBook(Value):
    """How modes were made: what was read and noted, batch by batch, and the modes that it came to.

    Attributes:
        answers: how many answers were read.
        atoms: how many failed atoms these had.
        notes: what was noted, in the order of reading.
        modes: with their notes.
        batches: each batch of notes that was sorted.
        settled: whether the last batches brought no new mode.
        nothing: failed atoms of which the reader found nothing wrong.
        failures: atoms that were not read, by the kind of failure.
        unsorted: batches whose sorting failed, by the kind of failure; their notes wait for the next.
        merged: modes that were merged into others at the end.
        unmerged: why overlapping modes were not looked for; empty where they were.
        calls: the ledger's keys, in order.
    """

    answers: int = Field(default=0, ge=0)
    atoms: int = Field(default=0, ge=0)
    notes: tuple[Note, ...] = ()
    modes: tuple[NotedMode, ...] = ()
    batches: tuple[Batch, ...] = ()
    settled: bool = False
    nothing: int = Field(default=0, ge=0)
    failures: dict[FailureKind, int] = Field(default_factory=dict[FailureKind, int])
    unsorted: dict[FailureKind, int] = Field(default_factory=dict[FailureKind, int])
    merged: int = Field(default=0, ge=0)
    unmerged: str = ""
    calls: tuple[str, ...] = ()

    @property
    def loose(self) -> tuple[int, ...]:
        """The positions of the notes that belong to no mode."""
        under = {note for mode in self.modes for note in mode.notes}
        return tuple(place for place in range(len(self.notes)) if place not in under)


class Coding(Value):
    """The mode that a coder saw in one atom, by its name, or None; a mode of commission with a phrase of the answer."""

    response: str
    criterion: int = Field(ge=1)
    mode: str | None
    quote: str = ""
    provenance: Provenance
