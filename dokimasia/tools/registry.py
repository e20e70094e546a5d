"""The tools by name: their descriptions for models, parsing of requests, and their execution."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson
from pydantic import JsonValue

from dokimasia.domain.call import ToolSpec
from dokimasia.domain.criterion import Box
from dokimasia.errors import ConfigError, ToolFailure
from dokimasia.tools.colours import measure_colour
from dokimasia.tools.comparing import compare_regions
from dokimasia.tools.cutting import MAX_FACTOR, crop, zoom
from dokimasia.tools.pictures import ToolResult
from dokimasia.tools.reading import can_read, read_text
from dokimasia.tools.shapes import count_shapes

VERSION = 1
"""The version of the tools' results; part of the identity of a run that uses tools."""

ALL = "all"
MAX_ARGUMENTS = 2000
"""The maximum number of characters of a request's arguments."""

_IMAGE: JsonValue = {"type": "integer", "description": "which image, counted from 0 in the order they are shown"}
_BOX: JsonValue = {
    "type": "array",
    "items": {"type": "number"},
    "description": "the region: [x0, y0, x1, y1], fractions of width and height (0 to 1) from the upper left corner",
}
_FACTOR: JsonValue = {"type": "number", "description": f"how many times to enlarge, 1 to {MAX_FACTOR:g}"}


