"""Edits of pictures: instructions, how they are painted, and the simulated image models that carry them out.

What an edit planted in a picture stands in its metadata, and is read out of them again. A judge that is sent a picture
tells by `faults_in_image` in which dimensions it is at fault. Edits that take nothing from a picture leave it without a
fault.

"""

import hashlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

import orjson
from PIL import Image, ImageChops, ImageFilter, ImageOps
from pydantic import Field, ValidationError

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.domain.call import ChatReply, ImageEdit, Usage
from dokimasia.domain.criterion import Box
from dokimasia.domain.identity import Value
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import NotFound
from dokimasia.simulation.candidates import REFUSAL
from dokimasia.simulation.draws import IMAGE_TOKENS, Draws, bare_name, count_tokens, request_hash
from dokimasia.simulation.panel import CHATTER, draw_slip
from dokimasia.simulation.picture import read_metadata, read_scene, with_metadata
from dokimasia.simulation.picture_content import PictureFact, content_of_scene
from dokimasia.simulation.profiles import JudgeProfile, Profile, as_judge
from dokimasia.simulation.requests import read_json
from dokimasia.simulation.scene import Scene
from dokimasia.simulation.scenes.drawing import (
    COLOUR_NAMES,
    COLOURS,
    INK,
    PAPER,
    PLURALS,
    SHADE,
    Canvas,
    Rgb,
    draw_thing,
    inset,
    union,
)

_MOST_SPOTS = 8
_LARGEST, _SMALLEST = 0.12, 0.005
"""Shares of a picture between which a fact's region is taken for that of a thing."""

_THIRDS = ("left", "middle", "right")
_LEVELS = ("upper", "central", "lower")


class Spot(NamedTuple):
    """A thing of a picture: how it is called, where it is, its kind and colour where they are known, and its writing."""

    name: str
    box: Box
    kind: str = ""
    colour: str = ""
    words: str = ""


class Spots(NamedTuple):
    """All that edits can be about: things, and what stands in writing.

    `board` and `label` bear words, and `mislabel` would be wrong on the label; None where no writing is known to stand in
    the picture. `absent` are kinds of things that are not in it.
    """

    things: tuple[Spot, ...]
    absent: tuple[str, ...] = ("bench", "balloon", "lamp")
    board: Spot | None = None
    label: Spot | None = None
    mislabel: str = ""

    @property
    def written(self) -> tuple[Spot, ...]:
        """What bears writing."""
        return tuple(spot for spot in (self.board, self.label) if spot is not None)


def spots_of(picture: bytes) -> Spots:
    """Return what edits of a picture can be about: of a planted scene its things, of any other picture nine parts of it."""
    sighting = read_scene(picture)
    if sighting is None or sighting[1] != (0.0, 0.0, 1.0, 1.0):
        return Spots(_nine_parts())
    scene = sighting[0]
    return spots_of_scene(scene) if is_natural(scene) else _spots_of_facts(scene) or Spots(_nine_parts())


def is_natural(scene: Scene) -> bool:
    """Whether a scene consists of things that stand side by side, so that a prompt can ask for it to be drawn."""
    return scene.domain == "natural"


def spots_of_scene(scene: Scene) -> Spots:
    """Return what edits of a natural scene can be about."""
    facts = {fact.id: fact for fact in scene.facts}
    things = tuple(
        Spot(
            f"{facts[id.replace('.kind', '.colour')].value} {fact.value}",
            fact.box,
            fact.value,
            facts[id.replace(".kind", ".colour")].value,
        )
        for id, fact in facts.items()
        if id.endswith(".kind")
    )
    sign, number = facts["sign.text"], facts["sign.number"]
    kinds = {spot.kind for spot in things}
    absent = tuple(kind for kind in ("bench", "lamp", "balloon", "mug", "kite", "bus") if kind not in kinds)
    return Spots(
        things,
        absent[:3],
        Spot(f"words on the {sign.subject}", sign.box, words=sign.value),
        Spot(f"number on the {sign.subject}", number.box, words=number.value),
        str((int(number.value) + 37) % 90 + 10),
    )


