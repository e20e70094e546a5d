"""Fences around untrusted text: markers with a nonce drawn from what they enclose, and the text's own markers blunted.

A fenced block is::

    <<<RESPONSE 4f0c9a1be2d37785>>>
    text that a model or a data set wrote
    <<<END RESPONSE 4f0c9a1be2d37785>>>

The nonce is a hash of all the rendered inputs, so it is the same at every rendering (the ledger finds the call again)
and whoever wrote one input cannot put the closing marker into it: writing it changes it. Beside that, a run of three or
more `<` inside the text is broken up by backslashes, reversibly, so that no marker at all stands in it. Signs that look like
`<` count as one (full-width and other brackets; `\u00ab` and the like as two), and signs that do not show are seen through.
"""

import re
from collections.abc import Mapping

from dokimasia.domain.identity import digest

NONCE_LENGTH = 16
_SINGLE = "<\u02c2\u1438\u2039\u2329\u276e\u2770\u27e8\u29fc\u3008\ufe3f\ufe64\uff1c"
_DOUBLE = "\u00ab\u226a\u27ea\u300a\ufe3d"
_TRIPLE = "\u22d8"
"""Looks like three of them, and is always followed by a backslash."""
_UNSEEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2009-\u200f\u2028-\u202f"
    r"\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
"""Signs that do not show, or hardly: controls, joiners, marks of direction, the thinnest spaces."""
_SIGN, _GAP = f"[{_SINGLE}{_DOUBLE}]", rf"[\\{_UNSEEN}]*+"


def _runs(gap: str) -> re.Pattern[str]:
    """Find what looks like three or more `<` in a row, with such gaps between its signs."""
    wide = f"[{_DOUBLE}]"
    return re.compile(f"{_SIGN}(?:{gap}{_SIGN}){{2,}}|{wide}{gap}{_SIGN}|{_SIGN}{gap}{wide}")


_RUN, _ESCAPED_RUN = _runs(_GAP), _runs(rf"\\{_GAP}")
_PAIR = re.compile(f"({_SIGN})({_GAP})(?={_SIGN})")
_ESCAPED_PAIR = re.compile(rf"({_SIGN})\\({_GAP})(?={_SIGN})")
_OPENING = re.compile(r"<<<(?!END )([A-Z][A-Z0-9_ ]*) ([0-9a-f]{16})>>>\n")


def escape(text: str) -> str:
    """Return the text with every run of three or more `<`, or of signs like it, broken up by backslashes.

    `unescape` takes it back exactly.
    """
    if _plain(text):
        return text
    return _RUN.sub(lambda run: _PAIR.sub(r"\1\\\2", run[0]), text.replace(_TRIPLE, f"{_TRIPLE}\\"))


def unescape(text: str) -> str:
    """Return the text that `escape` was given."""
    if _plain(text):
        return text
    return _ESCAPED_RUN.sub(lambda run: _ESCAPED_PAIR.sub(r"\1\2", run[0]), text).replace(f"{_TRIPLE}\\", _TRIPLE)


def _plain(text: str) -> bool:
    """Whether a text is seen at once to have no such run: three signs of ASCII are `<` each."""
    return text.isascii() and text.count("<") < 3


def nonce(prompt: str, version: int, inputs: Mapping[str, str]) -> str:
    """Return the fence's nonce: a hash of the prompt's name and version and of all its inputs."""
    return digest("fence", [prompt, version, dict(inputs)])[:NONCE_LENGTH]


def label(name: str) -> str:
    """Return the marker's label of an input: its name in capitals, underscores as spaces."""
    return name.upper().replace("_", " ")


def fence(name: str, text: str, mark: str) -> str:
    """Return the text between its markers."""
    return f"<<<{label(name)} {mark}>>>\n{escape(text)}\n<<<END {label(name)} {mark}>>>"


def fenced_pieces(text: str) -> list[tuple[str, str]]:
    """Return a text piece by piece: the name of each fenced block with its unescaped text, and what stands between, unnamed."""
    pieces: list[tuple[str, str]] = []
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        closing = f"\n<<<END {opening[1]} {opening[2]}>>>"
        end = text.find(closing, opening.end() - 1)
        if end < 0:
            break
        pieces.append(("", text[position : opening.start()]))
        pieces.append((opening[1].lower().replace(" ", "_"), unescape(text[opening.end() : max(end, opening.end())])))
        position = end + len(closing)
    return [*pieces, ("", text[position:])]


def read_fences(text: str) -> tuple[str, dict[str, str]] | None:
    """Return the nonce and the unescaped text of every fenced block, or None where the text holds no well-formed block.

    Blocks are read in order; what stands between markers is never searched for markers.
    """
    inputs: dict[str, str] = {}
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
        inputs[name.lower().replace(" ", "_")] = unescape(text[opening.end() : max(end, opening.end())])
        position = end + 1
    return None if mark is None else (mark, inputs)
