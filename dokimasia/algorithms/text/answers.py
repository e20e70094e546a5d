"""Whether two answers say the same, by rules that need no model; if no rule applies a judge must decide."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from dokimasia.algorithms.text.closed import (
    Kind,
    closed_readings,
    compare_closed,
    plain_answer,
    says_otherwise,
    without_frame,
)
from dokimasia.algorithms.text.comparing import (
    RELATIVE_TOLERANCE,
    TextComparison,
    Verdict,
    bare,
    listed_items,
    named_option,
    same_answer,
    unwrapped,
)
from dokimasia.algorithms.text.doubts import is_in_doubt, may_mean_otherwise, misleads, without_marks
from dokimasia.algorithms.text.no_answer import gives_no_answer, is_surely_answered
from dokimasia.algorithms.text.options import options_in
from dokimasia.algorithms.text.quantities import compare_quantities, read_quantity
from dokimasia.algorithms.text.words import FUNCTION_WORDS, contains_run, signs, word_set, words

_LONGEST_CONTAINING = 25
_SAYING = word_set("answer final correct right image picture photo shown shows show see here i")
_OPTION_FRAME = re.compile(
    r"\A(?:(?:it|that|this)(?:'s|\sis)(?=\s\W?[a-z]\W?\Z)|(?:option|choice|answer)(?=\s\W?[a-z]\b))\s"
)
_LETTER_AND_TEXT = re.compile(r"[(\[]?(?P<letter>[a-z])[)\]]?[).:,]?(?:\s[-\u2013\u2014:]|,)?\s(?P<text>.+)")
_TEXT_AND_LETTER = re.compile(r"(?P<text>.+?),?\s[(\[](?:option\s)?(?P<letter>[a-z])[)\]]")
_VULGAR = re.compile(r"(?<![0-9.,])([0-9]{1,9})\s?([\u00bc-\u00be\u2150-\u215e])")
_PERCENT = re.compile(r"(?<=[0-9])\s?(?:percent|per\scent)\b", re.IGNORECASE)
_PLAIN_SIGNS = frozenset("%°$€£¥#*.,:-")
_DOUBTFUL = word_set(
    """but cannot could either except if impossible instead may maybe might neither never no nobody none nor not nothing
    or perhaps possibly probably rather refuse unable unclear unknown unless unsure whether without"""
)
_NOT_THE_NUMBER = word_set(
    """% above almost below billion dozen fewer greater hundred least less million minus more most nearly over than
    thousand trillion under until"""
)
"""Words next to a number that turn it into another number, or an inexact one."""


def accepted_answer(
    answer: str,
    accepted: Sequence[Sequence[str]],
    choices: Sequence[str] = (),
    *,
    tolerance: float = RELATIVE_TOLERANCE,
    question: str | None = None,
    contains: bool = True,
) -> TextComparison:
    """Compare an answer with all accepted answers by rule.

    The rules are those of `same_answer`, and the following, which decide only clear cases:

    - *choice*: an option is also recognised by letter and text in other notations, or by its value (`Apr.` for `April`);
      if `choices` is empty the options are those that the question lists by letter;
    - *yes or no*, *number*, *date*, *month*, *weekday*, *time*, *rank*, *colour*, *side*: both state one value of the kind,
      in any notation (`dokimasia.algorithms.text.closed`);
    - *no answer*: the answer says that it does not know, and neither the reference nor an option may mean the same.

    An answer that asks (`3?`), or doubts its number (`3 maybe`), is never the same by these rules.

    Parameters
    ----------
    answer : str
        A short final answer.
    accepted : sequence of sequence of str
        The alternatives, each as parts that must all occur, in any order.
    choices : sequence of str
        The texts of the options in order (A, B, ...), if the question has options.
    tolerance : float
        The largest difference of two numbers, relative to the larger one.
    question : str, optional
        The question, whose words an answer in a sentence may repeat ("The bus is blue").
    contains : bool
        Whether, with a question, an answer of at most 25 words that no other rule decides counts as the same if it contains
        an alternative's words in a row, and is compared by its number if it contains a single one and the alternative is a
        number. Its other words must be words of the question, or words without content: "dark red" is not "red". The rule
        does not apply if the answer asks, doubts or denies (`not`, `or`, ...), or names another option, too.

    Returns
    -------
    TextComparison
        `same` if it says the same as any alternative, `different` if it differs from all of them, else `unsure`.

    Examples
    --------
    >>> accepted_answer("13.7", [["13.6"], ["13.7"]])
    TextComparison(verdict='same', rule='exact')
    >>> accepted_answer("yes", [["no"], ["empty"]])
    TextComparison(verdict='unsure', rule='none')
    >>> accepted_answer("flour and eggs", [["eggs", "flour"]])
    TextComparison(verdict='same', rule='list')
    >>> accepted_answer("There are 5 tomatoes.", [["5"]], question="How many tomatoes are on the vine?")
    TextComparison(verdict='same', rule='contains')
    >>> accepted_answer("Mar.", [["March"]]), accepted_answer("Not at all", [["yes"]])
    (TextComparison(verdict='same', rule='month'), TextComparison(verdict='different', rule='yes or no'))
    >>> accepted_answer("I don't know", [["a dog"]]), accepted_answer("3 maybe", [["3"]])
    (TextComparison(verdict='different', rule='no answer'), TextComparison(verdict='unsure', rule='none'))
    """
    answer = without_marks(answer)
    context = _Context(question or "", tuple(choices) or options_in(question or ""), tolerance)
    contains = contains and question is not None
    comparisons = [_with_parts(answer, parts, context, contains=contains) for parts in accepted if parts]
    same = next((comparison for comparison in comparisons if comparison.verdict == "same"), None)
    if same is not None:
        return same
    if comparisons and all(comparison.verdict == "different" for comparison in comparisons):
        return comparisons[0]
    return _UNDECIDED


_UNDECIDED = TextComparison("unsure", "none")


class _Context(NamedTuple):
    """The context of a comparison: the question, its options, and the tolerance for numbers."""

    question: str
    choices: Sequence[str]
    tolerance: float


def _with_parts(answer: str, parts: Sequence[str], context: _Context, *, contains: bool) -> TextComparison:
    """Return the comparison of an answer with one alternative."""
    if len(parts) == 1:
        comparison = _compare_part(answer, parts[0], context)
    else:
        items, without_choices = listed_items(answer), context._replace(choices=())
        all_listed = len(items) == len(parts) and all(
            any(_compare_part(item, part, without_choices).verdict == "same" for item in items) for part in parts
        )
        comparison = TextComparison("same", "list") if all_listed else _without_answer(answer, parts, context)
    if comparison.verdict != "unsure" or not context.question or misleads(answer, parts, context.choices):
        return comparison
    if contains and _in_words_of(context.question, answer, parts):
        if all(_contains(answer, part, context) for part in parts):
            return TextComparison("same", "contains")
        if len(parts) == 1:
            return _only_number(answer, parts[0], context.tolerance)
    framed = without_frame(plain_answer(answer))
    if len(parts) == 1 and words(framed) == words(parts[0]) and signs(framed) == signs(parts[0]) and "?" not in answer:
        return TextComparison("same", "exact")
    return comparison


def _compare_part(answer: str, reference: str, context: _Context) -> TextComparison:
    """Return the comparison of an answer with one part of an alternative by all rules except *contains*."""
    answer, reference = _in_figures(answer), _in_figures(reference)
    comparison = same_answer(answer, reference, context.choices, tolerance=context.tolerance)
    doubtful = comparison.verdict != "unsure" and is_in_doubt(comparison, answer, reference, context.question)
    if comparison.verdict == "unsure" and comparison.rule != "empty":
        comparison = _by_meaning(unwrapped(answer), unwrapped(reference), context)
    doubtful |= may_mean_otherwise(comparison, answer, reference, context.choices)
    by_value = comparison.verdict == "same" and comparison.rule not in ("exact", "choice")
    if doubtful or (by_value and _names_several(answer, context)):
        return _UNDECIDED
    return comparison


def _by_meaning(answer: str, reference: str, context: _Context) -> TextComparison:
    """Return the comparison by options and by values in any notation, and by the rule *no answer*."""
    if context.choices:
        picked, expected = _option(answer, context), _option(reference, context)
        if picked is not None and expected is not None:
            return TextComparison("same" if picked == expected else "different", "choice")
    compared = _compare_values(answer, reference, context)
    if compared is None:
        return _without_answer(answer, [reference], context)
    return TextComparison(*compared)


def _without_answer(answer: str, parts: Sequence[str], context: _Context) -> TextComparison:
    """Return `different` for an answer that says it does not know, if no part may mean the same."""
    if not gives_no_answer(answer, context.question):
        return _UNDECIDED
    sure = all(is_surely_answered(part, context.choices, context.question) for part in parts)
    if sure:
        return TextComparison("different", "no answer")
    return _UNDECIDED


def _compare_values(first: str, second: str, context: _Context) -> tuple[Verdict, Kind] | None:
    readings = (closed_readings(text, context.question) for text in (first, second))
    return compare_closed(*readings, tolerance=context.tolerance, question=context.question)


def _option(text: str, context: _Context) -> int | None:
    """Return the position of the single option that a text names, in any notation, or None."""
    plain = _OPTION_FRAME.sub("", bare(text).strip("*_` ."))
    option = named_option(plain, context.choices)
    if option is not None:
        return option
    pair = _LETTER_AND_TEXT.fullmatch(plain) or _TEXT_AND_LETTER.fullmatch(plain)
    if pair is not None:
        at = ord(pair["letter"]) - ord("a")
        fits = at < len(context.choices) and words(pair["text"]) == words(context.choices[at])
        return at if fits else None
    equal = [
        at
        for at, choice in enumerate(context.choices)
        if (_compare_values(plain, choice, context) or [""])[0] == "same"
    ]
    return equal[0] if len(equal) == 1 else None


def _names_several(answer: str, context: _Context) -> bool:
    """Return whether an answer means the same as several of the question's options."""
    without_choices = context._replace(choices=())
    return sum(_compare_part(answer, choice, without_choices).verdict == "same" for choice in context.choices) > 1


