"""Images to look at: made here, of every kind that a data set may hold."""

import io
from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw

Encode = Callable[..., bytes]


@pytest.fixture
def encoded() -> Encode:
    """Writes an image as bytes of a format."""

    def write(image: Image.Image, format: str = "PNG", **options: object) -> bytes:
        written = io.BytesIO()
        image.save(written, format, **options)
        return written.getvalue()

    return write


@pytest.fixture
def quarters() -> Image.Image:
    """200 x 100 pixels: red, green above; blue, white below."""
    image = Image.new("RGB", (200, 100), "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 99, 49), fill=(220, 20, 20))
    pen.rectangle((100, 0, 199, 49), fill=(20, 140, 20))
    pen.rectangle((0, 50, 99, 99), fill=(20, 40, 220))
    return image
