"""Conversion of SQLite and file system errors into a StorageError that names the file and the remedy."""

import errno
import shutil
import sqlite3
from pathlib import Path

from dokimasia.errors import ImpossibleHome, InputError, StorageError

_NEXT_TO_NOTHING = 256 * 1024
_BY_NUMBER = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "full"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "forbidden"),
    errno.EIO: "disk",
}
_BY_NAME = {
    "full": ("SQLITE_FULL",),
    "forbidden": ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"),
    "damaged": ("SQLITE_CORRUPT", "SQLITE_NOTADB"),
    "busy": ("SQLITE_BUSY", "SQLITE_LOCKED"),
    "disk": ("SQLITE_IOERR",),
}


def _kind(error: sqlite3.Error | OSError) -> str:
    """Return the kind of an error: full, forbidden, damaged, busy, disk or other."""
    if isinstance(error, OSError):
        return _BY_NUMBER.get(error.errno or 0, "other")
    name = getattr(error, "sqlite_errorname", None) or ""
    return next((kind for kind, prefixes in _BY_NAME.items() if name.startswith(prefixes)), "other")


_WAY_OUT = {
    "full": "there is no space left. Free some and run the same command again: everything acknowledged so far is kept",
    "forbidden": "it may not be opened or written. Check the folder's permissions, or choose another home with --home",
    "damaged": (
        "the file is damaged and was left as it is. Restore it from a copy of the home, or save what can be read with "
        "`sqlite3 FILE .recover`, or move the home aside and start a new one"
    ),
    "busy": "another program keeps it locked (a database shell, perhaps). Close that program and run the command again",
    "disk": "the disk reports an error. Check it, then run the command again: everything acknowledged so far is kept",
    "other": "if the file was changed by another program, restore it from a copy of the home",
}


def storage_error(error: sqlite3.Error | OSError, *, path: Path, doing: str) -> StorageError:
    """Return a StorageError for a fault of the database or the file system.

    Args:
        error: the exception.
        path: the file or folder concerned.
        doing: the activity, a phrase that follows "while", such as "reading a call".
    """
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    kind = _kind(error)
    if kind == "disk" and _is_full(path):
        kind = "full"
    text = f"{path}: {message} (while {doing}); {_WAY_OUT[kind]}."
    if kind == "forbidden":
        return ImpossibleHome(text)
    return StorageError(text)


class wrap_sqlite_errors:
    """A context manager that raises SQLite and file system errors as StorageError (see `storage_error`).

    It is a class because `contextlib.contextmanager` takes three times as long, and every model call reads something.

    Raises:
        InputError: a number is too large for a query.
    """

    __slots__ = ("_doing", "_path")

    def __init__(self, path: Path, doing: str) -> None:
        self._path = path
        self._doing = doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.Error | OSError):
            raise storage_error(error, path=self._path, doing=self._doing) from error
        if isinstance(error, OverflowError):
            raise InputError(
                "a number that was asked for is larger than any that is kept: ask for a smaller one"
            ) from None


def _is_full(path: Path) -> bool:
    """Return whether the disk is almost full, since SQLite reports a log index that cannot grow as an I/O error."""
    try:
        return shutil.disk_usage(path.parent).free < _NEXT_TO_NOTHING
    except OSError:
        return False


def in_brief(error: Exception) -> str:
    """Return an error's type and message on one line of at most 200 characters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def checkpoints_error(error: sqlite3.Error | OSError, *, path: Path, doing: str) -> StorageError:
    """Return a StorageError for the checkpoints, whose loss costs only the steps of unfinished items."""
    if _kind(error) != "damaged":
        return storage_error(error, path=path, doing=doing)
    return StorageError(
        f"{path}: {error} (while {doing}); the file is damaged. It holds only the steps of unfinished items: delete it "
        "with its -wal and -shm neighbours and resume the run, which repeats those steps from the ledger, unpaid."
    )
