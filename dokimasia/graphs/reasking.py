"""Concurrent requests inside one step, and the handling of their failures."""

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
    """Return the results of awaitables in order, run concurrently; exceptions are raised once all have ended.

    Raises:
        Interrupted: one was interrupted, and there was no worse exception.
    """
    awaitables = list(asks)
    if len(awaitables) == 1:
        return [await awaitables[0]]
    results = await asyncio.gather(*awaitables, return_exceptions=True)
    raise_worst([result for result in results if isinstance(result, BaseException)])
    return [result for result in results if not isinstance(result, BaseException)]


async def gather_pair(first: Awaitable[T] | None, second: Awaitable[S] | None) -> tuple[T | None, S | None]:
    """Return the results of two awaitables, run concurrently; an exception is raised once both have ended.

    The result of None in place of an awaitable is None.

    Raises:
        Interrupted: one was interrupted, and there was no worse exception.
    """
    if first is None or second is None:
        return None if first is None else await first, None if second is None else await second
    first_result, second_result = await asyncio.gather(first, second, return_exceptions=True)
    raise_worst([problem for problem in (first_result, second_result) if isinstance(problem, BaseException)])
    return cast("tuple[T, S]", (first_result, second_result))


def raise_worst(problems: Sequence[BaseException]) -> None:
    """Raise the worst exception, if any: errors before interruptions, and both before waiting for a person."""
    if problems:
        raise min(problems, key=lambda problem: isinstance(problem, Interrupted) + 2 * _waits(problem))


def _waits(problem: BaseException) -> bool:
    return isinstance(problem, CallFailed) and problem.kind == "waiting"


async def update_items(
    items: Iterable[T], update: Callable[[T], Awaitable[T]], needs_update: Callable[[T], bool]
) -> list[T]:
    """Return items in order, updating concurrently those that need it; exceptions are raised as by `gather_all`."""

    updated_items = list(items)
    positions = [position for position, item in enumerate(updated_items) if needs_update(item)]
    updated = await gather_all(update(updated_items[position]) for position in positions)
    for position, item in zip(positions, updated, strict=True):
        updated_items[position] = item
    return updated_items


def within_budget(result: AskResult[T]) -> AskResult[T]:
    """Return a reply, or raise if its failure leaves the request open, so that a resume repeats the step.

    Raises:
        CallFailed: the budget is exhausted, or a person has not answered yet.
    """
    raise_open(result.failed)
    return result


def to_report(failures: Sequence[Failed]) -> Failed:
    """Return the failure to report for an item with several: one that a resume repeats, or else the first."""
    return first_open(failures) or failures[0]


def first_open(failures: Iterable[Failed | None]) -> Failed | None:
    """Return the failure that leaves a request open, `budget` before `waiting`; None if there is none."""
    open_failures = [failure for failure in failures if failure is not None and failure.open]
    return min(open_failures, key=lambda failure: OPEN_KINDS.index(failure.kind), default=None)


def still_open(kind: FailureKind | None) -> Failed | None:
    """Return the failure of an item whose verdict is open for this kind of failure; None for other kinds."""
    if kind is None or kind not in _OPEN:
        return None
    return Failed(kind=kind, reason=_OPEN[kind])


def raise_open(failed: Failed | None) -> None:
    """Raise CallFailed for a failure that leaves a request open; do nothing for any other.

    Raises:
        CallFailed: the budget is exhausted, or a person has not answered yet.
    """
    if failed is not None and (failed.kind == "budget" or failed.kind == "waiting"):
        raise CallFailed(failed.kind, failed.reason)
