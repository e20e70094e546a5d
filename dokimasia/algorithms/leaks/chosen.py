"""Whether a text tells which choice is right by its letter or its place in the list, without a word of the choice itself."""

import re
from collections.abc import Iterator

from dokimasia.algorithms.leaks.forms import denied
from dokimasia.algorithms.leaks.numbers import ordinal
from dokimasia.algorithms.leaks.secrets import Secrets

_COUNT = r"one|two|three|four|five|six|[1-6]"
_RANK = r"first|second|third|fourth|fifth|sixth|last|final|1st|2nd|3rd|4th|5th|6th"
_LISTED = r"mentioned|listed|named|offered|given|printed|written|suggested"
_COUNTED = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}

_LETTER = re.compile(
    r"(?i:\b(?:it(?:['\u2019]s|\s+is|\s+was)|that(?:['\u2019]s|\s+is)|answer\s+(?:is|must\s+be)|must\s+be|should\s+be|be)\s+)([A-H])(?=[,.;!]|$)"
    r"|(?i:\b(?:option|choice|answer|letter)\s+[\"'(\u201c\u2018]?([a-h])[)\"'\u201d\u2019])"
)
_PLACE = re.compile(
    rf"(?i)\b(?:number|no\.|item|entry|line)\s+({_COUNT})\b|#\s?([1-6])\b|\b(?:option|choice)\s+({_COUNT})\b"
    rf"|\b(?:{_LISTED})\s+(?:at\s+the\s+(?:very\s+)?)?({_RANK}|end)\b"
    rf"|\b({_RANK})\s+(?:place|position|spot|row)\b|\b({_RANK})\s+(?:one\s+)?(?:{_LISTED})\b"
)
_PICKS = re.compile(
    r"(?i)\b(?:list\w*|options?|choices?|choose|chosen|pick\w*|tick\w*|box|mark\s+(?:the|it)|settle|answers?|"
    rf"{_LISTED})\b"
)
"""Words of choosing: without one, a number or a place may be that of anything in the picture."""


def tells_place(text: str, secrets: Secrets) -> bool:
    """Return whether a text names the letter or the place of the right choice, and of no other, as the one to choose.

    Of places only those count that stand in a sentence about choosing. What the question itself speaks of by letters is
    left to other rules.

    Examples
    --------
    >>> from dokimasia.algorithms.leaks.secrets import secrets_of
    >>> secrets = secrets_of("Which is it?", ["red", "green", "blue"], (), "green", 1)
    >>> tells_place("It's B, no doubt.", secrets), tells_place("Tick the box in second place.", secrets)
    (True, True)
    >>> tells_place("Look at the second row of windows.", secrets), tells_place("It is A or B.", secrets)
    (False, False)
    """
    if secrets.right is None or len(secrets.choices) < 2:
        return False
    told = {
        place % len(secrets.choices)
        for start, end, place in _places(text)
        if place < len(secrets.choices) and not denied(text, start, end)
    }
    return told == {secrets.right}


def _places(text: str) -> Iterator[tuple[int, int, int]]:
    for match in _LETTER.finditer(text):
        yield match.start(), match.end(), ord((match[1] or match[2]).upper()) - ord("A")
    for match in _PLACE.finditer(text):
        if _PICKS.search(_sentence(text, match.start())):
            said = next(part for part in match.groups() if part).casefold()
            if said in ("last", "final", "end"):
                yield match.start(), match.end(), -1
                continue
            number = _COUNTED.get(said) or (int(said[0]) if said[0].isdigit() else ordinal(said))
            if number:
                yield match.start(), match.end(), number - 1


def _sentence(text: str, at: int) -> str:
    start = max(text.rfind(mark, 0, at) for mark in ".!?\n") + 1
    ends = [place for mark in ".!?\n" if (place := text.find(mark, at)) >= 0]
    return text[start : min(ends, default=len(text))]
