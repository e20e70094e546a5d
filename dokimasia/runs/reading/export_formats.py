"""Rows of an export as bytes: JSON lines, CSV or Parquet; the same rows, the same bytes."""

import csv
import io
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import orjson

from dokimasia.datasets.tables import guarded
from dokimasia.errors import ConfigError, InputError
from dokimasia.runs.reading.exporting import Export

Format = Literal["jsonl", "csv", "parquet"]
FORMATS: tuple[Format, ...] = ("jsonl", "csv", "parquet")
JSON_LINES = ("", "json", "ndjson", "txt")
"""Endings, beside their own, of files that JSON lines may be written to."""


def format_of(name: str | None, path: Path | None) -> Format:
    """Return the format that is asked for: by name, else by the file's ending; JSON lines without one, or for plain text.

    Raises:
        ConfigError: the ending is that of another format.
    """
    ending = path.suffix.lower().lstrip(".") if path is not None else ""
    for known in FORMATS:
        if known == (name or ending):
            return known
    if ending in JSON_LINES:
        return "jsonl"
    raise ConfigError(
        f"{path}: an export is JSON lines, CSV or Parquet; name a file that ends in .jsonl, .csv or .parquet, "
        "or choose with --format"
    )


def encode(export: Export, format: Format) -> bytes:
    """Return an export in a format.

    Raises:
        ConfigError: Parquet is asked for, and pyarrow is not installed.
    """
    encoders: Mapping[Format, Callable[[Export], bytes]] = {
        "jsonl": _jsonl,
        "csv": _csv,
        "parquet": _parquet,
    }
    return encoders[format](export)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; one of that name is replaced only by a whole one.

    Raises:
        InputError: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written: {error.strerror}; name another file with -o") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, where there is none.

    Raises:
        InputError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}; name another folder") from error


def _jsonl(export: Export) -> bytes:
    lines = ({name: row[name] for name in export.columns} for row in export.rows)
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


def _csv(export: Export) -> bytes:
    """Comma-separated UTF-8 with a header; lists are JSON, null is an empty cell.

    A text that a spreadsheet would take for a formula gets an apostrophe in front: answers are written by models, and
    nothing of theirs may run on the reader's machine. Numbers stay as they are. JSON lines and Parquet are exact.
    """
    return csv_text([export.columns, *([row[name] for name in export.columns] for row in export.rows)])


class _Lines(list[str]):
    """Takes the lines of a writer that ends them in CRLF, and ends them in LF."""

    def write(self, line: str) -> None:
        """Take a line."""
        self.append(line.removesuffix("\r\n") + "\n")


def csv_text(rows: Iterable[Iterable[Any]]) -> bytes:
    """Return rows of values as comma-separated UTF-8, a line each; cells with line breaks of any kind are quoted."""
    lines = _Lines()
    csv.writer(lines).writerows(map(csv_cell, row) for row in rows)
    return "".join(lines).encode()


def csv_cell(value: Any) -> Any:
    """Return a value as a cell of comma-separated text; what a spreadsheet would take for a formula is quoted."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return guarded(value)
    return orjson.dumps(value).decode() if isinstance(value, Sequence) else value


def _parquet(export: Export) -> bytes:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ConfigError("Parquet needs pyarrow: pip install 'dokimasia[parquet]', or choose jsonl or csv") from None
    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "truth": pa.bool_(),
        "integers": pa.list_(pa.int64()),
        "texts": pa.list_(pa.string()),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in export.columns.items()])
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(export.rows, schema=schema), out, compression="zstd")
    return out.getvalue()
