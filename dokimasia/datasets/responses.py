"""Existing answers, to be judged without calling the candidate: exports of runs, and VLMEvalKit's predictions."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import quote, unquote

from pydantic import Field, field_validator

from dokimasia.datasets.columns import id_column
from dokimasia.datasets.lines import (
    MAX_LINE_BYTES,
    Name,
    Problem,
    Row,
    RowModel,
    field_error,
    location,
    parse_row,
    problem_at,
    read_rows,
    text_field,
)
from dokimasia.datasets.parquet import read_columns
from dokimasia.datasets.tables import headed_rows, header_fault, read_cells, read_csv, rows_of_columns, workbook_rows
from dokimasia.errors import DataError, NotFound

FIELDS = ("id", "model", "response", "repeat", "arm", "outcome", "simulated")
"""The fields of a row that are read; all others are ignored."""

CREATION = ("LiveMMBench_Creation", "Creation_MMBench")
"""Data sets whose names have underscores."""

PREDICTIONS = (".xlsx", ".tsv")
"""The extensions that files of predictions share with data sets."""

CUT_OFF = 32_767
"""The most characters in a workbook's cell; a text of that length has probably been truncated."""


@dataclass(frozen=True, slots=True)
class GivenResponse:
    """One answer: the sample's id, the model's name, the text (which may be empty), the repeat from 0.

    `place` is its file and line, for messages. `simulated` states that the file marks it as the answer of a simulated
    model, as exports do.
    """

    sample_id: str
    model: str
    text: str
    repeat: int
    place: str = field(default="", compare=False)
    simulated: bool = field(default=False, compare=False)


class ResponseRow(RowModel):
    """The fields of an answer."""

    id: Name = ""
    model: Annotated[str, text_field("is missing, empty or not a string")] = Field(default="", validate_default=True)
    response: Annotated[str, text_field("is missing or not a string", blank=True)] = Field(
        default=None, validate_default=True
    )
    repeat: int = 0

    @field_validator("repeat", mode="plain")
    @classmethod
    def _repeat(cls, value: object) -> int:
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise field_error("is not a whole number from 0")
        return value


def named_file(text: str | Path) -> Path:
    """Return `NAME=FILE`, or a plain file, as one absolute path, with the model's name as a prefix of the file's name.

    An existing file is always a plain file. Characters that a path cannot contain are percent-encoded.

    Examples:
        >>> named_file("/data/openai/gpt=answers.xlsx").name, named_file("openai/gpt=/data/answers.xlsx").as_posix()
        ('gpt=answers.xlsx', '/data/openai%2Fgpt=answers.xlsx')
    """
    name, equals, file = str(text).partition("=")
    if Path(text).exists() or not equals or not name or Path(name).is_absolute():
        return Path(text).absolute()
    path = Path(file).absolute()
    return path.with_name(f"{quote(unquote(name), safe=' ()+,@')}={path.name}")


def name_and_file(path: Path) -> tuple[str | None, Path]:
    """Split a path from `named_file`: return the model's name (None without one) and the file's path."""
    name, equals, file = path.name.partition("=")
    if equals and name and file and not path.exists():
        return (unquote(name), path.with_name(file))
    return (None, path)


class PredictionsName(NamedTuple):
    """The parts of a predictions file's name, `MODEL_DATASET.xlsx`, and the data set next to it; None
    if there is none.
    """

    model: str
    data: Path | None


def predictions_name(path: Path, data: str = "") -> PredictionsName | None:
    """Return the model and data set in the name of a VLMEvalKit predictions file; None if the name does not contain
    them.

    The data set's name may have underscores: it is `data`, that of a TSV in the same folder, or a known ending.

    Args:
        path: the file.
        data: the name of the data set, without extension, if it is known.
    """
    tables = [file for file in path.parent.glob("*.tsv") if path.stem.endswith(f"_{file.stem}")]
    longest = max(tables, key=lambda file: (len(file.stem), file.stem), default=None)
    endings = (*([longest.stem] if longest else []), *([data] if data else []), *CREATION)
    for ending in endings:
        model = path.stem.removesuffix(f"_{ending}")
        if model and model != path.stem:
            return PredictionsName(model, longest)
    model, underscore, dataset = path.stem.partition("_")
    if not (model and underscore and dataset) or "_" in dataset:
        return None
    return PredictionsName(model, longest)


