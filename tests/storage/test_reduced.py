"""Images made smaller: each once for every side, in this process and in every later one."""

import asyncio
import hashlib
import io
from pathlib import Path

import pytest
from PIL import Image

from dokimasia.domain.sample import ImageRef
from dokimasia.errors import ToolFailure
from dokimasia.storage.content.reduced import ReducedImages, originals_of, reduced_from
from dokimasia.storage.home import Home
from dokimasia.storage.memory import MemoryBlobs
from dokimasia.tools.reducing import reduce_image


def png(width: int, height: int) -> tuple[ImageRef, bytes]:
    """A plain PNG of that size."""
    written = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(written, "PNG")
    data = written.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    return ImageRef(sha256=sha256, media_type="image/png", width=width, height=height), data


class Counting:
    """Makes images smaller and counts how often."""

    def __init__(self) -> None:
        """Begin at none."""
        self.made = 0

    def __call__(self, data: bytes, side: int) -> tuple[ImageRef, bytes]:
        """Make one."""
        self.made += 1
        return reduce_image(data, side)


async def test_an_image_is_made_smaller_once_for_every_side(tmp_path: Path) -> None:
    """Askers at once, later askers and later processes get the one that was made, which is recorded with its size."""
    large, data = png(400, 200)
    counting = Counting()
    for _ in range(2):
        with Home.open(tmp_path / "home", write=True) as home:
            home.blobs.put_image(data, large)
            reduce = ReducedImages(home.blobs, counting, home=home)
            first, *others = await asyncio.gather(*(reduce(large, 100) for _ in range(5)))
            assert set(others) == {first}
            assert (first.width, first.height, counting.made) == (100, 50, 1)
    with Home.open(tmp_path / "home", write=True) as home:
        second = await ReducedImages(home.blobs, counting, home=home)(large, 200)
        assert counting.made == 2
        rows = reduced_from(home, [large.sha256])
        assert [(row.side, row.sha256) for row in rows] == [(100, first.sha256), (200, second.sha256)]
        assert rows[0].bytes == len(home.blobs.get(first.sha256))
        assert originals_of(home, [first.sha256, large.sha256]) == {first.sha256: large.sha256}


async def test_a_lost_file_is_made_again(tmp_path: Path) -> None:
    """Where the file that was made is gone, it is made again from the original."""
    large, data = png(400, 200)
    with Home.open(tmp_path / "home", write=True) as home:
        home.blobs.put_image(data, large)
        made = await ReducedImages(home.blobs, reduce_image, home=home)(large, 100)
    (tmp_path / "home" / "blobs" / made.sha256[:2] / made.sha256).unlink()
    with Home.open(tmp_path / "home", write=True) as home:
        assert await ReducedImages(home.blobs, reduce_image, home=home)(large, 100) == made
        assert home.blobs.get(made.sha256)


async def test_a_failure_is_told_to_each_and_forgotten() -> None:
    """An image that cannot be read fails whoever asks, and is tried again the next time."""
    blobs = MemoryBlobs()
    bad = hashlib.sha256(b"bad").hexdigest()
    ref = ImageRef(sha256=bad, media_type="image/png", width=400, height=200)
    blobs.put_image(b"bad", ref)
    counting = Counting()
    reduce = ReducedImages(blobs, counting)
    for _ in range(2):
        with pytest.raises(ToolFailure):
            await reduce(ref, 100)
    assert counting.made == 2
