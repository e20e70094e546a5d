"""Cropping of a region of an image, at its size or enlarged."""

from PIL import Image

from dokimasia.domain.criterion import Box
from dokimasia.tools.pictures import ToolResult, open_picture, region, shown_box, to_png

MAX_SIDE = 1568
"""The longer side in pixels above which a crop is reduced, since most models do not use more."""

ZOOM_SIDE = 1024
"""The longer side in pixels of an enlarged region, unless that would exceed `MAX_FACTOR`."""

MAX_FACTOR = 16.0


def crop(data: bytes, box: Box) -> ToolResult:
    """Return a region of an image at its own size, reduced if a side has more than `MAX_SIDE` pixels.

    Args:
        data: the image file's bytes.
        box: the region, in fractions of the upright image's width and height.

    Raises:
        ToolFailure: the image cannot be read.
    """
    return _cut(data, box, 1.0)


def zoom(data: bytes, box: Box, *, factor: float | None = None) -> ToolResult:
    """Return a region of an image, enlarged.

    Args:
        data: the image file's bytes.
        box: the region, in fractions of the upright image's width and height.
        factor: the enlargement, 1 to 16; by default the longer side gets 1024 pixels.

    Raises:
        ToolFailure: the image cannot be read.
    """
    return _cut(data, box, factor)


def _cut(data: bytes, box: Box, factor: float | None) -> ToolResult:
    picture = open_picture(data)
    part = region(picture, box)
    longer = max(part.size)
    enlargement = max(1.0, ZOOM_SIDE / longer) if factor is None else factor
    scale = min(enlargement, MAX_FACTOR, MAX_SIDE / longer)
    size = (max(1, round(part.width * scale)), max(1, round(part.height * scale)))
    scaled = part if size == part.size else part.resize(size, Image.Resampling.LANCZOS)
    real = shown_box(picture, box)
    change = ""
    if scale > 1:
        change = f", enlarged {scale:.3g} times"
    elif scale < 1:
        change = f", made smaller, {scale:.2g} of its size"
    text = f"The region, {part.width} x {part.height} pixels of the image{change}."
    return ToolResult(
        text=text, image=to_png(scaled, picture, real), width=scaled.width, height=scaled.height, box=real
    )
