"""Answers of a simulated candidate: an independent outcome for each step of the reference reasoning."""

from collections.abc import Sequence
from typing import Literal

from dokimasia.domain.call import ChatReply
from dokimasia.domain.identity import unit_interval
from dokimasia.simulation.draws import Draws, text_reply
from dokimasia.simulation.profiles import CandidateProfile
from dokimasia.simulation.scene import Scene, SceneQuestion, SceneStep

StepOutcome = Literal["right", "hedged", "wrong", "omitted"]

HEDGE = "Probably, though I am not sure: "
FINAL = "Final answer: "
REFUSAL = "I'm sorry, but I can't help with this request."
REFUSED = ChatReply(text=REFUSAL, refusal=REFUSAL, finish_reason="stop", native_finish_reason="stop")

_OPENINGS = (
    "Let me look at the picture and go through it step by step.",
    "I will work this out from what the picture shows.",
    "Going by the picture:",
    "Here is how I read the picture.",
)
_BLIND = "I cannot see any picture here, so I can only go by the words of the question."


def answer_question(profile: CandidateProfile, scene: Scene, question: SceneQuestion, draws: Draws) -> ChatReply:
    """Return a candidate's answer to a question of the planted world, with its planted faults."""
    outcomes: list[StepOutcome] = [
        step_outcome(profile, scene, step, number, draws) for number, step in enumerate(question.steps)
    ]
    return word_answer(profile, question, outcomes, draws)


def word_answer(
    profile: CandidateProfile,
    question: SceneQuestion,
    outcomes: Sequence[StepOutcome],
    draws: Draws,
    *,
    final: str | None = None,
) -> ChatReply:
    """Return the reply with the given outcomes of the steps, and a final answer; by default that of the last step."""
    spoken = [not draws.chance(profile.silent, "silent", number) for number in range(len(outcomes))]
    return deliver_reply(profile, draws, *_text_and_half(question, outcomes, spoken, draws, final))


def final_answer(question: SceneQuestion, outcomes: Sequence[StepOutcome], draws: Draws) -> str:
    """Return the final answer that follows from the outcomes of the steps."""
    last = len(outcomes) - 1
    return _final_answer(question, outcomes[-1], _line(question.steps[-1], outcomes[-1], last, draws), draws)


def step_outcome(profile: CandidateProfile, scene: Scene, step: SceneStep, number: int, draws: Draws) -> StepOutcome:
    """Draw the outcome of a step: left out, or stated wrong, right or hedged."""
    if draws.chance(profile.omission, "omission", number):
        return "omitted"
    skill = profile.skill(step.capability, scene.domain)
    if profile.again is None:
        right = draws.chance(skill, "skill", number)
    else:
        right = knows_step(profile, scene, step) or draws.chance(min(profile.again, skill), "luck", number)
    if not right:
        return "wrong"
    if draws.chance(profile.hedging, "hedging", number):
        return "hedged"
    return "right"


def knows_step(profile: CandidateProfile, scene: Scene, step: SceneStep) -> bool:
    """Return whether a model with fixed knowledge knows the step, apart from luck."""
    skill = profile.skill(step.capability, scene.domain)
    luck = min(profile.again or 0.0, skill)
    return luck < 1 and fixed_draw(profile, scene, step, "knows") < (skill - luck) / (1 - luck)


def fixed_draw(profile: CandidateProfile, scene: Scene, step: SceneStep, what: str) -> float:
    """Return a draw in [0, 1) for a model and a step; it is the same in every request."""
    return unit_interval("fixed", what, profile.name, scene.id, step.question)


def deliver_reply(profile: CandidateProfile, draws: Draws, whole: str, half: str | None = None) -> ChatReply:
    """Return the whole answer or, at the planted rates, a refusal, a garbled reply, or `half` of the answer."""
    fate = draws.unit("fate")
    if fate < profile.refusal:
        return REFUSED
    fate -= profile.refusal
    if fate < profile.malformed:
        garbled = "The picture the picture of the of the " * (3 + int(draws.unit("length") * 20))
        return text_reply(garbled.strip())
    fate -= profile.malformed
    if fate < profile.truncated:
        half = whole[: len(whole) // 2] if half is None else half
        return ChatReply(text=half, finish_reason="length", native_finish_reason="length")
    return text_reply(whole)


def answer_without_image(profile: CandidateProfile, choices: Sequence[str], draws: Draws) -> ChatReply:
    """Return an answer without a picture: a guess among the choices, or none."""
    if choices:
        text = f"{_BLIND} My guess is one of the options.\n\n{FINAL}{draws.pick(choices, 'blind')}"
    else:
        text = f"{_BLIND} That does not settle it.\n\n{FINAL}I do not know."
    return deliver_reply(profile, draws, text, _BLIND[: len(_BLIND) // 2])


def _text_and_half(
    question: SceneQuestion,
    outcomes: Sequence[StepOutcome],
    spoken: Sequence[bool],
    draws: Draws,
    answer: str | None = None,
) -> tuple[str, str]:
    opening = draws.pick(_OPENINGS, "opening")
    lines = [
        _line(step, outcome, number, draws)
        for number, (step, outcome) in enumerate(zip(question.steps, outcomes, strict=True))
    ]
    final = FINAL + (answer or _final_answer(question, outcomes[-1], lines[-1], draws))
    lines = [line if is_spoken else "" for line, is_spoken in zip(lines, spoken, strict=True)]
    text = "\n\n".join(part for part in (opening, _lines(lines), final) if part)
    half = "\n\n".join(part for part in (opening, _lines(lines[: len(lines) // 2]), "After that, what I") if part)
    return text, half


def _lines(lines: Sequence[str]) -> str:
    return "\n".join(line for line in lines if line)


def _line(step: SceneStep, outcome: StepOutcome, number: int, draws: Draws) -> str:
    if outcome == "omitted":
        return ""
    if outcome == "wrong":
        return draws.pick(step.wrong, "wrong", number)
    if outcome == "hedged":
        return HEDGE + step.statement
    return step.statement


def _final_answer(question: SceneQuestion, last: StepOutcome, line: str, draws: Draws) -> str:
    """Return the right answer if the last step is right or hedged; else a wrong one, if possible that of its line."""
    if last in ("right", "hedged"):
        return question.answer
    wrong = [choice for choice in question.choices if choice != question.answer] or list(question.wrong_answers)
    answers_in_line = [answer for answer in wrong if answer.casefold() in line.casefold()]
    return draws.pick(answers_in_line or wrong, "answer")
