"""Notes on the points that an answer fails, and assignments of failure modes to points."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from dokimasia.domain.failure_modes import ModeKind
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.examples import FormExample
from dokimasia.parsing.grammar import form
from dokimasia.parsing.own import own
from dokimasia.parsing.phrases import MISQUOTED, passage, unquoted, without_quote
from dokimasia.parsing.reply import DECORATION, NAMED, lines_with, short

T = TypeVar("T")

MOST_NOTE_WORDS = 60
"""The accepted words of a note; the prompt asks for fewer, so that an extra word does not cost a re-ask."""

NOTES_EXAMPLE = FormExample(
    """21 | commission | "four boats lie at the jetty" | counts the reflection of the red boat as a fourth boat
22 | omission | overlooks the sign at the end of the jetty, which gives the hours
23 | nothing"""
)
ASSIGNMENTS_EXAMPLE = FormExample(
    """21 | 3 | "four boats lie at the jetty"
22 | 5
23 | none"""
)

UNSEEN = re.compile(
    r"\b(?:hallucinat\w*|careless\w*|inattenti\w*|sloppy|lazy|laziness"
    r"|(?:lack of|missing|insufficient) (?:knowledge|attention|understanding|training))\b",
    re.IGNORECASE,
)
"""Causes that cannot be observed in image and answer."""

WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
NONE = re.compile(r"(?:<?none>?|no mode|nothing|-)[\s.|]{0,9}", re.IGNORECASE)
_EDGE = " \t\r>#\u2022\u00b7-"
_POINT = form(r"(?:point|criterion|no\.?)?~[(<\[]?([0-9]{1,6})[)>\]]?~[|:]~(.+)", re.UNICODE)
_KIND = form(r"[<\[]?(commission|omission|nothing)\b[>\]]?~\|?~(.*)", re.UNICODE)
_MODE = form(r"[(<\[]?(?:mode~|m)?([0-9]{1,6})(?![0-9.,])[)>\]]?~\|?~(.*)", re.UNICODE)


class Noted(NamedTuple):
    """A note on one point: its kind, the text, and the answer's own words for a commission."""

    kind: ModeKind
    text: str
    quote: str = ""


class Notes(NamedTuple):
    """For each point, in order: a note, `nothing` if nothing went wrong, or None if its line is unusable, with the reason."""

    points: tuple[Noted | Literal["nothing"] | None, ...]
    problems: Mapping[int, str]


class SeenMode(NamedTuple):
    """The mode assigned to a point, by number from 1, or None; and the answer's own words for a commission."""

    mode: int | None
    quote: str = ""


class Assignments(NamedTuple):
    """For each point, in order, its mode; None if its line is unusable, with the reason by number."""

    points: tuple[SeenMode | None, ...]
    problems: Mapping[int, str]


def parse_notes(text: str, expected: int, answer: str, *, silent: Collection[int] = (), strict: bool = True) -> Notes:
    """Return a judge's notes on the points 1 to `expected` of an answer.

    Args:
        text: the judge's reply.
        expected: how many points there are.
        answer: the answer, which must contain the phrase of a commission.
        silent: points that the answer does not mention, which cannot be commissions.
        strict: whether one invalid line makes the reply unusable; otherwise its point has no note.

    Raises:
        UnparsableReply: no point has a usable note, or (strict) one has none; the reason names all faults.
    """

    def read(number: int, rest: str) -> Noted | Literal["nothing"]:
        match = _KIND.match(rest)
        if match is None:
            raise ValueError("says neither commission nor omission nor nothing")
        kind, described = match.groups()
        if kind.casefold() == "nothing":
            return "nothing"
        if kind.casefold() == "omission":
            return Noted("omission", _note(without_quote(described)))
        quote, _, note = unquoted(described)
        if not note:
            raise ValueError("a commission has a phrase of the answer, then a bar, then the note")
        return Noted("commission", _note(note), _phrase(quote, answer, number in silent))

    return Notes(*_points(text, expected, read, strict=strict))


