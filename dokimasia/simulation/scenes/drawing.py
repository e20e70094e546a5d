"""The shared drawing vocabulary: a canvas of 640 x 480 pixels, colours by name, text that fits its box."""

import math
from functools import lru_cache
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from dokimasia.domain.criterion import Box

WIDTH, HEIGHT = 640, 480

Pixels = tuple[float, float, float, float]
Point = tuple[float, float]
Rgb = tuple[int, int, int]

INK: Rgb = (34, 38, 46)
PAPER: Rgb = (252, 251, 247)
SHADE: Rgb = (128, 132, 140)
FAINT: Rgb = (214, 216, 222)
ACCENT: Rgb = (38, 98, 196)

COLOURS: dict[str, Rgb] = {
    "red": (212, 46, 44),
    "orange": (242, 140, 30),
    "yellow": (248, 214, 48),
    "green": (44, 150, 70),
    "blue": (40, 92, 204),
    "purple": (132, 62, 170),
    "pink": (245, 150, 188),
    "white": (255, 255, 255),
    "black": (30, 30, 32),
}
"""The colours that facts name, far enough apart that none is taken for another."""

COLOUR_NAMES: tuple[str, ...] = tuple(COLOURS)


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


def on_circle(at: Pixels, degrees: float, reach: float = 1.0) -> Point:
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
def text_width(words: str, size: int) -> float:
    """Return how many pixels wide the words are at that size."""
    return _font(size).getlength(words)


class Canvas:
    """A picture being drawn. Regions are (left, top, right, bottom) in pixels."""

    def __init__(self, background: Rgb = PAPER, *, on: Image.Image | None = None) -> None:
        """Begin an empty picture, or draw on one that is there."""
        self._image = Image.new("RGB", (WIDTH, HEIGHT), background) if on is None else on
        self._draw = ImageDraw.Draw(self._image)

    def rect(
        self, at: Pixels, fill: Rgb | None = None, *, line: Rgb | None = INK, width: int = 2, radius: int = 0
    ) -> None:
        """Draw a rectangle, its corners rounded by `radius`."""
        if radius:
            self._draw.rounded_rectangle(at, radius, fill=fill, outline=line, width=width)
        else:
            self._draw.rectangle(at, fill=fill, outline=line, width=width)

    def oval(self, at: Pixels, fill: Rgb | None = None, *, line: Rgb | None = INK, width: int = 2) -> None:
        """Draw an ellipse that fills the region."""
        self._draw.ellipse(at, fill=fill, outline=line, width=width)

    def wedge(self, at: Pixels, start: float, end: float, fill: Rgb) -> None:
        """Draw a pie slice of the region's ellipse; angles in degrees, clockwise from three o'clock."""
        self._draw.pieslice(at, start, end, fill=fill, outline=INK, width=2)

    def arc(self, at: Pixels, start: float, end: float, *, line: Rgb = INK, width: int = 3) -> None:
        """Draw a part of the region's ellipse's outline; angles in degrees, clockwise from three o'clock."""
        self._draw.arc(at, start, end, fill=line, width=width)

    def line(self, points: list[Point], *, line: Rgb = INK, width: int = 2) -> None:
        """Draw a line through the points."""
        self._draw.line(points, fill=line, width=width, joint="curve")

    def poly(self, points: list[Point], fill: Rgb | None = None, *, line: Rgb | None = INK, width: int = 2) -> None:
        """Draw a closed polygon."""
        self._draw.polygon(points, fill=fill, outline=line, width=width)

    def regular(self, at: Pixels, sides: int, fill: Rgb, *, inner: float = 0.0) -> None:
        """Draw a regular polygon with a corner on top, or a star of so many points where `inner` (0..1) is given."""
        cx, cy = (at[0] + at[2]) / 2, (at[1] + at[3]) / 2
        radius = min(at[2] - at[0], at[3] - at[1]) / 2
        corners = sides * 2 if inner else sides
        points: list[Point] = []
        for corner in range(corners):
            reach = radius * inner if inner and corner % 2 else radius
            angle = math.radians(-90 + corner * 360 / corners)
            points.append((cx + reach * math.cos(angle), cy + reach * math.sin(angle)))
        self.poly(points, fill)

    def text(self, at: Pixels, words: str, *, size: int = 18, line: Rgb = INK, align: str = "left") -> None:
        """Write one line of words inside the region, centred in height, made smaller until it fits.

        `align` is left, right or centre.
        """
        wide, high = at[2] - at[0], at[3] - at[1]
        while size > 9 and (text_width(words, size) > wide or size * 1.1 > high):
            size -= 1
        middle = (at[1] + at[3]) / 2
        x, anchor = {"left": (at[0], "lm"), "right": (at[2], "rm"), "centre": ((at[0] + at[2]) / 2, "mm")}[align]
        self._draw.text((x, middle), words, font=_font(size), fill=line, anchor=anchor)

    def paragraph(self, at: Pixels, words: str, *, size: int, align: str) -> None:
        """Write words in as many lines as the region's width asks for, from its top."""
        row, y, step = "", at[1], size * 1.4
        for word in [*words.split(), ""]:
            longer = f"{row} {word}".strip()
            if word and text_width(longer, size) <= at[2] - at[0]:
                row = longer
                continue
            self.text((at[0], y, at[2], y + step), row, size=size, align=align)
            row, y = word, y + step

    def png(self) -> bytes:
        """Return the picture as PNG bytes without any metadata."""
        buffer = BytesIO()
        self._image.save(buffer, "PNG", compress_level=4)
        return buffer.getvalue()
