"""The refiner: the model under evaluation answers once more, told as much as its arm allows (ATOM, section 3.5)."""

from collections.abc import Sequence
from dataclasses import replace

from dokimasia.agents.asking import Asked
from dokimasia.agents.candidate import respond
from dokimasia.agents.solver import question_inputs
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import canonical_json
from dokimasia.domain.judgement import Response
from dokimasia.domain.ports import Gateway
from dokimasia.domain.refinement import Arm, Point
from dokimasia.domain.sample import Sample
from dokimasia.parsing import parse_final_answer
from dokimasia.prompts import PromptLibrary, Rendered, render

EARLIER_LIMIT = 20_000
"""Characters of a model's earlier answer that it is shown again, where it is shown at all."""

ANSWER_LIMIT = 20_000
"""Characters from a response's end that are compared where it states no final answer on a line of its own."""

_STRIDE, _NUMBERS = 1_000, 10


def later_draw(repeat: int, round: int, number: int = 0) -> int:
    """Return the repeat index of a draw that comes after those of the evaluation: of a round, and in it of a number.

    It stays apart from every repeat of an evaluation below 1,000, and below the draws of its retries up to round 99.
    """
    return repeat + _STRIDE * (_NUMBERS * round + number)


def stated_answer(text: str) -> str:
    """Return what a response states as its final answer; the response itself, or its end, where it has no such line."""
    return parse_final_answer(text) or text.strip()[-ANSWER_LIMIT:]


def points_text(points: Sequence[Point]) -> str:
    """Return the points as a model is shown them: a JSON array, an object a line, numbered from 1.

    An object holds the atom's question and, in the arm `peer`, the hint where there is one; never a ground truth.
    """
    rows = [
        {"n": number, "question": point.question} | ({"hint": point.hint} if point.hint else {})
        for number, point in enumerate(points, start=1)
    ]
    return "[\n" + ",\n".join(canonical_json(row).decode() for row in rows) + "\n]"


def render_arm(
    sample: Sample,
    arm: Arm,
    points: Sequence[Point] = (),
    *,
    earlier: str | None = None,
    library: PromptLibrary | None = None,
) -> Rendered:
    """Return what a model is asked in an arm: `again` the question as it was first put, the others with what they say.

    `self` and `peer` without a point to name say no more than `retry`, and `peer` without a hint no more than `self`,
    in the same words: the ledger then knows the call.
    """
    inputs = question_inputs(sample)
    if arm == "again":
        return render("candidate", inputs, images=sample.images, library=library)
    if earlier is not None:
        inputs["earlier_answer"] = earlier[:EARLIER_LIMIT]
    if not points:
        return render("retry", inputs, images=sample.images, library=library)
    name = "peer_feedback" if any(point.hint for point in points) else "self_feedback"
    inputs["points"] = points_text(points)
    return render(name, inputs, images=sample.images, library=library)


async def answer_again(
    sample: Sample,
    arm: Arm,
    points: Sequence[Point] = (),
    *,
    gateway: Gateway,
    candidate: ModelSpec,
    round: int = 1,
    repeat: int = 0,
    earlier: str | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Response]:
    """Return the model's new answer, a draw of its own for every round.

    Args:
        sample: the question.
        arm: how much it is told.
        points: the failed atoms that it is told of, without those that were dropped.
        gateway: the way to the model.
        candidate: the model and how it is sampled.
        round: from 1.
        repeat: which repeat of the evaluation is refined.
        earlier: its earlier answer, where it is to be shown that, too.
        library: prompts that replace the package's own.
    """
    rendered = render_arm(sample, arm, points, earlier=earlier, library=library)
    shown = [*(("image",) if sample.images else ()), "question"]
    shown += ["earlier_answer"] if earlier is not None and arm != "again" else []
    shown += ["points"] if points else []
    shown += ["hints"] if any(point.hint for point in points) else []
    asked = await respond(
        rendered,
        sample,
        shown=tuple(shown),
        gateway=gateway,
        spec=candidate,
        arm=arm,
        repeat=later_draw(repeat, round),
    )
    if asked.value is None:
        return asked
    return replace(asked, value=asked.value.model_copy(update={"repeat": repeat}))
