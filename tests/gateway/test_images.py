"""Encoded images: read once, bounded, and shared by those who want one at the same moment."""

import asyncio
import threading
from typing import Any

import pytest

from dokimasia.errors import StorageError
from dokimasia.gateway.images import EncodedImages, data_uri


async def test_oldest_images_leave_when_the_bound_is_passed(blobs: Any) -> None:
    """What was used longest ago is read again; what is larger than the whole cache is never held."""
    images = [blobs.add(letter * 40) for letter in (b"a", b"b", b"c")]
    cache = EncodedImages(lambda data, _: data, max_bytes=100)
    for image in (images[0], images[1], images[0], images[2], images[0]):
        assert await cache.get(image, blobs) == blobs.data[image.sha256]
    assert blobs.reads == 3
    await cache.get(images[1], blobs)
    assert blobs.reads == 4
    large = blobs.add(b"x" * 101)
    for _ in range(2):
        await cache.get(large, blobs)
    assert blobs.reads == 6


async def test_one_reading_serves_all_who_wait_even_if_the_first_goes_away(blobs: Any) -> None:
    """Two calls want an image at once, the first is cancelled: the second still gets it, from the one reading."""
    go = threading.Event()

    def encode(data: bytes, media_type: str) -> str:
        go.wait(10)
        return data_uri(data, media_type)

    cache = EncodedImages(encode)
    image = blobs.add(b"png")
    first, second = (asyncio.create_task(cache.get(image, blobs)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    go.set()
    assert await second == "data:image/png;base64,cG5n"
    assert (first.cancelled(), blobs.reads) == (True, 1)


async def test_missing_image_fails_all_who_wait_and_may_come_later(acts: Any, blobs: Any) -> None:
    """A missing image is a storage error for each caller, and is looked for again the next time."""
    image = blobs.add(b"png")
    data = blobs.data.pop(image.sha256)
    cache = EncodedImages(data_uri)
    outcomes = await asyncio.gather(*(cache.get(image, blobs) for _ in range(2)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StorageError, StorageError]
    blobs.put_image(data, image)
    assert (await cache.get(image, blobs)).startswith("data:image/png")
    with pytest.raises(StorageError):
        await cache.shown_by(acts.call("", images=(image, image.model_copy(update={"sha256": "0" * 64}))), blobs)
