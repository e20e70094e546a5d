"""Bundles: one run with its rows, calls, values and images in a file, for other homes to produce the same figures.

A bundle is a ZIP file: `manifest.json`, `rows/TABLE.jsonl` with one database row a line, and `blobs/ab/abc…`.
The same run of the same home gives the same bytes.
"""

import base64
import hashlib
import json
import re
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import IO, Literal

import orjson
from pydantic import Field, JsonValue, ValidationError

from dokimasia.domain.identity import Value, canonical_json
from dokimasia.errors import InputError
from dokimasia.storage.connection import Row
from dokimasia.storage.home import Home
from dokimasia.storage.naming import NAMED, Label, Renaming, labels
from dokimasia.storage.runs import Run
from dokimasia.storage.schema.migrations import SCHEMA_VERSION
from dokimasia.storage.schema.rows import (
    SEAL,
    insert_row,
    insert_statement,
    matches_seal,
    next_number,
    row_digest,
    without_seal,
)
from dokimasia.storage.verification import verify_home
from dokimasia.version import __version__

FORMAT = 1

BY_CONTENT: Mapping[str, str] = {
    "samples": "id",
    "chains": "id",
    "criteria_sets": "id",
    "responses": "id",
    "judgements": "id",
    "objects": "id",
    "calls": "key",
    "texts": "hash",
    "attempts": "call_key",
    "criteria_collections": "collection_id",
    "reduced_images": "original",
    "tree_versions": "version_id",
}
"""Tables whose rows other rows refer to, with the column of reference."""

NUMBERED = ("events", "attempts", "comments")
"""Tables with numbered rows, which get other numbers in another home."""

LEFT_OUT = ("threads", "queue", "payers", "questions", "profiles")
"""Tables that no figure needs: unfinished work, a service's state, and capabilities of endpoints."""

_ID = re.compile(r"[0-9a-f]{16,64}")
_NAMED_IDS = re.compile(r'"([0-9a-f]{16,64})"')
_BLOB = re.compile(r"blobs/([0-9a-f]{2})/(\1[0-9a-f]{62})")
_ROWS = re.compile(r"rows/([a-z_]+)\.jsonl")
_DATE = (1980, 1, 1, 0, 0, 0)
_MOST_LINE = 1 << 28
"""The maximum length of a row in a bundle, in bytes."""


class BundledRows(Value):
    """The rows of a table in a bundle: their number, and the hash of their file."""

    rows: int
    sha256: str


class Manifest(Value):
    """What a bundle says of itself."""

    format: Literal[1]
    schema_version: int = Field(ge=1)
    version: str = Field(description="of the program that wrote it")
    runs: tuple[str, ...] = Field(min_length=1, description="the run, then runs that it was made from")
    tables: dict[str, BundledRows]
    images: int = Field(ge=0)


class Opened(Value):
    """What opening a bundle added to a home."""

    run: str
    runs: tuple[str, ...] = Field(description="all runs of the bundle, the one that was bundled first")
    added: tuple[str, ...] = Field(description="those that the home did not have yet")
    rows: int = Field(description="rows of the bundle")
    images: int


def bundle_file(home: Home, run: Run) -> Path:
    """Return the path of a run's bundle in the working folder: RUN.dokimasia, by the run's name or else its id."""
    name = labels(home).get(run.id, Label()).name
    plain = re.sub(r"[^\w.-]+", "-", name)  # a run opened from a bundle may have any name
    return Path(f"{plain or run.id}.dokimasia")