def _in_figures(text: str) -> str:
    """Return a text with percentages and mixed fractions in one notation: `2½` as `2.5`, `5 percent` as `5%`."""
    decimal = _VULGAR.sub(lambda match: repr(int(match[1]) + unicodedata.numeric(match[2])), text)
    return _PERCENT.sub("%", decimal)


def _in_words_of(question: str, answer: str, parts: Sequence[str]) -> bool:
    """Return whether an answer consists of numbers, expected words, words of the question, and words without content."""
    allowed = {word for part in parts for word in words(part)}.union(words(question), FUNCTION_WORDS, _SAYING)
    return all(word in allowed or read_quantity(word) is not None for word in words(answer))


def _only_number(answer: str, reference: str, tolerance: float) -> TextComparison:
    """Return the comparison of the single number in a short answer with a reference that is a bare number."""
    answer_words, expected = words(answer), read_quantity(reference)
    numbers = [quantity for word in answer_words if (quantity := read_quantity(word)) is not None]
    if (
        expected is None
        or expected.unit
        or len(numbers) != 1
        or set(signs(answer)) - _PLAIN_SIGNS
        or _in_doubt(answer, answer_words, words(reference))
    ):
        return _UNDECIDED
    return TextComparison(compare_quantities(numbers[0], expected, tolerance), "number")


