"""Numbers among tokens, in figures, in words or as Roman numerals."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dokimasia.algorithms.text.words import NUMBER_WORDS, word_table

_TEN_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * number for number, word in enumerate(_TEN_NAMES.split(), 2)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_ORDINAL_NAMES = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ORDINALS = {word: number for number, word in enumerate(_ORDINAL_NAMES.split(), 1)} | {"thirtieth": 30}
_COLLECTIVE_NAMES = """
    0: none nil nought naught
    2: pair couple duo
    3: trio
    4: quartet
    5: quintet
    6: sextet
    7: septet
    8: octet
    12: dozen
"""
_COLLECTIVES = {word: float(number) for word, number in word_table(_COLLECTIVE_NAMES).items()}


class Number(NamedTuple):
    """A number in a text: its value, its first token and the one after its last, and whether it is in figures."""

    value: float
    start: int
    end: int
    figures: bool


def numbers_in(tokens: list[str]) -> Iterator[Number]:
    """Yield the numbers among tokens in lower case: figures in any notation, number words, Roman numerals.

    Examples
    --------
    >>> print(*(number.value for number in numbers_in("twenty - five , 1250 , 0,75 , .5 , two dozen , xii".split())))
    25.0 1250.0 0.75 0.5 24.0 12.0
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
    """Return the end and the value of a number in words; the value is None if there is none."""
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
        if tokens[stopped : stopped + 1] in (["dozen"], ["score"]):
            return stopped + 1, (total + current) * (12 if tokens[stopped] == "dozen" else 20)
        return stopped, total + current
    token = tokens[at]
    if token in _COLLECTIVES:
        return at + 1, _COLLECTIVES[token]
    roman = _roman(token)
    if roman is not None:
        return (at + 1, float(roman))
    return (at, None)


def _roman(word: str) -> int | None:
    if len(word) < 2 or not re.fullmatch(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", word):
        return None
    if word in ("mi", "mix", "di", "dim", "mm", "cm", "cd", "dl", "ml", "cl", "mill", "mild", "mil", "lid"):
        return None
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}[letter] for letter in word]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def ordinal(word: str) -> int | None:
    """Return the number of an ordinal such as `third` or `3rd`, or None."""
    match = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)", word)
    if match:
        return int(match[1])
    return _ORDINALS.get(word)
