"""Crop and zoom: what is cut out, how large it becomes, and what it carries along."""

import hashlib
import io
import struct
import zlib

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from dokimasia.domain.criterion import Box
from dokimasia.errors import ToolFailure
from dokimasia.simulation.picture import draw_scene, read_scene
from dokimasia.simulation.scenes import make_scene
from dokimasia.tools import crop, zoom
from dokimasia.tools.pictures import ORIGIN_KEYWORD, open_picture, within
from tests.tools.conftest import Encode

pytestmark = pytest.mark.quick

LEFT_TOP = Box(x0=0, y0=0, x1=0.5, y1=0.5)
RED, GREEN, BLUE = (220, 20, 20), (20, 140, 20), (20, 40, 220)


def opened(png: bytes | None) -> Image.Image:
    """The image of a result."""
    assert png is not None
    return Image.open(io.BytesIO(png))


def test_crop_gives_the_pixels_of_the_region(quarters: Image.Image, encoded: Encode) -> None:
    """A crop has the region's pixels, one to one."""
    result = crop(encoded(quarters), Box(x0=0.5, y0=0, x1=1, y1=0.5))
    image = opened(result.image)
    assert image.size == (result.width, result.height) == (100, 50)
    assert image.getcolors() == [(5000, GREEN)]
    assert result.box == Box(x0=0.5, y0=0, x1=1, y1=0.5)


def test_zoom_enlarges_until_the_longer_side_has_1024_pixels(quarters: Image.Image, encoded: Encode) -> None:
    """A zoom fills 1024 pixels; a factor says otherwise; sixteen times is the most."""
    data = encoded(quarters)
    assert opened(zoom(data, LEFT_TOP).image).size == (1024, 512)
    assert opened(zoom(data, LEFT_TOP, factor=3).image).size == (300, 150)
    assert opened(zoom(data, Box(x0=0, y0=0, x1=0.05, y1=0.1)).image).size == (160, 160)
    assert "enlarged 16 times" in zoom(data, Box(x0=0, y0=0, x1=0.05, y1=0.1)).text


def test_a_large_cut_out_is_made_smaller_and_says_so(encoded: Encode) -> None:
    """No image that a tool makes has a side of more than 1568 pixels."""
    result = crop(encoded(Image.new("RGB", (4000, 1000))), Box(x0=0, y0=0, x1=1, y1=1))
    assert (result.width, result.height) == (1568, 392)
    assert "made smaller" in result.text
    assert zoom(encoded(Image.new("RGB", (4000, 1000))), LEFT_TOP, factor=16).width == 1568


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_any_box_gives_at_least_one_pixel(edges: list[float]) -> None:
    """However thin a box is, what is shown holds it and lies in the image."""
    x0, x1 = sorted(edges[:2])
    y0, y1 = sorted(edges[2:])
    if x0 == x1 or y0 == y1:
        return
    written = io.BytesIO()
    Image.new("RGB", (7, 5)).save(written, "PNG")
    result = crop(written.getvalue(), Box(x0=x0, y0=y0, x1=x1, y1=y1))
    shown = result.box
    assert shown is not None
    assert opened(result.image).size == (round((shown.x1 - shown.x0) * 7), round((shown.y1 - shown.y0) * 5))
    assert shown.x0 <= x0 + 1e-6
    assert shown.y0 <= y0 + 1e-6
    assert shown.x1 >= x1 - 1e-6
    assert shown.y1 >= y1 - 1e-6


def test_a_photograph_is_cut_upright(encoded: Encode) -> None:
    """Boxes count on the image as its EXIF says it is to be seen."""
    image = Image.new("RGB", (100, 200), RED)
    image.paste(BLUE, (0, 100, 100, 200))  # the lower half, which a quarter turn to the right brings to the left
    exif = Image.Exif()
    exif[0x0112] = 6
    result = crop(encoded(image, "PNG", exif=exif), Box(x0=0, y0=0, x1=0.5, y1=1))
    assert opened(result.image).getcolors() == [(10000, BLUE)]


@pytest.mark.parametrize("mode", ["CMYK", "L", "P", "1", "I;16", "RGBA", "LA"])
def test_every_colour_mode_is_read(mode: str, encoded: Encode) -> None:
    """CMYK, palettes, grey of 8 and 16 bits and transparency come out as plain RGB."""
    image = Image.new("I;16", (40, 40), 65535) if mode == "I;16" else Image.new("RGB", (40, 40), "white").convert(mode)
    result = crop(encoded(image, "JPEG" if mode == "CMYK" else "PNG"), LEFT_TOP)
    assert opened(result.image).mode == "RGB"
    assert opened(result.image).getcolors() == [(400, (255, 255, 255))]


