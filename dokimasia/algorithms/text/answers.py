"""Whether two answers say the same, by rules that need no model; where the rules are silent a judge must say."""

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple

from dokimasia.algorithms.text.dates import read_date
from dokimasia.algorithms.text.words import FUNCTION_WORDS, NUMBER_WORDS, contains_run, signs, words

Verdict = Literal["same", "different", "unsure"]
Rule = Literal["choice", "exact", "number", "yes or no", "date", "list", "contains", "empty", "none"]

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
_BETWEEN_ITEMS = re.compile(
    r"\s{0,9}(?:[;\n]|,(?![0-9]{3}(?![0-9]))|,?\s(?:and|&)\s)\s{0,9}(?:and\s|&\s)?", re.IGNORECASE
)
_LONGEST_ITEM = 6
_LONGEST_CONTAINING = 25
_SAYING = frozenset(
    ["answer", "final", "correct", "right", "image", "picture", "photo", "shown", "shows", "show", "see", "here", "i"]
)
_WRAPPED = re.compile(
    r"(?:(?:so|thus|therefore|hence)[, ]\s{0,3})?(?:the\s)?(?:(?:correct|right|final|best)\s)?(?:answer|option|choice)\s"
    r"(?:is|would be)\s{0,3}:?\s{0,3}(.*)|i\s(?:choose|pick|select|would choose)\s(.*)|\$?\\boxed\{(?:\\text\{)?([^{}]*)\}?\}\$?",
    re.DOTALL | re.IGNORECASE,
)
# fmt: off
_DOUBTFUL = frozenset({
    "but", "cannot", "could", "either", "except", "if", "impossible", "instead", "may", "maybe", "might", "neither", "never",
    "no", "nobody", "none", "nor", "not", "nothing", "or", "perhaps", "possibly", "probably", "rather", "refuse", "unable",
    "unclear", "unknown", "unless", "unsure", "whether", "without",
})
_NOT_THE_NUMBER = frozenset({
    "%", "above", "almost", "below", "billion", "dozen", "fewer", "greater", "hundred", "least", "less", "million", "minus",
    "more", "most", "nearly", "over", "than", "thousand", "trillion", "under", "until",
})
# fmt: on
"""Words beside a number by which another number is meant, or none in particular."""
_NO_UNIT = FUNCTION_WORDS | {"hundred", "thousand", "million", "billion", "trillion", "dozen", "k", "mn", "bn"}
_SIGNS = str.maketrans({"\u2212": "-", "\u2044": "/"})
_SEPARATOR = re.compile(r"(?<=[0-9])[\u00a0\u202f\u2009](?=[0-9]{3}(?![0-9]))")


class Comparison(NamedTuple):
    """A verdict and the rule that gave it."""

    verdict: Verdict
    rule: Rule


def accepted_answer(
    answer: str,
    accepted: Sequence[Sequence[str]],
    choices: Sequence[str] = (),
    *,
    tolerance: float = RELATIVE_TOLERANCE,
    question: str | None = None,
) -> Comparison:
    """Compare an answer with all accepted answers by rule.

    Parameters
    ----------
    answer : str
        A short final answer.
    accepted : sequence of sequence of str
        The alternatives, each as the parts that all have to be there, in any order.
    choices : sequence of str
        The texts of the options in order (A, B, ...), if the question has options.
    tolerance : float
        How far two numbers may lie apart, relative to the larger one.
    question : str, optional
        Given, an answer of at most 25 words, of which no other rule decides, counts as the same if it holds an
        alternative's words one after another, and is compared by its number if it holds one alone and the alternative
        is a number. What else it says has to be words of the question, or words without content: "dark red" is not
        "red". It decides nothing where it asks, doubts or denies (`not`, `or`, ...), or names another option, too.

    Returns
    -------
    Comparison
        `same` if it says the same as any alternative, `different` if it differs from all of them, else `unsure`.

    Examples
    --------
    >>> accepted_answer("13.7", [["13.6"], ["13.7"]])
    Comparison(verdict='same', rule='exact')
    >>> accepted_answer("yes", [["no"], ["empty"]])
    Comparison(verdict='unsure', rule='none')
    >>> accepted_answer("flour and eggs", [["eggs", "flour"]])
    Comparison(verdict='same', rule='list')
    >>> accepted_answer("There are 5 tomatoes.", [["5"]], question="How many tomatoes?")
    Comparison(verdict='same', rule='contains')
    """
    found = [_with_parts(answer, parts, choices, tolerance, question) for parts in accepted if parts]
    same = next((one for one in found if one.verdict == "same"), None)
    if same is not None:
        return same
    if found and all(one.verdict == "different" for one in found):
        return found[0]
    return Comparison("unsure", "none")


