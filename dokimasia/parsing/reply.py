"""The basis of all parsers: size limits, removal of a leading block of thought, and reasons."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import ParamSpec, TypeVar

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import form

P = ParamSpec("P")
T = TypeVar("T")

MAX_CHARACTERS = 16_000_000
"""The maximum number of characters of a reply; a longer one is refused unread."""

MAX_MATCHES = 1_000
"""The maximum number of matches of one pattern in a reply; a reply with more is refused."""

MAX_LINE = 20_000
"""The number of characters of a line that are read."""

NAMED = 10
"""The maximum number of things of one kind that a reason names."""

DECORATION = str.maketrans("", "", "*`\u200b\ufeff")
"""The translation that removes marks of emphasis and code, and invisible characters."""

_THINKING = form(r"\s*<(think|thinking)>")


def spoken(text: str) -> str:
    """Return the reply without a block of thought at its very beginning (`<think>...</think>`).

    Some servers return a reasoning model's thoughts in the text; a verdict considered there is not the reply's.

    Raises:
        UnparsableReply: the text is too long, is not valid Unicode, or contains only thought.
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
    """Return whether a text can be encoded as UTF-8: it has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def field_text(value: object, field: str, whose: str) -> str:
    """Return a field's text; `whose` names its object in the reason.

    Raises:
        UnparsableReply: it is missing, blank, not a text, or not valid Unicode.
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
    results = list(islice(pattern.finditer(text), MAX_MATCHES + 1))
    if len(results) > MAX_MATCHES:
        raise UnparsableReply(f"the reply states the same thing more than {MAX_MATCHES} times")
    return results


def lines_with(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield the lines that match a pattern, in order and at most a thousand; overlong lines are cut.

    Raises:
        UnparsableReply: there are more.
    """
    position = 0
    for _ in range(MAX_MATCHES):
        match = pattern.search(text, position)
        if match is None:
            return
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        yield text[start : min(end, start + MAX_LINE)]
        position = end
    if pattern.search(text, position):
        raise UnparsableReply(f"more than {MAX_MATCHES} lines of the reply could be meant")


def tried(faults: list[str], read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Return the result of a reader, or None after adding its reason to `faults`, so that all faults are named at once."""
    try:
        return read(*args, **kwargs)
    except UnparsableReply as fault:
        faults.append(fault.reason)
        return None


def refuse(faults: Iterable[str]) -> None:
    """Raise for a reply with faults, naming the first ten; do nothing without faults.

    Raises:
        UnparsableReply: there are faults.
    """
    reasons = list(faults)[:NAMED]
    if reasons:
        raise UnparsableReply("; ".join(reasons))


def listed(numbers: Iterable[int]) -> str:
    """Return numbers in order, separated by commas, at most the first ten."""
    ordered = sorted(numbers)
    return ", ".join(map(str, ordered[:NAMED])) + (", ..." if len(ordered) > NAMED else "")


def path_key(path: str) -> str:
    """Return the key for comparing a path `<A><B>`: case folded, with single spaces in its parts."""
    parts: list[str] = re.findall(r"<([^<>\n]{1,200})>", path)
    return "".join(f"<{' '.join(part.split()).casefold()}>" for part in parts)


def short(text: str, limit: int = 40) -> str:
    """Return the beginning of a text on one line, at most `limit` characters, for a reason that quotes it."""
    line = " ".join(text[: limit * 4].split())
    if len(line) <= limit:
        return line
    return line[: limit - 1] + "\u2026"
