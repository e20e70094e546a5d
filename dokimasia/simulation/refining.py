"""How a simulated candidate answers once more upon feedback: what is mended by the question, by a hint, by chance, or not."""

import re
from typing import Literal, NamedTuple

from dokimasia.domain.call import ChatReply
from dokimasia.simulation.candidates import Outcome, fixed, put, step_outcome
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.hinting import guides, tells
from dokimasia.simulation.judging.scoring import HEDGED, RIGHT, stated
from dokimasia.simulation.profiles import CandidateProfile
from dokimasia.simulation.reading import read_json
from dokimasia.simulation.scene import Question, Scene, Step

PROMPTS = ("retry", "self_feedback", "peer_feedback")
"""The prompts that ask for the answer once more."""

Reason = Literal["drift", "gap", "beyond"]

_SPACE = re.compile(r"\s+")


class _Told(NamedTuple):
    """What a feedback says: the points that it names by their question, with a hint or an empty text for each."""

    points: dict[str, str]
    earlier: str | None


def reason(profile: CandidateProfile, scene: Scene, step: Step) -> Reason:
    """Return why the model gets the step wrong, where it does: the same in every request."""
    drawn = fixed(profile, scene, step, "reason")
    if drawn < profile.drift:
        return "drift"
    return "gap" if drawn < profile.drift + profile.gap else "beyond"


def answer(
    profile: CandidateProfile, scene: Scene, question: Question, inputs: dict[str, str], draws: Draws
) -> ChatReply:
    """Return the model's new answer to a question, with what the feedback mends and spoils.

    It goes by its earlier answer where that is shown to it, else by what it would say now.
    """
    anew: list[Outcome] = [
        step_outcome(profile, scene, step, number, draws) for number, step in enumerate(question.steps)
    ]
    if profile.heedless:
        return put(profile, question, anew, draws)
    told = _Told(_read_points(inputs.get("points", "")), inputs.get("earlier_answer"))
    outcomes: list[Outcome] = [
        _mended(profile, scene, step, number, anew[number], told, draws) for number, step in enumerate(question.steps)
    ]
    return put(profile, question, outcomes, draws)


def _mended(
    profile: CandidateProfile, scene: Scene, step: Step, number: int, anew: Outcome, told: _Told, draws: Draws
) -> Outcome:
    before = anew if told.earlier is None else _said(step, told.earlier)
    if before == "right":
        return "wrong" if draws.chance(profile.harm, "harm", number) else "right"
    named = _normal(step.question) in told.points
    hint = told.points.get(_normal(step.question), "")
    why = reason(profile, scene, step)
    if named:
        mends = why == "drift" or (why == "gap" and guides(hint)) or tells(hint, step)
    else:
        mends = bool(told.points) and why == "drift" and draws.chance(profile.carry, "carry", number)
    if mends or draws.chance(profile.retry, "retry", number):
        return "right"
    return before if before == "hedged" else anew


def _said(step: Step, text: str) -> Outcome:
    score = stated(step.statement, text)
    return "right" if score == RIGHT else "hedged" if score == HEDGED else "wrong"


def _read_points(text: str) -> dict[str, str]:
    """The points' questions with their hints; none where they cannot be read."""
    rows = read_json(text)
    return {
        _normal(row["question"]): str(row.get("hint") or "")
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict) and isinstance(row.get("question"), str)
    }


def _normal(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()
