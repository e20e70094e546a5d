"""The values that a text states, each in one reading whatever its notation: numbers, shares, clocks, quantities, dates."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from dokimasia.algorithms.leaks.numbers import Number, numbers_in, ordinal

# fmt: off
MONTHS = {word: number for number, names in enumerate((
    "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
    "september sep sept", "october oct", "november nov", "december dec"), 1) for word in names.split()}
UNITS = {
    "m": ("m", 1), "metre": ("m", 1), "meter": ("m", 1), "km": ("m", 1000), "kilometre": ("m", 1000),
    "kilometer": ("m", 1000), "cm": ("m", 0.01), "centimetre": ("m", 0.01), "centimeter": ("m", 0.01),
    "mm": ("m", 0.001), "millimetre": ("m", 0.001), "millimeter": ("m", 0.001), "g": ("g", 1), "gram": ("g", 1),
    "gramme": ("g", 1), "kg": ("g", 1000), "kilo": ("g", 1000), "kilogram": ("g", 1000), "mg": ("g", 0.001),
    "tonne": ("g", 1e6), "ton": ("g", 1e6), "l": ("l", 1), "litre": ("l", 1), "liter": ("l", 1), "ml": ("l", 0.001),
    "millilitre": ("l", 0.001), "milliliter": ("l", 0.001), "cl": ("l", 0.01), "dl": ("l", 0.1),
    "second": ("s", 1), "sec": ("s", 1), "s": ("s", 1), "minute": ("s", 60), "min": ("s", 60), "hour": ("s", 3600),
    "hr": ("s", 3600), "h": ("s", 3600), "day": ("s", 86400), "week": ("s", 604800), "dollar": ("$", 1),
    "buck": ("$", 1), "$": ("$", 1), "usd": ("$", 1), "cent": ("$", 0.01), "euro": ("$", 1), "eur": ("$", 1),
    "\u20ac": ("$", 1), "\u00a3": ("$", 1), "quid": ("$", 1),
    "inch": ("in", 1), "foot": ("in", 12), "feet": ("in", 12), "ft": ("in", 12), "yard": ("in", 36),
    "pound": ("lb", 1), "lb": ("lb", 1), "ounce": ("lb", 1 / 16), "oz": ("lb", 1 / 16), "year": ("yr", 1),
    "month": ("yr", 1 / 12), "decade": ("yr", 10), "century": ("yr", 100), "watt": ("w", 1), "w": ("w", 1),
    "bar": ("bar", 1), "millibar": ("bar", 0.001), "mbar": ("bar", 0.001), "kw": ("w", 1000), "kilowatt": ("w", 1000),
    "mw": ("w", 1e6), "p": ("$", 0.01), "pence": ("$", 0.01), "penny": ("$", 0.01),
}
_WHOLE_UNITS = frozenset(("dollar", "euro", "litre", "liter", "metre", "meter", "kilometre", "kilometer", "kilo", "kilogram"))
_PARTS = {"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4,
          "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "seventh": 7, "sevenths": 7, "eighth": 8, "eighths": 8,
          "ninth": 9, "ninths": 9, "tenth": 10, "tenths": 10, "twelfth": 12, "twelfths": 12}
_WHOLES = {"twice": 2, "thrice": 3, "double": 2, "triple": 3, "quadruple": 4, "single": 1, "sole": 1, "lone": 1,
           "solitary": 1, "once": 1, "twosome": 2, "threesome": 3, "foursome": 4, "fivesome": 5, "sixsome": 6,
           "twins": 2, "triplets": 3, "triad": 3, "quadruplets": 4, "quintuplets": 5, "sextuplets": 6, "both": 2,
           "score": 20, "half-dozen": 6, "brace": 2, "dozens": 12, "pairs": 2, "nobody": 0, "nothing": 0, "zero": 0,
           "teens": 13, "solo": 1, "doubles": 2, "foursomes": 4, "duet": 2, "hat-trick": 3}
_SIZES = {"k": 1e3, "thousand": 1e3, "grand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
# fmt: on
_TOKEN = re.compile(r"\d+(?:[.,:\u202f]\d+)*|(?<![\w.])\.\d+|[^\W\d_]+(?:'[^\W\d_]+)?|[^\w\s]")
_GLYPHS = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2212": "-", "\u2010": "-", "\u2011": "-", "_": " "}
)
_MARKS = re.compile(r"[*`~]+(?=\w)|(?<=\w)[*`~]+(?!\s*\d)|\*\*|(?<!\w)\*(?!\s*\d)")
SENTENCE_END = re.compile(r"(?<=[.!?;])(?<!\b[Nn]o\.)\s+(?=[^a-z])|\n+")
"""Where a sentence ends, but for an abbreviated number."""

_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3})[ \u00a0\u202f'](?=\d{3}(?!\d))")


class Value(NamedTuple):
    """A value in a text: of what kind, how much, and from which token to which it stands."""

    kind: str
    value: float
    start: int
    end: int


@lru_cache(maxsize=2048)
def bare(text: str) -> str:
    """Return a text without what only decorates it: accents, invisible signs, marks of emphasis, odd spaces.

    Examples
    --------
    >>> bare("**Caf\u00e9**\u200b\u00a0n\u00b0 4")
    'Cafe no 4'
    """
    text = re.sub(r"\b([A-Za-z]{1,2})[\u00b2\u00b3]", r"square \1", text)
    kept = (sign for sign in unicodedata.normalize("NFKD", text) if unicodedata.category(sign) not in ("Mn", "Cf"))
    text = re.sub(r"\b([ei])\.\s?([ge])\.", "such as", "".join(kept))
    plain = _MARKS.sub("", text.replace("n\u00b0", "no").translate(_GLYPHS))
    return re.sub(r"\s+", " ", plain).strip()


def split(text: str) -> list[str]:
    """Return the words, figures and signs of a bare text as they stand there.

    Examples
    --------
    >>> split("At 7:40, it's 31 C.")
    ['At', '7:40', ',', "it's", '31', 'C', '.']
    """
    return _TOKEN.findall(_THOUSANDS.sub(r"\1", text))


@lru_cache(maxsize=2048)
def read(text: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Value, ...]]:
    """Return a text's tokens as they stand there and in lower case, and its values; the last texts are kept."""
    raw = tuple(split(bare(text)))
    low = tuple(token.casefold() for token in raw)
    return raw, low, tuple(values_in(low))


