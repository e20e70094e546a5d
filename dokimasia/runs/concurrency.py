"""Many samples at once, a bounded number in flight, with a report of the standing twice a second."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress

from dokimasia.domain.sample import Sample
from dokimasia.graphs.collecting import seldom_collecting
from dokimasia.graphs.reasking import raise_worst

IN_FLIGHT = (8, 256)
"""At least so many samples are in flight, and at most so many in each process, so that memory stays bounded and no slow
endpoint starves others."""

MOST = 1024
"""So many samples may be in flight in each process while a slow endpoint holds up others; then they wait for it."""

TICK = 0.5


async def work_through(
    samples: Iterator[Sample],
    do: Callable[[Sample], Awaitable[None]],
    *,
    width: int,
    report: Callable[[], None],
    uneven: Callable[[], bool] | None = None,
    processes: int = 1,
) -> None:
    """Do each sample, about `width` at a time, and end with the first problem once those in flight have ended.

    Args:
        samples: what is to be done, in order; read as far as the work has come.
        do: does one sample.
        width: how many at a time, within `IN_FLIGHT` a process.
        report: called twice a second and at the end.
        uneven: says whether those in flight wait for one endpoint while another could take more: then more samples are
            begun, up to `MOST` a process in flight, so that the slowest endpoint does not idle the others.
        processes: by how many processes they are worked.

    Raises:
        Interrupted: a sample was interrupted, and nothing worse happened.
    """
    problems: list[BaseException] = []
    width, most = min(max(width, IN_FLIGHT[0]), IN_FLIGHT[1] * processes), MOST * processes

    async def worker(*, stays: bool) -> None:
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
            if not stays:
                return

    with seldom_collecting():
        async with reporting(report):
            crowd = set[asyncio.Task[None]]()
            for _ in range(width):
                crowd.add(asyncio.create_task(worker(stays=True)))
            try:
                while crowd:
                    _, crowd = await asyncio.wait(crowd, timeout=None if uneven is None else TICK)
                    if crowd and uneven is not None and not problems and uneven():
                        more = min(width, most - len(crowd))
                        crowd |= {asyncio.create_task(worker(stays=False)) for _ in range(more)}
            finally:
                for one in crowd:
                    one.cancel()
                await asyncio.gather(*crowd, return_exceptions=True)
    raise_worst(problems)


@asynccontextmanager
async def reporting(report: Callable[[], None]) -> AsyncIterator[None]:
    """Report twice a second while something works, and once at its end."""

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
