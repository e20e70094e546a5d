"""How scenes are drawn: 640 x 480 pixels in one of three styles, every fact where its box is.

Simulated models read a scene from its picture's metadata; the drawing is for people. Facts with one box are drawn as one
panel: the things or shapes that they name, as many as they say and in their colour, and what else they say in words.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import resources
from io import BytesIO
from typing import Literal, NamedTuple

import yaml
from PIL import Image, ImageDraw, ImageFont

from dokimasia.domain.criterion import Box
from dokimasia.simulation.scene import Fact, Scene

WIDTH, HEIGHT = 640, 480

Pixels = tuple[float, float, float, float]
PixelPoint = tuple[float, float]
Rgb = tuple[int, int, int]
Style = Literal["things", "sheet", "figure"]
"""The three ways to draw a scene: things before a background, a sheet of words, and a figure of shapes and values."""

INK: Rgb = (34, 38, 46)
PAPER: Rgb = (252, 251, 247)
SHADE: Rgb = (128, 132, 140)
FAINT: Rgb = (214, 216, 222)
ACCENT: Rgb = (38, 98, 196)
WHITE: Rgb = (255, 255, 255)

COLOURS: dict[str, Rgb] = {
    "red": (212, 46, 44),
    "orange": (242, 140, 30),
    "yellow": (248, 214, 48),
    "green": (44, 150, 70),
    "blue": (40, 92, 204),
    "purple": (132, 62, 170),
    "pink": (245, 150, 188),
    "white": WHITE,
    "black": (30, 30, 32),
}
"""The colours that facts name, far enough apart that none is taken for another."""

COLOUR_NAMES: tuple[str, ...] = tuple(COLOURS)

SHAPES: tuple[str, ...] = ("circle", "square", "triangle", "pentagon", "star", "diamond")
_CORNERS = {"triangle": 3, "square": 4, "diamond": 4, "pentagon": 5, "star": 10}

_MATERIALS: dict[str, Rgb] = {
    "dark": (60, 60, 64),
    "light": PAPER,
    "grey": (170, 172, 178),
    "wood": (150, 104, 62),
    "glass": (196, 226, 240),
    "leaf": (44, 130, 64),
    "skin": (240, 206, 172),
    "gold": (240, 196, 60),
    "cream": (246, 240, 200),
}
"""The colours of parts of things that do not have the thing's own colour."""

_AIR: dict[str, Rgb] = {"sun": (176, 216, 240), "moon": (82, 92, 126), "cloud": (172, 186, 200)}
_ACTIVE = ("on", "open", "ticked", "lit")
_UNLABELLED = ("title", "name", "label", "heading", "caption", "letter", "value")
_LABEL_WIDTH = 150
"""The least width in pixels of a box in which a value has its attribute before it."""

_MOST_COPIES = 9

THING_NAMES: tuple[str, ...] = (
    "ball", "balloon", "kite", "umbrella", "cat", "bench", "flower", "tent", "car", "bus", "bicycle", "mug", "bottle", "bowl",
    "book", "pot", "lamp",
)  # fmt: skip
PLURALS: dict[str, str] = {**{name: f"{name}s" for name in THING_NAMES}, "bench": "benches", "bus": "buses"}
"""Every thing of which a scene may hold several, and its plural."""


@cache
def _pictures_of_things() -> dict[str, list[str]]:
    return yaml.safe_load(resources.files(__package__).joinpath("things.yaml").read_text(encoding="utf-8"))


def box_of(at: Pixels) -> Box:
    """Return a region given in pixels as a box in fractions of the canvas, clipped to it."""
    return Box(
        x0=round(max(0.0, at[0] / WIDTH), 4),
        y0=round(max(0.0, at[1] / HEIGHT), 4),
        x1=round(min(1.0, at[2] / WIDTH), 4),
        y1=round(min(1.0, at[3] / HEIGHT), 4),
    )


def pixels(box: Box) -> Pixels:
    """Return a box's region in pixels of the canvas."""
    return (box.x0 * WIDTH, box.y0 * HEIGHT, box.x1 * WIDTH, box.y1 * HEIGHT)


def union(boxes: list[Box]) -> Box:
    """Return the smallest box that encloses all of the given ones."""
    return Box(
        x0=min(b.x0 for b in boxes), y0=min(b.y0 for b in boxes),
        x1=max(b.x1 for b in boxes), y1=max(b.y1 for b in boxes),
    )  # fmt: skip