def values_in(tokens: Sequence[str]) -> list[Value]:
    """Return the values that tokens in lower case state; one that can be read in two ways stands there in both.

    Kinds: `n` a number, `p` a share of one, `t` a clock in minutes past noon or midnight, `d` a day of the year,
    `o` a rank, `w` a word for a number that says more than the number, and `u` with a base unit: a quantity.

    Examples
    --------
    >>> tuple((one.kind, one.value) for one in values_in(split("half past three")))
    (('n', 3.0), ('p', 0.5), ('t', 210.0))
    >>> tuple(sorted({(one.kind, one.value) for one in values_in(split("50 % of 1.2 km"))}))
    (('n', 1.2), ('n', 50.0), ('p', 0.5), ('u:m', 1200.0))
    """
    low = list(tokens)
    numbers = list(_numbers(low))
    found = [Value("n", one.value, one.start, one.end) for one in numbers]
    for one in numbers:
        found += _with_unit(low, one)
    found += _parts(low, numbers)
    found += _clocks(low, numbers)
    found += _dates(low, numbers)
    for at, token in enumerate(low):
        unit = UNITS.get(low[at + 2]) if at + 2 < len(low) and low[at + 1] in ("a", "an") else None
        if unit is not None and token in ("half", "quarter"):
            found.append(Value(f"u:{unit[0]}", unit[1] / _PARTS[token], at, at + 3))
        if token in ("a", "an", "full") and at + 1 < len(low) and low[at + 1] in _WHOLE_UNITS:
            base, size = UNITS[low[at + 1]]
            found.append(Value(f"u:{base}", size, at, at + 2))
        rank = ordinal(token)
        if rank is not None and rank < 10 and at > 1 and low[at - 1] == "-":
            rank += next(
                (int(one.value) for one in numbers if one.end == at - 1 and one.value in range(20, 100, 10)), 0
            )
        if rank is None and token in ("st", "nd", "rd", "th") and at and low[at - 1].isdigit():
            rank = int(low[at - 1])
        if rank is not None:
            found.append(Value("o", float(rank), at, at + 1))
        if rank is not None and low[at + 1 : at + 2] == ["month"]:
            found.append(Value("m", float(rank), at, at + 2))
        if token in _WHOLES:
            found.append(Value("w", float(_WHOLES[token]), at, at + 1))
    return found


