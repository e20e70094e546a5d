"""Visibility for a near-sighted judge: what is large enough in an image, and which regions need enlargement."""

from collections.abc import Iterable, Sequence

import orjson

from dokimasia.domain.call import ChatReply, ToolCall, ToolSpec
from dokimasia.domain.criterion import Box
from dokimasia.simulation.draws import tool_reply

ImagePart = tuple[float, float, float, float]
"""The displayed part (x0, y0, x1, y1) of a scene, as fractions of the whole."""

WHOLE: ImagePart = (0.0, 0.0, 1.0, 1.0)
_MARGIN = 0.05
_TOLERANCE = 0.002
_ENLARGING = ("zoom", "crop")


def makes_out(sight: float, box: Box | None, parts: Iterable[ImagePart]) -> bool:
    """Return whether the content of a box is visible in any of the images.

    It is visible if an image shows the whole box, and the box is at least the share `sight` of that image's area. Without a
    box, it always is.
    """
    if sight <= 0 or box is None:
        return True
    area = (box.x1 - box.x0) * (box.y1 - box.y0)
    return any(_contains(part, box) and area >= sight * (part[2] - part[0]) * (part[3] - part[1]) for part in parts)


def ask_to_enlarge(
    tools: Sequence[ToolSpec], boxes: Iterable[Box | None], image: int, part: ImagePart, key: str
) -> ChatReply | None:
    """Return a reply that requests enlarged regions; None if no offered tool can do so.

    Args:
        tools: the offered tools.
        boxes: the regions that are too small; None is ignored.
        image: number of the image.
        part: the displayed part of the scene.
        key: the request's hash, from which the calls get their ids.
    """
    tool = next((name for name in _ENLARGING if any(offered.name == name for offered in tools)), None)
    hidden = dict.fromkeys(box for box in boxes if box is not None)
    regions = [region for box in hidden if (region := box_in_part(box, part, margin=_MARGIN)) is not None]
    if tool is None or not regions:
        return None
    calls = tuple(
        ToolCall(
            id=f"call_{key[:12]}_{number}",
            name=tool,
            arguments=orjson.dumps({"image": image, "box": region}).decode(),
        )
        for number, region in enumerate(regions)
    )
    return tool_reply(calls)


def _contains(part: ImagePart, box: Box) -> bool:
    return (
        part[0] <= box.x0 + _TOLERANCE
        and part[1] <= box.y0 + _TOLERANCE
        and part[2] >= box.x1 - _TOLERANCE
        and part[3] >= box.y1 - _TOLERANCE
    )


def box_in_part(box: Box, part: ImagePart, *, margin: float = 0.0) -> list[float] | None:
    """Return a box of the scene, enlarged by a margin, as fractions of an image of a part; None if it is outside."""
    wide, high = part[2] - part[0], part[3] - part[1]
    more_x, more_y = margin * (box.x1 - box.x0), margin * (box.y1 - box.y0)
    edges = (
        (box.x0 - more_x - part[0]) / wide,
        (box.y0 - more_y - part[1]) / high,
        (box.x1 + more_x - part[0]) / wide,
        (box.y1 + more_y - part[1]) / high,
    )
    x0, y0, x1, y1 = (round(min(1.0, max(0.0, edge)), 4) for edge in edges)
    if x0 < x1 and y0 < y1:
        return [x0, y0, x1, y1]
    return None
