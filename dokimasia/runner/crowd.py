"""Many samples at once, a bounded number in flight, with a report of the standing twice a second."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress

from dokimasia.domain.sample import Sample
from dokimasia.errors import Interrupted

IN_FLIGHT = (8, 256)
"""At least and at most so many samples are in flight, so that memory stays bounded and no slow endpoint starves others."""

TICK = 0.5


async def work_through(
    samples: Iterator[Sample], do: Callable[[Sample], Awaitable[None]], *, width: int, report: Callable[[], None]
) -> None:
    """Do each sample, about `width` at a time, and end with the first problem once those in flight have ended.

    Raises:
        Interrupted: a sample was interrupted, and nothing worse happened.
    """
    problems: list[BaseException] = []

    async def worker() -> None:
        for sample in samples:
            if problems:
                return
            try:
                await do(sample)
            except BaseException as problem:
                problems.append(problem)
                if isinstance(problem, asyncio.CancelledError):
                    raise
                return

    async with _reporting(report):
        await asyncio.gather(*(worker() for _ in range(min(max(width, IN_FLIGHT[0]), IN_FLIGHT[1]))))
    raise_worst(problems)


def raise_worst(problems: list[BaseException]) -> None:
    """Raise the first problem that is no interruption, else the first, else nothing."""
    if problems:
        raise next((one for one in problems if not isinstance(one, Interrupted)), problems[0])


@asynccontextmanager
async def _reporting(report: Callable[[], None]) -> AsyncIterator[None]:
    async def tick() -> None:
        while True:
            await asyncio.sleep(TICK)
            report()

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()
        with suppress(asyncio.CancelledError):
            await ticking
        report()
