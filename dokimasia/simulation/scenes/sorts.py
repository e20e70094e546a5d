"""The sorts of pictures as data: what facts each has, how they are drawn, and the words that they are chosen from."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml
from pydantic import Field, TypeAdapter

from dokimasia.domain.identity import Value
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
        """Return where the fact with an id is seen."""
        x0, y0, x1, y1 = self.at
        for place, (right, down) in zip(places_of(id), self.steps, strict=False):
            x0, y0, x1, y1 = x0 + place * right, y0 + place * down, x1 + place * right, y1 + place * down
        return x0, y0, x1, y1


class PictureSort(Value):
    """A sort of picture: its layout, its facts by their ids (or ids without digits), and lists of words by their names.

    Each of `links` is a line through the boxes of facts.
    """

    layout: Literal["form", "diagram", "arrangement"]
    ground: Rgb = WHITE
    facts: Mapping[str, FactForm]
    links: tuple[tuple[str, ...], ...] = ()
    words: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)

    def form(self, id: str) -> FactForm:
        """Return the form of the fact with an id."""
        return self.facts[id] if id in self.facts else self.facts[kind_of(id)]


def places_of(id: str) -> list[int]:
    """Return the digits of a fact's id, each of which is a place in a row or column."""
    return [int(digit) for digit in id if digit.isdigit()]


def kind_of(id: str) -> str:
    """Return a fact's id without digits, which is that of all its kind."""
    return _DIGITS.sub("", id)


@cache
def read_sorts() -> Mapping[str, PictureSort]:
    """Return all sorts of pictures by their names."""
    text = (files("dokimasia.simulation.scenes") / "pictures.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, PictureSort]).validate_python(yaml.safe_load(text), strict=False)
