"""Simulated models plant errors in captions: one fact each, of the dimension that is named, about what is named."""

import pytest

from dokimasia.agents.perturbation import dimensions, plant_errors
from dokimasia.domain.perturbation import PerturbationTarget, changed
from dokimasia.domain.rubric import ERROR_KINDS
from dokimasia.errors import UnparsableReply
from dokimasia.prompts import default_library
from dokimasia.simulation.judging.rubrics import meets_rubric
from dokimasia.simulation.picture_content import content_of_scene, read_statements, sort_of
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.respond import respond
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes import make_scene

CAPTIONS = [
    " ".join(point.sentence() for point in content_of_scene(make_scene(domain, 700 + seed)).points)
    for domain in DOMAINS
    for seed in range(3)
]


def planted(ask, text, targets, judge=None):
    """Errors as a simulated model plants them, each with the text that it makes."""
    judge = judge or JudgeProfile(name="sim/judge")
    what = plant_errors(text, targets)
    reply = respond(ask(judge.name, what.prompt, dict(what.inputs)), {}, models={judge.name: judge}).text
    assert what.parse is not None
    return [changed(text, changes) if changes else None for changes in what.parse(reply)]


def test_every_kind_of_rubric_is_a_dimension_that_can_be_planted() -> None:
    """The dimensions are data: each kind of rubric is one of them, defined once, and the prompts of rubrics name them all."""
    assert set(ERROR_KINDS) == set(dimensions())
    library = default_library()
    for name in library.names():
        if name.startswith("must_right_") or name in {"easy_wrong", "rubric_repair"}:
            assert all(kind in library.get(name).system for kind in ERROR_KINDS), name
    for one in dimensions().values():
        assert one.right != one.wrong


def test_one_fact_is_told_wrong_and_nothing_else(ask) -> None:
    """A planted error changes one statement of its dimension; where the text has none, none is planted."""
    found = set()
    for text in CAPTIONS:
        told = {one.key: one.value for one in read_statements(text)}
        texts = planted(ask, text, [PerturbationTarget(one) for one in dimensions().values()])
        for name, wrong in zip(dimensions(), texts, strict=True):
            here = {sort_of(key[0], value) for key, value in told.items()}
            assert (wrong is None) or name in here
            if wrong is not None:
                after = {one.key: one.value for one in read_statements(wrong)}
                (key,) = [key for key in told if after[key] != told[key]]
                assert sort_of(key[0], told[key]) == name
                found.add(name)
    assert {"count", "attribute", "object", "text", "value"} <= found


def test_an_error_about_a_rubric_fails_it(ask) -> None:
    """An error about what a rubric demands, or in the claim that it forbids, makes a caption that fails the rubric."""
    for text in CAPTIONS:
        for stated in read_statements(text)[:3]:
            dimension = dimensions()[sort_of(stated.key[0], stated.value)]
            sentence = f"t{stated.sentence[1:]}"
            demand = f"The response must say that {sentence}"
            ban = f"The response must not say that {sentence.replace(stated.value, 'nobody knows')}"
            for wrong, rubric in zip(
                planted(ask, text, [PerturbationTarget(dimension, demand), PerturbationTarget(dimension, ban)]),
                (demand, ban),
                strict=True,
            ):
                assert meets_rubric(rubric, text)
                assert wrong is None or not meets_rubric(rubric, wrong)


@pytest.mark.parametrize("slip", ["refuses", "unparsable", "one_short"])
def test_slips_are_of_no_use(ask, slip) -> None:
    """Refusals, chatter and one error too few are read by no parser."""
    judge = JudgeProfile(name="sim/x", slips={slip: 1.0})
    with pytest.raises(UnparsableReply):
        planted(ask, CAPTIONS[0], [PerturbationTarget(one) for one in dimensions().values()], judge)
