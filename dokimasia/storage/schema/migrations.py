"""Migrations of a database to the present schema: numbered, and applied in order, each in one transaction."""

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dokimasia.errors import NewerHome, OlderHome
from dokimasia.storage.connection import through_sqlite_utils, transaction
from dokimasia.storage.schema.tables import (
    cached_tokens,
    comments,
    cut_off_calls,
    deaths,
    embeddings,
    first_tables,
    payers,
    questions,
    queue,
    reasons,
    spending,
)

if TYPE_CHECKING:
    from sqlite_utils import Database

FIRST = 9
"""The number of the first migration. Homes with lower numbers were made before the first release and are not readable."""

MIGRATIONS: tuple[tuple[str, "Callable[[Database], None]"], ...] = (
    ("first_tables", first_tables),
    ("questions", questions),
    ("queue", queue),
    ("deaths", deaths),
    ("spending", spending),
    ("payers", payers),
    ("reasons", reasons),
    ("cached_tokens", cached_tokens),
    ("comments", comments),
    ("embeddings", embeddings),
    ("cut_off_calls", cut_off_calls),
)
"""The migrations in order, from number `FIRST` on. A released migration never changes; new ones are added at the end."""

SCHEMA_VERSION = FIRST + len(MIGRATIONS) - 1

_TABLE = """
CREATE TABLE IF NOT EXISTS _migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at TEXT NOT NULL
)
"""


def applied_version(connection: sqlite3.Connection) -> int:
    """Return the number of the last migration of a database; 0 if there is none."""
    table = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_migrations'").fetchone()
    if table is None:
        return 0
    return connection.execute("SELECT coalesce(max(number), 0) FROM _migrations").fetchone()[0]


def refuse_other(version: int, path: Path) -> None:
    """Check that this program can read a schema version.

    Raises:
        NewerHome: a newer program wrote the database.
        OlderHome: a program before the first release wrote it.
    """
    if 0 < version < FIRST:
        raise OlderHome(
            f"{path} was made by a development version of Dokimasia (schema {version}) whose runs are not read any more: "
            "use another home with --home. Nothing was changed."
        )
    if version > SCHEMA_VERSION:
        raise NewerHome(
            f"{path} has schema {version}; this version of Dokimasia knows schemas up to {SCHEMA_VERSION}. "
            "Upgrade Dokimasia, or use another home with --home. Nothing was changed."
        )


def migrate(connection: sqlite3.Connection, path: Path) -> int:
    """Apply the missing migrations and return the schema's version; several processes may do so at once.

    Each migration first takes the write lock and checks the version again, so that only one of two processes applies it.
    A process that dies during a migration leaves the state before it.

    Args:
        connection: in autocommit mode, from `connect_writer`.
        path: the database, named in errors.

    Raises:
        NewerHome: a newer program wrote the database.
        OlderHome: a program before the first release wrote it.
        sqlite3.Error: the database is damaged or cannot be written.
    """
    while True:
        version = applied_version(connection)
        refuse_other(version, path)
        if version == SCHEMA_VERSION:
            return version
        _apply_next(connection, path)


def _apply_next(connection: sqlite3.Connection, path: Path) -> None:
    tables = through_sqlite_utils(connection)
    with transaction(connection):
        connection.execute(_TABLE)
        version = applied_version(connection)
        refuse_other(version, path)
        if version < SCHEMA_VERSION:
            number = max(version + 1, FIRST)
            name, change = MIGRATIONS[number - FIRST]
            change(tables)
            connection.execute(
                "INSERT INTO _migrations (number, name, applied_at) VALUES (?, ?, ?)",
                (number, name, datetime.now(UTC).isoformat(timespec="seconds")),
            )
