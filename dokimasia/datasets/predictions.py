"""Predictions as VLMEvalKit writes them, a file a model: a workbook, a TSV or JSON with `index` and `prediction`."""

import importlib
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from zipfile import BadZipFile, ZipFile

from dokimasia.datasets.lines import MAX_LINE_BYTES, Problem, Row, place, problem_at
from dokimasia.datasets.tsv import read_records
from dokimasia.errors import ConfigError, DataError, NotFound

CREATION = ("_LiveMMBench_Creation", "_Creation_MMBench")
"""How the names of prediction files end, without their extension, for data sets whose own names have underscores."""

MAX_WORKBOOK = 2**30
"""Bytes of an unpacked workbook that is read."""

CUT_OFF = 32_767
"""Characters that a workbook's cell has room for; a longer text was cut off when it was written."""


def named_file(given: str | Path) -> Path:
    """Return `NAME=FILE`, or a file that bears no name, as one absolute path: the name stands before the file's own.

    A file that is there, whatever it is called, bears no name. Signs that a path could not hold are written as in a URL.

    Examples:
        >>> named_file("/data/openai/gpt=answers.xlsx").name, named_file("openai/gpt=/data/answers.xlsx").as_posix()
        ('gpt=answers.xlsx', '/data/openai%2Fgpt=answers.xlsx')
    """
    name, equals, file = str(given).partition("=")
    if Path(given).exists() or not equals or not name or Path(name).is_absolute():
        return Path(given).absolute()
    path = Path(file).absolute()
    return path.with_name(f"{quote(unquote(name), safe=' ()+,@')}={path.name}")


def name_and_file(path: Path) -> tuple[str | None, Path]:
    """Return the model's name that stands before a file's own, None where none does, and the file's path."""
    name, equals, file = path.name.partition("=")
    return (unquote(name), path.with_name(file)) if equals and name and file and not path.exists() else (None, path)


def read_predictions(path: Path) -> Iterator[Row | Problem]:
    """Yield the rows of a workbook (its first sheet), a TSV or a JSON file, by their columns' own names.

    Raises:
        ConfigError: it is a workbook, and openpyxl is not installed.
        NotFound: there is no such file.
        DataError: it cannot be read at all.
    """
    readers = {".xlsx": _workbook, ".tsv": _table, ".json": _json}
    return readers[path.suffix.lower()](path)


EXTENSIONS = frozenset({".xlsx", ".tsv", ".json"})


def as_response(row: Row, path: Path, name: str | None) -> Row:
    """Return a prediction's row as that of an answer: `id`, `model` and `response`; an answer's own stays as it is.

    Args:
        row: `index` (or `id`) and `prediction` say what was answered to what; without a column `model` the model is
            `name`, else what the file's name says before the data set's: `MODEL_DATASET.xlsx`.
        path: the file.
        name: the model's name that was given with the file.

    Raises:
        DataError: it is of another model than was named.
    """
    fields = row.fields
    if "prediction" in fields and "response" not in fields:
        told = fields["prediction"]
        model = fields.get("model") or name or _model_of(path)
        id = fields.get("id", fields.get("index"))
        response = "" if told is None else told if isinstance(told, str) else json.dumps(told)
        fields = {**fields, "id": id, "model": model, "response": response}
    elif name is not None:
        fields = {**fields, "model": fields.get("model") or name}
    if name is not None and fields["model"] != name:
        raise DataError(
            f"{place(path, row.line, row.unit)}: it is {fields['model']}'s answer, and not {name}'s; leave the name out"
        )
    return row._replace(fields=fields)


def _model_of(path: Path) -> str:
    stem = path.stem
    for ending in CREATION:
        if stem.endswith(ending) and stem != ending:
            return stem.removesuffix(ending)
    model, underscore, dataset = stem.partition("_")
    if not (model and underscore and dataset) or "_" in dataset:
        raise DataError(
            f"{path}: neither a column 'model' nor the file's name says which model answered; name it: --responses "
            f"NAME={path.name}"
        )
    return model


