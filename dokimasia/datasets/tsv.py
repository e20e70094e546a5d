"""A VLMEvalKit TSV as rows: quoted cells over several lines, images in base64 or by path, options in columns A to Z."""

import csv
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dokimasia.datasets.columns import Columns, as_list, columns_of, row_of
from dokimasia.datasets.creation import creative_fault
from dokimasia.datasets.lines import MAX_LINE_BYTES, Problem, Row, not_utf8, problem_at, raw_lines
from dokimasia.datasets.sources import Earlier

LONGEST_INDEX = 64
"""A shorter text in `image` may be the index of an earlier row; longer ones are images (as VLMEvalKit has it)."""


class _Line(NamedTuple):
    number: int
    text: str
    problem: Problem | None = None


def read_tsv(path: Path) -> Iterator[Row | Problem]:
    """Yield the rows of a TSV in order, or what is wrong with them; a row's number is that of its first line.

    UTF-8, with or without a byte order mark; lines end in LF or CRLF. A cell that begins with a double quote ends with
    one and may hold tabs, line breaks and doubled quotes. After a quote that is never closed reading goes on with the
    next line.

    Raises:
        NotFound: there is no such file.
        DataError: it is a folder or cannot be read.
    """
    header: list[str] | None = None
    columns: Columns | None = None
    for record in read_records(path):
        if isinstance(record, Problem):
            yield record
            if header is None:
                return
            continue
        number, cells = record
        if header is None or columns is None:
            header = [cell.strip() for cell in cells]
            if wrong := _header_fault(header):
                yield problem_at(path, number, wrong, "columns")
                return
            columns = columns_of(header, own_names=False, images=())
            continue
        if len(cells) != len(header):
            wrong = f"{len(cells)} cells where the header has {len(header)} columns"
            yield problem_at(path, number, f"{wrong}; is a tab too few or too many, or a quote?", "columns")
            continue
        yield _row(number, dict(zip(header, cells, strict=True)), columns)


def _header_fault(header: list[str]) -> str | None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        return f"the column {twice[0]!r} stands twice in the header"
    if "index" not in header:
        return (
            "the header has no column 'index'; the first line names the columns, such as index, question, answer, image"
        )
    if not {"question", "image", "image_path"} & set(header):
        return "the header has none of the columns 'question', 'image' and 'image_path'"
    return creative_fault(header)


def _row(number: int, cells: dict[str, str], columns: Columns) -> Row:
    values = {name: cell for name, cell in cells.items() if cell.strip()}
    images: list[Earlier | str] = []
    if cell := values.pop("image", "").strip():
        images = [Earlier(one) if len(one) <= LONGEST_INDEX else one for one in as_list(cell)]
    elif paths := values.pop("image_path", "").strip():
        images = list(as_list(paths))
    row = row_of(number, values, columns, unit="line", images=images)
    names = as_list(cells.get("image_path", "").strip())
    if (
        cell
        and names != [""]
        and len(names) != len(images)
        and not any(isinstance(one, Earlier) and one.text for one in images)
    ):
        wrong = f"'image' holds {len(images)} and 'image_path' names {len(names)}; each image has one name"
        row = row._replace(faults=(*row.faults, ("image-missing", wrong)))
    return row


class _Lines:
    """The lines of a file, which can be given back; `end` is why reading stopped before the file's end, if it did.

    Unless the text is wanted `exact`, a line that ends in CRLF ends in LF.
    """

    def __init__(self, path: Path, *, exact: bool) -> None:
        self._path, self._exact = path, exact
        too_long = f"longer than {MAX_LINE_BYTES:,} bytes; nothing is read from here on"
        self._raw = enumerate(raw_lines(path, too_long), start=1)
        self._returned: deque[_Line] = deque()
        self.end: Problem | None = None

    def give_back(self, lines: list[_Line]) -> None:
        self._returned.extendleft(reversed(lines))

    def next(self) -> _Line | None:
        """Return the next line, or None where there is nothing more to be read."""
        if self._returned:
            return self._returned.popleft()
        number, raw = next(self._raw, (0, None))
        if raw is None or isinstance(raw, Problem):
            self.end = self.end or raw
            return None
        if raw.endswith(b"\r\n") and not self._exact:
            raw = raw[:-2] + b"\n"
        try:
            return _Line(number, raw.decode())
        except UnicodeDecodeError as error:
            return _Line(number, raw.decode(errors="replace"), not_utf8(self._path, number, error))


def read_records(
    path: Path, *, delimiter: str = "\t", exact: bool = False
) -> Iterator[tuple[int, list[str]] | Problem]:
    """Yield (number of the first line, cells), or what is wrong with them, passing over blank lines.

    Args:
        path: the file.
        delimiter: what stands between cells.
        exact: line breaks inside of cells stay as they are; otherwise they are LF.

    Raises:
        NotFound: there is no such file.
        DataError: it is a folder or cannot be read.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    lines = _Lines(path, exact=exact)
    while (first := lines.next()) is not None:
        if first.text.strip():
            record, problems = _record(first, lines, path, delimiter)
            yield from problems
            if record is not None and not problems:
                yield first.number, record
    if lines.end is not None:
        yield lines.end


class _NotClosedError(Exception):
    """A cell's quote is still open where the file ends, or where no cell would be that long."""


def _record(first: _Line, lines: _Lines, path: Path, delimiter: str) -> tuple[list[str] | None, list[Problem]]:
    """Return the cells of the record that begins on a line, and what is wrong with it."""
    taken: list[_Line] = []

    def feed() -> Iterator[str]:
        yield first.text
        size = len(first.text)
        while (line := lines.next()) is not None:
            taken.append(line)
            size += len(line.text)
            if size > MAX_LINE_BYTES:
                break
            yield line.text
        raise _NotClosedError

    try:
        cells = next(csv.reader(feed(), delimiter=delimiter, strict=True))
    except (csv.Error, _NotClosedError) as error:
        lines.give_back(taken)
        return None, [first.problem or problem_at(path, first.number, _broken(error), "syntax")]
    return cells, [line.problem for line in (first, *taken) if line.problem is not None]


def _broken(error: Exception) -> str:
    if isinstance(error, _NotClosedError):
        return "a cell begins with a double quote that is never closed"
    if "expected after" in str(error):
        return (
            "something follows a closing quote; a cell that begins with a double quote ends with one, and quotes inside "
            "it are doubled"
        )
    return f"it cannot be taken apart: {error}"