def _spots_of_facts(scene: Scene) -> Spots | None:
    """Return facts of a scene whose regions are of the size of a thing and do not overlap, called as descriptions do.

    The first two of them whose values begin with letters are what bears writing.
    """
    facts = {(point.value, point.subject): point for point in content_of_scene(scene).points}
    spots: dict[Spot, PictureFact] = {}
    for fact in scene.facts:
        point = facts.get((fact.value, fact.subject))
        area = (fact.box.x1 - fact.box.x0) * (fact.box.y1 - fact.box.y0)
        if point is None or not _SMALLEST <= area <= _LARGEST or any(_overlap(fact.box, spot.box) for spot in spots):
            continue
        spots[Spot(f"{point.attribute} of the {point.subject}", fact.box)] = point
    things = tuple(spots)[:_MOST_SPOTS]
    if len(things) < 2:
        return None
    words = [spot._replace(words=spots[spot].value) for spot in things if spots[spot].value[:3].isalpha()]
    if len(words) < 2:
        return Spots(things)
    board, label = words[:2]
    mislabel = next(point.false[0] for spot, point in spots.items() if spot.name == label.name)
    return Spots(things, board=board, label=label, mislabel=mislabel)


def _nine_parts() -> tuple[Spot, ...]:
    return tuple(
        Spot(
            f"{level} {side} part",
            Box(x0=column / 3 + 0.08, y0=row / 3 + 0.08, x1=(column + 1) / 3 - 0.08, y1=(row + 1) / 3 - 0.08),
        )
        for row, level in enumerate(_LEVELS)
        for column, side in enumerate(_THIRDS)
    )


def _overlap(box: Box, other: Box) -> bool:
    return box.x0 < other.x1 and other.x0 < box.x1 and box.y0 < other.y1 and other.y0 < box.y1


INSTRUCTION_FORMS: Mapping[str, str] = {
    "object_substitution": "Replace the {thing} by a {kind} of about the same size.",
    "object_addition_omission": "Remove the {thing}, and leave its place empty.",
    "attribute_manipulation": "Give the {thing} the colour {colour}.",
    "spatial_manipulation": "Let the {thing} and the {other} change places.",
    "scale_distortion": "Make the {thing} more than twice as large as it is, and nothing else.",
    "constraint_violation": "Although there is to be none, put a {kind} close to the {thing}.",
    "incomplete_scene": "Leave the right third of the picture unpainted.",
    "missing_context": "Take away all that is around the things and the writing, and set them before a plain grey ground.",
    "style_inconsistency": "Draw the left half of the picture as a sketch in black and white, and keep the other half.",
    "theme_conflict": "Put a space rocket that takes off into the middle of the picture.",
    "disorganized_composition": "Throw all things into one disorderly heap in the middle.",
    "overcrowding": "Crowd the picture with some forty more things, wherever there is room and where there is none.",
    "causal_violation": "Let thick smoke rise from the {thing}, though nothing burns.",
    "physics_manipulation": "Let the {thing} hang high in the air, where nothing holds it.",
    "state_transformation_failure": "Let the lower half of the {thing} melt and run down, and its upper half stay as it was.",
    "functional_absurdity": "Set the {thing} on two square wheels.",
    "literalized_idioms": "Let it rain cats, as the saying has it: small cats that fall from the sky.",
    "typographic_corruption": 'Misspell the {thing}, so that there stands "{words}".',
    "incomplete_rendering": "Let the {thing} break off in the middle, and leave the rest of the place empty.",
    "background_misrendering": "Take away what bears the {thing}, so that there is nothing behind them.",
    "mislabeled_symbols": 'Let the {thing} be "{words}" in the place of what is right.',
    NEUTRAL: "Let the light of the whole picture be a little warmer, and change nothing else.",
}
"""By dimension; `{thing}` and `{other}` are in the picture, the rest is what it is to be."""

_OF_WRITING = ("typographic_corruption", "incomplete_rendering", "background_misrendering", "mislabeled_symbols")

_ANOTHER = re.compile(r"make another image to the same text\b", re.IGNORECASE)
_SLOTS = {"kind": r"[a-z ]{1,40}", "colour": r"[a-z]{1,20}", "words": r'[^"\n]{1,80}'}
_THING = r'[^".\n]{1,140}?'


class EditInstruction(NamedTuple):
    """An instruction that was understood: the dimension of the error that it plants, and what stands in its places."""

    dimension: str
    fields: Mapping[str, str]


