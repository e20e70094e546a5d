"""Every number of a sentence against the cell that its reference leads to: value, rounding, unit, interval, counts."""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile
from typing import Protocol

from dokimasia.algorithms.diagnosis.asset_tables import shown_value
from dokimasia.algorithms.diagnosis.evidence import Fact
from dokimasia.algorithms.text.words import NUMBER_WORDS
from dokimasia.domain.diagnosis_report import StrikeKind

TOLERANCE = 1e-9

_SCALE = re.compile(
    r"(?:\bout of|(?<=\d )of|(?<=points )of|/)\s?(?:100|5)\b(?!\s?(?:criteria|samples|atoms|answers|[.,]\d))"
    r"|(?<![\d.,-])(?:0 to 100|1 to 5)\b(?!\.?\d)"
    r"|\b95\s?(?:%|percent|per cent)(?=\s+(?:\w+\s+)?(?:interval|confidence|CI\b))",
    re.IGNORECASE,
)
_OF_SCALE = re.compile(
    r"\s?(?:points\s)?(?:\((?:out )?of\s|out of\s|of\s|/\s?)(?P<top>100|5)\b(?!\s?(?:criteria|samples|atoms|answers|[.,]\d))",
    re.IGNORECASE,
)
_LEADING_SIGN = re.compile(r"(?:^|[\s(\[=<>\u2264\u2265\u2013\u2014])$")
_DIGITS = re.compile(r"(?<![\w.\u25a1])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w\u25a1]|\.\d|,\d)")
_ANY_DIGIT = re.compile(r"(?<![^\W\d_])(?<![^\W_][-_])\d")
_PERCENT = re.compile(r"\s?(?:%|percent\b|per cent\b)(?!\s?(?:points|age))", re.IGNORECASE)
_COUNTED = re.compile(
    r"\s(?:scored\s|of its\s|of the\s)?(?:criteria|criterion|samples?|atoms?|answers?|of|out of"
    r"|(?:have|has|had|were|was|are|is|got)\s(?:a\s)?scored?)\b",
    re.IGNORECASE,
)
_SCORED = re.compile(r"\s(?:scored\b|(?:have|has|had)\sa\sscore\b|(?:out )?of\s(?:the\s|its\s)?\d)", re.IGNORECASE)
_ASKED = re.compile(r"(?:\d\s(?:out )?of\s(?:the\s|its\s)?|\basked\s)$", re.IGNORECASE)
_COUNT_BEFORE = re.compile(r"(?:\bn\s?=\s?|\bof\s|\bout of\s(?:the\s)?|\bon\s|\bover\s)$", re.IGNORECASE)
_BEHIND = re.compile(
    r"\s*[(\[]?\s*(?:with\s)?(?:an?\s|the\s)?(?:interval|confidence interval|CI)?[:\s]*(?:of\s|from\s|between\s)?$",
    re.IGNORECASE,
)
"""What may stand between a reference and the interval of its cell that follows it."""

