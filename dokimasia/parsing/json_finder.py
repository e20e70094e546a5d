"""Find JSON values in a model's text: bounded, strict about the values, lenient about the text around them."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pydantic import JsonValue

T = TypeVar("T")

MAX_SPAN = 40_000
MAX_STARTS = 30
MAX_DEPTH = 40

_START = re.compile(r"\[\s{0,200}[{\]]|\{\s{0,200}[\"}]")
_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
_TOKEN = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)
_STRING_OR_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[\]}}])", re.DOTALL)


def find_json(text: str, wanted: Callable[[Any], bool]) -> list[Any]:
    """Return the wanted JSON arrays and objects that a text contains, outermost first, in order.

    A value is read from its opening bracket to the closing one, whatever the text around it (prose, code fences). A comma
    before a closing bracket is dropped; nothing else is repaired. At most 30 positions are tried, each for at most 40,000
    characters and 40 levels.

    Args:
        text: a model's reply.
        wanted: returns whether a value is to be included.
    """
    return read_json(text, lambda value: value if wanted(value) else None)


def read_json(text: str, read: Callable[[JsonValue], T | None]) -> list[T]:
    """Return the results of a function on the arrays and objects found by `find_json`, without those that are None."""
    return read_json_and_rest(text, read)[0]


def read_json_and_rest(text: str, read: Callable[[JsonValue], T | None]) -> tuple[list[T], str]:
    """Return the values as `read_json`, and the text without the arrays and objects they are read from."""
    values: list[T] = []
    pieces: list[str] = []
    position = 0
    for json_value, start, end in _values(text):
        value = read(json_value)
        if value is not None:
            values.append(value)
            pieces.append(text[position:start])
            position = end
    return values, "\n".join([*pieces, text[position:]])


def with_json_replaced(text: str, replace: Callable[[JsonValue], JsonValue | None]) -> str:
    """Return a text with each value found by `find_json` replaced, unless the function returns None."""
    pieces: list[str] = []
    position = 0
    for value, start, end in _values(text):
        replaced = replace(value)
        if replaced is not None:
            pieces += [text[position:start], json.dumps(replaced)]
            position = end
    return "".join([*pieces, text[position:]])


def objects_of(value: JsonValue, *, named: str = "") -> list[dict[str, JsonValue]] | None:
    """Return the objects of an array, bare or in a field of an object; None if it is empty or has anything else."""
    array = value.get(named) if isinstance(value, dict) else value
    if not isinstance(array, list):
        return None
    objects = [row for row in array if isinstance(row, dict)]
    if objects and len(objects) == len(array):
        return objects
    return None


def _values(text: str) -> Iterator[tuple[JsonValue, int, int]]:
    position = 0
    for _ in range(MAX_STARTS):
        start = _START.search(text, position)
        if start is None:
            return
        position = start.start() + 1
        end = _closing(text, start.start())
        if end is None:
            continue
        span = text[start.start() : end]
        try:
            value = _load(span)
        except ValueError:
            continue
        yield value, start.start(), end
        position = end


def _closing(text: str, start: int) -> int | None:
    """Return the position after the bracket that closes the one at `start`, or None."""
    open_brackets: list[str] = []
    for token in _TOKEN.finditer(text, start, start + MAX_SPAN):
        sign = token[0]
        if sign in "[{":
            open_brackets.append("]" if sign == "[" else "}")
            if len(open_brackets) > MAX_DEPTH:
                return None
        elif sign in "]}":
            if open_brackets.pop() != sign:
                return None
            if not open_brackets:
                return token.end()
    return None


def _load(span: str) -> JsonValue:
    """Read strict JSON, if necessary again without trailing commas; line breaks inside strings are accepted."""
    try:
        return _DECODER.decode(span)
    except ValueError:
        return _DECODER.decode(_STRING_OR_COMMA.sub(lambda match: match[1] or "", span))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _no_duplicates(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field stands twice in one object")
    return fields


_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
