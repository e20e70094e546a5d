"""Asynchronous functions for callers without an event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from dokimasia.errors import LoopRunning

T = TypeVar("T")


def block_on(work: Callable[[], Awaitable[T]], *, called: str, instead: str) -> T:
    """Return the result of asynchronous work, in an event loop of its own.

    Args:
        work: begins the work.
        called: the function that was called, for the error's message.
        instead: what to write inside an event loop.

    Raises:
        LoopRunning: an event loop runs already; nothing was begun.
    """
    if _loop_runs():
        raise LoopRunning(
            f"{called} was called inside a running event loop, as in a notebook or an async function: write {instead} there"
        )
    return asyncio.run(_awaited(work))


def _loop_runs() -> bool:
    """Return whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _awaited(work: Callable[[], Awaitable[T]]) -> T:
    return await work()
