"""Pictures of the planted world are edited in every dimension of error, and tell by their metadata what is wrong with them."""

import io
from collections.abc import Iterator

import pytest
from PIL import Image, ImageChops, ImageStat

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.domain.criterion import Box
from dokimasia.simulation.blindspots.images import edited, edits_of, faults_of
from dokimasia.simulation.blindspots.instructions import FORMS, in_words, read_instruction, write_instruction
from dokimasia.simulation.blindspots.spots import spots_of
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.picture import draw, read_scene
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes.composing import make_scene
from dokimasia.tools.cutting import crop

VISIBLE = 0.05
"""The least mean difference of a pixel's brightness, of 255, that an edit leaves in a picture."""

WRITTEN = ("typographic_corruption", "incomplete_rendering", "background_misrendering", "mislabeled_symbols")
"""The dimensions of which a picture without writing has none."""


def pictures() -> Iterator[bytes]:
    """Three scenes of each place, and one of every other domain."""
    yield from (draw(make_scene("natural", seed)) for seed in range(9))
    yield from (draw(make_scene(domain, 1)) for domain in DOMAINS if domain != "natural")


def pixels(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


@pytest.mark.parametrize("dimension", FORMS)
def test_an_edit_is_visible_and_says_what_is_at_fault(dimension: str) -> None:
    """In every dimension the pixels change, the metadata name the fault, a neutral edit has none, and the scene stays known."""
    for number, picture in enumerate(pictures()):
        assert faults_of(picture) == ()
        instruction = write_instruction(dimension, spots_of(picture), Draws(f"{number}"))
        if instruction is None:
            assert dimension in WRITTEN
            assert read_scene(picture)[0].domain != "natural"
            continue
        made = edited(picture, instruction)
        assert made is not None
        assert made == edited(picture, instruction)
        assert faults_of(made) == (() if dimension == NEUTRAL else (dimension,))
        assert [edit.dimension for edit in edits_of(made)] == [dimension]
        assert read_scene(made) == read_scene(picture)
        difference = ImageStat.Stat(ImageChops.difference(pixels(picture), pixels(made)))
        assert sum(difference.mean) > VISIBLE, (dimension, number)


def test_an_instruction_is_understood_as_it_was_written() -> None:
    """Whatever stands around it, the editor reads from the words what the perturber meant; other words mean nothing to it."""
    picture = draw(make_scene("natural", 2))
    for dimension in FORMS:
        instruction = write_instruction(dimension, spots_of(picture), Draws(dimension))
        assert instruction is not None
        assert read_instruction(f"Please:\n {in_words(instruction)} Thank you.") == instruction
    assert read_instruction("Make it nicer.") is None


def test_what_is_not_in_the_picture_cannot_be_edited() -> None:
    """An instruction that names a thing of another picture leads to nothing."""
    instruction = read_instruction("Remove the golden teapot, and leave its place empty.")
    assert instruction is not None
    assert edited(draw(make_scene("natural", 2)), instruction) is None


def test_faults_go_along_with_edits_and_cuts() -> None:
    """A second edit adds its fault to the first; a part that a tool cuts out still says what the picture is at fault in."""
    picture = draw(make_scene("natural", 1))
    for dimension in ("incomplete_scene", "overcrowding"):
        instruction = write_instruction(dimension, spots_of(picture), Draws("x"))
        assert instruction is not None
        picture = edited(picture, instruction) or b""
    assert faults_of(picture) == ("incomplete_scene", "overcrowding")
    cut = crop(picture, Box(x0=0.1, y0=0.1, x1=0.5, y1=0.5)).image
    assert cut is not None
    assert faults_of(cut) == ("incomplete_scene", "overcrowding")


def test_anything_else_is_without_a_fault() -> None:
    """Bytes that are no picture, and a picture whose metadata are forged, raise nothing and have no fault."""
    assert faults_of(b"") == faults_of(b"\x89PNG\r\n\x1a\n") == faults_of(b"no picture") == ()
