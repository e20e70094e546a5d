"""The whole replies that prompts show as examples: their words are nobody's reply, and neither are a form's placeholders."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.reply import short

FEWEST_WORDS = 3
"""Words of an example that no reply on another matter has by chance."""

_PLACEHOLDER = re.compile(r"\s*<[^<>]*>\s*")


def is_placeholder(text: str) -> bool:
    """Return whether a text is nothing but what a form has in angle brackets."""
    return _PLACEHOLDER.fullmatch(text) is not None


class FormExample:
    """A reply as a prompt shows it, on a matter of its own.

    Args:
        text: the example as it stands in the prompt: JSON objects a line, or lines with bars between their parts.

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
        """Return whether a text is one of the example's, in any case and spacing."""
        return bool(self._texts) and _key(text) in self._texts

    def refuse(self, text: str, what: str) -> None:
        """Refuse a text that is the example's own.

        Args:
            text: what stands in the reply.
            what: how the reason names it.

        Raises:
            UnparsableReply: the text is the example's.
        """
        if self.holds(text):
            raise UnparsableReply(f"{what} is that of the example, which is about another matter: {short(text)}")

    def unfilled(self, value: object) -> bool:
        """Return whether a field is empty, a placeholder of a form, or left as it stands in the example."""
        if isinstance(value, str):
            return not value.strip() or is_placeholder(value) or self.holds(value)
        if isinstance(value, Mapping):
            return all(map(self.unfilled, cast("Mapping[str, object]", value).values()))
        if isinstance(value, Sequence):
            return all(map(self.unfilled, cast("Sequence[object]", value)))
        return value is None

    def chosen(self, rows: Sequence[dict[str, object]], alternatives: Sequence[str]) -> list[dict[str, object]]:
        """Return objects without the alternatives that are left unfilled beside one that is filled in.

        Where none of the alternatives is filled in, all come back as they are, for their faults to be named.
        """
        filled = [
            {name: value for name, value in row.items() if name not in alternatives or not self.unfilled(value)}
            for row in rows
        ]
        return [row for row in filled if any(name in row for name in alternatives)] or list(rows)


def _pieces(line: str) -> Iterator[str]:
    """Yield the texts of a line: those of a JSON value, or what stands between bars."""
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
