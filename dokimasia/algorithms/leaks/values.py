"""The values that a text states, whatever their notation: numbers, shares, clock times, quantities, dates."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from dokimasia.algorithms.leaks.numbers import Number, numbers_in, ordinal
from dokimasia.algorithms.text.words import word_set, word_table

_MONTH_NAMES = """
    1: january jan
    2: february feb
    3: march mar
    4: april apr
    5: may
    6: june jun
    7: july jul
    8: august aug
    9: september sep sept
    10: october oct
    11: november nov
    12: december dec
"""
MONTHS = {word: int(number) for word, number in word_table(_MONTH_NAMES).items()}
_UNIT_NAMES = """
    m 1: m metre meter
    m 1000: km kilometre kilometer
    m 0.01: cm centimetre centimeter
    m 0.001: mm millimetre millimeter
    g 1: g gram gramme
    g 1000: kg kilo kilogram
    g 0.001: mg
    g 1000000: tonne ton
    l 1: l litre liter
    l 0.001: ml millilitre milliliter
    l 0.01: cl
    l 0.1: dl
    s 1: second sec s
    s 60: minute min
    s 3600: hour hr h
    s 86400: day
    s 604800: week
    $ 1: dollar buck $ usd euro eur \u20ac \u00a3 quid
    $ 0.01: cent p pence penny
    in 1: inch
    in 12: foot feet ft
    in 36: yard
    lb 1: pound lb
    lb 1/16: ounce oz
    yr 1: year
    yr 1/12: month
    yr 10: decade
    yr 100: century
    w 1: watt w
    w 1000: kw kilowatt
    w 1000000: mw
    bar 1: bar
    bar 0.001: millibar mbar
"""
UNITS: dict[str, tuple[str, float]] = {}
"""The base unit of each unit, and how many base units it equals."""
for _name, _unit_of in word_table(_UNIT_NAMES).items():
    _base, _size = _unit_of.split()
    UNITS[_name] = (_base, float(Fraction(_size)))
_WHOLE_UNITS = word_set("dollar euro litre liter metre meter kilometre kilometer kilo kilogram")
_PART_NAMES = """
    2: half halves
    3: third thirds
    4: quarter quarters fourth fourths
    5: fifth fifths
    6: sixth sixths
    7: seventh sevenths
    8: eighth eighths
    9: ninth ninths
    10: tenth tenths
    12: twelfth twelfths
"""
_PARTS = {word: int(number) for word, number in word_table(_PART_NAMES).items()}
_WHOLE_NAMES = """
    0: nobody nothing zero
    1: single sole lone solitary once solo
    2: twice double twosome twins both brace pairs doubles duet
    3: thrice triple threesome triplets triad hat-trick
    4: quadruple foursome quadruplets foursomes
    5: fivesome quintuplets
    6: sixsome sextuplets half-dozen
    12: dozens
    13: teens
    20: score
