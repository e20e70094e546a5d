"""Services that a browser looks at: `site` over a finished home, `serving` for a home of one's own, `working` with a queue."""

import asyncio
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dokimasia.service.app import serve
from dokimasia.service.engine import RunEngine
from dokimasia.service.run_events import Events
from dokimasia.service.state import Service
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home
from tests.processes import PATIENCE
from tests.report.conftest import Finished
from tests.report.conftest import hostile as hostile  # a fixture
from tests.service.browser.looking import OTHER_VIEWS, USUAL_VIEWS, Site, View
from tests.service.conftest import at_address, service_over


@contextmanager
def serving(home: Path, **more: Any) -> Iterator[Site]:
    """A service over a home at an address, that only reads it."""
    with service_over(home, **more) as service, at_address(service) as url:
        yield Site(url)


@contextmanager
def working(home: Path, *, transports: Any = None, **more: Any) -> Iterator[Site]:
    """A service over a home at an address, whose queue carries runs out in the service's own loop."""
    urls: list[str] = []
    ready, loop, stop = threading.Event(), asyncio.new_event_loop(), asyncio.Event()
    settings = load_settings(home=home, cwd=home.parent, env={})

    def told(url: str) -> None:
        urls.append(url)
        ready.set()

    async def work() -> None:
        with Home.open(home, write=True) as opened:
            events = Events(opened)
            async with RunEngine(settings, opened, observers=events.observer_of, transports=transports) as engine:
                service = Service(settings=settings, home=opened, runner=engine, events=events, **more)
                await serve(service, ready=told, stop=stop)

    thread = threading.Thread(target=lambda: loop.run_until_complete(work()))
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield Site(urls[0])
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
        loop.close()


def copied(home: Path, to: Path) -> Path:
    """A copy of a home, for a service of its own: `site` holds the one that is shared."""
    shutil.copytree(home, to)
    return to


@pytest.fixture(params=[USUAL_VIEWS, pytest.param(OTHER_VIEWS, marks=pytest.mark.full)], ids=["usual", "other"])
def views(request: pytest.FixtureRequest) -> tuple[View, ...]:
    """Sizes and schemes to look at a page in."""
    return request.param


@pytest.fixture(scope="session")
def site(small: Finished) -> Iterator[Site]:
    """A service over a home with one finished evaluation, that only reads it."""
    with serving(small.home) as site:
        yield site


@pytest.fixture(scope="module")
def workshop(small: Finished, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service with a queue over a copy of that home, which may be written to; `world.jsonl` lies below its data root."""
    folder = tmp_path_factory.mktemp("workshop")
    copied(small.home, folder / "home")
    data = folder / "data"
    shutil.copytree(small.home.parent, data, ignore=shutil.ignore_patterns("home"))
    with working(folder / "home", data_root=data) as site:
        yield site
