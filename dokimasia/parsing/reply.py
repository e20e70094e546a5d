"""What every parser does first: bound the text and leave out what the model only thought aloud."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import ParamSpec, TypeVar

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import form

P = ParamSpec("P")
T = TypeVar("T")

MAX_CHARACTERS = 16_000_000
"""No reply that means something is longer; a longer one is refused unread."""

MAX_MATCHES = 1_000
"""No reply states one thing more often; one that does is refused."""

MAX_LINE = 20_000
"""Characters of a line that is read."""

NAMED = 10
"""Things of one kind that a reason names."""

DECORATION = str.maketrans("", "", "*`\u200b\ufeff")
"""What emphasis and code add to a line, and signs that do not show, to be taken out of it."""

_THINKING = form(r"\s*<(think|thinking)>")


def spoken(text: str) -> str:
    """Return the reply without a block of thought at its very beginning (`<think>...</think>`).

    Some servers deliver a reasoning model's thoughts in the text itself; a verdict that was only weighed there is none.

    Raises:
        UnparsableReply: the text is too long, is no valid Unicode, or is all thought.
    """
    if len(text) > MAX_CHARACTERS:
        raise UnparsableReply(f"the reply has {len(text)} characters, more than the {MAX_CHARACTERS} that are read")
    if not is_unicode(text):
        raise UnparsableReply("the reply holds half a character (a lone surrogate)")
    opening = _THINKING.match(text)
    if opening is None:
        return text
    closing = form(rf"</{opening[1]}>").search(text, opening.end())
    if closing is None:
        raise UnparsableReply("the reply ends before its thinking does: it says nothing after <think>")
    return text[closing.end() :]


def is_unicode(text: str) -> bool:
    """Return whether a text can be stored: it holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def field_text(value: object, field: str, whose: str) -> str:
    """Return a field's text, which there is and which can be stored; `whose` it is stands in the reason, if it is not.

    Raises:
        UnparsableReply: it is missing, blank, no text, or no valid Unicode.
    """
    if not isinstance(value, str) or not value.strip():
        raise UnparsableReply(f"{whose}: the field '{field}' is missing, empty, or no text")
    if not is_unicode(value):
        raise UnparsableReply(f"{whose}: the field '{field}' holds half a character (a lone surrogate)")
    return value


def matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return all matches of a pattern.

    Raises:
        UnparsableReply: there are more than a thousand.
    """
    found = list(islice(pattern.finditer(text), MAX_MATCHES + 1))
    if len(found) > MAX_MATCHES:
        raise UnparsableReply(f"the reply states the same thing more than {MAX_MATCHES} times")
    return found


def lines_with(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield the lines in which a pattern is found, in order and at most a thousand; an overlong line is cut.

    Raises:
        UnparsableReply: there are more.
    """
    at = 0
    for _ in range(MAX_MATCHES):
        match = pattern.search(text, at)
        if match is None:
            return
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        yield text[start : min(end, start + MAX_LINE)]
        at = end
    if pattern.search(text, at):
        raise UnparsableReply(f"more than {MAX_MATCHES} lines of the reply could be meant")


def tried(faults: list[str], read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Return what a reader reads, or None with its reason added to the faults, so that all faults are named at once."""
    try:
        return read(*args, **kwargs)
    except UnparsableReply as fault:
        faults.append(fault.reason)
        return None


def refuse(faults: Iterable[str]) -> None:
    """Refuse a reply for what is wrong with it, of which the first ten are named; let one without faults pass.

    Raises:
        UnparsableReply: there are faults.
    """
    named = list(faults)[:NAMED]
    if named:
        raise UnparsableReply("; ".join(named))


def listed(numbers: Iterable[int]) -> str:
    """Return numbers in order for a reason that names them, the first ten of many."""
    shown = sorted(numbers)
    return ", ".join(map(str, shown[:NAMED])) + (", ..." if len(shown) > NAMED else "")


def path_key(path: str) -> str:
    """Return a path `<A><B>` in the one spelling that it is compared by: case folded, single spaces in its parts."""
    parts: list[str] = re.findall(r"<([^<>\n]{1,200})>", path)
    return "".join(f"<{' '.join(part.split()).casefold()}>" for part in parts)


def short(text: str, limit: int = 40) -> str:
    """Return a few characters of a text on one line, for a reason that quotes it."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1] + "\u2026"