"""
_WHOLES = {word: int(number) for word, number in word_table(_WHOLE_NAMES).items()}
_SIZES = {"k": 1e3, "thousand": 1e3, "grand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
_TOKEN = re.compile(r"\d+(?:[.,:\u202f]\d+)*|(?<![\w.])\.\d+|[^\W\d_]+(?:'[^\W\d_]+)?|[^\w\s]")
_GLYPHS = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2212": "-", "\u2010": "-", "\u2011": "-", "_": " "}
)
_MARKS = re.compile(r"[*`~]+(?=\w)|(?<=\w)[*`~]+(?!\s*\d)|\*\*|(?<!\w)\*(?!\s*\d)")
SENTENCE_END = re.compile(r"(?<=[.!?;])(?<!\b[Nn]o\.)\s+(?=[^a-z])|\n+")
"""The end of a sentence; the full stop of an abbreviated number is not one."""

_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3})[ \u00a0\u202f'](?=\d{3}(?!\d))")


class StatedValue(NamedTuple):
    """A value in a text: its kind, its amount, its first token and the one after its last."""

    kind: str
    value: float
    start: int
    end: int


def token_at(low: Sequence[str], index: int) -> str:
    """Return the token at an index, or a full stop after the end of the sentence."""
    return low[index] if index < len(low) else "."


def token_before(low: Sequence[str], index: int) -> str:
    """Return the token before an index; empty at the beginning."""
    return low[index - 1] if index else ""


@lru_cache(maxsize=2048)
def bare(text: str) -> str:
    """Return a text without decoration: accents, invisible characters, marks of emphasis, unusual spaces.

    Examples
    --------
    >>> bare("**Caf\u00e9**\u200b\u00a0n\u00b0 4")
    'Cafe no 4'
    """
    text = re.sub(r"\b([A-Za-z]{1,2})[\u00b2\u00b3]", r"square \1", text)
    signs = (sign for sign in unicodedata.normalize("NFKD", text) if unicodedata.category(sign) not in ("Mn", "Cf"))
    text = re.sub(r"\b([ei])\.\s?([ge])\.", "such as", "".join(signs))
    plain = _MARKS.sub("", text.replace("n\u00b0", "no").translate(_GLYPHS))
    return re.sub(r"\s+", " ", plain).strip()


def split(text: str) -> list[str]:
    """Return the words, figures and signs of a bare text as written.

    Examples
    --------
    >>> split("At 7:40, it's 31 C.")
    ['At', '7:40', ',', "it's", '31', 'C', '.']
    """
    return _TOKEN.findall(_THOUSANDS.sub(r"\1", text))


@lru_cache(maxsize=2048)
def read(text: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[StatedValue, ...]]:
    """Return a text's tokens as written and in lower case, and its values; cached."""
    raw = tuple(split(bare(text)))
    low = tuple(token.casefold() for token in raw)
    return raw, low, tuple(values_in(low))


def values_in(tokens: Sequence[str]) -> list[StatedValue]:
    """Return the values that tokens in lower case state; an ambiguous value is returned in both readings.

    Kinds: `n` a number, `p` a share of one, `t` a clock time in minutes past noon or midnight, `d` a day of the year,
    `o` a rank, `w` a word that implies a number, and `u` with a base unit: a quantity.

    Examples
    --------
    >>> tuple((value.kind, value.value) for value in values_in(split("half past three")))
    (('n', 3.0), ('p', 0.5), ('t', 210.0))
    >>> tuple(sorted({(value.kind, value.value) for value in values_in(split("50 % of 1.2 km"))}))
    (('n', 1.2), ('n', 50.0), ('p', 0.5), ('u:m', 1200.0))
    """
    low = list(tokens)
    numbers = list(_numbers(low))
    values = [StatedValue("n", number.value, number.start, number.end) for number in numbers]
    for number in numbers:
        values += _with_unit(low, number)
    values += _parts(low, numbers)
    values += _clocks(low, numbers)
    values += _dates(low, numbers)
    for at, token in enumerate(low):
        unit = UNITS.get(low[at + 2]) if at + 2 < len(low) and low[at + 1] in ("a", "an") else None
        if unit is not None and token in ("half", "quarter"):
            values.append(StatedValue(f"u:{unit[0]}", unit[1] / _PARTS[token], at, at + 3))
        if token in ("a", "an", "full") and at + 1 < len(low) and low[at + 1] in _WHOLE_UNITS:
            base, size = UNITS[low[at + 1]]
            values.append(StatedValue(f"u:{base}", size, at, at + 2))
        rank = ordinal(token)
        if rank is not None and rank < 10 and at > 1 and low[at - 1] == "-":
            rank += next(
                (
                    int(number.value)
                    for number in numbers
                    if number.end == at - 1 and number.value in range(20, 100, 10)
                ),
                0,
            )
        if rank is None and token in ("st", "nd", "rd", "th") and at and low[at - 1].isdigit():
            rank = int(low[at - 1])
        if rank is not None:
            values.append(StatedValue("o", float(rank), at, at + 1))
        if rank is not None and low[at + 1 : at + 2] == ["month"]:
            values.append(StatedValue("m", float(rank), at, at + 2))
        if token in _WHOLES:
            values.append(StatedValue("w", float(_WHOLES[token]), at, at + 1))
    return values


