"""From what a judge said of an item to whether it saw the error: every way of judging, and what counts for nothing."""

from typing import Any

import pytest

from dokimasia.domain.blindspots import AxisChoices, AxisScores, Evaluator, Perturbed, Probe
from dokimasia.domain.call import ModelRef, ModelSpec
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer, Provenance
from dokimasia.domain.rubric import RubricJudgement
from dokimasia.methods.probe.detections import JudgedDetection, detect
from dokimasia.methods.probe.request import Arm
from dokimasia.methods.probe.units import Gold, ProbeUnit

SPEC = ModelSpec(ref=ModelRef(name="j", model="sim/judge"))
ARM = Arm("j", "", False, SPEC, SPEC)
ITEM = Perturbed(
    sample="d", sample_id="s", task="image-to-text", dimension="numerical_errors", gold="six cups", perturbed="two cups"
)
BY = Provenance(call="", model="j", prompt="p", prompt_version=1, prompt_hash="")


def unit(evaluator: Evaluator, *, neutral: bool = False, draw: int = 0) -> ProbeUnit:
    """A unit of one item, or, with a draw, of the unchanged answer."""
    probe = Probe("p", ITEM, neutral, True, "c")
    return ProbeUnit("u", evaluator, ARM, "s", Gold("g", ITEM, (probe,)), None if draw else probe, draw)


def scores(**points: float) -> AxisScores:
    """A judgement by axes."""
    return AxisScores(sample="d", evaluator="single-axes", judged="a", scores=points, provenance=BY)


def choices(**chosen: Any) -> AxisChoices:
    """A comparison by axes."""
    return AxisChoices(sample="d", evaluator="pairwise-axes", first="a", second="b", choices=chosen, provenance=BY)


GOLD = scores(trustworthiness=9, visual_grounding=9, coherence=9, clarity=9, overall=9)


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, JudgedDetection(undetected=1, strict=1, worse=0, majority=1, overall=1)),
        ({"clarity": 3}, JudgedDetection(undetected=1, strict=1, worse=0, majority=1, overall=1)),
        ({"coherence": 8}, JudgedDetection(undetected=0, strict=0, worse=0, majority=1, overall=1)),
        ({"overall": 10}, JudgedDetection(undetected=0, strict=1, worse=1, majority=1, overall=0)),
    ],
)
def test_scored_alone(changed: dict[str, float], found: JudgedDetection) -> None:
    """Undetected is what leaves all relevant axes as they were; a higher score is a change, and in the strict form missed."""
    assert detect(unit("single-axes"), GOLD, [scores(**{**GOLD.scores, **changed})]) == found


def test_a_harmless_change_is_held_to_all_axes() -> None:
    """A harmless change is judged equal where no axis differs, relevant to the meant dimension or not."""
    same, less = scores(**GOLD.scores), scores(**{**GOLD.scores, "clarity": 8})
    assert detect(unit("single-axes", neutral=True), GOLD, [same]) == JudgedDetection(equal=1, worse=0)
    assert detect(unit("single-axes", neutral=True), GOLD, [less]) == JudgedDetection(equal=0, worse=0)
    assert detect(unit("single-axes", draw=1), GOLD, [less]).equal == 0


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("first", "second", JudgedDetection(undetected=0, strict=0, worse=0, orders=(1, 1), majority=0, overall=0)),
        (
            "first",
            "first",
            JudgedDetection(undetected=0.5, strict=1, worse=0.5, orders=(1, -1), majority=0.5, overall=0.5),
        ),
        ("first", "tie", JudgedDetection(undetected=0.5, strict=1, worse=0, orders=(1, 0), majority=0.5, overall=0.5)),
        ("tie", "tie", JudgedDetection(undetected=1, strict=1, worse=0, orders=(0, 0), majority=1, overall=1)),
        ("second", "first", JudgedDetection(undetected=1, strict=1, worse=1, orders=(-1, -1), majority=1, overall=1)),
    ],
)
def test_compared(first: str, second: str, found: JudgedDetection) -> None:
    """The gold answer alone has to be chosen; a tie counts as not chosen, and the two orders are averaged."""
    both = [choices(overall=first), choices(overall=second)]
    assert detect(unit("pairwise-axes"), None, both) == found


