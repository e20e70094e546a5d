"""How a simulated judge notes failures, sorts notes, merges modes and codes atoms, with the faults planted in it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.mode_lexicon import MODES, key_of_name, key_of_note, planted_mode
from dokimasia.simulation.judging.scoring import HEDGED, RIGHT, stated, true_score
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.reading import read_json
from dokimasia.simulation.scene import Question, Step

PROMPTS = ("modes_note", "modes_sort", "modes_merge", "modes_assign")

INVENTED = "a phrase that the answer does not hold"


class Failing(NamedTuple):
    """How an answer fails at a point: the planted mode's key, and the answer's words for it (empty: it says nothing)."""

    key: str
    quote: str


def modes_reply(
    profile: JudgeProfile, prompt: str, inputs: Mapping[str, str], question: Question | None, draws: Draws
) -> str:
    """Return the judge's reply to one of the prompts of an error analysis."""
    if prompt == "modes_sort":
        return _sorted(profile, _rows(inputs["modes"]), _rows(inputs["notes"]), draws)
    if prompt == "modes_merge":
        return _merged(_rows(inputs["modes"]))
    answer = inputs["answer"]
    seen = {int(row["n"]): failing(row, answer, question) for row in _rows(inputs["points"])}
    if prompt == "modes_note":
        return "\n".join(_noted(profile, number, one, draws) for number, one in seen.items())
    modes = _rows(inputs["modes"])
    return "\n".join(_coded(profile, number, one, modes, answer, draws) for number, one in seen.items())


def failing(point: Mapping[str, Any], answer: str, question: Question | None) -> Failing | None:
    """Return how an answer fails at a point, None where it does not.

    A point of the planted world is known by its question; of any other world only whether it is met can be said.
    """
    steps: Sequence[Step] = question.steps if question else ()
    step = next((one for one in steps if one.question == point["point"]), None)
    if step is None:
        if true_score(str(point["point"]), str(point["truth"]), answer) >= RIGHT - 1:
            return None
        return Failing("unseen", "")
    score = stated(step.statement, answer)
    if score == RIGHT:
        return None
    if score == HEDGED:
        return Failing(planted_mode(step.capability, "hedged"), step.statement)
    said = next((one for one in step.wrong if stated(one, answer) > 1), None)
    if said is None:
        return Failing(planted_mode(step.capability, "omitted"), "")
    return Failing(planted_mode(step.capability, "wrong"), said)


def _noted(profile: JudgeProfile, number: int, one: Failing | None, draws: Draws) -> str:
    if one is None:
        return f"{number} | nothing"
    mode = MODES[one.key]
    note = draws.pick(mode.notes, "note", number)
    if mode.kind == "omission":
        return f"{number} | omission | {note}"
    return f'{number} | commission | "{_quoted(profile, number, one.quote, draws)}" | {note}'


def _sorted(
    profile: JudgeProfile, modes: Sequence[Mapping[str, Any]], notes: Sequence[Mapping[str, Any]], draws: Draws
) -> str:
    """Put notes under modes that go by one of their names, and make a mode of two notes or more that tell of the same."""
    known: dict[str, int] = {}
    for row in modes:
        key = key_of_name(str(row["name"]))
        if key is not None and not draws.chance(profile.misses_synonym, "mode", int(row["n"])):
            known.setdefault(key, int(row["n"]))
    taken = {str(row["name"]).casefold() for row in modes}
    groups: dict[str, list[int]] = {}
    loose: list[int] = []
    for row in notes:
        key = key_of_note(str(row["note"]))
        if key is None:
            loose.append(int(row["n"]))
        else:
            groups.setdefault(key, []).append(int(row["n"]))
    lines: list[str] = []
    for key, numbers in groups.items():
        mode, listed = MODES[key], ", ".join(map(str, numbers))
        free = [name for name in mode.names if name not in taken]
        if key in known:
            lines.append(f"mode {known[key]} | {listed}")
        elif len(numbers) > 1 and free:
            lines.append(f"new {mode.kind} | {draws.pick(free, 'name', key)} | {mode.definition} | {listed}")
        else:
            loose += numbers
    return "\n".join([*lines, *([f"loose | {', '.join(map(str, loose))}"] if loose else [])])


def _merged(modes: Sequence[Mapping[str, Any]]) -> str:
    """Make one of the modes that are the same planted mode under several names."""
    groups: dict[str, list[int]] = {}
    for row in modes:
        groups.setdefault(key_of_name(str(row["name"])) or str(row["name"]), []).append(int(row["n"]))
    lines = [
        f"merge | {', '.join(map(str, numbers))} | {MODES[key].names[0]} | {MODES[key].definition}"
        for key, numbers in groups.items()
        if len(numbers) > 1
    ]
    return "\n".join(lines) or "none"


def _coded(
    profile: JudgeProfile,
    number: int,
    one: Failing | None,
    modes: Sequence[Mapping[str, Any]],
    answer: str,
    draws: Draws,
) -> str:
    """Name the mode that is seen; at the planted rate any of the list, or none, each as likely."""
    named = {key_of_name(str(row["name"])): row for row in modes}
    row = named.get(one.key) if one is not None else None
    quote = one.quote if one is not None else ""
    if draws.chance(profile.miscodes, "miscodes", number):
        row = draws.pick([*modes, None], "miscoded-to", number)
        quote = next((line.strip() for line in answer.splitlines() if line.strip()), "")
    if row is None:
        return f"{number} | none"
    if row["kind"] == "omission":
        return f"{number} | {row['n']}"
    return f'{number} | {row["n"]} | "{_quoted(profile, number, quote, draws)}"'


def _quoted(profile: JudgeProfile, number: int, quote: str, draws: Draws) -> str:
    return INVENTED if draws.chance(profile.misquotes, "misquotes", number) else quote


def _rows(text: str) -> list[Mapping[str, Any]]:
    found = read_json(text)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
