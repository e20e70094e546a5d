"""Rows as they are written and changed: each carries a hash of all its columns, by which a later edit shows."""

import sqlite3
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from dokimasia.domain.identity import digest
from dokimasia.storage.connection import rows_of

SEAL = "row_digest"
"""The column of that hash. Tables whose rows lie under a hash of their content (texts and values) do without it."""

Row = Mapping[str, Any]


def insert_rows(connection: sqlite3.Connection, table: str, rows: Iterable[Row], *, known_by: str = "") -> int:
    """Insert rows, sealed, inside a writing job, and return how many are new; one that is there stays as it is.

    A row is there if one has its key, or with `known_by` its values of these columns: another conflict is then an error.
    """
    target = f"({known_by}) " if known_by else ""
    return sum(insert_row(connection, table, row, target=target) for row in rows)


def insert_row(connection: sqlite3.Connection, table: str, row: Row, *, target: str = "") -> int:
    """Insert one row, as `insert_rows` does."""
    sealed = {**row, SEAL: row_digest(table, row)}
    return connection.execute(insert_statement(table, sealed, target=target), tuple(sealed.values())).rowcount


def change_row(connection: sqlite3.Connection, table: str, id: str, changes: Row) -> int:
    """Change columns of the row with that id inside a writing job; return how many rows that are: one, or none.

    The new seal is that of the changed row only where the old one held: an edit that was made past this program goes on
    showing.
    """
    rows = rows_of(connection.execute(f"SELECT * FROM {table} WHERE id = ?", (id,)))
    for row in rows:
        seal = row_digest(table, {**row, **changes}) if matches_seal(table, row) else row[SEAL]
        changed = {**changes, SEAL: seal}
        assigned = ", ".join(f"{name} = :{name}" for name in changed)
        connection.execute(f"UPDATE {table} SET {assigned} WHERE id = :id", {**changed, "id": id})
    return len(rows)


def next_number(connection: sqlite3.Connection, table: str, column: str = "id", **within: str) -> int:
    """Return, inside a writing job, the number that comes after the highest of a column, of the rows with these values."""
    where = " AND ".join(f"{name} = :{name}" for name in within) or "1"
    return connection.execute(f"SELECT coalesce(max({column}), 0) + 1 FROM {table} WHERE {where}", within).fetchone()[0]


def insert_statement(table: str, columns: Iterable[str], *, target: str = "") -> str:
    """Return an insert of values in the order of the columns, which leaves an existing row as it is."""
    return _insert_statement(table, tuple(columns), target)


@lru_cache(maxsize=128)  # the same few tables take a row or more with every call
def _insert_statement(table: str, columns: tuple[str, ...], target: str) -> str:
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT {target}DO NOTHING"


def row_digest(table: str, row: Row) -> str:
    """Return the hash of a row's columns, whatever it carries as its seal; an empty column counts as none.

    Raises:
        TypeError: a column holds bytes, which no sealed table does.
    """
    cells = {
        name: value if type(value) is str else _as_read(value)
        for name, value in row.items()
        if value is not None and name != SEAL
    }
    return digest(f"row of {table}", cells)


def matches_seal(table: str, row: Row) -> bool:
    """Return whether a row that was read is the one that was written."""
    try:
        return row_digest(table, row) == row[SEAL]
    except TypeError:
        return False


def without_seal(row: Row) -> dict[str, Any]:
    """Return a row that was read without its seal."""
    return {name: value for name, value in row.items() if name != SEAL}


def _as_read(value: Any) -> Any:
    """Return a value as SQLite gives it back, whatever the column's type: 5.0, 5 and True are the same where whole."""
    return int(value) if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()) else value
