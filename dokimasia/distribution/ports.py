"""What graphs and transports are given at a worker: the ports of a run, which ask the driver over the line."""

import asyncio
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from dokimasia.distribution.line import Channel
from dokimasia.domain.call import Chat, ImageEdit, ModelCall
from dokimasia.domain.identity import Value
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import StorageError
from dokimasia.graphs.steps import GraphOutline, Step
from dokimasia.storage.content.recent import Recent
from dokimasia.storage.values import as_stored

CACHE_BYTES = 64 * 1024 * 1024
"""Bytes of images that a worker keeps after it was given them."""


class FarRows:
    """Rows of values, which the driver keeps."""

    place = "the driver's home"

    def __init__(self, line: Channel) -> None:
        self._line = line

    async def put(self, type_: type[Value], row: Mapping[str, Any]) -> None:
        """Keep a row; it is committed on return."""
        await self._line.ask("put", type_, as_stored(type_, row))

    async def get(self, type_: type[Value], id: str) -> dict[str, Any] | None:
        """Return a row, or None."""
        return await self._line.ask("get", type_, id)


class FarSteps:
    """Tells the driver the steps of graphs."""

    def __init__(self, line: Channel) -> None:
        self._line = line

    def drawn(self, picture: GraphOutline) -> None:
        """Tell that a graph is about to be walked for the first time."""
        self._line.tell("drawn", picture)

    def stepped(self, graph: str, node: str, item: str, what: Step) -> None:
        """Tell what became of a node at an item."""
        self._line.tell("stepped", graph, node, item, what)


class FarBlobs:
    """The home's images: each is fetched once, and kept while there is room.

    The event loop asks by `fetch` before it reads; other threads may read what was not fetched, and wait for it.
    """

    def __init__(self, line: Channel) -> None:
        self._line = line
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._recent: Recent[str, bytes] = Recent(CACHE_BYTES)
        self._fetching: dict[str, asyncio.Task[bytes]] = {}
        self._made: list[tuple[bytes, ImageRef]] = []

    async def fetch(self, hashes: Iterable[str]) -> None:
        """Have these images here."""
        for sha256 in hashes:
            if self._recent.get(sha256) is None:
                await self._fetched(sha256)

    def get(self, sha256: str) -> bytes:
        """Return the bytes.

        Raises:
            StorageError: the home has none under that hash, or the event loop did not fetch them before.
        """
        known = self._recent.get(sha256)
        if known is not None:
            return known
        if threading.get_ident() == self._thread:
            raise StorageError(f"image {sha256} was not fetched before it was read")
        return asyncio.run_coroutine_threadsafe(self._fetched(sha256), self._loop).result()

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        """Keep the bytes: from another thread they are in the home on return, from the event loop's after `settle`."""
        self._recent.put(ref.sha256, bytes(data), len(data))
        if threading.get_ident() == self._thread:
            self._made.append((bytes(data), ref))
        else:
            asyncio.run_coroutine_threadsafe(self._line.ask("keep_image", bytes(data), ref), self._loop).result()

    async def settle(self) -> None:
        """Return when all that was put is in the home."""
        while self._made:
            await self._line.ask("keep_image", *self._made.pop())

    async def _fetched(self, sha256: str) -> bytes:
        fetching = self._fetching.get(sha256)
        if fetching is None:
            fetching = self._fetching[sha256] = asyncio.create_task(self._fetch(sha256))
            fetching.add_done_callback(lambda _: self._fetching.pop(sha256, None))
        return await asyncio.shield(fetching)

    async def _fetch(self, sha256: str) -> bytes:
        found = await self._line.ask("image", sha256)
        data: bytes = found if isinstance(found, bytes) else await found[0]
        self._recent.put(sha256, data, len(data))
        return data


def images_of(call: ModelCall) -> list[str]:
    """Return the hashes of the images that a call shows."""
    if isinstance(call, ImageEdit):
        return [call.image.sha256]
    messages = call.messages if isinstance(call, Chat) else ()
    return list(dict.fromkeys(image.sha256 for message in messages for image in message.images))
