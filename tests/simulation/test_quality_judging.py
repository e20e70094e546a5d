"""A simulated rater of criteria says what is planted, but for the faults that are planted in it."""

import pytest

from dokimasia.agents.quality import parse_quality
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.judges import quality_reply
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.requests import Inputs
from dokimasia.simulation.truths.judges import expected_rating, planted_quality
from dokimasia.simulation.world import make_world


def test_what_is_planted_in_criteria() -> None:
    """A step is accurate and necessary, a wrong one necessary alone, a fact that nobody needs accurate alone."""
    ((scene, question),) = make_world(1, 3)
    step = question.steps[0]
    assert planted_quality(scene, question, step.question, step.statement) == (3, 3)
    assert planted_quality(scene, question, step.question, step.wrong[0]) == (1, 3)
    fact = scene.facts[0]
    told = f"The {fact.attribute} of the {fact.subject} is {fact.value}."
    assert planted_quality(scene, question, "What else is there?", told) == (3, 1)
    assert planted_quality(scene, question, "What else is there?", "Nothing.") == (1, 1)


@pytest.mark.parametrize("wrong", [False, True])
def test_a_faulty_rater_misses_as_often_as_planted(wrong: bool) -> None:
    """Over 2,000 draws the mean rating of what is right, and of what is wrong, is the expected one."""
    rater = JudgeProfile(name="sim/judge-test", detects_missing=0.7, false_alarm=0.1, jitter=0.2)
    ((scene, question),) = make_world(1, 3)
    step = question.steps[0]
    inputs = Inputs(criterion=step.question, ground_truth=step.wrong[0] if wrong else step.statement)
    ratings = [
        parse_quality(quality_reply(rater, inputs, scene, question, Draws(f"{number:064x}"))) for number in range(2000)
    ]
    accuracy = sum(one.accuracy for one in ratings) / len(ratings)
    necessity = sum(one.necessity for one in ratings) / len(ratings)
    assert accuracy == pytest.approx(expected_rating(rater, 1 if wrong else 3), abs=0.06)
    assert necessity == pytest.approx(expected_rating(rater, 3), abs=0.06)
