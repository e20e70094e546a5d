"""Example replies of prompts, and recognition of replies that copy them or leave a form's placeholders."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar, cast

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.reply import short

T = TypeVar("T")

FEWEST_WORDS = 3
"""The minimum number of words for an example text that no reply on another subject has by chance."""

_PLACEHOLDER = re.compile(r"\s*<[^<>]*>\s*")


def is_placeholder(text: str) -> bool:
    """Return whether a text is only a placeholder in angle brackets."""
    return _PLACEHOLDER.fullmatch(text) is not None


class FormExample:
    """An example reply in a prompt, on a subject of its own.

    Args:
        text: the example as in the prompt: a JSON value on each line, or lines with bars between their parts.

    Examples:
        >>> example = FormExample('{"none": "The answer tells of no steps."}')
        >>> example.holds("the answer tells of no  steps."), example.holds("There are no steps.")
        (True, False)
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._texts = frozenset(
            map(_key, (piece for line in text.splitlines() for piece in _pieces(line) if _is_telling(piece)))
        )

    def holds(self, text: str) -> bool:
        """Return whether a text is one of the example's texts, in any case and spacing."""
        return bool(self._texts) and _key(text) in self._texts

    def refuse(self, text: str, what: str) -> None:
        """Refuse a text that is copied from the example.

        Args:
            text: a text of the reply.
            what: how the reason names it.

        Raises:
            UnparsableReply: the text is the example's.
        """
        if self.holds(text):
            raise UnparsableReply(f"{what} is that of the example, which is about another matter: {short(text)}")

    def unfilled(self, value: object) -> bool:
        """Return whether a field is empty, a placeholder, or copied from the example."""
        if isinstance(value, str):
            return not value.strip() or is_placeholder(value) or self.holds(value)
        if isinstance(value, Mapping):
            return all(map(self.unfilled, cast("Mapping[str, object]", value).values()))
        if isinstance(value, Sequence):
            return all(map(self.unfilled, cast("Sequence[object]", value)))
        return value is None

    def chosen(self, rows: Sequence[dict[str, T]], alternatives: Sequence[str]) -> list[dict[str, T]]:
        """Return objects without unfilled alternatives, if another alternative is filled in.

        If no alternative is filled in, the objects are returned unchanged, so that their faults can be named.
        """
        filled = [
            {name: value for name, value in row.items() if name not in alternatives or not self.unfilled(value)}
            for row in rows
        ]
        return [row for row in filled if any(name in row for name in alternatives)] or list(rows)


def _pieces(line: str) -> Iterator[str]:
    """Yield the texts of a line: the strings of a JSON value, or the parts between bars."""
    if line.startswith(("[", "{")):
        yield from _texts(json.loads(line))
    else:
        yield from (piece.strip().strip('"') for piece in line.split("|"))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in cast("dict[str, object]", value).values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _texts(inner)


def _is_telling(text: str) -> bool:
    return len(text.split()) >= FEWEST_WORDS


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()