def _numbers(low: list[str]) -> Iterator[Number]:
    """Yield numbers with their decimals, pairs of two digits ("twenty sixteen") and scales after figures ("1.2 k")."""
    plain = list(numbers_in(low))
    yield from plain
    for number, after in pairwise(plain):
        between = low[number.end : after.start]
        if between == ["point"]:
            digits = [after]
            for digit in plain:
                if digit.start == digits[-1].end and digit.value < 10:
                    digits.append(digit)
            text = "".join(str(int(digit.value)) for digit in digits if digit.value < 100)
            if text:
                yield Number(float(f"{int(number.value)}.{text}"), number.start, digits[-1].end, False)
        if between in ([], ["-"], ["oh"], ["hundred", "and"]) and 10 <= number.value <= 20 and after.value < 100:
            yield Number(number.value * 100 + after.value, number.start, after.end, False)
    for number, after in pairwise(plain):
        if after.figures and low[after.end : after.end + 1] == ["/"] and after.end + 1 < len(low) and number.figures:
            denominator = low[after.end + 1]
            if number.end == after.start and denominator.isdigit() and 0 < after.value < int(denominator):
                yield Number(number.value + after.value / int(denominator), number.start, after.end + 2, True)
        if (
            number.figures
            and after.figures
            and low[number.end : after.start] == ["/"]
            and number.value > after.value > 0
        ):
            yield Number(number.value / after.value, number.start, after.end, True)
    for number in plain:
        size = low[number.end : number.end + 1]
        if size and size[0] in _SIZES and number.figures:
            yield Number(number.value * _SIZES[size[0]], number.start, number.end + 1, True)
        if low[number.end : number.end + 3] == ["and", "a", "half"]:
            size = low[number.end + 3 : number.end + 4]
            yield Number(
                (number.value + 0.5) * _SIZES.get(size[0] if size else "", 1), number.start, number.end + 3, False
            )
        if number.start and low[number.start - 1] == "'" and number.figures and 0 <= number.value < 100:
            yield Number(number.value + (2000 if number.value < 40 else 1900), number.start, number.end, True)
        if number.value == 0.5 or (
            low[number.start] == "dozen" and "half" in low[max(0, number.start - 2) : number.start]
        ):
            yield Number(6.0 if low[number.start] == "dozen" else 0.5, number.start, number.end, False)


def _with_unit(low: list[str], number: Number) -> Iterator[StatedValue]:
    after = low[number.end : number.end + 2]
    before = token_before(low, number.start)
    if after[:1] == ["-"]:
        after = low[number.end + 1 : number.end + 3]
    word = after[0] if after else ""
    if word in ("%", "percent", "percentage") or after == ["per", "cent"]:
        yield StatedValue("p", number.value / 100, number.start, number.end + 1)
    elif 0 < number.value < 1:
        yield StatedValue("p", number.value, number.start, number.end)
    yield from _degrees(low, number)
    if word == "square" and (side := _unit(after[1] if len(after) > 1 else "")) is not None:
        yield StatedValue(f"u:{side[0]}2", number.value * side[1] ** 2, number.start, number.end + 2)
    unit = _unit(word)
    if unit is None and "cents" in low and number.value >= 10 and number.value % 1 == 0 and number.figures:
        unit = UNITS["cent"]
    if before in ("$", "\u20ac", "\u00a3"):
        unit = ("$", 1)
    if unit is not None:
        value = number.value * unit[1]
        following, length = _smaller_unit(low, number.end + 1, unit[0])
        yield StatedValue(f"u:{unit[0]}", value + following, number.start, number.end + 1 + length)
        if following:
            yield StatedValue(f"u:{unit[0]}", value, number.start, number.end + 1)


