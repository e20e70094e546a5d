"""Counting of repeated shapes: areas that differ from the background of a region, grouped by size, form and colour."""

from typing import Any, NamedTuple, cast

from PIL import Image

from dokimasia.domain.criterion import Box
from dokimasia.errors import ToolFailure
from dokimasia.tools.colours import mean_colour
from dokimasia.tools.pictures import ToolResult, open_picture, region

MOST_GROUPS = 8
MOST_SHAPES = 2000
"""The number of shapes above which a region counts as texture and is refused."""

_SIDE = 1000
_DIFFERENT = 40
"""The levels of 255 by which a pixel must differ from the background, in any channel."""

_SMALLEST = 12
_SAME_AREA, _SAME_FORM, _SAME_COLOUR = 1.5, 1.35, 45


class _Shape(NamedTuple):
    area: int
    form: float
    colour: Any
    cut: bool


def count_shapes(data: bytes, box: Box) -> ToolResult:
    """Return the number of separate shapes in a region, in groups of similar size, form and colour.

    The most common colour is taken as the background; a connected area that differs from it is one shape, so that touching
    or overlapping shapes count as one. Intended for drawings, charts and icons; photographs rarely have one background.

    Args:
        data: the image file's bytes.
        box: the region, in fractions of the upright image's width and height.

    Raises:
        ToolFailure: the image cannot be read, or the region is texture that falls into too many pieces.
    """
    part = region(open_picture(data), box)
    part.thumbnail((_SIDE, _SIDE), Image.Resampling.BOX)
    shapes = _shapes(part)
    if not shapes:
        return ToolResult(text="Nothing stands apart from the background of the region.")
    groups = _groups(shapes)
    total = "1 shape stands" if len(shapes) == 1 else f"{len(shapes)} separate shapes stand"
    lines = [f"{total} apart from the background. Shapes that touch or overlap count as one."]
    for group in groups[:MOST_GROUPS]:
        area = sum(shape.area for shape in group) / len(group) / (part.width * part.height)
        cut = sum(shape.cut for shape in group)
        note = f", {cut} of them cut off by the region's edge" if cut else ""
        lines.append(f"- {len(group)} alike: each about {area:.2%} of the region, mean colour {_colour(group)}{note}")
    others = sum(len(group) for group in groups[MOST_GROUPS:])
    if others:
        lines.append(f"- {others} others")
    return ToolResult(text="\n".join(lines))


def _shapes(part: Image.Image) -> list[_Shape]:
    import numpy as np
    from scipy import ndimage

    pixels = np.asarray(part, dtype=int)
    cells, counts = np.unique((pixels // 16).reshape(-1, 3), axis=0, return_counts=True)
    common = (pixels // 16 == cells[counts.argmax()]).all(axis=2)
    background = pixels[common].mean(axis=0)
    apart = np.abs(pixels - background).max(axis=2) > _DIFFERENT
    labels, n_labels = cast("tuple[Any, int]", ndimage.label(apart, structure=np.ones((3, 3))))
    areas = np.bincount(labels.ravel(), minlength=n_labels + 1)
    large = [number for number in range(1, n_labels + 1) if areas[number] >= _SMALLEST]
    if len(large) > MOST_SHAPES:
        raise ToolFailure("the region is too finely textured for its shapes to be counted; choose a smaller one")
    places = ndimage.find_objects(labels)
    shapes: list[_Shape] = []
    for number in large:
        rows, columns = places[number - 1]
        inside = labels[rows, columns] == number
        wide, high = columns.stop - columns.start, rows.stop - rows.start
        cut = rows.start == 0 or columns.start == 0 or rows.stop == part.height or columns.stop == part.width
        shapes.append(_Shape(int(areas[number]), wide / high, pixels[rows, columns][inside].mean(axis=0), cut))
    return shapes


def _groups(shapes: list[_Shape]) -> list[list[_Shape]]:
    """Return shapes in groups: each joins the first group whose largest member it resembles; largest groups first."""
    groups: list[list[_Shape]] = []
    for shape in sorted(shapes, key=lambda shape: -shape.area):
        match = next((group for group in groups if _alike(group[0], shape)), None)
        if match is None:
            groups.append([shape])
        else:
            match.append(shape)
    return sorted(groups, key=lambda group: (-len(group), -group[0].area))


def _alike(first: _Shape, second: _Shape) -> bool:
    area = max(first.area, second.area) / min(first.area, second.area)
    form = max(first.form, second.form) / min(first.form, second.form)
    return area <= _SAME_AREA and form <= _SAME_FORM and abs(first.colour - second.colour).max() <= _SAME_COLOUR


def _colour(group: list[_Shape]) -> str:
    import numpy as np

    levels = np.average([shape.colour for shape in group], axis=0, weights=[shape.area for shape in group])
    red, green, blue = (round(float(level)) for level in levels)
    return mean_colour(Image.new("RGB", (1, 1), (red, green, blue)))
