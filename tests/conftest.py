"""What every test shares: no network but this machine, a clean environment, and where the shared data lie."""

import ctypes
import gc
import os
import socket
from collections.abc import Generator
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from dokimasia.__main__ import COLLECT_EVERY

ROOT = Path(__file__).parent.parent
pytest_plugins = ["tests.tiers"]

FILES_A_WHOLE_SEARCH = 25
_files = count(1)

settings.register_profile("dokimasia", deadline=None)  # how long an example takes is the machine's affair
settings.load_profile("dokimasia")
gc.set_threshold(COLLECT_EVERY)  # as the program does: else the service's tests look for garbage a fifth of their time


def pytest_collection_finish() -> None:
    """Leave what is loaded by now, which stays, out of every search for garbage: each takes a tenth of the time then."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Collect the garbage of tests: an application holds itself, and hundreds of them would wait for the next search.

    What was left out of the searches is searched, too, after some files: it becomes garbage when later tests replace it.
    """
    result = yield
    if gc.get_count()[1:] != (0, 0):
        gc.collect()
    if nextitem is None or nextitem.path != item.path:
        if next(_files) % FILES_A_WHOLE_SEARCH == 0:
            gc.unfreeze()
            gc.collect()
            return_freed_memory()
        gc.freeze()
    return result


def return_freed_memory() -> None:
    """Return the memory that the C library keeps for later to the system, where it can: many threads leave much of it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class NetworkUsed(BaseException):
    """A connection to another machine: no handler for a transport's failures may take it for one."""


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to any other machine fails the test that makes it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in {socket.AF_INET, socket.AF_INET6} and not _is_loopback(address[0]):
            raise NetworkUsed(f"a test tried to connect to {address!r}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, home, configuration or width of the machine reaches a test."""
    for name in list(os.environ):
        if name.startswith(("DOKIMASIA_HOME", "COLUMNS")) or name.endswith(("_API_KEY", "_TOKEN", "_SECRET")):
            monkeypatch.delenv(name)


@pytest.fixture
def shared_data() -> Path:
    """The folder of real data that the project does not ship; the test is skipped where it is not present."""
    path = Path(os.environ.get("DOKIMASIA_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip(f"the shared data are not at {path}")
    return path


def _is_loopback(host: str) -> bool:
    return host == "localhost" or ip_address(host.split("%")[0]).is_loopback