def _unit(word: str) -> tuple[str, float] | None:
    return UNITS.get(word) or UNITS.get(word.removesuffix("s")) or UNITS.get(word.removesuffix("es"))


def _degrees(low: list[str], number: Number) -> Iterator[StatedValue]:
    """Yield temperatures in signed degrees Celsius, and angles in degrees, including those in radians."""
    after = low[number.end : number.end + 3]
    negative = number.start and (
        low[number.start - 1] == "minus" or {"below", "under"} & set(low[number.end : number.end + 4])
    )
    negative = negative or (
        number.start and low[number.start - 1] == "-" and not low[max(0, number.start - 2)].isalnum()
    )
    signed = -number.value if negative else number.value
    marked = "\u00b0" in after[:2] or after[:1] in (["degrees"], ["degree"], ["c"], ["f"])
    if marked and {"f", "fahrenheit"} & set(after):
        yield StatedValue("u:c", float(round((signed - 32) / 1.8)), number.start, number.end + 1)
    elif marked and ({"c", "celsius"} & set(after) or negative):
        yield StatedValue("u:c", float(round(signed)), number.start, number.end + 1)
    elif marked:
        yield StatedValue("u:deg", number.value, number.start, number.end + 1)
    elif after[:1] in (["k"], ["kelvin"], ["kelvins"]) and number.value > 200:
        yield StatedValue("u:c", float(round(number.value - 273.15)), number.start, number.end + 1)
    if (
        number.start > 1
        and low[number.start - 1] in ("/", "over")
        and low[number.start - 2] in ("\u03c0", "pi")
        and number.value
    ):
        yield StatedValue("u:deg", 180 / number.value, number.start - 2, number.end)


def _smaller_unit(low: list[str], at: int, base: str) -> tuple[float, int]:
    """Return what a smaller unit after it adds ("two hours and 5 minutes", "nineteen dollars fifty"), and its tokens."""
    tokens = low[at : at + 6]
    skipped = 1 if tokens and tokens[0] in ("and", ",") else 0
    tokens = tokens[skipped:]
    added = next((number for number in numbers_in(tokens) if number.start == 0), None)
    if added is None:
        if tokens[:2] == ["a", "half"]:
            return (0.5 * {"s": 3600}.get(base, 1), skipped + 2)
        return (0.0, 0)
    word = tokens[added.end] if added.end < len(tokens) else ""
    unit = _unit(word)
    if unit is not None and unit[0] == base:
        return added.value * unit[1], skipped + added.end + 1
    if base in ("$", "m") and unit is None and added.value < 100:
        return added.value / 100, skipped + added.end
    return 0.0, 0


def _parts(low: list[str], numbers: list[Number]) -> Iterator[StatedValue]:
    by_end = {number.end: number for number in numbers}
    for at, token in enumerate(low):
        if token == "/" and 0 < at < len(low) - 1:
            try:
                yield StatedValue("p", float(low[at - 1]) / float(low[at + 1]), at - 1, at + 2)
            except (ValueError, ZeroDivisionError):
                continue
        if token in _PARTS:
            back = at - 1 if at and low[at - 1] != "-" else at - 2
            times = by_end.get(back + 1)
            count = times.value if times is not None and times.value < _PARTS[token] else 1.0
            if token.endswith("s") or count == 1.0 or times is not None:
                yield StatedValue("p", count / _PARTS[token], at, at + 1)
        if (token == "of" and at > 1 and low[at - 1] == "out") or (token in ("in", "over") and by_end.get(at)):
            part = by_end.get(at - 1) if token == "of" else by_end.get(at)
            if part is None and token == "of":
                part = next((number for number in numbers if at - 4 <= number.end < at), None)
            total = next((number for number in numbers if at < number.start <= at + 3), None)
            if part is not None and total is not None and total.value > part.value:
                yield StatedValue("p", part.value / total.value, part.start, total.end)


