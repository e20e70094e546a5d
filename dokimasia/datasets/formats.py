"""Which reader a data set needs, by what it is: its extension, its content, and that the two agree."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from dokimasia.datasets.folder import read_folder
from dokimasia.datasets.images import image_format
from dokimasia.datasets.lines import Problem, Row, read_rows
from dokimasia.datasets.parquet import read_parquet
from dokimasia.datasets.tsv import read_tsv
from dokimasia.errors import ConfigError, DataError, NotFound

Reader = Callable[[Path], Iterable[Row | Problem]]
"""A path to rows, in order and one at a time. Ids, images and all fields are checked by others, alike for every format."""

READERS: dict[str, Reader] = {
    ".jsonl": read_rows,
    ".ndjson": read_rows,
    ".tsv": read_tsv,
    ".parquet": read_parquet,
}
"""Extension, in small letters and with its dot, to reader."""

FOLDER = "folder"

_NAMES = {".jsonl": "JSON lines", ".ndjson": "JSON lines", ".tsv": "a VLMEvalKit TSV", ".parquet": "Parquet"}
_HEAD = 64 * 1024
_OTHERS = (
    (b"\x1f\x8b", "is compressed; unpack it first"),
    (b"BZh", "is compressed; unpack it first"),
    (b"\xfd7zXZ\0", "is compressed; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed; unpack it first"),
    (b"PK\x03\x04", "is a ZIP archive or a workbook; unpack it, or save the sheet as TSV"),
    (b"SQLite format 3\0", "is a database"),
    (b"ARROW1", "is an Arrow file; save it as Parquet"),
)


class Format(NamedTuple):
    """How a data set is read: the format's name (an extension without its dot, or `folder`) and its reader."""

    name: str
    reader: Reader


def register_reader(extension: str, reader: Reader, *, replace: bool = False) -> None:
    """Make files of an extension readable.

    Args:
        extension: such as `.mine`; capitals do not matter.
        reader: path to rows.
        replace: whether a reader that is there already gives way.

    Raises:
        ConfigError: the extension is none, or has a reader.
    """
    extension = extension.lower()
    if len(extension) < 2 or not extension.startswith(".") or "/" in extension:
        raise ConfigError(f"{extension!r} is no file extension; it begins with a dot, such as '.mine'")
    if READERS.get(extension, reader) is not reader and not replace:
        raise ConfigError(
            f"files called {extension} have a reader already; pass replace=True to put another in its place"
        )
    READERS[extension] = reader


def format_of(path: Path) -> Format:
    """Return how a data set is read.

    Raises:
        NotFound: there is nothing at the path.
        DataError: no reader fits, or extension and content contradict each other.
    """
    if path.is_dir():
        return Format(FOLDER, read_folder)
    if not path.exists():
        raise NotFound(f"there is no data file {path}")
    extension = path.suffix.lower()
    head = _head(path)
    found = _by_content(head)
    reader = READERS.get(extension)
    if reader is None:
        if found is None:
            raise DataError(f"{path} {_what_it_is(head)}. {formats_text()}")
        return Format(found.removeprefix("."), READERS[found])
    if extension in _NAMES and found is not None and READERS[found] is not reader:
        raise DataError(
            f"{path} is named as {_NAMES[extension]} but its content is {_NAMES[found]}; rename it to {found}"
        )
    return Format(extension.removeprefix("."), reader)


def formats_text() -> str:
    """Return a sentence that lists what can be read."""
    added = sorted(set(READERS) - set(_NAMES))
    more = f", {', '.join(added)}" if added else ""
    return (
        "A data set is JSON lines (.jsonl), a VLMEvalKit TSV (.tsv), Parquet (.parquet, with the extra `parquet`)"
        f"{more}, or a folder of images with --prompt"
    )


def _head(path: Path) -> bytes:
    """Return how a file begins; nothing of a pipe, which can be read only once."""
    if not path.is_file():
        return b""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def _by_content(head: bytes) -> str | None:
    """Return the extension that the content of a file speaks for, if it speaks clearly."""
    if head.startswith(b"PAR1"):
        return ".parquet"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return ".jsonl"
    columns = text.partition(b"\n")[0].strip().replace(b'"', b"").split(b"\t")
    return ".tsv" if len(columns) > 1 and b"index" in columns else None


def _what_it_is(head: bytes) -> str:
    if image_format(head):
        return "is an image, and no data set; put images into a folder and give the folder"
    for signature, what in _OTHERS:
        if head.startswith(signature):
            return what
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return "is a JSON array; write one object a line"
    columns = head.partition(b"\n")[0].split(b",")
    if {b"index", b"id", b"question", b"prompt"} & {column.strip(b' "\r') for column in columns} and len(columns) > 1:
        return "is a table separated by commas; save it with tabs as TSV"
    return "is in no format that can be read"