def _numbers(low: list[str]) -> Iterator[Number]:
    """Numbers with their decimals, hundreds by twos ("twenty sixteen") and scales behind figures ("1.2 k")."""
    plain = list(numbers_in(low))
    yield from plain
    for one, after in pairwise(plain):
        between = low[one.end : after.start]
        if between == ["point"]:
            digits = [after]
            while (then := next((one for one in plain if one.start == digits[-1].end), None)) and then.value < 10:
                digits.append(then)
            text = "".join(str(int(digit.value)) for digit in digits if digit.value < 100)
            if text:
                yield Number(float(f"{int(one.value)}.{text}"), one.start, digits[-1].end, False)
        if between in ([], ["-"], ["oh"], ["hundred", "and"]) and 10 <= one.value <= 20 and after.value < 100:
            yield Number(one.value * 100 + after.value, one.start, after.end, False)
        if one.value >= 20 and one.value % 10 == 0 and after.value < 10 and between in ([], ["-"]):
            yield Number(one.value + after.value, one.start, after.end, False)
    for one, after in pairwise(plain):
        if after.figures and low[after.end : after.end + 1] == ["/"] and after.end + 1 < len(low) and one.figures:
            below = low[after.end + 1]
            if one.end == after.start and below.isdigit() and 0 < after.value < int(below):
                yield Number(one.value + after.value / int(below), one.start, after.end + 2, True)
        if one.figures and after.figures and low[one.end : after.start] == ["/"] and one.value > after.value > 0:
            yield Number(one.value / after.value, one.start, after.end, True)
    for one in plain:
        size = low[one.end : one.end + 1]
        if size and size[0] in _SIZES and one.figures:
            yield Number(one.value * _SIZES[size[0]], one.start, one.end + 1, True)
        if low[one.end : one.end + 3] == ["and", "a", "half"]:
            size = low[one.end + 3 : one.end + 4]
            yield Number((one.value + 0.5) * _SIZES.get(size[0] if size else "", 1), one.start, one.end + 3, False)
        if one.start and low[one.start - 1] == "'" and one.figures and 0 <= one.value < 100:
            yield Number(one.value + (2000 if one.value < 40 else 1900), one.start, one.end, True)
        if one.value == 0.5 or (low[one.start] == "dozen" and "half" in low[max(0, one.start - 2) : one.start]):
            yield Number(6.0 if low[one.start] == "dozen" else 0.5, one.start, one.end, False)