@dataclass(frozen=True, slots=True)
class Request:
    """A model's checked request to a tool: regions as (number of the image, box)."""

    tool: str
    regions: tuple[tuple[int, Box], ...]
    factor: float | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its description for a model, its number of regions, and its function.

    `run` receives, for each region, the bytes of its image and its box, and the factor, if given.
    """

    spec: ToolSpec
    regions: int
    run: Callable[..., ToolResult]


def available() -> tuple[str, ...]:
    """Return the tools that work on this machine: all, except `read_text` if Tesseract is not installed."""
    return tuple(name for name in TOOLS if name != "read_text" or can_read())


def select_tools(names: Sequence[str]) -> tuple[str, ...]:
    """Return the named tools in their fixed order; `all` means those that work on this machine.

    Raises:
        ConfigError: there is no such tool; the message lists the existing ones.
    """
    requested = {name.strip() for name in names if name.strip()}
    unknown = sorted(requested - set(TOOLS) - {ALL})
    if unknown:
        raise ConfigError(f"no tool is called {unknown[0]!r}; there are: {', '.join(TOOLS)}, or {ALL}")
    chosen = requested | set(available()) if ALL in requested else requested
    return tuple(name for name in TOOLS if name in chosen)


def read_request(name: str, arguments: str, *, images: int, offered: Sequence[str] | None = None) -> Request:
    """Return a model's request to a tool, parsed and checked.

    Args:
        name: the tool's name in the model's spelling.
        arguments: the JSON text from the model.
        images: the number of images.
        offered: the permitted tools; by default all.

    Raises:
        ToolFailure: there is no such tool or image, the arguments cannot be read, or a region is empty or outside.
    """
    usable = tuple(TOOLS) if offered is None else tuple(offered)
    if name not in usable:
        raise ToolFailure(f"there is no tool {name[:64]!r}; you may use: {', '.join(usable)}")
    values = _object(arguments)
    tool = TOOLS[name]
    parameters = cast("dict[str, Any]", tool.spec.parameters["properties"])
    unknown = sorted(set(values) - set(parameters))
    if unknown:
        raise ToolFailure(f"{name} takes {', '.join(parameters)}, and no {unknown[0][:64]!r}")
    regions = [(_image(values, "image", images), _box(values, "box"))]
    if tool.regions == 2:
        regions.append((_image(values, "other_image", images), _box(values, "other_box")))
    return Request(name, tuple(regions), _factor(values))


def perform(request: Request, images: Mapping[int, bytes]) -> ToolResult:
    """Return the result of a request on the bytes of the images it names.

    Raises:
        ToolFailure: the tool cannot do it; the message is for the model.
    """
    positional = [part for number, box in request.regions for part in (images[number], box)]
    options = {} if request.factor is None else {"factor": request.factor}
    return TOOLS[request.tool].run(*positional, **options)


def _object(arguments: str) -> dict[str, Any]:
    try:
        values = orjson.loads(arguments.strip() or "{}") if len(arguments) <= MAX_ARGUMENTS else None
    except orjson.JSONDecodeError:
        values = None
    if not isinstance(values, dict):
        raise ToolFailure(f"the arguments have to be a JSON object of at most {MAX_ARGUMENTS} characters")
    return cast("dict[str, Any]", values)


def _image(values: Mapping[str, Any], name: str, images: int) -> int:
    number = values.get(name, 0)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if images == 0:
        raise ToolFailure("there is no image to look at")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < images:
        available = "only image 0" if images == 1 else f"images 0 to {images - 1}"
        raise ToolFailure(f"{name}: there is no image {str(number)[:20]}; there are {available}")
    return number


def _box(values: Mapping[str, Any], name: str) -> Box:
    if name not in values:
        raise ToolFailure(f"{name} is missing; give it as [x0, y0, x1, y1] in fractions from 0 to 1")
    edges: Any = values[name]
    if isinstance(edges, dict):
        edges = [cast("dict[str, Any]", edges).get(key) for key in ("x0", "y0", "x1", "y1")]
    if not isinstance(edges, list) or len(cast("list[Any]", edges)) != 4 or not all(map(_is_number, edges)):
        raise ToolFailure(f"{name}: four numbers are needed, [x0, y0, x1, y1], in fractions from 0 to 1")
    x0, y0, x1, y1 = (float(edge) for edge in cast("list[Any]", edges))
    if not all(0 <= edge <= 1 for edge in (x0, y0, x1, y1)):
        raise ToolFailure(
            f"{name}: the region lies outside of the image; edges are fractions of width and height from 0 to 1, "
            "not pixels"
        )
    if x1 <= x0 or y1 <= y0:
        raise ToolFailure(f"{name}: the region is empty; x0 has to be less than x1, and y0 less than y1")
    return Box(x0=x0, y0=y0, x1=x1, y1=y1)


def _factor(values: Mapping[str, Any]) -> float | None:
    factor = values.get("factor")
    if factor is None:
        return None
    if not _is_number(factor) or not 1 <= factor <= MAX_FACTOR:
        raise ToolFailure(f"factor: a number from 1 to {MAX_FACTOR:g} is needed")
    return float(factor)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _tool(
    run: Callable[..., ToolResult],
    description: str,
    *,
    regions: int = 1,
    optional: Mapping[str, JsonValue] | None = None,
) -> Tool:
    properties: dict[str, JsonValue] = {"image": _IMAGE, "box": _BOX}
    if regions == 2:
        properties |= {"other_image": _IMAGE, "other_box": _BOX}
    required: list[JsonValue] = list(properties)
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": properties | dict(optional or {}),
        "required": required,
        "additionalProperties": False,
    }
    return Tool(ToolSpec(name=run.__name__, description=description, parameters=parameters), regions, run)


TOOLS: dict[str, Tool] = {
    tool.spec.name: tool
    for tool in (
        _tool(crop, "Shows a region of an image by itself, at its own size."),
        _tool(
            zoom,
            "Shows a region of an image enlarged, so that small text and small things can be made out.",
            optional={"factor": _FACTOR},
        ),
        _tool(measure_colour, "Tells the mean colour and the main colours of a region."),
        _tool(read_text, "Reads the printed text in a region by character recognition, which can be wrong."),
        _tool(
            count_shapes,
            "Counts the separate shapes on an even background in a region, in groups of those that are alike.",
        ),
        _tool(compare_regions, "Tells how much two regions, of one image or of two, differ, and where.", regions=2),
    )
}
"""Every tool by name, in a fixed order."""
