"""Verification of a home: checks of every hash, id and reference."""

import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import orjson

from dokimasia.domain.identity import Value, digest
from dokimasia.errors import StorageError
from dokimasia.storage.connection import Row, connect_reader
from dokimasia.storage.faults import in_brief
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import LedgerDamage, SqliteLedger
from dokimasia.storage.results import read_result
from dokimasia.storage.schema.rows import SEAL, matches_seal
from dokimasia.storage.values import VALUE_TABLES, lifted_fields, row_of

EDITED = "the reply to an image edit"
"""The source of an image made by a model."""

_BLOB = re.compile(r"[0-9a-f]{64}")
_REFERENCES = {
    "chain_id": "chains",
    "criteria_id": "criteria_sets",
    "response_id": "responses",
    "judgement_id": "judgements",
}


@dataclass(slots=True)
class CheckTally:
    """The number of things a part has checked so far."""

    checked: int = 0


class Check(NamedTuple):
    """A part of the verification: its name, the number of things checked, and the damage."""

    name: str
    checked: int
    findings: tuple[LedgerDamage, ...]


def verify_home(home: Home) -> Iterator[Check]:
    """Yield the checks of a home, which change nothing; a part that cannot be read is a finding of that part.

    The parts are `database` (SQLite's own check of both files), `foreign keys`, `images` (hashes of all files, and the
    presence of all images that samples and replies refer to), `texts and calls` (hashes of the ledger), `values` (ids and
    columns), `results` (the presence of all ids and calls that results refer to, and equal scores of results and judgements)
    and `rows` (hashes of all rows of the other tables, without rows that another part has reported).
    """
    parts: dict[str, Callable[[Home, CheckTally], Iterator[LedgerDamage]]] = {
        "database": _database,
        "foreign keys": _foreign_keys,
        "images": _images,
        "texts and calls": _ledger,
        "values": _values,
        "results": _results,
        "rows": _rows,
    }
    damage_places: set[tuple[str, str]] = set()
    for name, part in parts.items():
        tally, damages = CheckTally(), list[LedgerDamage]()
        try:
            damages.extend(part(home, tally))
        except StorageError as error:
            damages.append(LedgerDamage("database", home.database.name, f"the check broke off: {error}"))
        damages = [damage for damage in damages if name != "rows" or (damage.where, damage.key) not in damage_places]
        damage_places.update((damage.where, damage.key) for damage in damages)
        yield Check(name, tally.checked, tuple(damages))


def _database(home: Home, tally: CheckTally) -> Iterator[LedgerDamage]:
    for path in (home.database, home.checkpoints):
        if path.is_file():
            tally.checked += 1
            yield from (LedgerDamage("database", path.name, message) for message in _integrity(path) if message != "ok")


def _integrity(path: Path) -> list[str]:
    action = "opened"
    try:
        with closing(connect_reader(path)) as connection:
            action = "read"
            return [str(row[0]) for row in connection.execute("PRAGMA integrity_check(100)")]
    except sqlite3.Error as error:
        return [f"cannot be {action}: {in_brief(error)}"]


def _foreign_keys(home: Home, tally: CheckTally) -> Iterator[LedgerDamage]:
    for (table,) in home.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"):
        keys = len({row[0] for row in home.all(f"PRAGMA foreign_key_list([{table}])")})
        tally.checked += keys * home.all(f"SELECT count(*) FROM [{table}]")[0][0] if keys else 0
    for table, row, parent, _ in home.all("PRAGMA foreign_key_check"):
        yield LedgerDamage(table, f"row {row}", f"it refers to a row of {parent} that is not there")


def _images(home: Home, tally: CheckTally) -> Iterator[LedgerDamage]:
    for path in sorted(home.blobs.path.glob("[0-9a-f][0-9a-f]/*")):
        tally.checked += 1
        if not _BLOB.fullmatch(path.name) or path.parent.name != path.name[:2]:
            yield LedgerDamage("blobs", f"{path.parent.name}/{path.name}", "its name is not that of an image")
            continue
        try:
            with path.open("rb") as file:
                same = hashlib.file_digest(file, "sha256").hexdigest() == path.name
        except OSError as error:
            yield LedgerDamage("blobs", path.name, f"it cannot be read: {error.strerror}")
            continue
        if not same:
            yield LedgerDamage("blobs", path.name, "its bytes have another hash than its name")
    for sha256, source in sorted(_named_images(home).items()):
        if not home.blobs.file(sha256).is_file():
            tally.checked += 1
            yield LedgerDamage("blobs", sha256, f"{source} names it, and it is missing")