def _with_unit(low: list[str], one: Number) -> Iterator[Value]:
    after = low[one.end : one.end + 2]
    before = low[one.start - 1] if one.start else ""
    if after[:1] == ["-"]:
        after = low[one.end + 1 : one.end + 3]
    word = after[0] if after else ""
    if word in ("%", "percent", "percentage") or after == ["per", "cent"]:
        yield Value("p", one.value / 100, one.start, one.end + 1)
    elif 0 < one.value < 1:
        yield Value("p", one.value, one.start, one.end)
    yield from _degrees(low, one)
    if word == "square" and (side := _unit(after[1] if len(after) > 1 else "")) is not None:
        yield Value(f"u:{side[0]}2", one.value * side[1] ** 2, one.start, one.end + 2)
    unit = _unit(word)
    if unit is None and "cents" in low and one.value >= 10 and one.value % 1 == 0 and one.figures:
        unit = UNITS["cent"]
    if before in ("$", "\u20ac", "\u00a3"):
        unit = ("$", 1)
    if unit is not None:
        value = one.value * unit[1]
        following, length = _following(low, one.end + 1, unit[0])
        yield Value(f"u:{unit[0]}", value + following, one.start, one.end + 1 + length)
        if following:
            yield Value(f"u:{unit[0]}", value, one.start, one.end + 1)


def _unit(word: str) -> tuple[str, float] | None:
    return UNITS.get(word) or UNITS.get(word.removesuffix("s")) or UNITS.get(word.removesuffix("es"))


def _degrees(low: list[str], one: Number) -> Iterator[Value]:
    """Temperatures in degrees Celsius, signs and all, and angles in degrees, from radians too."""
    after = low[one.end : one.end + 3]
    below = one.start and (low[one.start - 1] == "minus" or {"below", "under"} & set(low[one.end : one.end + 4]))
    below = below or (one.start and low[one.start - 1] == "-" and not low[max(0, one.start - 2)].isalnum())
    signed = -one.value if below else one.value
    marked = "\u00b0" in after[:2] or after[:1] in (["degrees"], ["degree"], ["c"], ["f"])
    if marked and {"f", "fahrenheit"} & set(after):
        yield Value("u:c", float(round((signed - 32) / 1.8)), one.start, one.end + 1)
    elif marked and ({"c", "celsius"} & set(after) or below):
        yield Value("u:c", float(round(signed)), one.start, one.end + 1)
    elif marked:
        yield Value("u:deg", one.value, one.start, one.end + 1)
    elif after[:1] in (["k"], ["kelvin"], ["kelvins"]) and one.value > 200:
        yield Value("u:c", float(round(one.value - 273.15)), one.start, one.end + 1)
    if one.start > 1 and low[one.start - 1] in ("/", "over") and low[one.start - 2] in ("\u03c0", "pi") and one.value:
        yield Value("u:deg", 180 / one.value, one.start - 2, one.end)


def _following(low: list[str], at: int, base: str) -> tuple[float, int]:
    """What a smaller unit right behind adds ("two hours and 5 minutes", "nineteen dollars fifty"), and its tokens."""
    rest = low[at : at + 6]
    skipped = 1 if rest and rest[0] in ("and", ",") else 0
    rest = rest[skipped:]
    number = next((one for one in numbers_in(rest) if one.start == 0), None)
    if number is None:
        return (0.5 * {"s": 3600}.get(base, 1), skipped + 2) if rest[:2] == ["a", "half"] else (0.0, 0)
    word = rest[number.end] if number.end < len(rest) else ""
    unit = _unit(word)
    if unit is not None and unit[0] == base:
        return number.value * unit[1], skipped + number.end + 1
    if base in ("$", "m") and unit is None and number.value < 100:
        return number.value / 100, skipped + number.end
    return 0.0, 0


def _parts(low: list[str], numbers: list[Number]) -> Iterator[Value]:
    by_end = {one.end: one for one in numbers}
    for at, token in enumerate(low):
        if token == "/" and 0 < at < len(low) - 1:
            try:
                yield Value("p", float(low[at - 1]) / float(low[at + 1]), at - 1, at + 2)
            except (ValueError, ZeroDivisionError):
                continue
        if token in _PARTS:
            back = at - 1 if at and low[at - 1] != "-" else at - 2
            times = by_end.get(back + 1)
            many = times.value if times is not None and times.value < _PARTS[token] else 1.0
            if token.endswith("s") or many == 1.0 or times is not None:
                yield Value("p", many / _PARTS[token], at, at + 1)
        if (token == "of" and at > 1 and low[at - 1] == "out") or (token in ("in", "over") and by_end.get(at)):
            first = by_end.get(at - 1) if token == "of" else by_end.get(at)
            if first is None and token == "of":
                first = next((one for one in numbers if at - 4 <= one.end < at), None)
            then = next((one for one in numbers if at < one.start <= at + 3), None)
            if first is not None and then is not None and then.value > first.value:
                yield Value("p", first.value / then.value, first.start, then.end)


