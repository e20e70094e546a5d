"""The refiner: the model under evaluation answers again, with the same prompt in every arm (ATOM, section 3.5)."""

from collections.abc import Sequence

from dokimasia.agents.asking import Ask
from dokimasia.agents.candidate import respond
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.judgement import Response
from dokimasia.domain.refinement import ARMS, Answered, Arm, Feedback, FeedbackPoint
from dokimasia.domain.sample import Sample
from dokimasia.prompts import lines_text

EARLIER_LIMIT = 20_000
"""Maximum number of characters of a model's earlier answer that it, or the writer of a hint, sees again."""

VERDICTS: dict[Answered, str] = {
    "wrong": "The final answer is wrong.",
    "right": "The final answer is right.",
    "unknown": "Whether the final answer is right is not known.",
}
NOTHING_SAID = "Nothing: whether it is right has not been said."
NOT_ALL_SHOWN = "Not all that it has to rest on was shown, or shown right."
POINTS: dict[Answered, str] = {
    "wrong": "On these points the answer is wrong, incomplete or silent:",
    "right": "These points it did not show, or not as they are:",
    "unknown": "On these points the answer is wrong, incomplete or silent:",
}

_STRIDE, _NUMBERS = 1_000, 10


def later_draw(repeat: int, round: int, number: int = 0) -> int:
    """Return the repeat index of a draw after those of the evaluation, by round and number within the round.

    It is distinct from every repeat of an evaluation below 1,000, and stays below the draws of its retries up to round
    99.
    """
    return repeat + _STRIDE * (_NUMBERS * round + number)


def arm_draw(repeat: int, round: int, arm: Arm) -> int:
    """Return the repeat index for an arm's answer in a round; no two arms share one."""
    return later_draw(repeat, round, ARMS.index(arm))


def points_text(points: Sequence[FeedbackPoint]) -> str:
    """Return the points as a model sees them: a JSON array with one object per line, numbered from 1.

    An object contains the atom's question, how the earlier answer treated it if known, and, in the arm `peer`, any
    hint, but never a ground truth.
    """
    earlier = {None: {}, True: {"earlier": "wrong or incomplete"}, False: {"earlier": "not stated"}}
    return lines_text(
        {"n": number, "question": point.question, **earlier[point.stated]}
        | ({"hint": point.hint} if point.hint else {})
        for number, point in enumerate(points, start=1)
    )


def verdict_text(feedback: Feedback) -> str:
    """Return the feedback's verdict on the last answer as a whole; empty in the arm `again`."""
    if feedback.arm == "again":
        return NOTHING_SAID
    text = VERDICTS[feedback.answered]
    if feedback.points:
        return f"{text} {POINTS[feedback.answered]}"
    if feedback.answered == "wrong":
        return text
    return f"{text} {NOT_ALL_SHOWN}"


def answer_again(
    sample: Sample,
    feedback: Feedback,
    *,
    draw: int,
    repeat: int = 0,
    earlier: str | None = None,
    published: bool = False,
) -> Ask[Response]:
    """Ask a model to answer again, with its earlier answer and a feedback; the arms differ in the feedback alone.

    Args:
        sample: the question.
        feedback: the feedback to the model.
        draw: the repeat index of the call (see `arm_draw`).
        repeat: number of the refined repeat of the evaluation.
        earlier: its last answer, if it is shown.
        published: as in the paper: no earlier answer, and only the question in the arm `again`.
    """
    inputs = question_inputs(sample)
    shown = ["image", "question"] if sample.images else ["question"]
    prompt = "answer_again_published" if published else "answer_again"
    if published and feedback.arm == "again":
        prompt = "candidate_plain"
    else:
        points = f"\n{points_text(feedback.points)}" if feedback.points else ""
        inputs["feedback"] = verdict_text(feedback) + points
        shown += ["feedback", *(["points"] if points else [])]
        shown += ["hints"] if any(point.hint for point in feedback.points) else []
    if earlier is not None and not published:
        inputs["earlier_answer"] = earlier[:EARLIER_LIMIT]
        shown.append("earlier_answer")
    return respond(
        prompt, inputs, sample, shown=shown, images=sample.images, arm=feedback.arm, repeat=repeat, draw=draw
    )