_COUNT_BEHIND = re.compile(
    r"\s*[(,]?\s*(?:of|out of|on|over|from|across)\s(?:the\s|its\s|all\s)?|\s*\(?n\s?=\s?", re.IGNORECASE
)
_RANGE = re.compile(r"\s?(?:%|percent)?\s?(?:to|and|\u2013|\u2014|-|,)\s?", re.IGNORECASE)
_DOWN = re.compile(
    r"\b(?:below|lower|less|fewer|under|behind|worse|weaker|short|down|deficit|loses|lost)\b", re.IGNORECASE
)
_BOUNDS: tuple[tuple[re.Pattern[str], Callable[[float, float], bool]], ...] = (
    (re.compile(r"(?:\bmore than|\bover|\babove|\bexceeds|>)\s?$", re.IGNORECASE), operator.gt),
    (re.compile(r"(?:\bat least|\u2265|>=)\s?$", re.IGNORECASE), operator.ge),
    (re.compile(r"(?:\bless than|\bfewer than|\bunder|\bbelow|<)\s?$", re.IGNORECASE), operator.lt),
    (re.compile(r"(?:\bat most|\bup to|\u2264|<=)\s?$", re.IGNORECASE), operator.le),
)
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINALS = {word: str(place) for place, word in enumerate(_PLACES, 1)}
_RANKED = re.compile(
    rf"(?<=\branks\s)(?:{'|'.join(_ORDINALS)})\b|(?<=\branked\s)(?:{'|'.join(_ORDINALS)})\b"
    rf"|\b(?:{'|'.join(_ORDINALS)})(?=\s(?:place|rank)\b)",
    re.IGNORECASE,
)
_SPELT = {word: number for word, number in NUMBER_WORDS.items() if word not in ("zero", "one")} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "seventy": "70",
    "eighty": "80",
    "ninety": "90",
    "hundred": "100",
    "dozen": "12",
}
_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(_SPELT)})(?![\w-])", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:half|halv(?:e|es|ed)|twice|thrice|double[ds]?|(?:twen|thir|for|fif|six|seven|eigh|nine)ties"
    r"|triple[ds]?|quarters?|thirds|a third|tenths?|\w+-fold"
    r"|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-\w+|one (?:in|of|out of) (?:\w+ )?(?:\w*ten|two|three|four"
    r"|five|six|seven|eight|nine|twenty|hundred)|(?:nearly|almost) (?:all|every|none|no)|all but \w+|majority|minority"
    r"|most of)\b",
    re.IGNORECASE,
)


class Place(Protocol):
    """A stretch of a sentence and what the reference behind it leads to."""

    @property
    def start(self) -> int:
        """Where it begins."""
        ...

    @property
    def end(self) -> int:
        """Where its reference begins."""
        ...

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is cited there."""
        ...


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written: where, its value, its digits after the point, its sign and percent sign."""

    start: int
    end: int
    value: float
    digits: int
    signed: bool
    percent: bool
    text: str


def numbers_in(text: str) -> list[Number] | None:
    """Return the numbers of a text whose names are blanked; None where one is in a form that cannot be read.

    Digits inside of words are none; numbers in words count ("three"), `one` does not; "of 100" and "95 % interval" name
    a scale and a level.

    Examples
    --------
    >>> found = numbers_in("It has 45.20 of 100, and 1,250 or 12 % in GPT4.")
    >>> [one.value for one in found], [one.digits for one in found]
    ([45.2, 1250.0, 12.0], [2, 0, 0])
    """
    text = _SCALE.sub(lambda match: " " * len(match[0]), text)
    if _VAGUE.search(text):
        return None
    found: list[Number] = []
    left = list(text)
    for match in _DIGITS.finditer(text):
        start = match.start()
        sign = text[start - 1] if start and text[start - 1] in "+-\u2212" else ""
        if sign and not _LEADING_SIGN.search(text[: start - 1]):
            sign = ""
        percent = _PERCENT.match(text, match.end())
        value = Decimal(match[0].replace(",", "")) * (-1 if sign in ("-", "\u2212") and sign else 1)
        written = match[0].partition(".")[2]
        found.append(
            Number(
                start - len(sign),
                match.end(),
                float(value),
                len(written),
                bool(sign),
                percent is not None,
                sign + match[0],
            )
        )
        left[start : match.end()] = " " * (match.end() - start)
    for match in (*_WORD.finditer(text), *_RANKED.finditer(text)):
        word = match[0].casefold()
        number = float(_SPELT.get(word) or _ORDINALS[word])
        percent = _PERCENT.match(text, match.end())
        found.append(Number(match.start(), match.end(), number, 0, False, percent is not None, match[0]))
    if _ANY_DIGIT.search("".join(left)) or any(map(_odd_number, left)):
        return None
    return sorted(found, key=lambda one: one.start)


def _odd_number(sign: str) -> bool:
    """Whether a sign is a number by itself, such as a half or a Chinese nine; squares and cubes are units."""
    return sign.isnumeric() and not sign.isdecimal() and sign not in "\u00b2\u00b3"


