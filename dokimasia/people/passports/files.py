"""Passport files: written atomically, and read only if unmodified (by their SHA-256)."""

from pathlib import Path
from typing import Any

import orjson
from pydantic import JsonValue, ValidationError

from dokimasia.domain.passport import FORMAT, Passport, hash_of
from dokimasia.errors import DataError, NotFound, list_faults
from dokimasia.runs.reading.exporting import write_whole

MAX_BYTES = 16 * 1024 * 1024

HOW = "a passport is what `dokimasia passport JUDGE -o FILE` wrote"


def encoded(passport: Passport) -> bytes:
    """Return the bytes of a passport's file; equal passports give equal bytes."""
    body = passport.model_dump(mode="json")
    return orjson.dumps(body, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def write_passport(passport: Passport, path: Path) -> None:
    """Write a passport atomically.

    Raises:
        InputError: it cannot be written.
    """
    write_whole(path, encoded(passport))


def read_passport(path: Path) -> Passport:
    """Return the passport of a file.

    Raises:
        NotFound: there is no such file.
        DataError: it is not a passport, has another version of the format, or was modified.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path}: larger than any passport; {HOW}")
        data = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"{path}: there is no such file; {HOW}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    return passport_in(data, path)


def passport_in(data: bytes, path: Path) -> Passport:
    """Return the passport in the bytes of a file; `path` names the file in errors.

    Raises:
        DataError: as `read_passport`.
    """
    try:
        body: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}, line {error.lineno}: no JSON ({error.msg}); {HOW}") from None
    format = body.get("format") if isinstance(body, dict) else None
    if format != FORMAT:
        name = FORMAT.partition("/")[0]
        known = f"this program reads {FORMAT}; make the passport anew with `dokimasia passport`, or use the program that made it"
        other = isinstance(format, str) and format.startswith(f"{name}/")
        raise DataError(f"{path}: its format is {format}, and {known}" if other else f"{path}: no passport; {HOW}")
    try:
        passport = Passport.model_validate(body)
    except ValidationError as error:
        first = list_faults(error)[0]
        raise DataError(f"{path}: {first.field or 'the file'}: {first.message}; {HOW}") from None
    if (content := hash_of(body)) != passport.sha256:
        raise DataError(
            f"{path}: it was changed after it was made: its content has the SHA-256 {content[:16]}…, and it "
            f"says {passport.sha256[:16] or 'none'}…; use an unchanged copy, or make it anew: dokimasia passport "
            f"{passport.judge.name} -o {path.name}"
        )
    return passport


def schema() -> dict[str, JsonValue]:
    """Return the JSON schema of a passport."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Passport.model_json_schema()}
