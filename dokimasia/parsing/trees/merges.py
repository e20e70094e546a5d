"""Merges of numbered capabilities: `same: 3, 7`, `vague: 5 | Name`, or `none` (ATOM, section 3.2)."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.examples import FormExample
from dokimasia.parsing.grammar import form
from dokimasia.parsing.own import own
from dokimasia.parsing.reply import DECORATION, lines_with, refuse, short
from dokimasia.parsing.trees.proposals import capability_name

EXAMPLE = FormExample(
    """same: 34, 31
vague: 36 | Counting Reflected Objects
vague: 39"""
)

_KEYWORD = form(r"\b(?:same|vague|none)\b")
_LINE = form(r"(same|vague)~[:=|-]~([0-9].{0,4000})")
_NUMBERS = re.compile(r"[0-9]{1,6}(?:[\s,;=&+]{1,6}[0-9]{1,6}){0,999}[\s.]{0,4}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)
_NONE = form(r"(?:(?:same|vague)~[:=|-]~)?<?none>?[\s.]{0,4}")
_NAME = re.compile(r"\s{0,4}(?:[|:\u2192]|[-=]{1,2})\s{0,4}(?=[^\s\d])")
_BRACKETS = str.maketrans("", "", "<>")
_EDGE = " \t\r|#>\u2022\u00b7-"


class Merges(NamedTuple):
    """Groups of equal capabilities by number, the one to keep first; and the numbers of vague ones, with better names.

    `names` are the better names of vague ones, as pairs of number and name; a vague one may have none.
    """

    same: tuple[tuple[int, ...], ...] = ()
    vague: tuple[int, ...] = ()
    names: tuple[tuple[int, str], ...] = ()


def parse_merges(text: str, expected: int, *, strict: bool = True) -> Merges:
    """Return which of the capabilities 1 to `expected` a judge finds equal, and which vague, with better names.

    Args:
        text: the judge's reply.
        expected: the number of capabilities.
        strict: whether one invalid line makes the reply unusable; otherwise invalid numbers are left out.

    Raises:
        UnparsableReply: there is neither a group nor the word `none`, or (strict) a number is out of range or in two groups,
            a group has one member, or a better name is invalid. The reason names all faults.
        ValueError: `expected` is less than 1.
    """
    if expected < 1:
        raise ValueError("at least one capability is expected")
    lines = _MergeLines(expected)
    has_lines = False
    for line in lines_with(_KEYWORD, own(text)):
        stripped = line.translate(DECORATION).translate(_BRACKETS).strip(_EDGE)
        if _NONE.fullmatch(stripped):
            has_lines = True
        elif match := _LINE.fullmatch(stripped):
            has_lines = True
            lines.take(stripped, *match.groups())
    if not has_lines:
        raise UnparsableReply("there is no line of the form 'same: 3, 7' or 'vague: 5', and not the word none")
    if strict:
        refuse(lines.problems)
    return Merges(tuple(lines.same), tuple(lines.vague), tuple(lines.names.items()))


class _MergeLines:
    """What the lines of a reply say of the capabilities 1 to `expected`, and what is wrong with them."""

    def __init__(self, expected: int) -> None:
        self.same: list[tuple[int, ...]] = []
        self.vague: dict[int, None] = {}
        self.names: dict[int, str] = {}
        self.problems: dict[str, None] = {}
        self._expected = expected
        self._grouped: set[int] = set()

    def take(self, line: str, kind: str, rest: str) -> None:
        """Read a line that begins with `kind`, followed by `rest`."""
        about_vague = kind.casefold() == "vague"
        written, *better_names = _NAME.split(rest, maxsplit=1) if about_vague else [rest]
        if not _NUMBERS.fullmatch(written):
            self._fault(f"'{short(line)}' is no list of numbers")
            return
        numbers = self._in_range(dict.fromkeys(int(number) for number in _NUMBER.findall(written)))
        if about_vague:
            self._take_vague(numbers, better_names[0] if better_names else "")
        else:
            self._take_group(line, numbers)

    def _in_range(self, numbers: Iterable[int]) -> list[int]:
        inside: list[int] = []
        for number in numbers:
            if 1 <= number <= self._expected:
                inside.append(number)
            else:
                self._fault(f"there is no capability {number}: they are numbered 1 to {self._expected}")
        return inside

    def _take_vague(self, numbers: Sequence[int], better_name: str) -> None:
        EXAMPLE.refuse(better_name, "a better name")
        self.vague |= dict.fromkeys(numbers)
        if not better_name or not numbers:
            return
        try:
            if name := _better_name(better_name, len(numbers)):
                self.names[numbers[0]] = name
        except ValueError as problem:
            self._fault(str(problem))

    def _take_group(self, line: str, numbers: Sequence[int]) -> None:
        for number in numbers:
            if number in self._grouped:
                self._fault(f"capability {number} stands in more than one group")
        group = tuple(number for number in numbers if number not in self._grouped)
        if len(group) < 2:
            self._fault(f"the group '{short(line)}' has fewer than two members")
            return
        self._grouped.update(group)
        self.same.append(group)

    def _fault(self, problem: str) -> None:
        self.problems[problem] = None


def _better_name(text: str, count: int) -> str:
    """Return the better name of a vague capability; empty for the word `none`.

    Raises:
        ValueError: the name is invalid, or given to several capabilities.
    """
    name = capability_name(text)
    if name.casefold() == "none":
        return ""
    if count > 1:
        raise ValueError(
            f"'{short(name)}' is given to {count} capabilities: each vague one needs a line and a name of its own"
        )
    return name
