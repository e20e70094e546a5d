"""Folders that take long to make, made once for all workers of a run: the first that needs one makes it, the others wait."""

import fcntl
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """Return a folder of this name that all workers of the run share, and that the run removes."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Hold the lock of a path within which one worker at a time is."""
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def made_by_one(folder: Path, make: Callable[[Path], T]) -> T:
    """Have one worker make a folder, which nobody writes to afterwards; return what `make` returned, to every worker."""
    record = folder.with_name(f"{folder.name}.pickle")
    with one_at_a_time(folder):
        if not record.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed
            record.write_bytes(pickle.dumps(make(folder)))
        return pickle.loads(record.read_bytes())
