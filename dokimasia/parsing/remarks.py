"""Remarks in a description on candidates, rankings or the description itself, instead of on the image."""

import re
from collections.abc import Sequence

from dokimasia.parsing.grammar import form
from dokimasia.parsing.reply import short

_QUOTED = re.compile(r"\"[^\"]{0,400}\"|“[^”]{0,400}”|«[^»]{0,400}»|(?<!\w)'(?! )[^']{0,400}'(?!\w)")

_APOSTROPHES = str.maketrans({"\u2018": "'", "\u2019": "'"})
_MADE = "(?:better|best|improved|revised|corrected|combined|merged|rewritten|enhanced|refined|polished)"
_WHICH = (
    "(?:all|both|each|every|no|none|any|another|either|neither|first|second|third|last|previous|given|other|two|three)"
)

_OF_REVIEWS = (
    "(?P<noun>candidate|rewrite|critique|reviewer)s?\\b",
    "(?P<noun>description)s? (?:no\\.? ?|number |# ?)?[0-9]{1,3}\\b",
    f"{_WHICH} (?:of the )?(?:other )?(?P<noun>description)s?\\b",
    "(?P<noun>rank)(?:ed|s) (?:it |this )?(?:first|second|third|last|best|highest|lowest|[0-9]{1,3})\\b",
    "(?:this|my|our|the) (?P<noun>rank)ings?\\b",
)
"""Words about reviewing that may also describe an image: an election, a shop's page, a league table."""

_OF_ITSELF = (
    f"(?:this|my|our|present) (?:{_MADE} )?descriptions?\\b|this version (?:adds|keeps|is|leaves|has|corrects)\\b",
    f"{_MADE} (?:of the |\\w{{1,20}} )?(?:descriptions?|captions?)\\b|descriptions? above\\b",
    "the descriptions? (?:is|are|was|were) (?:\\w{1,20} )?(?:correct|complete|accurate|good|better|best|right|faithful)\\b",
    "already the best\\b",
    "no (?:further )?(?:changes?|corrections?|improvements?|rewriting) (?:(?:is|are|was|were) )?"
    "(?:needed|necessary|required|made)\\b",
    "(?:keep|kept|keeping|remains?|stays?) (?:it |this )?(?:exactly )?as (?:it )?is\\b",
    "i(?: have|'ve| would|'d| will|'ll)? (?:also |only )?(?:keep|kept|merged?|combined?|corrected?|added?|removed?"
    "|rewrote|rewritten|ranked?|mended|changed?|chose|choose|based|compared?|voted?|included?|omit|omitted"
    "|left out|leave out)\\b",
    "(?:let me know|would you like (?:me|to know|more)|do you want me|shall i|feel free to ask|hope this helps"
    "|if you (?:want|need|would like) (?:me|more|any|further))\\b",
    "\\A\\W*(?:here (?:is|are)|here's|below is) (?:the|a|an|my) (?:\\w{1,20} ){0,3}?(?:description|caption|version)\\b",
    f"\\A\\W*(?:the )?(?:rewrite|(?:final|new|{_MADE}) (?:\\w{{1,20}} )?(?:description|caption|version))\\W*:",
)
"""Words about the text itself, or to its reader."""


def _read(patterns: Sequence[str]) -> list[re.Pattern[str]]:
    return [form(pattern if pattern.startswith("\\A") else f"\\b{pattern}") for pattern in patterns]


_OF_REVIEWS_READ, _OF_ITSELF_READ = _read(_OF_REVIEWS), _read(_OF_ITSELF)


def remarks(text: str, shown: Sequence[str] = ()) -> list[str]:
    """Return the remarks of an English description on candidates, descriptions, rankings, reviewers or itself.

    Quoted text counts as text in the image. A noun that a shown description also has (the candidates of an election) counts
    as a thing in the image, and so do words to a reader that two of them share (a letter that they copied).

    Args:
        text: the description.
        shown: the descriptions that its author saw.

    Returns:
        The first few words of each remark, in order; empty if there are none.
    """
    plain, others = _plain(text), [_plain(description).casefold() for description in shown]
    spans = [
        match.span()
        for pattern in _OF_REVIEWS_READ
        for match in pattern.finditer(plain)
        if not any(match["noun"].casefold() in other for other in others)
    ] + [
        match.span()
        for pattern in _OF_ITSELF_READ
        for match in pattern.finditer(plain)
        if sum(match[0].casefold() in other for other in others) < 2
    ]
    excerpts: list[str] = []
    end_of_last = 0
    for start, end in sorted(spans):
        if start >= end_of_last:
            excerpts.append(short(plain[start:]))
        end_of_last = max(end_of_last, end)
    return excerpts


def _plain(text: str) -> str:
    """Return a text on one line, without its quotations."""
    return _QUOTED.sub('""', " ".join(text.translate(_APOSTROPHES).split()))
