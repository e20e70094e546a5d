"""The secrets of a question: the answer and the ground truths, as words and as values."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dokimasia.algorithms.leaks.numbers import ordinal
from dokimasia.algorithms.leaks.values import UNITS, StatedValue, read
from dokimasia.algorithms.leaks.wording import plain_words, stem, stems_of
from dokimasia.algorithms.text.words import FUNCTION_WORDS

SHORT = 3
"""Maximum number of words that a single ground truth may add to the question to be searched for like an answer."""

ANSWERS = frozenset(("yes", "no", "true", "false"))
"""Function words that can be an answer."""

Key = tuple[str, float]
"""A comparable value: its kind and its amount."""


class ChoiceMarks(NamedTuple):
    """What distinguishes one choice from the others: stems of words, and values."""

    stems: frozenset[str]
    values: frozenset[Key]


class QuestionSecrets(NamedTuple):
    """The secrets of a question (stems and values of the answer, and the ground truths), and the question's own content.

    `answer` is the text of the answer (of the right choice, if there are choices), `right` its place among `choices`;
    `lettered` says whether the choices are listed with letters or only named by the question.
    """

    answer: str
    words: frozenset[str]
    values: frozenset[Key]
    truths: tuple[str, ...]
    question_stems: frozenset[str]
    question_values: frozenset[Key]
    choices: tuple[ChoiceMarks, ...]
    right: int | None
    lettered: bool


def key_of(value: StatedValue) -> Key:
    """Return a value's kind and amount; ranks and words for numbers compare as numbers."""
    return ("n" if value.kind in "ow" else value.kind), round(value.value, 9)


def values_of(text: str) -> set[Key]:
    """Return the values that a text states."""
    return {key_of(value) for value in read(text)[2]}


def telling(text: str) -> frozenset[Key]:
    """Return the values that identify a text by themselves: of a date not the day alone, of a fraction not its parts."""
    values = values_of(text)
    kinds = {kind for kind, _ in values}
    if "p" in kinds and "/" in text:
        return frozenset(key for key in values if key[0] == "p")
    if "d" in kinds:
        return frozenset(key for key in values if key[0] == "d" or (key[0] == "n" and key[1] > 999))
    return frozenset(values)


def content(stems: Sequence[str] | frozenset[str]) -> frozenset[str]:
    """Return the stems that carry content, or all of them if none does."""
    return frozenset(word for word in stems if word not in FUNCTION_WORDS or word in ANSWERS) or frozenset(stems)


@lru_cache(maxsize=512)
def secrets_of(
    question: str, choices: tuple[str, ...], truths: tuple[str, ...], final_answer: str | None
) -> QuestionSecrets:
    """Return the secrets of a question; cached, since many texts are checked against the same secrets.

    Parameters are those of `find_leaks`.
    """
    options = choices or tuple(offered(question))
    right = _right(final_answer, options, lettered=bool(choices))
    answer = options[right] if right is not None else (final_answer or "").strip()
    question_stems = frozenset(stems_of(question))
    if not answer and len(truths) == 1:
        answer = _new_content(truths[0], question, question_stems)
    values = telling(answer)
    words = content(stems_of(answer)) if answer else frozenset[str]()
    if values:
        words = frozenset(word for word in words if word not in UNITS or ordinal(word) is not None)
    question_values = values_of(question)
    for at, option in enumerate(options):
        question_values |= telling(option) if at != right and choices else set()
    return QuestionSecrets(
        answer=answer,
        words=words,
        values=values,
        truths=truths,
        question_stems=question_stems,
        question_values=frozenset(question_values),
        choices=_distinguishing_marks(options),
        right=right,
        lettered=bool(choices),
    )


def _new_content(truth: str, question: str, question_stems: frozenset[str]) -> str:
    """Return what a ground truth adds to the question, in its own notation; empty if it adds more than a few words."""
    expected = question_stems | {stem(token) for token in read(question)[1]} | FUNCTION_WORDS - ANSWERS
    added = [token for token in read(truth)[0] if stem(token.casefold()) not in expected and token not in _STOPS]
    if sum(token[0].isalnum() for token in added) <= SHORT:
        return " ".join(added)
    return ""


_STOPS = frozenset(".,;:!?\"'()")


def _right(final_answer: str | None, options: Sequence[str], *, lettered: bool) -> int | None:
    if final_answer is None or not options:
        return None
    for index, option in enumerate(options):
        if plain_words(option) == plain_words(final_answer):
            return index
    letter = re.fullmatch(r"(?i)\W*(?:option|choice)?\s*([a-z])\W*(?:\s.*)?", final_answer.strip(), re.DOTALL)
    index = -1 if letter is None or not lettered else ord(letter[1].upper()) - ord("A")
    if 0 <= index < len(options):
        return index
    answer_stems = content(stems_of(final_answer))
    alike = [index for index, option in enumerate(_distinguishing_marks(options)) if option.stems == answer_stems]
    return alike[0] if len(alike) == 1 else None


def _distinguishing_marks(options: Sequence[str]) -> tuple[ChoiceMarks, ...]:
    stems = [content(stems_of(option)) for option in options]
    shared = frozenset[str].intersection(*stems) if len(stems) > 1 else frozenset[str]()
    return tuple(
        ChoiceMarks(marks - shared or marks, telling(option)) for marks, option in zip(stems, options, strict=True)
    )


_LISTED = re.compile(
    r"(?i)((?:(?:an?|the)\s+)?[\w-]{1,30}(?:\s*,\s*(?:(?:an?|the)\s+)?[\w-]{1,30}){0,6}),?\s+or\s+((?:(?:an?|the)\s+)?[\w-]{1,30})"
)
_YES_OR_NO = re.compile(r"(?i)\W*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|may|must|should)\b")


def offered(question: str) -> list[str]:
    """Return the answers that a question without choices offers: "left or right?", or yes and no.

    Examples
    --------
    >>> offered("Is the door open or closed?"), offered("Can she reach it?"), offered("What is it?")
    (['open', 'closed'], ['yes', 'no'], [])
    """
    lists = list(_LISTED.finditer(question))
    if lists:
        options = [*(part.strip() for part in lists[-1][1].split(",")), lists[-1][2]]
        return [re.sub(r"(?i)^(?:an?|the)\s+", "", option).casefold() for option in options]
    if _YES_OR_NO.match(question):
        return ["yes", "no"]
    return []
