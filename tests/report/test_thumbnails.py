"""Small copies of images: bounded, upright, without metadata, the same each time."""

import base64
import io
import random

import pytest
from PIL import Image

from dokimasia.report.data import Picture
from dokimasia.report.thumbnails import BUDGET, SHARE, picture, share_of


def encoded(image: Image.Image, format: str, **options: object) -> bytes:
    """An image file's bytes."""
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def noise(width: int, height: int) -> Image.Image:
    """An image that compresses badly."""
    return Image.frombytes("RGB", (width, height), random.Random(1).randbytes(3 * width * height))


def copy_of(one: Picture) -> Image.Image:
    """The copy, opened."""
    head, _, body = one.uri.partition(",")
    assert head == "data:image/webp;base64"
    return Image.open(io.BytesIO(base64.b64decode(body)))


def test_a_copy_keeps_to_its_share() -> None:
    """Images that compress badly are made smaller until they fit."""
    data = encoded(noise(900, 600), "PNG")
    one = picture(data, "a" * 64, (900, 600), share=20_000)
    assert len(base64.b64decode(one.uri.partition(",")[2])) <= 20_000
    assert (one.width, one.height, one.problem) == (900, 600, "")
    assert one == picture(data, "a" * 64, (900, 600), share=20_000)


def test_shares_divide_the_budget() -> None:
    """Many images share one budget; few take no more than one image's share."""
    assert share_of(1) == SHARE
    assert share_of(0) == SHARE
    assert share_of(1000) * 1000 <= BUDGET


def test_a_turned_photograph_stands_upright() -> None:
    """A photograph that its metadata turn is shown as it is seen, with the size that it then has."""
    image = Image.new("RGB", (200, 100), "red")
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "secret place"
    one = picture(encoded(image, "JPEG", exif=exif), "b" * 64, (200, 100), share=SHARE)
    assert (one.width, one.height) == (100, 200)
    copy = copy_of(one)
    assert copy.size == (100, 200)
    assert not copy.getexif()


@pytest.mark.parametrize("mode", ["RGBA", "P", "L", "CMYK", "I;16"])
def test_every_mode_is_drawn(mode: str) -> None:
    """Whatever colours an image is stored in, it has a copy."""
    image = Image.new(mode, (40, 30))
    format = "JPEG" if mode == "CMYK" else "PNG"
    assert copy_of(picture(encoded(image, format), "c" * 64, (40, 30), share=SHARE)).size == (40, 30)


@pytest.mark.parametrize("data", [b"", b"no image", b"\x89PNG\r\n\x1a\n" + b"\0" * 40])
def test_what_cannot_be_drawn_says_so(data: bytes) -> None:
    """Damaged bytes cost the report their picture and nothing else."""
    one = picture(data, "d" * 64, (10, 10), share=SHARE)
    assert one.uri == ""
    assert "cannot be drawn" in one.problem


def test_an_image_with_too_many_pixels_is_not_decoded() -> None:
    """A size that could exhaust memory is refused by the numbers alone."""
    assert "too many" in picture(b"", "e" * 64, (100_000, 100_000), share=SHARE).problem
