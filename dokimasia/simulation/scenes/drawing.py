"""The drawing vocabulary: a canvas of 640 x 480 pixels, colours by name, text that fits its box, small pictures of things."""

import math
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from dokimasia.domain.criterion import Box

WIDTH, HEIGHT = 640, 480

Pixels = tuple[float, float, float, float]
PixelPoint = tuple[float, float]
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

    def line(self, points: list[PixelPoint], *, line: Rgb = INK, width: int = 2) -> None:
        """Draw a line through the points."""
        self._draw.line(points, fill=line, width=width, joint="curve")

    def poly(
        self, points: list[PixelPoint], fill: Rgb | None = None, *, line: Rgb | None = INK, width: int = 2
    ) -> None:
        """Draw a closed polygon."""
        self._draw.polygon(points, fill=fill, outline=line, width=width)

    def regular(self, at: Pixels, sides: int, fill: Rgb, *, inner: float = 0.0) -> None:
        """Draw a regular polygon with a corner on top, or a star of so many points where `inner` (0..1) is given."""
        cx, cy = (at[0] + at[2]) / 2, (at[1] + at[3]) / 2
        radius = min(at[2] - at[0], at[3] - at[1]) / 2
        corners = sides * 2 if inner else sides
        points: list[PixelPoint] = []
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


_WOOD: Rgb = (150, 104, 62)
_HUB: Rgb = (206, 206, 210)
_GLASS: Rgb = (196, 226, 240)


class _SpriteFrame:
    """A region whose points are named by fractions of its width and height."""

    def __init__(self, at: Pixels) -> None:
        self.at = at

    def p(self, x: float, y: float) -> PixelPoint:
        """Return the point at these fractions."""
        return (self.at[0] + x * (self.at[2] - self.at[0]), self.at[1] + y * (self.at[3] - self.at[1]))

    def r(self, x0: float, y0: float, x1: float, y1: float) -> Pixels:
        """Return the region between these fractions."""
        return (*self.p(x0, y0), *self.p(x1, y1))


