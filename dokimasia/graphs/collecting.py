"""Python's garbage collector while items are walked."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECTOR = (50_000, 10, 10)
"""Thresholds of the garbage collector while items are walked."""

_thresholds: list[tuple[int, int, int]] = []
"""What they were when each that is under way began."""


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Look for cyclic garbage seldom, and not among what was loaded before.

    A run makes hundreds of small values a call, nearly all of which go by reference counts; with Python's own
    thresholds a quarter of a run's time goes into walking over the modules and schemas that stay anyway. The last of several
    runs that are at work at once puts the thresholds back.
    """
    if not _thresholds:
        gc.freeze()
    _thresholds.append(gc.get_threshold())
    gc.set_threshold(*COLLECTOR)
    try:
        yield
    finally:
        before = _thresholds.pop()
        if not _thresholds:
            gc.set_threshold(*before)
            gc.unfreeze()
