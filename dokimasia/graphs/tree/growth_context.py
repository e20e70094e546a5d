"""What the growing of a tree is given beside its state, and how the many calls of a phase are made side by side."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dokimasia.domain.capability import TreeVersion
from dokimasia.domain.growth import GrowthOptions, PhaseReport, Placement, TreeCriterion
from dokimasia.errors import Interrupted
from dokimasia.graphs.context import Context

A = TypeVar("A")
B = TypeVar("B")

WIDTH = (8, 256)
"""At least and at most so many calls of a phase are made at once; the gateway limits what is really sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthContext(Context):
    """The services of a growth.

    `criteria` are all that shall have a place in the end, sorted by key; `placed` are those that the tree which is grown
    on has a place for, which they keep. `keep` keeps a version as the tree's newest, with what its phase came to and
    where its criteria are mapped (one that is there already changes nothing); `placements` returns where a version's
    criteria are. `told` hears how many calls of a phase are done.
    """

    criteria: Sequence[TreeCriterion]
    growth: GrowthOptions
    placed: Mapping[str, Placement]
    keep: Callable[[TreeVersion, PhaseReport, Sequence[Placement]], Awaitable[None]]
    placements: Callable[[str], list[Placement]]
    told: Callable[[str, int, int], None]

    async def each(self, phase: str, items: Sequence[A], do: Callable[[A], Awaitable[B]]) -> list[B]:
        """Do all items, a bounded number at once, and return what came of each in their order.

        Raises:
            Interrupted: one was interrupted; raised when all that had begun have ended.
        """
        done: dict[int, B] = {}
        problems: list[BaseException] = []
        waiting = iter(range(len(items)))

        async def worker() -> None:
            for number in waiting:
                if problems:
                    return
                try:
                    done[number] = await do(items[number])
                except BaseException as problem:
                    problems.append(problem)
                    if isinstance(problem, asyncio.CancelledError):
                        raise
                    return
                self.told(phase, len(done), len(items))

        width = min(max(2 * self.judge.max_concurrency, WIDTH[0]), WIDTH[1], max(1, len(items)))
        self.told(phase, 0, len(items))
        await asyncio.gather(*(worker() for _ in range(width)))
        if problems:
            raise next((one for one in problems if not isinstance(one, Interrupted)), problems[0])
        return [done[number] for number in range(len(items))]
