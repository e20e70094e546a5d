"""Work on many things inside one node, all at once, in which no trouble of one cancels another."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from dokimasia.errors import Interrupted

T = TypeVar("T")


async def each(items: list[T], do: Callable[[T], Awaitable[T]], wanted: Callable[[T], bool]) -> list[T]:
    """Do the items that want it, all at once, and keep the others; an interruption of one is raised when all have ended.

    Raises:
        Interrupted: one was interrupted, and nothing worse happened.
    """

    async def keep(item: T) -> T:
        return item

    done = await asyncio.gather(*(do(item) if wanted(item) else keep(item) for item in items), return_exceptions=True)
    problems = [one for one in done if isinstance(one, BaseException)]
    if problems:
        raise next((one for one in problems if not isinstance(one, Interrupted)), problems[0])
    return [one for one in done if not isinstance(one, BaseException)]
