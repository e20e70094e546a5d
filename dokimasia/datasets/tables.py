"""Delimited text as rows: cells of several lines, CSV from spreadsheets, and protection of cells against evaluation."""

import csv
import importlib
import io
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from dokimasia.datasets.lines import MAX_LINE_BYTES, Problem, Row, not_utf8, problem_at, raw_lines, read_rows
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.wording import unguarded
from dokimasia.errors import ConfigError, DataError, NotFound


def read_records(path: Path) -> Iterator[Row | Problem]:
    """Yield the records of a file in order, or the problems of their lines; empty cells of a CSV are left out.

    A `.csv` file has a header and commas or semicolons between its cells, as written by spreadsheets; any other file is JSON
    lines.

    Raises:
        NotFound: there is no such file.
        DataError: it is a folder or cannot be read.
    """
    if path.suffix.lower() != ".csv":
        yield from read_rows(path)
        return
    lines: list[str] = []
    for number, raw in enumerate(raw_lines(path, "the line is too long for a table"), start=1):
        if isinstance(raw, Problem):
            yield raw
            return
        try:
            lines.append(raw.decode())
        except UnicodeDecodeError as error:
            yield not_utf8(path, number, error)
            return
    yield from _spreadsheet_rows(path, "".join(lines))


def _spreadsheet_rows(path: Path, text: str) -> Iterator[Row | Problem]:
    heading = text.partition("\n")[0]
    separator = ";" if heading.count(";") > heading.count(",") else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        names = [name.strip() for name in reader.fieldnames or ()]
        if len(set(names)) < len(names):
            yield problem_at(path, 1, "two columns have one name", "syntax")
            return
        reader.fieldnames = names
        for row in reader:
            line = reader.line_num
            cells: dict[str | None, Any] = dict(row)
            if None in cells:
                yield problem_at(path, line, f"more cells than the {len(names)} of the heading", "syntax")
                continue
            yield Row(line, {str(name): cell.strip() for name, cell in cells.items() if cell and cell.strip()})
    except csv.Error as error:
        yield problem_at(path, max(line, reader.line_num), f"no table: {error}", "syntax")


def read_csv(path: Path) -> Iterator[Row | Problem]:
    """Yield the rows of a CSV file, each with texts by column, or their problems; the first row names the columns.

    A row's number is that of its first line. Empty cells are None.

    Raises:
        NotFound: there is no such file.
        DataError: it is a folder or cannot be read.
    """
    header: list[str] | None = None
    for record in read_cells(path, delimiter=",", exact=True):
        if isinstance(record, Problem):
            yield record
            continue
        number, cells = record
        if header is None:
            header = [cell.strip() for cell in cells]
            wrong = repeated_column(header)
            if wrong is None and len(header) == 1 and ";" in header[0]:
                wrong = f"one column, {header[0]!r}, is found: a comma is expected between cells, and not a semicolon"
            if wrong is not None:
                yield problem_at(path, number, wrong, "columns")
                return
        elif len(cells) != len(header):
            yield wrong_width(path, number, cells, header, "comma")
        else:
            yield Row(number, {name: unguarded(cell) or None for name, cell in zip(header, cells, strict=True)})


def csv_delimiter(path: Path) -> str:
    """Return the delimiter of a CSV file: a comma or a semicolon, whichever its first line has more of."""
    first = next(iter(raw_lines(path, "the line is too long for a table")), b"")
    text = b"" if isinstance(first, Problem) else first
    if text.count(b";") > text.count(b","):
        return ";"
    return ","


MAX_WORKBOOK = 2**30
"""The maximum number of bytes of an unpacked workbook."""

SMALL_WORKBOOK, MAX_UNPACKING = 20_000_000, 100
"""Bytes that any workbook may have unpacked; how many times its size a larger one may have."""

MAX_ROWS, MAX_CELLS = 2**20, 20_000_000
"""Rows of a sheet, as in Excel, and cells up to the last in each row, empty ones included."""


