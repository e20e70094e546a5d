"""Images made smaller before they are sent: size, orientation, format, and what they carry along."""

import hashlib
import io

import pytest
from PIL import Image

from dokimasia.errors import ToolFailure
from dokimasia.simulation.picture import draw_scene, read_scene
from dokimasia.simulation.scenes import make_scene
from dokimasia.tools.pictures import WHOLE, open_picture
from dokimasia.tools.reducing import reduce_image
from tests.tools.conftest import Encode


def test_the_longer_side_has_the_pixels_asked_for(quarters: Image.Image, encoded: Encode) -> None:
    """200 x 100 pixels become 80 x 40 with the same picture, and the reference says so."""
    ref, data = reduce_image(encoded(quarters), 80)
    small = Image.open(io.BytesIO(data))
    assert small.size == (ref.width, ref.height) == (80, 40)
    assert (ref.media_type, ref.sha256) == ("image/png", hashlib.sha256(data).hexdigest())
    assert small.getpixel((10, 10)) == (220, 20, 20)
    assert reduce_image(encoded(quarters), 80) == (ref, data)


def test_a_photograph_stays_a_jpeg_and_stands_upright(quarters: Image.Image, encoded: Encode) -> None:
    """A JPEG that its EXIF turns is written as it is seen, without an orientation that would turn it twice."""
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise
    ref, data = reduce_image(encoded(quarters, "JPEG", exif=exif), 100)
    small = Image.open(io.BytesIO(data))
    assert (small.format, ref.media_type) == ("JPEG", "image/jpeg")
    assert small.size == (ref.width, ref.height) == (50, 100)
    assert 0x0112 not in small.getexif()
    red, green, blue = small.convert("RGB").getpixel((40, 10))
    assert red > 180
    assert max(green, blue) < 80


def test_a_scene_goes_along(encoded: Encode) -> None:
    """A picture of the planted world keeps its scene, and says which image it was made from."""
    scene = make_scene("data", 3)
    data = draw_scene(scene)
    _, small = reduce_image(data, 128)
    assert read_scene(small) == (scene, (0.0, 0.0, 1.0, 1.0))
    picture = open_picture(small)
    assert (picture.origin, picture.part) == (hashlib.sha256(data).hexdigest(), WHOLE)


def test_bytes_that_are_no_image_are_refused() -> None:
    """What cannot be read is an error that says so."""
    with pytest.raises(ToolFailure, match="PNG, JPEG"):
        reduce_image(b"no image", 100)