def test_transparency_is_laid_on_white(encoded: Encode) -> None:
    """What is clear looks white, whatever colour is hidden in it."""
    result = crop(encoded(Image.new("RGBA", (20, 20), (255, 0, 0, 0))), LEFT_TOP)
    assert opened(result.image).getcolors() == [(100, (255, 255, 255))]


@pytest.mark.parametrize("data", [b"", b"no image", b"\x89PNG\r\n\x1a\n cut off", b"<svg/>"])
def test_what_cannot_be_read_is_a_failure_of_the_tool(data: bytes) -> None:
    """Bytes that are no image fail with words for the model."""
    with pytest.raises(ToolFailure, match="image"):
        crop(data, LEFT_TOP)


def test_a_truncated_image_is_a_failure_of_the_tool(quarters: Image.Image, encoded: Encode) -> None:
    """Half a file fails as damaged."""
    data = encoded(quarters)
    with pytest.raises(ToolFailure, match="damaged"):
        crop(data[: len(data) // 2], LEFT_TOP)


def test_a_bomb_is_not_decoded() -> None:
    """An image of more pixels than allowed fails by its header."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    with pytest.raises(ToolFailure, match="too many"):
        crop(data, LEFT_TOP)


def test_a_cut_out_says_what_it_was_cut_from(quarters: Image.Image, encoded: Encode) -> None:
    """Hash and box of the first image are in the PNG, also when a cut-out is cut again."""
    data = encoded(quarters, "JPEG")
    once = crop(data, Box(x0=0.5, y0=0, x1=1, y1=0.5)).image or b""
    twice = zoom(once, Box(x0=0.5, y0=0.5, x1=1, y1=1)).image
    origin = orjson.loads(opened(twice).info[ORIGIN_KEYWORD].encode())
    assert origin == {"sha256": hashlib.sha256(data).hexdigest(), "box": [0.75, 0.25, 1.0, 0.5]}


def test_a_planted_scene_goes_along_with_its_box() -> None:
    """A cut-out of a cut-out of the planted world still knows its scene, and which part of it it shows."""
    scene = make_scene("document", 3)
    once = zoom(draw_scene(scene), Box(x0=0.25, y0=0.25, x1=0.75, y1=0.75)).image or b""
    twice = crop(once, Box(x0=0.5, y0=0, x1=1, y1=0.5)).image or b""
    assert read_scene(once) == (scene, (0.25, 0.25, 0.75, 0.75))
    assert read_scene(twice) == (scene, (0.5, 0.25, 0.75, 0.5))


def test_equal_looks_are_equal_bytes(quarters: Image.Image, encoded: Encode) -> None:
    """The same look gives the same image, so that its hash stays."""
    assert zoom(encoded(quarters), LEFT_TOP) == zoom(encoded(quarters), LEFT_TOP)


def test_forged_marks_are_left_behind(quarters: Image.Image, encoded: Encode) -> None:
    """A chunk that is no origin or no scene is not believed."""
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_itxt(ORIGIN_KEYWORD, '{"sha256": "short", "box": [0, 0, 1, 1]}')
    info.add_itxt("dokimasia-scene", '{"id": "x", "box": [1, 1, 0, 0]}')
    data = encoded(quarters, pnginfo=info)
    picture = open_picture(data)
    assert picture.scene is None
    assert picture.origin == hashlib.sha256(data).hexdigest()


@given(st.lists(st.floats(0, 1), min_size=8, max_size=8))
def test_a_part_of_a_part_is_a_part(edges: list[float]) -> None:
    """Boxes within boxes stay in the image and keep an area."""
    outer_x, outer_y, inner_x, inner_y = (sorted(edges[at : at + 2]) for at in (0, 2, 4, 6))
    if any(low == high for low, high in (outer_x, outer_y, inner_x, inner_y)):
        return
    outer = Box(x0=outer_x[0], y0=outer_y[0], x1=outer_x[1], y1=outer_y[1])
    box = within(outer, Box(x0=inner_x[0], y0=inner_y[0], x1=inner_x[1], y1=inner_y[1]))
    assert outer.x0 - 1e-5 <= box.x0 < box.x1 <= outer.x1 + 1e-5
