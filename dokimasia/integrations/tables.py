"""Results in a table (CSV, TSV, Excel, JSON lines or JSON), with any names of columns, and VLMEvalKit's files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dokimasia.datasets.columns import as_list
from dokimasia.datasets.lines import Problem, Row, location
from dokimasia.datasets.mapping import parse_mapping
from dokimasia.datasets.responses import name_and_file, named_file
from dokimasia.datasets.tables import csv_delimiter, headed_rows, read_cells, rows_of_columns, workbook_rows
from dokimasia.domain.wording import unguarded
from dokimasia.errors import ConfigError, DataError
from dokimasia.integrations.results import (
    CATEGORY_NAMES,
    FAILURES,
    IMAGE_NAMES,
    Format,
    ItemFailure,
    ItemResult,
    ReadOptions,
    ResultsFile,
    as_object,
    checked_rows,
    content_of,
    image_names,
    json_lines,
    read_document,
    result_of,
    score_of,
    short_text,
)

WORKBOOKS = (".xlsx", ".xlsm")

COLUMN_NAMES: Mapping[str, Sequence[str]] = {
    "item": ("item", "id", "item_id", "question_id", "sample_id", "doc_id", "index"),
    "answer": ("response", "prediction", "output", "answer"),
    "score": ("score", "correct", "is_correct", "hit", "accuracy"),
    "model": ("model", "model_name"),
    "image": IMAGE_NAMES,
    "category": CATEGORY_NAMES,
    "repeat": ("repeat", "epoch"),
    "failure": ("failure",),
    "reason": ("reason",),
    "recorded": ("recorded",),
}
"""The recognised columns by field, in order of precedence; `--map` names others."""

JUDGED = ("hit", "eval_score", "score")
"""VLMEvalKit's columns of scores, in order of precedence."""

CALL_FAILED = "failed to obtain answer"
"""The text that VLMEvalKit writes, in any case, as the answer of a model whose API failed."""

GUESSED = ("failed in prefetch", "thus randomly generate one", "opt='z'", 'opt="z"')
"""The log of VLMEvalKit's judge if it read no option from an answer: the hit is then a guess, or not a hit at all."""

JUDGE_FAILED = ("retries failed", CALL_FAILED)

NO_SCORES = ("", "nan", "none", "null", "n/a")
"""Texts, in lower case, in place of a missing score."""


ColumnNames = Mapping[str | Path, str | Mapping[str, str]]
"""The columns of tables by field, such as `{"item": "question_id"}`; under the name of a file,
those of only that file.
"""

_OF_FILE = re.compile(f"(.+?):((?:{'|'.join(COLUMN_NAMES)})=.*)", re.DOTALL)


def parse_columns(texts: Sequence[str]) -> ColumnNames:
    """Return columns by field from `FIELD=COLUMN,FIELD=COLUMN`, and those of a single file from
    `FILE:FIELD=COLUMN,...`.

    Raises:
        ConfigError: a part names no field, or no column.

    Examples:
        >>> parse_columns(["item=question_id,answer=prediction", "b.csv:item=id"])
        {'item': 'question_id', 'answer': 'prediction', 'b.csv': {'item': 'id'}}
    """
    shared: list[str] = []
    by_file: dict[str, list[str]] = {}
    for text in texts:
        of_file = _OF_FILE.fullmatch(text)
        if of_file is None or text.partition("=")[0].strip() in COLUMN_NAMES:
            shared.append(text)
        else:
            by_file.setdefault(of_file[1].strip(), []).append(of_file[2])
    columns: dict[str | Path, str | Mapping[str, str]] = {**parse_mapping(shared, COLUMN_NAMES)}
    for file, parts in by_file.items():
        columns[file] = parse_mapping(parts, COLUMN_NAMES)
    return columns


def columns_of_file(columns: ColumnNames, name: str | Path) -> dict[str, str]:
    """Return the columns of one file by field: its own first, then those of all files.

    Args:
        columns: the columns of all files.
        name: the file as named by the user, such as `NAME=logs/b.csv`; its columns may be under this name, its path,
            its file name, or NAME.
    """
    model, path = name_and_file(named_file(name))
    own: Mapping[str, str] = {}
    for key, value in columns.items():
        if not isinstance(value, str) and (str(key) in (str(name), path.name, model) or Path(key).absolute() == path):
            own = {**own, **value}
    shared = {str(field): column for field, column in columns.items() if isinstance(column, str)}
    return {**shared, **own}