def _contains(answer: str, part: str, context: _Context) -> bool:
    """Return whether a short answer contains the words of a part in a row, and nothing that casts doubt on them."""
    answer_words, part_words = words(answer), words(part)
    if _in_doubt(answer, answer_words, part_words) or (context.choices and len(part.strip()) == 1):
        return False
    if part_words in (["yes"], ["no"]) and says_otherwise(plain_answer(answer), context.question):
        return False
    if part_words == ["may"] or (_has_number(part_words) and set(signs(answer)) - {"#", "*", *signs(part)}):
        return False
    if "or" in words(context.question) and not {"and", "both"}.isdisjoint(set(answer_words).difference(part_words)):
        return False
    other_numbers = {word for word in answer_words if word[-1].isdigit()}.difference(
        part_words, words(context.question)
    )
    options = [words(choice) for choice in context.choices]
    names_other = any(contains_run(answer_words, option) for option in options if not contains_run(part_words, option))
    return contains_run(answer_words, part_words) and not names_other and not other_numbers


def _in_doubt(answer: str, answer_words: Sequence[str], expected: Sequence[str]) -> bool:
    """Return whether a text is long, asks, doubts or denies, or states an expected number inexactly."""
    others = set(answer_words) - set(expected)
    doubted = not _DOUBTFUL.isdisjoint(others) or any(word.endswith("n't") for word in others)
    inexact = _has_number(expected) and not _NOT_THE_NUMBER.isdisjoint(others)
    return len(answer_words) > _LONGEST_CONTAINING or doubted or inexact or "?" in answer


def _has_number(tokens: Sequence[str]) -> bool:
    return any(word[-1].isdigit() for word in tokens)