def inset(at: Pixels, by: float) -> Pixels:
    """Return a region made smaller by so many pixels on each side."""
    return (at[0] + by, at[1] + by, at[2] - by, at[3] - by)


def on_circle(at: Pixels, degrees: float, reach: float = 1.0) -> PixelPoint:
    """Return the point at that angle (clockwise from three o'clock) and share of the radius of a region's ellipse."""
    angle = math.radians(degrees)
    cx, cy = (at[0] + at[2]) / 2, (at[1] + at[3]) / 2
    return (cx + reach * (at[2] - cx) * math.cos(angle), cy + reach * (at[3] - cy) * math.sin(angle))


def tint(colour: Rgb, share: float) -> Rgb:
    """Return a colour mixed with white: share 0 leaves it, 1 is white."""
    r, g, b = (round(c + (255 - c) * share) for c in colour)
    return (r, g, b)


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


@lru_cache(maxsize=4096)
def _text_width(words: str, size: int) -> float:
    return _font(size).getlength(words)


class Canvas:
    """A picture being drawn. Regions are (left, top, right, bottom) in pixels."""

    def __init__(self, image: Image.Image) -> None:
        """Draw on an image."""
        self._image = image
        self._draw = ImageDraw.Draw(image)

    def rect(self, at: Pixels, fill: Rgb | None, *, line: Rgb | None = INK, width: int = 2, radius: int = 0) -> None:
        """Draw a rectangle, its corners rounded by `radius`."""
        self._draw.rounded_rectangle(at, radius, fill=fill, outline=line, width=width)

    def oval(self, at: Pixels, fill: Rgb | None, *, line: Rgb | None = INK) -> None:
        """Draw an ellipse that fills the region."""
        self._draw.ellipse(at, fill=fill, outline=line, width=2)

    def wedge(self, at: Pixels, start: float, end: float, fill: Rgb) -> None:
        """Draw a pie slice of the region's ellipse; angles in degrees, clockwise from three o'clock."""
        self._draw.pieslice(at, start, end, fill=fill, outline=INK, width=2)

    def line(self, points: Sequence[PixelPoint], *, line: Rgb = INK, width: int = 3) -> None:
        """Draw a line through the points."""
        self._draw.line(list(points), fill=line, width=width, joint="curve")

    def poly(self, points: Sequence[PixelPoint], fill: Rgb | None) -> None:
        """Draw a closed polygon."""
        self._draw.polygon(list(points), fill=fill, outline=INK, width=2)

    def text(self, at: Pixels, words: str, *, size: int = 22, line: Rgb = INK, align: str = "left") -> None:
        """Write words inside the region, centred in height, in two lines or smaller where they do not fit.

        `align` is left or centre.
        """
        wide, high = at[2] - at[0], at[3] - at[1]
        lines = [words]
        while size > 9 and (max(_text_width(row, size) for row in lines) > wide or size * 1.2 * len(lines) > high):
            if len(lines) == 1 and high > 2.4 * size and " " in words:
                half = min(
                    (at for at, letter in enumerate(words) if letter == " "), key=lambda at: abs(at - len(words) / 2)
                )
                lines = [words[:half], words[half + 1 :]]
            else:
                size -= 1
        x, anchor = (at[0], "lm") if align == "left" else ((at[0] + at[2]) / 2, "mm")
        top = (at[1] + at[3]) / 2 - size * 0.6 * (len(lines) - 1)
        for number, row in enumerate(lines):
            self._draw.text((x, top + number * size * 1.2), row, font=_font(size), fill=line, anchor=anchor)

    def thing(self, name: str, at: Pixels, fill: Rgb) -> None:
        """Draw the named thing inside the region.

        Raises:
            KeyError: if there is no such thing.
        """
        for figure in _pictures_of_things()[name]:
            kind, *rest = figure.split()
            colour = fill if rest[-1].isdigit() else _MATERIALS[rest.pop()]
            numbers = [float(word) / 100 for word in rest]
            points = [
                (at[0] + x * (at[2] - at[0]), at[1] + y * (at[3] - at[1]))
                for x, y in zip(numbers[::2], numbers[1::2], strict=True)
            ]
            if kind == "oval":
                self.oval((*points[0], *points[1]), colour)
            elif kind == "rect":
                self.rect((*points[0], *points[1]), colour, radius=2)
            elif kind == "poly":
                self.poly(points, colour)
            else:
                self.line(points, line=colour)

    def shape(self, name: str, at: Pixels, fill: Rgb) -> None:
        """Draw the named shape inside the region.

        Raises:
            KeyError: if there is no such shape.
        """
        if name == "circle":
            self.oval(at, fill)
            return
        corners = _CORNERS[name]
        turn = -45 if name == "square" else -90
        reaches = [0.45 if name == "star" and corner % 2 else 1.0 for corner in range(corners)]
        self.poly([on_circle(at, turn + corner * 360 / corners, reach) for corner, reach in enumerate(reaches)], fill)

    def png(self) -> bytes:
        """Return the picture as PNG bytes without any metadata."""
        buffer = BytesIO()
        self._image.save(buffer, "PNG", compress_level=4)
        return buffer.getvalue()


