"""The sorts of pictures as data: the facts of each, how they are drawn and worded, and lists of words."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from dokimasia.domain.identity import Value
from dokimasia.simulation.capabilities import LEAF_PATHS
from dokimasia.simulation.data_files import read_data
from dokimasia.simulation.scenes.drawing import HEIGHT, WHITE, WIDTH, Pixels, Rgb

_DIGITS = re.compile(r"\d+")

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


class FactForm(Value):
    """What a fact of a picture is about, where it is seen, and how it is drawn.

    In `subject` and `attribute`, `{name}` is what the fact is told of, and `{number}` and `{ordinal}` are its place by the
    first digit of its id. Each digit of the id moves the region `at` by one of `steps`. `write` says what is written:
    `{}` is the value, `{subject}` the subject, and what follows a bar stands on the right; without it that is the value,
    but nothing for colours, shapes and counts. `shape` is the shape that is drawn, as often as a fact in the same box
    says that `repeats`. A `gauge` fills its box by so many hundredths. The first of several `headed` facts has the
    attribute over it. What is `hidden` is not drawn.
    """

    subject: str = "{name}"
    attribute: str = ""
    at: Pixels = (0, 0, WIDTH, HEIGHT)
    steps: tuple[tuple[int, int], ...] = ()
    write: str | None = None
    shape: str = ""
    repeats: bool = False
    gauge: bool = False
    headed: bool = False
    hidden: bool = False

    def region(self, id: str) -> Pixels:
        """Return the region of the fact with an id."""
        x0, y0, x1, y1 = self.at
        for place, (right, down) in zip(places_of(id), self.steps, strict=False):
            x0, y0, x1, y1 = x0 + place * right, y0 + place * down, x1 + place * right, y1 + place * down
        return x0, y0, x1, y1


Leaf = Annotated[str, AfterValidator(LEAF_PATHS.__getitem__)]
"""The path of a planted capability, given by its name."""


class ClueForm(Value):
    """How a step of a question is asked for and said.

    In `say`, `{}` is the truth; the other fields of both sentences are filled in by the scene. `leaf` is the capability that
    the step needs. Falsehoods come from the list of words that `pool` names; a number is written as `show` says, and its
    falsehoods lie whole `step`s from it.
    """

    ask: str
    say: str
    leaf: Leaf = ""
    pool: str = ""
    show: str = "{}"
    step: int = 1


class MeasureWording(Value):
    """How a set of measured things is spoken of, in addition to how a value is asked for and said.

    `ask` and `name` hold `{}` for a thing's name and label, and `say` holds `{name}`; `degrees` are adjectives for the
    greatest, the least and the greater; `first` and `after` say how the things are ordered. `plural` is needed where that is
    not formed with an s. `step` is the grain of the values.
    """

    single: str
    ask: str
    say: str
    leaf: Leaf
    show: str = "{}"
    degrees: tuple[str, str, str] = ("highest", "lowest", "higher")
    first: str = "furthest to the left"
    after: str = "directly to the right of"
    name: str = ""
    plural: str = ""
    step: int = 1


class SortWording(Value):
    """How a sort of picture is spoken of: lists of words by their names, and the wording of its questions.

    `genre` is what questions call such pictures, and what kind of that it is; `clues` are the steps of its questions, and
    `measure` says how its measured things are spoken of.
    """

    words: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    genre: tuple[str, str] = ("", "")
    clues: Mapping[str, ClueForm] = Field(default_factory=dict)
    measure: MeasureWording | None = None


class PictureSort(SortWording):
    """A sort of picture: its layout, its wording, and its facts by their ids (or ids without digits).

    Each of `links` is a line through the boxes of facts.
    """

    layout: Literal["form", "diagram", "arrangement"]
    ground: Rgb = WHITE
    facts: Mapping[str, FactForm]
    links: tuple[tuple[str, ...], ...] = ()

    def form(self, id: str) -> FactForm:
        """Return the form of the fact with an id."""
        if id in self.facts:
            return self.facts[id]
        return self.facts[kind_of(id)]


def places_of(id: str) -> list[int]:
    """Return the digits of a fact's id, each of which is a place in a row or column."""
    return [int(digit) for digit in id if digit.isdigit()]


def kind_of(id: str) -> str:
    """Return a fact's id without digits, which all facts of its kind share."""
    return _DIGITS.sub("", id)


@cache
def read_sorts() -> Mapping[str, PictureSort]:
    """Return all sorts of pictures by their names."""
    sorts = read_data("scenes/pictures.yaml", dict[str, PictureSort])
    wordings = read_data("scenes/wording.yaml", dict[str, SortWording])
    every = wordings["every"]
    complete: dict[str, PictureSort] = {}
    for name, sort in sorts.items():
        own = wordings[name]
        clues, words = {**every.clues, **own.clues}, {**every.words, **sort.words}
        complete[name] = sort.model_copy(update={**dict(own), "clues": clues, "words": words})
    return complete
