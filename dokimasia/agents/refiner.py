"""The refiner: the model under evaluation answers once more, told as much as its arm allows (ATOM, section 3.5)."""

from collections.abc import Sequence

from dokimasia.agents.asking import Ask
from dokimasia.agents.candidate import respond
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.judgement import Response
from dokimasia.domain.refinement import Arm, Point
from dokimasia.domain.sample import Sample
from dokimasia.prompts import lines_text

EARLIER_LIMIT = 20_000
"""Characters of a model's earlier answer that it is shown again, where it is shown at all."""

_STRIDE, _NUMBERS = 1_000, 10


def later_draw(repeat: int, round: int, number: int = 0) -> int:
    """Return the repeat index of a draw that comes after those of the evaluation: of a round, and in it of a number.

    It stays apart from every repeat of an evaluation below 1,000, and below the draws of its retries up to round 99.
    """
    return repeat + _STRIDE * (_NUMBERS * round + number)


def points_text(points: Sequence[Point]) -> str:
    """Return the points as a model is shown them: a JSON array, an object a line, numbered from 1.

    An object holds the atom's question and, in the arm `peer`, the hint where there is one; never a ground truth.
    """
    return lines_text(
        {"n": number, "question": point.question} | ({"hint": point.hint} if point.hint else {})
        for number, point in enumerate(points, start=1)
    )


def answer_again(
    sample: Sample,
    arm: Arm,
    points: Sequence[Point] = (),
    *,
    round: int = 1,
    repeat: int = 0,
    earlier: str | None = None,
) -> Ask[Response]:
    """The model answers anew, a draw of its own for every round: in the arm `again` the question as it was first put.

    `self` and `peer` without a point to name say no more than `retry`, and `peer` without a hint no more than `self`,
    in the same words: the ledger then knows the call.

    Args:
        sample: the question.
        arm: how much it is told.
        points: the failed atoms that it is told of, without those that were dropped.
        round: from 1.
        repeat: which repeat of the evaluation is refined.
        earlier: its earlier answer, where it is to be shown that, too.
    """
    prompt, inputs = "candidate", question_inputs(sample)
    shown = ["image", "question"] if sample.images else ["question"]
    if arm != "again":
        prompt = "retry"
        if earlier is not None:
            inputs["earlier_answer"] = earlier[:EARLIER_LIMIT]
            shown.append("earlier_answer")
        if points:
            prompt = "peer_feedback" if any(point.hint for point in points) else "self_feedback"
            inputs["points"] = points_text(points)
    shown += ["points"] if points else []
    shown += ["hints"] if any(point.hint for point in points) else []
    return respond(
        prompt,
        inputs,
        sample,
        shown=shown,
        images=sample.images,
        arm=arm,
        repeat=repeat,
        draw=later_draw(repeat, round),
    )
