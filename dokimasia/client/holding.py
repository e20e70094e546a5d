"""The service that holds a home of this machine, and takes commands of the user who started it."""

from pathlib import Path

from dokimasia.errors import HomeLocked, StorageError
from dokimasia.storage.lock import Access, WriterLock, access_to


def service_holding(home: Path) -> Access | None:
    """Return how the service that holds a home is reached; None where none does, or it is another user's.

    What a service that was killed left behind counts for nothing: the lock is held by whoever is alive.
    """
    access = access_to(home)
    if access is None:
        return None
    try:
        WriterLock.acquire(home / "lock").release()
    except HomeLocked as held:
        return access if held.service == access.url else None
    except StorageError:  # whoever writes next is told
        return None
    return None
