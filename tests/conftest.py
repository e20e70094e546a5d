"""What every test shares: no network but this machine, a clean environment, and where the shared data lie."""

import ctypes
import gc
import os
import resource
import socket
import sys
from collections.abc import Generator
from contextlib import ExitStack
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from dokimasia.__main__ import COLLECT_EVERY

ROOT = Path(__file__).parent.parent
pytest_plugins = ["tests.tiers"]

IN_MEMORY = Path("/dev/shm")
SPACE_FOR_FOLDERS = 8 * 2**30
"""Bytes that must be free in memory for the folders of tests to lie there: homes are synced to the disk all the time."""

MOST_GROWTH = 100 * 2**20
"""Bytes by which a process may grow before all of it is searched for garbage."""

settings.register_profile("dokimasia", deadline=None)  # how long an example takes is the machine's affair
settings.load_profile("dokimasia")
gc.set_threshold(COLLECT_EVERY)  # as the program does: else the service's tests look for garbage a fifth of their time


def keep_folders_in_memory() -> None:
    """Have pytest put the folders of tests into memory, where there is room and programs may be executed."""
    if IN_MEMORY.is_dir() and not os.environ.get("PYTEST_DEBUG_TEMPROOT"):
        system = os.statvfs(IN_MEMORY)
        free = system.f_bavail * system.f_frsize
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if min(free, physical / 2) > SPACE_FOR_FOLDERS and not system.f_flag & os.ST_NOEXEC:
            os.environ["PYTEST_DEBUG_TEMPROOT"] = str(IN_MEMORY)


keep_folders_in_memory()


def pytest_collection_finish() -> None:
    """Leave what is loaded by now, which stays, out of every search for garbage: each takes a tenth of the time then."""
    gc.collect()
    gc.freeze()
    _searched["at"] = resident()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Collect the garbage of a test: an application holds itself, and hundreds of them would wait for the next search.

    What a test made and the next one drops, such as the fixtures of a module, is left out of these searches. So what the
    process has grown by decides when all of it is searched.
    """
    result = yield
    if gc.get_count()[1:] != (0, 0):
        gc.collect()
    if resident() > _searched["at"] + MOST_GROWTH:
        gc.unfreeze()
        gc.collect()
        return_freed_memory()
        _searched["at"] = resident()
    gc.freeze()
    begin_endless_run()
    return result


def begin_endless_run() -> None:
    """Begin a run that lasts until the end, once graphs are loaded: the first run counts all objects left out, in 10 ms."""
    executor = sys.modules.get("dokimasia.graphs.executor")
    if executor is not None and not _searched["runs"]:
        _searched["runs"] = 1
        _endless_run.enter_context(executor.reduced_gc())


def pytest_sessionfinish() -> None:
    """End the endless run."""
    _endless_run.close()


def resident() -> int:
    """Bytes of memory that the process has now; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


_searched = {"at": resident(), "runs": 0}
_endless_run = ExitStack()


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
