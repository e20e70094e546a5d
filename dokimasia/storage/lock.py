"""The lock of a home: one process writes; others learn which one, and how to reach a service that holds the home."""

import contextlib
import fcntl
import json
import os
import shlex
import socket
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from dokimasia.errors import HomeLocked, StorageError
from dokimasia.storage.faults import wrap_sqlite_errors

SERVICE_FILE = "service.json"
"""Name of the file in a home with the access to the service that holds it; only its own user may read it."""

_COMMAND_LENGTH = 300
_LOOK_AGAIN = 0.02
_LOOKS = 25
_TRIES = 3


class Holder(BaseModel):
    """The process that holds a lock, as written into the lock file: its command, its start (ISO form) and its service, if any."""

    pid: int
    host: str
    command: str
    since: str
    service: str = ""


class WriterLock:
    """An exclusive lock on a file, held until `release` or the end of the process.

    The operating system releases the lock when its holder ends, so that a crash leaves nothing to clean up. The file itself
    stays: removing it would let two processes lock two files of the same name.
    """

    def __init__(self, descriptor: int, since: str) -> None:
        self._descriptor: int | None = descriptor
        self._since = since

    @classmethod
    def acquire(cls, path: Path, *, command: str | None = None) -> "WriterLock":
        """Take the lock, and write its `Holder` into the file as JSON.

        Args:
            path: the lock file, in an existing folder.
            command: the holder's activity, shown to others; by default the command line.

        Raises:
            HomeLocked: another process, or another part of this one, holds it.
            StorageError: the file cannot be opened or written, or the file system has no locks.
        """
        with wrap_sqlite_errors(path, "opening the lock"):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        with contextlib.ExitStack() as undo, wrap_sqlite_errors(path, "locking the home"):
            undo.callback(os.close, descriptor)
            if not _try_lock(descriptor):
                raise _refusal(path)
            since = datetime.now(UTC).isoformat(timespec="seconds")
            _write_holder(descriptor, command, since=since)
            undo.pop_all()
        return cls(descriptor, since)

    def announce(self, service: str) -> None:
        """Write the address of the holder's service into the file.

        Raises:
            StorageError: the lock is released.
        """
        if self._descriptor is None:
            raise StorageError("the lock is released: nobody can be told where its holder is")
        _write_holder(self._descriptor, None, since=self._since, service=service)

    def release(self) -> None:
        """Release the lock; releasing twice is harmless."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        with contextlib.suppress(OSError):  # a full disk must not keep the lock held
            os.ftruncate(descriptor, 0)
        os.close(descriptor)


def held_since(path: Path) -> str | None:
    """Return the time since which a lock is held, in ISO form; empty if unknown, None if the lock is free.

    The query takes a shared lock for a moment, which a writer waits for.
    """
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except OSError:  # it is held, or cannot be examined
        with contextlib.suppress(OSError, ValueError):
            return Holder.model_validate_json(path.read_bytes()).since
        return ""
    return None


def _try_lock(descriptor: int) -> bool:
    """Return whether the lock could be taken, after a wait for readers that are examining it."""
    for _ in range(_TRIES):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(_LOOK_AGAIN)
    return False


def _write_holder(descriptor: int, command: str | None, *, since: str, service: str = "") -> None:
    command = (command or shlex.join(sys.argv))[:_COMMAND_LENGTH]
    holder = Holder(pid=os.getpid(), host=socket.gethostname(), command=command, since=since, service=service)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(holder.model_dump(exclude_defaults=True)).encode(), 0)


def _refusal(path: Path) -> HomeLocked:
    home = path.parent
    elsewhere = "or use another home with --home"
    for _ in range(_LOOKS):
        try:
            holder = Holder.model_validate_json(path.read_bytes())
        except (OSError, ValueError):
            time.sleep(_LOOK_AGAIN)  # the holder has locked the file but not written into it yet
            continue
        process = f"{holder.pid} on {holder.host}"
        if holder.pid == os.getpid() and holder.host == socket.gethostname():
            return HomeLocked(
                f"{home} is already open for writing in this process ({process}): close it first, or give the open home as "
                "home=.",
                service=holder.service,
            )
        service = f", a service at {holder.service}" if holder.service else ""
        return HomeLocked(
            f"{home} is being written by process {process}{service} since {holder.since} ({holder.command}). Wait until it "
            f"ends, or stop it there with `kill -INT {holder.pid}`, {elsewhere}; reading is possible meanwhile.",
            service=holder.service,
        )
    return HomeLocked(
        f"{home} is being written by another process that has not said which. Wait until it ends, {elsewhere}."
    )


class Access(NamedTuple):
    """A service's address, and the token that it accepts from commands on this machine."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"Access(url={self.url!r})"


@contextlib.contextmanager
def published_access(home: Path, access: Access) -> Iterator[None]:
    """Publish the access to the service in the home during the block, readable for this user alone.

    The file of a killed service is replaced.

    Raises:
        StorageError: the file cannot be written.
    """
    path = home / SERVICE_FILE
    with wrap_sqlite_errors(path, "writing how the service is reached"):
        write_private(path, json.dumps(access._asdict()))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def write_private(path: Path, text: str) -> None:
    """Write a file atomically, readable only for this user, replacing an existing one.

    Raises:
        OSError: it cannot be written; an earlier file is unchanged.
    """
    new = path.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def access_to(home: Path) -> Access | None:
    """Return the access to the service of a home; None without a service, or for another user's."""
    path = home / SERVICE_FILE
    try:
        with path.open(encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or status.st_mode & 0o077:
                return None
            return Access(**json.load(file))
    except (OSError, ValueError, TypeError):
        return None