def write_bundle(home: Home, run: Run, path: Path) -> Manifest:
    """Write a finished run to a file, with everything that its figures rest on and nothing else.

    The runs it was made from, such as the evaluation of a refinement, are included.

    Args:
        home: the home of the run.
        run: the run.
        path: the file; an existing one is replaced once the bundle is complete.

    Raises:
        InputError: the run is not finished, or the file cannot be written.
        StorageError: something that it rests on is missing or damaged.
    """
    runs = _with_parents(home, run.id)
    for id, status in home.all_among("SELECT id, status FROM runs WHERE id IN ({marks}) ORDER BY id", runs):
        if status != "done":
            raise InputError(f"run {id} is {status}: a bundle has finished runs; dokimasia resume {id} goes on with it")
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder, ExitStack() as files:
            return _write(home, runs, path, Path(folder), files)
    except OSError as error:
        reason = error.strerror if path.parent.is_dir() else f"the folder {path.parent} does not exist"
        raise InputError(f"{path} cannot be written: {reason}; name another file with -o") from error


def _write(home: Home, runs: list[str], path: Path, folder: Path, files: ExitStack) -> Manifest:
    outputs: dict[str, IO[bytes]] = {}
    tables: dict[str, tuple[int, hashlib._Hash]] = {}
    images: set[str] = set()
    for table, row, names in _reachable(home, runs):
        if table not in outputs:
            outputs[table] = files.enter_context((folder / table).open("wb"))
        count, sha256 = tables.get(table) or (0, hashlib.sha256())
        line = _as_line(row)
        outputs[table].write(line)
        sha256.update(line)
        tables[table] = (count + 1, sha256)
        images.update(name for name in names if len(name) == 64 and home.blobs.file(name).is_file())
        if table == "samples":
            images.update(image["sha256"] for image in orjson.loads(row["body"])["images"])
    for output in outputs.values():
        output.close()
    manifest = Manifest(
        format=FORMAT,
        schema_version=SCHEMA_VERSION,
        version=__version__,
        runs=tuple(runs),
        tables={
            table: BundledRows(rows=count, sha256=sha256.hexdigest())
            for table, (count, sha256) in sorted(tables.items())
        },
        images=len(images),
    )
    archive_path = folder / "bundle"
    with zipfile.ZipFile(archive_path, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("manifest.json", _DATE), manifest.model_dump_json(indent=1))
        for table in sorted(outputs):
            entry = zipfile.ZipInfo(f"rows/{table}.jsonl", _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with (folder / table).open("rb") as source, archive.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target)
        for sha256 in sorted(images):
            archive.writestr(zipfile.ZipInfo(f"blobs/{sha256[:2]}/{sha256}", _DATE), home.blobs.get(sha256))
    archive_path.replace(path)
    return manifest


def _with_parents(home: Home, run_id: str) -> list[str]:
    """Return a run and the runs it refers to, directly or not, in a fixed order."""
    run_ids = {id for (id,) in home.all("SELECT id FROM runs")}
    runs = [run_id]
    for run in runs:
        (options,) = home.one("SELECT options FROM runs WHERE id = ?", (run,)) or ("",)
        runs += sorted((run_ids & set(_NAMED_IDS.findall(options))) - set(runs))
    return runs


def _reachable(home: Home, runs: list[str]) -> Iterator[tuple[str, Row, set[str]]]:
    """Yield the rows of runs and, transitively, those they refer to, each once with its table and the ids in it."""
    waiting: set[str] = set()
    for table, rows in _own_rows(home, runs):
        for row in rows:
            names = _ids_in(row)
            waiting |= names
            yield table, row, names
    seen: set[str] = set()
    grown = home.all_among("SELECT tree FROM tree_versions WHERE run_id IN ({marks})", runs)
    trees = {name for (name,) in grown}
    written: set[str] = set()
    while waiting:
        seen |= waiting
        batch, waiting = sorted(waiting), set()
        for table, column in BY_CONTENT.items():
            for row in home.rows_among(f"SELECT * FROM {table} WHERE {column} IN ({{marks}})", batch):
                if table == "tree_versions":
                    trees.add(row["tree"])
                    continue
                names = _ids_in(row)
                waiting |= names - seen
                yield table, row, names
        for table, row in _tree_rows(home, trees - written):
            names = _ids_in(row)
            waiting |= names - seen
            yield table, row, names
        written |= trees


