"""A cache of slow computations: the figures and pages of a run in its current state."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import Any, TypeVar, overload

T = TypeVar("T")

MOST = 400
"""The maximum number of values; the least recently used is dropped first."""

AT_ONCE = 2
"""The maximum number of values computed in parallel, which leaves the processor to the runs."""


class FigureCache:
    """Values by key, each computed once however many callers ask for it. A failed computation is tried again.

    Attributes:
        computed: how many values were computed.
    """

    def __init__(self, most: int = MOST) -> None:
        """Create an empty cache for `most` values."""
        self._most = most
        self.computed = 0
        self._futures: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._gate = threading.RLock()
        self._workers = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="figures")

    def peek(self, key: Hashable) -> Any:
        """Return the value of a key if it has been computed, else None."""
        with self._gate:
            future = self._futures.get(key)
        if future is not None and future.done() and future.exception() is None:
            return future.result()
        return None

    @overload
    def get(self, key: Hashable, make: Callable[[], T]) -> T: ...

    @overload
    def get(self, key: Hashable, make: Callable[[], T], *, seconds: float | None) -> T | None: ...

    def get(self, key: Hashable, make: Callable[[], T], *, seconds: float | None = None) -> T | None:
        """Return the value of a key, which `make` computes on the first call; None if that takes longer than `seconds`."""
        with self._gate:
            future = self._futures.get(key)
            if future is None or (future.done() and future.exception() is not None):
                future = self._futures[key] = self._workers.submit(make)
                future.add_done_callback(self._count_computed)
            self._futures.move_to_end(key)
            while len(self._futures) > self._most:
                self._futures.popitem(last=False)
        try:
            return future.result(seconds)
        except NotYet:  # from the wait, or from `make` itself, or the value arrived since
            if future.done():
                return future.result()
            return None

    def _count_computed(self, future: Future[Any]) -> None:
        with self._gate:
            self.computed += 1
