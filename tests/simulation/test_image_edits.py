"""Pictures of the planted world are edited in every dimension of error, and tell by their metadata what is wrong with them."""

import io
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from dokimasia.datasets import open_dataset
from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.domain.call import ImageEdit, ModelRef
from dokimasia.domain.criterion import Box
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.image_edits import (
    EDIT_FORMS,
    edit_by_model,
    edit_image,
    faults_in_image,
    image_reference,
    instruction_text,
    read_edits,
    read_instruction,
    spots_of,
    write_instruction,
)
from dokimasia.simulation.picture import draw_scene, read_scene
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes import make_scene
from dokimasia.simulation.world import generation_prompt, make_prompted, write_gold
from dokimasia.storage.content.blobs import MemoryBlobs
from dokimasia.tools.cutting import crop

VISIBLE = 0.05
"""The least mean difference of a pixel's brightness, of 255, that an edit leaves in a picture."""

WRITTEN = ("typographic_corruption", "incomplete_rendering", "background_misrendering", "mislabeled_symbols")
"""The dimensions of which a picture without writing has none."""


@cache
def pictures() -> tuple[bytes, ...]:
    """Three scenes of each place, and one of every other domain."""
    scenes = [make_scene("natural", seed) for seed in range(9)]
    scenes += [make_scene(domain, 1) for domain in DOMAINS if domain != "natural"]
    return tuple(map(draw_scene, scenes))


def pixels(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


@pytest.mark.parametrize("dimension", EDIT_FORMS)
def test_an_edit_is_visible_and_says_what_is_at_fault(dimension: str) -> None:
    """In every dimension the pixels change, the metadata name the fault, a neutral edit has none, and the scene stays known."""
    for number, picture in enumerate(pictures()):
        assert faults_in_image(picture) == ()
        instruction = write_instruction(dimension, spots_of(picture), Draws(f"{number}"))
        if instruction is None:
            assert dimension in WRITTEN
            assert read_scene(picture)[0].domain != "natural"
            continue
        edited = edit_image(picture, instruction)
        assert edited is not None
        assert edited == edit_image(picture, instruction)
        assert faults_in_image(edited) == (() if dimension == NEUTRAL else (dimension,))
        assert [edit.dimension for edit in read_edits(edited)] == [dimension]
        assert read_scene(edited) == read_scene(picture)
        difference = ImageStat.Stat(ImageChops.difference(pixels(picture), pixels(edited)))
        assert sum(difference.mean) > VISIBLE, (dimension, number)


@pytest.mark.parametrize("dimension", EDIT_FORMS)
def test_an_edit_changes_the_picture_where_it_says(dimension: str) -> None:
    """What lies outside of the box that the metadata name is as it was; without a box all of the picture is changed."""
    picture = draw_scene(make_scene("natural", 2))
    instruction = write_instruction(dimension, spots_of(picture), Draws(dimension))
    assert instruction is not None
    edited = edit_image(picture, instruction)
    assert edited is not None
    (edit,) = read_edits(edited)
    changed = ImageChops.difference(pixels(picture), pixels(edited)).getbbox()
    assert changed is not None
    box = edit.box or Box(x0=0, y0=0, x1=1, y1=1)
    limits = (box.x0 * 640, box.y0 * 480, box.x1 * 640, box.y1 * 480)
    if edit.box is None:
        assert changed == limits
    assert all(first >= second - 2 for first, second in zip(changed[:2], limits[:2], strict=True))
    assert all(first <= second + 2 for first, second in zip(changed[2:], limits[2:], strict=True))


def test_an_instruction_is_understood_as_it_was_written() -> None:
    """Whatever stands around it, the editor reads from the words what the perturber meant; other words mean nothing to it."""
    picture = draw_scene(make_scene("natural", 2))
    for dimension in EDIT_FORMS:
        instruction = write_instruction(dimension, spots_of(picture), Draws(dimension))
        assert instruction is not None
        assert read_instruction(f"Please:\n {instruction_text(instruction)} Thank you.") == instruction
    assert read_instruction("Make it nicer.") is None


def test_what_is_not_in_the_picture_cannot_be_edited() -> None:
    """An instruction that names a thing of another picture leads to nothing."""
    instruction = read_instruction("Remove the golden teapot, and leave its place empty.")
    assert instruction is not None
    assert edit_image(draw_scene(make_scene("natural", 2)), instruction) is None


def test_faults_go_along_with_edits_and_cuts() -> None:
    """A second edit adds its fault to the first; a part that a tool cuts out still says what the picture is at fault in."""
    picture = draw_scene(make_scene("natural", 1))
    for dimension in ("incomplete_scene", "overcrowding"):
        instruction = write_instruction(dimension, spots_of(picture), Draws("x"))
        assert instruction is not None
        picture = edit_image(picture, instruction) or b""
    assert faults_in_image(picture) == ("incomplete_scene", "overcrowding")
    cut = crop(picture, Box(x0=0.1, y0=0.1, x1=0.5, y1=0.5)).image
    assert cut is not None
    assert faults_in_image(cut) == ("incomplete_scene", "overcrowding")


def test_anything_else_is_without_a_fault() -> None:
    """Bytes that are no picture, and a picture whose metadata are forged, raise nothing and have no fault."""
    assert faults_in_image(b"") == faults_in_image(b"\x89PNG\r\n\x1a\n") == faults_in_image(b"no picture") == ()


def test_a_prompt_asks_for_what_its_picture_shows() -> None:
    """The prompt of a scene names every thing with its place, all writing, and what must not be there, and is the same again."""
    for scene in make_prompted(6, 1):
        prompt = generation_prompt(scene)
        spots = spots_of(draw_scene(scene))
        assert all(thing.name in prompt for thing in spots.things)
        assert all(spot.words in prompt for spot in spots.written)
        assert all(f"no {kind}" in prompt for kind in spots.absent)
        assert not {thing.kind for thing in spots.things} & set(spots.absent)
        assert "cats and dogs" in prompt


def test_prompts_and_pictures_are_written_as_a_data_set(tmp_path: Path) -> None:
    """The data file is read like any other, a sample a prompt with its picture, and equal seeds give equal bytes."""
    for path in (tmp_path / "a.jsonl", tmp_path / "b" / "a.jsonl"):
        write_gold(path, 4, 3, of_texts=False)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b" / "a.jsonl").read_bytes()
    samples = list(open_dataset(tmp_path / "a.jsonl", blobs=MemoryBlobs()))
    assert [len(sample.images) for sample in samples] == [1, 1, 1, 1]
    assert samples[0].prompt.startswith("A clear, flat, coloured drawing")
    assert len({sample.cluster for sample in samples}) == 4


def test_careless_editors_do_less_or_more_than_they_are_told() -> None:
    """A careless image model gives some pictures back as they were, adds another fault to some, and refuses some."""
    picture = draw_scene(make_scene("natural", 1))
    ref, fates = ModelRef(name="e", model="sim/editor-careless"), Counter[str]()
    for number in range(200):
        instruction = write_instruction("object_substitution", spots_of(picture), Draws(f"{number}"))
        assert instruction is not None
        call = ImageEdit(
            model=ref, image=image_reference(picture), instruction=instruction_text(instruction), repeat=number
        )
        edited, usage = edit_by_model(call, picture)
        assert usage.known
        fates["refused" if edited is None else "idle" if edited == picture else str(len(faults_in_image(edited)))] += 1
    assert 2 <= fates["refused"] <= 20
    assert 25 <= fates["idle"] <= 58
    assert 33 <= fates["2"] <= 68
    assert fates["1"] > 80
