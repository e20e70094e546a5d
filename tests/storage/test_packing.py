"""How long texts lie in the database, and that all of them come back."""

import sqlite3
import zlib
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.domain.sample import Sample
from dokimasia.storage.content.packing import SHORTEST, pack, unpack
from dokimasia.storage.home import Home
from dokimasia.storage.runs import SqliteValueStore

PROSE = "The third shelf from the door holds what the question is about; count the cups that stand on it. " * 12


@given(st.text(max_size=3000) | st.text(max_size=40).map(lambda text: text * 50))
def test_every_text_comes_back(text: str) -> None:
    """What is packed and unpacked is the same text, whatever it holds, and never takes more bytes than it had."""
    packed = pack(text)
    assert unpack(packed) == text
    assert len(packed if isinstance(packed, bytes) else packed.encode()) <= len(text.encode())


def test_prose_is_packed_and_short_texts_stay_readable() -> None:
    """A prompt takes less than half its bytes; what is shorter than a few lines stays a text that anybody can read."""
    packed = pack(PROSE)
    assert isinstance(packed, bytes)
    assert len(packed) < len(PROSE) / 2
    assert pack("x" * (SHORTEST - 1)) == "x" * (SHORTEST - 1)


@pytest.mark.parametrize("stored", [b"", b"no stream", zlib.compress(b"with a header"), pack(PROSE)[:-9], 7, None])
def test_damage_is_told(stored: object) -> None:
    """Bytes that were never packed here, or not whole, raise and give no text."""
    with pytest.raises(ValueError, match="packed"):
        unpack(stored)


async def test_a_long_prompt_lies_packed_and_sql_can_read_it(home: Home) -> None:
    """The column holds packed bytes; `unpack` in a query, and the store, give the prompt."""
    sample = Sample(id="one", prompt=PROSE)
    id = await SqliteValueStore(home).put(sample)
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("SELECT typeof(prompt) FROM samples").fetchall() == [("blob",)]
    assert home.all("SELECT unpack(prompt) FROM samples") == [(PROSE,)]
    assert await SqliteValueStore(home).get(Sample, id) == sample


async def test_texts_of_earlier_homes_are_read_as_they_lie(home: Home) -> None:
    """A prompt that was written before prompts were packed reads the same."""
    sample = Sample(id="one", prompt=PROSE)
    id = await SqliteValueStore(home).put(sample)
    with closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute("UPDATE samples SET prompt = ?", (PROSE,))
    assert await SqliteValueStore(home).get(Sample, id) == sample
