"""Reasons why an answer may have a different meaning from its apparent one: doubt, signs, letters, units."""

import re
from collections.abc import Sequence

from dokimasia.algorithms.text.closed import DECADE, DOUBT
from dokimasia.algorithms.text.comparing import TextComparison, bare, unwrapped
from dokimasia.algorithms.text.quantities import is_doubtful_pair, read_any_quantity
from dokimasia.algorithms.text.words import words

_LABEL = re.compile(r"[(\[]?(?P<letter>[a-z])[)\].:]{1,2}\s(?P<text>.+)", re.DOTALL)
_AROUND = "*_`\"'\u2018\u2019\u201c\u201d "
_PAIRS = {"*": "*", "_": "_", "`": "`", '"': '"', "'": "'", "\u2018": "\u2019", "\u201c": "\u201d"}
_STROKE = re.compile(r"([0-9]{1,9})\s?/\s?([0-9]{1,9})")
_BEHIND = re.compile(r"(?:[^\W_][-+]|[0-9]!|(?<![^\W_])[0-9]{1,9}(?![mglshvwkcf])[a-z])\Z")
_RAISED = re.compile(r"[0-9][\u00b2\u00b3\u00b9\u2070-\u2079]")


def misleads(answer: str, parts: Sequence[str], choices: Sequence[str] = ()) -> bool:
    """Return whether a sign or a letter of an answer may give it a meaning other than that of its words.

    Such signs are a superscript number, a sign after the last word (`B-`, `5!`, `3A`), two letters in a row of which
    one could be an article (`A, B`), and a letter of a different option from that of the text.
    """
    if _RAISED.search(" ".join((answer, *parts))) and answer.strip() not in parts:
        return True
    plain, *plain_parts = (bare(unwrapped(text)).strip(_AROUND) for text in (answer, *parts))
    if plain in plain_parts:
        return plain in _also_options(choices)
    letters = [part for part in plain_parts if len(part) == 1 and part.isalpha()]
    if any(words(plain) == [letter] and re.sub(r"[\W_]", "", plain) != letter for letter in letters):
        return True
    if bool(_BEHIND.search(plain)) != any(map(_BEHIND.search, plain_parts)):
        return True
    label = _LABEL.match(plain)
    labelled = [choice for at, choice in enumerate(choices) if label and chr(ord("a") + at) == label["letter"]]
    return any(label is not None and words(label["text"]) != words(choice) for choice in labelled)


def _also_options(choices: Sequence[str]) -> set[str]:
    """Return the letters that are the text of one option and the label of another."""
    letters = [_letter(at) for at in range(len(choices))]
    return {
        text
        for letter, choice in zip(letters, choices, strict=True)
        if (text := bare(choice)) in letters and text != letter
    }


def _letter(at: int) -> str:
    return chr(ord("a") + at)


def may_mean_otherwise(comparison: TextComparison, answer: str, reference: str, choices: Sequence[str] = ()) -> bool:
    """Return whether a compared text asks, or has signs, letters or digits that may mean something else.

    Examples
    --------
    >>> same = TextComparison("same", "exact")
    >>> may_mean_otherwise(same, "3?", "3"), may_mean_otherwise(same, "3.", "3")
    (True, False)
    """
    if misleads(answer, [reference], choices):
        return True
    if comparison.verdict == "same" and "?" in answer and not any("?" in text for text in (reference, *choices)):
        return True
    numbers = comparison.rule in ("number", "list")
    return numbers and (
        _halves(answer, reference) or any(DECADE.search(text.strip(" .")) for text in (answer, reference))
    )


def is_in_doubt(comparison: TextComparison, answer: str, reference: str, question: str = "") -> bool:
    """Return whether words of doubt accompany a number, or its unit may differ from the intended one.

    Examples
    --------
    >>> same, other = TextComparison("same", "number"), TextComparison("different", "number")
    >>> is_in_doubt(same, "3 maybe", "3"), is_in_doubt(other, "1 hour", "60")
    (True, True)
    """
    if comparison.rule not in ("number", "list"):
        return False
    joined = {"and", "both"} if comparison.rule == "list" else set[str]()
    if not DOUBT.difference(joined).isdisjoint(set(words(answer)) ^ set(words(reference))):
        return True
    first, second = read_any_quantity(answer), read_any_quantity(reference)
    return first is not None and second is not None and is_doubtful_pair(first, second, question)


def without_marks(text: str) -> str:
    """Return a text without emphasis and quotation marks that enclose all of it.

    Examples
    --------
    >>> without_marks(' **"Mar."** '), without_marks("5*"), without_marks("_")
    ('Mar.', '5*', '_')
    """
    plain = text.strip()
    while len(plain) > 2 and _PAIRS.get(plain[0]) == plain[-1]:
        plain = plain[1:-1].strip()
    return plain


def _halves(answer: str, reference: str) -> bool:
    """Return whether one text is two numbers separated by a slash, and the other is one of them: `8/9` and `8`."""
    for first, second in ((answer, reference), (reference, answer)):
        stroke = _STROKE.fullmatch(first.strip())
        if stroke is not None and second.strip() in stroke.groups():
            return True
    return False