def write_instruction(dimension: str, spots: Spots, draws: Draws) -> EditInstruction | None:
    """Return an instruction for a picture with these spots; None where it has nothing that could be edited so."""
    if dimension not in INSTRUCTION_FORMS:
        return None
    if dimension in _OF_WRITING:
        return _instruction_for_writing(dimension, spots)
    # What flies anyway does not show that nothing holds it.
    usable = [
        spot for spot in spots.things if dimension != "physics_manipulation" or spot.kind not in ("balloon", "kite")
    ]
    thing = draws.pick(usable or spots.things, "thing", dimension)
    others = [spot for spot in spots.things if spot != thing and (spot.kind != thing.kind or not thing.kind)]
    fields = {"thing": thing.name}
    if dimension == "spatial_manipulation":
        fields["other"] = draws.pick(others or spots.things, "other").name
    elif dimension in ("object_substitution", "constraint_violation"):
        fields["kind"] = draws.pick(spots.absent, "kind")
    elif dimension == "attribute_manipulation":
        colours = {spot.colour for spot in spots.things if spot.kind == thing.kind} - {""}
        fields["colour"] = draws.pick([name for name in COLOUR_NAMES if name not in colours], "colour")
    used = {name: value for name, value in fields.items() if f"{{{name}}}" in INSTRUCTION_FORMS[dimension]}
    return EditInstruction(dimension, used)


def _instruction_for_writing(dimension: str, spots: Spots) -> EditInstruction | None:
    if spots.board is None or spots.label is None:
        return None
    if dimension == "mislabeled_symbols":
        return EditInstruction(dimension, {"thing": spots.label.name, "words": spots.mislabel})
    words = {"words": misspell(spots.board.words)} if dimension == "typographic_corruption" else {}
    return EditInstruction(dimension, {"thing": spots.board.name, **words})


def instruction_text(instruction: EditInstruction) -> str:
    """Return an instruction as a sentence."""
    return INSTRUCTION_FORMS[instruction.dimension].format(**instruction.fields)


def read_instruction(text: str) -> EditInstruction | None:
    """Return the first instruction of a form that is known in a text, or None; another image has another light."""
    plain = " ".join(text.split())
    if _ANOTHER.match(plain):
        return EditInstruction(NEUTRAL, {})
    for dimension, pattern in _patterns().items():
        if match := pattern.search(plain):
            return EditInstruction(dimension, match.groupdict())
    return None


def misspell(words: str) -> str:
    """Return words with a letter doubled, two exchanged and one left out, as far as they have letters for it."""
    letters = list(words)
    places = [at for at, letter in enumerate(letters) if letter.isalpha()]
    if len(places) > 3:
        first, second = places[1], places[2]
        letters[first], letters[second] = letters[second], letters[first]
        letters[places[-2]] = ""
    letters[places[-1] if places else 0] *= 2
    changed = "".join(letters)
    return changed if changed != words else f"{words}x"


def find_spot(spots: Spots, name: str) -> Spot | None:
    """Return what in the picture an instruction calls so, whatever its case."""
    return next((spot for spot in (*spots.written, *spots.things) if spot.name.casefold() == name.casefold()), None)


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    patterns: dict[str, re.Pattern[str]] = {}
    for dimension, form in INSTRUCTION_FORMS.items():
        pieces = re.split(r"\{(\w+)\}", form)
        pattern = "".join(
            re.escape(piece) if at % 2 == 0 else f"(?P<{piece}>{_SLOTS.get(piece, _THING)})"
            for at, piece in enumerate(pieces)
        )
        patterns[dimension] = re.compile(pattern, re.IGNORECASE)
    return patterns


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


