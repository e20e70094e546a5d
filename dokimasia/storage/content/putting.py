"""Background writes of images, so that reading a data set does not wait for the disk at every image."""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef

THREADS = 2
"""The number of writing threads. Half the time of storing an image is the flush to disk; more than two threads would
only wait for each other.
"""

WAITING_BYTES = 32 * 1024 * 1024
"""The bytes of queued images above which `put_image` waits."""


class BackgroundWriter:
    """A blob store whose `put_image` returns at once; `settle` waits until all images are stored.

    Use it in a `with` block, from one thread, and call `settle` before anything refers to the images.
    """

    def __init__(self, blobs: BlobStore) -> None:
        """Write to another store."""
        self._blobs = blobs
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="images")
        self._waiting: deque[tuple[Future[None], int]] = deque()
        self._bytes = 0

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        """Queue the bytes for storing under `ref.sha256`.

        Raises:
            StorageError: an earlier image could not be stored.
        """
        while self._waiting and self._bytes > WAITING_BYTES:
            self._take_oldest()
        self._waiting.append((self._pool.submit(self._blobs.put_image, data, ref), len(data)))
        self._bytes += len(data)

    def get(self, sha256: str) -> bytes:
        """Return the bytes, after all queued images are stored.

        Raises:
            StorageError: there are none under that hash, or an image could not be stored.
        """
        self.settle()
        return self._blobs.get(sha256)

    def settle(self) -> None:
        """Wait until all queued images are stored.

        Raises:
            StorageError: an image could not be stored.
        """
        while self._waiting:
            self._take_oldest()

    def __enter__(self) -> "BackgroundWriter":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if error is None:
                self.settle()
        finally:
            self._pool.shutdown(cancel_futures=True)

    def _take_oldest(self) -> None:
        future, size = self._waiting.popleft()
        self._bytes -= size
        future.result()
