"""A process that dies in the middle of a chosen write: half of it reaches the file, then SIGKILL.

SQLite lets its system calls be replaced, for tests like this one. The replacements count the writes to the files of a
choice, once they are armed, and kill the process in the one that was chosen.
"""

import ctypes
import os
import signal
from collections.abc import Callable
from typing import Any

_Write = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
_WriteAt = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64)
_Get = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_Set = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_POINTERS = 13
"""Methods of a version 1 or 2 VFS before those for system calls: xOpen to xCurrentTimeInt64."""


class _Vfs(ctypes.Structure):
    """`sqlite3_vfs` as far as it is needed (SQLite, sqlite3.h)."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("file_size", ctypes.c_int),
        ("longest_path", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("methods", ctypes.c_void_p * _POINTERS),
        ("set_system_call", _Set),
        ("get_system_call", _Get),
    )


class TornWrites:
    """Kills this process in the `at`-th write, from when it is armed, to the file `name` (or `name*`: that begins so).

    Keep the object while writes may come: SQLite calls into it.
    """

    def __init__(self, name: str, at: int, *, armed: bool) -> None:
        """Replace SQLite's writes.

        Args:
            name: the file's name without its folder, such as `dokimasia.db-wal`.
            at: which write, from 1.
            armed: whether counting begins at once; else with `arm`.

        Raises:
            OSError: this SQLite does not let its system calls be replaced.
        """
        self._name = name
        self._left = at
        self._armed = armed
        self._kept: list[Any] = []
        vfs = _default_vfs()
        found = [self._replace(vfs, b"write", _Write, self._write)]
        found += [self._replace(vfs, name, _WriteAt, self._write_at) for name in (b"pwrite", b"pwrite64")]
        if not any(found):
            raise OSError("this SQLite has no writes that can be replaced")

    def arm(self) -> None:
        """Begin to count."""
        self._armed = True

    def _replace(self, vfs: Any, name: bytes, kind: Any, write: Callable[..., int]) -> bool:
        address = vfs.contents.get_system_call(vfs, name)
        if not address:
            return False
        original = kind(address)
        replacement = kind(lambda *arguments: write(original, *arguments))
        self._kept += [original, replacement]
        return vfs.contents.set_system_call(vfs, name, ctypes.cast(replacement, ctypes.c_void_p)) == 0

    def _write(self, original: Any, file: int, data: int, size: int) -> int:
        if self._is_the_one(file):
            original(file, data, size // 2)
            _die()
        return original(file, data, size)

    def _write_at(self, original: Any, file: int, data: int, size: int, offset: int) -> int:
        if self._is_the_one(file):
            original(file, data, size // 2, offset)
            _die()
        return original(file, data, size, offset)

    def _is_the_one(self, file: int) -> bool:
        if not self._armed:
            return False
        name = os.path.basename(os.readlink(f"/proc/self/fd/{file}"))
        if not (name == self._name or (self._name.endswith("*") and name.startswith(self._name[:-1]))):
            return False
        self._left -= 1
        return self._left == 0


def _default_vfs() -> Any:
    import _sqlite3

    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    library.sqlite3_vfs_find.argtypes = [ctypes.c_char_p]
    vfs = library.sqlite3_vfs_find(None)
    if not vfs or vfs.contents.version < 3:
        raise OSError("this SQLite does not let its system calls be replaced")
    return vfs


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()  # nothing more is done in this thread until the signal has come
