"""Reduction of an image before it is sent, to save the cost of pixels that a model does not use."""

import hashlib
import io

from PIL import Image

from dokimasia.domain.sample import ImageRef
from dokimasia.tools.pictures import WHOLE, open_picture, to_png

QUALITY = 90
"""The JPEG quality of a reduced photograph."""


def reduce_image(data: bytes, side: int) -> tuple[ImageRef, bytes]:
    """Return an upright image with a longer side of `side` pixels, and its bytes.

    A JPEG stays a JPEG, at quality 90 with full colour resolution; everything else becomes a lossless PNG, which keeps
    the scene and the origin in its metadata. Equal bytes give equal bytes.

    Args:
        data: the image file's bytes.
        side: pixels of the longer side; fewer than the image has.

    Raises:
        ToolFailure: the image cannot be read.
    """
    picture = open_picture(data)
    width, height = picture.image.size
    scale = side / max(width, height)
    small = picture.image.resize(
        (max(1, round(width * scale)), max(1, round(height * scale))), Image.Resampling.LANCZOS
    )
    photograph = data.startswith(b"\xff\xd8\xff")
    content = _to_jpeg(small) if photograph else to_png(small, picture, WHOLE)
    ref = ImageRef(
        sha256=hashlib.sha256(content).hexdigest(),
        media_type="image/jpeg" if photograph else "image/png",
        width=small.width,
        height=small.height,
    )
    return ref, content


def _to_jpeg(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY, subsampling=0)
    return buffer.getvalue()