def _own_rows(home: Home, runs: list[str]) -> Iterator[tuple[str, Iterable[Row]]]:
    """Yield each table whose rows belong to a run, with those of these runs."""
    rows = home.rows_among("SELECT * FROM runs WHERE id IN ({marks})", runs)
    yield "runs", [_without_folders(row) for row in rows]
    yield "spending", list(home.rows_among("SELECT * FROM spending WHERE id IN ({marks})", runs))
    for (table,) in home.all(
        "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'run_id' "
        "AND m.name NOT LIKE 'tree%' ORDER BY m.name"
    ):
        if table not in LEFT_OUT:
            yield table, _in_order(home, table, runs)
    items = [id for (id,) in home.all_among("SELECT id FROM check_items WHERE run_id IN ({marks}) ORDER BY id", runs)]
    yield "decisions", home.rows_among("SELECT * FROM decisions WHERE item IN ({marks}) ORDER BY item, number", items)


def _without_folders(row: Row) -> Row:
    """Return the row of a run, with this machine's folders removed from the files in its request."""
    options = orjson.loads(row["options"])
    request = {name: _base_names(value) for name, value in options.get("request", {}).items()}
    if request == options.get("request", {}):
        return row
    changed = {**without_seal(row), "options": canonical_json({**options, "request": request}).decode()}
    return {**changed, SEAL: row_digest("runs", changed) if matches_seal("runs", row) else row[SEAL]}


def _base_names(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_base_names(part) for part in value]
    if isinstance(value, str) and Path(value).is_absolute():
        return Path(value).name
    return value


def _in_order(home: Home, table: str, runs: list[str]) -> Iterator[Row]:
    keys = home.all("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,))
    order = ", ".join(name for (name,) in keys)
    for run in runs:
        yield from home.rows(f"SELECT * FROM {table} WHERE run_id = ? ORDER BY {order}", (run,))


def _tree_rows(home: Home, trees: set[str]) -> Iterator[tuple[str, Row]]:
    """Yield the rows of trees by their names."""
    for table, column, order in (
        ("trees", "name", "name"),
        ("tree_versions", "tree", "tree, position"),
        ("tree_criteria", "tree", "tree, criterion"),
        ("tree_mappings", "tree", "tree, version_id, criterion"),
    ):
        for row in home.rows_among(
            f"SELECT * FROM {table} WHERE {column} IN ({{marks}}) ORDER BY {order}", sorted(trees)
        ):
            yield table, row


def _ids_in(row: Row) -> set[str]:
    """Return the ids in a row: whole cells, and whole strings of JSON, but not parts of a text."""
    ids: set[str] = set()
    for cell in row.values():
        if not isinstance(cell, str):
            continue
        if _ID.fullmatch(cell):
            ids.add(cell)
        elif cell[:1] in "{[":
            ids.update(_NAMED_IDS.findall(cell))
    return ids


def _as_line(row: Row) -> bytes:
    cells = {
        name: {"bytes": base64.b64encode(cell).decode()} if isinstance(cell, bytes) else cell
        for name, cell in row.items()
        if cell is not None
    }
    return orjson.dumps(cells, option=orjson.OPT_SORT_KEYS) + b"\n"


async def open_bundle(path: Path, folder: Path) -> Opened:
    """Add the run of a bundle to a home, which is created if missing, without asking any model.

    Everything is verified before the home is changed, as by `dokimasia verify`: every id and hash, and that every
    reference resolves. A run that the home already has is unchanged. A name that belongs to another run of the home is
    dropped.

    Args:
        path: the bundle.
        folder: the home.

    Raises:
        InputError: the file is not a bundle, is damaged, or was written by a newer version.
        StorageError: the home cannot be written.
    """
    parent = _existing(folder)
    try:
        with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory(dir=parent, prefix=".bundle-") as place:
            manifest = _manifest(path, archive, parent)
            with Home.open(Path(place) / "home", write=True) as unpacked:
                await _load(path, archive, manifest, unpacked)
                for check in verify_home(unpacked):
                    for finding in check.findings:
                        raise _damaged(path, f"{finding.where} {finding.key}: {finding.what}")
                with Home.open(folder, write=True) as home:
                    return await _merge(unpacked, home, manifest)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError) as error:
        if _is_archive(path):
            raise _damaged(path, str(error)) from error
        raise InputError(f"{path} is not a bundle: {error}") from error
    except OSError as error:
        raise InputError(f"{error.filename or path} cannot be read or written: {error.strerror or error}") from error


