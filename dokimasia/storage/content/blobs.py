"""Image bytes by content: files named by their hash, written atomically and verified on every read."""

import contextlib
import hashlib
import os
import re
import secrets
from pathlib import Path

from dokimasia.domain.sample import ImageRef
from dokimasia.errors import StorageError
from dokimasia.storage.content.recent import Recent
from dokimasia.storage.faults import wrap_sqlite_errors

CACHE_BYTES = 64 * 1024 * 1024
"""Size of the cache of images in memory, in bytes."""

_HASH = re.compile(r"[0-9a-f]{64}")
_TEMPORARY = "tmp"


def _check_hash(data: bytes, sha256: str) -> None:
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StorageError(
            f"image {sha256}: its bytes have another hash; read the image again and put it under its own."
        )


class MemoryBlobs:
    """Image bytes in memory, for programs without a home."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        """Store the bytes under `ref.sha256`.

        Raises:
            StorageError: the bytes do not have that hash.
        """
        _check_hash(data, ref.sha256)
        self._blobs.setdefault(ref.sha256, bytes(data))

    def get(self, sha256: str) -> bytes:
        """Return the bytes of an image.

        Raises:
            StorageError: no image with that hash is stored.
        """
        try:
            return self._blobs[sha256]
        except KeyError:
            raise StorageError(
                f"image {sha256} is not in this store; read its sample into a store, and give that store by blobs=, as in "
                "read_jsonl(path, blobs=blobs) and as_runnable(..., blobs=blobs)"
            ) from None


class FileBlobs:
    """Image bytes as files `ab/abc…` below one folder; safe to use from several threads.

    A blob is written to a temporary file, flushed to disk and renamed, so that a file under its name is always complete.
    Every read checks the hash.
    """

    def __init__(self, path: Path, *, cache_bytes: int = CACHE_BYTES) -> None:
        """Use a folder, which is created on the first write; `cache_bytes` is the size of the cache in memory."""
        self.path = path
        self._recent: Recent[str, bytes] = Recent(cache_bytes)

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        """Store the bytes under `ref.sha256`, durably; storing the same bytes again changes nothing.

        A file of that name with another length is damaged and replaced.

        Raises:
            StorageError: the bytes do not have that hash, or the file cannot be written.
        """
        self.put(data, ref.sha256)

    def put(self, data: bytes, sha256: str) -> None:
        """Store the bytes under their hash, as `put_image` does."""
        if self._recent.get(sha256) is not None:
            return
        _check_hash(data, sha256)
        target = self.file(sha256)
        with wrap_sqlite_errors(target, "keeping an image"):
            if not (target.is_file() and target.stat().st_size == len(data)):
                self._write(data, target)
        self._recent.put(sha256, bytes(data), len(data))

    def get(self, sha256: str) -> bytes:
        """Return the bytes of an image.

        Raises:
            StorageError: the file is missing or cannot be read, or its bytes changed.
        """
        cached = self._recent.get(sha256)
        if cached is not None:
            return cached
        source = self.file(sha256)
        with wrap_sqlite_errors(source, "reading an image"):
            try:
                data = source.read_bytes()
            except FileNotFoundError:
                raise StorageError(
                    f"{source} is missing: run the command again with the same data file, which puts its images back."
                ) from None
        if hashlib.sha256(data).hexdigest() != sha256:
            raise StorageError(
                f"{source} no longer holds the bytes that its name stands for: delete it and run the command again "
                "with the same data file, which puts the image back."
            )
        self._recent.put(sha256, data, len(data))
        return data

    def file(self, sha256: str) -> Path:
        """Return the path of a blob.

        Raises:
            StorageError: the text is not a hash.
        """
        if not _HASH.fullmatch(sha256):
            raise StorageError(f"{sha256[:80]!r} is not the hash of an image (64 hexadecimal digits).")
        return self.path / sha256[:2] / sha256

    def sweep(self) -> None:
        """Remove the partial files of a killed writer; only the process with the home's lock may call it."""
        with wrap_sqlite_errors(self.path, "clearing half-written images"):
            for leftover in (self.path / _TEMPORARY).glob("*"):
                leftover.unlink(missing_ok=True)

    def _write(self, data: bytes, target: Path) -> None:
        temporary = self.path / _TEMPORARY / f"{target.name}.{secrets.token_hex(8)}"
        temporary.parent.mkdir(parents=True, exist_ok=True)
        target.parent.mkdir(exist_ok=True)
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):  # the first error is the one to report; the next start sweeps the rest
                temporary.unlink(missing_ok=True)
            raise
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the name must also survive a power loss
        finally:
            os.close(folder)
