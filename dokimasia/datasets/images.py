"""Image bytes to an ImageRef: what they are by content, checked before they are decoded and decoded once to the end."""

import hashlib
import io
import warnings
from pathlib import PurePath
from typing import cast

from PIL import Image, UnidentifiedImageError

from dokimasia.datasets.lines import Fault
from dokimasia.domain.sample import ImageRef, MediaType

MAX_PIXELS = 50_000_000
"""Width times height above which an image is refused before it is decoded."""

MAX_BYTES = 64 * 2**20
"""Size above which an image is refused unread."""

_FORMATS: dict[str, MediaType] = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
}
EXTENSIONS = {
    ".png": "PNG",
    ".apng": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".jpe": "JPEG",
    ".jfif": "JPEG",
    ".webp": "WEBP",
    ".gif": "GIF",
}
_OTHER_FORMATS = (
    (b"BM", "BMP"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"%PDF", "PDF"),
    (b"\0\0\1\0", "ICO"),
    (b"8BPS", "Photoshop"),
    (b"\xff\x0a", "JPEG XL"),
    (b"\0\0\0\x0cJXL", "JPEG XL"),
)
_WAY_OUT = "use PNG, JPEG, WebP, or a GIF of one frame"


def image_format(data: bytes) -> str | None:
    """Return the format that bytes begin as (PNG, JPEG, WEBP, GIF), or None."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WEBP"
    return None


def media_format(media_type: str) -> str | None:
    """Return the format that a media type names, or None if it is not one of those that are allowed."""
    plain = media_type.strip().lower().replace("image/jpg", "image/jpeg")
    return next((name for name, known in _FORMATS.items() if known == plain), None)


def read_image(
    data: bytes, where: str, *, name: str = "", declared: str | None = None, max_pixels: int = MAX_PIXELS
) -> ImageRef:
    """Return what an image's bytes are, once they are known to be a whole image of an allowed format.

    The bytes are not changed: CMYK and EXIF-rotated JPEGs pass, with width and height as stored.

    Args:
        data: the image file's bytes.
        where: file and line or id, for messages.
        name: the image's file name, if it has one; an extension that names another format is a disguise.
        declared: the format that a data URI or a server declares, compared with the content too.
        max_pixels: width times height that is allowed; Pillow's own limit (89 million) holds besides.

    Raises:
        DataError: the bytes are empty, too many, no allowed format, disguised, too large, animated, cut off or damaged.
    """
    shown = f"{where}: image {name}" if name else f"{where}: the image"
    if not data:
        raise Fault("image-empty", f"{shown} is empty")
    if len(data) > MAX_BYTES:
        raise Fault(
            "image-size", f"{shown} has {len(data):,} bytes, more than the {MAX_BYTES:,} allowed; make it smaller"
        )
    found = image_format(data)
    if found is None:
        raise Fault("image-format", f"{shown} is {_what_else(data)}; {_WAY_OUT}")
    named = EXTENSIONS.get(PurePath(name).suffix.lower())
    for claim, how in ((named, "is named"), (declared, "is declared as")):
        if claim is not None and claim != found:
            raise Fault("image-disguised", f"{shown} {how} {claim} but its content is {found}; rename or convert it")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks on metadata, which nothing here reads
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            width, height = _check_whole(data, found, shown, max_pixels)
        except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
            raise Fault("image-size", f"{shown} has too many pixels to be decoded safely; make it smaller") from error
        except UnidentifiedImageError as error:
            raise Fault(
                "image-damaged", f"{shown} begins as {found} but cannot be read; it is damaged or cut off"
            ) from error
        except (OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError, KeyError, MemoryError) as error:
            # What Pillow's decoders raise on damaged bytes; its messages say more of the decoder than of the file.
            raise Fault("image-damaged", f"{shown} is damaged or cut off ({found}: {str(error)[:120]})") from error
    sha256 = hashlib.sha256(data).hexdigest()
    return ImageRef(sha256=sha256, media_type=_FORMATS[found], width=width, height=height)


def _check_whole(data: bytes, found: str, shown: str, max_pixels: int) -> tuple[int, int]:
    """Read the header, then decode all of it; return width and height in pixels."""
    with Image.open(io.BytesIO(data), formats=[found]) as image:
        width, height = image.size
        if width < 1 or height < 1:
            raise Fault("image-damaged", f"{shown} has no pixels")
        if width * height > max_pixels:
            raise Fault(
                "image-size",
                f"{shown} has {width} x {height} pixels, more than the {max_pixels:,} allowed; make it smaller",
            )
        # A JPEG of several frames is a photograph with a preview; any other format would be shown one of many.
        frames = 1 if found == "JPEG" else cast("int", getattr(image, "n_frames", 1))
        if frames > 1:
            raise Fault("image-animated", f"{shown} is animated ({frames} frames); save the frame that is meant as PNG")
        image.load()
    if found == "PNG":
        with Image.open(io.BytesIO(data), formats=[found]) as image:
            image.verify()
    return width, height


def _what_else(data: bytes) -> str:
    """Return what bytes that are no allowed image seem to be, in words."""
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith(b"<svg") or (head.startswith((b"<?xml", b"<!doctype svg")) and b"<svg" in head):
        return "an SVG drawing, which models do not take: render it to PNG"
    if head.startswith((b"<!doctype html", b"<html")):
        return "a web page and no image (the server's error page?)"
    if data[4:8] == b"ftyp":
        return f"in the format {data[8:12].decode('ascii', 'replace').upper()} (HEIC, AVIF or a film)"
    for signature, name in _OTHER_FORMATS:
        if data.startswith(signature):
            return f"in the format {name}"
    return "no image: its content is of no known format"
