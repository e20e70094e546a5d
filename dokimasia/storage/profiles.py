"""Measured profiles: the latest findings on each model at each endpoint."""

import sqlite3

import orjson

from dokimasia.domain.call import ModelRef
from dokimasia.domain.identity import canonical_json
from dokimasia.domain.profile import EndpointProfile
from dokimasia.errors import StorageError
from dokimasia.storage.connection import Row
from dokimasia.storage.faults import in_brief
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import insert_row, without_seal

_FINDINGS = {"vision", "json_schema", "tools", "image_edit"}


async def save_profile(home: Home, profile: EndpointProfile) -> None:
    """Store a profile, replacing an earlier one of the same model at the same endpoint.

    Raises:
        StorageError: it could not be written.
    """
    body = profile.model_dump(mode="json")
    findings = {name: body.pop(name) for name in _FINDINGS}
    row = body | {
        "findings": canonical_json(findings).decode(),
        "finish_reasons": canonical_json(body["finish_reasons"]).decode(),
    }

    def replace(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM profiles WHERE model = :model AND endpoint = :endpoint", row)
        insert_row(connection, "profiles", row)

    await home.write(replace)


def load_profile(home: Home, ref: ModelRef) -> EndpointProfile | None:
    """Return the profile of a model at its endpoint, or None if it was never measured.

    Raises:
        StorageError: the row is not a valid profile.
    """
    rows = home.rows("SELECT * FROM profiles WHERE model = ? AND endpoint = ?", (ref.model, ref.endpoint))
    return _read(home, rows[0]) if rows else None


def list_profiles(home: Home) -> list[EndpointProfile]:
    """Return all profiles, by model and endpoint.

    Raises:
        StorageError: a row is not a valid profile.
    """
    return [_read(home, row) for row in home.rows("SELECT * FROM profiles ORDER BY model, endpoint")]


def _read(home: Home, row: Row) -> EndpointProfile:
    fields = without_seal(row)
    try:
        finish_reasons, findings = orjson.loads(fields["finish_reasons"]), orjson.loads(fields.pop("findings"))
        return EndpointProfile.model_validate({**fields, **findings, "finish_reasons": finish_reasons})
    except (ValueError, TypeError) as error:
        raise StorageError(
            f"{home.database}: the profile of {row['model']} at {row['endpoint']} does not read ({in_brief(error)}). "
            "Measure it anew with `dokimasia models --check`, which replaces it."
        ) from error
