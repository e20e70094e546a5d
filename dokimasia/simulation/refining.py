"""How a simulated candidate answers once more upon feedback: what is mended by the question, by a hint, by chance, or not."""

import re
from typing import Literal, NamedTuple

from dokimasia.domain.call import ChatReply
from dokimasia.simulation.candidates import Outcome, final_answer, fixed, put, step_outcome
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.hinting import guides, tells
from dokimasia.simulation.judging.scoring import HEDGED, RIGHT, stated
from dokimasia.simulation.profiles import CandidateProfile
from dokimasia.simulation.reading import read_json
from dokimasia.simulation.scene import Question, Scene, Step

PROMPTS = ("answer_again", "answer_again_published")
"""The prompts that ask for the answer once more."""

Reason = Literal["drift", "gap", "beyond"]

_SPACE = re.compile(r"\s+")
_WRONG = re.compile(r"\bfinal answer is wrong\b", re.IGNORECASE)
_NOTHING = re.compile(r"\W*nothing\b", re.IGNORECASE)
_FINAL = re.compile(r"^final answer:(.*)$", re.IGNORECASE | re.MULTILINE)


class _Told(NamedTuple):
    """What a feedback says: whether the answer was wrong, and the points by their question, with a hint or an empty text."""

    wrong: bool
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

    It goes by its earlier answer where that is shown to it, else by what it would say now; told nothing, by the latter.
    """
    anew: list[Outcome] = [
        step_outcome(profile, scene, step, number, draws) for number, step in enumerate(question.steps)
    ]
    feedback = inputs["feedback"]
    if profile.heedless or _NOTHING.match(feedback):
        return put(profile, question, anew, draws)
    told = _Told(bool(_WRONG.search(feedback)), _read_points(feedback), inputs.get("earlier_answer"))
    known: list[Outcome] = [
        _mended(profile, scene, step, number, anew[number], told, draws) for number, step in enumerate(question.steps)
    ]
    said: list[Outcome] = [
        _recited(profile, step, number, known[number], told, draws) for number, step in enumerate(question.steps)
    ]
    final = final_answer(question, known, draws)
    if told.wrong and draws.chance(profile.flips, "flips"):
        final = _another(question, final, told, draws)
    return put(profile, question, said, draws, final=final)


def _mended(
    profile: CandidateProfile, scene: Scene, step: Step, number: int, anew: Outcome, told: _Told, draws: Draws
) -> Outcome:
    before = anew if told.earlier is None else _said(step, told.earlier)
    if before == "right":
        return "wrong" if draws.chance(profile.harm, "harm", number) else "right"
    named = _normal(step.question) in told.points
    hints = [told.points[_normal(step.question)]] if named else list(told.points.values())
    why = reason(profile, scene, step)
    mends = (why == "drift" and bool(hints)) or (why == "gap" and any(map(guides, hints)))
    mends = (mends or tells(hints[0], step)) if named else mends and draws.chance(profile.carry, "carry", number)
    if mends or draws.chance(profile.retry, "retry", number):
        return "right"
    return before if before == "hedged" else anew


def _recited(profile: CandidateProfile, step: Step, number: int, known: Outcome, told: _Told, draws: Draws) -> Outcome:
    """What is said of a step: a reciter says what it had left out and is asked for, and concludes nothing from it."""
    if _normal(step.question) not in told.points or told.earlier is None:
        return known
    silent = _said(step, told.earlier) == "wrong" and not any(one in told.earlier for one in step.wrong)
    return "right" if silent and draws.chance(profile.recites, "recites", number) else known


def _another(question: Question, final: str, told: _Told, draws: Draws) -> str:
    """Another final answer than the one that was wrong: any other choice, or, without choices, another wrong one.

    A model that is not shown what it said changes what it would say now; one that said no final answer changes nothing.
    """
    stated = _FINAL.findall(told.earlier) if told.earlier is not None else [final]
    if not stated:
        return final
    among = question.choices or question.wrong_answers
    return draws.pick([one for one in among if one != stated[-1].strip()], "another")


def _said(step: Step, text: str) -> Outcome:
    score = stated(step.statement, text)
    return "right" if score == RIGHT else "hedged" if score == HEDGED else "wrong"


def _read_points(text: str) -> dict[str, str]:
    """The points' questions with their hints, in the array that ends a feedback; none where they cannot be read."""
    rows = read_json(text[text.find("[\n") :]) if "[\n" in text else None
    return {
        _normal(row["question"]): str(row.get("hint") or "")
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict) and isinstance(row.get("question"), str)
    }


def _normal(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()
