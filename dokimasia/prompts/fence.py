"""Fences around untrusted text: markers with a nonce drawn from what they enclose, and the text's own markers blunted.

A fenced block is::

    <<<RESPONSE 4f0c9a1be2d37785>>>
    text that a model or a data set wrote
    <<<END RESPONSE 4f0c9a1be2d37785>>>

The nonce is a hash of all the rendered inputs, so it is the same at every rendering (the ledger finds the call again)
and whoever wrote one input cannot put the closing marker into it: writing it changes it. Beside that, a run of three or
more `<` inside the text is broken up by backslashes, reversibly, so that no marker at all stands in it.
"""

import re
from collections.abc import Mapping

from dokimasia.domain.identity import digest

NONCE_LENGTH = 16
_RUN = re.compile(r"<(?:\\*<){2,}")
_ESCAPED_RUN = re.compile(r"<(?:\\+<){2,}")
_PAIR = re.compile(r"<(\\*)(?=<)")
_ESCAPED_PAIR = re.compile(r"<\\(\\*)(?=<)")
_OPENING = re.compile(r"<<<(?!END )([A-Z][A-Z0-9_ ]*) ([0-9a-f]{16})>>>\n")


def escape(text: str) -> str:
    """Return the text with every run of three or more `<` broken up by backslashes; `unescape` takes it back exactly."""
    return _RUN.sub(lambda run: _PAIR.sub(r"<\\\1", run[0]), text)


def unescape(text: str) -> str:
    """Return the text that `escape` was given."""
    return _ESCAPED_RUN.sub(lambda run: _ESCAPED_PAIR.sub(r"<\1", run[0]), text)


def nonce(prompt: str, version: int, inputs: Mapping[str, str]) -> str:
    """Return the fence's nonce: a hash of the prompt's name and version and of all its inputs."""
    return digest("fence", [prompt, version, dict(inputs)])[:NONCE_LENGTH]


def label(name: str) -> str:
    """Return the marker's label of an input: its name in capitals, underscores as spaces."""
    return name.upper().replace("_", " ")


def fence(name: str, text: str, mark: str) -> str:
    """Return the text between its markers."""
    return f"<<<{label(name)} {mark}>>>\n{escape(text)}\n<<<END {label(name)} {mark}>>>"


def read_fences(text: str) -> tuple[str, dict[str, str]] | None:
    """Return the nonce and the unescaped text of every fenced block, or None where the text holds no well-formed block.

    Blocks are read in order; what stands between markers is never searched for markers.
    """
    found: dict[str, str] = {}
    mark: str | None = None
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        name, this = opening[1], opening[2]
        if mark is not None and this != mark:
            return None
        mark = this
        end = text.find(f"\n<<<END {name} {this}>>>", opening.end() - 1)
        if end < 0:
            return None
        found[name.lower().replace(" ", "_")] = unescape(text[opening.end() : max(end, opening.end())])
        position = end + 1
    return None if mark is None else (mark, found)
