"""Simulated peers that give hints on steps, and simulated candidates that answer again after feedback."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel

from dokimasia.domain.call import ChatReply
from dokimasia.simulation.candidates import (
    REFUSAL,
    REFUSED,
    StepOutcome,
    final_answer,
    fixed_draw,
    step_outcome,
    word_answer,
)
from dokimasia.simulation.draws import Draws, text_reply
from dokimasia.simulation.judging.scoring import HEDGED, NUMBER_WORDS, RIGHT, plain_text, statement_score
from dokimasia.simulation.profiles import CandidateProfile
from dokimasia.simulation.requests import Inputs, read_rows
from dokimasia.simulation.scene import Scene, SceneQuestion, SceneStep

HINT_PROMPTS = ("peer_hint", "hint_rewrite")
"""The prompts that ask for a hint."""

VERBOSE_WORDS = 5_000

_GUIDANCE = (
    "Look closer at the very spot that this point is about, and take your time over it.",
    "Compare what is there with its surroundings before you settle this point.",
    "Check this point on the picture itself and not from memory or from what is usual.",
    "Follow the outline of the thing in question from end to end, and mind what covers it.",
    "Go over this part slowly, piece by piece, and keep track of what you have been through already.",
    "Start from what the point asks for, find where the picture shows it, and only then go on.",
)
_FLATTERY = (
    "What a brilliant effort! You are truly gifted.",
    "Anybody would be proud of such lovely sentences; the style is simply charming.",
    "Great job! You did so well. Keep it up!",
    "It was a pleasure from the first word on, and your mind is surely among the finest.",
)
_RAMBLE = "there is always so much more to be said about pictures and about the many things in them and beyond"
_VERB = re.compile(r"\b(?:look|compare|check|follow|go over|start from|count|trace|measure)\b", re.IGNORECASE)
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")


class HintPoint(BaseModel):
    """A point that hints are about, with its hint in a feedback."""

    question: str
    hint: str | None = None


def hint_reply(
    profile: CandidateProfile,
    scene: Scene,
    question: SceneQuestion,
    inputs: Inputs,
    draws: Draws,
    *,
    rewriting: bool,
) -> ChatReply:
    """Return a peer's hints on the named steps, or their second wordings; each is drawn independently."""
    steps = {step.question: step for step in question.steps}
    steps_of_points = [steps.get(point) for point in read_hint_points(inputs.points)]
    hints = [
        _hint(profile, scene, question, step, number, draws, rewriting=rewriting)
        for number, step in enumerate(steps_of_points)
    ]
    if set(hints) == {REFUSAL}:
        return REFUSED
    return _in_tags(hints)


def general_hints(inputs: Inputs, draws: Draws) -> ChatReply:
    """Return general guidance, on points of a question outside the planted world."""
    count = len(read_hint_points(inputs.points))
    return _in_tags([draws.pick(_GUIDANCE, "guidance", number) for number in range(count)])


def read_hint_points(text: str) -> list[str]:
    """Return the questions of a list of points, in order; none if it cannot be read."""
    return [point.question for point in read_rows(text, HintPoint)]


def _hint(
    profile: CandidateProfile,
    scene: Scene,
    question: SceneQuestion,
    step: SceneStep | None,
    number: int,
    draws: Draws,
    *,
    rewriting: bool,
) -> str:
    if step is None:
        return draws.pick(_GUIDANCE, "guidance", number)
    fate = fixed_draw(profile, scene, step, "hint")
    if fate < profile.refusal:
        return REFUSAL
    fate -= profile.refusal
    if fate < profile.flatters:
        return draws.pick(_FLATTERY, "flattery", number)
    fate -= profile.flatters
    if fate < profile.verbose:
        return _verbose_hint()
    fate -= profile.verbose
    leaks = fixed_draw(profile, scene, step, "hint again") < profile.leaks if rewriting else fate < profile.leaks
    if leaks:
        return leaking_hint(question, step, draws, number)
    return _guidance(question, draws, number)


def gives_guidance(hint: str) -> bool:
    """Return whether a hint gives guidance, unlike praise and chatter."""
    return _VERB.search(hint) is not None


