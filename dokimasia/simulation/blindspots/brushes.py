"""How an edit is painted: one stroke for each dimension of error, on the pixels of any picture."""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from PIL import Image, ImageChops, ImageFilter, ImageOps

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.domain.criterion import Box
from dokimasia.simulation.blindspots.instructions import Instruction, spot_of
from dokimasia.simulation.blindspots.spots import Spot, Spots
from dokimasia.simulation.scenes.drawing import COLOURS, INK, PAPER, SHADE, Canvas, Rgb, inset, union
from dokimasia.simulation.scenes.sprites import PLURALS, sprite

Region = tuple[int, int, int, int]

_GREY: Rgb = (188, 188, 192)
_CROWD = 40


class Painted(NamedTuple):
    """An edited image, and the box in which it was edited; None where that is all over it."""

    image: Image.Image
    box: Box | None


class _Work(NamedTuple):
    """An image being edited, its things, what the instruction is about, and what it is to be."""

    image: Image.Image
    spots: Spots
    thing: Spot
    other: Spot
    fields: dict[str, str]
    rng: Random

    @property
    def canvas(self) -> Canvas:
        return Canvas(on=self.image)

    @property
    def at(self) -> Region:
        return self.pixels(self.thing.box)

    def pixels(self, box: Box) -> Region:
        """Return a box in pixels of the image."""
        wide, high = self.image.size
        left, top = int(box.x0 * wide), int(box.y0 * high)
        return left, top, max(left + 1, round(box.x1 * wide)), max(top + 1, round(box.y1 * high))

    def box(self, at: Region) -> Box:
        """Return a region in pixels as a box, clipped to the image."""
        wide, high = self.image.size
        x0, y0 = max(0.0, at[0] / wide), max(0.0, at[1] / high)
        return Box(
            x0=round(x0, 4), y0=round(y0, 4), x1=round(min(1, at[2] / wide), 4), y1=round(min(1, at[3] / high), 4)
        )


def paint(image: Image.Image, instruction: Instruction, spots: Spots, *, seed: int) -> Painted | None:
    """Edit an image in place and return it; None where the instruction names what is not in it.

    Args:
        image: in RGB.
        instruction: what is to be done.
        spots: what is in the image.
        seed: of what the instruction leaves open.
    """
    found = {
        place: spot_of(spots, instruction.fields[place]) for place in ("thing", "other") if place in instruction.fields
    }
    if None in found.values():
        return None
    thing = found.get("thing") or spots.things[0]
    work = _Work(image, spots, thing, found.get("other") or thing, dict(instruction.fields), Random(seed))
    return Painted(image, _STROKES[instruction.dimension](work))


def _erase(work: _Work, at: Region) -> None:
    """Fill a region with what lies beside it, row by row."""
    left, top, right, bottom = at
    beside = left - 2 if left >= 2 else min(right + 1, work.image.width - 1)
    strip = work.image.crop((beside, top, beside + 1, bottom))
    work.image.paste(strip.resize((right - left, bottom - top)), (left, top))


