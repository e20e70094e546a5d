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
_TAKEN_BACK = re.compile(
    r"\W{0,20}(?:no|wait|hold on|actually|correction|sorry|oops|scratch that|i mean|on second thoughts?|or rather)\b",
    re.IGNORECASE,
)
"""How a line begins that takes back what the line before says."""


def parse_final_answer(text: str) -> str | None:
    """Return the answer on the last line of the form `Final answer: ...`, or None if there is no such line.

    Bold type, headings and the number of a list (`3. Final answer: ...`) are ignored; if nothing follows the colon, the next
    line that is not blank is the answer. Nothing is guessed from a text without such a line, or from one that takes the
    answer back afterwards (`No, c`). Only the last 100,000 characters are read.
    """
    tail = text[-_TAIL:]
    last = None
    for match in _FINAL.finditer(tail):
        last = match
    if last is None:
        return None
    lines = [line for line in (last[1], *tail[last.end() :].split("\n")) if line.strip(_DECORATION)]
    if not lines or any(_TAKEN_BACK.match(line) for line in lines[1:]):
        return None
    return lines[0].strip(_DECORATION)


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
