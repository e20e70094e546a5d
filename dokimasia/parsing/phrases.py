"""Phrases that a judge copies out of an answer: found where they stand, so that what is kept is the answer's own words."""

import re

MISQUOTED = "the phrase"
"""How the reason begins that is given for a phrase which does not stand in the answer."""

MOST_QUOTED = 600
"""Characters of a phrase; a longer one is none."""

_PIECE = re.compile(r"[^\s*`]+")
_BETWEEN = r"[\s*`]+"
_SAME = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2212": "-"}
)
_MARKS = "\"'\u201c\u201d\u2018\u2019\u00ab\u00bb"
_QUOTED = re.compile(rf"[{_MARKS}](?P<quote>.{{1,{MOST_QUOTED}}})[{_MARKS}]\s{{0,4}}\|\s{{0,4}}(?P<behind>.*)")


def passage(quote: str, text: str) -> str | None:
    """Return the words of a text that a phrase was copied from, on one line; None where it does not stand there.

    White space, emphasis, case, and the forms of quotation marks and dashes are overlooked, and so is punctuation that only
    ends the phrase. What is returned is the text's own.
    """
    for wanted in (quote, quote.rstrip(" .,;:!?")):
        pieces = _PIECE.findall(wanted.translate(_SAME))
        if not pieces or len(wanted) > MOST_QUOTED:
            return None
        pattern = _BETWEEN.join(map(re.escape, pieces))
        found = re.search(rf"(?<!\w){pattern}(?!\w)", text.translate(_SAME), re.IGNORECASE)
        if found is not None:
            return " ".join(text[found.start() : found.end()].split())
    return None


def unquoted(rest: str) -> tuple[str, str, str]:
    """Return a phrase without its quotation marks, the bar, and what stands behind it; a phrase may hold bars itself."""
    quoted = _QUOTED.match(rest.strip())
    if quoted is not None:
        return quoted["quote"].strip(), "|", quoted["behind"].strip()
    if rest.strip()[:1] in tuple(_MARKS) and rest.strip()[-1:] in tuple(_MARKS):
        return rest.strip()[1:-1].strip(), "", ""
    phrase, bar, behind = rest.rpartition("|")
    return (phrase.strip(), bar, behind.strip()) if bar else (rest.strip(), "", "")


def without_quote(rest: str) -> str:
    """Return what stands behind an empty phrase, such as `"" | note` or `- | note`; the whole where there is none."""
    before, bar, behind = rest.partition("|")
    return behind if bar and not before.strip().strip(f"{_MARKS}-") else rest