def parse_assignments(
    text: str,
    expected: int,
    kinds: Sequence[ModeKind],
    answer: str,
    *,
    names: Sequence[str] = (),
    silent: Collection[int] = (),
    strict: bool = True,
) -> Assignments:
    """Return the mode that a judge assigns to each of the points 1 to `expected` of an answer.

    Args:
        text: the judge's reply.
        expected: how many points there are.
        kinds: the kinds of the modes, in the order of their numbers.
        answer: the answer, which must contain the phrase of a commission.
        names: the names of the modes, which a line may use instead of numbers.
        silent: points that the answer does not mention, which cannot be commissions.
        strict: whether one invalid line makes the reply unusable; otherwise its point stays unassigned, which differs from
            `none`.

    Raises:
        UnparsableReply: no point has a usable line, or (strict) one has none; the reason names all faults.
    """
    by_name = {name.casefold(): number for number, name in enumerate(names, start=1)}

    def read(number: int, rest: str) -> SeenMode:
        if NONE.fullmatch(rest):
            return SeenMode(None)
        called, _, behind = rest.partition("|")
        mode = by_name.get(called.strip().strip("<>").casefold())
        if mode is None:
            match = _MODE.match(rest)
            mode = 0 if match is None else int(match[1])
            if match is None or not 1 <= mode <= len(kinds):
                raise ValueError(f"'{short(called)}' is neither the number of a mode, 1 to {len(kinds)}, nor none")
            behind = match[2]
        if kinds[mode - 1] == "omission":
            return SeenMode(mode)
        if not behind.strip():
            raise ValueError(f"mode {mode} is a commission, which needs a phrase of the answer")
        return SeenMode(mode, _phrase(unquoted(behind)[0], answer, number in silent))

    return Assignments(*_points(text, expected, read, strict=strict))


def _points(
    text: str, expected: int, read: Callable[[int, str], T], *, strict: bool
) -> tuple[tuple[T | None, ...], Mapping[int, str]]:
    """Return the reading of each point's line, in order, and the reasons for points without one."""
    if expected < 1:
        raise ValueError("at least one point is expected")
    readings: dict[int, T] = {}
    problems: dict[int, str] = {}
    for line in said_lines(text):
        match = _POINT.fullmatch(line)
        if match is None:
            continue
        digits, rest = match.groups()
        number = int(digits)
        if not 1 <= number <= expected:
            problems.setdefault(number, f"the points are 1 to {expected}")
            continue
        try:
            reading = read(number, rest.strip())
            if number in readings and readings[number] != reading:
                raise ValueError("there are several lines for it, and they differ")
            readings[number] = reading
        except ValueError as problem:
            readings.pop(number, None)
            problems[number] = str(problem)
    for number in range(1, expected + 1):
        if number not in readings:
            problems.setdefault(number, "there is no line for it")
    if problems and (strict or not readings):
        raise UnparsableReply(
            "; ".join(f"point {number}: {reason}" for number, reason in sorted(problems.items())[:NAMED])
        )
    return tuple(
        readings.get(number) if number not in problems else None for number in range(1, expected + 1)
    ), problems


def said_lines(text: str, *words: str) -> Iterator[str]:
    """Yield the lines with a bar or one of some words, without emphasis and list marks."""
    pattern = re.compile("|".join([r"\|", *(rf"\b{word}\b" for word in words)]), re.IGNORECASE)
    for line in lines_with(pattern, own(text)):
        yield line.translate(DECORATION).lstrip(_EDGE).rstrip().removeprefix("|").removesuffix("|").strip()


def _note(text: str) -> str:
    note = " ".join(text.strip().strip("|").split())
    words = WORD.findall(note)
    if NOTES_EXAMPLE.holds(note):
        raise ValueError(f"the note is that of the example: {short(note)}")
    if len(words) < 2:
        raise ValueError("the note is missing")
    if len(words) > MOST_NOTE_WORDS:
        raise ValueError(f"the note has {len(words)} words; write at most 30")
    if unseen := UNSEEN.search(note):
        raise ValueError(
            f"'{unseen[0]}' is nothing that can be seen in image and answer: note what was said in place of what"
        )
    return note


def _phrase(quote: str, answer: str, silent: bool) -> str:
    phrase = passage(quote, answer)
    if phrase is None:
        raise ValueError(f"{MISQUOTED} '{short(quote, 80)}' does not stand in the answer; copy a phrase sign for sign")
    if silent:
        raise ValueError("the answer does not speak of this point, so that it can be an omission only, or nothing")
    return phrase
