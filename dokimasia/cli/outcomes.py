"""Values that backends return to verbs: the outcome of a run, items for people, and an item as shown."""

import getpass
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from pydantic import BaseModel

from dokimasia.algorithms.text.word_difference import DifferencePiece

if TYPE_CHECKING:
    from dokimasia.domain.decision import CheckItem
    from dokimasia.domain.identity import JsonObject
    from dokimasia.runs.outcome import End


class RunOutcome(NamedTuple):
    """The outcome of a run: its id, how it ended, the reason if it did not end as wanted, and its figures.

    `summary` is None if the figures have not been computed.
    """

    run: str
    end: "End"
    why: str = ""
    summary: "JsonObject | None" = None


class DueItems(NamedTuple):
    """The items that a person can decide in a run, as ids in order, and the number of waiting questions by person."""

    run: str
    items: Sequence[str]
    asked: Mapping[str, int]


class ImageOnScreen(BaseModel):
    """An image of an item: its name and hash."""

    name: str
    sha256: str


class PartOnScreen(BaseModel):
    """A part of a message: a text, or an image by its hash."""

    text: str | None = None
    image: str | None = None


class MessageOnScreen(BaseModel):
    """A message of a question."""

    parts: list[PartOnScreen]


class PerturbationOnScreen(BaseModel):
    """A perturbation: question, gold answer, the change in it, and the kind of error that the change was meant as."""

    prompt: str
    gold: str
    difference: list[DifferencePiece]
    instruction: str
    description: str
    rationale: str = ""
    doubt: str
    title: str
    definition: str


class ItemOnScreen(BaseModel):
    """What a person is shown of an item beside its text (see `shown_item`)."""

    decided: int
    images: list[ImageOnScreen]
    perturbation: PerturbationOnScreen | None = None
    form: str = ""
    messages: list[MessageOnScreen] = []


class CheckScreen(NamedTuple):
    """An item as shown to a person, whether they have an unfinished text for it, and since when it is shown."""

    item: "CheckItem"
    shown: ItemOnScreen
    unfinished: bool
    since: str


def person_named(who: str | None) -> str:
    """Return the name of a person, stripped; by default that of the user of this machine."""
    if who:
        return who.strip()
    try:
        return getpass.getuser().strip()
    except (OSError, KeyError):  # the system knows no name, as in some containers
        return "somebody"


def edited_in(path: Path, begin: str) -> str:
    """Open a file in $EDITOR, created with an initial text if missing, and return its saved text."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(begin, encoding="utf-8")
    click.edit(filename=str(path))
    return path.read_text(encoding="utf-8", errors="replace")
