"""The drawing vocabulary: a canvas of 640 x 480 pixels, colours and shapes by name, and text that fits its box."""

import math
from functools import lru_cache
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from dokimasia.domain.criterion import Box

WIDTH, HEIGHT = 640, 480

Pixels = tuple[float, float, float, float]
PixelPoint = tuple[float, float]
Rgb = tuple[int, int, int]

WHITE: Rgb = (255, 255, 255)
INK: Rgb = (34, 38, 46)
PAPER: Rgb = (252, 251, 247)
SHADE: Rgb = (128, 132, 140)
FAINT: Rgb = (214, 216, 222)

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
"""The colours named by facts, different enough not to be confused."""

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
    lefts, tops, rights, bottoms = zip(*[(box.x0, box.y0, box.x1, box.y1) for box in boxes], strict=True)
    return Box(x0=min(lefts), y0=min(tops), x1=max(rights), y1=max(bottoms))


def inset(at: Pixels, by: float) -> Pixels:
    """Return a region reduced by this many pixels on each side."""
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


def ink_on(ground: Rgb) -> Rgb:
    """Return a legible text colour on a ground."""
    red, green, blue = ground
    if 3 * red + 6 * green + blue > 1280:
        return INK
    return PAPER


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


@lru_cache(maxsize=4096)
def text_width(words: str, size: int) -> float:
    """Return the width of the words in pixels at that size."""
    return _font(size).getlength(words)


class Canvas:
    """A picture being drawn. Regions are (left, top, right, bottom) in pixels."""

    def __init__(self, background: Rgb = PAPER, *, on: Image.Image | None = None) -> None:
        """Start an empty picture, or draw on an existing one."""
        self._image = Image.new("RGB", (WIDTH, HEIGHT), background) if on is None else on
        self._draw = ImageDraw.Draw(self._image)

    def rect(self, at: Pixels, fill: Rgb | None = None, *, line: Rgb | None = INK, radius: int = 0) -> None:
        """Draw a rectangle, its corners rounded by `radius`."""
        if radius:
            self._draw.rounded_rectangle(at, radius, fill=fill, outline=line, width=2)
        else:
            self._draw.rectangle(at, fill=fill, outline=line, width=2)

    def line(self, points: list[PixelPoint], *, line: Rgb = INK, width: int = 2, fill: Rgb | None = None) -> None:
        """Draw a line through the points, and fill the area it encloses."""
        if fill is not None:
            self._draw.polygon(points, fill=fill)
        self._draw.line(points, fill=line, width=width, joint="curve")

    def text(self, at: Pixels, words: str, *, size: int = 18, line: Rgb = INK, align: str = "left") -> None:
        """Write one line of words inside the region, vertically centred, reduced until it fits.

        `align` is left, right or centre.
        """
        wide, high = at[2] - at[0], at[3] - at[1]
        while size > 9 and (text_width(words, size) > wide or size * 1.1 > high):
            size -= 1
        middle = (at[1] + at[3]) / 2
        x, anchor = {"left": (at[0], "lm"), "right": (at[2], "rm"), "centre": ((at[0] + at[2]) / 2, "mm")}[align]
        self._draw.text((x, middle), words, font=_font(size), fill=line, anchor=anchor)

    def png(self) -> bytes:
        """Return the picture as PNG bytes without any metadata."""
        buffer = BytesIO()
        self._image.save(buffer, "PNG", compress_level=4)
        return buffer.getvalue()

    def shape(self, name: str, at: Pixels, fill: Rgb) -> None:
        """Draw one of `SHAPES` inside a region.

        Raises:
            KeyError: there is no such shape.
        """
        if name == "circle":
            self._draw.ellipse(at, fill=fill, outline=INK, width=2)
            return
        corners, first_angle, inner = _CORNERS[name]
        reaches = [1.0, inner] * corners
        points = [on_circle(at, first_angle + 360 * n / corners, reaches[n]) for n in range(corners)]
        self._draw.polygon(points, fill=fill, outline=INK, width=2)


_CORNERS = {
    "square": (4, -45, 1.0),
    "triangle": (3, -90, 1.0),
    "pentagon": (5, -90, 1.0),
    "star": (10, -90, 0.45),
    "diamond": (4, -90, 1.0),
}
"""The number of corners of each shape, the angle of the first, and how near every second is to the middle."""

SHAPES: tuple[str, ...] = ("circle", *_CORNERS)