def _ball(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.oval(f.r(0.18, 0.3, 0.82, 1), fill)
    c.arc(f.r(0.3, 0.3, 1.1, 1), 130, 230, width=2)
    c.arc(f.r(-0.1, 0.3, 0.7, 1), -50, 50, width=2)


def _balloon(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.line([f.p(0.5, 0.66), f.p(0.46, 0.8), f.p(0.54, 0.9), f.p(0.5, 1)])
    c.poly([f.p(0.44, 0.7), f.p(0.56, 0.7), f.p(0.5, 0.6)], fill)
    c.oval(f.r(0.24, 0, 0.76, 0.66), fill)


def _kite(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.line([f.p(0.5, 0.68), f.p(0.4, 0.8), f.p(0.58, 0.88), f.p(0.5, 1)])
    c.poly([f.p(0.5, 0), f.p(0.8, 0.28), f.p(0.5, 0.7), f.p(0.2, 0.28)], fill)
    c.line([f.p(0.5, 0), f.p(0.5, 0.7)])
    c.line([f.p(0.2, 0.28), f.p(0.8, 0.28)])


def _umbrella(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.line([f.p(0.5, 0.1), f.p(0.5, 0.9)], width=4)
    c.arc(f.r(0.34, 0.82, 0.5, 1), 0, 180, width=4)
    c.wedge(f.r(0.06, 0.08, 0.94, 0.96), 180, 360, fill)
    c.line([f.p(0.5, 0.08), f.p(0.33, 0.52)])
    c.line([f.p(0.5, 0.08), f.p(0.67, 0.52)])


def _cat(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    thick = max(9, round(0.085 * (f.at[2] - f.at[0])))
    c.arc(f.r(0.62, 0.3, 0.96, 0.98), -90, 110, line=INK, width=thick)
    c.arc(inset(f.r(0.62, 0.3, 0.96, 0.98), 2), -88, 108, line=fill, width=thick - 4)
    c.oval(f.r(0.26, 0.45, 0.78, 1), fill)
    c.poly([f.p(0.2, 0.34), f.p(0.22, 0.02), f.p(0.38, 0.18)], fill)
    c.poly([f.p(0.62, 0.34), f.p(0.6, 0.02), f.p(0.44, 0.18)], fill)
    c.oval(f.r(0.18, 0.12, 0.64, 0.56), fill)
    for x in (0.28, 0.46):
        c.oval(f.r(x, 0.26, x + 0.09, 0.38), PAPER, width=1)
        c.oval(f.r(x + 0.03, 0.29, x + 0.06, 0.36), INK)
    c.poly([f.p(0.38, 0.41), f.p(0.44, 0.41), f.p(0.41, 0.46)], (230, 140, 150), width=1)


def _bench(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    for x in (0.1, 0.82):
        c.rect(f.r(x, 0.62, x + 0.08, 1), SHADE)
    for y in (0.3, 0.45):
        c.rect(f.r(0, y, 1, y + 0.11), fill)
    c.rect(f.r(0, 0.62, 1, 0.74), fill)


def _flower(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.line([f.p(0.5, 0.4), f.p(0.5, 1)], line=(44, 120, 60), width=5)
    c.oval(f.r(0.5, 0.72, 0.74, 0.84), (44, 150, 70))
    for x, y in ((0.5, 0.14), (0.68, 0.28), (0.61, 0.48), (0.39, 0.48), (0.32, 0.28)):
        c.oval(f.r(x - 0.13, y - 0.13, x + 0.13, y + 0.13), fill)
    c.oval(f.r(0.4, 0.23, 0.6, 0.43), (120, 84, 40))


def _tent(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.poly([f.p(0.5, 0.16), f.p(1, 1), f.p(0, 1)], fill)
    c.poly([f.p(0.5, 0.42), f.p(0.66, 1), f.p(0.34, 1)], (70, 64, 60))


def _car(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.poly([f.p(0.2, 0.58), f.p(0.32, 0.32), f.p(0.7, 0.32), f.p(0.84, 0.58)], fill)
    c.poly([f.p(0.28, 0.56), f.p(0.36, 0.38), f.p(0.49, 0.38), f.p(0.49, 0.56)], _GLASS, width=1)
    c.poly([f.p(0.54, 0.56), f.p(0.54, 0.38), f.p(0.67, 0.38), f.p(0.76, 0.56)], _GLASS, width=1)
    c.rect(f.r(0.02, 0.57, 0.98, 0.86), fill, radius=8)
    for x in (0.16, 0.64):
        c.oval(f.r(x, 0.72, x + 0.22, 1), (60, 60, 64))
        c.oval(f.r(x + 0.07, 0.81, x + 0.15, 0.91), _HUB)


def _bus(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.rect(f.r(0, 0.12, 1, 0.88), fill, radius=8)
    for x in (0.06, 0.25, 0.44, 0.63):
        c.rect(f.r(x, 0.24, x + 0.15, 0.5), _GLASS)
    c.rect(f.r(0.82, 0.24, 0.94, 0.84), _GLASS)
    for x in (0.14, 0.58):
        c.oval(f.r(x, 0.76, x + 0.2, 1), (60, 60, 64))
        c.oval(f.r(x + 0.06, 0.84, x + 0.14, 0.92), _HUB)


def _bicycle(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    for x in (0, 0.58):
        c.oval(f.r(x, 0.5, x + 0.42, 1), None, width=4)
    frame = [f.p(0.21, 0.75), f.p(0.34, 0.42), f.p(0.7, 0.42), f.p(0.48, 0.76), f.p(0.21, 0.75)]
    for width, colour in ((9, INK), (6, fill)):
        c.line(frame, line=colour, width=width)
        c.line([f.p(0.48, 0.76), f.p(0.32, 0.34)], line=colour, width=width)
        c.line([f.p(0.79, 0.75), f.p(0.68, 0.28)], line=colour, width=width)
    c.line([f.p(0.24, 0.33), f.p(0.4, 0.33)], width=6)
    c.line([f.p(0.6, 0.26), f.p(0.8, 0.28)], width=5)


def _mug(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.arc(f.r(0.6, 0.4, 0.98, 0.85), -100, 100, line=INK, width=11)
    c.arc(f.r(0.615, 0.42, 0.965, 0.83), -98, 98, line=fill, width=7)
    c.rect(f.r(0.14, 0.25, 0.74, 1), fill, radius=9)
    c.oval(f.r(0.16, 0.2, 0.72, 0.34), tint(fill, 0.45))


def _bottle(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.rect(f.r(0.42, 0.08, 0.58, 0.4), fill)
    c.rect(f.r(0.29, 0.34, 0.71, 1), fill, radius=9)
    c.rect(f.r(0.4, 0, 0.6, 0.1), _WOOD)
    c.rect(f.r(0.29, 0.56, 0.71, 0.8), PAPER)


def _bowl(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.wedge(f.r(0.02, 0.1, 0.98, 1), 0, 180, fill)
    c.oval(f.r(0.02, 0.46, 0.98, 0.64), tint(fill, 0.45))
    c.rect(f.r(0.34, 0.94, 0.66, 1), fill)


def _book(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.poly([f.p(0.1, 0.9), f.p(0.24, 0.14), f.p(0.94, 0.14), f.p(0.84, 0.9)], fill)
    c.poly([f.p(0.1, 0.9), f.p(0.84, 0.9), f.p(0.84, 1), f.p(0.12, 1)], PAPER)
    c.poly([f.p(0.36, 0.28), f.p(0.78, 0.28), f.p(0.76, 0.42), f.p(0.34, 0.42)], PAPER, width=1)


def _pot(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    for x in (0, 0.86):
        c.rect(f.r(x, 0.52, x + 0.14, 0.62), (90, 90, 94), radius=3)
    c.rect(f.r(0.12, 0.42, 0.88, 1), fill, radius=8)
    c.rect(f.r(0.08, 0.34, 0.92, 0.46), tint(fill, 0.3), radius=4)
    c.rect(f.r(0.43, 0.24, 0.57, 0.34), (90, 90, 94), radius=3)


def _lamp(c: Canvas, f: _SpriteFrame, fill: Rgb) -> None:
    c.rect(f.r(0.46, 0.45, 0.54, 0.9), SHADE)
    c.poly([f.p(0.34, 0.04), f.p(0.66, 0.04), f.p(0.86, 0.5), f.p(0.14, 0.5)], fill)
    c.rect(f.r(0.3, 0.9, 0.7, 1), SHADE, radius=4)


_SPRITES: dict[str, Callable[[Canvas, _SpriteFrame, Rgb], None]] = {
    "ball": _ball, "balloon": _balloon, "kite": _kite, "umbrella": _umbrella, "cat": _cat, "bench": _bench,
    "flower": _flower, "tent": _tent, "car": _car, "bus": _bus, "bicycle": _bicycle, "mug": _mug,
    "bottle": _bottle, "bowl": _bowl, "book": _book, "pot": _pot, "lamp": _lamp,
}  # fmt: skip

PLURALS: dict[str, str] = {
    **{name: name + "s" for name in _SPRITES},
    "bench": "benches",
    "bus": "buses",
}
"""Every thing that can be drawn, and its plural."""


def draw_thing(c: Canvas, name: str, at: Pixels, fill: Rgb) -> None:
    """Draw the named thing inside the region.

    Raises:
        KeyError: if there is no such thing.
    """
    _SPRITES[name](c, _SpriteFrame(at), fill)


def draw_sky(c: Canvas, name: str, at: Pixels, behind: Rgb) -> None:
    """Draw a sun, a moon or a cloud inside the region, before a sky of the colour `behind`."""
    f = _SpriteFrame(at)
    if name == "sun":
        c.regular(at, 12, (252, 200, 40), inner=0.72)
        c.oval(f.r(0.2, 0.2, 0.8, 0.8), (255, 224, 90), line=None)
    elif name == "moon":
        c.oval(f.r(0.1, 0.05, 0.9, 0.95), (246, 240, 200), line=None)
        c.oval(f.r(0.36, -0.02, 1.06, 0.8), behind, line=None)
    else:
        for x, y, r in ((0.24, 0.62, 0.22), (0.5, 0.44, 0.28), (0.76, 0.62, 0.22), (0.5, 0.68, 0.2)):
            c.oval(f.r(x - r, y - r, x + r, y + r), (236, 238, 242), line=None)
