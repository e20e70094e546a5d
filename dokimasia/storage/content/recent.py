"""A cache in memory, limited by bytes."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A least-recently-used cache limited by bytes. Safe to use from several threads."""

    def __init__(self, most: int) -> None:
        """Keep up to `most` bytes."""
        self._most = most
        self._size = 0
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._gate = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return a cached value, or None."""
        with self._gate:
            entry = self._kept.get(key)
            if entry is None:
                return None
            self._kept.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Cache a value of `size` bytes under a key; a value larger than the cache is not kept."""
        with self._gate:
            self._drop(key)
            if size > self._most:
                return
            self._kept[key] = value, size
            self._size += size
            while self._size > self._most:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._size -= dropped

    def drop(self, key: K) -> None:
        """Remove a value, if cached."""
        with self._gate:
            self._drop(key)

    def clear(self) -> None:
        """Remove all values."""
        with self._gate:
            self._kept.clear()
            self._size = 0

    def _drop(self, key: K) -> None:
        if (had := self._kept.pop(key, None)) is not None:
            self._size -= had[1]
