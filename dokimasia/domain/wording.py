"""Wording of messages and sentences: truncated lists, percentages, verbs that agree with a count, and cells of tables."""

import difflib
import re
from collections.abc import Iterable
from math import floor

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def shortened(names: Iterable[str], most: int) -> str:
    """Return the first `most` names, separated by commas, followed by `…` if there are more.

    Examples:
        >>> shortened(["a", "b", "c"], 2), shortened(["a", "b"], 2)
        ('a, b, …', 'a, b')
    """
    every = list(names)
    text = ", ".join(every[:most])
    if len(every) > most:
        return f"{text}, …"
    return text


def percentage(share: float | None, digits: int = 0) -> str:
    """Return a share in percent with the given number of decimals, halves rounded up; a dash for None.

    Examples:
        >>> percentage(0.5), percentage(0.295, 1), percentage(None)
        ('50 %', '29.5 %', '–')
        >>> percentage(0.575), percentage(0.825)
        ('58 %', '83 %')
    """
    if share is None:
        return "–"
    steps = 10**digits
    rounded = floor(round(100 * share * steps, 6) + 0.5) / steps  # without the rounding error of 100 * 0.575
    return f"{rounded:.{digits}f} %"


ABOUT_AS_NEAR = 0.05
"""How much less similar a second suggestion may be than the first."""


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a "did you mean" with the name closest to a misspelt one, or two about as close; empty if none is close.

    Examples:
        >>> nearest("sim/stong", ["sim/strong", "sim/tutor"]), nearest("run-x", ["run-a", "run-b"])
        ("; did you mean 'sim/strong'?", "; did you mean 'run-b' or 'run-a'?")
    """
    matches = difflib.get_close_matches(name, list(names), n=2)
    matcher = difflib.SequenceMatcher(b=name)
    similarities: list[float] = []
    for match in matches:
        matcher.set_seq1(match)
        similarities.append(matcher.ratio())
    suggested = [
        match
        for match, similarity in zip(matches, similarities, strict=True)
        if similarity >= similarities[0] - ABOUT_AS_NEAR
    ]
    if suggested:
        return f"; did you mean {' or '.join(map(repr, suggested))}?"
    return ""


def is_or_are(count: int) -> str:
    """Return the verb for a number of things: `is` for 1, else `are`."""
    return "is" if count == 1 else "are"


def has_or_have(count: int) -> str:
    """Return the verb for a number of things: `has` for 1, else `have`."""
    return "has" if count == 1 else "have"


def guarded(text: str) -> str:
    """Return a text, prefixed with an apostrophe if a spreadsheet would read it as a formula; numbers are unchanged.

    Texts that look guarded already get another apostrophe, so that `unguarded` is the inverse.

    Examples:
        >>> [guarded(text) for text in ("=1+1", "-5", "'=1+1", "it's")]
        ["'=1+1", '-5', "''=1+1", "it's"]
    """
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def unguarded(cell: str) -> str:
    """Return the text of a cell written by `guarded`.

    Examples:
        >>> [unguarded(guarded(text)) for text in ("=1+1", "-5", "'=1+1", "it's")]
        ['=1+1', '-5', "'=1+1", "it's"]
    """
    if cell.startswith("'") and _FORMULA.match(cell):
        return cell[1:]
    return cell
