"""Many asks inside one step, all at once, and what becomes of those that fail."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar, cast

from dokimasia.agents import Asked
from dokimasia.domain.judgement import Failed
from dokimasia.errors import CallFailed, Interrupted

T = TypeVar("T")
S = TypeVar("S")


async def gathered(asks: Iterable[Awaitable[T]]) -> list[T]:
    """Await all at once and return what came, in order; a problem of one is raised when the others have ended.

    Raises:
        Interrupted: one was interrupted, and nothing worse happened.
    """
    done = await asyncio.gather(*asks, return_exceptions=True)
    raise_worst([one for one in done if isinstance(one, BaseException)])
    return [one for one in done if not isinstance(one, BaseException)]


async def together(first: Awaitable[T], second: Awaitable[S]) -> tuple[T, S]:
    """Await two at once and return what came of both; a problem of one is raised when the other has ended, too.

    Raises:
        Interrupted: one was interrupted, and nothing worse happened.
    """
    one, other = await asyncio.gather(first, second, return_exceptions=True)
    raise_worst([problem for problem in (one, other) if isinstance(problem, BaseException)])
    return cast("tuple[T, S]", (one, other))


def raise_worst(problems: Sequence[BaseException]) -> None:
    """Raise the first problem that is no interruption, else the first, else nothing."""
    if problems:
        raise next((one for one in problems if not isinstance(one, Interrupted)), problems[0])


async def each(items: Iterable[T], do: Callable[[T], Awaitable[T]], wanted: Callable[[T], bool]) -> list[T]:
    """Do the items that want it, all at once, and keep the others; problems are raised as by `gathered`."""

    async def keep(item: T) -> T:
        return item

    return await gathered(do(item) if wanted(item) else keep(item) for item in items)


def within_budget(asked: Asked[T]) -> Asked[T]:
    """Return what came of asking, unless the budget was used up: the step stays open, so that a resume does it whole.

    Raises:
        CallFailed: the budget is used up.
    """
    if asked.failed is not None and asked.failed.kind == "budget":
        raise CallFailed("budget", asked.failed.reason)
    return asked


def to_report(failures: Sequence[Failed]) -> Failed:
    """Return the failure that stands for several of an item: what the budget refused and a resume asks, else the first."""
    return next((one for one in failures if one.kind == "budget"), failures[0])
