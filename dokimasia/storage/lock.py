"""The lock of a home: one process writes, and whoever comes second learns who that is, and how a service is asked."""

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

from dokimasia.errors import HomeLocked, StorageError
from dokimasia.storage.faults import wrap_sqlite_errors

SERVICE_FILE = "service.json"
"""The file of a home that says how the service which holds it is reached; for its own user alone."""

_COMMAND_LENGTH = 300
_LOOK_AGAIN = 0.02
_LOOKS = 25
_TRIES = 3


class WriterLock:
    """An exclusive lock on a file, held until `release` or the death of the process.

    The operating system drops the lock with its holder, so a crash leaves nothing to clear away. The file itself stays:
    removing it would let two processes lock two files of the same name.
    """

    def __init__(self, descriptor: int, since: str) -> None:
        self._descriptor: int | None = descriptor
        self._since = since

    @classmethod
    def acquire(cls, path: Path, *, command: str | None = None) -> "WriterLock":
        """Take the lock and write into the file who holds it, as JSON: pid, host, command, since.

        Args:
            path: the lock file; its folder exists.
            command: what the holder does, shown to others; default the command line of this process.

        Raises:
            HomeLocked: another process, or another part of this one, holds it.
            StorageError: the file cannot be opened or written, or the file system has no locks.
        """
        with wrap_sqlite_errors(path, "opening the lock"):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        with contextlib.ExitStack() as undo, wrap_sqlite_errors(path, "locking the home"):
            undo.callback(os.close, descriptor)
            if not _taken(descriptor):
                raise _refusal(path)
            since = datetime.now(UTC).isoformat(timespec="seconds")
            _sign(descriptor, command, since=since)
            undo.pop_all()
        return cls(descriptor, since)

    def announce(self, service: str) -> None:
        """Write into the file at which address the holder can be asked.

        Raises:
            StorageError: the lock is released.
        """
        if self._descriptor is None:
            raise StorageError("the lock is released: nobody can be told where its holder is")
        _sign(self._descriptor, None, since=self._since, service=service)

    def release(self) -> None:
        """Let the next writer in; releasing twice is harmless."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        with contextlib.suppress(OSError):  # a full disk must not keep the lock held
            os.ftruncate(descriptor, 0)
        os.close(descriptor)


def held_since(path: Path) -> str | None:
    """Return since when a lock is held, empty where that cannot be known, and None where nobody holds it.

    Whoever asks shares a free lock for a moment, for which a writer that comes meanwhile waits.
    """
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except OSError:  # it is held, or cannot be looked at
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return str(json.loads(path.read_bytes())["since"])
        return ""
    return None


def _taken(descriptor: int) -> bool:
    """Return whether the lock could be taken; a reader that looks whether it is held is waited for."""
    for _ in range(_TRIES):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(_LOOK_AGAIN)
    return False


def _sign(descriptor: int, command: str | None, *, since: str, service: str = "") -> None:
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "command": (command or shlex.join(sys.argv))[:_COMMAND_LENGTH],
        "since": since,
        **({"service": service} if service else {}),
    }
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(holder).encode(), 0)


def _refusal(path: Path) -> HomeLocked:
    home = path.parent
    elsewhere = "or use another home with --home"
    for _ in range(_LOOKS):
        try:
            holder = json.loads(path.read_bytes())
            pid, host = int(holder["pid"]), str(holder["host"])
            command, since = str(holder["command"]), str(holder["since"])
            service = str(holder.get("service", ""))
        except (OSError, ValueError, KeyError, TypeError):
            time.sleep(_LOOK_AGAIN)  # the holder has locked and not yet signed
            continue
        if pid == os.getpid() and host == socket.gethostname():
            return HomeLocked(
                f"{home} is already open for writing in this process ({pid} on {host}): close it first, {elsewhere}.",
                service=service,
            )
        served = f", a service at {service}" if service else ""
        return HomeLocked(
            f"{home} is being written by process {pid} on {host}{served} since {since} ({command}). "
            f"Wait until it ends, or stop it there with `kill -INT {pid}`, {elsewhere}; reading is possible meanwhile.",
            service=service,
        )
    return HomeLocked(
        f"{home} is being written by another process that has not said which. Wait until it ends, {elsewhere}."
    )


class Access(NamedTuple):
    """Where a service answers, and the token that it takes from commands of this machine."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"Access(url={self.url!r})"


@contextlib.contextmanager
def access_kept(home: Path, access: Access) -> Iterator[None]:
    """Keep in a home how its service is reached for the time inside, readable for this user alone.

    What a service that was killed left behind is replaced.

    Raises:
        StorageError: the file cannot be written.
    """
    path = home / SERVICE_FILE
    new = path.with_suffix(f".{os.getpid()}")
    with wrap_sqlite_errors(path, "writing how the service is reached"):
        with contextlib.suppress(FileNotFoundError):
            new.unlink()
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(access._asdict(), file)
        new.replace(path)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def access_to(home: Path) -> Access | None:
    """Return how the service of a home is reached; None where none was left, or by somebody else."""
    path = home / SERVICE_FILE
    try:
        with path.open(encoding="utf-8") as file:
            found = os.fstat(file.fileno())
            if found.st_uid != os.getuid() or found.st_mode & 0o077:
                return None
            kept = json.load(file)
            return Access(str(kept["url"]), str(kept["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
