"""Atomic criteria: the JSON array of questions, ground truths, weights and anchors of a judge (ATOM, section 3.1)."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, JsonValue, ValidationInfo

from dokimasia.domain.criterion import WEIGHT_TOTAL, Anchor, Box, Criterion
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.declared import JsonReply, Text, only_value, read_fields
from dokimasia.parsing.examples import FormExample
from dokimasia.parsing.json_finder import objects_of, read_json
from dokimasia.parsing.reply import refuse, short, spoken, tried

CRITERIA_EXAMPLE = FormExample(
    """[{"question": "At what time does the next bus to the harbour leave after 10:20?", "ground_truth": "10:34", \
"weight": 4, "anchor": {"image": 0, "box": [0.31, 0.42, 0.36, 0.45]}, "final": false}, {"question": "Which \
column of the timetable holds on the day of the sign?", "ground_truth": "Sundays, or Sundays and holidays", \
"weight": 3, "anchor": {"image": 1, "box": [0.1, 0.05, 0.9, 0.2]}, "final": false}, {"question": "How long is \
the wait at the harbour stop?", "ground_truth": "14 minutes", "weight": 3, "final": true}]"""
)
PUBLISHED_EXAMPLE = FormExample(
    """[{"question": "Which departure to the harbour does the solution name as the next one?", "ground_truth": \
"10:34", "weight": 4, "anchor": {"image": 0, "box": [0.31, 0.42, 0.36, 0.45]}}, {"question": "Which column of \
the timetable does the solution read?", "ground_truth": "Sundays, or Sundays and holidays", "weight": 3, \
"anchor": {"image": 1, "box": [0.1, 0.05, 0.9, 0.2]}}, {"question": "What waiting time does the solution arrive \
at?", "ground_truth": "14 minutes", "weight": 3}]"""
)

_BOX_NAMES = ("box", "bbox", "bbox_2d")
_Y_FIRST = "box_2d"
"""The field in which models that put the upper edge first (top, left, bottom, right, from 0 to 1000) write a box."""

_MILLE = 1000
_LARGEST = 1_000_000_000
"""The largest number accepted for an edge."""
_FRACTIONS_TO = 1.05
"""Numbers up to this are fractions, whatever the unit: edges slightly outside the image are those of the image."""
_PIXELS = frozenset({"pixels", "pixel", "px"})
_PER_MILLE = frozenset({"0-1000", "0 to 1000", "0..1000", "1000", "per mille"})


class ShownImages(NamedTuple):
    """The images of a sample: their number, and the width and height of each in pixels, if known."""

    number: int
    sizes: Sequence[Sequence[int]] = ()


def _plain(stated: object) -> object:
    """Return a text without white space around it, and an integer as its digits."""
    if isinstance(stated, str):
        return stated.strip()
    if type(stated) is int:
        return str(stated)
    return stated


def _weight(weight: object) -> int:
    if isinstance(weight, float) and weight.is_integer():
        weight = int(weight)
    if type(weight) is not int or not 1 <= weight <= WEIGHT_TOTAL:
        raise ValueError(f"the weight {short(repr(weight))} is not an integer from 1 to {WEIGHT_TOTAL}")
    return weight


def _anchor(value: JsonValue, info: ValidationInfo) -> Anchor:
    """Return an anchor; the whole image if none can be read, since no score depends on an anchor."""
    images: ShownImages = info.context or ShownImages(0)
    if not isinstance(value, dict):
        return Anchor()
    image = value.get("image", 0)
    if type(image) is not int or not 0 <= image < images.number:
        return Anchor()
    size = images.sizes[image] if image < len(images.sizes) else ()
    if _Y_FIRST in value:
        box = _box(value[_Y_FIRST], value.get("unit") or "0-1000", size)
        return Anchor(image=image, box=None if box is None else Box(x0=box.y0, y0=box.x0, x1=box.y1, y1=box.x1))
    corners = next((value[name] for name in _BOX_NAMES if name in value), None)
    return Anchor(image=image, box=_box(corners, value.get("unit"), size))


def _box(corners: JsonValue, unit: JsonValue, size: Sequence[int]) -> Box | None:
    """Return a box of left, upper, right and lower edge, in fractions; None if it is ambiguous.

    Numbers of at most 1.05 are fractions, whatever the unit. Others are in the unit; without one, numbers of at most
    1000 are on a scale of 0 to 1000, and larger ones are pixels. Nothing is read in an unknown unit.
    """
    if not isinstance(corners, list) or len(corners) != 4:
        return None
    numbers = [edge for edge in corners if isinstance(edge, int | float) and not isinstance(edge, bool)]
    if len(numbers) != 4 or not all(0 <= edge <= _LARGEST for edge in numbers):
        return None
    named = "" if unit is None else str(unit).strip().casefold()
    if max(numbers) <= _FRACTIONS_TO:
        scales = [1] * 4
    elif named in _PIXELS or (not named and max(numbers) > _MILLE):
        if len(size) != 2:
            return None
        scales = [size[0], size[1]] * 2
    elif named in _PER_MILLE or not named:
        scales = [_MILLE] * 4
    else:
        return None
    x0, y0, x1, y1 = (min(1.0, edge / scale) for edge, scale in zip(numbers, scales, strict=True))
    if x0 < x1 and y0 < y1:
        return Box(x0=x0, y0=y0, x1=x1, y1=y1)
    return None


_Text = Annotated[Text, BeforeValidator(_plain)]


class CriterionReply(JsonReply):
    """A criterion as a judge writes it; nothing said of whether it is the final answer means that it is not."""

    question: _Text
    ground_truth: _Text
    weight: Annotated[int, BeforeValidator(_weight)]
    anchor: Annotated[Anchor, BeforeValidator(_anchor)] = Anchor()
    final: bool | None = None


def parse_criteria(text: str, *, image_count: int, sizes: Sequence[Sequence[int]] = ()) -> tuple[Criterion, ...]:
    """Return the criteria as the judge wrote them; the rules of a set are checked elsewhere (`check_criteria`).

    Args:
        text: the judge's reply: a JSON array of objects, or an object whose field `criteria` is one. Each has
            `question`, `ground_truth`, `weight` and, optionally, `final`: whether it is the final answer itself; and
            `anchor`: `{"image": 0, "box": [x0, y0, x1, y1]}`, with the box in fractions of width and height, or with
            "unit" in "pixels" or "0-1000". An anchor that cannot be read is the whole image. Other fields are ignored.
        image_count: the number of the sample's images; an anchor counts them from 0.
        sizes: the width and height of each image in pixels, by which boxes in pixels are converted.

    Raises:
        UnparsableReply: there is no such JSON, there are several that differ, or a field has an invalid value. The
            reason names all faults, by criterion and field.
    """
    arrays = read_json(spoken(text), partial(objects_of, named="criteria"))
    rows = only_value(arrays, "JSON array with criteria")
    if len(rows) > WEIGHT_TOTAL:
        raise UnparsableReply(f"there are {len(rows)} criteria, far more than were asked for")
    problems: list[str] = []
    images = ShownImages(image_count, sizes)
    criteria = [tried(problems, _criterion, row, number, images) for number, row in enumerate(rows, start=1)]
    refuse(problems)
    return tuple(criterion for criterion in criteria if criterion is not None)


def _criterion(row: Mapping[str, object], number: int, images: ShownImages) -> Criterion:
    parsed = read_fields(CriterionReply, row, f"criterion {number}", about=images)
    for example in (CRITERIA_EXAMPLE, PUBLISHED_EXAMPLE):
        example.refuse(parsed.question, f"criterion {number}: the question")
    return Criterion(
        question=parsed.question,
        ground_truth=parsed.ground_truth,
        weight=parsed.weight,
        anchor=parsed.anchor,
        final=bool(parsed.final),
    )
