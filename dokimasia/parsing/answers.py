"""The final answer that a candidate states at the end of its text."""

import re

from dokimasia.errors import UnparsableReply

FINAL_FORM = """<what the answer rests on: what you see, and the steps from there, in a few sentences>
Final answer: <the answer itself, short>"""
"""The empty form of an answer whose prompt asks for a last line with the final answer."""

_FINAL = re.compile(
    r"^[ \t*_#>`\-]{0,20}(?:\(?[0-9]{1,2}[.):][ \t*_]{0,9})?"
    r"(?:the )?final answer(?: is)?[ \t*_]{0,9}:(.*)$",
    re.IGNORECASE | re.ASCII | re.MULTILINE,
)
_SPACE = (
    " \t\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u200b\u2060\ufeff"
)
_DECORATION = _SPACE + "*_#>`"
_TAIL = 100_000
_LINE = 1_000
"""The number of characters of a line that are searched for another answer."""
_TAKING_BACK = re.compile(
    r"\W{0,20}(?:(?P<weak>but|however|hmm{0,9}|hm)|(?P<firm>i mean|or rather|rather|correction|scratch that)|"
    r"(?P<actually>actually)|no|wait|hold on|sorry|oops|on second thoughts?)\b"
    r"(?P<stop>[ \t*_]{0,9}(?:[,:;!\u2013\u2014-]|\.{2,3}|\u2026|\.(?=\s+(?-i:[A-Z]))|\W{0,9}$))?",
    re.IGNORECASE,
)
"""The beginning of a line that may retract the previous line, and whether the word alone does so."""
_LETTER = r"(?<![\w'\u2019.])(?:[b-h]|\(a\)|(?-i:A)(?=\W{0,9}$))(?![\w'\u2019-]|\.\w)"
_OTHER_ANSWER = re.compile(rf"{_LETTER}|\b(?:is|was) (?:right|correct|better)\b", re.IGNORECASE)
_OTHER_STATED = re.compile(
    r"\b(?:it is|it['\u2019]s|it was|should be|must be|answer (?:is|was))\b|\A\W{0,9}[0-9]"
    r"|\b(?:is|are) [0-9][0-9.,]{0,20}\W{0,9}\Z",
    re.IGNORECASE,
)
_FEW_WORDS = 3
"""The number of words of a line that count as an answer after a retracting word."""


def parse_final_answer(text: str) -> str | None:
    """Return the answer on the last line of the form `Final answer: ...`, or None if there is no such line.

    Bold type, headings and the number of a list (`3. Final answer: ...`) are ignored; if nothing follows the colon, the
    next line that is not blank is the answer. Nothing is guessed from a text without such a line, or from one that
    later replaces the answer by another (`No, c`). Only the last 100,000 characters are read.
    """
    tail = text[-_TAIL:]
    last = None
    for match in _FINAL.finditer(tail):
        last = match
    if last is None:
        return None
    lines = [line for line in (last[1], *tail[last.end() :].split("\n")) if line.strip(_DECORATION)]
    if not lines or any(map(_takes_back, lines[1:])):
        return None
    return lines[0].strip(_DECORATION)


def _takes_back(line: str) -> bool:
    """Return whether a line after an answer retracts it: a word of doubt alone, or one with another answer."""
    opening = _TAKING_BACK.match(line)
    if opening is None:
        return False
    rest = line[opening.end() :][:_LINE]
    if _OTHER_ANSWER.search(rest):
        return True
    if opening["weak"]:
        return False
    words = len(rest.split())
    if opening["stop"] is None and not opening["firm"]:
        return _OTHER_STATED.match(rest.lstrip()) is not None or bool(opening["actually"] and words == 1)
    return words <= _FEW_WORDS or _OTHER_STATED.search(rest) is not None or _takes_back(rest)


def demand_final_answer(text: str) -> str:
    """Return the final answer of a reply whose prompt demands the line.

    Raises:
        UnparsableReply: the line is missing, empty, or still has the placeholder of the form.

    Examples:
        >>> demand_final_answer("The dog lies on the mat. Final answer: a dog")
        Traceback (most recent call last):
        ...
        dokimasia.errors.UnparsableReply: it has no last line of its own that begins with "Final answer:" and says the answer
    """
    stated = parse_final_answer(text)
    if not stated or stated == parse_final_answer(FINAL_FORM):
        raise UnparsableReply('it has no last line of its own that begins with "Final answer:" and says the answer')
    return stated