def _named_images(home: Home) -> dict[str, str]:
    """Return the required images by hash, each with its source: a sample, or the reply to an image edit.

    Damaged replies and samples are skipped; the checks of ledger and values report them.
    """
    by_image: dict[str, str] = {}
    for (reply,) in home.all("SELECT reply FROM calls WHERE kind = 'image_edit'"):
        with suppress(ValueError, KeyError, TypeError):  # a refusal has no image
            by_image[orjson.loads(reply)["image"]["sha256"]] = EDITED
    for row in home.pages("samples"):
        with suppress(ValueError, KeyError, TypeError):
            images = orjson.loads(row["body"])["images"]
            by_image |= dict.fromkeys((image["sha256"] for image in images), "a sample")
    return {sha256: source for sha256, source in by_image.items() if _BLOB.fullmatch(sha256)}


def _ledger(home: Home, tally: CheckTally) -> Iterator[LedgerDamage]:
    tally.checked = sum(home.all(f"SELECT count(*) FROM {table}")[0][0] for table in ("texts", "calls"))
    yield from SqliteLedger(home).verify()


def _values(home: Home, tally: CheckTally) -> Iterator[LedgerDamage]:
    types = {table.name: type_ for type_, table in VALUE_TABLES.items()}
    for table in (*types, "objects"):
        for row in home.pages(table):
            tally.checked += 1
            try:
                fault = _fault_of_value(row, types.get(table))
            except (ValueError, TypeError) as error:
                fault = f"it cannot be read: {in_brief(error)}"
            if fault:
                yield LedgerDamage(table, row["id"], fault)


def _fault_of_value(row: Row, type_: type[Value] | None) -> str:
    """Return the fault of a value's row, or an empty text; a row of the table `objects` (no `type_`) names its type."""
    lifted = lifted_fields(type_, row) if type_ else {}
    fields = orjson.loads(row["body"]) | lifted
    if digest(type_.stored_name() if type_ else row["type"], fields) != row["id"]:
        return "it no longer has the id that it is kept under"
    expected_row = row_of(type_.model_validate(fields)) if type_ else {}
    columns = [column for column, value in expected_row.items() if (row | lifted)[column] != value]
    if columns:
        return f"its columns differ from its body: {', '.join(columns)}"
    return ""


def _results(home: Home, tally: CheckTally) -> Iterator[LedgerDamage]:
    ids = {column: _ids(home, table) for column, table in _REFERENCES.items()}
    values = _ids(home, "objects").union(*(_ids(home, table.name) for table in VALUE_TABLES.values()))
    calls = {key for (key,) in home.all("SELECT key FROM calls")}
    scores = dict(home.all("SELECT id, score FROM judgements"))
    for (run_id,) in home.all("SELECT id FROM runs ORDER BY id"):
        samples = dict(home.all("SELECT sample_id, sample_digest FROM run_samples WHERE run_id = ?", (run_id,)))
        for row in home.rows("SELECT * FROM results WHERE run_id = ? ORDER BY item", (run_id,)):
            tally.checked += 1
            for fault in _faults(row, ids, values, calls, scores, samples):
                yield LedgerDamage("results", f"{run_id}/{row['item']}", fault)


def _faults(
    row: Row,
    ids: dict[str, set[str]],
    values: set[str],
    calls: set[str],
    scores: dict[str, float],
    samples: dict[str, str],
) -> Iterator[str]:
    try:
        result = read_result(row)
    except ValueError as error:
        yield f"it cannot be read: {in_brief(error)}"
        return
    has_sample = result.sample_id or result.sample_digest  # a report on a model has none, nor has a match of two models
    if has_sample and samples.get(result.sample_id) != result.sample_digest:
        yield f"its sample {result.sample_id} is not one of the run's, or has another content"
    for column, table in _REFERENCES.items():
        if row[column] is not None and row[column] not in ids[column]:
            yield f"its {column} {row[column]} is not in {table}"
    missing_values = [id for id in result.value_ids if id not in values]
    if missing_values:
        yield f"{len(missing_values)} of its values are not there, such as {missing_values[0]}"
    missing_calls = [key for key in result.calls if key not in calls]
    if missing_calls:
        yield f"{len(missing_calls)} of its calls are not in the ledger, such as {missing_calls[0]}"
    if result.judgement_id in scores and scores[result.judgement_id] != result.score:
        yield f"its score {result.score} is not that of its judgement, {scores[result.judgement_id]}"


def _rows(home: Home, tally: CheckTally) -> Iterator[LedgerDamage]:
    for (table,) in home.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"):
        columns = home.all("SELECT name, pk FROM pragma_table_info(?) ORDER BY pk", (table,))
        if all(name != SEAL for name, _ in columns):
            continue
        keys = [name for name, place_in_key in columns if place_in_key]
        for row in home.pages(table, key=", ".join(keys)):
            tally.checked += 1
            if not matches_seal(table, row):
                run = row.get("id" if table == "runs" else "run_id", "")
                key = "/".join(str(row[column]) for column in keys)
                yield LedgerDamage(table, key, "it was changed after it was written", run)


def _ids(home: Home, table: str) -> set[str]:
    return {id for (id,) in home.all(f"SELECT id FROM {table}")}
