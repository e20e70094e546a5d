"""Judges in use on changed descriptions: criteria and decisions of simulated judges find in them what was changed."""

from itertools import product

import pytest

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.parsing.chains import parse_chain
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.gold_answers import gold_answer, plant_error
from dokimasia.simulation.judging.probes import criteria_of_description, says_the_same, solution_of_description
from dokimasia.simulation.judging.scoring import true_score
from dokimasia.simulation.picture_content import PictureContent, content_of_scene
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes import make_scene

JUDGE = JudgeProfile(name="sim/judge-x")


@pytest.fixture(scope="module")
def pictures() -> list[PictureContent]:
    """The content of forty scenes of each domain."""
    return [content_of_scene(make_scene(domain, seed)) for domain, seed in product(DOMAINS, range(40))]


@pytest.mark.parametrize("dimension", error_dimensions("image-to-text"))
def test_a_description_says_the_same_only_if_nothing_was_made_worse(
    dimension: str, pictures: list[PictureContent]
) -> None:
    """Without seeing the picture a judge tells every error from a rewording, beside the gold answer."""
    for number, picture in enumerate(pictures[::9]):
        gold = gold_answer(picture)
        assert says_the_same(JUDGE, gold, gold)
        planted = plant_error(dimension, gold, picture, Draws(f"{number}"))
        if planted is not None:
            assert says_the_same(JUDGE, planted.text, gold) is (dimension == NEUTRAL)


def test_what_is_no_description_is_compared_otherwise(pictures: list[PictureContent]) -> None:
    """A short answer is none, and is left to the comparison of words."""
    assert says_the_same(JUDGE, "42", "42") is None
    assert says_the_same(JUDGE, gold_answer(pictures[0]), "42") is None


def test_errors_are_passed_over_at_the_rates_of_right_or_wrong(pictures: list[PictureContent]) -> None:
    """The rate of misses under `right-or-wrong` and that of quibbles come out of the decisions."""
    judge = JudgeProfile(name="sim/judge-x", misses={"right-or-wrong": 0.3}, nitpicks=0.25)
    passed = refused = 0
    for number, picture in enumerate(pictures):
        gold = gold_answer(picture)
        wrong, neutral = (plant_error(one, gold, picture, Draws(f"{number}")) for one in ("tone_mismatch", NEUTRAL))
        assert wrong is not None
        assert neutral is not None
        passed += says_the_same(judge, wrong.text, gold) is True
        refused += says_the_same(judge, neutral.text, gold) is False
    for share, rate in ((passed / len(pictures), 0.3), (refused / len(pictures), 0.25)):
        assert abs(share - rate) < 4 * (rate * (1 - rate) / len(pictures)) ** 0.5


def test_criteria_of_a_description_turn_on_what_it_states(pictures: list[PictureContent]) -> None:
    """Five statements of the gold answer at most are criteria: it meets them all, and a wrong statement fails its own."""
    failed = 0
    for number, picture in enumerate(pictures[::9]):
        gold = gold_answer(picture)
        assert parse_chain(solution_of_description(picture)).answer == gold
        criteria = criteria_of_description(picture, final=True)
        assert 3 <= len(criteria) <= 5
        assert sum(one.weight for one in criteria) == 10
        assert all(true_score(one.question, one.ground_truth, gold) == 5 for one in criteria)
        planted = plant_error("misread_key_elements", gold, picture, Draws(f"{number}"))
        if planted is None:
            continue
        scores = [true_score(one.question, one.ground_truth, planted.text) for one in criteria]
        assert sorted(scores)[1:] == [5] * (len(criteria) - 1)
        failed += 1 in scores
    assert failed > 5
