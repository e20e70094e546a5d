"""What takes a moment to work out is worked out once: figures of runs and their pages, for the state that a run is in."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")

MOST = 400
"""Values that are remembered; the one not asked for longest is forgotten first."""


class Remembered:
    """Values by their key, one worked out at a time, so that pages leave the processor to the runs."""

    def __init__(self, most: int = MOST) -> None:
        """Begin with none."""
        self._most = most
        self._known: OrderedDict[Hashable, Any] = OrderedDict()
        self._gate = threading.Lock()
        self._one_at_a_time = threading.Lock()

    def known(self, key: Hashable) -> Any:
        """Return the value of a key where there is one, else None."""
        with self._gate:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def of(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key; the first who asks makes it, and others wait for it."""
        if (found := self.known(key)) is not None:
            return cast("T", found)
        with self._one_at_a_time:
            if (found := self.known(key)) is not None:
                return cast("T", found)
            made = make()
            with self._gate:
                self._known[key] = made
                while len(self._known) > self._most:
                    self._known.popitem(last=False)
            return made
