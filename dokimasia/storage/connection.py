"""Connections to the database: the writer, the readers, and their settings."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dokimasia.storage.content.packing import unpack

if TYPE_CHECKING:
    from sqlite_utils import Database

BUSY_TIMEOUT = 10.0
"""Seconds that a statement waits for another process's lock before it fails."""

JOURNAL_SIZE_LIMIT = 64 * 1024 * 1024
"""The bytes to which the write-ahead log is truncated after a checkpoint."""

SAFE_AND_SMALL = ("synchronous=NORMAL", f"journal_size_limit={JOURNAL_SIZE_LIMIT}")
"""Settings of every writing connection, besides the write-ahead log."""

PAGE_SIZE = 8192
"""Bytes per page; prompts, samples and answers of one to three thousand bytes leave little of a page empty."""


Row = dict[str, Any]
"""A row: the values of its columns by name, each of its column's type."""


def rows_of(cursor: sqlite3.Cursor) -> list[Row]:
    """Return the rows of a query with the names of their columns."""
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in one transaction that takes the write lock first; roll back on any error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):  # the first error is more informative than the rollback's
                connection.execute("ROLLBACK")
        raise


@contextmanager
def _open_connection(target: Path | str, *, uri: bool = False) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(target, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False, uri=uri)
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _enter_wal(connection: sqlite3.Connection) -> None:
    """Switch the database to a write-ahead log; wait if another process is switching it.

    SQLite answers "locked" to that switch at once, whatever the busy timeout, so this function does the waiting.

    Raises:
        sqlite3.OperationalError: the database stays locked for `BUSY_TIMEOUT` seconds, or cannot be written.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            name = getattr(error, "sqlite_errorname", None) or ""
            if not name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def connect_writer(path: Path) -> sqlite3.Connection:
    """Return a writing connection in autocommit mode; create the file if missing.

    Under a write-ahead log with `synchronous=NORMAL` a commit survives the death of the process. After a power loss the
    last commits may be missing, but the database is never corrupt.

    Raises:
        sqlite3.Error: the file is not a database, or cannot be written.
    """
    with _open_connection(path) as connection:
        connection.execute(f"PRAGMA page_size={PAGE_SIZE}")  # for a new file; an existing one keeps its setting
        _enter_wal(connection)
        for pragma in (*SAFE_AND_SMALL, "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """Return a read-only connection; each statement sees every earlier commit.

    Its SQL function `unpack` returns the text of a packed column.

    In a folder that cannot be written, such as one on read-only media, a database that was closed cleanly is read as an
    immutable file, since SQLite cannot create the shared index of its log there.

    Raises:
        sqlite3.Error: the file is missing or is no database.
    """
    try:
        return _connect_reader(path, "mode=ro")
    except sqlite3.OperationalError:
        log = path.with_name(path.name + "-wal")
        if os.access(path.parent, os.W_OK) or not path.is_file() or (log.exists() and log.stat().st_size):
            raise
        return _connect_reader(path, "mode=ro&immutable=1")


def _connect_reader(path: Path, query: str) -> sqlite3.Connection:
    with _open_connection(f"file:{quote(str(path.absolute()))}?{query}", uri=True) as connection:
        connection.execute("PRAGMA query_only=ON")
        connection.create_function("unpack", 1, unpack, deterministic=True)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection


def through_sqlite_utils(connection: sqlite3.Connection) -> "Database":
    """Return a connection's database through sqlite-utils.

    sqlite-utils is imported on first use: it imports pandas if installed, which takes half a second.
    """
    from sqlite_utils import Database

    return Database(connection, recursive_triggers=False, execute_plugins=False)
