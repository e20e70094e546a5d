"""Verdicts in double brackets: a rating on a scale, and whether two answers are equivalent."""

import re
from collections.abc import Sequence
from itertools import pairwise

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.criterion_scores import reason_of
from dokimasia.parsing.grammar import choice
from dokimasia.parsing.json_finder import find_json
from dokimasia.parsing.own import outside, own, plainly, without_quoted
from dokimasia.parsing.reply import matches, short

_NUMERIC = re.compile(r"\[\[\s{0,9}([+-]?\.?[0-9][^\[\]\n]{0,60})\]\]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})")
_DOUBT = re.compile(
    r"\b(?:not|\w{2,9}n['\u2019]t|never|no|nor|neither|without|instead|cannot|hardly|barely|least|most|if|unless|"
    r"perhaps|maybe|possibly|either|between|than|asks?|demands?|says?|claims?|writes?|requests?|wants?|quotes?|wrong|false|"
    r"n/a|none|unknown|unclear|unsure|uncertain|undecided|unable|impossible|abstain(?:s|ed)?)\b|[0-9][\s.,/]{0,9}$|[+\-~<>\u2264\u2265\u00b1\u2248]$",
    re.IGNORECASE,
)
"""What must not come before a rating in its sentence: words that deny, doubt, condition or attribute it to others."""
_BRACKETED = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")
_NO_VERDICT = re.compile(
    r"[\s*_]{0,9}(?:n\s?/?\s?a|none|null|nothing|unknown|unclear|unsure|uncertain|undecided|undecidable|neither|both|either|tie|"
    r"same|different|skip(?:ped)?|abstain|not applicable|not sure|no (?:rating|score|verdict)|cannot .{1,60}|can't .{1,60}|\?+)"
    r"[\s*_.!]{0,9}",
    re.IGNORECASE,
)
"""A judge's text in double brackets in place of a verdict."""
EQUIVALENCE = choice("same", "different")
_LABEL = re.compile(r"(?:the\s)?(?:final\s)?verdict[\s:*_]*\Z", re.IGNORECASE)


def parse_rating(text: str, low: float, high: float) -> float:
    """Return the rating that a judge states in the form `[[7]]`.

    Args:
        text: the judge's reply. It may repeat the same rating.
        low: the lowest rating of the scale.
        high: the highest rating of the scale.

    Raises:
        UnparsableReply: there is no rating, there are several that differ, one is not a plain number (`[[7/10]]`), outside
            the scale, or not the judge's own statement (see `dokimasia.parsing.own`).
    """
    values: dict[float, None] = {}
    reply = own(text)
    ratings = matches(_NUMERIC, reply)
    for match in ratings:
        stated = match[1].strip()
        if _NUMBER.fullmatch(stated) is None:
            raise UnparsableReply(f"the rating [[{short(stated)}]] is not a plain number")
        values[float(stated)] = None
    if not values:
        where = outside(text, reply, lambda part: len(_NUMERIC.findall(part)))
        raise UnparsableReply(f"there is no rating of the form [[number]]{where}")
    if len(values) > 1:
        first, second, *_ = values
        raise UnparsableReply(f"there are different ratings: [[{first:g}]] and [[{second:g}]]")
    scale = rf"(?:\s{{0,3}}(?:/|out of)\s{{0,3}}{high:g}(?![0-9.,%\u066b]))?"
    _no_other_verdict(ratings, reply)
    plainly(ratings, reply, tail=scale, lead=_DOUBT)
    rating = next(iter(values))
    if not low <= rating <= high:
        raise UnparsableReply(f"the rating [[{rating:g}]] lies outside the scale of {low:g} to {high:g}")
    return rating


def parse_equivalence(text: str) -> bool:
    """Return whether a judge finds two answers equivalent: `[[same]]` or `[[different]]`.

    Raises:
        UnparsableReply: there is no verdict, or both of them.
    """
    return either(text, "same", "different")


def either(text: str, yes: str, no: str) -> bool:
    """Return whether a verdict in double brackets is the first of two words, rather than the second.

    Raises:
        UnparsableReply: there is no verdict, both verdicts, or one that is not the judge's own statement.
    """
    reply = own(text)
    verdicts = matches(choice(yes, no), reply)
    words = {match[1].casefold() for match in verdicts}
    if len(words) > 1:  # the compared answers may contain one, and be quoted
        reply = without_quoted(reply)
        verdicts = matches(choice(yes, no), reply)
        words = {match[1].casefold() for match in verdicts}
    if not words:
        where = outside(text, reply, lambda part: len(choice(yes, no).findall(part)))
        raise UnparsableReply(f"there is no verdict of the form [[{yes}]] or [[{no}]]{where}")
    if len(words) > 1:
        raise UnparsableReply(f"the verdict is both [[{yes}]] and [[{no}]]")
    _no_other_verdict(verdicts, reply)
    plainly(verdicts, reply)
    return words == {yes}


def verdict_reason(text: str) -> str | None:
    """Return the sentence in which a judge says why two answers are equivalent or not; None if there is none.

    It comes before the verdict, or from the field `reasoning` of the object; it is cut and on one line.

    Examples:
        >>> verdict_reason("Both name a bus.\\n\\nVerdict: [[same]]"), verdict_reason("[[same]]")
        ('Both name a bus.', None)
    """
    try:
        reply = own(text)
    except UnparsableReply:
        return None
    objects = find_json(reply, lambda value: isinstance(value, dict) and "verdict" in value)
    if objects:
        return reason_of(objects[-1].get("reasoning"))
    verdict = EQUIVALENCE.search(reply)
    if verdict is None:
        return None
    return reason_of(_LABEL.sub("", reply[: verdict.start()]))


def _no_other_verdict(verdicts: Sequence[re.Match[str]], reply: str) -> None:
    """Refuse a reply with double brackets that contain another verdict, or directly follow one: `[[N/A]] [[7]]`."""
    spans = {match.span() for match in verdicts}
    brackets = matches(_BRACKETED, reply)
    for position, other in enumerate(brackets):
        if other.span() in spans:
            continue
        neighbours = brackets[max(0, position - 1) : position + 2]
        gaps = [reply[first.end() : second.start()] for first, second in pairwise(neighbours)]
        if _NO_VERDICT.fullmatch(other[1]) or not all(re.search(r"\w", gap) for gap in gaps):
            raise UnparsableReply(
                f"{short(other[0])} stands beside {verdicts[0][0]}: write one verdict and nothing else"
            )