def _existing(folder: Path) -> Path:
    """Return a folder, or its nearest existing ancestor."""
    return next(place for place in (folder.absolute(), *folder.absolute().parents) if place.is_dir())


def _is_archive(path: Path) -> bool:
    """Return whether a file begins like a ZIP archive."""
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _damaged(path: Path, what: str) -> InputError:
    return InputError(f"{path} is damaged or was changed: {what}. Nothing was added; ask for the bundle again")


def _manifest(path: Path, archive: zipfile.ZipFile, parent: Path) -> Manifest:
    """Return the manifest, after checking that the archive has only the files it lists, and fits on the disk."""
    entries = {entry.filename: entry for entry in archive.infolist()}
    if "manifest.json" not in entries or entries["manifest.json"].file_size > 1 << 20:
        raise InputError(f"{path} is not a bundle: dokimasia bundle RUN -o FILE writes them")
    try:
        declared = json.loads(archive.read("manifest.json"))
        if declared.get("schema_version", 0) > SCHEMA_VERSION or declared.get("format", 0) > FORMAT:
            raise InputError(f"{path} was written by a newer version, {declared.get('version')}: upgrade Dokimasia")
        manifest = Manifest.model_validate(declared)
    except (ValidationError, ValueError, AttributeError, TypeError) as error:
        raise _damaged(path, f"its manifest cannot be read ({type(error).__name__})") from error
    expected = {"manifest.json", *(f"rows/{table}.jsonl" for table in manifest.tables)}
    blobs = [name for name in entries if _BLOB.fullmatch(name)]
    if len(entries) != len(archive.infolist()) or {*expected, *blobs} != set(entries) or len(blobs) != manifest.images:
        raise _damaged(path, "its files are not those that its manifest names")
    size, free = sum(entry.file_size for entry in entries.values()), shutil.disk_usage(parent).free
    if 2 * size > free:
        raise InputError(f"{path} unpacks to {size:,} bytes twice, and {parent} has {free:,} left: free some space")
    return manifest


