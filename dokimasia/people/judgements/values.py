"""Parse values of judgements in the notations of people and tools: verdicts on pairs, scores and rankings."""

import html
import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.pairwise import parse_pairwise_verdict

Numbers = Literal["places", "steps"]
"""The meaning of a number for a pair: the place of the better response (0 a tie, 1 to 2 graded), or steps from 2 to
-2."""

FIRST, SECOND, TIE, BOTH_BAD = "first", "second", "tie", "both bad"
_TURNED = {FIRST: SECOND, SECOND: FIRST}
LONGEST_SHOWN = 60

_FIRST_WORDS = (
    "a, first, left, left vote, 1st, model a, assistant a, response a, output a, answer a, output 1, response 1"
)
_SECOND_WORDS = (
    "b, second, right, right vote, 2nd, model b, assistant b, response b, output b, answer b, output 2, response 2"
)
_TIE_WORDS = "tie, draw, equal, same, c, tie vote, both, both good, a=b=good, equally good"
_BAD_WORDS = "both bad, both bad vote, tie (both bad), a=b=bad, neither"
_WORDS: dict[str, tuple[float, str]] = {
    **dict.fromkeys(_FIRST_WORDS.split(", "), (1.0, FIRST)),
    **dict.fromkeys(_SECOND_WORDS.split(", "), (-1.0, SECOND)),
    **dict.fromkeys(_TIE_WORDS.split(", "), (0.0, TIE)),
    **dict.fromkeys(_BAD_WORDS.split(", "), (0.0, BOTH_BAD)),
}
_GRADES = {" much better": 2.0, " significantly better": 2.0, " slightly better": 1.0, " better": 1.0, " wins": 1.0}
_SIGNS = {">>": 2.0, ">": 1.0, "=": 0.0, "<": -1.0, "<<": -2.0}
_RELATION = re.compile(r"(?:model|assistant|response)?\s?([ab])\s?(>>?|<<?|=)\s?(?:model|assistant|response)?\s?([ab])")
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?", re.ASCII)
_TWO_SCORES = re.compile(
    r"\s{0,9}([0-9]{1,4}(?:\.[0-9]{1,9})?)[ \t,/|]{1,9}([0-9]{1,4}(?:\.[0-9]{1,9})?)\s{0,9}(?:\n|\Z)"
)


class Reading(NamedTuple):
    """The value of a judgement, or the reason why it is unreadable.

    Attributes:
        value: for a pair, how much better the first response is, from 2 to -2; else the score. None if it is
            unreadable.
        label: for a pair, `first`, `second`, `tie` or `both bad`; else the score as text.
        failure: why it is unreadable; empty if it is readable.
    """

    value: float | None
    label: str = ""
    failure: str = ""

    @property
    def turned(self) -> "Reading":
        """The verdict on the same pair in the other order."""
        if self.value is None:
            return self
        return Reading(-self.value + 0.0, _TURNED.get(self.label, self.label))


def verdict_of(step: float, label: str = "") -> Reading:
    """Return the verdict for a number of steps; `label` replaces `tie` for 0 steps."""
    named = label or TIE
    if step:
        named = FIRST if step > 0 else SECOND
    return Reading(step, named)


def read_verdict(value: object, *, numbers: Numbers, names: tuple[str, str] | None = None) -> Reading:
    """Return a verdict on a pair, or the reason why it is unreadable.

    Accepted notations are words (`A`, `left`, `model_b`, `output_1`, `tie`, `both bad`, `left much better`), the name
    of the better response, relations (`A>>B`, `[[B>A]]`, `[[A=B=Bad]]`), numbers, two scores in one reply (`8 6`), and
    a judge's whole reply as in `parse_pairwise_verdict`.

    Args:
        value: the value in the file.
        numbers: the meaning of a number.
        names: the names of the two responses.
    """
    if value is None or isinstance(value, bool):
        return Reading(None, failure="no value")
    if isinstance(value, int | float):
        return _numbered(float(value), numbers)
    if not isinstance(value, str):
        return Reading(None, failure=f"{shown(value)} is no verdict")
    text = value.strip()
    if not text:
        return Reading(None, failure="no value")
    if names is not None and text in names:
        return verdict_of(1.0 if text == names[0] else -1.0)
    if _NUMBER.fullmatch(text):
        return _numbered(float(text), numbers)
    if len(text) <= LONGEST_SHOWN and (known := _in_words(text)) is not None:
        return known
    if scores := _TWO_SCORES.match(text):
        first, second = float(scores[1]), float(scores[2])
        return verdict_of(float(first > second) - float(first < second))
    try:
        return verdict_of(float(parse_pairwise_verdict(text)))
    except UnparsableReply:
        return Reading(None, failure=f"{shown(value)} is no verdict")


