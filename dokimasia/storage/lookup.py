"""Lookup of values by id."""

from collections.abc import Iterable
from typing import Any, TypeVar

import orjson

from dokimasia.domain.identity import Value
from dokimasia.errors import StorageError
from dokimasia.storage.home import Home
from dokimasia.storage.values import VALUE_TABLES, read_value, table_of

V = TypeVar("V", bound=Value)


def find_value(home: Home, id: str) -> dict[str, Any]:
    """Return a value of any type as `{"type": name, "value": its fields}`, ready for JSON.

    Raises:
        StorageError: the home has no value with that id.
    """
    rows = home.rows("SELECT type, body FROM objects WHERE id = ?", (id,))
    if rows:
        return {"type": rows[0]["type"], "value": orjson.loads(rows[0]["body"])}
    for type_, shelf in VALUE_TABLES.items():
        rows = home.rows(f"SELECT * FROM {shelf.table} WHERE id = ?", (id,))
        if rows:
            fields = orjson.loads(rows[0]["body"]) | {name: rows[0][name] for name in shelf.lifted}
            return {"type": type_.stored_name(), "value": fields}
    raise StorageError(f"{home.database} has no value {id}.")


def find_values(home: Home, type_: type[V], ids: Iterable[str]) -> dict[str, V]:
    """Return the values of one type by id, a few hundred a query.

    Raises:
        StorageError: the home lacks one of them.
    """
    unique_ids = list(dict.fromkeys(ids))
    sql = f"SELECT * FROM {table_of(type_).table} WHERE id IN ({{marks}})"
    values = {
        row["id"]: read_value(type_, row)
        for row in home.rows_among(sql, unique_ids)
        if row.get("type", type_.stored_name()) == type_.stored_name()
    }
    missing = next((id for id in unique_ids if id not in values), None)
    if missing is not None:
        raise StorageError(f"{home.database} has no {type_.stored_name()} {missing}.")
    return values