def same_answer(
    answer: str, reference: str, choices: Sequence[str] = (), *, tolerance: float = RELATIVE_TOLERANCE
) -> Comparison:
    """Compare an answer with a reference answer by rule.

    Parameters
    ----------
    answer, reference : str
        Short final answers.
    choices : sequence of str
        The texts of the options in order (A, B, ...), if the question has options.
    tolerance : float
        How far two numbers may lie apart, relative to the larger one.

    Returns
    -------
    Comparison
        `unsure` means that a judge must say. The rules, in order:

        - *empty*: an empty answer is different, an empty reference leaves it unsure;
        - *choice*: both name an option, by letter, by text, or by both where these agree;
        - *exact*: equal after NFKC and case folding, without punctuation and articles, number words in digits; signs
          that carry meaning (`<`, `/`, a minus) have to agree too;
        - *number*: both are one quantity, equal within the tolerance; a unit on one side alone is
          overlooked, two different units leave it unsure;
        - *yes or no*: one says yes, the other no;
        - *date*: both are one calendar date, or one month of a year, in whatever order it is written;
        - *list*: both list several things: the same if these are the same in the same order, different if all are
          numbers and not the same ones;
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
    answer = _unwrapped(answer)
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
        return Comparison(_compare(first, second, tolerance), "number")
    for pair in (_YES_OR_NO, _TRUE_OR_FALSE):
        if len(mine) == len(theirs) == 1 and mine != theirs and pair.issuperset(mine + theirs):
            return Comparison("different", "yes or no")
    dates = read_date(answer), read_date(reference)
    if dates[0] is not None and dates[1] is not None and len(dates[0]) == len(dates[1]):
        return Comparison("same" if dates[0] == dates[1] else "different", "date")
    listed = _listed(_items(answer), _items(reference), tolerance)
    return Comparison(listed, "none" if listed == "unsure" else "list")


def _with_parts(
    answer: str, parts: Sequence[str], choices: Sequence[str], tolerance: float, question: str | None
) -> Comparison:
    """Compare an answer with one alternative."""
    if len(parts) == 1:
        found = same_answer(answer, parts[0], choices, tolerance=tolerance)
    else:
        items = _items(answer)
        left = [part for part in parts if not any(_same(item, part, tolerance) for item in items)]
        whole = len(items) == len(parts) and not left
        found = Comparison("same", "list") if whole else Comparison("unsure", "none")
    if question is not None and found.verdict == "unsure" and _in_words_of(question, answer, parts):
        if all(_contains(answer, part, choices) for part in parts):
            return Comparison("same", "contains")
        if len(parts) == 1:
            return _only_number(answer, parts[0], tolerance)
    return found


def _in_words_of(question: str, answer: str, parts: Sequence[str]) -> bool:
    """Return whether all that an answer says beside numbers and the wanted words are words of the question, or say nothing."""
    known = {word for part in parts for word in words(part)}.union(words(question), FUNCTION_WORDS, _SAYING)
    return all(word in known or _quantity(word) is not None for word in words(answer))


def _only_number(answer: str, reference: str, tolerance: float) -> Comparison:
    """Compare the one number in a short answer with a reference that is a bare number."""
    said, wanted = words(answer), _quantity(reference)
    numbers = [quantity for word in said if (quantity := _quantity(word)) is not None]
    if wanted is None or wanted.unit or len(numbers) != 1 or _in_doubt(answer, said, words(reference)):
        return Comparison("unsure", "none")
    return Comparison(_compare(numbers[0], wanted, tolerance), "number")


def _contains(answer: str, part: str, choices: Sequence[str]) -> bool:
    """Return whether a short answer holds the words of a part one after another, and nothing that casts doubt on them."""
    said, wanted = words(answer), words(part)
    if _in_doubt(answer, said, wanted) or (choices and len(part.strip()) == 1):
        return False
    others = [word for word in said if word[-1].isdigit() and word not in wanted]
    options = [words(choice) for choice in choices]
    another = any(contains_run(said, one) for one in options if not contains_run(wanted, one))
    return contains_run(said, wanted) and not another and not (others and _has_number(wanted))


def _in_doubt(answer: str, said: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether a text is long, asks, doubts or denies, or states a number that is wanted as more or less than that."""
    others = set(said) - set(wanted)
    doubted = not _DOUBTFUL.isdisjoint(others) or any(word.endswith("n't") for word in others)
    inexact = _has_number(wanted) and not _NOT_THE_NUMBER.isdisjoint(others)
    return len(said) > _LONGEST_CONTAINING or doubted or inexact or "?" in answer


def _has_number(found: Sequence[str]) -> bool:
    return any(word[-1].isdigit() for word in found)


def _items(text: str) -> list[str]:
    """Return the things that a text lists; one or none where it is no list."""
    items = [item.strip(" .") for item in _BETWEEN_ITEMS.split(text.strip())]
    return [item for item in items if item] if all(len(words(item)) <= _LONGEST_ITEM for item in items) else []


def _same(first: str, second: str, tolerance: float) -> bool:
    return same_answer(first, second, tolerance=tolerance).verdict == "same"


def _listed(mine: Sequence[str], theirs: Sequence[str], tolerance: float) -> Verdict:
    """Compare two lists of two things or more."""
    if len(mine) < 2 or len(theirs) < 2:
        return "unsure"
    if len(mine) == len(theirs) and all(_same(a, b, tolerance) for a, b in zip(mine, theirs, strict=True)):
        return "same"
    if not all(_quantity(item) is not None for item in (*mine, *theirs)):
        return "unsure"
    found = [any(_same(a, b, tolerance) for b in theirs) for a in mine]
    found += [any(_same(a, b, tolerance) for a in mine) for b in theirs]
    return "unsure" if all(found) else "different"


class _Quantity(NamedTuple):
    value: float
    unit: str


def _unwrapped(text: str) -> str:
    """Return an answer without the words that only say that it is one: `The correct answer is (B).`, `\\boxed{B}`."""
    found = _WRAPPED.fullmatch(text.strip(" *_`").rstrip("."))
    return next((one for one in found.groups() if one), text) if found else text


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


def _compare(first: _Quantity, second: _Quantity, tolerance: float) -> Verdict:
    def close(one: float, other: float) -> bool:
        return abs(one - other) <= tolerance * max(abs(one), abs(other))

    if first.unit == second.unit:
        return "same" if close(first.value, second.value) else "different"
    if first.unit and second.unit:
        return "unsure"
    if "%" in (first.unit, second.unit):
        percent, plain = (first, second) if first.unit == "%" else (second, first)
        if close(percent.value / 100, plain.value):
            return "same"
        return "unsure" if close(percent.value, plain.value) else "different"
    return "same" if close(first.value, second.value) else "different"