def check_columns(columns: ColumnNames, names: Sequence[str | Path]) -> None:
    """Check that columns belong to existing fields and to the files being read.

    Raises:
        ConfigError: a field or a file is unknown.
    """
    files: set[str] = set()
    for name in names:
        model, path = name_and_file(named_file(name))
        files |= {str(name), str(path), path.name, model or path.name}
    for key, value in columns.items():
        fields = [str(key)] if isinstance(value, str) else list(value)
        if unknown := [field for field in fields if field not in COLUMN_NAMES]:
            raise ConfigError(f"--map knows no field {unknown[0]!r}; there are {', '.join(COLUMN_NAMES)}")
        if not isinstance(value, str) and not {str(key), str(Path(key).absolute())} & files:
            raise ConfigError(
                f"--map names the columns of {str(key)!r}, which is none of the files: {', '.join(map(str, names))}"
            )


def records(path: Path) -> Iterator[Row]:
    """Yield the rows of a table by column; empty cells of spreadsheets are empty texts.

    Raises:
        ConfigError: it is a workbook, and openpyxl is not installed.
        NotFound: there is no such file.
        DataError: it is not a table, or a row cannot be read; the message names file and line or row.
    """
    suffix = path.suffix.lower()
    rows: Iterable[Row | Problem]
    if suffix in WORKBOOKS:
        rows = headed_rows(path, workbook_rows(path, formulas=True), "row", _cell)
    elif suffix in (".csv", ".tsv", ".txt"):
        delimiter = "\t" if suffix == ".tsv" else csv_delimiter(path)
        rows = headed_rows(path, read_cells(path, delimiter=delimiter), "line", _cell)
    elif suffix == ".json":
        rows = _entries(path)
    else:
        rows = json_lines(path)
    for row in rows:
        if isinstance(row, Problem):
            raise DataError(row.message)
        yield row


def _entries(path: Path) -> Iterator[Row]:
    value = read_document(path)
    if isinstance(value, dict):
        value = rows_of_columns(path, value)
    if not isinstance(value, list):
        raise DataError(f"{path}: neither a list of objects nor an object of columns")
    for number, entry in enumerate(value, start=1):
        yield Row(number, as_object(entry, location(path, number, "entry")), "entry")


def _cell(cell: object) -> object:
    if isinstance(cell, str):
        return unguarded(cell)
    return "" if cell is None else cell


class _ResultsTable(NamedTuple):
    """The rows of a table, the column of each field present, and the model named with the file."""

    path: Path
    rows: Sequence[Row]
    columns: Mapping[str, str]
    model: str | None

    def where(self, row: Row) -> str:
        return location(self.path, row.line, row.unit)

    def cell(self, row: Row, field: str) -> object:
        return row.fields.get(self.columns.get(field, ""))

    def text(self, row: Row, field: str) -> str:
        return short_text(self.cell(row, field)) or ""

    def result(self, row: Row, failure: ItemFailure | None = None, reason: str = "") -> ItemResult:
        """Return the result of a row."""
        item = self.text(row, "item").strip()
        if not item:
            raise DataError(f"{self.where(row)}: the column {self.columns['item']!r}, which names the item, is empty")
        answer, image = short_text(self.cell(row, "answer")), self.cell(row, "image")
        return result_of(
            item,
            self.model_of(row),
            recorded=score_of(self.cell(row, "score")),
            counted=score_of(self.cell(row, "recorded")),
            answer="" if answer is None and "answer" in self.columns else answer,
            failure=failure,
            reason=reason,
            repeat=int(score_of(self.cell(row, "repeat")) or 0),
            category=self.text(row, "category") or None,
            images=image_names(as_list(image) if isinstance(image, str) else image),
            content=content_of(row.fields.get("question")),
            line=row.line,
        )

    def model_of(self, row: Row) -> str:
        """Return the model of a row: the column's, or else the one named with the file, or the file's name."""
        model = self.text(row, "model").strip()
        if "model" in self.columns and not model:
            raise DataError(f"{self.where(row)}: the column {self.columns['model']!r}, which names the model, is empty")
        if model and self.model and model != self.model:
            raise DataError(
                f"{self.where(row)}: it is a result of {model}, and not of {self.model}; leave the name out"
            )
        return model or self.model or self.path.stem

    def file(
        self, format: Format, harness: str, results: Sequence[ItemResult], *, simulated: Iterable[str] = ()
    ) -> ResultsFile:
        """Return the table as a results file."""
        unit = self.rows[0].unit if self.rows else "line"
        return ResultsFile(
            self.path,
            format,
            harness,
            None,
            self.columns.get("score", ""),
            checked_rows(self.path, results, unit=unit),
            simulated=tuple(dict.fromkeys(simulated)),
            columns=tuple(_present(self.rows)),
        )


