"""Whether a number in a hint is the answer or something else: a step, a pronoun, a count that the question gives."""

import re

from dokimasia.algorithms.leaks.forms import stem
from dokimasia.algorithms.leaks.numbers import Number
from dokimasia.algorithms.text.words import FUNCTION_WORDS

SMALL = 10
"""Numbers up to which a number word before some other noun counts something else."""

_EXEMPT_BEFORE = frozenset(
    [
        "step",
        "steps",
        "figure",
        "fig",
        "panel",
        "row",
        "column",
        "line",
        "page",
        "section",
        "question",
        "criterion",
        "criteria",
        "point",
        "part",
        "item",
        "note",
        "hint",
        "round",
        "table",
        "axis",
        "version",
        "chapter",
        "check",
        "paragraph",
        "the",
        "these",
        "those",
        "both",
        "last",
        "other",
        "any",
        "every",
        "each",
        "no",
        "all",
        "first",
    ]
)
_EXEMPT_AFTER = frozenset(
    [
        "times",
        "step",
        "steps",
        "things",
        "ways",
        "more",
        "moment",
        "moments",
        "look",
        "looks",
        "passes",
        "pass",
        "by",
        "another",
    ]
)
_QUANTIFIES = re.compile(
    r"(?i)\b(?:exactly|only|just|there\s+(?:is|are)|there's|answer|total|count\w*|equals?|is|are|it's|=|:)\W*$"
)


def harmless(tokens: list[str], number: Number, asked: set[str], own: set[str], *, strict: bool) -> bool:
    """Whether a number that equals a secret stands for something else: a step, a pronoun, a count the question gives."""
    before = tokens[number.start - 1] if number.start else ""
    after = tokens[number.end : number.end + 3]
    led = " ".join(tokens[max(0, number.start - 5) : number.start])
    stated = bool(_QUANTIFIES.search(led))
    if strict and not stated:
        return True
    if tokens[number.start] in ("one", "single", "none") and not re.search(
        r"(?:exactly|only|just|answer\w*(?: is)?|:|there is|count\w*) ?$", led
    ):
        return True
    if before in _EXEMPT_BEFORE and not (before == "first" and stated):
        return True
    if after and after[0] in _EXEMPT_AFTER and not stated:
        return True
    if number.figures or stated:
        return False
    if number.value > SMALL or not after or not after[0].isalpha():
        return False
    return after[0] not in FUNCTION_WORDS and stem(after[0]) not in asked | own
