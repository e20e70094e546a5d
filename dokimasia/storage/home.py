"""A home: a folder with database, checkpoints and blobs, open for one writer and any number of readers."""

import errno
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dokimasia.errors import ImpossibleHome, NotFound, OlderHome, StorageError
from dokimasia.storage.connection import Row, connect_reader, connect_writer, rows_of, through_sqlite_utils
from dokimasia.storage.content.blobs import FileBlobs
from dokimasia.storage.faults import wrap_sqlite_errors
from dokimasia.storage.lock import WriterLock, held_since
from dokimasia.storage.schema.migrations import SCHEMA_VERSION, applied_version, migrate, refuse_other
from dokimasia.storage.writer import WriteJob, Writer

if TYPE_CHECKING:
    from sqlite_utils import Database

T = TypeVar("T")

_DISK = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EIO))
"""Error numbers of a failing disk, which say nothing about the chosen folder."""

PAGE = 500
"""Largest number of rows, or of ids, in one query."""


class Home:
    """An open home, made by `Home.open`; use it as a context manager, or call `close`.

        home/
          dokimasia.db     runs, results, values and the ledger
          checkpoints.db   steps of unfinished graph threads
          blobs/ab/abc…    images by the SHA-256 of their bytes
          lock             the process that writes

    Attributes:
        path: the folder.
        database: its `dokimasia.db`.
        checkpoints: its `checkpoints.db`.
        blobs: its images.
    """

    def __init__(self, path: Path, *, lock: WriterLock | None, writer: Writer | None) -> None:
        """Use an opened folder. Call `Home.open` instead, which locks, creates and migrates first."""
        self.path = path
        self.database = path / "dokimasia.db"
        self.checkpoints = path / "checkpoints.db"
        self.blobs = FileBlobs(path / "blobs")
        self._lock = lock
        self._writer = writer
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._readers_gate = threading.Lock()
        self._closed = False
        self._identity = _identity(self.database)

    @property
    def in_place(self) -> bool:
        """Whether the database file is still the one that was opened."""
        return _identity(self.database) == self._identity

    @classmethod
    def open(cls, path: str | Path, *, write: bool, create: bool = True, command: str | None = None) -> "Home":
        """Open a home.

        Args:
            path: the folder.
            write: whether to take the lock and migrate the schema; a reader takes no lock and changes nothing.
            create: whether a writer creates a missing home.
            command: the writer's activity, shown to others while the home is locked; by default the command line.

        Raises:
            NotFound: there is no home, and none is to be created.
            ImpossibleHome: the path cannot be a home.
            HomeLocked: another process writes to it.
            NewerHome: a newer version of Dokimasia wrote it.
            OlderHome: an older version wrote it, and it is no longer readable, or only after a writer has migrated it.
            StorageError: it is damaged, or cannot be read or written.
        """
        folder = Path(path)
        if write:
            return _open_writing(folder, create=create, command=command)
        return _open_reading(folder)

    @property
    def is_writing(self) -> bool:
        """Whether the home was opened for writing."""
        return self._writer is not None

    def held_since(self, moment: str) -> bool:
        """Return whether the process that wrote at a stored time still holds the home, as far as can be known."""
        if self.is_writing:
            return True
        since = held_since(self.path / "lock")
        return since is not None and since <= moment

    @property
    def writer(self) -> Writer:
        """The writing thread.

        Raises:
            StorageError: the home was opened for reading.
        """
        if self._writer is None:
            raise StorageError(f"{self.path} is open for reading only: open it with write=True to write.")
        return self._writer

    def announce(self, service: str) -> None:
        """Publish the address of this process's service to others that find the home locked.

        Raises:
            StorageError: the home was opened for reading, or the lock file cannot be written.
        """
        if self._lock is None:
            raise StorageError(f"{self.path} is open for reading only: who holds it is another.")
        with wrap_sqlite_errors(self.path / "lock", "signing the lock"):
            self._lock.announce(service)

    @property
    def stands(self) -> tuple[int, int] | None:
        """The numbers of changes and of additions that this process committed (see `Writer`); None for a reader."""
        if self._writer is None:
            return None
        return (self._writer.changes, self._writer.additions)

    async def write(self, job: WriteJob[T], *, routine: bool = False) -> T:
        """Run a job on the writing connection and return its result once it is committed; `routine`: see `Writer`."""
        return await self.writer.run(job, routine=routine)

    def reader(self) -> sqlite3.Connection:
        """Return the calling thread's reading connection; each statement sees every earlier commit.

        Raises:
            StorageError: the home is closed, or the database cannot be read.
        """
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None and not self._closed:
            return connection
        with self._readers_gate:
            if self._closed:
                raise StorageError(f"{self.path} is closed: open it again to read from it.")
            with wrap_sqlite_errors(self.database, "opening the database"):
                connection = connect_reader(self.database)
            self._local.connection = connection
            self._readers.append(connection)
        return connection

    def one(self, sql: str, parameters: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None if there is none.

        Raises:
            StorageError: the database is damaged or cannot be read.
        """
        connection = self.reader()
        with wrap_sqlite_errors(self.database, "reading"):
            return connection.execute(sql, parameters).fetchone()

    def all(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query.

        Raises:
            StorageError: the database is damaged or cannot be read.
        """
        connection = self.reader()
        with wrap_sqlite_errors(self.database, "reading"):
            return connection.execute(sql, parameters).fetchall()

    def all_among(self, sql: str, ids: Iterable[str], *parameters: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query on many ids; `{marks}` in it is replaced by the ids, after all other parameters.

        Raises:
            StorageError: the database is damaged or cannot be read.
        """
        for query, values in _batches(sql, ids, parameters):
            yield from self.all(query, values)

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query with the names of their columns.

        Raises:
            StorageError: the database is damaged or cannot be read.
        """
        connection = self.reader()
        with wrap_sqlite_errors(self.database, "reading"):
            return rows_of(connection.execute(sql, parameters))

    def rows_among(self, sql: str, ids: Iterable[str], *parameters: object) -> Iterator[Row]:
        """Yield the rows of a query on many ids as `all_among` does, with the names of their columns.

        Raises:
            StorageError: the database is damaged or cannot be read.
        """
        for query, values in _batches(sql, ids, parameters):
            yield from self.rows(query, values)

    def pages(self, table: str, *, key: str = "id") -> Iterator[Row]:
        """Yield a table's rows in the order of its key.

        Rows are read page by page, so that no snapshot keeps the write-ahead log from being truncated.

        Args:
            table: the table's name.
            key: the columns of its key, separated by commas.

        Raises:
            StorageError: the database is damaged or cannot be read.
        """
        columns = key.split(", ")
        after, last = "", ()
        while page := self.rows(f"SELECT * FROM {table} {after} ORDER BY {key} LIMIT {PAGE}", last):
            yield from page
            last = tuple(page[-1][column] for column in columns)
            after = f"WHERE ({key}) > ({', '.join('?' * len(columns))})"

    def tables(self) -> "Database":
        """Return the database as one of sqlite-utils, on the calling thread's reading connection."""
        return through_sqlite_utils(self.reader())

    def close(self) -> None:
        """Commit queued jobs, close all connections and release the lock; closing twice is harmless."""
        with self._readers_gate:
            self._closed = True
            readers, self._readers = self._readers, []
        for connection in readers:
            connection.close()
        if self._writer is not None:
            self._writer.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> "Home":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _batches(sql: str, ids: Iterable[str], parameters: Sequence[object]) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield a query on many ids as queries on at most `PAGE` ids each, with their parameters."""
    unique_ids = list(dict.fromkeys(ids))
    for start in range(0, len(unique_ids), PAGE):
        batch = unique_ids[start : start + PAGE]
        yield sql.format(marks=",".join("?" * len(batch))), (*parameters, *batch)


def _open_writing(folder: Path, *, create: bool, command: str | None) -> Home:
    database = folder / "dokimasia.db"
    exists = _identity(database) is not None
    if not create and not exists:
        raise NotFound(_absent(folder))
    try:
        with wrap_sqlite_errors(folder, "making the home"):
            if not folder.exists():
                folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        lock = WriterLock.acquire(folder / "lock", command=command)
    except StorageError as error:
        if exists or not isinstance(error.__cause__, OSError) or error.__cause__.errno in _DISK:
            raise
        reason = error.__cause__.strerror
        raise ImpossibleHome(
            f"there can be no home at {folder}: {reason} (while making the home). Check the folder's permissions, or choose "
            "another place with --home or DOKIMASIA_HOME"
        ) from error
    with ExitStack() as undo:
        undo.callback(lock.release)
        with wrap_sqlite_errors(database, "opening the database"):
            connection = connect_writer(database)
            undo.callback(connection.close)
            _keep_from_others(database, folder / "checkpoints.db", new=not exists)
            migrate(connection, database)
        FileBlobs(folder / "blobs").sweep()
        undo.pop_all()
    return Home(folder, lock=lock, writer=Writer(connection, path=database))


def _keep_from_others(*files: Path, new: bool) -> None:
    """Remove other users' rights to the databases of a home, and for a new home also the group's."""
    for path in files:
        for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            with suppress(OSError):
                mode = file.stat().st_mode & 0o777
                closed = mode & (0o700 if new else 0o770)
                if closed != mode:
                    file.chmod(closed)


def _open_reading(folder: Path) -> Home:
    home = Home(folder, lock=None, writer=None)
    with ExitStack() as undo:
        undo.callback(home.close)
        if _identity(home.database) is None:
            raise NotFound(_absent(folder))
        with wrap_sqlite_errors(home.database, "opening the database"):
            version = applied_version(home.reader())
        refuse_other(version, home.database)
        if version == 0:
            raise NotFound(_absent(folder))
        if version < SCHEMA_VERSION:
            raise OlderHome(
                f"{home.database} was written by an older version (schema {version}, this is {SCHEMA_VERSION}). "
                "Run a command that writes, such as `dokimasia resume`, once: it brings the home up to date."
            )
        undo.pop_all()
    return home


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the identity of the file behind a path; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _absent(folder: Path) -> str:
    return (
        f"there is no home at {folder}. Name another with --home or DOKIMASIA_HOME; `dokimasia evaluate` makes one "
        "when it first runs."
    )