def read_table(path: Path, options: ReadOptions) -> ResultsFile:
    """Return the results of a table, by the columns that `--map` names, or else by common names.

    Raises:
        DataError: a column is missing, a score is not a number, or a row has no item or model; the message names file
            and line.
    """
    rows = list(records(path))
    table = _ResultsTable(path, rows, _columns(path, rows, options), options.model)
    results: list[ItemResult] = []
    simulated: list[str] = []
    for row in rows:
        result = _table_row(table, row)
        results.append(result)
        if str(row.fields.get("simulated", "")).lower() in ("true", "1"):
            simulated.append(result.model)
    return replace(table.file("table", "table", results, simulated=simulated), scale=_scale(table))


def _scale(table: _ResultsTable) -> tuple[float, float] | None:
    """Return the scale that a run's export names in each row of its scores; None for other tables."""
    texts = {str(row.fields.get("scale", "")) for row in table.rows}
    if table.columns.get("score") != "score" or len(texts) != 1:
        return None
    ends = [score_of(text) for text in texts.pop().split(",")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0] >= ends[1]:
        return None
    return ends[0], ends[1]


def read_vlmevalkit(path: Path, options: ReadOptions) -> ResultsFile:
    """Return the results of VLMEvalKit's predictions, or of a file judged by its judge.

    The answer of a failed call is a failure, and so is a hit that was guessed because no option could be read from the
    answer.

    Raises:
        DataError: a column is missing, or a row cannot be used; the message names file and line.
    """
    rows = list(records(path))
    present = _present(rows)
    defaults = {"item": "index", "answer": "prediction"}
    score = options.scorer or next((name for name in JUDGED if name in present), None)
    if score is not None:
        defaults["score"] = score
    options = replace(options, columns=defaults | dict(options.columns))
    table = _ResultsTable(path, rows, _columns(path, rows, options), options.model or _model_of(path, present))
    return table.file("vlmevalkit", "VLMEvalKit", [_judged_row(table, row) for row in rows])


def _present(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row.fields))


def _columns(path: Path, rows: Sequence[Row], options: ReadOptions) -> dict[str, str]:
    """Return the table's column of each field."""
    present = _present(rows)
    names = ", ".join(present[:20])
    columns = dict(options.columns)
    if options.scorer is not None:
        columns.setdefault("score", options.scorer)
    if missing := [name for name in columns.values() if rows and name not in present]:
        raise DataError(f"{path} has no column {missing[0]!r}; it has {names}")
    free = set(present) - set(columns.values())
    for name, candidates in COLUMN_NAMES.items():
        column = next((candidate for candidate in candidates if candidate in free), None)
        if column is not None:
            columns.setdefault(name, column)
    if rows and "item" not in columns:
        column = "question" if "question" in present else "COLUMN"
        raise DataError(
            f"{path} has no column that names the item; name it, such as --map item={column}. It has {names}"
        )
    return columns


def _table_row(table: _ResultsTable, row: Row) -> ItemResult:
    value = table.cell(row, "score")
    if isinstance(value, str) and score_of(value) is None and value.strip().lower() not in NO_SCORES:
        raise DataError(
            f"{table.where(row)}: the score {value[:40]!r} is not a number; choose another column with --map score=COLUMN"
        )
    failure = table.text(row, "failure")
    kind = _KINDS.get(failure, "unscored") if failure else None
    return table.result(row, kind, table.text(row, "reason"))


_KINDS: Mapping[str, ItemFailure] = {
    **{kind: kind for kind in FAILURES},
    "unparsable": "unparsed",
    "truncated": "unparsed",
}
"""Kinds of failure by their names here and in exports of runs; all others are unscored."""


def _judged_row(table: _ResultsTable, row: Row) -> ItemResult:
    answer = table.text(row, "answer")
    log = (short_text(row.fields.get("log")) or "").lower()
    if CALL_FAILED in answer.lower():
        return table.result(row, "api_error", answer)
    if str(row.fields.get("opt", "")).strip() == "Z" or any(text in log for text in GUESSED):
        return table.result(row, "unparsed", log or "opt='Z'")
    if any(text in log for text in JUDGE_FAILED):
        return table.result(row, "unscored", log)
    return table.result(row)


def _model_of(path: Path, present: Sequence[str]) -> str | None:
    """Return the model of a VLMEvalKit file: the folder whose name begins the file's name, or the name's first part."""
    if "model" in present:
        return None
    folders = [parent.name for parent in list(path.absolute().parents)[:2]]
    folder_name = next((name for name in folders if name and path.stem.startswith(f"{name}_")), None)
    return folder_name or path.stem.partition("_")[0]
