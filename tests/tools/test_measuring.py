"""Colours, shapes, comparisons and text: what the tools tell."""

import shutil

import pytest
from PIL import Image, ImageDraw

from dokimasia.domain.criterion import Box
from dokimasia.errors import ToolFailure
from dokimasia.tools import compare_regions, count_shapes, measure_colour, read_text, reading
from tests.tools.conftest import Encode

WHOLE = Box(x0=0, y0=0, x1=1, y1=1)
LEFT_TOP, RIGHT_TOP = Box(x0=0, y0=0, x1=0.5, y1=0.5), Box(x0=0.5, y0=0, x1=1, y1=0.5)


def test_colours_are_named_with_their_shares(quarters: Image.Image, encoded: Encode) -> None:
    """Four quarters of four colours have a quarter each."""
    text = measure_colour(encoded(quarters), WHOLE).text
    for name in ("red", "green", "blue", "white"):
        assert f"{name} (" in text
    assert text.count("25%") == 4
    assert "red (red 220, green 20, blue 20) 100%" in measure_colour(encoded(quarters), LEFT_TOP).text


def test_the_mean_colour_is_exact(encoded: Encode) -> None:
    """Half black and half white is grey on average, and neither colour is lost."""
    image = Image.new("RGB", (10, 10), "black")
    image.paste((255, 255, 255), (0, 0, 10, 5))
    text = measure_colour(encoded(image), WHOLE).text
    assert "Mean colour: grey (red 128, green 128, blue 128)" in text
    assert "black (red 0, green 0, blue 0) 50%" in text


def test_transparency_is_told(encoded: Encode) -> None:
    """A region that is half clear says so."""
    image = Image.new("RGBA", (10, 10), (200, 0, 0, 255))
    image.paste((0, 0, 0, 0), (0, 0, 5, 10))
    assert "50% of it is transparent" in measure_colour(encoded(image), WHOLE).text


def test_shapes_are_counted_in_groups(encoded: Encode) -> None:
    """Seven red dots and three blue squares are ten shapes in two groups."""
    image = Image.new("RGB", (400, 200), (250, 250, 240))
    pen = ImageDraw.Draw(image)
    for number in range(7):
        pen.ellipse((10 + 55 * number, 20, 50 + 55 * number, 60), fill=(210, 30, 30))
    for number in range(3):
        pen.rectangle((20 + 100 * number, 110, 90 + 100 * number, 180), fill=(30, 60, 200))
    text = count_shapes(encoded(image), WHOLE).text
    assert text.startswith("10 separate shapes")
    assert "- 7 alike" in text
    assert "- 3 alike" in text
    assert "1 shape stands" in count_shapes(encoded(image), Box(x0=0, y0=0, x1=0.14, y1=0.4)).text
    assert "cut off by the region's edge" in count_shapes(encoded(image), Box(x0=0, y0=0, x1=0.5, y1=0.2)).text


def test_an_empty_region_has_no_shapes(encoded: Encode) -> None:
    """One even colour holds nothing to count."""
    assert "Nothing stands apart" in count_shapes(encoded(Image.new("RGB", (50, 50), "navy")), WHOLE).text


def test_texture_is_not_counted(encoded: Encode) -> None:
    """A region that falls into thousands of pieces is refused with a way out."""
    image = Image.new("L", (1000, 1000), 255)
    for x in range(0, 1000, 10):
        for y in range(0, 1000, 10):
            image.paste(0, (x, y, x + 6, y + 6))
    with pytest.raises(ToolFailure, match="smaller one"):
        count_shapes(encoded(image), WHOLE)


def test_equal_regions_look_the_same(quarters: Image.Image, encoded: Encode) -> None:
    """A region compared with itself differs nowhere, with another colour everywhere."""
    data = encoded(quarters)
    same = compare_regions(data, LEFT_TOP, data, LEFT_TOP).text
    other = compare_regions(data, LEFT_TOP, data, RIGHT_TOP).text
    assert "0.0% of the area differs" in same
    assert "look the same" in same
    assert "100.0% of the area differs" in other


def test_a_difference_is_placed(quarters: Image.Image, encoded: Encode) -> None:
    """A spot that only one of two images has is found where it is."""
    spotted = quarters.copy()
    ImageDraw.Draw(spotted).ellipse((170, 70, 190, 90), fill="black")
    text = compare_regions(encoded(quarters), WHOLE, encoded(spotted), WHOLE).text
    assert "most in the lower right part" in text


def test_regions_of_other_forms_are_compared_with_a_warning(quarters: Image.Image, encoded: Encode) -> None:
    """A wide and a high region are stretched, and the model is told."""
    data = encoded(quarters)
    assert "stretched" in compare_regions(data, WHOLE, data, Box(x0=0, y0=0, x1=0.1, y1=1)).text


def test_without_tesseract_the_model_is_told(
    quarters: Image.Image, encoded: Encode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading text where Tesseract is missing fails with another way to the same end."""
    monkeypatch.setattr(reading, "can_read", lambda: False)
    with pytest.raises(ToolFailure, match=r"not installed; zoom into the region"):
        read_text(encoded(quarters), WHOLE)


def test_what_tesseract_reads_is_a_quotation(
    quarters: Image.Image, encoded: Encode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text from the image is kept apart from the tool's own words, without empty lines, and cut."""
    import pytesseract

    said = ["Total 12\n\n  \nDue 3 May\n", "", "x" * 10_000]
    monkeypatch.setattr(reading, "can_read", lambda: True)
    monkeypatch.setattr(pytesseract, "image_to_string", lambda image, timeout: said.pop(0))
    assert read_text(encoded(quarters), WHOLE).quoted == "Total 12\nDue 3 May"
    empty = read_text(encoded(quarters), WHOLE)
    assert empty.quoted is None
    assert "No text" in empty.text
    long = read_text(encoded(quarters), WHOLE)
    assert len(long.quoted or "") == 4000
    assert "only its beginning" in long.text


def test_a_tesseract_that_fails_or_hangs_is_told(
    quarters: Image.Image, encoded: Encode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the program does, the model learns that reading did not work."""
    import pytesseract

    def hang(image: Image.Image, timeout: int) -> str:
        raise RuntimeError("Tesseract process timeout")

    monkeypatch.setattr(reading, "can_read", lambda: True)
    monkeypatch.setattr(pytesseract, "image_to_string", hang)
    with pytest.raises(ToolFailure, match="took too long"):
        read_text(encoded(quarters), WHOLE)


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
def test_printed_text_is_read(encoded: Encode) -> None:
    """Where Tesseract is installed, printed words come back."""
    from PIL import ImageFont

    image = Image.new("RGB", (400, 100), "white")
    ImageDraw.Draw(image).text((20, 30), "Invoice 4711", fill="black", font=ImageFont.load_default(40))
    assert "4711" in (read_text(encoded(image), WHOLE).quoted or "")
