"""Images of calls: downscaled for models that require it, and as data URIs, encoded once for all
calls that show them.
"""

import asyncio
import base64
from collections import OrderedDict
from collections.abc import Callable
from typing import AnyStr, Generic

from dokimasia.domain.call import Chat, Message
from dokimasia.domain.ports import BlobStore, Reducer
from dokimasia.domain.sample import ImageRef, Part

DEFAULT_CACHE_BYTES = 64 * 1024 * 1024

_Place = tuple[str, str]


class EncodedImages(Generic[AnyStr]):
    """A cache of encoded images that evicts the least recently used beyond `max_bytes`.

    Simultaneous calls for the same image wait for a single read of it, in a thread.
    """

    def __init__(self, encode: Callable[[bytes, str], AnyStr], max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        """Cache up to `max_bytes` of the results of `encode`, given an image's bytes and media type."""
        self._encode = encode
        self._max_bytes = max_bytes
        self._held = 0
        self._images: OrderedDict[_Place, AnyStr] = OrderedDict()
        self._reading: dict[tuple[asyncio.AbstractEventLoop, _Place], asyncio.Task[AnyStr]] = {}

    async def get(self, image: ImageRef, blobs: BlobStore) -> AnyStr:
        """Return the encoded image.

        Raises:
            StorageError: the image is not in the blob store.
        """
        place = (image.sha256, image.media_type)
        encoded = self._images.get(place)
        if encoded is not None:
            self._images.move_to_end(place)
            return encoded
        key = (asyncio.get_running_loop(), place)
        reading = self._reading.get(key)
        if reading is None:
            reading = self._reading[key] = asyncio.create_task(self._read(image, blobs))
            reading.add_done_callback(lambda task: self._finished(key, task))
        return await asyncio.shield(reading)  # cancelling one caller must not cancel the others

    async def shown_by(self, call: Chat, blobs: BlobStore) -> dict[str, AnyStr]:
        """Return the encoded images of a call by their hash.

        Raises:
            StorageError: an image is not in the blob store.
        """
        images = {image.sha256: image for message in call.messages for image in message.images}
        return {sha256: await self.get(image, blobs) for sha256, image in images.items()}

    async def _read(self, image: ImageRef, blobs: BlobStore) -> AnyStr:
        encoded = await asyncio.to_thread(lambda: self._encode(blobs.get(image.sha256), image.media_type))
        place = (image.sha256, image.media_type)
        if place not in self._images and len(encoded) <= self._max_bytes:
            self._images[place] = encoded
            self._held += len(encoded)
        while self._held > self._max_bytes:
            _, oldest = self._images.popitem(last=False)
            self._held -= len(oldest)
        return encoded

    def _finished(self, key: tuple[asyncio.AbstractEventLoop, _Place], task: "asyncio.Task[AnyStr]") -> None:
        del self._reading[key]
        if not task.cancelled():
            task.exception()  # retrieved here, so that a read nobody awaits any longer is not reported


def data_uri(data: bytes, media_type: str) -> str:
    """Return the bytes, unchanged, as a base64 data URI."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


async def with_reduced_images(call: Chat, side: int, reduce: Reducer) -> Chat:
    """Return the call with every image downscaled whose longer side has more pixels than `side`.

    Images after a tool's result were made by a tool from the full image, and are unchanged.

    Raises:
        ToolFailure: an image cannot be read.
        StorageError: an image is not in the blob store, or a downscaled one cannot be stored.
    """
    before = next((at for at, message in enumerate(call.messages) if message.role == "tool"), len(call.messages))

    async def fitting(part: Part) -> Part:
        if part.kind == "image" and max(part.width, part.height) > side:
            return await reduce(part, side)
        return part

    messages: list[Message] = []
    for at, message in enumerate(call.messages):
        parts = message.parts
        if at < before and message.images:
            parts = tuple([await fitting(part) for part in parts])
        messages.append(message.model_copy(update={"parts": parts}))
    return call.model_copy(update={"messages": tuple(messages)})