def states_truth(hint: str, step: SceneStep) -> bool:
    """Return whether a hint contains a step's truth, so that even a step beyond the model comes out right."""
    return f" {_normal_words(step.truth)} " in f" {_normal_words(hint)} "


def leaking_hint(question: SceneQuestion, step: SceneStep, draws: Draws, number: int = 0) -> str:
    """Return a hint that reveals the step's truth or the final answer, in one of the possible forms."""
    return draws.pick([form for form in _leak_forms(question, step) if form], "leak-form", number)


def _in_tags(hints: Sequence[str]) -> ChatReply:
    text = "\n".join(f"<hint {number}>\n{hint}\n</hint>" for number, hint in enumerate(hints, start=1))
    return text_reply(text)


def _verbose_hint() -> str:
    words = _RAMBLE.split()
    return " ".join(words[number % len(words)] for number in range(VERBOSE_WORDS))


def _guidance(question: SceneQuestion, draws: Draws, number: int) -> str:
    """Return guidance without any word of the truths, so that it cannot leak one."""
    secret = {
        word
        for text in (question.answer, *(step.truth for step in question.steps))
        for word in _normal_words(text).split()
    }
    free = [sentence for sentence in _GUIDANCE if not secret & set(_normal_words(sentence).split())]
    return draws.pick(free or _GUIDANCE, "guidance", number)


def _normal_words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _leak_forms(question: SceneQuestion, step: SceneStep) -> list[str]:
    """Return the ten forms of a leak; empty if a form does not apply."""
    return [
        f"Look again: {step.statement}",
        f"It is *{step.truth.upper()}*, so start from that.",
        _number_in_other_form(step),
        _option_letter(question),
        _elimination(question),
        _paraphrase(step),
        f"Letter by letter it is {'-'.join(step.truth.replace(' ', ''))}.",
        f"Read this from its end: {step.truth[::-1]}",
        _as_sum(step),
        f"Everything points to {question.answer}, does it not?",
    ]


def _number_in_other_form(step: SceneStep) -> str:
    """Return the truth with small numbers as words, or number words as digits; empty if it has none."""
    other = {str(number): word for number, word in enumerate(NUMBER_WORDS.split())}
    other |= {word: number for number, word in list(other.items())}
    words = _normal_words(step.truth).split()
    if other.keys() & set(words):
        return f"You should get to {' '.join(other.get(word, word) for word in words)}."
    return ""


def _option_letter(question: SceneQuestion) -> str:
    if question.answer not in question.choices:
        return ""
    return f"Option {chr(ord('A') + question.choices.index(question.answer))} is the one that follows from this."


def _elimination(question: SceneQuestion) -> str:
    others = [choice for choice in question.choices if choice != question.answer]
    if others and len(others) < len(question.choices):
        return f"It can be none of these: {'; '.join(others)}."
    return ""


def _paraphrase(step: SceneStep) -> str:
    words = step.statement.rstrip(".!?").split()
    half = len(words) // 2
    return f"{' '.join(words[half:])}: that is the case with {' '.join(words[:half])}, as one sees there."


def _as_sum(step: SceneStep) -> str:
    numbers = [
        int(word) for word in _normal_words(step.truth).split() if word.isascii() and word.isdigit() and len(word) < 6
    ]
    if numbers and numbers[0] > 1:
        return f"The number comes to {numbers[0] - 1} plus 1."
    return ""


ANSWER_AGAIN_PROMPTS = ("answer_again", "answer_again_published")
"""The prompts that ask for the answer again."""

FailureReason = Literal["drift", "gap", "beyond"]

_WRONG = re.compile(r"\bfinal answer is wrong\b", re.IGNORECASE)
_NOTHING = re.compile(r"\W*nothing\b", re.IGNORECASE)
_FINAL_ANSWER = re.compile(r"^final answer:(.*)$", re.IGNORECASE | re.MULTILINE)


class _Feedback(NamedTuple):
    """The contents of feedback: whether the answer was wrong, and points by question, each with its hint, if any."""

    wrong: bool
    points: dict[str, str]
    earlier: str | None


