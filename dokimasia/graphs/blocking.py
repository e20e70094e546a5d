"""Asynchronous functions for callers without an event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from dokimasia.errors import LoopRunning

T = TypeVar("T")


def block_on(work: Callable[[], Awaitable[T]], *, called: str, instead: str) -> T:
    """Return the result of asynchronous work, run in a new event loop.

    Args:
        work: starts the work.
        called: the name of the called function, for the error message.
        instead: the alternative inside an event loop, for the error message.

    Raises:
        LoopRunning: an event loop is already running; nothing was started.
    """
    if _loop_runs():
        raise LoopRunning(
            f"{called} was called inside a running event loop, as in a notebook or an async function: write {instead} there"
        )
    return asyncio.run(_awaited(work))


def _loop_runs() -> bool:
    """Return whether an event loop is running in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _awaited(work: Callable[[], Awaitable[T]]) -> T:
    return await work()