def check_numbers(text: str, stretches: Sequence[Place]) -> tuple[StrikeKind, str] | None:
    """Return what is wrong with a number of a sentence, or None; references and names are blanked in the text."""
    numbers = numbers_in(text)
    if numbers is None:
        return "uncited_number", "it holds a number in a form that cannot be checked; write it in digits"
    for at, one in enumerate(stretches):
        own = [number for number in numbers if one.start <= number.start < one.end]
        if not own:
            continue
        if at:
            behind = _behind(text, own, one.start, stretches[at - 1])
            if isinstance(behind, tuple):
                return behind
            own = own[behind or _counted_behind(text, own, one.start, stretches[at - 1]) :]
            if not own:
                continue
        cells = [fact for fact in one.facts if fact.column is not None]
        rows = [fact for fact in one.facts if fact.row is not None]
        if not cells and rows and all(any(_counts(text, number, fact) for fact in rows) for number in own):
            continue
        if not cells:
            return "uncited_number", f"the number {own[0].text} is not followed by a reference to its cell"
        problem = _check_place(text, own, cells, first=at == 0)
        if problem is not None:
            return problem
    return None


def _behind(text: str, own: Sequence[Number], start: int, before: Place) -> tuple[StrikeKind, str] | int:
    """Return how many numbers behind a reference are the interval of its one cell, or what is wrong with them."""
    cells = [fact for fact in before.facts if fact.column is not None]
    if len(own) < 2 or len(cells) != 1 or not cells[0].estimated or own[0].start < start:
        return 0
    lead = _SCALE.sub(" ", text[start : own[0].start])
    if not _BEHIND.fullmatch(lead) or not _is_range(text, own[0], own[1]):
        return 0
    for number, value in zip(own[:2], _ends(cells[0], own[:2]), strict=True):
        problem = _check_value(number, value, cells[0], "the end of the interval of")
        if problem is not None:
            return problem
    return 2


def _counted_behind(text: str, own: Sequence[Number], start: int, before: Place) -> int:
    """Return how many numbers right behind a reference say what its row rests on, as in `11 % [...] of 84 samples`."""
    if _COUNT_BEHIND.fullmatch(text[start : own[0].start]) is None:
        return 0
    counted = (any(_counts(text, number, fact) for fact in before.facts) for number in own)
    return sum(takewhile(bool, counted))


def _check_place(
    text: str, numbers: Sequence[Number], cells: Sequence[Fact], *, first: bool
) -> tuple[StrikeKind, str] | None:
    if len(cells) > 1:
        if len(cells) != len(numbers):
            return "uncited_number", f"{len(numbers)} numbers stand before {len(cells)} references"
        problems = (_check_one(text, one, fact, first=False) for one, fact in zip(numbers, cells, strict=True))
        return next((problem for problem in problems if problem is not None), None)
    fact = cells[0]
    waiting = [number for number in numbers if not _is_place(number, fact)]
    if len(waiting) >= 2 and fact.estimated and _is_range(text, waiting[-2], waiting[-1]):
        for number, value in zip(waiting[-2:], _ends(fact, waiting[-2:]), strict=True):
            problem = _check_value(number, value, fact, "the end of the interval of")
            if problem is not None:
                return problem
        waiting = waiting[:-2]
    values = [one for one in waiting if len(waiting) == 1 or not _counts(text, one, fact)]
    for number in values:
        problem = _check_one(text, number, fact, first=first)
        if problem is not None:
            return problem
    if len(values) > 1 and fact.kind != "rank":
        return "uncited_number", f"{len(values)} numbers stand before the one reference to {fact.ref}"
    return None


def _counts(text: str, number: Number, fact: Fact) -> bool:
    """Whether a number is how many criteria or samples a row rests on, and says so."""
    if fact.row is None or (fact.model and not fact.row.model and not fact.asset.model):
        return False  # a line of several models: its count is that of all of them together
    scored, asked = _SCORED.match(text, number.end), _ASKED.search(text[: number.start])
    held = (fact.row.n,) if scored else (fact.row.held,) if asked else (fact.row.n, fact.row.held)
    return number.value in held and not number.percent and number.digits == 0 and _is_count(text, number)


