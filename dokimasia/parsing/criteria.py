"""Atomic criteria: the JSON array of questions, ground truths, weights and anchors of a judge (ATOM, section 3.1)."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, JsonValue, ValidationInfo

from dokimasia.domain.criterion import WEIGHT_TOTAL, Anchor, Box, Criterion
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.declared import JsonReply, Text, only_value, read_fields
from dokimasia.parsing.json_finder import objects_of, read_json
from dokimasia.parsing.reply import refuse, short, spoken, tried

_WHOLE_IMAGE = frozenset({"whole image", "whole", "the whole image", "whole_image", "image", ""})


def _plain(stated: object) -> object:
    """Return a text without white space around it, and an integer as its digits."""
    if isinstance(stated, str):
        return stated.strip()
    return str(stated) if type(stated) is int else stated


def _weight(weight: object) -> int:
    if isinstance(weight, float) and weight.is_integer():
        weight = int(weight)
    if type(weight) is not int or not 1 <= weight <= WEIGHT_TOTAL:
        raise ValueError(f"the weight {short(repr(weight))} is not an integer from 1 to {WEIGHT_TOTAL}")
    return weight


def _anchor(value: JsonValue, info: ValidationInfo) -> Anchor:
    """Return an anchor; a missing one, or one without a box, is the whole image."""
    image_count: int = info.context or 0
    if value is None or (isinstance(value, str) and value.strip().casefold() in _WHOLE_IMAGE):
        return Anchor()
    if not isinstance(value, dict):
        raise ValueError('the anchor is neither an object nor "whole image"')
    image, box = value.get("image", 0), value.get("box")
    if image is None or image_count == 0:
        image = 0
    if type(image) is not int or not 0 <= image < max(1, image_count):
        raise ValueError(f"the anchor's image {short(repr(image))} is none of the {image_count}, counted from 0")
    if image_count == 0 or box is None or (isinstance(box, str) and box.strip().casefold() in _WHOLE_IMAGE):
        return Anchor(image=image)
    corners = box if isinstance(box, list) else []
    numbers = [float(corner) for corner in corners if isinstance(corner, int | float) and not isinstance(corner, bool)]
    fractions = [number for number in numbers if 0 <= number <= 1]
    if len(corners) != 4 or len(fractions) != 4:
        raise ValueError("the box is not four fractions from 0 to 1, [x0, y0, x1, y1]")
    x0, y0, x1, y1 = fractions
    if x1 <= x0 or y1 <= y0:
        raise ValueError("the box needs x0 < x1 and y0 < y1")
    return Anchor(image=image, box=Box(x0=x0, y0=y0, x1=x1, y1=y1))


_Text = Annotated[Text, BeforeValidator(_plain)]


class CriterionReply(JsonReply):
    """A criterion as a judge writes it; nothing said of whether it is the final answer means that it is not."""

    question: _Text
    ground_truth: _Text
    weight: Annotated[int, BeforeValidator(_weight)]
    anchor: Annotated[Anchor, BeforeValidator(_anchor)] = Anchor()
    final: bool | None = None


def parse_criteria(text: str, *, image_count: int) -> tuple[Criterion, ...]:
    """Return the criteria as the judge wrote them; the rules of a set are checked elsewhere (`check_criteria`).

    Args:
        text: the judge's reply: a JSON array of objects, or an object whose field `criteria` is one. Each has
            `question`, `ground_truth`, `weight` and, optionally, `anchor`: `{"image": 0, "box": [x0, y0, x1, y1]}`
            with the box in fractions of width and height, or "whole image"; and `final`: whether it is the final
            answer itself. Other fields are ignored.
        image_count: how many images the sample has; an anchor counts them from 0.

    Raises:
        UnparsableReply: there is no such JSON, there are several that differ, or a field has an invalid value. The
            reason names all faults, by criterion and field.
    """
    arrays = read_json(spoken(text), partial(objects_of, named="criteria"))
    rows = only_value(arrays, "JSON array with criteria")
    if len(rows) > WEIGHT_TOTAL:
        raise UnparsableReply(f"there are {len(rows)} criteria, far more than were asked for")
    problems: list[str] = []
    criteria = [tried(problems, _criterion, row, number, image_count) for number, row in enumerate(rows, start=1)]
    refuse(problems)
    return tuple(criterion for criterion in criteria if criterion is not None)


def _criterion(row: Mapping[str, object], number: int, image_count: int) -> Criterion:
    parsed = read_fields(CriterionReply, row, f"criterion {number}", about=image_count)
    return Criterion(
        question=parsed.question,
        ground_truth=parsed.ground_truth,
        weight=parsed.weight,
        anchor=parsed.anchor,
        final=bool(parsed.final),
    )