def workbook_cells(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (row, cells as texts) for each row of the first sheet of a workbook that has a value; see `workbook_rows`."""
    for number, values in workbook_rows(path):
        cells = list(map(_cell_text, values))
        if any(cells):
            yield number, cells


def workbook_rows(path: Path, *, formulas: bool = False) -> Iterator[tuple[int, Sequence[object]]]:
    """Yield (row, values) for each row of the first sheet of a workbook.

    With `formulas`, a cell that begins with an equals sign yields its text, otherwise its computed value.

    Raises:
        NotFound: there is no such file.
        ConfigError: openpyxl is not installed.
        DataError: it is not a workbook, or is too large.
    """
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ImportError:
        raise ConfigError(
            f"{path} is a workbook, which needs openpyxl: pip install 'dokimasia[excel]', or save it as CSV, TSV or JSON"
        ) from None
    try:
        with ZipFile(path) as packed:
            most = min(MAX_WORKBOOK, max(SMALL_WORKBOOK, MAX_UNPACKING * path.stat().st_size))
            if sum(part.file_size for part in packed.infolist()) > most:
                raise DataError(f"{path}: unpacked it has more than {most:,} bytes, and is not read; save it as TSV")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and other contents of workbooks besides cells
            book = openpyxl.load_workbook(path, read_only=True, data_only=not formulas)
            try:
                cells = 0
                for number, values in enumerate(book.worksheets[0].iter_rows(values_only=True), start=1):
                    cells += len(values)
                    if number > MAX_ROWS or cells > MAX_CELLS:
                        raise DataError(
                            f"{path}: its first sheet has more than {MAX_ROWS:,} rows or {MAX_CELLS:,} cells, empty ones "
                            "included, and is not read; save it as TSV"
                        )
                    yield number, values
            finally:
                book.close()
    except FileNotFoundError as error:
        raise NotFound(f"there is no data file {path}") from error
    except (BadZipFile, OSError, KeyError, IndexError, ValueError, TypeError, SyntaxError) as error:
        raise DataError(f"{path} is not a readable workbook ({type(error).__name__}: {error})") from error


def _cell_text(value: object) -> str:
    """Return the value of a workbook's cell as text; a whole number has no decimal point."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def repeated_column(header: Sequence[str], inside: str = "header") -> str | None:
    """Return the problem of a header with a duplicate column; None if there is none."""
    repeated = sorted(name for name, times in Counter(header).items() if times > 1)
    if repeated:
        return f"the column {repeated[0]!r} stands twice in the {inside}"
    return None


def header_fault(header: Sequence[str]) -> str | None:
    """Return the problem of a header that may have unnamed columns; None if there is none."""
    return repeated_column([name for name in header if name])


def headed_rows(
    path: Path,
    records: Iterable[tuple[int, Sequence[object]] | Problem],
    unit: str,
    cell: Callable[[object], object],
    *,
    fault: Callable[[Sequence[str]], str | None] = header_fault,
    delimiter: str = "delimiter",
) -> Iterator[Row | Problem]:
    """Yield the rows of a table whose first row names the columns; rows without a value are left out.

    Args:
        path: the file.
        records: number and cells of each row, from `read_cells` or `workbook_rows`.
        unit: `row` of a workbook, or `line`, of which each has as many cells as the header.
        cell: returns the value of a cell.
        fault: returns the problem of a header, which ends the reading.
        delimiter: the name of the delimiter, for messages.
    """
    header: list[str] = []
    for record in records:
        if isinstance(record, Problem):
            yield record
            continue
        number, cells = record
        if all(value is None or not str(value).strip() for value in cells):
            continue
        if not header:
            header = ["" if value is None else str(value).strip() for value in cells]
            if wrong := fault(header):
                yield problem_at(path, number, wrong, "columns", unit=unit)
                return
        elif unit == "line" and len(cells) != len(header):
            yield wrong_width(path, number, cells, header, delimiter)
        else:
            values = {name: cell(value) for name, value in zip(header, cells, strict=False) if name}
            yield Row(number, values, unit)


def rows_of_columns(path: Path, columns: JsonObject) -> list[JsonObject]:
    """Return rows from columns, each of which is a list, or an object by row.

    Raises:
        DataError: a column is neither.
    """
    rows: dict[str, JsonObject] = {}
    for name, column in columns.items():
        if isinstance(column, list):
            column = dict(enumerate(column))
        if not isinstance(column, dict):
            raise DataError(
                f"{path}: unrecognised JSON: neither a list of objects nor an object of columns (see {name!r})"
            )
        for row, value in column.items():
            rows.setdefault(str(row), {})[name] = value
    return list(rows.values())


def wrong_width(path: Path, number: int, cells: Sequence[object], header: Sequence[str], delimiter: str) -> Problem:
    """Return the problem of a row with more or fewer cells than the header."""
    counts = f"{len(cells)} cells where the header has {len(header)} columns"
    return problem_at(path, number, f"{counts}; is a {delimiter} too few or too many, or a quote?", "columns")


class _TextLine(NamedTuple):
    number: int
    text: str
    problem: Problem | None = None


class _LineBuffer:
    """The lines of a file, which can be pushed back; `end` is the problem that ended reading early, if any.

    Unless `exact`, line ends CRLF become LF.
    """

    def __init__(self, path: Path, *, exact: bool) -> None:
        self._path, self._exact = path, exact
        too_long = f"longer than {MAX_LINE_BYTES:,} bytes; nothing is read from here on"
        self._raw = enumerate(raw_lines(path, too_long), start=1)
        self._returned: deque[_TextLine] = deque()
        self.end: Problem | None = None

    def give_back(self, lines: list[_TextLine]) -> None:
        self._returned.extendleft(reversed(lines))

    def next(self) -> _TextLine | None:
        """Return the next line, or None at the end."""
        if self._returned:
            return self._returned.popleft()
        number, raw = next(self._raw, (0, None))
        if raw is None or isinstance(raw, Problem):
            self.end = self.end or raw
            return None
        if raw.endswith(b"\r\n") and not self._exact:
            raw = raw[:-2] + b"\n"
        try:
            return _TextLine(number, raw.decode())
        except UnicodeDecodeError as error:
            return _TextLine(number, raw.decode(errors="replace"), not_utf8(self._path, number, error))


def read_cells(path: Path, *, delimiter: str = "\t", exact: bool = False) -> Iterator[tuple[int, list[str]] | Problem]:
    """Yield (number of the first line, cells) for each record, or its problems; blank lines are skipped.

    The file is UTF-8, with or without a byte order mark. A cell in double quotes may contain delimiters, line breaks and
    doubled quotes. After a quote that is never closed, reading continues with the next line.

    Args:
        path: the file.
        delimiter: the character between cells.
        exact: whether line breaks inside cells stay unchanged; otherwise they become LF.

    Raises:
        NotFound: there is no such file.
        DataError: it is a folder or cannot be read.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    lines = _LineBuffer(path, exact=exact)
    while (first := lines.next()) is not None:
        if first.text.strip():
            cells, problems = _record(first, lines, path, delimiter)
            yield from problems
            if cells is not None and not problems:
                yield first.number, cells
    if lines.end is not None:
        yield lines.end


class _NotClosedError(Exception):
    """A cell's quote is still open at the end of the file, or beyond any plausible length."""


def _record(first: _TextLine, lines: _LineBuffer, path: Path, delimiter: str) -> tuple[list[str] | None, list[Problem]]:
    """Return the cells of the record that begins on a line, and its problems."""
    following: list[_TextLine] = []

    def feed() -> Iterator[str]:
        yield first.text
        size = len(first.text)
        while (line := lines.next()) is not None:
            following.append(line)
            size += len(line.text)
            if size > MAX_LINE_BYTES:
                break
            yield line.text
        raise _NotClosedError

    try:
        cells = next(csv.reader(feed(), delimiter=delimiter, strict=True))
    except (csv.Error, _NotClosedError) as error:
        lines.give_back(following)
        return None, [first.problem or problem_at(path, first.number, _broken(error), "syntax")]
    return cells, [line.problem for line in (first, *following) if line.problem is not None]


def _broken(error: Exception) -> str:
    if isinstance(error, _NotClosedError):
        return "a cell begins with a double quote that is never closed"
    if "expected after" in str(error):
        return (
            "something follows a closing quote; a cell that begins with a double quote ends with one, and quotes inside "
            "it are doubled"
        )
    return f"it cannot be taken apart: {error}"