def _is_place(number: Number, fact: Fact) -> bool:
    """Whether an ordinal is the place of a cell in its column, 1 being the best."""
    place = _ORDINALS.get(number.text.casefold())
    if place is None or fact.column is None or fact.column.better is None or fact.value is None:
        return False
    at, down = fact.asset.columns.index(fact.column), fact.column.better == "lower"
    values = [row.cells[at].value for row in fact.asset.rows]
    known = [value for value in values if isinstance(value, int | float)]
    better = sum(value < fact.value if down else value > fact.value for value in known)
    return better + 1 == int(place) and known.count(fact.value) == 1


def _check_one(text: str, number: Number, fact: Fact, *, first: bool) -> tuple[StrikeKind, str] | None:
    if fact.value is None:
        return "wrong_number", f"{fact.ref} holds no number, and the sentence says {number.text}"
    if fact.kind == "difference" and not number.signed and fact.value < 0:
        around = text[max(0, number.start - 60) : number.end + 60]
        if not _DOWN.search(around):
            return "wrong_direction", f"{fact.ref} is {_shown(fact.value)}, and the sentence says {number.text}"
        number = Number(number.start, number.end, -number.value, number.digits, True, number.percent, f"-{number.text}")
    problem = _check_value(number, fact.value, fact, "")
    if problem is None:
        return _check_scale(text, number, fact)
    bound = next((holds for pattern, holds in _BOUNDS if pattern.search(text[: number.start])), None)
    if bound is not None and (first or fact.kind == "p_value") and problem[0] == "wrong_number":
        scale = 100.0 if number.percent else 1.0
        if bound(fact.value * scale, number.value):
            return None
    return problem


def _check_scale(text: str, number: Number, fact: Fact) -> tuple[StrikeKind, str] | None:
    """Return what is wrong where a score is said to be "of 100" or "of 5" and its column has the other scale."""
    said, unit = _OF_SCALE.match(text, number.end), fact.column.unit if fact.column is not None else ""
    if said is None or not unit or unit.endswith(said["top"]):
        return None
    return "wrong_unit", f"it says {number.text} of {said['top']}, and {fact.ref} is in {unit}"


def _check_value(number: Number, value: float, fact: Fact, what: str) -> tuple[StrikeKind, str] | None:
    if number.percent and fact.kind != "share":
        return "wrong_unit", f"{number.text} is written as a percentage, and {fact.ref} is none"
    scaled = value * 100 if number.percent else value
    read = shown_value(value, fact.kind) * (100 if number.percent else 1)
    if min(abs(scaled - number.value), abs(read - number.value)) <= 0.5 * 10.0**-number.digits + TOLERANCE:
        return None
    if fact.kind == "share" and abs(value * 100 - number.value) <= 0.5 * 10.0**-number.digits + TOLERANCE:
        return "wrong_unit", f"{fact.ref} is the share {_shown(value)}; write {number.text} % or the share itself"
    said = f"{what} " if what else ""
    return "wrong_number", f"it says {number.text}, and {said}{fact.ref} is {_shown(scaled)}"


def _ends(fact: Fact, written: Sequence[Number]) -> tuple[float, float]:
    """Return the ends of an interval as they are written: of a shortfall, both may stand without their sign."""
    low, high = fact.low or 0.0, fact.high or 0.0
    if fact.kind == "difference" and high <= 0 and not any(one.signed for one in written):
        return -high, -low
    return low, high


def _is_range(text: str, first: Number, second: Number) -> bool:
    between = text[first.end : second.start]
    return _RANGE.fullmatch(between) is not None and not _is_count(text, first)


def _is_count(text: str, number: Number) -> bool:
    return _COUNTED.match(text, number.end) is not None or _COUNT_BEFORE.search(text[: number.start]) is not None


def _shown(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")