class Panel(NamedTuple):
    """What the facts with one box say: which things or shapes, how many, in which colours, and what else in words."""

    at: Pixels
    facts: tuple[Fact, ...]
    figure: str = ""
    count: int = 1
    colour: str = ""
    ink: str = ""
    words: str = ""

    @property
    def fill(self) -> Rgb:
        """The colour of what is drawn."""
        return COLOURS[self.ink or self.colour or "white"]


def panels_of(scene: Scene) -> list[Panel]:
    """Return the panels of a scene, those with the larger boxes first."""
    by_box: dict[Box, list[Fact]] = {}
    for fact in scene.facts:
        by_box.setdefault(fact.box, []).append(fact)
    colours = {fact.subject: fact.value for fact in scene.facts if fact.attribute == "colour"}
    panels = [_panel(pixels(box), tuple(facts), colours) for box, facts in by_box.items()]
    return sorted(panels, key=lambda panel: -_area(panel.at))


def _panel(at: Pixels, facts: tuple[Fact, ...], colours: dict[str, str]) -> Panel:
    panel = Panel(at, facts)
    for fact in facts:
        value = fact.value
        if value in COLOURS:
            field = "ink" if fact.attribute == "colour of the charge" else "colour"
            panel = panel._replace(**{field: value})
        elif value in SHAPES or value in _pictures_of_things():
            panel = panel._replace(figure=value)
        elif fact.attribute == "stars":
            panel = panel._replace(figure="star", count=int(value), colour="yellow")
        elif panel.figure and value.isdigit() and int(value) <= _MOST_COPIES:
            panel = panel._replace(count=int(value))
        else:
            panel = panel._replace(words=_worded(fact, at))
    if facts[0].attribute == "shirt":
        panel = panel._replace(figure="person")
    if panel.figure and not panel.colour:
        panel = panel._replace(colour=colours.get(panel.figure, ""))
    return panel


def _worded(fact: Fact, at: Pixels) -> str:
    """A fact in words: its value, after its subject or attribute where it says nothing without it and there is room."""
    in_table = "." in fact.id
    if (fact.attribute in ("state", "text") and not in_table) or (
        fact.attribute == "value" and fact.value.endswith("%")
    ):
        return f"{fact.subject}: {fact.value}"
    if at[2] - at[0] >= _LABEL_WIDTH and fact.attribute not in _UNLABELLED and not in_table:
        return f"{fact.attribute}: {fact.value}"
    return "?" if fact.value in ("unknown", "a question mark") else fact.value


def draw_scene_image(scene: Scene, style: Style) -> bytes:
    """Return a scene's picture as PNG bytes without metadata, drawn in the style of that name."""
    canvas = Canvas(Image.new("RGB", (WIDTH, HEIGHT), PAPER))
    STYLES[style](canvas, scene, panels_of(scene))
    return canvas.png()