def test_honest_ties_go_undetected_by_majority_alone() -> None:
    """Where two of four relevant axes choose the gold answer and two are ties, any axis detects, and no majority does."""
    first, second = (
        choices(trustworthiness=gold, visual_grounding="tie", coherence="tie", overall=gold)
        for gold in ("first", "second")
    )
    assert detect(unit("pairwise-axes"), None, [first, second]) == JudgedDetection(
        undetected=0, strict=0, worse=0, orders=(0, 0), majority=1, overall=0
    )
    assert detect(unit("pairwise-axes"), None, [first, first]).overall == 0.5
    alone = [choices(overall="first"), choices(overall="second")]
    assert detect(unit("pairwise-vanilla"), None, alone) == JudgedDetection(
        undetected=0, strict=0, worse=0, orders=(1, 1)
    )
    assert detect(unit("pairwise-axes", neutral=True), None, [first, second]).overall is None


def test_compared_and_equal() -> None:
    """Of a harmless change, or the gold answer beside itself, equal is a tie on every axis."""
    tie, torn = choices(overall="tie", clarity="tie"), choices(overall="tie", clarity="first")
    assert detect(unit("pairwise-axes", neutral=True), None, [tie, torn]).equal == 0.5
    assert detect(unit("pairwise-axes", draw=1), None, [tie]) == JudgedDetection(equal=1)
    assert detect(unit("pairwise-axes", draw=1), None, [torn]) == JudgedDetection(equal=0)


def test_beside_a_reference() -> None:
    """By a reference an error goes undetected with the full score, and a harmless change is judged equal with it."""
    full, less = scores(overall=10), scores(overall=9)
    assert detect(unit("reference"), full, [full]) == JudgedDetection(undetected=1, strict=1, worse=0)
    assert detect(unit("reference"), full, [less]) == JudgedDetection(undetected=0, strict=0, worse=0)
    assert detect(unit("reference", neutral=True), full, [less]).equal == 0
    assert detect(unit("reference"), less, [full]) == JudgedDetection(undetected=1, strict=1, worse=1)


def test_by_checkpoints() -> None:
    """By checkpoints an error goes undetected where the weighted score is not lower."""

    def judged(*points: int) -> CheckpointScores:
        return CheckpointScores(
            response="r", criteria="c", scores=points, score=sum(points) / len(points), provenance=BY
        )

    assert detect(unit("checkpoints"), judged(5, 4), [judged(4, 4)]) == JudgedDetection(undetected=0, strict=0, worse=0)
    assert detect(unit("checkpoints"), judged(5, 4), [judged(4, 5)]) == JudgedDetection(undetected=1, strict=1, worse=0)
    assert detect(unit("checkpoints", neutral=True), judged(5, 4), [judged(5, 5)]) == JudgedDetection(equal=0, worse=1)


def test_by_gated_rubrics() -> None:
    """By rubrics an error is detected where one fails that held; the strict form asks for a lower gated score."""

    def judged(*holds: bool) -> RubricJudgement:
        return RubricJudgement(
            response="r", rubrics="s", group_a=holds, group_b=(), score=float(all(holds)), provenance=BY
        )

    closed = judged(True, False)
    assert detect(unit("gated"), judged(True, True), [closed]) == JudgedDetection(undetected=0, strict=0, worse=0)
    assert detect(unit("gated"), closed, [judged(False, False)]) == JudgedDetection(undetected=0, strict=1, worse=0)
    assert detect(unit("gated", neutral=True), closed, [judged(False, True)]) == JudgedDetection(equal=0, worse=0)


def test_right_or_wrong() -> None:
    """An error that is called right went undetected; a harmless change has to be called right."""
    right = FinalAnswer(response="r", verdict="right", rule="judge")
    wrong = FinalAnswer(response="r", verdict="wrong", rule="judge")
    assert detect(unit("right-or-wrong"), right, [right]) == JudgedDetection(undetected=1, strict=1, worse=0)
    assert detect(unit("right-or-wrong"), right, [wrong]) == JudgedDetection(undetected=0, strict=0, worse=0)
    assert detect(unit("right-or-wrong", neutral=True), wrong, [right]) == JudgedDetection(equal=1, worse=1)
