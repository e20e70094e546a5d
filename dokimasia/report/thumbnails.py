"""Small copies of images for a page, bounded in size: what a model was shown stays in the store, unchanged."""

import base64
import io
import warnings
from typing import TYPE_CHECKING

from dokimasia.report.data import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

SIDES = (720, 560, 420, 300, 200, 120)
"""Longest sides in pixels, tried from the largest until a copy is small enough; the last is taken as it is."""

BUDGET = 2_600_000
"""Bytes for all copies of a page together, before base64 makes them a third longer."""

SHARE = 90_000
"""Bytes for one copy at most, however few there are."""

QUALITY = 78
ORIENTATION, SIDEWAYS = 0x0112, frozenset((5, 6, 7, 8))
"""The EXIF field that says how a stored image is held, and its values that exchange width and height."""

MAX_PIXELS = 50_000_000


def share_of(count: int) -> int:
    """Return how many bytes each of so many copies may take."""
    return min(SHARE, BUDGET // max(1, count))


def picture(data: bytes, sha256: str, size: tuple[int, int], *, share: int) -> Picture:
    """Return an image with a small WebP copy of at most about `share` bytes, upright and without metadata.

    Its width and height are those of the upright image. The same bytes give the same copy. What Pillow cannot draw has
    no copy, and says why.

    Args:
        data: the image file's bytes.
        sha256: their hash.
        size: width and height in pixels, as stored.
        share: see `share_of`.
    """
    width, height = size
    if width * height > MAX_PIXELS:
        return Picture(sha256, width, height, problem=f"{width} × {height} pixels are too many to draw")
    try:
        image, turned = _upright(data, SIDES[0])
    except ValueError as error:
        return Picture(sha256, width, height, problem=str(error))
    encoded = b""
    for side in SIDES:
        encoded = _copy(image, side)
        if len(encoded) <= share:
            break
    if turned:
        width, height = height, width
    return Picture(sha256, width, height, uri=f"data:image/webp;base64,{base64.b64encode(encoded).decode('ascii')}")


def thumbnail(data: bytes, side: int) -> bytes:
    """Return a small WebP copy of an image, upright and without metadata, its longest side at most `side` pixels.

    Raises:
        ValueError: Pillow cannot draw it, or it has too many pixels.
    """
    return _copy(_upright(data, side)[0], side)


def _upright(data: bytes, side: int) -> "tuple[Image, bool]":
    """Return an image upright, in at least a side's pixels, and whether that exchanged its width and height.

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
                turned = opened.getexif().get(ORIENTATION, 1) in SIDEWAYS
                opened.draft("RGB", (side, side))
                upright = ImageOps.exif_transpose(opened)
                alpha = upright.mode in {"RGBA", "LA", "PA"} or "transparency" in upright.info
                return upright.convert("RGBA" if alpha else "RGB"), turned
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"it cannot be drawn ({type(error).__name__})") from error


def _copy(image: "Image", side: int) -> bytes:
    from PIL.Image import Resampling

    copy, out = image.copy(), io.BytesIO()
    copy.thumbnail((side, side), Resampling.LANCZOS)
    copy.save(out, "WEBP", quality=QUALITY, method=4, exif=b"", icc_profile=b"")
    return out.getvalue()
