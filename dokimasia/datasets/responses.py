"""Answers that exist already, read from a file, to be judged without asking the candidate; exports of a run are such files."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dokimasia.datasets.cells import read_csv
from dokimasia.datasets.lines import Problem, Row, place, read_rows
from dokimasia.datasets.parquet import read_columns
from dokimasia.datasets.predictions import EXTENSIONS, as_response, name_and_file, read_predictions
from dokimasia.errors import DataError

FIELDS = ("id", "model", "response", "repeat", "arm", "outcome", "simulated")
"""What is read of a row; everything else is overlooked."""


@dataclass(frozen=True, slots=True)
class GivenResponse:
    """One answer: the sample's id, the model's name, the text as it stands (it may be empty), the repeat from 0.

    `place` is the file and the line that it stands on, for messages; `simulated` says that the file marks it as an export
    marks what simulated models made.
    """

    sample_id: str
    model: str
    text: str
    repeat: int
    place: str = field(default="", compare=False)
    simulated: bool = field(default=False, compare=False)


def _csv_rows(path: Path) -> Iterator[Row | Problem]:
    """Yield the rows of comma-separated text, where all cells are texts and nothing tells an empty answer from none."""
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
    ".parquet": lambda path: read_columns(path, FIELDS),
    **dict.fromkeys(EXTENSIONS, read_predictions),
}
"""Extension, in small letters and with its dot, to reader; everything else is JSON lines."""


def read_responses(path: Path) -> Iterator[GivenResponse]:
    """Yield the answers of a file whose rows have `id`, `model`, `response` and, from 0, `repeat`: JSON lines, CSV or Parquet.

    A run's export is such a file: its rows without an answer (`failed`, and no `response`), and those of another arm than
    the plain question with its image (`arm`), are passed over. Other fields are overlooked. Predictions as VLMEvalKit
    writes them (`index`, `prediction`), as a workbook, TSV or JSON, are read, too; of which model they are says the path
    (`named_file`), a column `model`, or the file's name.

    Raises:
        ConfigError: it is Parquet or a workbook, and what reads it is not installed.
        NotFound: there is no such file.
        DataError: a row cannot be used, or two rows answer for the same sample, model and repeat; with file and line.
            A file without any answer is one too.
    """
    first_lines: dict[tuple[str, str, int], int] = {}
    name, path = name_and_file(path)
    for row in READERS.get(path.suffix.lower(), read_rows)(path):
        if isinstance(row, Problem):
            raise DataError(row.message)
        if _passed_over(row.fields):
            continue
        row = as_response(row, path, name)
        given = _response(row.fields, place(path, row.line, row.unit))
        first = first_lines.setdefault((given.sample_id, given.model, given.repeat), row.line)
        if first != row.line:
            raise DataError(
                f"{given.place}: {given.model} already answers sample {given.sample_id!r}, repeat {given.repeat}, on "
                f"{row.unit} {first}"
            )
        yield given
    if not first_lines:
        raise DataError(f"{path}: the file holds no response")


def _response(fields: Mapping[str, Any], where: str) -> GivenResponse:
    id, model, text, repeat = (fields.get(name) for name in ("id", "model", "response", "repeat"))
    id = str(id) if type(id) is int else id
    if not isinstance(id, str) or not id.strip():
        raise DataError(f"{where}: the field 'id' is missing, empty, or no text")
    if not isinstance(model, str) or not model.strip():
        raise DataError(f"{where}: the field 'model' is missing, empty, or no text")
    if not isinstance(text, str):
        raise DataError(f"{where}: the field 'response' is missing or no text")
    repeat = 0 if repeat is None else repeat
    if type(repeat) is not int or repeat < 0:
        raise DataError(f"{where}: the field 'repeat' is not a whole number from 0")
    return GivenResponse(id, model, text, repeat, where, fields.get("simulated") in (True, 1, "1", "true", "True"))


def _passed_over(fields: Mapping[str, object]) -> bool:
    """Whether a row of an export holds no answer to the plain question."""
    return bool(fields.get("arm")) or (fields.get("outcome") == "failed" and fields.get("response") is None)