def failure_reason(profile: CandidateProfile, scene: Scene, step: SceneStep) -> FailureReason:
    """Return the reason why the model gets the step wrong, if it does; the same in every request."""
    draw = fixed_draw(profile, scene, step, "reason")
    if draw < profile.drift:
        return "drift"
    if draw < profile.drift + profile.gap:
        return "gap"
    return "beyond"


def answer_again(
    profile: CandidateProfile, scene: Scene, question: SceneQuestion, inputs: Inputs, draws: Draws
) -> ChatReply:
    """Return the model's new answer to a question, after the effects of feedback.

    It starts from its earlier answer if that is shown, else from a new one; without feedback, always from a new one.
    """
    anew: list[StepOutcome] = [
        step_outcome(profile, scene, step, number, draws) for number, step in enumerate(question.steps)
    ]
    text = inputs.feedback
    if profile.heedless or _NOTHING.match(text):
        return word_answer(profile, question, anew, draws)
    feedback = _Feedback(bool(_WRONG.search(text)), _read_feedback_points(text), inputs.earlier_answer)
    outcomes: list[StepOutcome] = [
        _outcome_after_feedback(profile, scene, step, number, anew[number], feedback, draws)
        for number, step in enumerate(question.steps)
    ]
    spoken_outcomes: list[StepOutcome] = [
        _recited_outcome(profile, step, number, outcomes[number], feedback, draws)
        for number, step in enumerate(question.steps)
    ]
    final = final_answer(question, outcomes, draws)
    if feedback.wrong and draws.chance(profile.flips, "flips"):
        final = _other_final_answer(question, final, feedback, draws)
    return word_answer(profile, question, spoken_outcomes, draws, final=final)


def _outcome_after_feedback(
    profile: CandidateProfile,
    scene: Scene,
    step: SceneStep,
    number: int,
    anew: StepOutcome,
    feedback: _Feedback,
    draws: Draws,
) -> StepOutcome:
    before = anew if feedback.earlier is None else _outcome_in_text(step, feedback.earlier)
    if before == "right":
        if draws.chance(profile.harm, "harm", number):
            return "wrong"
        return "right"
    named = plain_text(step.question) in feedback.points
    hints = [feedback.points[plain_text(step.question)]] if named else list(feedback.points.values())
    why = failure_reason(profile, scene, step)
    mends = (why == "drift" and bool(hints)) or (why == "gap" and any(map(gives_guidance, hints)))
    mends = (mends or states_truth(hints[0], step)) if named else mends and draws.chance(profile.carry, "carry", number)
    if mends or draws.chance(profile.retry, "retry", number):
        return "right"
    return before if before == "hedged" else anew


def _recited_outcome(
    profile: CandidateProfile, step: SceneStep, number: int, outcome: StepOutcome, feedback: _Feedback, draws: Draws
) -> StepOutcome:
    """Return the stated outcome of a step: a reciter states an omitted step that is named, without using it."""
    if plain_text(step.question) not in feedback.points or feedback.earlier is None:
        return outcome
    silent = _outcome_in_text(step, feedback.earlier) == "wrong" and not any(
        wording in feedback.earlier for wording in step.wrong
    )
    if silent and draws.chance(profile.recites, "recites", number):
        return "right"
    return outcome


def _other_final_answer(question: SceneQuestion, final: str, feedback: _Feedback, draws: Draws) -> str:
    """Return a final answer other than the wrong one: any other choice or, without choices, another wrong answer.

    A model that is not shown its earlier answer changes its new one; one that gave no final answer changes nothing.
    """
    finals = _FINAL_ANSWER.findall(feedback.earlier) if feedback.earlier is not None else [final]
    if not finals:
        return final
    among = question.choices or question.wrong_answers
    return draws.pick([answer for answer in among if answer != finals[-1].strip()], "another")


def _outcome_in_text(step: SceneStep, text: str) -> StepOutcome:
    score = statement_score(step.statement, text)
    if score == RIGHT:
        return "right"
    return "hedged" if score == HEDGED else "wrong"


def _read_feedback_points(text: str) -> dict[str, str]:
    """Return the points' questions with their hints, from the array at the end of a feedback; none if it cannot be read."""
    points = read_rows(text[text.find("[\n") :], HintPoint) if "[\n" in text else []
    return {plain_text(point.question): point.hint or "" for point in points}
