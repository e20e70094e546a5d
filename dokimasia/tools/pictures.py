"""Conversion of image bytes to pixels and back: upright, in RGB, within limits, and with a record of their origin.

Also the result of a tool: text for the model, and an image if the tool makes one.
"""

import hashlib
import io
import math
import warnings
from typing import Any, NamedTuple, cast

import orjson
from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.PngImagePlugin import PngInfo
from pydantic import ConfigDict, ValidationError

from dokimasia.domain.criterion import Box
from dokimasia.domain.identity import Value
from dokimasia.errors import ToolFailure

SCENE_KEYWORD = "dokimasia-scene"
"""The PNG text chunk of a picture of the planted world: JSON with at least `box`, the shown part of the scene."""

ORIGIN_KEYWORD = "dokimasia-origin"
"""The PNG text chunk of every picture made by a tool: JSON with `sha256` of the image it was cut from, and `box`."""

MAX_PIXELS = 50_000_000
"""The width times height above which an image is not decoded."""

WHOLE = Box(x0=0, y0=0, x1=1, y1=1)
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_DIGITS = 6


class DecodedImage(NamedTuple):
    """A decoded image: upright RGB pixels, its transparency (None without any), and its origin.

    `scene` is the metadata of a simulated image. `origin` and `part` are the image it was cut from and the region:
    itself and the whole, unless a tool made it.
    """

    image: Image.Image
    alpha: Image.Image | None
    scene: dict[str, Any] | None
    origin: str
    part: Box


class ToolResult(Value):
    """A tool's result.

    `text` is the tool's own text. `quoted` is text found in the image: somebody else wrote it, so a model sees it only as a
    quotation. `image` is a PNG of `width` by `height` pixels, which shows `box` of the examined image (a region is
    widened to whole pixels).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")

    text: str
    quoted: str | None = None
    image: bytes | None = None
    width: int = 0
    height: int = 0
    box: Box | None = None


def open_picture(data: bytes) -> DecodedImage:
    """Return a decoded image: turned according to its EXIF data, converted to RGB, transparency on white.

    Raises:
        ToolFailure: the bytes are not a PNG, JPEG, WebP or GIF, are damaged, or have too many pixels.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about metadata, which is not used
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(io.BytesIO(data), formats=_FORMATS) as opened:
                if opened.width * opened.height > MAX_PIXELS:
                    raise ToolFailure(f"the image has more than {MAX_PIXELS:,} pixels, too many to be looked at")
                opened.load()
                texts = dict(cast("dict[str, str]", getattr(opened, "text", {})))
                upright = ImageOps.exif_transpose(opened)
                image, alpha = _flattened(upright)
        except (Image.DecompressionBombWarning, Image.DecompressionBombError):
            raise ToolFailure("the image has too many pixels to be looked at") from None
        except UnidentifiedImageError:
            raise ToolFailure("the image is no PNG, JPEG, WebP or GIF that can be read") from None
        except (OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError, KeyError, MemoryError):
            # errors of Pillow's decoders on damaged bytes
            raise ToolFailure("the image is damaged and cannot be read") from None
    origin, part = _origin(texts, hashlib.sha256(data).hexdigest())
    return DecodedImage(image, alpha, _scene(texts), origin, part)


def pixel_box(picture: DecodedImage, box: Box) -> tuple[int, int, int, int]:
    """Return the smallest region of whole pixels (left, top, right, bottom) that contains a box, at least one pixel."""
    width, height = picture.image.size
    left, top = min(width - 1, math.floor(box.x0 * width + 1e-6)), min(height - 1, math.floor(box.y0 * height + 1e-6))
    right = min(width, max(left + 1, math.ceil(box.x1 * width - 1e-6)))
    bottom = min(height, max(top + 1, math.ceil(box.y1 * height - 1e-6)))
    return left, top, right, bottom


