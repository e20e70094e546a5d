"""Phrases that a judge copies from an answer, located there so that the answer's own words are stored."""

import re

MISQUOTED = "the phrase"
"""The beginning of the reason for a phrase that is not in the answer."""

MOST_QUOTED = 600
"""The maximum number of characters of a phrase; a longer one is ignored."""

_PIECE = re.compile(r"[^\s*`]+")
_BETWEEN = r"[\s*`]+"
_SAME = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2212": "-"}
)
_MARKS = "\"'\u201c\u201d\u2018\u2019\u00ab\u00bb"
_QUOTED = re.compile(rf"[{_MARKS}](?P<quote>.{{1,{MOST_QUOTED}}})[{_MARKS}]\s{{0,4}}\|\s{{0,4}}(?P<behind>.*)")


def passage(quote: str, text: str) -> str | None:
    """Return the words of a text that a phrase was copied from, on one line; None if the phrase is not in the text.

    White space, emphasis, case, the forms of quotation marks and dashes, and punctuation at the end of the phrase are
    ignored. The result is in the text's own spelling.
    """
    for wanted in (quote, quote.rstrip(" .,;:!?")):
        pieces = _PIECE.findall(wanted.translate(_SAME))
        if not pieces or len(wanted) > MOST_QUOTED:
            return None
        pattern = _BETWEEN.join(map(re.escape, pieces))
        match = re.search(rf"(?<!\w){pattern}(?!\w)", text.translate(_SAME), re.IGNORECASE)
        if match is not None:
            return " ".join(text[match.start() : match.end()].split())
    return None


def unquoted(rest: str) -> tuple[str, str, str]:
    """Return a phrase without its quotation marks, the bar, and the text after it; a phrase may contain bars."""
    quoted = _QUOTED.match(rest.strip())
    if quoted is not None:
        return quoted["quote"].strip(), "|", quoted["behind"].strip()
    if rest.strip()[:1] in tuple(_MARKS) and rest.strip()[-1:] in tuple(_MARKS):
        return rest.strip()[1:-1].strip(), "", ""
    phrase, bar, tail = rest.rpartition("|")
    if bar:
        return (phrase.strip(), bar, tail.strip())
    return (rest.strip(), "", "")


def without_quote(rest: str) -> str:
    """Return the text after an empty phrase, as in `"" | note` or `- | note`; the whole text if there is none."""
    before, bar, tail = rest.partition("|")
    if bar and not before.strip().strip(f"{_MARKS}-"):
        return tail
    return rest
