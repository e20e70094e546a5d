"""Parsing of a number with its unit from a whole text in figures or words, and comparison of two of them."""

import math
import re
import unicodedata
from typing import Literal, NamedTuple

from dokimasia.algorithms.leaks.numbers import numbers_in
from dokimasia.algorithms.text.words import FUNCTION_WORDS, NUMBER_WORDS, word_set, word_table, words

_QUANTITY = re.compile(
    r"(?P<currency>[$€£¥])?\s{0,4}(?P<sign>[+-])?\s{0,4}(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,40})?"
    r"(?P<decimals>\.[0-9]{1,40})?(?P<exponent>e[+-]?[0-9]{1,3})?(?:\s{0,4}/\s{0,4}(?P<below>[0-9]{1,40}))?"
    r"\s{0,4}(?P<unit>[^\W\d_].{0,40}|[%°$€£¥])?",
    re.IGNORECASE,
)
_LONGEST_UNIT = 2
_NO_UNIT = FUNCTION_WORDS | word_set("hundred thousand million billion trillion dozen k mn bn")
_SIGNS = str.maketrans({"\u2212": "-", "\u2044": "/"})
_SEPARATOR = re.compile(r"(?<=[0-9])[\u00a0\u202f\u2009](?=[0-9]{3}(?![0-9]))")

_MIXED = re.compile(r"(?P<whole>[0-9]{1,9})[ -](?P<above>[0-9]{1,3})/(?P<below>[1-9][0-9]{0,2})(?P<unit>\s.{1,40})?")
_SCALED = re.compile(
    r"(?P<currency>[$€£¥])?\s?(?P<number>[0-9]{1,3}(?:,[0-9]{3}){1,9}|[0-9]{1,30})(?P<decimals>\.[0-9]{1,30})?\s"
    r"(?P<scale>hundred|thousand|million|billion|trillion|dozen)(?P<unit>\s.{1,40})?"
)
_SCALES = {
    "hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0,
}  # fmt: skip
_WORDED = word_set("thirty forty fifty sixty seventy eighty ninety hundred thousand million").union(NUMBER_WORDS)
_UNIT_NAMES = """
    %: % percent
    $: $ dollar usd
    \u20ac: \u20ac euro eur
    \u00a3: \u00a3 gbp
    \u00a5: \u00a5 yen
    gallon: gallon gal
    m: m metre meter
    cm: cm centimetre centimeter
    mm: mm millimetre millimeter
    km: km kilometre kilometer
    kg: kg kilogram kilo
    g: g gram
    l: l litre liter
    ml: ml millilitre milliliter
    hour: hour hr h
    minute: minute min
    second: second sec s
    day: day
    week: week wk
    month: month
    year: year yr
    cent: cent ct
    mg: mg milligram
    pound: pound lb
    ounce: ounce oz
    yard: yard yd
    tonne: tonne ton t
    foot: foot feet ft
    inch: inch inches
    mile: mile mi
    \u00b0: \u00b0 degree
    person: person people
    child: child children
    man: man men
    woman: woman women
"""
_UNITS = word_table(_UNIT_NAMES) | {"per cent": "%", "us dollar": "$"}
"""The canonical names of units by each of their names."""

_MEASURES = frozenset(_UNITS.values()) - {"person", "child", "man", "woman"}
_HALVES_OF_DAY = frozenset(("am", "pm", "a m", "p m"))
_FACTORS = (
    10,
    100,
    1000,
    10_000,
    1e5,
    1e6,
    7,
    12,
    14,
    16,
    24,
    30,
    52,
    60,
    365,
    3600,
    86_400,
    1.609,
    2.2046,
    2.54,
    3,
    3.2808,
    3.785,
    28.35,
)
"""The factors between units; those between two systems of units are rounded."""
_CLOSE = 0.02


class Quantity(NamedTuple):
    """A number and its unit, which may be empty."""

    value: float
    unit: str


def read_quantity(text: str) -> Quantity | None:
    """Return the single quantity that a whole text states, or None; number words up to twenty count at its beginning.

    Examples
    --------
    >>> read_quantity("1,250 m"), read_quantity("three cups"), read_quantity("3 or 4")
    (Quantity(value=1250.0, unit='m'), Quantity(value=3.0, unit='cups'), None)
    """
    plain = _plain(_SEPARATOR.sub("", text)).rstrip(".")
    first, _, remainder = plain.partition(" ")
    if first in NUMBER_WORDS:
        plain = f"{NUMBER_WORDS[first]} {remainder}"
    match = _QUANTITY.fullmatch(plain.strip())
    if match is None:
        return None
    sign, integer, decimals, exponent, denominator = match.group("sign", "whole", "decimals", "exponent", "below")
    if not (integer or decimals):
        return None
    integer = (integer or "0").replace(",", "")
    value = float("".join((sign or "", integer, decimals or "", exponent or "")))
    if denominator:
        if not float(denominator):
            return None
        value /= float(denominator)
    if not math.isfinite(value):
        return None
    currency, written_unit = match.group("currency", "unit")
    unit_words = words(written_unit or "")
    if len(unit_words) > _LONGEST_UNIT or not _NO_UNIT.isdisjoint(unit_words) or any(w.isdigit() for w in unit_words):
        return None
    unit = " ".join(unit_words)
    return Quantity(value, " ".join(part for part in (currency or "", unit) if part))


