"""Many asks inside one step, all at once, and what becomes of those that fail."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar, cast

from dokimasia.agents import AskResult
from dokimasia.domain.judgement import OPEN_KINDS, Failed, FailureKind
from dokimasia.errors import CallFailed, Interrupted

T = TypeVar("T")
S = TypeVar("S")

_OPEN: dict[FailureKind, str] = {
    "budget": "the judge may not be paid for any more",
    "waiting": "a person has not answered yet",
}


async def gather_all(asks: Iterable[Awaitable[T]]) -> list[T]:
    """Await all at once and return what came, in order; a problem of one is raised when the others have ended.

    Raises:
        Interrupted: one was interrupted, and nothing worse happened.
    """
    listed = list(asks)
    if len(listed) == 1:
        return [await listed[0]]
    done = await asyncio.gather(*listed, return_exceptions=True)
    raise_worst([result for result in done if isinstance(result, BaseException)])
    return [result for result in done if not isinstance(result, BaseException)]


async def gather_pair(first: Awaitable[T] | None, second: Awaitable[S] | None) -> tuple[T | None, S | None]:
    """Await two at once and return what came of both; a problem of one is raised when the other has ended, too.

    In the place of one that is not to be awaited stands None, and its result is None.

    Raises:
        Interrupted: one was interrupted, and nothing worse happened.
    """
    if first is None or second is None:
        return None if first is None else await first, None if second is None else await second
    first_result, second_result = await asyncio.gather(first, second, return_exceptions=True)
    raise_worst([problem for problem in (first_result, second_result) if isinstance(problem, BaseException)])
    return cast("tuple[T, S]", (first_result, second_result))


def raise_worst(problems: Sequence[BaseException]) -> None:
    """Raise the first problem that is no interruption, else the first, else nothing; one that waits for a person comes last."""
    if problems:
        raise min(problems, key=lambda problem: isinstance(problem, Interrupted) + 2 * _waits(problem))


def _waits(problem: BaseException) -> bool:
    return isinstance(problem, CallFailed) and problem.kind == "waiting"


async def update_items(
    items: Iterable[T], update: Callable[[T], Awaitable[T]], needs_update: Callable[[T], bool]
) -> list[T]:
    """Do the items that want it, all at once, and keep the others; problems are raised as by `gather_all`."""

    listed = list(items)
    places = [place for place, item in enumerate(listed) if needs_update(item)]
    updated = await gather_all(update(listed[place]) for place in places)
    for place, item in zip(places, updated, strict=True):
        listed[place] = item
    return listed


def within_budget(result: AskResult[T]) -> AskResult[T]:
    """Return what came of asking, unless it is open: then the step stays open, too, so that a resume does it whole.

    Raises:
        CallFailed: the budget is used up, or a person has not answered yet.
    """
    raise_open(result.failed)
    return result


def to_report(failures: Sequence[Failed]) -> Failed:
    """Return the failure that stands for several of an item: what is open and a resume asks, else the first."""
    return first_open(failures) or failures[0]


def first_open(failures: Iterable[Failed | None]) -> Failed | None:
    """Return the failure by which something is open as a whole: for want of budget before waiting; None where nothing is."""
    open_failures = [failure for failure in failures if failure is not None and failure.open]
    return min(open_failures, key=lambda failure: OPEN_KINDS.index(failure.kind), default=None)


def still_open(kind: FailureKind | None) -> Failed | None:
    """Return the failure of an item whose judge left a verdict open by a failure of this kind; None for any other kind."""
    return None if kind is None or kind not in _OPEN else Failed(kind=kind, reason=_OPEN[kind])


def raise_open(failed: Failed | None) -> None:
    """Raise a failure that leaves things open as what ends a step; return for any other.

    Raises:
        CallFailed: the budget is used up, or a person has not answered yet.
    """
    if failed is not None and (failed.kind == "budget" or failed.kind == "waiting"):
        raise CallFailed(failed.kind, failed.reason)
