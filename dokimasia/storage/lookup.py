"""Values by id alone, for showing what a run made when only their ids are known."""

from typing import Any

import orjson

from dokimasia.errors import StorageError
from dokimasia.storage.home import Home
from dokimasia.storage.values import SHELVES

__all__ = ["find_value"]


def find_value(home: Home, id: str) -> dict[str, Any]:
    """Return a value of whatever type as `{"type": name, "value": its fields}`, ready for JSON.

    Raises:
        StorageError: the home has no value of that id.
    """
    rows = home.rows("SELECT type, body FROM objects WHERE id = ?", (id,))
    if rows:
        return {"type": rows[0]["type"], "value": orjson.loads(rows[0]["body"])}
    for type_, shelf in SHELVES.items():
        rows = home.rows(f"SELECT * FROM {shelf.table} WHERE id = ?", (id,))
        if rows:
            fields = orjson.loads(rows[0]["body"]) | {name: rows[0][name] for name in shelf.lifted}
            return {"type": type_.__name__, "value": fields}
    raise StorageError(f"{home.database} has no value {id}.")