async def _load(path: Path, archive: zipfile.ZipFile, manifest: Manifest, home: Home) -> None:
    """Fill an empty home with the images and rows of a bundle."""
    for name in archive.namelist():
        if (match := _BLOB.fullmatch(name)) is not None:
            data = archive.read(name)
            if hashlib.sha256(data).hexdigest() != match[2]:
                raise _damaged(path, f"image {match[2]} has other bytes")
            home.blobs.put(data, match[2])
    tables = {
        table: {name for (name,) in home.all("SELECT name FROM pragma_table_info(?)", (table,))}
        for table in manifest.tables
        if table not in LEFT_OUT
    }
    for table in manifest.tables:
        if not tables.get(table) or table.startswith(("_", "sqlite")):
            raise _damaged(path, f"there is no table {table!r}")

    def fill(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA defer_foreign_keys=ON")
        for table, declared in manifest.tables.items():
            with closing(archive.open(f"rows/{table}.jsonl")) as lines:
                sha256, count = hashlib.sha256(), 0
                while line := lines.readline(_MOST_LINE):
                    sha256.update(line)
                    count += 1
                    row = _as_row(line)
                    if row is None or not row.keys() <= tables[table]:
                        raise _damaged(path, f"line {count} of rows/{table}.jsonl is no row")
                    connection.execute(insert_statement(table, row), tuple(row.values()))
            if (count, sha256.hexdigest()) != (declared.rows, declared.sha256):
                raise _damaged(path, f"rows/{table}.jsonl is not as it was written")

    try:
        await home.write(fill)
    except sqlite3.Error as error:
        raise _damaged(path, str(error)) from error
    if {id for (id,) in home.all("SELECT id FROM runs")} != set(manifest.runs):
        raise _damaged(path, "its runs are not those that its manifest names")


def _as_row(line: bytes) -> Row | None:
    """Return the row of a line, or None if it is not one."""
    try:
        cells = orjson.loads(line)
        if not isinstance(cells, dict):
            return None
        row: Row = {}
        for name, cell in cells.items():
            value = base64.b64decode(cell["bytes"], validate=True) if isinstance(cell, dict) else cell
            if not isinstance(value, str | int | float | bytes):
                return None
            row[name] = value
    except (ValueError, KeyError, TypeError):
        return None
    return row


async def _merge(unpacked: Home, home: Home, manifest: Manifest) -> Opened:
    """Add the runs of an unpacked bundle that a home lacks, with everything they refer to."""
    present = {id for (id,) in home.all_among("SELECT id FROM runs WHERE id IN ({marks})", manifest.runs)}
    added = tuple(run for run in manifest.runs if run not in present)
    if added:
        for file in sorted(unpacked.blobs.path.glob("[0-9a-f][0-9a-f]/*")):
            home.blobs.put(file.read_bytes(), file.name)
        taken = {label.name for label in labels(home).values()} - {""}
        await home.write(lambda connection: _add_rows(connection, unpacked, manifest, present, taken))
    return Opened(
        run=manifest.runs[0],
        runs=manifest.runs,
        added=added,
        rows=sum(table.rows for table in manifest.tables.values()),
        images=manifest.images,
    )


def _add_rows(
    connection: sqlite3.Connection, unpacked: Home, manifest: Manifest, present: set[str], taken: set[str]
) -> None:
    connection.execute("PRAGMA defer_foreign_keys=ON")
    known_calls = {key for (key,) in connection.execute("SELECT DISTINCT call_key FROM attempts")}
    trees = {name for (name,) in connection.execute("SELECT name FROM trees")}
    items = {id for (id,) in connection.execute("SELECT id FROM check_items")}
    for table in manifest.tables:
        keys = unpacked.all("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,))
        number = next_number(connection, table) if table in NUMBERED else 0
        for row in unpacked.pages(table, key=", ".join(name for (name,) in keys)):
            owner = row.get("id" if table in ("runs", "spending") else "run_id")
            if table not in ("trees", "tree_versions") and owner in present:
                continue
            if row.get("name" if table == "trees" else "tree") in trees and table.startswith("tree"):
                continue  # the home's own tree of this name stays unchanged
            if table == "decisions" and row["item"] in items:
                continue
            if table == "runs":  # a service would open the files that runs name
                row = _without_folders(row)
            if table not in NUMBERED:
                connection.execute(insert_statement(table, row), tuple(row.values()))
            elif table != "attempts" or row["call_key"] not in known_calls:
                event = _renamed(row, taken) if table == "events" else row
                if event is not None:
                    insert_row(connection, table, {**without_seal(event), "id": number})
                    number += 1


def _renamed(event: Row, taken: set[str]) -> Row | None:
    """Return an event without a run's name that another run of the home has; None if nothing remains of it."""
    if event["kind"] != NAMED:
        return event
    change = Renaming.model_validate_json(event["data"])
    if change.name not in taken:
        return event
    change = change.model_copy(update={"name": ""})
    if change.tags or change.without:
        return {**event, "data": change.model_dump_json(exclude_defaults=True)}
    return None
