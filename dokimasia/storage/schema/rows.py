"""Insertion and change of rows, each sealed with a hash of its columns, which reveals later edits."""

import sqlite3
from collections.abc import Iterable
from functools import lru_cache

from dokimasia.domain.identity import digest
from dokimasia.storage.connection import Row, rows_of

SEAL = "row_digest"
"""The column of the hash. Tables whose key is a hash of the content (texts and values) have no such column."""


def insert_rows(connection: sqlite3.Connection, table: str, rows: Iterable[Row], *, known_by: str = "") -> int:
    """Insert sealed rows, inside a writing job, and return the number of new ones; existing rows stay as they are.

    A row exists if another has its key, or, with `known_by`, the same values in these columns; any other conflict is then
    an error.
    """
    target = f"({known_by}) " if known_by else ""
    return sum(insert_row(connection, table, row, target=target) for row in rows)


def insert_row(connection: sqlite3.Connection, table: str, row: Row, *, target: str = "") -> int:
    """Insert one row, as `insert_rows` does."""
    sealed_row = {**row, SEAL: row_digest(table, row)}
    return connection.execute(insert_statement(table, sealed_row, target=target), tuple(sealed_row.values())).rowcount


def change_row(connection: sqlite3.Connection, table: str, id: str, changes: Row) -> int:
    """Change columns of the row with that id, inside a writing job; return the number of changed rows, 0 or 1.

    The row gets a new seal only if its old one matched, so that an earlier edit by another program stays visible.
    """
    rows = rows_of(connection.execute(f"SELECT * FROM {table} WHERE id = ?", (id,)))
    for row in rows:
        seal = row_digest(table, {**row, **changes}) if matches_seal(table, row) else row[SEAL]
        changed = {**changes, SEAL: seal}
        assigned = ", ".join(f"{name} = :{name}" for name in changed)
        connection.execute(f"UPDATE {table} SET {assigned} WHERE id = :id", {**changed, "id": id})
    return len(rows)


def next_number(connection: sqlite3.Connection, table: str, column: str = "id", **within: str) -> int:
    """Return, inside a writing job, the highest number in a column plus 1, among the rows with these values."""
    where = " AND ".join(f"{name} = :{name}" for name in within) or "1"
    return connection.execute(f"SELECT coalesce(max({column}), 0) + 1 FROM {table} WHERE {where}", within).fetchone()[0]


def insert_statement(table: str, columns: Iterable[str], *, target: str = "") -> str:
    """Return the statement that inserts values in the order of the columns and leaves an existing row unchanged."""
    return _insert_statement(table, tuple(columns), target)


@lru_cache(maxsize=128)  # every call adds rows to the same few tables
def _insert_statement(table: str, columns: tuple[str, ...], target: str) -> str:
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT {target}DO NOTHING"


def row_digest(table: str, row: Row) -> str:
    """Return the hash of a row's columns without its seal; an empty column counts like a missing one.

    Raises:
        TypeError: a column holds bytes, which sealed tables do not have.
    """
    cells = {
        name: value if type(value) is str else _as_read(value)
        for name, value in row.items()
        if value is not None and name != SEAL
    }
    return digest(f"row of {table}", cells)


def matches_seal(table: str, row: Row) -> bool:
    """Return whether a row is unchanged since it was written."""
    try:
        return row_digest(table, row) == row[SEAL]
    except TypeError:
        return False


def without_seal(row: Row) -> Row:
    """Return a row without its seal."""
    return {name: value for name, value in row.items() if name != SEAL}


def _as_read(value: object) -> object:
    """Return a value in its hashed form: SQLite does not distinguish 5.0, 5 and True."""
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return value