def _clocks(low: list[str], numbers: list[Number]) -> Iterator[StatedValue]:
    for at, token in enumerate(low):
        clock = re.fullmatch(r"(\d{1,2})[:.](\d{2})", token)
        if clock and int(clock[1]) < 25 and int(clock[2]) < 60:
            yield StatedValue("t", float((int(clock[1]) * 60 + int(clock[2])) % 720), at, at + 1)
        if token in ("noon", "midday", "midnight"):
            yield StatedValue("t", 0.0, at, at + 1)
        if token in ("past", "after", "to", "before", "till", "of") and at:
            hour = next((number for number in numbers if at < number.start <= at + 1 and number.value <= 24), None)
            minutes = _minutes(low, at, numbers)
            if hour is None or minutes is None:
                continue
            if token != "of" or (hour.value <= 12 and not hour.value % 1 and minutes in (5, 10, 15, 20, 25)):
                sign = 1 if token in ("past", "after") else -1
                yield StatedValue("t", (hour.value * 60 + sign * minutes) % 720, at - 1, hour.end)
    for number, following in pairwise(numbers):
        if (
            low[number.end : following.start] in ([], ["h"], ["-"])
            and number.value <= 24
            and 10 <= following.value < 60
        ):
            yield StatedValue("t", (number.value * 60 + following.value) % 720, number.start, following.end)
    for number in numbers:
        after = low[number.end : number.end + 3]
        marked = after[:1] in (["pm"], ["am"], ["o'clock"]) or after in (["p", ".", "m"], ["a", ".", "m"])
        marked = marked or after in (["in", "the", "morning"], ["in", "the", "evening"], ["in", "the", "afternoon"])
        if marked and number.value <= 12 and number.value == int(number.value):
            yield StatedValue("t", (number.value * 60) % 720, number.start, number.end + 1)
        if (
            low[number.start].isdigit()
            and len(low[number.start]) == 4
            and number.value < 2400
            and number.value % 100 < 60
        ):
            yield StatedValue(
                "t", float((number.value // 100 * 60 + number.value % 100) % 720), number.start, number.end
            )


def _minutes(low: list[str], at: int, numbers: list[Number]) -> float | None:
    before = low[max(0, at - 3) : at]
    if before[-1:] == ["half"]:
        return 30.0
    if before[-1:] == ["quarter"]:
        return 15.0
    minutes = next((number for number in numbers if number.end in (at, at - 1) and number.value < 60), None)
    if minutes is None:
        return None
    return minutes.value


def _dates(low: list[str], numbers: list[Number]) -> Iterator[StatedValue]:
    for at, token in enumerate(low):
        if token in MONTHS:
            yield StatedValue("m", float(MONTHS[token]), at, at + 1)
            near = [number for number in numbers if abs(number.start - at) <= 4 and 1 <= number.value <= 31]
            days = [number.value for number in near]
            days += [float(rank) for rank in map(ordinal, low[max(0, at - 4) : at + 5]) if rank is not None]
            for day in days:
                yield StatedValue("d", MONTHS[token] * 100 + day, at, at + 1)
    for at, token in enumerate(low):
        date = re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(?:\d{2}|\d{4})", token)
        if date and 1 <= int(date[2]) <= 12 and 1 <= int(date[1]) <= 31:
            yield StatedValue("d", float(int(date[2]) * 100 + int(date[1])), at, at + 1)
    for first, second in pairwise(numbers):
        if low[first.end : second.start] in (["/"], ["-"], ["."]):
            for month, day in ((first.value, second.value), (second.value, first.value)):
                if 1 <= month <= 12 and 1 <= day <= 31:
                    yield StatedValue("d", month * 100 + day, first.start, second.end)
