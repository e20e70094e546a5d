"""Atomic criteria: the JSON array of questions, ground truths, weights and anchors of a judge (ATOM, section 3.1)."""

from collections.abc import Callable
from typing import Any, cast

from dokimasia.domain.criterion import WEIGHT_TOTAL, Anchor, Box, Criterion
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.json_finder import find_json
from dokimasia.parsing.reply import field_text, short, spoken

_WHOLE_IMAGE = frozenset({"whole image", "whole", "the whole image", "whole_image", "image", ""})


def parse_criteria(text: str, *, image_count: int) -> tuple[Criterion, ...]:
    """Return the criteria as the judge wrote them; whether the set keeps its rules is checked elsewhere.

    Args:
        text: the judge's reply: a JSON array of objects, or an object whose field `criteria` is one. Each has
            `question`, `ground_truth`, `weight` and, if it likes, `anchor`: `{"image": 0, "box": [x0, y0, x1, y1]}`
            with the box in fractions of width and height, or "whole image"; and `final`: whether it is the final
            answer itself. Other fields are overlooked.
        image_count: how many images the sample has; an anchor counts them from 0.

    Raises:
        UnparsableReply: there is no such JSON, there are different ones, or a field does not hold what it should. The
            reason names all that is wrong, by criterion and field.
    """
    found = find_json(spoken(text), lambda value: _rows(value) is not None)
    if not found:
        raise UnparsableReply("there is no complete JSON array of criteria")
    rows = _rows(found[0]) or []
    if any(_rows(other) != rows for other in found[1:]):
        raise UnparsableReply("there is more than one JSON array of criteria, and they differ")
    if len(rows) > WEIGHT_TOTAL:
        raise UnparsableReply(f"there are {len(rows)} criteria, far more than were asked for")
    criteria: list[Criterion] = []
    problems: list[str] = []
    for number, row in enumerate(rows, start=1):
        try:
            criteria.append(_criterion(row, number, image_count))
        except UnparsableReply as problem:
            problems.append(problem.reason)
    if problems:
        raise UnparsableReply("; ".join(problems))
    return tuple(criteria)


def _rows(value: Any) -> list[dict[str, Any]] | None:
    """Return the objects of a criteria array, bare or under `criteria`; None if the value is something else."""
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value).get("criteria")
    if not isinstance(value, list) or not value:
        return None
    rows = cast("list[Any]", value)
    return rows if all(isinstance(row, dict) for row in rows) else None


def _criterion(row: dict[str, Any], number: int, image_count: int) -> Criterion:
    reads: dict[str, Callable[[], Any]] = {
        "question": lambda: _text(row, "question", number),
        "ground_truth": lambda: _text(row, "ground_truth", number),
        "weight": lambda: _weight(row.get("weight"), number),
        "anchor": lambda: _anchor(row.get("anchor"), number, image_count),
        "final": lambda: _final(row.get("final"), number),
    }
    fields: dict[str, Any] = {}
    problems: list[str] = []
    for name, read in reads.items():
        try:
            fields[name] = read()
        except UnparsableReply as problem:
            problems.append(problem.reason)
    if problems:
        raise UnparsableReply("; ".join(problems))
    return Criterion(**fields)


def _weight(weight: Any, number: int) -> int:
    if isinstance(weight, float) and weight.is_integer():
        weight = int(weight)
    if type(weight) is not int or not 1 <= weight <= WEIGHT_TOTAL:
        raise UnparsableReply(
            f"criterion {number}: the weight {short(repr(weight))} is not an integer from 1 to {WEIGHT_TOTAL}"
        )
    return weight


def _final(final: Any, number: int) -> bool:
    """Read whether it is the final answer; nothing said means no."""
    if final is None or isinstance(final, bool):
        return bool(final)
    raise UnparsableReply(f"criterion {number}: 'final' is {short(repr(final))}, neither true nor false")


def _text(row: dict[str, Any], field: str, number: int) -> str:
    value: object = row.get(field)
    value = str(value) if type(value) is int else value
    return field_text(value, field, f"criterion {number}").strip()


def _anchor(value: Any, number: int, image_count: int) -> Anchor:
    """Read an anchor; none at all, or one that names no box, is the whole image."""
    if value is None or (isinstance(value, str) and value.strip().casefold() in _WHOLE_IMAGE):
        return Anchor()
    if not isinstance(value, dict):
        raise UnparsableReply(f'criterion {number}: the anchor is neither an object nor "whole image"')
    fields = cast("dict[str, Any]", value)
    image, box = fields.get("image", 0), fields.get("box")
    if image is None or image_count == 0:
        image = 0
    if type(image) is not int or not 0 <= image < max(1, image_count):
        raise UnparsableReply(
            f"criterion {number}: the anchor's image {short(repr(image))} is none of the {image_count}, counted from 0"
        )
    if image_count == 0 or box is None or (isinstance(box, str) and box.strip().casefold() in _WHOLE_IMAGE):
        return Anchor(image=image)
    corners = cast("list[Any]", box) if isinstance(box, list) else []
    if len(corners) != 4 or not all(type(corner) in (int, float) and 0 <= corner <= 1 for corner in corners):
        raise UnparsableReply(f"criterion {number}: the box is not four fractions from 0 to 1, [x0, y0, x1, y1]")
    x0, y0, x1, y1 = (float(corner) for corner in corners)
    if x1 <= x0 or y1 <= y0:
        raise UnparsableReply(f"criterion {number}: the box needs x0 < x1 and y0 < y1")
    return Anchor(image=image, box=Box(x0=x0, y0=y0, x1=x1, y1=y1))
