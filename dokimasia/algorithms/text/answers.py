"""Whether two answers say the same, by rules that need no model; where the rules are silent a judge must say."""

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple

from dokimasia.algorithms.text.words import FUNCTION_WORDS, NUMBER_WORDS, signs, words

Verdict = Literal["same", "different", "unsure"]
Rule = Literal["choice", "exact", "number", "yes or no", "empty", "none"]

RELATIVE_TOLERANCE = 1e-6

_YES_OR_NO = frozenset({"yes", "no"})
_TRUE_OR_FALSE = frozenset({"true", "false"})
_LETTER = re.compile(
    r"(?:(?:option|choice|answer)\s{0,4}:?\s{0,4})?[(\[]?([A-Za-z])(?:[)\].:,](?:\s+(.*))?)?", re.DOTALL | re.IGNORECASE
)
_QUANTITY = re.compile(
    r"(?P<currency>[$€£¥])?\s{0,4}(?P<sign>[+-])?\s{0,4}(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,40})?"
    r"(?P<decimals>\.[0-9]{1,40})?(?P<exponent>e[+-]?[0-9]{1,3})?(?:\s{0,4}/\s{0,4}(?P<below>[0-9]{1,40}))?"
    r"\s{0,4}(?P<unit>[^\W\d_].{0,40}|[%°$€£¥])?",
    re.IGNORECASE,
)
_LONGEST_UNIT = 2
_NO_UNIT = FUNCTION_WORDS | {"hundred", "thousand", "million", "billion", "trillion", "dozen", "k", "mn", "bn"}
_SIGNS = str.maketrans({"\u2212": "-", "\u2044": "/"})
_SEPARATOR = re.compile(r"(?<=[0-9])[\u00a0\u202f\u2009](?=[0-9]{3}(?![0-9]))")


class Comparison(NamedTuple):
    """A verdict and the rule that gave it."""

    verdict: Verdict
    rule: Rule


def same_answer(answer: str, reference: str, choices: Sequence[str] = ()) -> Comparison:
    """Compare an answer with a reference answer by rule.

    Parameters
    ----------
    answer, reference : str
        Short final answers.
    choices : sequence of str
        The texts of the options in order (A, B, ...), if the question has options.

    Returns
    -------
    Comparison
        `unsure` means that a judge must say. The rules, in order:

        - *empty*: an empty answer is different, an empty reference leaves it unsure;
        - *choice*: both name an option, by letter, by text, or by both where these agree;
        - *exact*: equal after NFKC and case folding, without punctuation and articles, number words in digits; signs
          that carry meaning (`<`, `/`, a minus) have to agree too;
        - *number*: both are one quantity, equal within a relative tolerance of 1e-6; a unit on one side alone is
          overlooked, two different units leave it unsure;
        - *yes or no*: one says yes, the other no;
        - *none*: no rule applies.

    Examples
    --------
    >>> same_answer("(B)", "two dogs", ["one dog", "two dogs"])
    Comparison(verdict='same', rule='choice')
    >>> same_answer("The Twelve.", "12")
    Comparison(verdict='same', rule='exact')
    >>> same_answer("1,250 m", "1251")
    Comparison(verdict='different', rule='number')
    >>> same_answer("a canine", "a dog")
    Comparison(verdict='unsure', rule='none')
    """
    if not _bare(reference):
        return Comparison("unsure", "empty")
    if not _bare(answer):
        return Comparison("different", "empty")
    if choices:
        picked, meant = _choice(answer, choices), _choice(reference, choices)
        if picked is not None and meant is not None:
            return Comparison("same" if picked == meant else "different", "choice")
    mine, theirs = words(answer), words(reference)
    if _bare(answer) == _bare(reference) or (mine and mine == theirs and signs(answer) == signs(reference)):
        return Comparison("same", "exact")
    first, second = _quantity(answer), _quantity(reference)
    if first is not None and second is not None:
        return Comparison(_compare(first, second), "number")
    for pair in (_YES_OR_NO, _TRUE_OR_FALSE):
        if len(mine) == len(theirs) == 1 and mine != theirs and pair.issuperset(mine + theirs):
            return Comparison("different", "yes or no")
    return Comparison("unsure", "none")


class _Quantity(NamedTuple):
    value: float
    unit: str


def _bare(text: str) -> str:
    """Return a text as it stands, but for case, white space around it, and the Unicode form of its letters."""
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _choice(text: str, choices: Sequence[str]) -> int | None:
    """Return the position of the one option that a text names, or None if it names none or more than one."""
    said = words(text)
    by_text = [at for at, choice in enumerate(choices) if said and words(choice) == said]
    match = _LETTER.fullmatch(_bare(text).strip("*_` "))
    by_letter: list[int] = []
    if match:
        at = ord(match[1].upper()) - ord("A")
        rest = words(match[2] or "")
        if at < len(choices) and (not rest or rest == words(choices[at])):
            by_letter = [at]
    named = set(by_text) | set(by_letter)
    return named.pop() if len(named) == 1 else None


def _quantity(text: str) -> _Quantity | None:
    """Return the one quantity that a whole text states, or None."""
    plain = unicodedata.normalize("NFKC", _SEPARATOR.sub("", text)).translate(_SIGNS).strip().rstrip(".").casefold()
    first, _, rest = plain.partition(" ")
    if first in NUMBER_WORDS:
        plain = f"{NUMBER_WORDS[first]} {rest}"
    match = _QUANTITY.fullmatch(plain.strip())
    if match is None or not (match["whole"] or match["decimals"]):
        return None
    whole = (match["whole"] or "0").replace(",", "")
    value = float("".join((match["sign"] or "", whole, match["decimals"] or "", match["exponent"] or "")))
    if match["below"]:
        if not float(match["below"]):
            return None
        value /= float(match["below"])
    if not math.isfinite(value):
        return None
    unit_words = words(match["unit"] or "")
    if len(unit_words) > _LONGEST_UNIT or not _NO_UNIT.isdisjoint(unit_words) or any(w.isdigit() for w in unit_words):
        return None
    unit = " ".join(unit_words)
    return _Quantity(value, " ".join(part for part in (match["currency"] or "", unit) if part))


def _compare(first: _Quantity, second: _Quantity) -> Verdict:
    if first.unit == second.unit:
        return "same" if _close(first.value, second.value) else "different"
    if first.unit and second.unit:
        return "unsure"
    if "%" in (first.unit, second.unit):
        percent, plain = (first, second) if first.unit == "%" else (second, first)
        if _close(percent.value / 100, plain.value):
            return "same"
        return "unsure" if _close(percent.value, plain.value) else "different"
    return "same" if _close(first.value, second.value) else "different"


def _close(first: float, second: float) -> bool:
    return abs(first - second) <= RELATIVE_TOLERANCE * max(abs(first), abs(second))