def paint(image: Image.Image, instruction: EditInstruction, spots: Spots, *, seed: int) -> Painted | None:
    """Edit an image in place and return it; None where the instruction names what is not in it.

    Args:
        image: in RGB.
        instruction: what is to be done.
        spots: what is in the image.
        seed: of what the instruction leaves open.
    """
    found = {
        place: find_spot(spots, instruction.fields[place])
        for place in ("thing", "other")
        if place in instruction.fields
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
    draw_thing(
        work.canvas, kind if kind in PLURALS else "ball", inset(at, min(4, (at[2] - at[0]) // 8)), COLOURS[colour]
    )


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
    cuts = [(work.pixels(one.box), _cut_out(work, one)) for one in (*work.spots.things, *work.spots.written)]
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
        draw_thing(Canvas(on=ground), spot.kind, inset((0, 0, *ground.size), 4), COLOURS[spot.colour])
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
        work.canvas.oval((x - size, y - size, x + size, y + size), _grey(96 + 12 * step), line=None)
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
        high = round(lower.height * work.rng.uniform(1.1, 2.1))
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
    lighter = [min(255, round(level * 1.05 + 4)) for level in range(256)]
    duller = [round(level * 0.9) for level in range(256)]
    work.image.paste(Image.merge("RGB", (red.point(lighter), green, blue.point(duller))))


def _grey(level: int) -> Rgb:
    return level, level, level


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


_MOST_EDITS = 50
_WHOLE_IMAGE: Mapping[str, Any] = {"box": [0.0, 0.0, 1.0, 1.0]}


class PlantedEdit(NamedTuple):
    """One edit of a picture: the dimension of the error that it planted, where in the whole scene, and in what words.

    `box` is None where the edit is all over the picture.
    """

    dimension: str
    box: Box | None = None
    words: str = ""


def faults_in_image(picture: bytes) -> tuple[str, ...]:
    """Return the dimensions that a picture is at fault in, each once and in order; none for a picture nobody edited.

    Never raises, whatever the bytes are.
    """
    return tuple(dict.fromkeys(edit.dimension for edit in read_edits(picture) if edit.dimension != NEUTRAL))


def read_edits(picture: bytes) -> tuple[PlantedEdit, ...]:
    """Return the edits of a picture, in order, those that planted no fault among them. Never raises."""
    listed = (read_metadata(picture) or {}).get("edits")
    if not isinstance(listed, list):
        return ()
    return tuple(edit for row in listed[:_MOST_EDITS] if (edit := _read_edit(row)) is not None)


def edit_image(picture: bytes, instruction: EditInstruction, *, seed: int = 0) -> bytes | None:
    """Return a picture as a PNG edited as an instruction says; None where it names what is not in the picture.

    Equal pictures, instructions and seeds give equal bytes. The scene and all earlier edits go along.
    """
    spots = spots_of(picture)
    with Image.open(io.BytesIO(picture)) as opened:
        image = opened.convert("RGB")
    done = paint(image, instruction, spots, seed=seed)
    if done is None:
        return None
    return save_with_edits(
        done.image, picture, [PlantedEdit(instruction.dimension, done.box, instruction_text(instruction))]
    )


def save_with_edits(image: Image.Image, picture: bytes, edits: list[PlantedEdit]) -> bytes:
    """Return an image as PNG bytes that say what the picture said that it was made from, and which edits came to it."""
    body = {**_WHOLE_IMAGE, **(read_metadata(picture) or {})}
    rows = [_edit_row(edit) for edit in (*read_edits(picture), *edits)]
    written = io.BytesIO()
    image.save(written, "PNG", compress_level=4)
    return with_metadata(written.getvalue(), {**body, "edits": rows} if rows else body)


def image_reference(png: bytes) -> ImageRef:
    """Return a reference to a PNG."""
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        width, height = image.size
    return ImageRef(sha256=hashlib.sha256(png).hexdigest(), media_type="image/png", width=width, height=height)


def _edit_row(edit: PlantedEdit) -> dict[str, Any]:
    box = None if edit.box is None else [edit.box.x0, edit.box.y0, edit.box.x1, edit.box.y1]
    return {"dimension": edit.dimension, "box": box, "words": edit.words}


def _read_edit(row: Any) -> PlantedEdit | None:
    if not isinstance(row, dict) or not isinstance(row.get("dimension"), str):
        return None
    box = None
    try:
        if row.get("box") is not None:
            box = Box(**dict(zip(("x0", "y0", "x1", "y1"), row["box"], strict=True)))
    except (ValidationError, ValueError, TypeError):
        return None
    return PlantedEdit(row["dimension"], box, str(row.get("words", "")))


EDITING_PROMPTS = ("edit_instruction", "edit_check")
"""The prompts that are answered here."""

_STRAY = ("incomplete_scene", "overcrowding", "style_inconsistency")
"""What a careless image model does to an image without being told."""


class EditorProfile(Value):
    """A simulated image model; of its rates at most one thing happens to an edit.

    It gives the image back as it was with probability `idles`, does something else as well with probability `strays`, and
    refuses with probability `refuses`.
    """

    name: str = Field(pattern=r"^sim/[a-z0-9-]+$")
    idles: float = Field(default=0.0, ge=0, le=1)
    strays: float = Field(default=0.0, ge=0, le=1)
    refuses: float = Field(default=0.0, ge=0, le=1)


EDITORS: Mapping[str, EditorProfile] = {
    profile.name: profile
    for profile in (
        EditorProfile(name="sim/editor"),
        EditorProfile(name="sim/editor-careless", idles=0.2, strays=0.25, refuses=0.05),
    )
}
"""The image models that ship, by name. They edit images and answer nothing else."""


def edit_by_model(call: ImageEdit, image: bytes) -> tuple[bytes | None, Usage]:
    """Return the edited image as PNG bytes, or None where the model refuses, and the tokens of both.

    What it does not understand, and what names nothing in the image, it leaves as it is.

    Raises:
        NotFound: no simulated image model has that name.
    """
    name = bare_name(call.model.model)
    if name not in EDITORS:
        raise NotFound(f"no simulated image model is called {name!r}; there are: {', '.join(EDITORS)}")
    profile, draws = EDITORS[name], Draws(request_hash(call))
    usage = Usage(input_tokens=IMAGE_TOKENS + count_tokens(call.instruction), output_tokens=IMAGE_TOKENS)
    fate = draws.unit("fate")
    if fate < profile.refuses:
        return None, usage.model_copy(update={"output_tokens": 0})
    instruction = read_instruction(call.instruction)
    if instruction is None or fate < profile.refuses + profile.idles:
        return image, usage
    result = edit_image(image, instruction, seed=int(draws.unit("seed") * 2**31)) or image
    if result is not image and fate < profile.refuses + profile.idles + profile.strays:
        stray = write_instruction(
            draws.pick([dimension for dimension in _STRAY if dimension != instruction.dimension], "stray"),
            spots_of(result),
            draws,
        )
        result = (edit_image(result, stray) if stray else None) or result
    return result, usage


def editing_reply(
    profile: Profile, prompt: str, inputs: Mapping[str, str], images: Sequence[bytes], draws: Draws
) -> ChatReply:
    """Return the reply of a model that is to write an instruction for an image, or to look at what came of one."""
    judge = as_judge(profile)
    slip = draw_slip(judge, draws)
    if slip == "refuses" or draws.chance(judge.refusal, "refusal"):
        return ChatReply(text=REFUSAL, refusal=REFUSAL, finish_reason="stop", native_finish_reason="stop")
    fields = None
    if slip is None and images and not draws.chance(judge.format_noise, "noise"):
        fields = (
            _instruction_reply(inputs, images[0], draws)
            if prompt == "edit_instruction"
            else _edit_check(judge, inputs, images, draws)
        )
    text = CHATTER if fields is None else orjson.dumps(fields).decode()
    return ChatReply(text=text, finish_reason="stop", native_finish_reason="stop")


def _instruction_reply(inputs: Mapping[str, str], image: bytes, draws: Draws) -> dict[str, str] | None:
    described = read_json(inputs["dimension"])
    kind = str(described[0].get("kind")) if isinstance(described, list) and described else ""
    if kind not in INSTRUCTION_FORMS:
        return None
    instruction = write_instruction(kind, spots_of(image), draws)
    if instruction is None:
        return {"unsuited": "No words stand in the picture."}
    return {
        "instruction": instruction_text(instruction),
        "change": f"What was asked for is shown otherwise: {_named_fields(instruction.fields)}.",
    }


def _named_fields(fields: Mapping[str, str]) -> str:
    return ", ".join(fields.values()) or "the whole picture"


def _edit_check(
    judge: JudgeProfile, inputs: Mapping[str, str], images: Sequence[bytes], draws: Draws
) -> dict[str, object]:
    """What is seen of an edit: of a picture that says what was done to it that, of any other that it was done."""
    done, alone = True, True
    instruction = read_instruction(inputs["instruction"])
    if len(images) > 1 and instruction is not None:
        new = [edit.dimension for edit in read_edits(images[1])][len(read_edits(images[0])) :]
        done, alone = instruction.dimension in new, set(new) <= {instruction.dimension}
    if not (done and alone) and not draws.chance(judge.detects_missing, "sees"):
        done = alone = True
    elif done and alone and draws.chance(judge.false_alarm, "false-alarm"):
        alone = False
    return {"seen": "The two pictures were compared part by part.", "done": done, "alone": alone}
