"""The planted failure modes, and how a simulated judge notes failures, sorts notes, merges modes and codes atoms."""

from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple

from pydantic import BaseModel

from dokimasia.simulation.data_files import read_data
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.scoring import HEDGED, RIGHT, statement_score, true_score
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.requests import Inputs, read_rows
from dokimasia.simulation.scene import SceneQuestion, SceneStep

ModeKind = Literal["commission", "omission"]


class PlantedMode(NamedTuple):
    """A planted mode: its kind, its names, a definition, and several wordings of a note about it."""

    kind: ModeKind
    names: tuple[str, ...]
    definition: str
    notes: tuple[str, ...]


MODES = read_data("judging/modes.yaml", dict[str, PlantedMode])
"""All planted modes by key."""

_OF_PARENT = {
    "Enumeration": "counting",
    "Object Perception": "appearance",
    "Attribute Perception": "appearance",
    "Character Perception": "reading",
    "Measurement Perception": "scale",
}
_OF_CATEGORY = {
    "Understanding": "linking",
    "Reasoning": "deriving",
    "Knowledge": "meaning",
    "Trustworthiness": "inventing",
}
_SEEN = frozenset({"Perception", "Understanding", "Trustworthiness"})


def planted_mode(capability: str, outcome: Literal["wrong", "hedged", "omitted"]) -> str:
    """Return the key of the mode in which a step of a capability fails, given its outcome."""
    category, parent, _ = capability.strip("<>").split("><")
    if outcome == "hedged":
        return "hedging"
    if outcome == "omitted":
        if category in _SEEN:
            return "unseen"
        return "unreasoned"
    return _OF_PARENT.get(parent) or _OF_CATEGORY.get(category, "deriving")


@cache
def mode_by_name(name: str) -> str | None:
    """Return the key of the planted mode with this name, or None if there is none."""
    wanted = " ".join(name.split()).casefold()
    return next((key for key, mode in MODES.items() if wanted in mode.names), None)


@cache
def mode_by_note(note: str) -> str | None:
    """Return the key of the planted mode that a note describes, or None if it describes none."""
    return next((key for key, mode in MODES.items() if any(words in note for words in mode.notes)), None)


MODE_PROMPTS = ("modes_note", "modes_sort", "modes_merge", "modes_assign")

INVENTED = "a phrase that the answer does not hold"


class ListedPoint(BaseModel):
    """A point that an answer is held against."""

    n: int
    point: str
    truth: str


class ListedNote(BaseModel):
    """A note about a failure."""

    n: int
    note: str
    sample: int = 0


class ListedMode(BaseModel):
    """A mode of the list; `kind` is shown only where atoms are coded."""

    n: int
    name: str
    kind: str = ""


class AnswerFailure(NamedTuple):
    """How an answer fails at a point: the key of the planted mode, and the words of the answer (empty for an omission)."""

    key: str
    quote: str


def modes_reply(
    profile: JudgeProfile, prompt: str, inputs: Inputs, question: SceneQuestion | None, draws: Draws
) -> str:
    """Return the judge's reply to one of the prompts of the error analysis."""
    if prompt == "modes_sort":
        return _sorted_notes(profile, read_rows(inputs.modes, ListedMode), read_rows(inputs.notes, ListedNote), draws)
    if prompt == "modes_merge":
        return _merged_modes(read_rows(inputs.modes, ListedMode))
    answer = inputs.answer
    points = read_rows(inputs.points, ListedPoint)
    failures = {point.n: find_failure(point, answer, question) for point in points}
    if prompt == "modes_note":
        return "\n".join(_note_line(profile, number, failure, draws) for number, failure in failures.items())
    modes = read_rows(inputs.modes, ListedMode)
    return "\n".join(_code_line(profile, number, failure, modes, answer, draws) for number, failure in failures.items())


