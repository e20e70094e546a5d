"""Many asks inside one node, all at once, and the one re-ask of a reply that cannot be used."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from dokimasia.agents import Asked
from dokimasia.domain.judgement import Rejected
from dokimasia.errors import Interrupted

T = TypeVar("T")


async def gathered(asks: Iterable[Awaitable[T]]) -> list[T]:
    """Await all at once and return what came, in order; a problem of one is raised when the others have ended.

    Raises:
        Interrupted: one was interrupted, and nothing worse happened.
    """
    done = await asyncio.gather(*asks, return_exceptions=True)
    problems = [one for one in done if isinstance(one, BaseException)]
    if problems:
        raise next((one for one in problems if not isinstance(one, Interrupted)), problems[0])
    return [one for one in done if not isinstance(one, BaseException)]


async def mended(ask: Callable[[Rejected | None], Awaitable[Asked[T]]]) -> Asked[T]:
    """Ask, and send a reply that cannot be used back once; the calls of both are in what is returned."""
    first = await ask(None)
    if first.value is not None or first.rejected is None:
        return first
    second = await ask(first.rejected)
    return replace(second, earlier=(*first.calls, *second.earlier))
