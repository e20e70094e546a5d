"""Comparison of two regions of one or two images: how much they differ, and where."""

from PIL import Image

from dokimasia.domain.criterion import Box
from dokimasia.tools.colours import mean_colour
from dokimasia.tools.pictures import ToolResult, open_picture, region

_SIDE = 256
_DIFFERENT = 32
"""The levels of 255 by which two pixels must differ, in any channel, to count as different."""

_TRACE = 2
"""The levels of 255 that decoding alone can shift a pixel."""

_CELLS = 3
_ROWS, _COLUMNS = ("upper", "middle", "lower"), ("left", "centre", "right")


def compare_regions(data: bytes, box: Box, other_data: bytes, other_box: Box) -> ToolResult:
    """Return how similar two regions are, pixel by pixel, and in which parts they differ most.

    The second is scaled to the shape of the first; a shift of a few pixels counts as a difference.

    Args:
        data: the first image file's bytes.
        box: the first region, in fractions of the upright image's width and height.
        other_data: the second image file's bytes, which may be the same.
        other_box: the second region.

    Raises:
        ToolFailure: an image cannot be read.
    """
    import numpy as np

    first, second = region(open_picture(data), box), region(open_picture(other_data), other_box)
    scale = min(1.0, _SIDE / max(first.size))
    size = (max(1, round(first.width * scale)), max(1, round(first.height * scale)))
    first_pixels, second_pixels = (
        np.asarray(part.resize(size, Image.Resampling.BOX), dtype=float) for part in (first, second)
    )
    differences = np.abs(first_pixels - second_pixels)
    different = differences.max(axis=2) > _DIFFERENT
    lines = [
        f"First region: {first.width} x {first.height} pixels, mean colour {mean_colour(first)}.",
        f"Second region: {second.width} x {second.height} pixels, mean colour {mean_colour(second)}.",
        f"Mean difference: {differences.mean() / 255:.1%} of full scale; {different.mean():.1%} of the area differs.",
    ]
    aspect = (first.width / first.height) / (second.width / second.height)
    if not 0.8 <= aspect <= 1.25:
        lines.append("Their forms differ, and the second was stretched to fit: take the figures with care.")
    if not different.any():
        lines.append("They look the same.")
    elif different.mean() < 0.5 and min(size) >= _CELLS:
        lines.append(f"They differ most in the {_where(different)} part.")
    return ToolResult(text="\n".join(lines))


def _where(different: "object") -> str:
    import numpy as np

    bands = [np.array_split(band, _CELLS, axis=1) for band in np.array_split(np.asarray(different), _CELLS, axis=0)]
    shares = [float(cell.mean()) for band in bands for cell in band]
    row, column = divmod(shares.index(max(shares)), _CELLS)
    return f"{_ROWS[row]} {_COLUMNS[column]}"


def changed_share(before: bytes, after: bytes) -> float:
    """Return the share of pixels, 0 to 1, that differ visibly between two versions of an image, in any channel.

    A version of another size is scaled to that of the original; only tiny changes are ignored.

    Raises:
        ToolFailure: an image cannot be read.
    """
    import numpy as np

    first, second = open_picture(before).image, open_picture(after).image
    if second.size != first.size:
        second = second.resize(first.size, Image.Resampling.BOX)
    differences = np.abs(np.asarray(first, dtype=np.int16) - np.asarray(second, dtype=np.int16))
    return float((differences.max(axis=2) > _TRACE).mean())