def _workbook(path: Path) -> Iterator[Row | Problem]:
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ImportError:
        raise ConfigError(
            f"{path} is a workbook, which needs openpyxl: pip install 'dokimasia[excel]', or save it as TSV or JSON"
        ) from None
    try:
        with ZipFile(path) as packed:
            if sum(part.file_size for part in packed.infolist()) > MAX_WORKBOOK:
                raise DataError(
                    f"{path}: unpacked it has more than {MAX_WORKBOOK:,} bytes, and is not read; save it as TSV"
                )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and of what workbooks hold beside cells
            book = openpyxl.load_workbook(path, read_only=True)
            try:
                yield from _rows(path, enumerate(book.worksheets[0].iter_rows(values_only=True), start=1), unit="row")
            finally:
                book.close()
    except FileNotFoundError as error:
        raise NotFound(f"there is no data file {path}") from error
    except (BadZipFile, OSError, KeyError, IndexError, ValueError, TypeError, SyntaxError) as error:
        raise DataError(f"{path} is no workbook that can be read ({type(error).__name__}: {error})") from error


def _table(path: Path) -> Iterator[Row | Problem]:
    records = read_records(path)
    yield from _rows(path, records, unit="line")


def _json(path: Path) -> Iterator[Row | Problem]:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_LINE_BYTES + 1)
        if len(raw) > MAX_LINE_BYTES:
            raise DataError(f"{path}: more than {MAX_LINE_BYTES:,} bytes; write one object a line, as .jsonl")
        found = json.loads(raw.decode("utf-8-sig"))
    except FileNotFoundError as error:
        raise NotFound(f"there is no data file {path}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read as JSON: {error}") from error
    if isinstance(found, dict):
        found = _by_column(path, found)
    if not isinstance(found, list):
        raise DataError(f"{path}: neither a list of objects nor an object of columns")
    for number, one in enumerate(found, start=1):
        if isinstance(one, dict):
            yield Row(number, one, unit="entry")
        else:
            yield problem_at(path, number, "not a JSON object", "syntax", unit="entry")


def _by_column(path: Path, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return columns, each a list or an object by row, as rows; a row is the same in all of them."""
    rows: dict[str, dict[str, Any]] = {}
    for name, column in columns.items():
        cells = column if isinstance(column, dict) else dict(enumerate(column)) if isinstance(column, list) else None
        if cells is None:
            raise DataError(f"{path}: neither a list of objects nor an object of columns (see {name!r})")
        for row, value in cells.items():
            rows.setdefault(str(row), {})[name] = value
    return list(rows.values())


def _rows(path: Path, records: Iterable[tuple[int, Sequence[Any]] | Problem], *, unit: str) -> Iterator[Row | Problem]:
    """Yield the rows of a table whose first row names the columns."""
    header: list[str] | None = None
    for record in records:
        if isinstance(record, Problem):
            yield record
            continue
        number, cells = record
        if all(cell is None or cell == "" for cell in cells):
            continue
        if header is None:
            header = ["" if cell is None else str(cell).strip() for cell in cells]
            if wrong := _header_fault(header):
                yield problem_at(path, number, wrong, "columns", unit=unit)
                return
        elif unit == "line" and len(cells) != len(header):
            wrong = f"{len(cells)} cells where the header has {len(header)} columns; is a tab too few or too many, or a quote?"
            yield problem_at(path, number, wrong, "columns", unit=unit)
        else:
            values = {name: _plain(cell) for name, cell in zip(header, cells, strict=False) if name}
            if unit == "row" and len(str(values.get("prediction") or "")) >= CUT_OFF:
                wrong = f"the prediction has {CUT_OFF:,} characters, where a workbook cuts texts off; take the TSV or the JSON"
                yield problem_at(path, number, wrong, "field", unit=unit)
            else:
                yield Row(number, values, unit=unit)


def _header_fault(header: Sequence[str]) -> str | None:
    if twice := sorted({name for name in header if name and header.count(name) > 1}):
        return f"the column {twice[0]!r} stands twice in the header"
    for wanted, other in (("index", "id"), ("prediction", "response")):
        if wanted not in header and other not in header:
            return f"the header has no column {wanted!r}; predictions have 'index' and 'prediction'"
    return None


def _plain(cell: Any) -> Any:
    """Return a cell's value: a whole number as one, an empty cell as None, what is no text or number as a text."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if cell is None or cell == "":
        return None
    return cell if isinstance(cell, str | int | float) else str(cell)
