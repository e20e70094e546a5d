"""An in-memory cache with a limit on its bytes."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A least-recently-used cache with a limit on its bytes; safe to use from several threads."""

    def __init__(self, most: int) -> None:
        """Keep up to `most` bytes."""
        self._most = most
        self._size = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._gate = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return a cached value, or None."""
        with self._gate:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Cache a value of `size` bytes under a key; a value larger than the cache is not cached."""
        with self._gate:
            self._drop(key)
            if size > self._most:
                return
            self._entries[key] = value, size
            self._size += size
            while self._size > self._most:
                _, (_, freed) = self._entries.popitem(last=False)
                self._size -= freed

    def drop(self, key: K) -> None:
        """Remove a value, if cached."""
        with self._gate:
            self._drop(key)

    def clear(self) -> None:
        """Remove all values."""
        with self._gate:
            self._entries.clear()
            self._size = 0

    def _drop(self, key: K) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self._size -= entry[1]
