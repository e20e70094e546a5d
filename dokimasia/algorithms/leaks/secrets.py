"""What a hint must not tell, taken apart: stems, other names, pointers and values of answer, truths and choices."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from dokimasia.algorithms.leaks.forms import plain_words, stem
from dokimasia.algorithms.leaks.lexicon import Phrase, names_of, pointers_of
from dokimasia.algorithms.leaks.values import UNITS, Value, read
from dokimasia.algorithms.text.words import FUNCTION_WORDS


class Choice(NamedTuple):
    """What tells a choice from the others: stems, other names, values."""

    stems: frozenset[str]
    names: frozenset[Phrase]
    pointers: frozenset[Phrase]
    values: frozenset[tuple[str, float]]


class Secrets(NamedTuple):
    """What must not be told, as stems and values, with what question and choices say anyway."""

    asked: frozenset[str]
    answer: frozenset[str]
    truth: frozenset[str]
    others: frozenset[str]
    truths: tuple[tuple[str, ...], ...]
    runs: tuple[tuple[str, ...], ...]
    names: frozenset[Phrase]
    pointers: frozenset[Phrase]
    truth_names: frozenset[Phrase]
    truth_pointers: frozenset[Phrase]
    other_names: frozenset[Phrase]
    values: frozenset[tuple[str, float]]
    answer_values: frozenset[tuple[str, float]]
    known_values: frozenset[tuple[str, float]]
    words: tuple[str, ...]
    right: int | None
    choices: tuple[Choice, ...]
    kind: str


def values_of(text: str) -> set[tuple[str, float]]:
    """Return the values that a text states, each with its kind."""
    return {key_of(one) for one in read(text)[2]}


def key_of(value: Value) -> tuple[str, float]:
    """Return a value with its kind, to compare by; ranks and words for numbers count as numbers."""
    return ("n" if value.kind in ("o", "w") else value.kind), round(value.value, 9)


def stems_of(text: str) -> list[str]:
    """Return the stems of a text's words."""
    return [stem(word) for word in plain_words(text)]


def secrets_of(question: str, choices: Sequence[str], truths: Sequence[str], answer: str, right: int | None) -> Secrets:
    """Return the secrets of a question; `answer` is the final answer's text (not its letter), empty without one."""
    asked = frozenset(stems_of(question))
    said = {one for one in stems_of(answer) if one not in FUNCTION_WORDS or one in ("yes", "no", "true", "false")}
    said = {one for one in said if one.isalnum() and (len(one) > 1 or one.isdigit())} or said
    if values_of(answer):
        said = {one for one in said if one not in UNITS and not re.fullmatch(r"st|nd|rd|th|pm|am", one)}
    wrong = {one for at, choice in enumerate(choices) if at != right for one in stems_of(choice)} - FUNCTION_WORDS
    told = {one for truth in truths for one in stems_of(truth)} - FUNCTION_WORDS
    fresh = {one for one in told - asked - said if len(one) > 2}
    numbers = {f"{value:g}" for kind, value in values_of(answer) if kind == "n"}
    known = values_of(question)
    for at, choice in enumerate(choices):
        known |= values_of(choice) if at != right else set()
    answers = values_of(answer)
    held = answers.union(*(values_of(truth) for truth in truths))
    kind = "choice" if choices else "open"
    if answers and not said - {one for one in said if one.replace(".", "").isdigit()}:
        kind += " number"
    elif said & {"yes", "no"}:
        kind += " yesno"
    return Secrets(
        asked=asked,
        answer=frozenset(said),
        truth=frozenset(told - said - asked),
        others=frozenset(wrong - said),
        truths=tuple(tuple(one for one in stems_of(truth) if one not in FUNCTION_WORDS) for truth in truths),
        runs=tuple(tuple(stems_of(truth)) for truth in truths),
        names=frozenset(names_of(said | numbers)),
        pointers=frozenset(pointers_of(said | numbers)),
        truth_names=frozenset(names_of(fresh)),
        truth_pointers=frozenset(pointers_of(fresh)),
        other_names=frozenset(names_of(wrong - said)),
        values=frozenset(held - known),
        answer_values=frozenset(answers),
        known_values=frozenset(known),
        words=tuple(
            dict.fromkeys(w for w in plain_words(answer) if stem(w) in said and len(w) > 1 and not w.isdigit())
        ),
        right=right,
        choices=_told_apart(choices),
        kind=kind,
    )


_EMPTY = frozenset(stem(one) for one in ("one", "1", "other", "others", "them", "same"))
"""Words of choices that name nothing: "one falls as the other rises"."""


def letters_of(asked: frozenset[str]) -> frozenset[str]:
    """Return the letters that a question speaks of ("the planet labelled C"); none where it lists its choices by them."""
    found = frozenset("bcdefgh") & asked
    return found if len(found) == 1 else frozenset()


def _told_apart(choices: Sequence[str]) -> tuple[Choice, ...]:
    stems = [frozenset(stems_of(choice)) - (FUNCTION_WORDS - {"yes", "no"}) for choice in choices]
    shared = frozenset[str].intersection(*stems) if len(stems) > 1 else frozenset[str]()
    own = [one - shared - _EMPTY or one - shared or one for one in stems]
    values = [
        frozenset(values_of(choice) - ({("n", 1.0)} if "one" in choice.casefold().split() else set()))
        for choice in choices
    ]
    return tuple(
        Choice(one, frozenset(names_of(one)), frozenset(pointers_of(one)), two)
        for one, two in zip(own, values, strict=True)
    )
