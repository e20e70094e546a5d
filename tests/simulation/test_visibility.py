"""The near-sighted judge: what it sees, where it looks closer, and what becomes of what it does not see."""

import orjson
import pytest

from dokimasia.domain.call import ToolSpec
from dokimasia.domain.criterion import Box
from dokimasia.simulation.profiles import as_candidate, as_judge, find_profile, profiles
from dokimasia.simulation.scene import SceneStep
from dokimasia.simulation.truths.evaluation import expected_chain_right, expected_mean, expected_score, is_small
from dokimasia.simulation.visibility import WHOLE, ask_to_enlarge, makes_out
from dokimasia.simulation.world import make_world

SMALL = Box(x0=0.4, y0=0.4, x1=0.5, y1=0.5)
ZOOM, COUNT = (ToolSpec(name=name, description="", parameters={}) for name in ("zoom", "count_shapes"))


def step(box: Box | None) -> SceneStep:
    """A step whose evidence lies in the box."""
    return SceneStep(
        question="What?",
        truth="a",
        statement="It is a.",
        wrong=("It is b.", "It is c."),
        weight=5,
        capability="",
        box=box,
    )


def test_small_things_are_seen_once_they_are_large_enough() -> None:
    """A hundredth of the picture is too little for a fiftieth; a part that holds it whole and large enough shows it."""
    assert not makes_out(0.02, SMALL, [WHOLE])
    assert makes_out(0.02, SMALL, [WHOLE, (0.3, 0.3, 0.8, 0.8)])
    assert not makes_out(0.02, SMALL, [WHOLE, (0.45, 0.3, 0.8, 0.8)])
    assert not makes_out(0.02, SMALL, [])
    assert makes_out(0.01, Box(x0=0.4, y0=0.4, x1=0.51, y1=0.5), [WHOLE])
    assert makes_out(0.02, None, [WHOLE])
    assert makes_out(0, SMALL, [])


def test_it_looks_where_its_steps_lie() -> None:
    """Each small region is asked for once, with a little around it, on the image that shows the scene."""
    reply = ask_to_enlarge((COUNT, ZOOM), [SMALL, SMALL, None], 2, WHOLE, "k" * 32)
    assert reply is not None
    (call,) = reply.tool_calls
    assert (call.name, reply.finish_reason) == ("zoom", "tool_calls")
    assert orjson.loads(call.arguments) == {"image": 2, "box": [0.395, 0.395, 0.505, 0.505]}
    inside = ask_to_enlarge((ZOOM,), [SMALL], 0, (0.4, 0.4, 0.9, 0.9), "k" * 32)
    assert inside is not None
    assert orjson.loads(inside.tool_calls[0].arguments)["box"] == [0, 0, 0.21, 0.21]


def test_it_cannot_look_without_a_tool_that_enlarges() -> None:
    """Without zoom and crop, or with nothing to look at, it goes by what it sees."""
    assert ask_to_enlarge((COUNT,), [SMALL], 0, WHOLE, "k") is None
    assert ask_to_enlarge((ZOOM,), [None], 0, WHOLE, "k") is None
    assert ask_to_enlarge((ZOOM,), [SMALL], 0, (0.6, 0.6, 1.0, 1.0), "k") is None


def test_one_shipped_judge_is_near_sighted() -> None:
    """It has no other fault, and a fair part of the planted steps is too small for it, in most domains."""
    near = as_judge(find_profile("sim/judge-nearsighted"))
    assert near.model_copy(update={"sight": 0.0, "name": "sim/judge"}) == find_profile("sim/judge")
    assert sum(as_judge(profile).sight > 0 for profile in profiles().values()) == 1
    small = {scene.domain for scene, question in make_world(210, 0) for one in question.steps if is_small(near, one)}
    assert small >= {"document", "interface", "data", "stem", "logic", "creative"}
    share = expected_chain_right(near, make_world(210, 0))
    assert 0.5 < share < 0.85
    assert expected_chain_right(near, make_world(210, 0), tools=True) == 1


def test_the_truth_with_tools_is_that_of_a_judge_that_sees_well() -> None:
    """Tools take the one fault away, the image alone makes it pass everything that it cannot verify."""
    pairs = list(make_world(42, 1))
    near, good = "sim/judge-nearsighted", "sim/judge"
    for name in ("sim/strong", "sim/weak"):
        sharp = expected_mean(name, good, pairs)
        assert expected_mean(name, near, pairs, tools=True) == sharp
        assert expected_mean(name, near, pairs) < sharp < expected_mean(name, near, pairs, show_image=True)
        assert expected_mean(name, good, pairs, show_image=True) == sharp


def test_a_perfect_answer_loses_what_is_small() -> None:
    """By wrong criteria a perfect answer gets 1 on each small step and 5 on each other."""
    near, perfect = as_judge(find_profile("sim/judge-nearsighted")), as_candidate(find_profile("sim/judge"))
    for scene, question in make_world(21, 2):
        weights = [one.weight * (1 if is_small(near, one) else 5) for one in question.steps]
        assert expected_score(perfect, near, scene, question) == pytest.approx(sum(weights) / 10)
