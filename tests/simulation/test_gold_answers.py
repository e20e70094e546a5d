"""Gold answers of the planted world: true throughout, and every dimension of error can be planted in them and found again."""

from collections import Counter

import pytest

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.gold_answers import faults_in_text, gold_answer, plant_error
from dokimasia.simulation.picture_content import content_of_photograph, content_of_scene
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes import make_scene

PICTURES = [content_of_scene(make_scene(domain, seed)) for domain in DOMAINS for seed in range(6)]
NAMES = tuple(error_dimensions("image-to-text"))


def test_a_gold_answer_has_no_fault() -> None:
    """Whoever sees the picture finds nothing wrong in its gold answer, be it a scene or a photograph."""
    for picture in [*PICTURES, content_of_photograph("a" * 64)]:
        assert faults_in_text(gold_answer(picture), picture) == ()


def test_every_dimension_makes_items_and_is_alone_in_them() -> None:
    """An error planted in one dimension is found in that dimension and in no other; a rewording has no fault at all."""
    made: Counter[str] = Counter()
    for picture in PICTURES:
        gold = gold_answer(picture)
        for name in NAMES:
            planted = plant_error(name, gold, picture, Draws(f"{name}{picture.id}"))
            if planted is None:
                continue
            made[name] += 1
            assert planted.text != gold
            assert planted.description
            assert {one.dimension for one in faults_in_text(planted.text, picture)} == ({name} - {NEUTRAL})
    assert set(made) == set(NAMES)


def test_planting_is_reproducible() -> None:
    """Equal draws plant the same error, others may plant another one."""
    picture = PICTURES[0]
    gold = gold_answer(picture)
    planted = [plant_error("numerical_errors", gold, picture, Draws(key)) for key in ("a", "a", *map(str, range(8)))]
    assert planted[0] == planted[1]
    assert len(set(planted)) > 1


@pytest.mark.parametrize("name", NAMES)
def test_a_text_that_has_nothing_of_a_dimension_is_left_alone(name: str) -> None:
    """In an answer of one word nothing can be planted."""
    assert plant_error(name, "3", PICTURES[0], Draws("a")) is None


def test_what_a_fault_concerns_can_be_found_in_the_picture() -> None:
    """A false statement names the fact that it concerns, which has its place in the picture."""
    picture = PICTURES[0]
    planted = plant_error("numerical_errors", gold_answer(picture), picture, Draws("a"))
    assert planted is not None
    (fault,) = faults_in_text(planted.text, picture)
    assert fault.key is not None
    assert picture.by_key[fault.key].box is not None
    assert fault.words in planted.text or fault.words.casefold() in planted.text.casefold()
