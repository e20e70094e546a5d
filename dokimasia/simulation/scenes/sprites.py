"""Small pictures of everyday things, each drawn inside its region in one named colour."""

from collections.abc import Callable

from dokimasia.simulation.scenes.drawing import INK, PAPER, SHADE, Canvas, Pixels, Point, Rgb, inset, tint

_WOOD: Rgb = (150, 104, 62)
_HUB: Rgb = (206, 206, 210)
_GLASS: Rgb = (196, 226, 240)


class _Frame:
    """A region whose points are named by fractions of its width and height."""

    def __init__(self, at: Pixels) -> None:
        self.at = at

    def p(self, x: float, y: float) -> Point:
        """Return the point at these fractions."""
        return (self.at[0] + x * (self.at[2] - self.at[0]), self.at[1] + y * (self.at[3] - self.at[1]))

    def r(self, x0: float, y0: float, x1: float, y1: float) -> Pixels:
        """Return the region between these fractions."""
        return (*self.p(x0, y0), *self.p(x1, y1))


def _ball(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.oval(f.r(0.18, 0.3, 0.82, 1), fill)
    c.arc(f.r(0.3, 0.3, 1.1, 1), 130, 230, width=2)
    c.arc(f.r(-0.1, 0.3, 0.7, 1), -50, 50, width=2)


def _balloon(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.line([f.p(0.5, 0.66), f.p(0.46, 0.8), f.p(0.54, 0.9), f.p(0.5, 1)])
    c.poly([f.p(0.44, 0.7), f.p(0.56, 0.7), f.p(0.5, 0.6)], fill)
    c.oval(f.r(0.24, 0, 0.76, 0.66), fill)


def _kite(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.line([f.p(0.5, 0.68), f.p(0.4, 0.8), f.p(0.58, 0.88), f.p(0.5, 1)])
    c.poly([f.p(0.5, 0), f.p(0.8, 0.28), f.p(0.5, 0.7), f.p(0.2, 0.28)], fill)
    c.line([f.p(0.5, 0), f.p(0.5, 0.7)])
    c.line([f.p(0.2, 0.28), f.p(0.8, 0.28)])


def _umbrella(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.line([f.p(0.5, 0.1), f.p(0.5, 0.9)], width=4)
    c.arc(f.r(0.34, 0.82, 0.5, 1), 0, 180, width=4)
    c.wedge(f.r(0.06, 0.08, 0.94, 0.96), 180, 360, fill)
    c.line([f.p(0.5, 0.08), f.p(0.33, 0.52)])
    c.line([f.p(0.5, 0.08), f.p(0.67, 0.52)])


def _cat(c: Canvas, f: _Frame, fill: Rgb) -> None:
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


def _bench(c: Canvas, f: _Frame, fill: Rgb) -> None:
    for x in (0.1, 0.82):
        c.rect(f.r(x, 0.62, x + 0.08, 1), SHADE)
    for y in (0.3, 0.45):
        c.rect(f.r(0, y, 1, y + 0.11), fill)
    c.rect(f.r(0, 0.62, 1, 0.74), fill)


def _flower(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.line([f.p(0.5, 0.4), f.p(0.5, 1)], line=(44, 120, 60), width=5)
    c.oval(f.r(0.5, 0.72, 0.74, 0.84), (44, 150, 70))
    for x, y in ((0.5, 0.14), (0.68, 0.28), (0.61, 0.48), (0.39, 0.48), (0.32, 0.28)):
        c.oval(f.r(x - 0.13, y - 0.13, x + 0.13, y + 0.13), fill)
    c.oval(f.r(0.4, 0.23, 0.6, 0.43), (120, 84, 40))


def _tent(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.poly([f.p(0.5, 0.16), f.p(1, 1), f.p(0, 1)], fill)
    c.poly([f.p(0.5, 0.42), f.p(0.66, 1), f.p(0.34, 1)], (70, 64, 60))


def _car(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.poly([f.p(0.2, 0.58), f.p(0.32, 0.32), f.p(0.7, 0.32), f.p(0.84, 0.58)], fill)
    c.poly([f.p(0.28, 0.56), f.p(0.36, 0.38), f.p(0.49, 0.38), f.p(0.49, 0.56)], _GLASS, width=1)
    c.poly([f.p(0.54, 0.56), f.p(0.54, 0.38), f.p(0.67, 0.38), f.p(0.76, 0.56)], _GLASS, width=1)
    c.rect(f.r(0.02, 0.57, 0.98, 0.86), fill, radius=8)
    for x in (0.16, 0.64):
        c.oval(f.r(x, 0.72, x + 0.22, 1), (60, 60, 64))
        c.oval(f.r(x + 0.07, 0.81, x + 0.15, 0.91), _HUB)


def _bus(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.rect(f.r(0, 0.12, 1, 0.88), fill, radius=8)
    for x in (0.06, 0.25, 0.44, 0.63):
        c.rect(f.r(x, 0.24, x + 0.15, 0.5), _GLASS)
    c.rect(f.r(0.82, 0.24, 0.94, 0.84), _GLASS)
    for x in (0.14, 0.58):
        c.oval(f.r(x, 0.76, x + 0.2, 1), (60, 60, 64))
        c.oval(f.r(x + 0.06, 0.84, x + 0.14, 0.92), _HUB)


def _bicycle(c: Canvas, f: _Frame, fill: Rgb) -> None:
    for x in (0, 0.58):
        c.oval(f.r(x, 0.5, x + 0.42, 1), None, width=4)
    frame = [f.p(0.21, 0.75), f.p(0.34, 0.42), f.p(0.7, 0.42), f.p(0.48, 0.76), f.p(0.21, 0.75)]
    for width, colour in ((9, INK), (6, fill)):
        c.line(frame, line=colour, width=width)
        c.line([f.p(0.48, 0.76), f.p(0.32, 0.34)], line=colour, width=width)
        c.line([f.p(0.79, 0.75), f.p(0.68, 0.28)], line=colour, width=width)
    c.line([f.p(0.24, 0.33), f.p(0.4, 0.33)], width=6)
    c.line([f.p(0.6, 0.26), f.p(0.8, 0.28)], width=5)


def _mug(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.arc(f.r(0.6, 0.4, 0.98, 0.85), -100, 100, line=INK, width=11)
    c.arc(f.r(0.615, 0.42, 0.965, 0.83), -98, 98, line=fill, width=7)
    c.rect(f.r(0.14, 0.25, 0.74, 1), fill, radius=9)
    c.oval(f.r(0.16, 0.2, 0.72, 0.34), tint(fill, 0.45))


def _bottle(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.rect(f.r(0.42, 0.08, 0.58, 0.4), fill)
    c.rect(f.r(0.29, 0.34, 0.71, 1), fill, radius=9)
    c.rect(f.r(0.4, 0, 0.6, 0.1), _WOOD)
    c.rect(f.r(0.29, 0.56, 0.71, 0.8), PAPER)


def _bowl(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.wedge(f.r(0.02, 0.1, 0.98, 1), 0, 180, fill)
    c.oval(f.r(0.02, 0.46, 0.98, 0.64), tint(fill, 0.45))
    c.rect(f.r(0.34, 0.94, 0.66, 1), fill)


def _book(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.poly([f.p(0.1, 0.9), f.p(0.24, 0.14), f.p(0.94, 0.14), f.p(0.84, 0.9)], fill)
    c.poly([f.p(0.1, 0.9), f.p(0.84, 0.9), f.p(0.84, 1), f.p(0.12, 1)], PAPER)
    c.poly([f.p(0.36, 0.28), f.p(0.78, 0.28), f.p(0.76, 0.42), f.p(0.34, 0.42)], PAPER, width=1)


def _pot(c: Canvas, f: _Frame, fill: Rgb) -> None:
    for x in (0, 0.86):
        c.rect(f.r(x, 0.52, x + 0.14, 0.62), (90, 90, 94), radius=3)
    c.rect(f.r(0.12, 0.42, 0.88, 1), fill, radius=8)
    c.rect(f.r(0.08, 0.34, 0.92, 0.46), tint(fill, 0.3), radius=4)
    c.rect(f.r(0.43, 0.24, 0.57, 0.34), (90, 90, 94), radius=3)


def _lamp(c: Canvas, f: _Frame, fill: Rgb) -> None:
    c.rect(f.r(0.46, 0.45, 0.54, 0.9), SHADE)
    c.poly([f.p(0.34, 0.04), f.p(0.66, 0.04), f.p(0.86, 0.5), f.p(0.14, 0.5)], fill)
    c.rect(f.r(0.3, 0.9, 0.7, 1), SHADE, radius=4)


_SPRITES: dict[str, Callable[[Canvas, _Frame, Rgb], None]] = {
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


def sprite(c: Canvas, name: str, at: Pixels, fill: Rgb) -> None:
    """Draw the named thing inside the region.

    Raises:
        KeyError: if there is no such thing.
    """
    _SPRITES[name](c, _Frame(at), fill)


def sky(c: Canvas, name: str, at: Pixels, behind: Rgb) -> None:
    """Draw a sun, a moon or a cloud inside the region, before a sky of the colour `behind`."""
    f = _Frame(at)
    if name == "sun":
        c.regular(at, 12, (252, 200, 40), inner=0.72)
        c.oval(f.r(0.2, 0.2, 0.8, 0.8), (255, 224, 90), line=None)
    elif name == "moon":
        c.oval(f.r(0.1, 0.05, 0.9, 0.95), (246, 240, 200), line=None)
        c.oval(f.r(0.36, -0.02, 1.06, 0.8), behind, line=None)
    else:
        for x, y, r in ((0.24, 0.62, 0.22), (0.5, 0.44, 0.28), (0.76, 0.62, 0.22), (0.5, 0.68, 0.2)):
            c.oval(f.r(x - r, y - r, x + r, y + r), (236, 238, 242), line=None)
