"""What the driver puts into Ray's object store for its workers."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from types import SimpleNamespace
from typing import Any, cast

from dokimasia.distribution.cluster import Cluster
from dokimasia.domain.ports import BlobStore


def test_an_image_that_two_workers_want_at_once_is_put_there_once() -> None:
    """Two threads that come for the same image at the same time are given one place."""
    cluster, both, read = Cluster(None), Barrier(2), list[str]()
    cluster._ray = SimpleNamespace(put=lambda data: object())

    class Blobs:
        """Gives an image slowly."""

        def get(self, sha256: str) -> bytes:
            """Return it."""
            read.append(sha256)
            time.sleep(0.05)
            return b"image"

    def asked() -> Any:
        both.wait(10)
        return cluster.image("one", cast("BlobStore", Blobs()))

    with ThreadPoolExecutor(2) as threads:
        first, second = (threads.submit(asked) for _ in range(2))
        assert first.result() is second.result()
    assert read == ["one"]
