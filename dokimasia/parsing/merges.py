"""A judge's words on which numbered capabilities are the same: `same: 3, 7`, `vague: 5`, or `none` (ATOM, section 3.2)."""

import re
from typing import NamedTuple

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.reply import DECORATION, NAMED, lines_with, short, spoken

_KEYWORD = re.compile(r"\b(?:same|vague|none)\b", re.IGNORECASE | re.ASCII)
_LINE = re.compile(r"(?P<kind>same|vague)\s{0,4}[:=|-]\s{0,4}(?P<numbers>[0-9].{0,4000})", re.IGNORECASE | re.ASCII)
_NUMBERS = re.compile(r"[0-9]{1,6}(?:[\s,;=&+]{1,6}[0-9]{1,6}){0,999}[\s.]{0,4}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)
_NONE = re.compile(r"(?:(?:same|vague)\s{0,4}[:=|-]\s{0,4})?<?none>?[\s.]{0,4}", re.IGNORECASE | re.ASCII)
_EDGE = " \t\r|#>\u2022\u00b7-"


class Merges(NamedTuple):
    """Groups of numbers that are one and the same, the one that is kept first; and the numbers of what is vague."""

    same: tuple[tuple[int, ...], ...] = ()
    vague: tuple[int, ...] = ()


def parse_merges(text: str, expected: int, *, strict: bool = True) -> Merges:
    """Return which of the things numbered 1 to `expected` a judge holds for the same, and which for vague.

    Args:
        text: the judge's reply.
        expected: how many there are.
        strict: whether one wrong line spoils the reply; else the numbers that are wrong are left out.

    Raises:
        UnparsableReply: there is neither a group nor the word `none`, or (strict) a number is not among them, stands in
            two groups, or a group has one member. The reason names what is wrong.
        ValueError: nothing is expected.
    """
    if expected < 1:
        raise ValueError("at least one capability is expected")
    same: list[tuple[int, ...]] = []
    vague: dict[int, None] = {}
    problems: dict[str, None] = {}
    seen: set[int] = set()
    said = False
    for line in lines_with(_KEYWORD, spoken(text)):
        stripped = line.translate(DECORATION).strip(_EDGE)
        if _NONE.fullmatch(stripped):
            said = True
            continue
        match = _LINE.fullmatch(stripped)
        if match is None:
            continue
        said = True
        if not _NUMBERS.fullmatch(match["numbers"]):
            problems[f"'{short(stripped)}' is no list of numbers"] = None
            continue
        numbers = list(dict.fromkeys(int(number) for number in _NUMBER.findall(match["numbers"])))
        for number in numbers:
            if not 1 <= number <= expected:
                problems[f"there is no capability {number}: they are numbered 1 to {expected}"] = None
        numbers = [number for number in numbers if 1 <= number <= expected]
        if match["kind"].casefold() == "vague":
            vague |= dict.fromkeys(numbers)
            continue
        for number in numbers:
            if number in seen:
                problems[f"capability {number} stands in more than one group"] = None
        group = [number for number in numbers if number not in seen]
        if len(group) < 2:
            problems[f"the group '{short(stripped)}' has fewer than two members"] = None
            continue
        seen.update(group)
        same.append(tuple(group))
    if not said:
        raise UnparsableReply("there is no line of the form 'same: 3, 7' or 'vague: 5', and not the word none")
    if strict and problems:
        raise UnparsableReply("; ".join(list(problems)[:NAMED]))
    return Merges(tuple(same), tuple(vague))