def dataset_of_predictions(path: Path) -> Path | None:
    """Return the TSV with the questions of a VLMEvalKit predictions file in its folder; None if it is no such file."""
    name = predictions_name(path) if path.suffix.lower() in PREDICTIONS and path.is_file() else None
    if name is None or name.data is None:
        return None
    row = next(iter(READERS[path.suffix.lower()](path)), None)
    if isinstance(row, Row) and "prediction" in row.fields:
        return name.data
    return None


def read_responses(path: Path, data: str = "") -> Iterator[GivenResponse]:
    """Yield the answers of a file (JSON lines, CSV or Parquet) with `id`, `model`, `response` and, from 0, `repeat`.

    A run's export is such a file; its rows without an answer (`failed`, and no `response`) and of arms other than the
    plain question with its image (`arm`) are skipped. Other fields are ignored. VLMEvalKit's predictions (`index`,
    `prediction`) in a workbook, TSV or JSON are read too; their model is named by the path (`named_file`), a column
    `model`, or the file's name.

    Args:
        path: the file.
        data: the name of the answered data set, without extension, if known.

    Raises:
        ConfigError: the package that reads Parquet or workbooks is not installed.
        NotFound: there is no such file.
        DataError: a row cannot be used, two rows answer for the same sample, model and repeat (with file and line), or
            the file has no answer.
    """
    first_lines: dict[tuple[str, str, int], int] = {}
    name, path = name_and_file(path)
    for row in READERS.get(path.suffix.lower(), read_rows)(path):
        if isinstance(row, Problem):
            raise DataError(row.message)
        if _without_answer(row.fields):
            continue
        row = _as_response(row, path, name, data)
        where = location(path, row.line, row.unit)
        parsed = parse_row(ResponseRow, row.fields)
        if isinstance(parsed, list):
            hint = ""
            if name is None and "field 'model'" in parsed[0].text:
                hint = f"; if all answers of the file are one model's, name it: --responses NAME={path.name}"
            raise DataError(f"{where}: {parsed[0].text}{hint}")
        simulated = row.fields.get("simulated") in (True, 1, "1", "true", "True")
        response = GivenResponse(parsed.id, parsed.model, parsed.response, parsed.repeat, where, simulated)
        first = first_lines.setdefault((response.sample_id, response.model, response.repeat), row.line)
        if first != row.line:
            raise DataError(
                f"{where}: {response.model} already answers sample {response.sample_id!r}, repeat {response.repeat}, on "
                f"{row.unit} {first}"
            )
        yield response
    if not first_lines:
        raise DataError(f"{path}: the file holds no response")


def _without_answer(fields: Mapping[str, object]) -> bool:
    """Return whether a row of an export has no answer to the plain question."""
    return bool(fields.get("arm")) or (fields.get("outcome") == "failed" and fields.get("response") is None)


def _as_response(row: Row, path: Path, name: str | None, data: str) -> Row:
    """Return a prediction's row as that of an answer, with `id`, `model` and `response`; an answer's row is unchanged.

    Args:
        row: a row; a prediction has `index` (or `id`) and `prediction`. Without a column `model` its model is `name`,
            else the first part of the file's name: `MODEL_DATASET.xlsx`.
        path: the file.
        name: the model's name passed with the file.
        data: the name of the data set, if known.

    Raises:
        DataError: the row's model differs from `name`.
    """
    fields = row.fields
    model = fields.get("model") or name
    predicted = "prediction" in fields and "response" not in fields
    column = id_column(fields, *(("index", "id") if predicted else ("id",)))
    if column is not None and column != "id":
        fields = {**fields, "id": fields[column]}
    if predicted:
        prediction = fields.get("prediction")
        model = model or _model_of(path, data)
        response = "" if prediction is None else prediction
        if not isinstance(response, str):
            response = json.dumps(response)
        fields = {**fields, "model": model, "response": response}
    elif name is not None:
        fields = {**fields, "model": model}
    if name is not None and model != name:
        raise DataError(
            f"{location(path, row.line, row.unit)}: it is {model}'s answer, and not {name}'s; leave the name out"
        )
    return row._replace(fields=fields)


