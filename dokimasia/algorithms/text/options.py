"""The options of a question that its own text lists by letter."""

import re
from collections.abc import Sequence
from functools import lru_cache

_LINE = re.compile(
    r"^[ \t]{0,20}(?:\*\*)?[(\[]?([A-Z])(?:[)\].:]|[)\]][.:])(?:\*\*)?[ \t]{1,9}(\S.{0,500})$", re.MULTILINE
)
_BRACKETED = re.compile(
    r"(?<![^\s,;])\(([A-Z])\)\s{0,4}([^()\n]{1,200}?)(?=[\s,;]{1,4}(?:or |and )?\([A-Z]\)|[\s.;]{0,9}$)"
)
_DOTTED = re.compile(r"(?<![^\s,;])([A-Z])[.):]\s{1,4}([^\n]{1,200}?)(?=[\s,;]{1,4}[B-Z][.):]\s|[\s.;]{0,9}$)")
_OPENS = re.compile(r"[?:.\n]\s{0,9}\Z")
_LONGEST = 20_000
"""Number of characters to read from the end of a question."""


@lru_cache(maxsize=256)
def options_in(question: str) -> tuple[str, ...]:
    """Return the texts of the options that a question lists under the letters A, B, ..., in order; empty without such a list.

    Options are each on a separate line, or one after another at the end of a line, after a question mark or a colon.
    The letters run from A without a gap, no text occurs twice or is a question, and nothing else in the question is
    lettered in the same way; otherwise it is not a list.

    Examples
    --------
    >>> options_in("Which colour has the bus?\\nA. red\\nB. dark blue")
    ('red', 'dark blue')
    >>> options_in("Which colour has the bus? (A) red, (B) dark blue")
    ('red', 'dark blue')
    >>> options_in("Who is J. B. Bach?"), options_in("A. What is it?")
    ((), ())
    """
    tail = question[-_LONGEST:]
    for pattern in (_LINE, _BRACKETED, _DOTTED):
        labelled = [(match[1], match[2].strip(" \t\r*,;")) for match in pattern.finditer(tail)]
        texts = tuple(text for _, text in labelled)
        if len(labelled) < 2 or not _in_order([letter for letter, _ in labelled]):
            continue
        first = next(pattern.finditer(tail)).start()
        if all(text and "?" not in text for text in texts) and (pattern is _LINE or _OPENS.search(tail[:first])):
            folded = {" ".join(text.casefold().split()).rstrip(".") for text in texts}
            if len(folded) == len(texts):
                return tuple(text.rstrip(".") or text for text in texts)
            return ()
    return ()


def _in_order(letters: Sequence[str]) -> bool:
    return all(ord(letter) == ord("A") + at for at, letter in enumerate(letters))
