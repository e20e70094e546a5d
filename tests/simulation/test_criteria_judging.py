"""Criteria that simulated judges draw, invent and look at again."""

import orjson
import pytest

from dokimasia.algorithms.criteria import check_criteria
from dokimasia.domain.criterion import Criterion
from dokimasia.parsing.criteria import parse_criteria
from dokimasia.parsing.criteria_check import parse_criteria_check
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.judges import draw_criteria, examine_criteria
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.scene import DOMAINS, criteria_text
from dokimasia.simulation.scenes import make_scene
from dokimasia.simulation.structured import judge_reply_as_object

INVENTIVE = JudgeProfile(name="sim/judge-inventive", incidental=1.0)


def sets(scene, question, *, count="1 to 5", mending=False) -> list[Criterion]:
    """What an inventive judge draws."""
    rows = draw_criteria(
        INVENTIVE, scene, question, "", Draws("k"), count=count, image=0, part=(0, 0, 1, 1), mending=mending
    )
    return list(parse_criteria(criteria_text(rows), image_count=1))


@pytest.mark.parametrize("domain", DOMAINS)
def test_what_is_drawn_keeps_the_rules_also_where_it_is_invented(domain) -> None:
    """In every domain the planted steps, and one invented before them, are criteria that break no rule."""
    for seed in range(4):
        scene = make_scene(domain, seed)
        for question in scene.questions:
            criteria = sets(scene, question)
            assert not check_criteria(criteria, question.text)
            steps = [step.question for step in question.steps]
            assert [one.question for one in criteria][-len(steps) :] == steps
            assert len(criteria) <= len(steps) + 1
            assert [one.final for one in criteria[:-1]] == [False] * (len(criteria) - 1)
            assert criteria[-1].final == (question.steps[-1].truth == question.answer)


def test_nothing_is_invented_when_a_set_is_sent_back(small_scene) -> None:
    """A judge that is told what was wrong writes the planted steps, with their weights."""
    question = small_scene.questions[0]
    assert len(sets(small_scene, question)) == 5
    mended = sets(small_scene, question, mending=True)
    assert [one.weight for one in mended] == [step.weight for step in question.steps]


def test_no_more_are_drawn_than_are_wanted(small_scene) -> None:
    """With fewer than there are steps the last ones are drawn, and the weights still sum to ten."""
    criteria = sets(small_scene, small_scene.questions[0], count="1 to 2", mending=True)
    assert [one.weight for one in criteria] == [3, 7]


def test_a_second_look_finds_what_no_step_says(small_scene) -> None:
    """Needed is what a numbered step of the solution says; in an object the same is said."""
    question = small_scene.questions[0]
    chain = "The picture shows: thing 9, colour: colour 9.\n" + "\n".join(
        f"{number}. {step.statement}" for number, step in enumerate(question.steps, 1)
    )
    criteria = sets(small_scene, question)
    shown = orjson.dumps([one.model_dump(include={"question", "ground_truth"}) for one in criteria]).decode()
    said = examine_criteria(shown, chain)
    check = parse_criteria_check(said, 5)
    assert [one.needed for one in check.criteria] == [False, True, True, True, True]
    assert check.missing == ""
    body = orjson.loads(judge_reply_as_object("criteria_check", said))
    assert [one["needed"] for one in body["criteria"]] == [False, True, True, True, True]
    assert body["criteria"][1] == {"n": 2, "needed": True, "single": True, "open": True, "reason": ""}
