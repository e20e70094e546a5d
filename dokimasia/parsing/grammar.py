"""The notation of patterns for lines, verdicts and tags in replies."""

import re
from functools import cache

GAP = r"\s{0,4}"
ROOM = r"\s{0,9}"


def form(pattern: str, flag: re.RegexFlag = re.ASCII) -> re.Pattern[str]:
    """Return a regular expression, ignoring case, in which `~` is a gap of up to four white-space characters.

    Examples:
        >>> form("(same|vague)~[:=]~([0-9])").fullmatch("Same:  3").groups()
        ('Same', '3')
    """
    return re.compile(pattern.replace("~", GAP), re.IGNORECASE | flag)


def double(inner: str) -> str:
    """Return the pattern of a verdict in double brackets."""
    return rf"\[\[{ROOM}{inner}{ROOM}\]\]"


@cache
def choice(*words: str) -> re.Pattern[str]:
    """Return the regular expression of a verdict that is one of some words, such as `[[same]]`."""
    return form(double(f"({'|'.join(words)})"))


@cache
def tag(name: str) -> re.Pattern[str]:
    """Return the regular expression of a tag by the pattern of its name, such as `<rewrite>`."""
    return form(f"<{ROOM}{name}{ROOM}>")
