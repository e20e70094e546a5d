"""Images are known by content, checked before they are decoded, and decoded to the end."""

import hashlib
import io
import struct
import zlib

import pytest
from PIL import Image

from dokimasia.datasets import read_image
from dokimasia.errors import DataError

from .conftest import encoded

pytestmark = pytest.mark.quick


def animated(format: str) -> bytes:
    """Return an animation of two frames."""
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    target = io.BytesIO()
    frames[0].save(target, format, save_all=True, append_images=frames[1:], duration=50)
    return target.getvalue()


def png_header(width: int, height: int) -> bytes:
    """Return a PNG that claims a size and holds almost nothing."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" * 64)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "media_type", "size"),
    [
        (encoded("PNG"), "image/png", (4, 3)),
        (encoded("JPEG"), "image/jpeg", (4, 3)),
        (encoded("WEBP"), "image/webp", (4, 3)),
        (encoded("GIF"), "image/gif", (4, 3)),
        (encoded("PNG", size=(1, 1)), "image/png", (1, 1)),
        (encoded("JPEG", mode="CMYK"), "image/jpeg", (4, 3)),
        (encoded("PNG", mode="1"), "image/png", (4, 3)),
        (encoded("PNG", mode="RGBA"), "image/png", (4, 3)),
    ],
)
def test_allowed_images_are_read(data: bytes, media_type: str, size: tuple[int, int]) -> None:
    """PNG, JPEG, WebP and a still GIF pass unchanged, in any colour mode, down to a single pixel."""
    ref = read_image(data, "here")
    assert (ref.media_type, (ref.width, ref.height)) == (media_type, size)
    assert ref.sha256 == hashlib.sha256(data).hexdigest()


def test_rotated_jpeg_is_sent_as_it_is() -> None:
    """An EXIF rotation changes neither the bytes nor the size that is recorded."""
    exif = Image.Exif()
    exif[0x0112] = 6
    ref = read_image(encoded("JPEG", size=(8, 2), exif=exif), "here", name="photo.JPG")
    assert (ref.width, ref.height) == (8, 2)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b"hello world", "no image"),
        (b"<!DOCTYPE html><html>404</html>", "a web page"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG drawing.*render it to PNG"),
        (b"<?xml version='1.0'?>\n<svg/>", "SVG drawing"),
        (encoded("BMP"), "format BMP; use PNG"),
        (encoded("TIFF"), "format TIFF"),
        (b"\0\0\0\x18ftypheic" + b"\0" * 20, "format HEIC"),
        (animated("GIF"), r"animated \(2 frames\); save the frame"),
        (animated("WEBP"), "animated"),
        (encoded("PNG", size=(64, 64))[:-40], "damaged or cut off"),
        (encoded("JPEG", size=(64, 64))[:-40], "damaged or cut off"),
        (encoded("WEBP", size=(64, 64))[:-20], "damaged or cut off"),
        (encoded("GIF", size=(64, 64))[:-200], "damaged or cut off"),
        (encoded("PNG")[:20], "damaged or cut off"),
        (b"\xff\xd8\xff", "damaged or cut off"),
        (png_header(20_000, 20_000), "too many pixels|pixels, more than"),
        (png_header(9_000, 9_000), "9000 x 9000 pixels, more than the 50,000,000"),
        (png_header(2**31 - 1, 2**31 - 1), "pixels"),
    ],
)
def test_other_bytes_are_refused(data: bytes, reason: str) -> None:
    """What is no whole still image of an allowed format and size is reported with place and way out."""
    with pytest.raises(DataError, match=rf"^data\.jsonl, line 3: .*({reason})"):
        read_image(data, "data.jsonl, line 3")


def test_a_flipped_bit_is_found() -> None:
    """A PNG whose pixels no longer have their checksum is damaged."""
    data = bytearray(encoded("PNG", size=(64, 64)))
    data[data.index(b"IDAT") + 30] ^= 0x10
    with pytest.raises(DataError, match="damaged"):
        read_image(bytes(data), "here")


@pytest.mark.parametrize(("name", "format"), [("a.jpg", "WEBP"), ("a.png", "JPEG"), ("a.GIF", "PNG")])
def test_disguised_images_are_reported(name: str, format: str) -> None:
    """A name that says one format over the content of another is an error that names both."""
    named = {"jpg": "JPEG", "png": "PNG", "gif": "GIF"}[name[2:].lower()]
    with pytest.raises(DataError, match=f"named {named} but its content is {format}"):
        read_image(encoded(format), "here", name=name)
    with pytest.raises(DataError, match=f"declared as {named} but its content is {format}"):
        read_image(encoded(format), "here", declared=named)


def test_a_name_without_a_known_extension_says_nothing() -> None:
    """Content decides where the name claims no format."""
    assert read_image(encoded("WEBP"), "here", name="photo.img").media_type == "image/webp"


def test_the_pixel_limit_is_configurable() -> None:
    """The limit is compared with the header."""
    with pytest.raises(DataError, match="4 x 3 pixels, more than the 11"):
        read_image(encoded(), "here", max_pixels=11)