def region(picture: DecodedImage, box: Box) -> Image.Image:
    """Return the pixels of a box."""
    return picture.image.crop(pixel_box(picture, box))


def shown_box(picture: DecodedImage, box: Box) -> Box:
    """Return the box that `region` actually shows, widened to whole pixels."""
    width, height = picture.image.size
    left, top, right, bottom = pixel_box(picture, box)
    return Box(x0=left / width, y0=top / height, x1=right / width, y1=bottom / height)


def within(outer: Box, inner: Box) -> Box:
    """Return a box inside a part of an image as a box of that image; `inner` is in fractions of `outer`."""
    wide, high = outer.x1 - outer.x0, outer.y1 - outer.y0
    edges = (
        outer.x0 + inner.x0 * wide,
        outer.y0 + inner.y0 * high,
        outer.x0 + inner.x1 * wide,
        outer.y0 + inner.y1 * high,
    )
    x0, y0, x1, y1 = (round(min(1.0, max(0.0, edge)), _DIGITS) for edge in edges)
    tiny = 10**-_DIGITS
    x0, y0 = min(x0, 1 - tiny), min(y0, 1 - tiny)
    return Box(x0=x0, y0=y0, x1=max(x1, x0 + tiny), y1=max(y1, y0 + tiny))


def to_png(image: Image.Image, picture: DecodedImage, box: Box) -> bytes:
    """Return pixels cut from a picture as PNG bytes, with scene, origin and `box`, the shown part, as metadata.

    Equal pixels with equal metadata give equal bytes.
    """
    info = PngInfo()
    if picture.scene is not None:
        scene = picture.scene | {"box": _edges(within(_part(picture.scene) or WHOLE, box))}
        info.add_itxt(SCENE_KEYWORD, orjson.dumps(scene).decode())
    origin = {"sha256": picture.origin, "box": _edges(within(picture.part, box))}
    info.add_itxt(ORIGIN_KEYWORD, orjson.dumps(origin).decode())
    buffer = io.BytesIO()
    image.save(buffer, "PNG", pnginfo=info, compress_level=6)
    return buffer.getvalue()


def _flattened(image: Image.Image) -> tuple[Image.Image, Image.Image | None]:
    if image.mode.startswith("I;16") or image.mode == "I":
        import numpy as np

        return Image.fromarray((np.asarray(image).clip(0, 65535) // 257).astype("uint8")).convert("RGB"), None
    if not image.has_transparency_data:
        return image.convert("RGB"), None
    full = image.convert("RGBA")
    paper = Image.new("RGBA", full.size, (255, 255, 255, 255))
    return Image.alpha_composite(paper, full).convert("RGB"), full.getchannel("A")


def _scene(texts: dict[str, str]) -> dict[str, Any] | None:
    body = _object(texts.get(SCENE_KEYWORD))
    if body is not None and _part(body) is not None:
        return body
    return None


def _origin(texts: dict[str, str], default: str) -> tuple[str, Box]:
    body = _object(texts.get(ORIGIN_KEYWORD))
    part = None if body is None else _part(body)
    if body is None or part is None or not isinstance(body.get("sha256"), str) or len(body["sha256"]) != 64:
        return default, WHOLE
    return body["sha256"], part


def _object(text: str | None) -> dict[str, Any] | None:
    try:
        body = orjson.loads((text or "null").encode())  # Pillow's own subclass of str is not accepted
    except orjson.JSONDecodeError:
        return None
    if isinstance(body, dict):
        return cast("dict[str, Any]", body)
    return None


def _part(body: dict[str, Any]) -> Box | None:
    edges = body.get("box")
    if not isinstance(edges, list) or len(edges) != 4:
        return None
    try:
        return Box(x0=edges[0], y0=edges[1], x1=edges[2], y1=edges[3])
    except ValidationError:
        return None


def _edges(box: Box) -> list[float]:
    return [box.x0, box.y0, box.x1, box.y1]
