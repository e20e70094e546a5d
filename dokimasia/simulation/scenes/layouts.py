"""The three layouts of pictures: a form of words, a labelled diagram, and an arrangement of labelled shapes.

A layout draws every fact inside its box, according to the data of its sort of picture.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from math import ceil, sqrt
from random import Random
from typing import NamedTuple

from dokimasia.domain.criterion import Box
from dokimasia.simulation.scene import Fact, Scene
from dokimasia.simulation.scenes.drawing import (
    COLOURS,
    FAINT,
    HEIGHT,
    INK,
    PAPER,
    SHADE,
    SHAPES,
    WHITE,
    WIDTH,
    Canvas,
    Pixels,
    Rgb,
    ink_on,
    inset,
    pixels,
    tint,
)
from dokimasia.simulation.scenes.sorts import FactForm, PictureSort, kind_of

_ACCENTS: tuple[Rgb, ...] = ((38, 98, 196), (150, 52, 60), (34, 120, 96), (96, 70, 140), (150, 84, 30))
_PAGE: Pixels = (8, 8, WIDTH - 8, HEIGHT - 8)
_NOT_DIGITS = re.compile(r"\D")
_CAPTION = 22
"""The height in pixels of a line of words at the foot of a box with other content."""


def paint_scene(scene: Scene, sort: PictureSort) -> bytes:
    """Return a scene as PNG bytes without any metadata; equal scenes give equal bytes."""
    page = _Page(Canvas(sort.ground), scene, sort, Random(scene.look).choice(_ACCENTS))
    _LAYOUTS[sort.layout](page)
    return page.canvas.png()


class _Cell(NamedTuple):
    """The content of one box: its words, its shape with its count, and the filled share of it.

    `colours` are those it shows or, if it shows none, that of its subject.
    """

    at: Pixels
    facts: list[Fact]
    is_container: bool
    words: list[str]
    shape: str
    repeats: int
    colours: list[Rgb]
    share: float | None


class _Page(NamedTuple):
    """A picture being drawn."""

    canvas: Canvas
    scene: Scene
    sort: PictureSort
    accent: Rgb

    def cells(self) -> Iterator[_Cell]:
        """Yield the contents of boxes, large boxes first."""
        facts_by_box: defaultdict[Box, list[Fact]] = defaultdict(list)
        for fact in self.scene.facts:
            if not self.sort.form(fact.id).hidden:
                facts_by_box[fact.box].append(fact)
        for box in sorted(facts_by_box, key=_area, reverse=True):
            facts = facts_by_box[box]
            words, shape, repeats, share, colours = list[str](), "", 1, None, list[Rgb]()
            for fact in facts:
                form = self.sort.form(fact.id)
                words += _words_of(fact, form)
                shape += form.shape.replace("{}", fact.value)
                if _is_colour(fact):
                    colours.append(COLOURS[fact.value])
                if form.repeats:
                    repeats = _number(fact)
                if form.gauge:
                    share = _number(fact) / 100
            colours = colours or self._colour_of_subject(facts)
            is_container = any(_holds(box, other) for other in facts_by_box)
            yield _Cell(pixels(box), facts, is_container, words, shape, repeats, colours, share)

    def _colour_of_subject(self, facts: list[Fact]) -> list[Rgb]:
        return [
            COLOURS[other.value]
            for fact in facts
            for other in self.scene.facts
            if _is_colour(other) and (other.subject == fact.value or f"{fact.subject} ".startswith(f"{other.subject} "))
        ][:1]


def _paint_form(page: _Page) -> None:
    """Draw words on a sheet of paper, each above a thin line."""
    canvas = page.canvas
    canvas.rect((0, 0, WIDTH, HEIGHT), tint(page.accent, 0.75), line=None)
    canvas.rect(_PAGE, WHITE, line=page.accent)
    for cell in page.cells():
        x0, y0, x1, y1 = cell.at
        if cell.is_container:
            canvas.rect(inset(cell.at, 2), tint(cell.colours[0] if cell.colours else page.accent, 0.6), line=None)
        if cell.share is not None:
            canvas.rect((x0, y0, x0 + cell.share * (x1 - x0), y1), tint(page.accent, 0.7), line=None)
        if "0" in cell.facts[0].id and page.sort.form(cell.facts[0].id).headed:
            heading = cell.facts[0].attribute.capitalize()
            canvas.text((x0 + 3, y0 - _CAPTION, x1, y0), heading, size=15, line=page.accent)
        canvas.line([(x0, y1), (x1, y1)], line=FAINT, width=1)
        _draw_shapes(canvas, cell)
        _write_words(canvas, cell, "left", page.accent if cell.facts[0].id == "title" else INK)


def _paint_diagram(page: _Page) -> None:
    """Draw labelled boxes, filled to the level of a measure, and connecting lines."""
    page.canvas.rect(_PAGE, None, line=FAINT)
    cells = list(page.cells())
    containers = [cell for cell in cells if cell.is_container]
    for cell in containers:
        page.canvas.rect(cell.at, WHITE, line=FAINT, radius=4)
        _write_words(page.canvas, cell, "centre", INK)
    enclosed = next((colour for cell in containers for colour in cell.colours), None)
    for link in page.sort.links:
        boxes = [pixels(fact.box) for name in link for fact in page.scene.facts if name in (fact.id, kind_of(fact.id))]
        middles = [((x0 + x1) / 2, (y0 + y1) / 2) for x0, y0, x1, y1 in boxes]
        page.canvas.line(middles, line=page.accent, width=4, fill=enclosed)
    for cell in cells:
        if not cell.is_container:
            _draw_box(page, cell)


def _draw_box(page: _Page, cell: _Cell) -> None:
    x0, y0, x1, y1 = cell.at
    ground = WHITE
    if cell.colours and (len(cell.colours) > 1 or not cell.shape):
        ground = cell.colours[0]
    if cell.share is None:
        page.canvas.rect(cell.at, ground, line=SHADE, radius=4)
    else:
        page.canvas.rect(cell.at, WHITE, line=SHADE)
        page.canvas.rect((x0, y1 - cell.share * (y1 - y0), x1, y1), ground, line=INK)
    _draw_shapes(page.canvas, cell)
    _write_words(page.canvas, cell, "centre", ink_on(ground))


def _paint_arrangement(page: _Page) -> None:
    """Draw shapes, each with its name below it, and words on boards."""
    for cell in page.cells():
        if not cell.shape:
            page.canvas.rect(cell.at, PAPER, line=INK, radius=4)
        _draw_shapes(page.canvas, cell)
        _write_words(page.canvas, cell, "centre", INK)


_LAYOUTS: Mapping[str, Callable[[_Page], None]] = {
    "form": _paint_form,
    "diagram": _paint_diagram,
    "arrangement": _paint_arrangement,
}


def _draw_shapes(canvas: Canvas, cell: _Cell) -> None:
    """Draw the shapes of a box in even rows, above its words."""
    if not cell.shape:
        return
    x0, y0, x1, y1 = inset(cell.at, 6)
    y1 -= _CAPTION * len(cell.words)
    columns = min(cell.repeats, max(1, round(sqrt(cell.repeats * (x1 - x0) / (y1 - y0)))))
    wide, high = (x1 - x0) / columns, (y1 - y0) / ceil(cell.repeats / columns)
    radius = min(wide, high) / 2 - 2
    fill = cell.colours[-1] if cell.colours else PAPER
    for number in range(cell.repeats):
        x, y = x0 + (number % columns + 0.5) * wide, y0 + (number // columns + 0.5) * high
        canvas.shape(_shape_of(cell.shape), (x - radius, y - radius, x + radius, y + radius), fill)


def _shape_of(name: str) -> str:
    """Return the shape that represents a thing, always the same; a shape represents itself."""
    if name in SHAPES:
        return name
    return SHAPES[sum(map(ord, name)) % len(SHAPES)]


def _write_words(canvas: Canvas, cell: _Cell, align: str, ink: Rgb) -> None:
    """Write a box's words over its whole height, or at its foot if it has other content."""
    x0, y0, x1, y1 = inset(cell.at, 3)
    if cell.is_container or cell.shape or (cell.share is not None and align == "centre"):
        y0 = y1 - _CAPTION * len(cell.words)
    high = (y1 - y0) / max(1, len(cell.words))
    size = round(min(28, max(14, high * 0.62)))
    for number, words in enumerate(cell.words):
        line = (x0, y0 + number * high, x1, y0 + (number + 1) * high)
        left, _, right = words.partition("|")
        if right:
            canvas.text(line, left.strip(), size=16, line=SHADE)
            canvas.text(line, right.strip(), size=size, line=ink, align="right")
        else:
            canvas.text(line, left, size=size, line=ink, align=align)


def _words_of(fact: Fact, form: FactForm) -> list[str]:
    """Return the line written for a fact, if there is one."""
    if form.write == "" or (form.write is None and (_is_colour(fact) or form.repeats or fact.value in SHAPES)):
        return []
    return [(form.write or "{}").replace("{subject}", fact.subject).replace("{}", fact.value)]


def _is_colour(fact: Fact) -> bool:
    return fact.value in COLOURS and ("colour" in fact.attribute or fact.attribute in ("background", "shirt"))


def _number(fact: Fact) -> int:
    return int(_NOT_DIGITS.sub("", fact.value))


def _area(box: Box) -> float:
    return (box.x1 - box.x0) * (box.y1 - box.y0)


def _holds(box: Box, other: Box) -> bool:
    return box != other and box.x0 <= other.x0 and box.y0 <= other.y0 and box.x1 >= other.x1 and box.y1 >= other.y1
