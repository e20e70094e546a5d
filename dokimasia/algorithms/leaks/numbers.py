"""The numbers that a text states in figures or in words, and those that its sums come to."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dokimasia.algorithms.text.words import NUMBER_WORDS

# fmt: off
_TENS = {word: 10 * number for number, word in enumerate(
    ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 2)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_ORDINALS = {word: number for number, word in enumerate(
    ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
     "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
     "twentieth"), 1)} | {"thirtieth": 30}
_COLLECTIVES = {"pair": 2, "couple": 2, "duo": 2, "trio": 3, "quartet": 4, "quintet": 5, "sextet": 6, "septet": 7,
                "octet": 8, "dozen": 12, "none": 0, "nil": 0, "nought": 0, "naught": 0}
_FRACTIONS = {"half": 0.5, "halves": 0.5, "quarter": 0.25, "quarters": 0.25, "third": 1 / 3, "fifth": 0.2, "tenth": 0.1}
# fmt: on
_PLUS = frozenset(
    (
        "plus",
        "add",
        "adds",
        "added",
        "adding",
        "and",
        "more",
        "sum",
        "together",
        "later",
        "forward",
        "ahead",
        "beyond",
        "increase",
    )
)
_MINUS = frozenset(
    (
        "minus",
        "less",
        "subtract",
        "subtracts",
        "subtracted",
        "subtracting",
        "take",
        "takes",
        "taken",
        "taking",
        "away",
        "fewer",
        "remain",
        "remains",
        "remaining",
        "left",
        "back",
        "earlier",
        "without",
        "from",
        "remove",
        "removed",
        "removing",
        "difference",
        "short",
        "of",
        "drop",
        "off",
    )
)
_TIMES = frozenset(["times", "multiply", "multiplied", "multiplying", "product", "x", "by", "lots", "groups", "rows"])
_OVER = frozenset(["divide", "divided", "dividing", "over", "split", "shared", "by", "per", "halve"])
_ALONE = {
    "halve": 0.5,
    "halved": 0.5,
    "halving": 0.5,
    "twice": 2,
    "double": 2,
    "doubled": 2,
    "doubling": 2,
    "thrice": 3,
    "triple": 3,
    "tripled": 3,
}
_TOKEN = re.compile(
    r"(?<![^\W\d_])\d+(?:[.,\u00a0\u202f']\d+)*|\.\d+|[^\W\d_]+(?:'[^\W\d_]+)?|[+*/\u00d7\u00f7\u2212%^-]"
)
_SPACED = re.compile(r"(?<![\d.,])(\d{1,3}) (?=\d{3}(?!\d))")
_TIMES_SIGNS, _MINUS_SIGNS, _OVER_SIGNS = ("*", "\u00d7"), ("-", "\u2212"), ("/", "\u00f7")


class Number(NamedTuple):
    """A number in a text: its value, where it begins and ends among the text's tokens, and whether it is in figures."""

    value: float
    start: int
    end: int
    figures: bool


def tokens_of(text: str) -> list[str]:
    """Return the words, figures and signs of sums of a text, in lower case."""
    return [found.casefold() for found in _TOKEN.findall(_SPACED.sub(r"\1", text))]


def numbers_in(tokens: list[str]) -> Iterator[Number]:
    """Yield the numbers among tokens: figures in any notation, number words and their compounds, Roman numerals.

    Examples
    --------
    >>> print(*(number.value for number in numbers_in(tokens_of("twenty-five, 1 250, 0,75, .5, a dozen, XII"))))
    25.0 1250.0 0.75 0.5 12.0 12.0
    """
    at = 0
    while at < len(tokens):
        value = _figures(tokens[at])
        if value is not None:
            yield Number(value, at, at + 1, True)
            at += 1
            continue
        end, worded = _worded(tokens, at)
        if worded is not None:
            yield Number(worded, at, end, False)
            at = end
            continue
        at += 1


def _figures(token: str) -> float | None:
    if not any(sign.isdigit() for sign in token):
        return None
    plain = re.sub(r"[\u00a0\u202f']", "", token)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", plain):
        plain = plain.replace(",", "")
    plain = re.sub(r",(?=\d+$)", ".", plain)
    try:
        return float(plain)
    except ValueError:
        return None