def _model_of(path: Path, data: str) -> str:
    name = predictions_name(path, data)
    if name is None:
        raise DataError(
            f"{path}: neither a column 'model' nor the file's name says which model answered; name it: --responses "
            f"NAME={path.name}"
        )
    return name.model


def _workbook(path: Path) -> Iterator[Row | Problem]:
    for row in headed_rows(path, workbook_rows(path, formulas=True), "row", _plain, fault=_header_fault):
        if isinstance(row, Row) and len(str(row.fields.get("prediction") or "")) >= CUT_OFF:
            wrong = (
                f"the prediction has {CUT_OFF:,} characters, where a workbook cuts texts off; take the TSV or the JSON"
            )
            yield problem_at(path, row.line, wrong, "field", unit=row.unit)
        else:
            yield row


def _table(path: Path) -> Iterator[Row | Problem]:
    return headed_rows(path, read_cells(path), "line", _plain, fault=_header_fault, delimiter="tab")


def _json(path: Path) -> Iterator[Row | Problem]:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_LINE_BYTES + 1)
        if len(raw) > MAX_LINE_BYTES:
            raise DataError(f"{path}: more than {MAX_LINE_BYTES:,} bytes; write one object a line, as .jsonl")
        value = json.loads(raw.decode("utf-8-sig"))
    except FileNotFoundError as error:
        raise NotFound(f"there is no data file {path}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read as JSON: {error}") from error
    if isinstance(value, dict):
        value = rows_of_columns(path, value)
    if not isinstance(value, list):
        raise DataError(f"{path}: unrecognised JSON: neither a list of objects nor an object of columns")
    for number, entry in enumerate(value, start=1):
        if isinstance(entry, dict):
            yield Row(number, entry, unit="entry")
        else:
            yield problem_at(path, number, "not a JSON object", "syntax", unit="entry")


def _header_fault(header: Sequence[str]) -> str | None:
    if wrong := header_fault(header):
        return wrong
    missing = "index" if id_column(header, "index", "id") is None else "prediction"
    if missing == "index" or not {"prediction", "response"} & {*header}:
        return f"the header has no column {missing!r}; predictions have 'index' and 'prediction'"
    return None


def _plain(cell: object) -> object:
    """Return a cell's value: integral numbers as int, empty cells as None, and values other than text or number as text."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if cell is None or cell == "":
        return None
    if isinstance(cell, str | int | float):
        return cell
    return str(cell)


def _csv_rows(path: Path) -> Iterator[Row | Problem]:
    """Yield the rows of a CSV file, in which an empty answer cannot be distinguished from a missing one."""
    for row in read_csv(path):
        if isinstance(row, Row):
            fields = dict(row.fields)
            if fields.get("outcome") != "failed" and "response" in fields:
                fields["response"] = fields["response"] or ""
            repeat = fields.get("repeat")
            if repeat is not None and repeat.isdecimal():
                fields["repeat"] = int(repeat)
            row = row._replace(fields=fields)
        yield row


READERS: Mapping[str, Callable[[Path], Iterator[Row | Problem]]] = {
    ".csv": _csv_rows,
    ".parquet": lambda path: read_columns(path, (*FIELDS, "ID", "Id")),
    ".xlsx": _workbook,
    ".tsv": _table,
    ".json": _json,
}
"""Readers by extension, in lower case and with its dot; all other files are JSON lines."""
