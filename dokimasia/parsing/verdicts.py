"""Verdicts in double brackets: a rating on a scale, and whether two answers say the same."""

import re

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.reply import matches, short, spoken

_NUMERIC = re.compile(r"\[\[\s{0,9}([+-]?\.?[0-9][^\[\]\n]{0,60})\]\]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})")
EQUIVALENCE = re.compile(r"\[\[\s{0,9}(same|different)\s{0,9}\]\]", re.IGNORECASE | re.ASCII)


def parse_rating(text: str, low: float, high: float) -> float:
    """Return the rating that a judge states in the form `[[7]]`.

    Args:
        text: the judge's reply. The same rating may stand in it more than once.
        low: the lowest rating that was asked for.
        high: the highest.

    Raises:
        UnparsableReply: there is no rating, there are two different ones, one is no plain number (`[[7/10]]`), or it
            lies outside the scale.
    """
    found: dict[float, None] = {}
    for match in matches(_NUMERIC, spoken(text)):
        stated = match[1].strip()
        if _NUMBER.fullmatch(stated) is None:
            raise UnparsableReply(f"the rating [[{short(stated)}]] is not a plain number")
        found[float(stated)] = None
    if not found:
        raise UnparsableReply("there is no rating of the form [[number]]")
    if len(found) > 1:
        first, second, *_ = found
        raise UnparsableReply(f"there are different ratings: [[{first:g}]] and [[{second:g}]]")
    rating = next(iter(found))
    if not low <= rating <= high:
        raise UnparsableReply(f"the rating [[{rating:g}]] lies outside the scale of {low:g} to {high:g}")
    return rating


def parse_equivalence(text: str) -> bool:
    """Return whether a judge finds two answers the same: `[[same]]` or `[[different]]`.

    Raises:
        UnparsableReply: there is no verdict, or both of them.
    """
    return either(EQUIVALENCE, text, "same", "different")


def either(pattern: re.Pattern[str], text: str, yes: str, no: str) -> bool:
    """Return which of two words a judge says, whose verdicts the pattern finds: whether it is the first.

    Raises:
        UnparsableReply: there is no verdict, or both of them.
    """
    found = {match[1].casefold() for match in matches(pattern, spoken(text))}
    if not found:
        raise UnparsableReply(f"there is no verdict of the form [[{yes}]] or [[{no}]]")
    if len(found) > 1:
        raise UnparsableReply(f"the verdict is both [[{yes}]] and [[{no}]]")
    return found == {yes}