def _draw_things(canvas: Canvas, scene: Scene, panels: list[Panel]) -> None:
    """Things that stand before a sky and on a ground, and boards with words."""
    sky = next((fact.value for fact in scene.facts if fact.attribute == "shows" and fact.value in _AIR), "")
    canvas.rect((0, 0, WIDTH, HEIGHT), _AIR.get(sky, (232, 224, 238)), line=None)
    canvas.rect((0, 176, WIDTH, HEIGHT), (206, 214, 186), line=None)
    for shelf in (302, 454):
        canvas.rect((0, shelf, WIDTH, shelf + 10), (176, 150, 112), line=None)
    for panel in panels:
        if panel.figure:
            _draw_figures(canvas, panel)
        else:
            canvas.rect(panel.at, tint(panel.fill, 0.5) if panel.colour else PAPER, radius=6)
            canvas.text(inset(panel.at, 5), panel.words, size=28, align="centre")


def _draw_sheet(canvas: Canvas, scene: Scene, panels: list[Panel]) -> None:
    """A sheet or window of words: what holds others is a highlight, what is on is tinted, rows have a heading."""
    canvas.rect((8, 6, WIDTH - 8, HEIGHT - 4), WHITE, line=FAINT, radius=8)
    if scene.domain == "interface":
        canvas.rect((8, 6, WIDTH - 8, 54), tint(ACCENT, 0.7), line=None, radius=8)
    for panel in panels:
        fact = panel.facts[0]
        x0, y0, x1, _ = panel.at
        if any(other is not panel and _contains(panel.at, other.at) for other in panels):
            canvas.rect(panel.at, tint(ACCENT, 0.75), line=ACCENT, width=1)
            continue
        if fact.attribute == "state":
            canvas.rect(panel.at, tint(ACCENT, 0.7) if fact.value in _ACTIVE else WHITE, line=SHADE, radius=6)
        if "0." in fact.id:
            canvas.text((x0, y0 - 20, x1, y0 - 2), fact.attribute, size=14, line=SHADE)
        canvas.text(inset(panel.at, 3), panel.words or fact.value)


def _draw_figure(canvas: Canvas, scene: Scene, panels: list[Panel]) -> None:
    """A chart, diagram or puzzle: bars, levels, lines and slices by their values, shapes and colours in cells."""
    canvas.rect((8, 8, WIDTH - 8, HEIGHT - 8), WHITE, line=FAINT)
    values = {fact.id: fact.value for fact in scene.facts}
    if "battery" in values:
        canvas.rect((80, 98, 590, 396), None)
    _draw_slices(canvas, scene, values)
    _draw_lines(canvas, scene, values)
    for panel in panels:
        fact, (x0, y0, x1, y1) = panel.facts[0], panel.at
        colour_count = sum(fact.value in COLOURS for fact in panel.facts)
        tall = y1 - y0 > 60
        if fact.attribute == "lower side":
            lean = {"left": 20, "right": -20}.get(fact.value, 0)
            canvas.line([(x0 + 30, 330 + lean), (x1 - 30, 330 - lean)], width=5)
            canvas.poly([((x0 + x1) / 2, 330), (x1 - 60, 376), (x0 + 60, 376)], FAINT)
        elif fact.attribute == "level" or panel.facts[-1].attribute == "level":
            canvas.rect((x0, y1 - (y1 - y0 - 14) * _number(panel.words) / 100, x1, y1), tint(panel.fill, 0.25))
            canvas.rect(panel.at, None, width=3)
            canvas.text((x0, y1 - 40, x1, y1), panel.words.removeprefix("level: "), align="centre")
        elif any(fact.attribute == "rows" for fact in panel.facts):
            _draw_grid(canvas, panel, values)
        elif fact.subject == "triangle":
            apex = next(fact.box for fact in scene.facts if fact.id == "corner2")
            canvas.poly([(x0, y1), (x1, y1), (pixels(apex)[0] + 15, y0)], tint(panel.fill, 0.4))
        elif panel.figure:
            if panel.ink:
                canvas.rect(panel.at, COLOURS[panel.colour])
            elif len(panel.facts) > 2:
                canvas.rect(panel.at, None, line=FAINT)
            _draw_figures(canvas, panel)
        elif fact.id.startswith("legend"):
            canvas.rect((x0, y0 + 4, x0 + 36, y1 - 4), panel.fill)
            canvas.text((x0 + 44, y0, x1, y1), fact.subject, size=17)
        elif colour_count == 1:
            canvas.rect(inset(panel.at, 2), panel.fill)
        elif colour_count > 1 or fact.id.startswith("line"):
            continue
        elif tall and fact.attribute == "value":
            canvas.rect((x0, y0 + 26, x1, y1), tint(ACCENT, 0.4))
            canvas.text((x0, y0, x1, y0 + 26), panel.words, size=17, align="centre")
        else:
            if fact.attribute in ("share", "length", "text", "voltage", "state"):
                canvas.rect(panel.at, PAPER, line=SHADE, width=1, radius=5)
            canvas.text(inset(panel.at, 2), panel.words, align="centre")


