"""Packed bodies: several members, padding after them, damage."""

import gzip
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from dokimasia.gateway.connections import read_body


async def unpacked(body: bytes, piece: int = 10_000_000) -> bytes | None:
    """Return a gzip body as it is read when it comes in pieces."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), piece):
            yield body[start : start + piece]

    response: Any = SimpleNamespace(
        headers={"Content-Encoding": "gzip"}, content=SimpleNamespace(iter_any=pieces), close=lambda: None
    )
    return await read_body(response, 1000)


@pytest.mark.parametrize("piece", [1, 7, 10_000])
async def test_zeros_after_a_packed_reply_are_padding(piece: int) -> None:
    """Zeros between and after the members of a gzip body are passed over, however the body is cut into pieces."""
    packed = gzip.compress(b"one ") + bytes(5) + gzip.compress(b"two") + bytes(600)
    assert await unpacked(packed, piece) == b"one two"


@pytest.mark.parametrize(
    ("tail", "message"),
    [(b"junk", "damaged"), (b"\0\x1fX", "damaged"), (b"\x1f", "cut off"), (bytes(2**20 + 1), "damaged")],
)
async def test_other_bytes_after_a_packed_reply_are_damage(tail: bytes, message: str) -> None:
    """What is neither a further member nor a little padding is damage, and half the beginning of a member is a cut."""
    with pytest.raises(aiohttp.ClientPayloadError, match=message):
        await unpacked(gzip.compress(b"one") + tail)