def _clocks(low: list[str], numbers: list[Number]) -> Iterator[Value]:
    for at, token in enumerate(low):
        clock = re.fullmatch(r"(\d{1,2})[:.](\d{2})", token)
        if clock and int(clock[1]) < 25 and int(clock[2]) < 60:
            yield Value("t", float((int(clock[1]) * 60 + int(clock[2])) % 720), at, at + 1)
        if token in ("noon", "midday", "midnight"):
            yield Value("t", 0.0, at, at + 1)
        if token in ("past", "after", "to", "before", "till", "of") and at:
            hour = next((one for one in numbers if at < one.start <= at + 1 and one.value <= 24), None)
            minutes = _minutes(low, at, numbers)
            if hour is None or minutes is None:
                continue
            if token != "of" or (hour.value <= 12 and not hour.value % 1 and minutes in (5, 10, 15, 20, 25)):
                sign = 1 if token in ("past", "after") else -1
                yield Value("t", (hour.value * 60 + sign * minutes) % 720, at - 1, hour.end)
    for one, then in pairwise(numbers):
        if low[one.end : then.start] in ([], ["h"], ["-"]) and one.value <= 24 and 10 <= then.value < 60:
            yield Value("t", (one.value * 60 + then.value) % 720, one.start, then.end)
    for one in numbers:
        after = low[one.end : one.end + 3]
        marked = after[:1] in (["pm"], ["am"], ["o'clock"]) or after in (["p", ".", "m"], ["a", ".", "m"])
        marked = marked or after in (["in", "the", "morning"], ["in", "the", "evening"], ["in", "the", "afternoon"])
        if marked and one.value <= 12 and one.value == int(one.value):
            yield Value("t", (one.value * 60) % 720, one.start, one.end + 1)
        if low[one.start].isdigit() and len(low[one.start]) == 4 and one.value < 2400 and one.value % 100 < 60:
            yield Value("t", float((one.value // 100 * 60 + one.value % 100) % 720), one.start, one.end)


def _minutes(low: list[str], at: int, numbers: list[Number]) -> float | None:
    before = low[max(0, at - 3) : at]
    if before[-1:] == ["half"]:
        return 30.0
    if before[-1:] == ["quarter"]:
        return 15.0
    found = next((one for one in numbers if one.end in (at, at - 1) and one.value < 60), None)
    return None if found is None else found.value


def _dates(low: list[str], numbers: list[Number]) -> Iterator[Value]:
    for at, token in enumerate(low):
        if token in MONTHS:
            yield Value("m", float(MONTHS[token]), at, at + 1)
            near = [one for one in numbers if abs(one.start - at) <= 4 and 1 <= one.value <= 31]
            days = [one.value for one in near]
            days += [float(rank) for rank in map(ordinal, low[max(0, at - 4) : at + 5]) if rank is not None]
            for day in days:
                yield Value("d", MONTHS[token] * 100 + day, at, at + 1)
    for at, token in enumerate(low):
        written = re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(?:\d{2}|\d{4})", token)
        if written and 1 <= int(written[2]) <= 12 and 1 <= int(written[1]) <= 31:
            yield Value("d", float(int(written[2]) * 100 + int(written[1])), at, at + 1)
    for first, then in pairwise(numbers):
        if low[first.end : then.start] in (["/"], ["-"], ["."]):
            for month, day in ((first.value, then.value), (then.value, first.value)):
                if 1 <= month <= 12 and 1 <= day <= 31:
                    yield Value("d", month * 100 + day, first.start, then.end)