def _draw_figures(canvas: Canvas, panel: Panel) -> None:
    """Draw as many copies of a thing or shape as a panel says, in rows, and its words over them."""
    x0, y0, x1, y1 = inset(panel.at, 4)
    columns = min(panel.count, max(1, math.ceil(math.sqrt(panel.count * (x1 - x0) / (y1 - y0)))))
    rows = math.ceil(panel.count / columns)
    side = min((x1 - x0) / columns, (y1 - y0) / rows)
    for number in range(panel.count):
        x = (x0 + x1) / 2 + (number % columns - (columns - 1) / 2) * (x1 - x0) / columns
        y = (y0 + y1) / 2 + (number // columns - (rows - 1) / 2) * (y1 - y0) / rows
        half = min(side, 120) / 2 - 2 * (panel.count > 1)
        at = (x - half, y - half, x + half, y + half)
        if panel.figure in SHAPES:
            canvas.shape(panel.figure, at, panel.fill)
        else:
            canvas.thing(panel.figure, at, panel.fill)
    if panel.words:
        middle, height = (x0 + x1) / 2, (y0 + y1) / 2 + 4
        at = (middle - 18, height - 13, middle + 18, height + 13)
        canvas.rect(at, WHITE, line=None, radius=6)
        canvas.text(at, panel.words, size=19, align="centre")


def _draw_grid(canvas: Canvas, panel: Panel, values: dict[str, str]) -> None:
    """Draw rows and columns of squares of which so many are shaded, spread over all of them."""
    rows, columns, shaded = (int(values[name]) for name in ("rows", "columns", "shaded"))
    x0, y0, x1, y1 = panel.at
    wide, high = (x1 - x0) / columns, (y1 - y0) / rows
    for number in range(rows * columns):
        left, top = x0 + number % columns * wide, y0 + number // columns * high
        is_shaded = (number * shaded) // (rows * columns) != ((number + 1) * shaded) // (rows * columns)
        canvas.rect((left, top, left + wide, top + high), panel.fill if is_shaded else WHITE)


def _draw_slices(canvas: Canvas, scene: Scene, values: dict[str, str]) -> None:
    """Draw the slices of a pie chart, where the scene has shares."""
    start = -90.0
    for fact in scene.facts:
        if fact.attribute == "share":
            end = start + 3.6 * _number(fact.value)
            canvas.wedge(PIE, start, end, COLOURS[values[fact.id.replace("share", "colour")]])
            start = end


def _draw_lines(canvas: Canvas, scene: Scene, values: dict[str, str]) -> None:
    """Draw the lines of a line chart through their values, where the scene has some."""
    lines: dict[str, list[PixelPoint]] = {}
    for fact in scene.facts:
        if fact.id.startswith("line"):
            x0, y0, x1, y1 = pixels(fact.box)
            lines.setdefault(fact.id[4], []).append(((x0 + x1) / 2, y1 - 7))
            canvas.text((x0, y0, x1, y0 + 20), fact.value, size=16, align="centre")
    for name, points in lines.items():
        colour = COLOURS[values[f"legend{name}"]]
        canvas.line(points, line=colour, width=4)
        for x, y in points:
            canvas.oval((x - 6, y - 6, x + 6, y + 6), colour)


PIE: Pixels = (36, 100, 386, 450)
"""Where a pie chart is drawn."""

STYLES: dict[Style, Callable[[Canvas, Scene, list[Panel]], None]] = {
    "things": _draw_things,
    "sheet": _draw_sheet,
    "figure": _draw_figure,
}


def _number(words: str) -> int:
    return int("".join(letter for letter in words if letter.isdigit()))


def _area(at: Pixels) -> float:
    return (at[2] - at[0]) * (at[3] - at[1])


def _contains(at: Pixels, other: Pixels) -> bool:
    return at[0] <= other[0] and at[1] <= other[1] and at[2] >= other[2] and at[3] >= other[3]
