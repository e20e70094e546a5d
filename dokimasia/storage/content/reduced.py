"""Images made smaller for models that ask for it: each once for every side, recorded with what it was made from."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import insert_row, unsealed
from dokimasia.storage.values import now

Reduce = Callable[[bytes, int], tuple[ImageRef, bytes]]
"""Makes an image smaller: from its bytes and the pixels of the longer side."""

_FIND = "SELECT sha256, media_type, width, height FROM reduced_images WHERE original = ? AND side = ?"


class ReducedImages:
    """Implements `dokimasia.domain.ports.Reducer`; for one event loop.

    What was made once is taken again, in this process and in every later one: the ledger's keys hold its hash, and
    another version of the program that makes it could write other bytes.
    """

    def __init__(self, blobs: BlobStore, reduce: Reduce, *, home: Home | None = None) -> None:
        """Put what `reduce` makes into `blobs`, and record it in the home whose blobs these are, if there is one."""
        self._blobs = blobs
        self._reduce = reduce
        self._home = home
        self._made: dict[tuple[str, int], asyncio.Task[ImageRef]] = {}

    async def __call__(self, image: ImageRef, side: int) -> ImageRef:
        """Return the image with a longer side of so many pixels, which lies among the blobs.

        Raises:
            ToolFailure: the image cannot be read.
            StorageError: it is not among the blobs, or what was made cannot be kept.
        """
        place = (image.sha256, side)
        making = self._made.get(place)
        if making is None or (making.done() and (making.cancelled() or making.exception() is not None)):
            making = self._made[place] = asyncio.create_task(self._found_or_made(image, side))
        return await asyncio.shield(making)  # one caller's cancellation is not the others'

    async def _found_or_made(self, image: ImageRef, side: int) -> ImageRef:
        if self._home is not None:
            row = self._home.one(_FIND, (image.sha256, side))
            if row is not None and self._home.blobs.file(row[0]).is_file():
                return ImageRef(sha256=row[0], media_type=row[1], width=row[2], height=row[3])
        made, size = await asyncio.to_thread(self._make, image, side)
        if self._home is not None:
            row = {
                "original": image.sha256,
                "side": side,
                **made.model_dump(exclude={"kind"}),
                "bytes": size,
                "created_at": now("seconds"),
            }
            await self._home.write(lambda connection: _replace(connection, row), steady=True)
        return made

    def _make(self, image: ImageRef, side: int) -> tuple[ImageRef, int]:
        made, data = self._reduce(self._blobs.get(image.sha256), side)
        self._blobs.put_image(data, made)
        return made, len(data)


def _replace(connection: sqlite3.Connection, row: dict[str, Any]) -> None:
    connection.execute("DELETE FROM reduced_images WHERE original = :original AND side = :side", row)
    insert_row(connection, "reduced_images", row)


def reduced_from(home: Home, originals: Iterable[str]) -> list[dict[str, Any]]:
    """Return what was made of these images, by their hashes: a row for each image and side, in that order."""
    sql = "SELECT * FROM reduced_images WHERE original IN ({marks}) ORDER BY original, side"
    return [unsealed(row) for row in home.rows_among(sql, sorted(originals))]


def originals_of(home: Home, reduced: Iterable[str]) -> dict[str, str]:
    """Return the hash of the image that each of these was made from, for those that were made from another."""
    sql = "SELECT sha256, original FROM reduced_images WHERE sha256 IN ({marks})"
    return {row["sha256"]: row["original"] for row in home.rows_among(sql, reduced)}