def find_failure(point: ListedPoint, answer: str, question: SceneQuestion | None) -> AnswerFailure | None:
    """Return how an answer fails at a point, or None if it does not.

    A point of the planted world is recognised by its question. For any other point, only whether it is met is known.
    """
    steps: Sequence[SceneStep] = question.steps if question else ()
    step = next((step for step in steps if step.question == point.point), None)
    if step is None:
        if true_score(point.point, point.truth, answer) >= RIGHT - 1:
            return None
        return AnswerFailure("unseen", "")
    score = statement_score(step.statement, answer)
    if score == RIGHT:
        return None
    if score == HEDGED:
        return AnswerFailure(planted_mode(step.capability, "hedged"), step.statement)
    wrong_wording = next((wording for wording in step.wrong if statement_score(wording, answer) > 1), None)
    if wrong_wording is None:
        return AnswerFailure(planted_mode(step.capability, "omitted"), "")
    return AnswerFailure(planted_mode(step.capability, "wrong"), wrong_wording)


def _note_line(profile: JudgeProfile, number: int, failure: AnswerFailure | None, draws: Draws) -> str:
    if failure is None:
        return f"{number} | nothing"
    mode = MODES[failure.key]
    note = draws.pick(mode.notes, "note", number)
    if mode.kind == "omission":
        return f"{number} | omission | {note}"
    return f'{number} | commission | "{_quote(profile, number, failure.quote, draws)}" | {note}'


def _sorted_notes(profile: JudgeProfile, modes: Sequence[ListedMode], notes: Sequence[ListedNote], draws: Draws) -> str:
    """Sort notes under the modes they match by name; notes of several samples that describe the same one make a new mode."""
    numbers_by_key: dict[str, int] = {}
    for mode in modes:
        key = mode_by_name(mode.name)
        if key is not None and not draws.chance(profile.misses_synonym, "mode", mode.n):
            numbers_by_key.setdefault(key, mode.n)
    names_in_use = {mode.name.casefold() for mode in modes}
    groups: dict[str, list[int]] = {}
    samples_by_key: dict[str, set[int]] = {}
    loose: list[int] = []
    for note in notes:
        key = mode_by_note(note.note)
        if key is None:
            loose.append(note.n)
        else:
            groups.setdefault(key, []).append(note.n)
            samples_by_key.setdefault(key, set()).add(note.sample)
    lines: list[str] = []
    for key, numbers in groups.items():
        planted, listing = MODES[key], ", ".join(map(str, numbers))
        free = [name for name in planted.names if name not in names_in_use]
        if key in numbers_by_key:
            lines.append(f"mode {numbers_by_key[key]} | {listing}")
        elif len(samples_by_key[key]) > 1 and free:
            lines.append(f"new {planted.kind} | {draws.pick(free, 'name', key)} | {planted.definition} | {listing}")
        else:
            loose += numbers
    return "\n".join([*lines, *([f"loose | {', '.join(map(str, loose))}"] if loose else [])])


def _merged_modes(modes: Sequence[ListedMode]) -> str:
    """Merge modes that are the same planted mode under different names."""
    groups: dict[str, list[int]] = {}
    for mode in modes:
        groups.setdefault(mode_by_name(mode.name) or mode.name, []).append(mode.n)
    lines = [
        f"merge | {', '.join(map(str, numbers))} | {MODES[key].names[0]} | {MODES[key].definition}"
        for key, numbers in groups.items()
        if len(numbers) > 1
    ]
    return "\n".join(lines) or "none"


def _code_line(
    profile: JudgeProfile,
    number: int,
    failure: AnswerFailure | None,
    modes: Sequence[ListedMode],
    answer: str,
    draws: Draws,
) -> str:
    """Name the mode of the failure; at the planted rate, name a mode of the list or none at random instead."""
    named = {mode_by_name(mode.name): mode for mode in modes}
    mode = named.get(failure.key) if failure is not None else None
    quote = failure.quote if failure is not None else ""
    if draws.chance(profile.miscodes, "miscodes", number):
        mode = draws.pick([*modes, None], "miscoded-to", number)
        quote = next((line.strip() for line in answer.splitlines() if line.strip()), "")
    if mode is None:
        return f"{number} | none"
    if mode.kind == "omission":
        return f"{number} | {mode.n}"
    return f'{number} | {mode.n} | "{_quote(profile, number, quote, draws)}"'


def _quote(profile: JudgeProfile, number: int, quote: str, draws: Draws) -> str:
    if draws.chance(profile.misquotes, "misquotes", number):
        return INVENTED
    return quote
