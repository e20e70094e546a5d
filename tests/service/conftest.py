"""A service over a home with finished runs, asked in process or over a real socket."""

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from dokimasia.service.app import create_app, serve
from dokimasia.service.state import Service
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home
from tests.processes import PATIENCE
from tests.report.conftest import Finished, made_and_copied, make_small
from tests.service.waiting import Waits
from tests.service.waiting import make as make_waiting
from tests.sharing import made_by_one, shared_folder


class Idle:
    """A queue that takes nothing, for routes that only read."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a route that only reads asked the queue to {name}")


@contextmanager
def service_over(home: Path, **more: Any) -> Iterator[Service]:
    """A service over a home that only reads it."""
    settings = load_settings(home=home, cwd=home.parent, env={})
    with _opened(home) as opened:
        yield Service(settings=settings, home=opened, runner=more.pop("runner", Idle()), **more)


_OPEN: dict[Path, tuple[Home, int]] = {}
"""Homes that services of this process have open, and how many: fixtures of two files may serve one home at a time."""


@contextmanager
def _opened(home: Path) -> Iterator[Home]:
    """A home open for writing; one that is open in this process already is shared."""
    real = home.resolve() if not home.is_symlink() else home
    opened, count = _OPEN.get(real) or (Home.open(home, write=True), 0)
    _OPEN[real] = opened, count + 1
    try:
        yield opened
    finally:
        opened, count = _OPEN.pop(real)
        if count > 1:
            _OPEN[real] = opened, count - 1
        else:
            opened.close()


@contextmanager
def at_address(service: Service) -> Iterator[str]:
    """The URL of a service that answers on loopback, from a thread of its own."""
    urls: list[str] = []
    ready, stop, loop = threading.Event(), asyncio.Event(), asyncio.new_event_loop()

    def told(url: str) -> None:
        urls.append(url)
        ready.set()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve(service, ready=told, stop=stop)))
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield urls[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
        loop.close()


def asking(service: Service, **more: Any) -> httpx.AsyncClient:
    """A client that asks a service in this process, without a socket."""
    transport = httpx.ASGITransport(app=create_app(service), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", **more)


@pytest.fixture
async def client(small: Finished) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service over a home with one finished evaluation."""
    with service_over(small.home) as service:
        async with asking(service) as client:
            yield client


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Twenty-one questions and two models: the demo, smaller."""
    return made_and_copied(tmp_path_factory, "small", make_small)


@pytest.fixture(scope="session")
def waiting_once(tmp_path_factory: pytest.TempPathFactory) -> Waits:
    """A home in which all kinds of things wait for people, which nobody writes to."""
    folder = shared_folder(tmp_path_factory, "waiting") / "waits"

    def begin(folder: Path) -> Waits:
        folder.mkdir()
        return make_waiting(folder)

    made = made_by_one(folder, begin)
    own = tmp_path_factory.mktemp("waiting")
    shutil.copytree(folder, own, dirs_exist_ok=True)
    return made._replace(home=own / "home")


@pytest.fixture
def waiting(waiting_once: Waits, tmp_path: Path) -> Waits:
    """A copy of it, to be written to."""
    shutil.copytree(waiting_once.home, tmp_path / "home")
    return waiting_once._replace(home=tmp_path / "home")
