"""What takes a moment to work out is worked out once: figures of runs and their pages, for the state that a run is in."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import Any, TypeVar, overload

T = TypeVar("T")

MOST = 400
"""Values that are remembered; the one not asked for longest is forgotten first."""

AT_ONCE = 2
"""Values that are worked out at once, so that pages leave the processor to the runs."""


class FigureCache:
    """Values by their key, each worked out once however many ask for it; one that fails is tried anew.

    Attributes:
        computed: how many were worked out.
    """

    def __init__(self, most: int = MOST) -> None:
        """Begin with none."""
        self._most = most
        self.computed = 0
        self._known: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._gate = threading.RLock()
        self._workers = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="figures")

    def peek(self, key: Hashable) -> Any:
        """Return the value of a key where it was worked out, else None."""
        with self._gate:
            found = self._known.get(key)
        return found.result() if found is not None and found.done() and found.exception() is None else None

    @overload
    def get(self, key: Hashable, make: Callable[[], T]) -> T: ...

    @overload
    def get(self, key: Hashable, make: Callable[[], T], *, seconds: float | None) -> T | None: ...

    def get(self, key: Hashable, make: Callable[[], T], *, seconds: float | None = None) -> T | None:
        """Return the value of a key, worked out by the first who asks; None where that takes longer than `seconds`."""
        with self._gate:
            found = self._known.get(key)
            if found is None or (found.done() and found.exception() is not None):
                found = self._known[key] = self._workers.submit(make)
                found.add_done_callback(self._count)
            self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        try:
            return found.result(seconds)
        except NotYet:
            if found.done():
                raise
            return None

    def _count(self, made: Future[Any]) -> None:
        with self._gate:
            self.computed += 1
