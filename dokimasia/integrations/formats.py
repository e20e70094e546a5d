"""The format of a result file, recognised by its content, and its reader."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeGuard
from zipfile import BadZipFile, ZipFile

from dokimasia.datasets.lines import MAX_LINE_BYTES
from dokimasia.datasets.responses import name_and_file, named_file
from dokimasia.errors import ConfigError, DataError, NotFound
from dokimasia.integrations.inspect_logs import HEADER, START, read_inspect
from dokimasia.integrations.lmms_eval import read_lmms_eval
from dokimasia.integrations.openai_evals import read_openai_evals
from dokimasia.integrations.promptfoo import read_promptfoo
from dokimasia.integrations.results import FORMATS, Format, ReadOptions, ResultsFile, read_document
from dokimasia.integrations.tables import WORKBOOKS, read_table, read_vlmevalkit, records

READERS: Mapping[str, Callable[[Path, ReadOptions], ResultsFile]] = {
    "inspect": read_inspect,
    "lmms-eval": read_lmms_eval,
    "vlmevalkit": read_vlmevalkit,
    "promptfoo": read_promptfoo,
    "openai-evals": read_openai_evals,
    "table": read_table,
}

PICKLES = (".pkl", ".pickle")

ENDINGS = frozenset((".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".eval", ".xlsx"))
"""File endings which show that a missing file, rather than a run, was meant."""


def is_results_file(name: object) -> TypeGuard[str | Path]:
    """Return whether a path or a text names a file, alone or as `NAME=FILE`, rather than a run."""
    return isinstance(name, Path) or (isinstance(name, str) and name_and_file(named_file(name))[1].is_file())


def missing_file(names: Iterable[object]) -> str | None:
    """Return the first text that looks like the name of a file but is not one; None without one."""
    for name in names:
        if isinstance(name, str) and Path(name).suffix.lower() in ENDINGS and not is_results_file(name):
            return name
    return None


def read_results(
    path: Path, *, format: str | None = None, scorer: str | None = None, columns: Mapping[str, str] | None = None
) -> ResultsFile:
    """Return the results in a file of another harness, or in any table.

    Args:
        path: the file, or the path that `datasets.named_file` makes of `NAME=FILE`, which names the model.
        format: one of `FORMATS`; by default recognised by the content.
        scorer: the scorer, the metric or the column of scores, if a file has several.
        columns: the columns of a table by field (`item`, `answer`, `score`, `model`, `image`, `category`, ...).

    Raises:
        ConfigError: there is no such format, or a package that it needs is missing.
        NotFound: there is no such file.
        DataError: the file cannot be used; the message names file and line, row or part.
    """
    if format is not None and format not in FORMATS:
        raise ConfigError(f"no format {format!r}; there are {', '.join(FORMATS)}")
    model, path = name_and_file(path)
    if not path.is_file():
        raise NotFound(f"there is no file {path}")
    return READERS[format or recognised(path)](path, ReadOptions(model, scorer, columns or {}))


def recognised(path: Path) -> Format:
    """Return the format of a file by its content.

    Raises:
        DataError: its format is not supported; pickles never are, since reading one may run code in it.
    """
    suffix = path.suffix.lower()
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    if suffix in PICKLES or start[:1] == b"\x80":
        raise DataError(
            f"{path} is a pickle, which is never read, since it may run code; take the .xlsx, .tsv or .json"
        )
    if start == b"PK\x03\x04":
        return _of_archive(path)
    if suffix in (".csv", ".tsv", ".txt"):
        return _of_table(path)
    first = _first_line(path)
    if suffix != ".json" and (first is not None or suffix in (".jsonl", ".ndjson")):
        return _of_fields(first or {})
    value = read_document(path)
    if isinstance(value, list):
        value = value[0] if value else {}
    return _of_fields(value if isinstance(value, dict) else {})


def _of_archive(path: Path) -> Format:
    try:
        with ZipFile(path) as packed:
            names = set(packed.namelist())
    except (BadZipFile, OSError) as error:
        raise DataError(f"{path} is not a readable archive ({error}); was it cut off?") from None
    if names & {HEADER, START}:
        return "inspect"
    if "xl/workbook.xml" not in names:
        raise DataError(f"{path} is an archive, and neither an Inspect log nor a workbook")
    if path.suffix.lower() not in WORKBOOKS:
        raise DataError(f"{path} is a workbook; name it .xlsx")
    return _of_table(path)


def _of_table(path: Path) -> Format:
    """Return the format of a table by the columns of its first row."""
    for row in records(path):
        return _of_columns(row.fields)
    return "table"


def _of_columns(columns: Iterable[str]) -> Format:
    if {"index", "prediction"} <= set(columns):
        return "vlmevalkit"
    return "table"


def _of_fields(fields: Mapping[str, object]) -> Format:
    """Return the format of a JSON document, or of JSON lines, by the fields of the document or the first line."""
    results = fields.get("results")
    if "eval" in fields and ({"plan", "samples", "status"} & fields.keys()):
        return "inspect"
    if "spec" in fields and isinstance(fields["spec"], dict):
        return "openai-evals"
    if "doc_id" in fields and {"filtered_resps", "resps", "target"} & fields.keys():
        return "lmms-eval"
    if (isinstance(results, dict) and "results" in results) or {"testIdx", "promptIdx"} <= fields.keys():
        return "promptfoo"
    return _of_columns(fields)


def _first_line(path: Path) -> dict[str, object] | None:
    """Return the object on the first line of a file that is not blank; None if there is none."""
    with path.open("rb") as file:
        raw = b"\n"
        while raw and not raw.strip():
            raw = file.readline(MAX_LINE_BYTES + 1)
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        return value
    return None
