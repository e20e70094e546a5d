"""Choice of a data set's reader by extension and content, and the reader of a folder of images."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from dokimasia.datasets.hub import read_hub
from dokimasia.datasets.images import EXTENSIONS, OnDisk, image_format
from dokimasia.datasets.lines import Problem, Row, location, read_rows
from dokimasia.datasets.mapping import mapped_rows
from dokimasia.datasets.parquet import read_parquet
from dokimasia.datasets.spreadsheets import read_spreadsheet, read_tsv
from dokimasia.domain.hub import HubPath
from dokimasia.errors import ConfigError, DataError, NotFound

Reader = Callable[[Path], Iterable[Row | Problem]]
"""A function from a path to rows, in order, one at a time. Ids, images and fields are checked later, for all formats."""

READERS: dict[str, Reader] = {
    ".jsonl": read_rows,
    ".ndjson": read_rows,
    ".tsv": read_tsv,
    ".parquet": read_parquet,
    ".csv": read_spreadsheet,
    ".xlsx": read_spreadsheet,
}
"""Readers by extension, in lower case and with its dot."""

FOLDER = "folder"
HUB = "hf"
SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini"})
"""Files of file managers, which are skipped, like all files whose name begins with a dot."""

_NAMES = {
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".tsv": "a VLMEvalKit TSV",
    ".parquet": "Parquet",
    ".csv": "CSV",
    ".xlsx": "a workbook",
}
_HEAD = 64 * 1024
_OTHERS = (
    (b"\x1f\x8b", "is compressed; unpack it first"),
    (b"BZh", "is compressed; unpack it first"),
    (b"\xfd7zXZ\0", "is compressed; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed; unpack it first"),
    (b"PK\x03\x04", "is a ZIP archive or a workbook; unpack it, or name the workbook .xlsx"),
    (b"SQLite format 3\0", "is a database"),
    (b"ARROW1", "is an Arrow file; save it as Parquet"),
)


class DataFormat(NamedTuple):
    """A data format: its name (an extension without its dot, or `folder`) and its reader."""

    name: str
    reader: Reader


def register_reader(extension: str, reader: Reader, *, replace: bool = False) -> None:
    """Register a reader for files with an extension.

    Args:
        extension: such as `.mine`, in any case.
        reader: returns the rows of a path.
        replace: whether to replace an existing reader.

    Raises:
        ConfigError: the extension is invalid, or has a reader already.
    """
    extension = extension.lower()
    if len(extension) < 2 or not extension.startswith(".") or "/" in extension:
        raise ConfigError(f"{extension!r} is not a file extension; it begins with a dot, such as '.mine'")
    if READERS.get(extension, reader) is not reader and not replace:
        raise ConfigError(
            f"files called {extension} have a reader already; pass replace=True to put another in its place"
        )
    READERS[extension] = reader


def format_of(path: Path) -> DataFormat:
    """Return the format of a data set.

    Raises:
        NotFound: there is nothing at the path.
        DataError: no reader fits, or extension and content contradict each other.
    """
    if isinstance(path, HubPath):
        return DataFormat(HUB, read_hub)
    if path.is_dir():
        return DataFormat(FOLDER, read_folder)
    if not path.exists():
        raise NotFound(f"there is no data file {path}")
    extension = path.suffix.lower()
    head = _head(path)
    indicated = _by_content(head)
    reader = READERS.get(extension)
    if reader is None:
        if indicated is None:
            raise DataError(f"{path} {_what_it_is(head)}. {formats_text()}")
        return DataFormat(indicated.removeprefix("."), READERS[indicated])
    if extension in _NAMES and indicated is not None and READERS[indicated] is not reader:
        raise DataError(
            f"{path} is named as {_NAMES[extension]} but its content is {_NAMES[indicated]}; rename it to {indicated}"
        )
    return DataFormat(extension.removeprefix("."), reader)


def with_mapping(reader: Reader, mapping: Mapping[str, str]) -> Reader:
    """Return a reader that uses the columns of a mapping for fields, see `parse_mapping`.

    Raises:
        ConfigError: its format has no columns to map.
    """
    if not mapping:
        return reader
    if reader is read_rows:
        return lambda path: mapped_rows(read_rows(path), path, mapping)
    for table in (read_tsv, read_spreadsheet, read_parquet, read_hub):
        if reader is table:
            return partial(table, mapping=mapping)
    raise ConfigError(
        "--map names the columns of JSON lines, tables (TSV, CSV, workbooks), Parquet and data sets of the Hugging Face Hub; "
        "the data are in another format"
    )


def formats_text() -> str:
    """Return a sentence that lists the readable formats."""
    added = sorted(set(READERS) - set(_NAMES))
    plugin_formats = f", {', '.join(added)}" if added else ""
    return (
        "A data set is JSON lines (.jsonl), a VLMEvalKit TSV (.tsv), CSV (.csv), a workbook (.xlsx, with the extra "
        "`excel`), Parquet (.parquet, with the extra `parquet`)"
        f"{plugin_formats}, a folder of images with --prompt, or hf://ORG/NAME (with the extra `hf`)"
    )


def _head(path: Path) -> bytes:
    """Return the first bytes of a file; empty for a pipe, which can be read only once."""
    if not path.is_file():
        return b""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def _by_content(head: bytes) -> str | None:
    """Return the extension that matches the content of a file, if it is unambiguous."""
    if head.startswith(b"PAR1"):
        return ".parquet"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return ".jsonl"
    columns = text.partition(b"\n")[0].strip().replace(b'"', b"").split(b"\t")
    if len(columns) > 1 and b"index" in columns:
        return ".tsv"
    return None


def _what_it_is(head: bytes) -> str:
    if image_format(head):
        return "is an image, and no data set; put images into a folder and give the folder"
    for signature, description in _OTHERS:
        if head.startswith(signature):
            return description
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return "is a JSON array; write one object a line"
    columns = head.partition(b"\n")[0].split(b",")
    if {b"index", b"id", b"question", b"prompt"} & {column.strip(b' "\r') for column in columns} and len(columns) > 1:
        return "is a table separated by commas; name it .csv"
    return "is in no format that can be read"


def read_folder(path: Path) -> Iterator[Row | Problem]:
    """Yield one row per image, in the order of the paths: `id` is the path in the folder, `category` the sub-folder.

    Every other file is a problem, so that no photograph in an unsupported format is silently skipped. Links to folders
    are not followed.

    Raises:
        DataError: the folder, or a folder in it, cannot be read.
    """
    names = sorted(_files(path), key=lambda name: name.split("/"))
    for number, name in enumerate(names, start=1):
        where = location(path, number, "file")
        try:
            name.encode()
        except UnicodeEncodeError:
            yield Problem(number, None, f"{where} ({name!a}): the name is not UTF-8; rename the file", "id")
            continue
        file = path / name
        if file.suffix.lower() not in EXTENSIONS and not _is_image(file):
            yield Problem(
                number,
                name,
                f"{where} (id {name!r}): is no PNG, JPEG, WebP or GIF; convert it, or take it out of the folder",
                "image-format",
            )
            continue
        folder, _, _ = name.rpartition("/")
        fields = {"id": name, "images": [OnDisk(file, name)], "category": folder or None}
        yield Row(number, fields, "file")


def _files(path: Path) -> Iterator[str]:
    """Yield the relative paths of the files in and below a folder, with slashes, in no particular order."""

    def fail(error: OSError) -> None:
        raise DataError(f"{error.filename} cannot be read: {error.strerror or error}") from error

    for folder, folders, files in os.walk(path, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = Path(folder).relative_to(path)
        for name in files:
            if not name.startswith(".") and name.lower() not in SYSTEM_FILES:
                yield (inside / name).as_posix()


def _is_image(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return image_format(opened.read(16)) is not None
    except OSError:
        return True  # reported as unreadable by the reader of the whole file
