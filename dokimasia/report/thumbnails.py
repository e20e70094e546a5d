"""Small copies of images for a page, bounded in size; the stored images stay unchanged."""

import base64
import io
import warnings
from typing import TYPE_CHECKING

from dokimasia.report.data import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

SIDES = (720, 560, 420, 300, 200, 120)
"""Longest sides in pixels, tried in order until a copy is small enough; the last is used in any case."""

BUDGET = 2_600_000
"""The bytes of all copies on a page, before base64 adds a third."""

SHARE = 90_000
"""Maximum bytes of a copy."""

QUALITY = 78
ORIENTATION, SIDEWAYS = 0x0112, frozenset((5, 6, 7, 8))
"""The EXIF field for the orientation of a stored image, and its values that swap width and height."""

MAX_PIXELS = 50_000_000


def share_of(count: int) -> int:
    """Return the maximum number of bytes of each of `count` copies."""
    return min(SHARE, BUDGET // max(1, count))


def picture(data: bytes, sha256: str, size: tuple[int, int], *, share: int) -> Picture:
    """Return an image with a small WebP copy of at most about `share` bytes, upright and without metadata.

    Width and height are those of the upright image. The same bytes give the same copy. If Pillow cannot draw the image,
    there is no copy, and `problem` gives the reason.

    Args:
        data: bytes of the image file.
        sha256: their hash.
        size: width and height in pixels, as stored.
        share: maximum bytes of the copy (see `share_of`).
    """
    width, height = size
    if width * height > MAX_PIXELS:
        return Picture(sha256, width, height, problem=f"{width} × {height} pixels are too many to draw")
    try:
        image, swapped = _upright(data, SIDES[0])
    except ValueError as error:
        return Picture(sha256, width, height, problem=str(error))
    encoded = b""
    for side in SIDES:
        encoded = _copy(image, side)
        if len(encoded) <= share:
            break
    if swapped:
        width, height = height, width
    return Picture(sha256, width, height, uri=f"data:image/webp;base64,{base64.b64encode(encoded).decode('ascii')}")


def thumbnail(data: bytes, side: int) -> bytes:
    """Return a small WebP copy of an image, upright and without metadata, with the longest side at most `side` pixels.

    Raises:
        ValueError: Pillow cannot draw it, or it has too many pixels.
    """
    return _copy(_upright(data, side)[0], side)


def _upright(data: bytes, side: int) -> "tuple[Image, bool]":
    """Return an image upright, at least `side` pixels long, and whether its width and height were swapped.

    Raises:
        ValueError: it cannot be drawn; the message says why.
    """
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as opened:
                if opened.width * opened.height > MAX_PIXELS:
                    raise ValueError(f"{opened.width} × {opened.height} pixels are too many to draw")
                swapped = opened.getexif().get(ORIENTATION, 1) in SIDEWAYS
                opened.draft("RGB", (side, side))
                upright = ImageOps.exif_transpose(opened)
                alpha = upright.mode in {"RGBA", "LA", "PA"} or "transparency" in upright.info
                return upright.convert("RGBA" if alpha else "RGB"), swapped
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"it cannot be drawn ({type(error).__name__})") from error


def _copy(image: "Image", side: int) -> bytes:
    from PIL.Image import Resampling

    copy, buffer = image.copy(), io.BytesIO()
    copy.thumbnail((side, side), Resampling.LANCZOS)
    copy.save(buffer, "WEBP", quality=QUALITY, method=4, exif=b"", icc_profile=b"")
    return buffer.getvalue()
