"""Images reduced for models with a maximum side: each once per side, recorded with its original."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable
from typing import NamedTuple

from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import insert_row
from dokimasia.storage.values import now

Reduce = Callable[[bytes, int], tuple[ImageRef, bytes]]
"""Returns an image, from its bytes, reduced to a longer side of this many pixels."""

_FIND = "SELECT sha256, media_type, width, height FROM reduced_images WHERE original = ? AND side = ?"


class ReducedImage(NamedTuple):
    """A reduced version of an image: the original's hash, the maximum longer side in pixels, and the reduced file."""

    original: str
    side: int
    sha256: str
    media_type: str
    width: int
    height: int
    bytes: int
    created_at: str


def find_reduced(home: Home, original: str, side: int) -> ImageRef | None:
    """Return the recorded reduced version of an image, by its hash and the longer side in pixels; None if there is none."""
    row = home.one(_FIND, (original, side))
    if row is None:
        return None
    return ImageRef(sha256=row[0], media_type=row[1], width=row[2], height=row[3])


class ReducedImages:
    """Implements `dokimasia.domain.ports.Reducer` for one event loop.

    A reduced image is reused in this process and in every later one: ledger keys contain its hash, and another version
    of the image library may write other bytes.
    """

    def __init__(self, blobs: BlobStore, reduce: Reduce, *, home: Home | None = None) -> None:
        """Store reduced images in `blobs`, and record them in the home that the blobs belong to, if any."""
        self._blobs = blobs
        self._reduce = reduce
        self._home = home
        self._made: dict[tuple[str, int], asyncio.Task[ImageRef]] = {}

    async def __call__(self, image: ImageRef, side: int) -> ImageRef:
        """Return the image reduced to a longer side of this many pixels; its bytes are stored among the blobs.

        Raises:
            ToolFailure: the image cannot be read.
            StorageError: the image is not among the blobs, or the reduced image cannot be stored.
        """
        place = (image.sha256, side)
        making = self._made.get(place)
        if making is None or (making.done() and (making.cancelled() or making.exception() is not None)):
            making = self._made[place] = asyncio.create_task(self._find_or_make(image, side))
        return await asyncio.shield(making)  # a cancelled caller does not cancel the others

    async def _find_or_make(self, image: ImageRef, side: int) -> ImageRef:
        if self._home is not None:
            recorded = find_reduced(self._home, image.sha256, side)
            if recorded is not None and self._home.blobs.file(recorded.sha256).is_file():
                return recorded
        reduced, size = await asyncio.to_thread(self._make, image, side)
        if self._home is not None:
            row = ReducedImage(
                image.sha256,
                side,
                reduced.sha256,
                reduced.media_type,
                reduced.width,
                reduced.height,
                size,
                now("seconds"),
            )
            await self._home.write(lambda connection: _replace(connection, row), routine=True)
        return reduced

    def _make(self, image: ImageRef, side: int) -> tuple[ImageRef, int]:
        reduced, data = self._reduce(self._blobs.get(image.sha256), side)
        self._blobs.put_image(data, reduced)
        return reduced, len(data)


def _replace(connection: sqlite3.Connection, image: ReducedImage) -> None:
    connection.execute("DELETE FROM reduced_images WHERE original = ? AND side = ?", (image.original, image.side))
    insert_row(connection, "reduced_images", image._asdict())


def reduced_from(home: Home, originals: Iterable[str]) -> list[ReducedImage]:
    """Return the reduced versions of images, sorted by the original's hash and the side."""
    columns = ", ".join(ReducedImage._fields)
    sql = f"SELECT {columns} FROM reduced_images WHERE original IN ({{marks}}) ORDER BY original, side"
    return [ReducedImage(*row) for row in home.all_among(sql, sorted(originals))]


def originals_of(home: Home, reduced: Iterable[str]) -> dict[str, str]:
    """Return the hash of each reduced image's original."""
    sql = "SELECT sha256, original FROM reduced_images WHERE sha256 IN ({marks})"
    return dict(home.all_among(sql, reduced))
