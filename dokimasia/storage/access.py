"""How commands of the same user on the same machine get at the service that holds a home: its address and a secret."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from dokimasia.storage.faults import told

NAME = "service.json"


class Access(NamedTuple):
    """Where a service answers, and the token that it takes from commands of this machine."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"Access(url={self.url!r})"


@contextmanager
def access_kept(home: Path, access: Access) -> Iterator[None]:
    """Keep in a home how its service is reached for the time inside, readable for this user alone.

    What a service that was killed left behind is replaced.

    Raises:
        StorageError: the file cannot be written.
    """
    path = home / NAME
    new = path.with_suffix(f".{os.getpid()}")
    with told(path, "writing how the service is reached"):
        with suppress(FileNotFoundError):
            new.unlink()
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(access._asdict(), file)
        new.replace(path)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def access_to(home: Path) -> Access | None:
    """Return how the service of a home is reached; None where none was left, or by somebody else."""
    path = home / NAME
    try:
        with path.open(encoding="utf-8") as file:
            found = os.fstat(file.fileno())
            if found.st_uid != os.getuid() or found.st_mode & 0o077:
                return None
            kept = json.load(file)
            return Access(str(kept["url"]), str(kept["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
