"""Readings that may take long have turns: few at once, who waits holds no thread, and too many are refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from dokimasia.operations.operation import Refused

AT_ONCE = 2
"""Fewer than there are threads that read (`serving.READERS`): the others answer what takes no time, and the runs go on."""

WAITING = 40
"""Readings that are under way or wait for their turn."""


@dataclass(slots=True)
class Turns:
    """Turns of readings that may take long.

    Attributes:
        taken: how many are under way or wait.
    """

    taken: int = 0
    _gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it for the time inside.

        Raises:
            Refused: too many wait.
        """
        if self.taken >= WAITING:
            raise Refused(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{WAITING} readings that take long are under way or wait: come again later",
                headers={"retry-after": "10"},
            )
        self.taken += 1
        try:
            async with self._gate:
                yield
        finally:
            self.taken -= 1
