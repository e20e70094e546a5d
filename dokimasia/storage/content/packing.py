"""Compression of long texts in the database; most bytes of a run are prompts."""

import zlib

SHORTEST = 256
"""The length of the shortest packed text, in characters."""

_LEVEL, _WINDOW, _MEMORY = 6, -12, 5
"""Settings of a raw stream with a window of 4 KiB. For prompts its output is as small as any, and it is four times as
fast as a stream with the usual window, whose tables take longer to build than a prompt takes to pack.
"""


def pack(text: str) -> str | bytes:
    """Return the stored form of a text: raw deflated UTF-8 as bytes, or the text itself if shorter."""
    if len(text) < SHORTEST:
        return text
    data = text.encode()
    stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY)
    packed = stream.compress(data) + stream.flush()
    if len(packed) < len(data):
        return packed
    return text


def packed(text: str | bytes) -> str | bytes:
    """Return the stored form of a text that may already be packed."""
    if isinstance(text, bytes):
        return text
    return pack(text)


def unpack(stored: object) -> str:
    """Return the text of a stored form.

    Raises:
        ValueError: the data is damaged, or was not made by `pack`.
    """
    if isinstance(stored, str):
        return stored
    if not isinstance(stored, bytes):
        raise ValueError("neither a text nor a packed one")
    try:
        return zlib.decompress(stored, wbits=_WINDOW).decode()
    except zlib.error as error:
        raise ValueError(f"a packed text that cannot be read ({error})") from None
