"""Lookup of values by id."""

from collections.abc import Iterable
from typing import TypeVar

import orjson

from dokimasia.domain.identity import JsonObject, Value
from dokimasia.errors import StorageError
from dokimasia.storage.home import Home
from dokimasia.storage.values import VALUE_TABLES, read_value, stored_fields, table_of

V = TypeVar("V", bound=Value)


def find_value(home: Home, id: str) -> JsonObject:
    """Return a value of any type as `{"type": NAME, "value": FIELDS}`, ready for JSON.

    Raises:
        StorageError: the home has no value with that id.
    """
    if (row := home.one("SELECT type, body FROM objects WHERE id = ?", (id,))) is not None:
        type_name, body = row
        return {"type": type_name, "value": orjson.loads(body)}
    for type_, table in VALUE_TABLES.items():
        for row in home.rows(f"SELECT * FROM {table.name} WHERE id = ?", (id,)):
            return {"type": type_.stored_name(), "value": stored_fields(type_, row)}
    raise StorageError(f"{home.database} has no value {id}.")


def find_values(home: Home, type_: type[V], ids: Iterable[str | None]) -> dict[str, V]:
    """Return values of one type, by id; missing ids (None, or empty) are skipped.

    Raises:
        StorageError: the home lacks one of them.
    """
    unique_ids = list(dict.fromkeys(filter(None, ids)))
    sql = f"SELECT * FROM {table_of(type_).name} WHERE id IN ({{marks}})"
    values = {
        row["id"]: read_value(type_, row)
        for row in home.rows_among(sql, unique_ids)
        if row.get("type", type_.stored_name()) == type_.stored_name()
    }
    missing = next((id for id in unique_ids if id not in values), None)
    if missing is not None:
        raise StorageError(f"{home.database} has no {type_.stored_name()} {missing}.")
    return values
