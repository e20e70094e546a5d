"""A service whose queue works: runs begun over HTTP are carried out by simulated models."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from dokimasia.service.allowances import Allowances
from dokimasia.service.engine import RunEngine
from dokimasia.service.state import Service
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home
from tests.processes import PATIENCE
from tests.service.conftest import asking


class Working(NamedTuple):
    """A service at work, and a client of it."""

    service: Service
    client: httpx.AsyncClient

    async def ended(self, run: str) -> dict[str, Any]:
        """The run once it is neither queued nor at work."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = (await self.client.get(f"/api/runs/{run}")).json()
            if found["status"] not in ("queued", "running"):
                return found
            await asyncio.sleep(0.05)
        raise AssertionError(f"run {run} did not end")


@asynccontextmanager
async def working(
    home: Path, *, client: dict[str, Any] | None = None, allowances: Allowances | None = None, **more: Any
) -> AsyncIterator[Working]:
    """A service over a home, made where there is none, whose queue works."""
    settings = load_settings(home=home, cwd=home.parent, env={})
    with Home.open(home, write=True) as opened:
        async with RunEngine(settings, opened, allowances=allowances) as engine:
            service = Service(
                settings=settings, home=opened, runner=engine, allowances=allowances or Allowances(), **more
            )
            async with asking(service, **(client or {})) as asked:
                yield Working(service, asked)