def _numbered(number: float, numbers: Numbers) -> Reading:
    if numbers == "steps" and number in (-2, -1, 0, 1, 2):
        return verdict_of(number)
    if numbers == "places" and (number == 0 or 1 <= number <= 2):
        return verdict_of(0.0 if number == 0 else 3 - 2 * number)
    meaning = "0, or from 1 to 2" if numbers == "places" else "a whole number from -2 to 2"
    return Reading(None, failure=f"{number:g} is no verdict: {meaning}")


def _in_words(text: str) -> Reading | None:
    """Return the verdict stated in a few words or as a relation such as `A>B`; None if there is none."""
    plain = html.unescape(text).casefold().strip("[]*_`. \t\n")
    plain = re.sub(r"\b(?:verdict|final verdict|preference)\s?(?:is)?:\s?\[{0,2}", "", plain)
    if relation := _RELATION.fullmatch(plain):
        first, sign, second = relation.groups()
        if first == second:
            return None
        return verdict_of(_SIGNS[sign] if first == "a" else -_SIGNS[sign] + 0.0)
    words = " ".join(re.sub(r"[_\-\s]+", " ", plain).replace("vote", " vote").replace("bad", " bad").split())
    words = re.sub(r"\s?=\s?", "=", re.sub(r"^(output|response|answer) \((\w)\)$", r"\1 \2", words))
    words = words.replace("( ", "(")
    for ending, step in _GRADES.items():
        if words.endswith(ending):
            side = _WORDS.get(words.removesuffix(ending).removesuffix(" is"))
            if side is None or not side[0]:
                return None
            return verdict_of(step * side[0])
    known = _WORDS.get(words)
    if known is None:
        return None
    return verdict_of(*known)


def read_score(value: object) -> Reading:
    """Return a score from a number or its text, with or without double brackets, or the reason why it is unreadable."""
    if isinstance(value, str):
        text = value.strip().removeprefix("[[").removesuffix("]]").strip()
        value = float(text) if _NUMBER.fullmatch(text) else value
        if not text:
            return Reading(None, failure="no value")
    if value is None:
        return Reading(None, failure="no value")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return Reading(None, failure=f"{shown(value)} is no score")
    return Reading(float(value), f"{value:g}")


def read_ranking(value: object) -> dict[str, float] | None:
    """Return a ranking as a score for each response, higher is better; None if it is unreadable.

    A ranking is a list of names or of groups of names, the best first; an object of names and numbers; or text such as
    `A>B=C`.
    """
    if isinstance(value, str) and ">" in value:
        value = [[name.strip() for name in group.split("=")] for group in value.split(">")]
    scores: dict[str, float] = {}
    if isinstance(value, Mapping):
        for name, score in value.items():
            reading = read_score(score)
            if reading.value is None:
                return None
            scores[str(name)] = reading.value
        return scores if len(scores) > 1 else None
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    for place, group in enumerate(value):
        for name in group if isinstance(group, list) else [group]:
            if not isinstance(name, str) or not name or name in scores:
                return None
            scores[name] = -float(place)
    return scores if len(scores) > 1 else None


def shown(value: object) -> str:
    """Return the beginning of a value, in quotes."""
    text = " ".join(str(value).split())
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…")