def read_any_quantity(text: str) -> Quantity | None:
    """Return the single quantity that a whole text states in any notation, with its unit normalised, or None.

    In addition to the notations of `read_quantity`, it reads all number words, mixed fractions, and figures followed by
    hundred to trillion or dozen.

    Examples
    --------
    >>> read_any_quantity("two hundred and five metres"), read_any_quantity("5 1/2"), read_any_quantity("1.5 million")
    (Quantity(value=205.0, unit='m'), Quantity(value=5.5, unit=''), Quantity(value=1500000.0, unit=''))
    >>> read_any_quantity("a dozen"), read_any_quantity("dozens"), read_any_quantity("hundreds of them")
    (Quantity(value=12.0, unit=''), None, None)
    """
    quantity = read_quantity(text)
    plain = " ".join(_plain(text).rstrip(".").split())
    if quantity is None and (mixed := _MIXED.fullmatch(plain)):
        integer, numerator, denominator = map(int, mixed.group("whole", "above", "below"))
        quantity = _with_unit(integer + numerator / denominator, mixed["unit"]) if numerator < denominator else None
    elif quantity is None and (scaled := _SCALED.fullmatch(plain)):
        currency, number, decimals, scale, unit = scaled.group("currency", "number", "decimals", "scale", "unit")
        value = float(number.replace(",", "") + (decimals or "")) * _SCALES[scale]
        quantity = _with_unit(value, unit, currency or "")
    elif quantity is None:
        quantity = _worded(plain)
    if quantity is None:
        return None
    return Quantity(quantity.value, _one_form(quantity.unit))


def compare_quantities(first: Quantity, second: Quantity, tolerance: float) -> Literal["same", "different", "unsure"]:
    """Return the comparison of two quantities; a unit on one side only is ignored, and different ones are unsure."""

    def close(left: float, right: float) -> bool:
        return abs(left - right) <= tolerance * max(abs(left), abs(right))

    if first.unit == second.unit:
        if close(first.value, second.value):
            return "same"
        return "different"
    if first.unit and second.unit:
        return "unsure"
    if "%" in (first.unit, second.unit):
        percent, plain = (first, second) if first.unit == "%" else (second, first)
        if close(percent.value / 100, plain.value):
            return "same"
        if close(percent.value, plain.value):
            return "unsure"
        return "different"
    if close(first.value, second.value):
        return "same"
    return "different"


def is_doubtful_pair(first: Quantity, second: Quantity, question: str = "") -> bool:
    """Return whether only one of two quantities has a unit, and the other may be meant in another unit.

    A unit of measure must be that of the question, if the question names one; otherwise the pair is doubtful if a
    factor between units converts one number into the other. Counted objects must be named in the question. Without a
    question, only units of measure are checked.

    Examples
    --------
    >>> is_doubtful_pair(Quantity(1, "hour"), Quantity(60, "")), is_doubtful_pair(Quantity(8, "hour"), Quantity(60, ""))
    (True, False)
    >>> is_doubtful_pair(Quantity(3, "mug"), Quantity(3, ""), "How many cups are there?")
    True
    """
    unit = first.unit or second.unit
    if (first.unit and second.unit) or not unit:
        return False
    question_units = {_one_form(word) for word in words(question)}
    measures = question_units & _MEASURES
    if unit in measures or unit == "%":
        return False
    if unit in _HALVES_OF_DAY or measures:
        return True
    if unit not in _MEASURES:
        return bool(question) and question_units.isdisjoint(map(_one_form, unit.split()))
    small, large = sorted((abs(first.value), abs(second.value)))
    return bool(small) and any(abs(large / small / factor - 1) < _CLOSE for factor in _FACTORS)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_SIGNS).strip().casefold()


def _worded(plain: str) -> Quantity | None:
    """Return the number in words at the beginning of a text, with at most two words of a unit after it."""
    tokens = re.findall(r"[a-z]+|\S", plain)[:30]
    if tokens[:1] in (["a"], ["one"]) and tokens[1:2] == ["dozen"]:
        return _with_unit(12.0, " ".join(tokens[2:]))
    if not tokens or (
        tokens[0] not in _WORDED and tokens[:2] not in (["a", "hundred"], ["a", "thousand"], ["a", "million"])
    ):
        return None
    start = 1 if tokens[0] == "a" else 0
    number = next((candidate for candidate in numbers_in(tokens) if candidate.start == start), None)
    if number is None or not _WORDED.issuperset(set(tokens[start : number.end]) - {"-", "and"}):
        return None
    if any(candidate.start > start for candidate in numbers_in(tokens)):
        return None
    return _with_unit(number.value, " ".join(tokens[number.end :]))


def _with_unit(value: float, unit: str | None, currency: str = "") -> Quantity | None:
    """Return a quantity, or None if the text after the number cannot be a unit."""
    unit_words = words(unit or "")
    if (
        re.search(r"[^\w\s%°$€£¥'-]", unit or "")
        or len(unit_words) > _LONGEST_UNIT
        or not _NO_UNIT.isdisjoint(unit_words)
    ):
        return None
    if any(any(sign.isdigit() for sign in word) for word in unit_words) or not math.isfinite(value):
        return None
    return Quantity(value, " ".join(filter(None, (currency, *unit_words))))


def _one_form(unit: str) -> str:
    """Return a unit in the singular, under its canonical name."""
    single = unit[:-1] if len(unit) > 2 and unit.endswith("s") and not unit.endswith("ss") else unit
    return _UNITS.get(unit) or _UNITS.get(single) or single
