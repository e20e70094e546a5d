"""Whether two short answers say the same, by rules that need no model: options, words, numbers, dates, lists."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple

from dokimasia.algorithms.text.closed import Kind
from dokimasia.algorithms.text.dates import read_date
from dokimasia.algorithms.text.quantities import compare_quantities, read_quantity
from dokimasia.algorithms.text.words import signs, words

Verdict = Literal["same", "different", "unsure"]
Rule = Literal["choice", "exact", "list", "contains", "empty", "no answer", "none"] | Kind

RELATIVE_TOLERANCE = 1e-6

_YES_OR_NO = frozenset({"yes", "no"})
_TRUE_OR_FALSE = frozenset({"true", "false"})
_LETTER = re.compile(
    r"(?:(?:option|choice|answer)\s{0,4}:?\s{0,4})?[(\[]?([A-Za-z])(?:[)\].:,](?:\s+(.*))?)?", re.DOTALL | re.IGNORECASE
)
_BETWEEN_ITEMS = re.compile(
    r"\s{0,9}(?:[;\n]|,(?![0-9]{3}(?![0-9]))|,?\s(?:and|&)\s)\s{0,9}(?:and\s|&\s)?", re.IGNORECASE
)
_LONGEST_ITEM = 6
_WRAPPED = re.compile(
    r"(?:(?:so|thus|therefore|hence)[, ]\s{0,3})?(?:the\s)?(?:(?:correct|right|final|best)\s)?(?:answer|option|choice)\s"
    r"(?:is|would be)\s{0,3}:?\s{0,3}(.*)|i\s(?:choose|pick|select|would choose)\s(.*)|\$?\\boxed\{(?:\\text\{)?([^{}]*)\}?\}\$?",
    re.DOTALL | re.IGNORECASE,
)


class TextComparison(NamedTuple):
    """A verdict and the rule that gave it."""

    verdict: Verdict
    rule: Rule


def same_answer(
    answer: str, reference: str, choices: Sequence[str] = (), *, tolerance: float = RELATIVE_TOLERANCE
) -> TextComparison:
    """Return the comparison of an answer with a reference answer by rule.

    Parameters
    ----------
    answer, reference : str
        Short final answers.
    choices : sequence of str
        The texts of the options in order (A, B, ...), if the question has options.
    tolerance : float
        The largest difference of two numbers, relative to the larger one.

    Returns
    -------
    TextComparison
        `unsure` means that a judge must decide. The rules, in order:

        - *empty*: an empty answer is different, an empty reference is unsure;
        - *choice*: both name an option, by letter, by text, or by both if they agree;
        - *exact*: equal after NFKC and case folding, without punctuation and articles, number words in digits; signs
          that carry meaning (`<`, `/`, a minus) must agree, too;
        - *number*: both are one quantity, equal within the tolerance; a unit on one side only is
          ignored, two different units are unsure;
        - *yes or no*: one says yes, the other no;
        - *date*: both are one calendar date, or one month of a year, in any order;
        - *list*: both list several items: the same if the items are the same in the same order, different if all are
          numbers and not the same ones;
        - *none*: no rule applies.

    Examples
    --------
    >>> same_answer("(B)", "two dogs", ["one dog", "two dogs"])
    TextComparison(verdict='same', rule='choice')
    >>> same_answer("The Twelve.", "12")
    TextComparison(verdict='same', rule='exact')
    >>> same_answer("1,250 m", "1251")
    TextComparison(verdict='different', rule='number')
    >>> same_answer("a canine", "a dog")
    TextComparison(verdict='unsure', rule='none')
    """
    answer = unwrapped(answer)
    if not bare(reference):
        return TextComparison("unsure", "empty")
    if not bare(answer):
        return TextComparison("different", "empty")
    if choices:
        picked, expected = named_option(answer, choices), named_option(reference, choices)
        if picked is not None and expected is not None:
            return TextComparison("same" if picked == expected else "different", "choice")
    answer_words, reference_words = words(answer), words(reference)
    same_words = bool(answer_words) and answer_words == reference_words
    if bare(answer) == bare(reference) or (same_words and signs(answer) == signs(reference)):
        return TextComparison("same", "exact")
    first, second = read_quantity(answer), read_quantity(reference)
    if first is not None and second is not None:
        return TextComparison(compare_quantities(first, second, tolerance), "number")
    for pair in (_YES_OR_NO, _TRUE_OR_FALSE):
        single_words = len(answer_words) == len(reference_words) == 1
        if single_words and not same_words and pair.issuperset(answer_words + reference_words):
            return TextComparison("different", "yes or no")
    dates = read_date(answer), read_date(reference)
    if dates[0] is not None and dates[1] is not None and len(dates[0]) == len(dates[1]):
        return TextComparison("same" if dates[0] == dates[1] else "different", "date")
    list_verdict = _compare_lists(listed_items(answer), listed_items(reference), tolerance)
    return TextComparison(list_verdict, "none" if list_verdict == "unsure" else "list")


def unwrapped(text: str) -> str:
    """Return an answer without introductory words: `The correct answer is (B).`, `\\boxed{B}`."""
    match = _WRAPPED.fullmatch(text.strip(" *_`").rstrip("."))
    if match:
        return next((group for group in match.groups() if group), text)
    return text


def bare(text: str) -> str:
    """Return a text with case, surrounding white space and Unicode form normalised."""
    return unicodedata.normalize("NFKC", text).casefold().strip()


def listed_items(text: str) -> list[str]:
    """Return the items that a text lists; one or none if it is not a list."""
    items = [item.strip(" .") for item in _BETWEEN_ITEMS.split(text.strip())]
    if all(len(words(item)) <= _LONGEST_ITEM for item in items):
        return [item for item in items if item]
    return []


def named_option(text: str, choices: Sequence[str]) -> int | None:
    """Return the position of the single option that a text names; None if it names none or several."""
    text_words = words(text)
    by_text = [at for at, choice in enumerate(choices) if text_words and words(choice) == text_words]
    match = _LETTER.fullmatch(bare(text).strip("*_` "))
    by_letter: list[int] = []
    if match:
        at = ord(match[1].upper()) - ord("A")
        choice_words = words(match[2] or "")
        if at < len(choices) and (not choice_words or choice_words == words(choices[at])):
            by_letter = [at]
    positions = set(by_text) | set(by_letter)
    if len(positions) == 1:
        return positions.pop()
    return None


def _same(first: str, second: str, tolerance: float) -> bool:
    return same_answer(first, second, tolerance=tolerance).verdict == "same"


def _compare_lists(first: Sequence[str], second: Sequence[str], tolerance: float) -> Verdict:
    """Return the comparison of two lists of at least two items."""
    if len(first) < 2 or len(second) < 2:
        return "unsure"
    if len(first) == len(second) and all(_same(a, b, tolerance) for a, b in zip(first, second, strict=True)):
        return "same"
    if not all(read_quantity(item) is not None for item in (*first, *second)):
        return "unsure"
    matched = [any(_same(a, b, tolerance) for b in second) for a in first]
    matched += [any(_same(a, b, tolerance) for a in first) for b in second]
    if all(matched):
        return "unsure"
    return "different"
