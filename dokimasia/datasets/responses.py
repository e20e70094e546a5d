"""Answers that exist already, read from a JSONL file, to be scored without asking the candidate."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from dokimasia.datasets.lines import Problem, place, read_rows
from dokimasia.errors import DataError


class GivenResponse(NamedTuple):
    """One answer: the sample's id, the model's name, the text as it stands (it may be empty), the repeat from 0."""

    sample_id: str
    model: str
    text: str
    repeat: int


def read_responses(path: Path) -> Iterator[GivenResponse]:
    """Yield the answers of a file whose lines are objects with `id`, `model`, `response` and, from 0, `repeat`.

    A run's export is such a file: its lines without an answer (`failed`, and no `response`), and those of another arm than
    the plain question with its image (`arm`), are passed over. Other fields are overlooked.

    Raises:
        NotFound: there is no such file.
        DataError: a line cannot be used, or two lines answer for the same sample, model and repeat; with file and line.
            A file without any answer is one too.
    """
    first_lines: dict[tuple[str, str, int], int] = {}
    for row in read_rows(path):
        if isinstance(row, Problem):
            raise DataError(row.message)
        if _passed_over(row.fields):
            continue
        where = place(path, row.line)
        id, model, text, repeat = (row.fields.get(name) for name in ("id", "model", "response", "repeat"))
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
        first = first_lines.setdefault((id, model, repeat), row.line)
        if first != row.line:
            raise DataError(f"{where}: {model} already answers sample {id!r}, repeat {repeat}, on line {first}")
        yield GivenResponse(id, model, text, repeat)
    if not first_lines:
        raise DataError(f"{path}: the file holds no response")


def _passed_over(fields: Mapping[str, object]) -> bool:
    """Whether a line of an export holds no answer to the plain question."""
    return bool(fields.get("arm")) or (fields.get("outcome") == "failed" and fields.get("response") is None)