def _worded(tokens: list[str], at: int) -> tuple[int, float | None]:
    """Return where a number in words ends and what it comes to; None where there is none."""
    total, current, last = 0.0, 0.0, 0.0
    end, stopped = at, at
    while end < len(tokens):
        token = tokens[end]
        if end > at and token in ("-", "and") and (token == "-" or last >= 100):
            end += 1
            continue
        if token in _TENS and (end == at or last >= 100):
            current, last = current + _TENS[token], float(_TENS[token])
        elif token in NUMBER_WORDS and (
            end == at or last >= 100 or (20 <= last < 100 and 0 < int(NUMBER_WORDS[token]) < 10)
        ):
            current, last = current + int(NUMBER_WORDS[token]), float(NUMBER_WORDS[token])
        elif token in _SCALES and (end > at or (at and tokens[at - 1] in ("a", "one"))) and last < _SCALES[token]:
            current, last = max(current, 1) * _SCALES[token], float(_SCALES[token])
            if last > 100:
                total, current = total + current, 0.0
        else:
            break
        end += 1
        stopped = end
    if stopped > at:
        return stopped, total + current
    token = tokens[at]
    if token in _COLLECTIVES:
        return at + 1, float(_COLLECTIVES[token])
    roman = _roman(token)
    return (at + 1, float(roman)) if roman is not None else (at, None)


def _roman(word: str) -> int | None:
    if len(word) < 2 or not re.fullmatch(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", word):
        return None
    if word in ("mi", "mix", "di", "dim", "mm", "cm", "cd", "dl", "ml", "cl", "mill", "mild", "mil", "lid"):
        return None
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}[letter] for letter in word]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def ordinal(word: str) -> int | None:
    """Return the number of an ordinal such as `third` or `3rd`, or None."""
    found = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)", word)
    return int(found[1]) if found else _ORDINALS.get(word)


def sums_in(text: str) -> Iterator[float]:
    """Yield what the sums in a sentence can come to: "two more than two", "take 100 and subtract 75", "half of 8".

    A sum is two numbers and a word or sign for what is done with them, or one number that is halved, doubled or squared.
    """
    tokens = tokens_of(text)
    numbers = [*numbers_in(tokens), *_fractions(tokens)]
    words = set(tokens)
    for number in numbers:
        near = set(tokens[max(0, number.start - 4) : number.start]) | set(tokens[number.end : number.end + 4])
        yield from (number.value * factor for word, factor in _ALONE.items() if word in near)
        if "squared" in near or "square" in near:
            yield number.value**2
        if "cubed" in near or "cube" in near:
            yield number.value**3
        before, after = tokens[max(0, number.start - 3) : number.start], tokens[number.end : number.end + 1]
        if before and before[-1] in ("after", "above", "following") and after[:1] != ["of"]:
            yield number.value + 1
        if before and before[-1] in ("before", "below", "preceding"):
            yield number.value - 1
    for first in numbers:
        for second in numbers:
            if first.start < second.start:
                between = set(tokens[first.end : second.start])
                yield from _joined(first, second, between, words)


def _fractions(tokens: list[str]) -> Iterator[Number]:
    for at, token in enumerate(tokens):
        if token in _FRACTIONS:
            ahead = tokens[at + 1 : at + 3]
            if token in ("half", "quarter") or (at and tokens[at - 1] in ("a", "one")):
                yield Number(
                    _FRACTIONS[token] * (3 if at and tokens[at - 1] == "three" else 1), at, at + 1, "of" in ahead
                )
        elif token == "a" and tokens[at + 1 : at + 2] in (
            ["litre"],
            ["liter"],
            ["metre"],
            ["meter"],
            ["kilo"],
            ["hundred"],
        ):
            yield Number(100.0 if tokens[at + 1] == "hundred" else 1.0, at, at + 2, False)


def _joined(first: Number, second: Number, between: set[str], words: set[str]) -> Iterator[float]:
    one, two = first.value, second.value
    fraction = one in _FRACTIONS.values() and "of" in between
    if fraction:
        yield one * two
    if "between" in words and "and" in between and abs(one - two) == 2:
        yield (one + two) / 2
    if between & _PLUS or "+" in between or ("and" in between and words & _PLUS - {"and", "on"}):
        yield one + two
    if (
        between & set(_MINUS_SIGNS)
        or between & _MINUS
        or words & (_MINUS - {"from", "of", "left", "on", "off", "back"})
    ):
        yield one - two
        yield two - one
    if between & _TIMES or between & set(_TIMES_SIGNS):
        yield one * two
    if two and (between & _OVER or between & set(_OVER_SIGNS)):
        yield one / two
