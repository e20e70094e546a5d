"""Positions at which a text names something, even if the name is a judging word such as *weak*."""

import re

from dokimasia.algorithms.text.words import word_set

_JUDGING = word_set(
    """higher above greater larger exceed exceeds exceeded exceeding surpass surpasses surpassed surpassing lower below fewer
    smaller beneath better stronger outperform outperforms outperformed outperforming outscores outscored outscoring beat beats
    superior lead leads dominate dominates worse weaker poorer underperform underperforms
    underperformed underperforming behind trails lags inferior differ differs differed apart similar similarly indistinguishable
    comparable overlap overlaps overlapping tied ties equal equally highest largest greatest most maximum lowest smallest fewest
    least minimum best strongest easiest winner tops worst weakest poorest hardest strong strength strengths excel excels
    excelled weak weakness weaknesses struggle struggles struggled deficit deficits deficient poor poorly cannot incapable"""
)
_AFTER_VERB = re.compile(
    r"\b(?:is|are|was|were|be|looks?|seems?|remains?|surely|clearly|particularly|especially|relatively|not|a|an|its|most"
    r"|very|as)\s$",
    re.IGNORECASE,
)
_BEFORE_NOUN = re.compile(
    r"\s(?:leaf|leaves|capabilit|nodes?\b|categor|areas?\b|points?\b|spots?\b|sides?\b)", re.IGNORECASE
)


def judges(word: str) -> bool:
    """Return whether a word compares or judges, such as *weak*."""
    return word.casefold() in _JUDGING


def name_places(name: str, text: str) -> list[tuple[int, int]]:
    """Return the positions at which a text names something; "is weak at" does not name a model called *weak*.

    Examples
    --------
    >>> name_places("weak", "weak is weak at Counting")
    [(0, 4)]
    """
    spans = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    if not judges(name):
        return spans
    return [
        (start, end)
        for start, end in spans
        if not _AFTER_VERB.search(text[:start]) and not _BEFORE_NOUN.match(text, end)
    ]
