"""Fences around untrusted text: markers with a nonce derived from the enclosed text, with the text's own markers
defused.

A fenced block is::

    <<<RESPONSE 4f0c9a1be2d37785>>>
    text that a model or a data set wrote
    <<<END RESPONSE 4f0c9a1be2d37785>>>

A block's nonce is a hash of the prompt's name and version, of the block's input and of all inputs rendered before it.
So it is the same at every rendering (the ledger finds the call again), and prompts that differ only in a later input,
such as those of a judge about two responses to one sample, begin with the same bytes (servers cache such prefixes).

An author cannot escape the block, whatever other inputs the author knows (prompts, versions and hashes are public; a
candidate knows the question, and for a published data set the criteria as well):

- A run of three or more `<` inside a text is broken up by backslashes, reversibly, so that it contains no marker.
  Characters that look like `<` count too (full-width and other brackets; `«` and the like as two), and invisible
  characters are ignored.
- The author's own block: writing its closing marker into the text changes the marker. A text that contains its own
  nonce is a fixed point of a 64-bit hash.
- Later blocks: their nonces depend on the text, so that it cannot contain any of them, for the same reason.
- Earlier blocks: their nonces do not depend on the text, and are known to anyone who knows their inputs. Still no text
  contains one of them: if any input contains any nonce of the prompt, even in capitals or with other characters between
  its digits, every block uses one nonce instead, a hash of all the inputs, which no author can write. Such a prompt
  shares its prefix with no other, but this never happens by chance.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dokimasia.domain.identity import canonical_json

NONCE_LENGTH = 16
_SINGLE = "<\u02c2\u1438\u2039\u2329\u276e\u2770\u27e8\u29fc\u3008\ufe3f\ufe64\uff1c"
_DOUBLE = "\u00ab\u226a\u27ea\u300a\ufe3d"
_TRIPLE = "\u22d8"
"""A character that looks like three of them, and is always followed by a backslash."""
_UNSEEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2009-\u200f\u2028-\u202f"
    r"\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
"""Characters that are invisible, or nearly so: controls, joiners, marks of direction, the thinnest spaces."""
_SIGN, _GAP = f"[{_SINGLE}{_DOUBLE}]", rf"[\\{_UNSEEN}]*+"


def _runs(gap: str) -> re.Pattern[str]:
    """Return the pattern of three or more characters like `<` in a row, with such gaps between them."""
    wide = f"[{_DOUBLE}]"
    return re.compile(f"{_SIGN}(?:{gap}{_SIGN}){{2,}}|{wide}{gap}{_SIGN}|{_SIGN}{gap}{wide}")


_RUN, _ESCAPED_RUN = _runs(_GAP), _runs(rf"\\{_GAP}")
_PAIR = re.compile(f"({_SIGN})({_GAP})(?={_SIGN})")
_ESCAPED_PAIR = re.compile(rf"({_SIGN})\\({_GAP})(?={_SIGN})")
_OPENING = re.compile(r"<<<(?!END )([A-Z][A-Z0-9_ ]*) ([0-9a-f]{16})>>>\n")
_NO_DIGITS = bytes(set(range(128)) - set(b"0123456789abcdef"))
_NO_NUMERALS = bytes(set(range(128)) - set(b"0123456789"))


def escape(text: str) -> str:
    """Return the text with every run of three or more `<`, or of similar characters, broken up by backslashes.

    `unescape` is its exact inverse.
    """
    if _plain(text):
        return text
    return _RUN.sub(lambda run: _PAIR.sub(r"\1\\\2", run[0]), text.replace(_TRIPLE, f"{_TRIPLE}\\"))


def unescape(text: str) -> str:
    """Return the text that was passed to `escape`."""
    if _plain(text):
        return text
    return _ESCAPED_RUN.sub(lambda run: _ESCAPED_PAIR.sub(r"\1\2", run[0]), text).replace(f"{_TRIPLE}\\", _TRIPLE)


def _plain(text: str) -> bool:
    """Return whether a text clearly has no such run: all three characters in ASCII are `<`."""
    return text.isascii() and text.count("<") < 3


def nonces(prompt: str, version: int, inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the nonce of each input: a hash of the prompt's name and version, of the input and of all before it.

    If an input contains one of these nonces, all inputs have the same: a hash of all of them.

    Args:
        prompt: the prompt's name.
        version: its version.
        inputs: the shown inputs, in order.
    """
    chained: dict[str, str] = {}
    chain = hashlib.sha256(canonical_json(["fence", prompt, version]))
    for name, text in inputs.items():
        chain.update(canonical_json([name, text]))
        chained[name] = chain.hexdigest()[:NONCE_LENGTH]
    if not _hold(inputs.values(), chained.values()):
        return chained
    chain.update(b"all")
    return dict.fromkeys(inputs, chain.hexdigest()[:NONCE_LENGTH])


def repeats_marker(text: str, earlier: str) -> bool:
    """Return whether a text contains the nonce of a fenced block of an earlier text."""
    return _hold([text], (opening[2] for opening in _OPENING.finditer(earlier)))


def _hold(texts: Iterable[str], marks: Iterable[str]) -> bool:
    """Return whether any of the texts contains any of the nonces, with any characters but hexadecimal digits in
    between.
    """
    text = "".join(texts).encode("ascii", "ignore")
    numerals = text.translate(None, _NO_NUMERALS)
    likely = [mark.encode() for mark in marks if mark.encode().translate(None, _NO_NUMERALS) in numerals]
    if not likely:  # the usual case, decided faster: prose has few numerals
        return False
    digits = text.lower().translate(None, _NO_DIGITS)
    return any(mark in digits for mark in likely)


def fence(name: str, text: str, mark: str) -> str:
    """Return the text between its markers, which have the input's name in capitals, underscores as spaces."""
    label = name.upper().replace("_", " ")
    marker = f"{label} {mark}>>>"
    return f"<<<{marker}\n{escape(text)}\n<<<END {marker}"


class Piece(NamedTuple):
    """A part of a text: an unescaped fenced block by name and nonce, or, unnamed, the text between blocks."""

    text: str
    name: str = ""
    nonce: str = ""


def fenced_pieces(text: str) -> list[Piece]:
    """Return a text piece by piece. Text inside a block is never searched for markers."""
    pieces: list[Piece] = []
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        closing = f"\n<<<END {opening[1]} {opening[2]}>>>"
        end = text.find(closing, opening.end() - 1)
        if end < 0:
            break
        inside = unescape(text[opening.end() : max(end, opening.end())])
        pieces.append(Piece(text[position : opening.start()]))
        pieces.append(Piece(inside, opening[1].lower().replace(" ", "_"), opening[2]))
        position = end + len(closing)
    return [*pieces, Piece(text[position:])]


def read_fences(text: str, prompt: str, version: int) -> dict[str, str] | None:
    """Return the unescaped text of every fenced block by its name.

    None if the text has no block, an unclosed block, two with one name, or a nonce that does not match its block in a
    prompt of that name and version.
    """
    *blocks, rest = fenced_pieces(text)
    blocks = [piece for piece in blocks if piece.name]
    inputs = {block.name: block.text for block in blocks}
    if not blocks or len(inputs) < len(blocks) or _OPENING.search(rest.text):
        return None
    if {block.name: block.nonce for block in blocks} != nonces(prompt, version, inputs):
        return None
    return inputs