def _draw(work: _Work, kind: str, at: Region, colour: str) -> None:
    """Draw a thing inside a region; what cannot be drawn is a plain ball."""
    sprite(work.canvas, kind if kind in PLURALS else "ball", inset(at, min(4, (at[2] - at[0]) // 8)), COLOURS[colour])


def _cut(work: _Work, at: Region) -> Image.Image:
    return work.image.crop(at)


def _set(work: _Work, spot: Spot, at: Region) -> None:
    """Set a thing into a region: drawn anew where its kind is known, else as it was cut out before."""
    if spot.kind:
        _draw(work, spot.kind, at, spot.colour)
    else:
        work.image.paste(_cut(work, work.pixels(spot.box)).resize((at[2] - at[0], at[3] - at[1])), at[:2])


def _substitute(work: _Work) -> Box:
    _erase(work, work.at)
    _draw(work, work.fields["kind"], work.at, work.thing.colour or "orange")
    return work.thing.box


def _omit(work: _Work) -> Box:
    _erase(work, work.at)
    return work.thing.box


def _colour(work: _Work) -> Box:
    name = work.fields["colour"] if work.fields["colour"] in COLOURS else "purple"
    if work.thing.kind:
        _erase(work, work.at)
        _draw(work, work.thing.kind, work.at, name)
    else:
        grey = ImageOps.grayscale(_cut(work, work.at))
        work.image.paste(ImageOps.colorize(grey, INK, PAPER, mid=COLOURS[name]), work.at[:2])
    return work.thing.box


def _exchange(work: _Work) -> Box:
    one, other = work.at, work.pixels(work.other.box)
    cuts = _cut(work, one), _cut(work, other)
    for at, spot, cut in ((one, work.other, cuts[1]), (other, work.thing, cuts[0])):
        if spot.kind:
            _erase(work, at)
            _draw(work, spot.kind, at, spot.colour)
        else:
            work.image.paste(cut.resize((at[2] - at[0], at[3] - at[1])), at[:2])
    return union([work.thing.box, work.other.box])


def _grown(work: _Work, times: float) -> Region:
    left, top, right, bottom = work.at
    wide, high = round((right - left) * times), round((bottom - top) * times)
    x = min(max(0, (left + right - wide) // 2), max(0, work.image.width - wide))
    y = min(max(0, bottom - high), max(0, work.image.height - high))
    return x, y, x + wide, y + high


def _enlarge(work: _Work) -> Box:
    at = _grown(work, 2.3)
    if work.thing.kind:
        _erase(work, work.at)
    _set(work, work.thing, at)
    return work.box(at)


def _forbidden(work: _Work) -> Box:
    left, top, right, bottom = work.at
    wide, high = (right - left) * 2 // 3, (bottom - top) * 2 // 3
    x = min(right - wide // 3, work.image.width - wide)
    at = (x, bottom - high, x + wide, bottom)
    _draw(work, work.fields["kind"], at, "pink")
    return work.box(at)


def _unpainted(work: _Work) -> Box:
    at = (work.image.width * 2 // 3, 0, work.image.width, work.image.height)
    work.image.paste((255, 255, 255), at)
    return work.box(at)


def _no_surroundings(work: _Work) -> None:
    cuts = [(work.pixels(one.box), _cut_out(work, one)) for one in work.spots.things]
    work.image.paste(_GREY, (0, 0, *work.image.size))
    for at, cut in cuts:
        work.image.paste(cut.convert("RGB"), at[:2], cut.getchannel("A"))


def _sketch(work: _Work) -> Box:
    at = (0, 0, work.image.width // 2, work.image.height)
    lines = ImageOps.autocontrast(ImageOps.grayscale(_cut(work, at).filter(ImageFilter.CONTOUR)))
    work.image.paste(lines.convert("RGB"), at[:2])
    return work.box(at)


def _rocket(work: _Work) -> Box:
    wide, high = work.image.size
    x, y, unit = wide // 2, high // 2, min(wide, high) // 20
    pen = work.canvas
    pen.poly([(x - 2 * unit, y + 3 * unit), (x, y + 8 * unit), (x + 2 * unit, y + 3 * unit)], (250, 150, 30))
    for side in (-1, 1):
        pen.poly(
            [(x + side * unit, y), (x + side * 4 * unit, y + 4 * unit), (x + side * unit, y + 3 * unit)], (200, 40, 40)
        )
    pen.poly([(x - 2 * unit, y - 4 * unit), (x, y - 8 * unit), (x + 2 * unit, y - 4 * unit)], (200, 40, 40))
    pen.rect((x - 2 * unit, y - 4 * unit, x + 2 * unit, y + 3 * unit), (232, 234, 240))
    pen.oval((x - unit, y - 3 * unit, x + unit, y - unit), (90, 170, 230))
    return work.box((x - 4 * unit, y - 8 * unit, x + 4 * unit, y + 8 * unit))


def _heap(work: _Work) -> None:
    cuts = [_cut_out(work, one) for one in work.spots.things]
    for one in work.spots.things:
        _erase(work, work.pixels(one.box))
    wide, high = work.image.size
    for cut in cuts:
        turned = cut.rotate(work.rng.uniform(30, 330), expand=True)
        x = wide // 2 + work.rng.randint(-wide // 8, wide // 8) - turned.width // 2
        y = high * 3 // 5 + work.rng.randint(-high // 8, high // 8) - turned.height // 2
        work.image.paste(turned.convert("RGB"), (x, y), turned.getchannel("A"))


def _cut_out(work: _Work, spot: Spot) -> Image.Image:
    """A thing by itself, see-through where it is not: drawn anew where its kind is known."""
    at = work.pixels(spot.box)
    if not spot.kind:
        return _cut(work, at).convert("RGBA")
    alone, shape = (Image.new("RGB", (at[2] - at[0], at[3] - at[1]), shade) for shade in ((1, 2, 3), (3, 2, 1)))
    for ground in (alone, shape):
        sprite(Canvas(on=ground), spot.kind, inset((0, 0, *ground.size), 4), COLOURS[spot.colour])
    mask = ImageChops.difference(alone, shape).convert("L").point(lambda one: 0 if one else 255)
    alone.putalpha(mask)
    return alone


def _crowd(work: _Work) -> None:
    kinds, colours = sorted(PLURALS), sorted(COLOURS)
    side = max(12, min(work.image.size) // 8)
    for _ in range(_CROWD):
        x, y = work.rng.randrange(work.image.width - side), work.rng.randrange(work.image.height - side)
        _draw(work, work.rng.choice(kinds), (x, y, x + side, y + side), work.rng.choice(colours))


def _smoke(work: _Work) -> Box:
    left, top, right, bottom = work.at
    unit = (right - left) // 5
    middle, rise = (left + right) // 2, min(top, (bottom - top))
    for step in range(7):
        x = middle + (step % 3 - 1) * unit // 2
        y = top + unit - step * (rise + unit) // 6
        size = unit * (5 + step) // 7
        work.canvas.oval((x - size, y - size, x + size, y + size), (96 + 12 * step,) * 3, line=None)
    return work.box((left, max(0, top - rise), right, bottom))


def _float(work: _Work) -> Box:
    left, top, right, bottom = work.at
    cut = _cut(work, work.at)
    _erase(work, work.at)
    x, y = (work.image.width - (right - left)) // 2, work.image.height // 40
    at = (x, y, x + right - left, y + bottom - top)
    if work.thing.kind:
        _draw(work, work.thing.kind, at, work.thing.colour)
    else:
        work.image.paste(cut, at[:2])
    work.canvas.oval((left, bottom - (bottom - top) // 10, right, bottom), SHADE, line=None)
    return work.box(at)


def _melt(work: _Work) -> Box:
    left, top, right, bottom = work.at
    middle = (top + bottom) // 2
    lower = _cut(work, (left, middle, right, bottom))
    stripe = max(3, (right - left) // 14)
    reach = bottom
    for x in range(0, lower.width, stripe):
        high = round(lower.height * work.rng.uniform(1.05, 1.6))
        column = lower.crop((x, 0, min(x + stripe, lower.width), lower.height)).resize(
            (min(stripe, lower.width - x), high)
        )
        shift = work.rng.randint(-stripe, stripe)
        work.image.paste(column, (left + x + shift, middle))
        reach = max(reach, middle + high)
    return work.box((left - stripe, top, right + stripe, reach))


def _wheels(work: _Work) -> Box:
    left, _, right, bottom = work.at
    side = (right - left) // 3
    for x in (left, right - side):
        at = (x, bottom - side * 2 // 3, x + side, bottom + side // 3)
        work.canvas.rect(at, (60, 60, 64), line=PAPER, width=3)
        work.canvas.rect(inset(at, side / 3), (206, 206, 210))
    return work.box((left, work.at[1], right, bottom + side // 3))


def _cats(work: _Work) -> None:
    side = max(12, min(work.image.size) // 10)
    for number in range(18):
        x = (number % 9) * work.image.width // 9 + work.rng.randrange(side // 2)
        y = work.rng.randrange(work.image.height * 3 // 4)
        for drop in (x + side // 4, x + side * 3 // 4):
            work.canvas.line([(drop, y - side // 2), (drop, y - 4)], line=(70, 110, 190), width=3)
        _draw(work, "cat", (x, y, x + side, y + side), work.rng.choice(("orange", "black", "white")))


def _misspell(work: _Work) -> Box:
    _write(work, work.fields["words"], _wipe(work))
    return work.thing.box


def _break_off(work: _Work) -> Box:
    words = work.thing.words
    _write(work, words[: (len(words) + 1) // 2], _wipe(work), align="left")
    return work.thing.box


def _unborne(work: _Work) -> Box:
    borne = work.spots.written if _adjoin(work.spots) else (work.thing,)
    box = union([one.box for one in borne])
    at = work.pixels(box)
    margin = max(2, (at[3] - at[1]) // 12)
    _erase(work, (max(0, at[0] - margin), max(0, at[1] - margin), at[2] + margin, at[3] + margin))
    for one in borne:
        place = work.pixels(one.box)
        work.canvas.text(inset(place, 6), one.words, size=27, line=_against(work, place), align="centre")
    return box


def _adjoin(spots: Spots) -> bool:
    """Whether the words and the label stand on one board."""
    return spots.board is not None and spots.label is not None and abs(spots.board.box.y1 - spots.label.box.y0) < 0.01


def _wipe(work: _Work) -> Rgb:
    """Wipe the ground of what is written, and return the ink to write with."""
    at = inset(work.at, 5)
    ground = work.image.getpixel((int(at[0]) + 2, int(at[1]) + 2))
    work.canvas.rect(at, ground, line=None)  # pyright: ignore[reportArgumentType]
    return _against(work, work.at)


def _against(work: _Work, at: Region) -> Rgb:
    """Return the ink that can be read before what is in a region."""
    grey = ImageOps.grayscale(_cut(work, at)).resize((1, 1))
    return INK if int(grey.getpixel((0, 0))) > 128 else PAPER  # pyright: ignore[reportArgumentType]


def _write(work: _Work, words: str, ink: Rgb, *, align: str = "centre") -> None:
    work.canvas.text(inset(work.at, 6), words, size=27, line=ink, align=align)


def _warm(work: _Work) -> None:
    red, green, blue = work.image.split()
    warmer = (red.point(lambda one: min(255, round(one * 1.05 + 4))), green, blue.point(lambda one: round(one * 0.9)))
    work.image.paste(Image.merge("RGB", warmer))


_STROKES: dict[str, Callable[[_Work], Box | None]] = {
    "object_substitution": _substitute,
    "object_addition_omission": _omit,
    "attribute_manipulation": _colour,
    "spatial_manipulation": _exchange,
    "scale_distortion": _enlarge,
    "constraint_violation": _forbidden,
    "incomplete_scene": _unpainted,
    "missing_context": _no_surroundings,
    "style_inconsistency": _sketch,
    "theme_conflict": _rocket,
    "disorganized_composition": _heap,
    "overcrowding": _crowd,
    "causal_violation": _smoke,
    "physics_manipulation": _float,
    "state_transformation_failure": _melt,
    "functional_absurdity": _wheels,
    "literalized_idioms": _cats,
    "typographic_corruption": _misspell,
    "incomplete_rendering": _break_off,
    "background_misrendering": _unborne,
    "mislabeled_symbols": _misspell,
    NEUTRAL: _warm,
}
