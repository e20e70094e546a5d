"""How a simulated peer hints at steps: with guidance, a leak in one of ten forms, flattery, a refusal, or 5,000 words."""

import re
from collections.abc import Mapping, Sequence

from dokimasia.domain.call import ChatReply
from dokimasia.simulation.candidates import REFUSAL, fixed
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.profiles import CandidateProfile
from dokimasia.simulation.reading import read_json
from dokimasia.simulation.scene import Question, Scene, Step

PROMPTS = ("peer_hint", "hint_rewrite")
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
_DIGITS = "zero one two three four five six seven eight nine ten eleven twelve"


def reply(
    profile: CandidateProfile,
    scene: Scene,
    question: Question,
    inputs: Mapping[str, str],
    draws: Draws,
    *,
    rewriting: bool,
) -> ChatReply:
    """Return a peer's hints on the steps whose questions are the points, or their second wordings; one fate for each."""
    steps = {step.question: step for step in question.steps}
    told = [steps.get(point) for point in read_points(inputs["points"])]
    hints = [
        _hint(profile, scene, question, step, number, draws, rewriting=rewriting) for number, step in enumerate(told)
    ]
    if set(hints) == {REFUSAL}:
        return ChatReply(text=REFUSAL, refusal=REFUSAL, finish_reason="stop", native_finish_reason="stop")
    return _between(hints)


def general(inputs: Mapping[str, str], draws: Draws) -> ChatReply:
    """Return guidance of a general kind, on points of a question outside of the planted world."""
    count = len(read_points(inputs["points"]))
    return _between([draws.pick(_GUIDANCE, "guidance", number) for number in range(count)])


def read_points(text: str) -> list[str]:
    """Return the questions of a list of points, in order; none where it cannot be read."""
    rows = read_json(text)
    return [str(row.get("question")) for row in (rows if isinstance(rows, list) else []) if isinstance(row, dict)]


def _hint(
    profile: CandidateProfile,
    scene: Scene,
    question: Question,
    step: Step | None,
    number: int,
    draws: Draws,
    *,
    rewriting: bool,
) -> str:
    if step is None:
        return draws.pick(_GUIDANCE, "guidance", number)
    fate = fixed(profile, scene, step, "hint")
    if fate < profile.refusal:
        return REFUSAL
    fate -= profile.refusal
    if fate < profile.flatters:
        return draws.pick(_FLATTERY, "flattery", number)
    fate -= profile.flatters
    if fate < profile.verbose:
        return _ramble()
    fate -= profile.verbose
    leaks = fixed(profile, scene, step, "hint again") < profile.leaks if rewriting else fate < profile.leaks
    return leak(question, step, draws, number) if leaks else _guidance(question, draws, number)


def guides(hint: str) -> bool:
    """Return whether a hint says how to go about a step, as opposed to praise and chatter."""
    return _VERB.search(hint) is not None


def tells(hint: str, step: Step) -> bool:
    """Return whether a hint states a step's truth in its words, so that even a step beyond the model comes out right."""
    return f" {_words(step.truth)} " in f" {_words(hint)} "


def leak(question: Question, step: Step, draws: Draws, number: int = 0) -> str:
    """Return a hint that gives the step's truth or the final answer away, in one of the forms that can say it."""
    return draws.pick([form for form in _forms(question, step) if form], "leak-form", number)


def _between(hints: Sequence[str]) -> ChatReply:
    text = "\n".join(f"<hint {number}>\n{hint}\n</hint>" for number, hint in enumerate(hints, start=1))
    return ChatReply(text=text, finish_reason="stop", native_finish_reason="stop")


def _ramble() -> str:
    words = _RAMBLE.split()
    return " ".join(words[number % len(words)] for number in range(VERBOSE_WORDS))


def _guidance(question: Question, draws: Draws, number: int) -> str:
    """Guidance that has none of the words which stand in the truths, so that no word of it can give one away."""
    secret = {
        word for text in (question.answer, *(step.truth for step in question.steps)) for word in _words(text).split()
    }
    free = [one for one in _GUIDANCE if not secret & set(_words(one).split())]
    return draws.pick(free or _GUIDANCE, "guidance", number)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _forms(question: Question, step: Step) -> list[str]:
    """The ten forms of a leak, empty where one cannot say it."""
    return [
        f"Look again: {step.statement}",
        f"It is *{step.truth.upper()}*, so start from that.",
        _other_number(step),
        _letter(question),
        _elimination(question),
        _paraphrase(step),
        f"Letter by letter it is {'-'.join(step.truth.replace(' ', ''))}.",
        f"Read this from its end: {step.truth[::-1]}",
        _sum(step),
        f"Everything points to {question.answer}, does it not?",
    ]


def _other_number(step: Step) -> str:
    """The truth with its small numbers in words, or its number words in digits; empty where it has none."""
    other = {str(number): word for number, word in enumerate(_DIGITS.split())}
    other |= {word: number for number, word in list(other.items())}
    words = _words(step.truth).split()
    return (
        f"You should get to {' '.join(other.get(word, word) for word in words)}." if other.keys() & set(words) else ""
    )


def _letter(question: Question) -> str:
    if question.answer not in question.choices:
        return ""
    return f"Option {chr(ord('A') + question.choices.index(question.answer))} is the one that follows from this."


def _elimination(question: Question) -> str:
    others = [choice for choice in question.choices if choice != question.answer]
    return f"It can be none of these: {'; '.join(others)}." if others and len(others) < len(question.choices) else ""


def _paraphrase(step: Step) -> str:
    words = step.statement.rstrip(".!?").split()
    half = len(words) // 2
    return f"{' '.join(words[half:])}: that is the case with {' '.join(words[:half])}, as one sees there."


def _sum(step: Step) -> str:
    found = [int(word) for word in _words(step.truth).split() if word.isascii() and word.isdigit() and len(word) < 6]
    return f"The number comes to {found[0] - 1} plus 1." if found and found[0] > 1 else ""
