"""Export of a run's results for other tools: one row for each item, as JSON lines, CSV, a workbook or Parquet."""

import codecs
import csv
import io
import os
import re
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Literal, NamedTuple, get_args

import orjson

from dokimasia.domain.judgement import Provenance, Response
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.domain.wording import guarded
from dokimasia.errors import ConfigError, InputError
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import simulated_names
from dokimasia.runs.method import AnyMethod, ColumnType, Export
from dokimasia.runs.reading.workbook import WorkbookWriter
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import CallFigures, SqliteLedger
from dokimasia.storage.lookup import find_value
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.comments import comments_on
from dokimasia.storage.people.corrections import Corrections, corrections_of
from dokimasia.storage.results import ResultRow, corrected, result_pages
from dokimasia.storage.retries import retries
from dokimasia.storage.runs import Run, judgement_scores

FIRST: dict[str, ColumnType] = {
    "run": "text",
    "id": "text",
    "sample_digest": "text",
    "category": "text",
    "question": "text",
    "reference_answer": "text",
    "image_id": "text",
    "model": "text",
    "arm": "text",
    "repeat": "integer",
    "attempt": "integer",
    "outcome": "text",
    "failure": "text",
    "reason": "text",
    "score": "number",
    "scale": "text",
}
"""The first columns of every export; missing values are null. `--responses` reads the same names.

`image_id` is the SHA-256 of the sample's first image, which samples of one cluster share;
`scale` are the lowest and the highest possible score, such as `1,5`.
"""

_SAID = FIRST.keys() & ResultRow.model_fields.keys()
"""The first columns that are fields of a result row."""

MADE: dict[str, ColumnType] = {"made": "objects"}
"""The middle columns of a method without columns of its own: the values of an item, each with its type."""

JUDGED: dict[str, ColumnType] = {
    "judge": "text",
    "prompt": "text",
    "prompt_version": "integer",
    "prompt_hash": "text",
}
"""The columns on judging: the judge's name, and its prompt."""

ANSWERED: dict[str, ColumnType] = {"response": "text", "flags": "texts", **JUDGED}
"""The columns of methods that judge answers: the answer, its judge, and the judge's prompt."""

CORRECTED: dict[str, ColumnType] = {
    "corrected_by": "text",
    "correction_reason": "text",
    "left_out": "truth",
    "judged_score": "number",
    "judged_verdict": "text",
    "judged_criteria_scores": "integers",
}
"""Additional columns of a run with corrections by people: who corrected and why, and the judge's original results. The
rows of an excluded sample are kept.
"""

COMMENTED: dict[str, ColumnType] = {"comments": "texts"}
"""The additional column of a run with comments: those on the row's sample, each with its author and time."""

LAST: dict[str, ColumnType] = {
    "calls": "integer",
    "input_tokens": "integer",
    "output_tokens": "integer",
    "cost": "number",
    "call_keys": "texts",
    "simulated": "truth",
}
"""The last columns of every export: calls, tokens and cost, and whether a model is simulated."""


_UNKNOWN = CallFigures(None, None, None, "", "")


class ExportPages(NamedTuple):
    """The table of an export, with rows read page by page: its columns, and pages of rows in order."""

    columns: Mapping[str, ColumnType]
    pages: AsyncIterator[Sequence[Mapping[str, object]]]


async def export_rows(home: Home, run: Run) -> Export:
    """Return a run's export, as `export_pages` does, with all rows in memory.

    Raises:
        StorageError: a value of the run is missing or damaged.
    """
    columns, pages = export_pages(home, run)
    return Export(columns, [row async for page in pages for row in page])


def export_pages(home: Home, run: Run) -> ExportPages:
    """Return a run's export with one row for each item (in an evaluation, each answer); null means unknown.

    A method whose results are not result rows defines its own export.

    `attempt` is 0 except for items that failed and were retried. `input_tokens`, `output_tokens` and `cost` (US
    dollars) are sums over the row's calls, null if any of them is unknown. An evaluation's calls for criteria belong to
    a sample, not to an answer, and appear in no row.

    Reading a page raises `StorageError` if a value of the run is missing or damaged.
    """
    method = method_of(run)
    if method.export.table is not None:
        export = method.export.table(home, run)
        return ExportPages(export.columns, _only(export.rows))
    corrections = corrections_of(home, run.id)
    comments: dict[str, list[str]] = {}
    for comment in comments_on(home, run.id):
        comments.setdefault(comment.sample, []).append(f"{comment.who}, {comment.at}: {comment.text}")
    columns: dict[str, ColumnType] = {
        **FIRST,
        **(method.export.columns or MADE),
        **(CORRECTED if corrections else {}),
        **(COMMENTED if comments else {}),
        **LAST,
    }
    return ExportPages(columns, _pages(home, run, method, corrections, comments))


async def _only(rows: Sequence[Mapping[str, object]]) -> AsyncIterator[Sequence[Mapping[str, object]]]:
    yield rows


async def _pages(
    home: Home, run: Run, method: AnyMethod, corrections: Corrections, comments: Mapping[str, list[str]]
) -> AsyncIterator[Sequence[Mapping[str, object]]]:
    """Yield the rows of an export, all at once if the cells of a row depend on other rows."""
    plan, _ = method.read(run)
    fake = set(simulated_names(plan.models.values()))
    judged_by_fake = plan.judge_name in fake
    scale = None
    if method.scores.scale is not None:
        scale = "{:g},{:g}".format(*method.scores.scale)
    attempts = {item: retry.attempt for item, retry in retries(home, run.id).items()}
    scores = judgement_scores(home, run.id) if corrections else {}
    judged_pages = result_pages(home, run.id, method.row_kind)
    if method.export.cells is not None and not method.export.paged:
        judged_pages = iter([list(chain.from_iterable(judged_pages))])
    for judged in judged_pages:
        samples = {id: _question_cells(sample) for id, sample in samples_of(home, run.id, _names_of(judged)).items()}
        rows = [corrected(row, corrections) for row in judged] if corrections else judged
        figures = SqliteLedger(home).calls_for(key for row in rows for key in row.calls)
        if method.export.cells is None:
            own = [{"made": [find_value(home, id) for id in row.value_ids]} for row in rows]
        else:
            own = await method.export.cells(home, run, rows)
        corrected_cells = [_corrected_cells(row, corrections, scores) if corrections else {} for row in judged]
        yield [
            {
                "run": run.id,
                "id": row.sample_id,
                **samples.get(row.sample_id, _NOT_ASKED),
                "attempt": attempts.get(row.item, 0),
                **row.model_dump(include=_SAID),
                "scale": scale,
                **cells,
                **correction,
                **({"comments": comments.get(row.sample_id)} if comments else {}),
                **_used(row, figures),
                "simulated": row.model in fake or judged_by_fake or (not row.model and bool(fake)),
            }
            for row, cells, correction in zip(rows, own, corrected_cells, strict=True)
        ]


def _names_of(rows: Sequence[ResultRow]) -> list[str]:
    return list(dict.fromkeys(row.sample_id for row in rows))


_NOT_ASKED: Mapping[str, object] = dict.fromkeys(("category", "question", "reference_answer", "image_id"))


def _question_cells(sample: Sample) -> dict[str, object]:
    """Return a sample's kind, question, expected answer and image; null for a missing one."""
    return {
        "category": sample.category,
        "question": sample.prompt or None,
        "reference_answer": sample.reference_text or None,
        "image_id": sample.cluster if sample.images else None,
    }


def _corrected_cells(
    row: ResultRow, corrections: Corrections, scores: Mapping[str, tuple[int, ...]]
) -> dict[str, object]:
    """Return the cells of the columns `CORRECTED` for a row: its original judgement, and the scores of all judgements."""
    out = corrections.left_out.get(row.sample_id)
    last = corrections.of(row.item, row.judgement_id, row.final_id) or out
    return {
        "corrected_by": None if last is None else last.who,
        "correction_reason": None if last is None else last.reason,
        "left_out": out is not None,
        "judged_score": row.score,
        "judged_verdict": row.verdict,
        "judged_criteria_scores": list(scores.get(row.judgement_id or "", ())) or None,
    }


def form_of(home: Home, run: Run, form: str) -> Mapping[str, bytes]:
    """Return a run's files in another program's format, by file name.

    Raises:
        ConfigError: the run's method has no such format.
    """
    method = method_of(run)
    if form not in method.export.forms:
        others = f"; there is --as {' and '.join(method.export.forms)}" if method.export.forms else "; leave --as out"
        raise ConfigError(f"run {run.id} is {method.title}, which has no form {form!r}{others}")
    return method.export.forms[form](home, run)


def image_files(home: Home, images: Iterable[ImageRef]) -> dict[str, bytes]:
    """Return images as files of an exported folder, by path, each once."""
    refs = {ref.file: ref for ref in images}
    return {name: home.blobs.get(ref.sha256) for name, ref in sorted(refs.items())}


def exported_rows(method: AnyMethod, rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Return the rows that are results of a method, without rows that only prepare others."""
    kind = method.row_kind
    return [row for row in rows if row.kind == kind]


def answer_cells(judge: str, response: Response | None, origin: Provenance | None) -> dict[str, object]:
    """Return the values of the columns `ANSWERED`: the answer, its judge, and the judge's prompt; null if missing."""
    answer = {} if response is None else {"response": response.text, "flags": list(response.flags)}
    prompt = {} if origin is None else origin.model_dump(include={"prompt", "prompt_version", "prompt_hash"})
    return dict.fromkeys(ANSWERED) | {"judge": judge} | answer | prompt


def _used(row: ResultRow, figures: Mapping[str, CallFigures]) -> dict[str, object]:
    keys = list(dict.fromkeys(row.calls))
    used = [figures.get(key, _UNKNOWN) for key in keys]
    return {
        "calls": len(keys),
        "call_keys": keys,
        "input_tokens": _sum([call.input_tokens for call in used]),
        "output_tokens": _sum([call.output_tokens for call in used]),
        "cost": _sum([call.cost for call in used]),
    }


def _sum(values: Sequence[float | None]) -> float | None:
    """Return the sum, or None if any value is unknown, since a partial cost would mislead."""
    known_values = [value for value in values if value is not None]
    if len(known_values) == len(values):
        return sum(known_values)
    return None


Format = Literal["jsonl", "csv", "excel", "xlsx", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
"""`excel` is CSV with a byte order mark, by which Excel recognises UTF-8; `xlsx` is a workbook."""

SUFFIXES: Mapping[Format, str] = {"jsonl": "jsonl", "csv": "csv", "excel": "csv", "xlsx": "xlsx", "parquet": "parquet"}
"""The file ending of each format."""

JSON_LINES = ("", "json", "ndjson", "txt")
"""Further file endings that select JSON lines."""


WORKBOOKS = ("xlsm", "xls", "ods")
"""File endings of workbooks, which no format writes."""


def file_stem(home: Home, run: Run) -> str:
    """Return the stem of a run's file names: its name, or its method, data and the start of its id."""
    name = labels(home).get(run.id, Label()).name
    text = name or f"{run.method}-{run.data_name.rpartition('.')[0] or run.data_name}-{run.id[:8]}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or run.id


def format_of(name: str | None, path: Path | None) -> Format:
    """Return the format by name, else by the file's ending; JSON lines without an ending, or for plain text.

    Raises:
        ConfigError: the ending belongs to another format, or to a workbook.
    """
    ending = path.suffix.lower().lstrip(".") if path is not None else ""
    if ending in WORKBOOKS or (ending == "xlsx" and name not in (None, "xlsx")):
        raise ConfigError(
            f"{path}: such a file is not written. --format xlsx writes a workbook, to a file that ends in .xlsx; --format excel "
            "writes CSV that Excel opens, to one that ends in .csv"
        )
    for known in FORMATS:
        if known == (name or ending):
            return known
    if ending in JSON_LINES:
        return "jsonl"
    raise ConfigError(
        f"{path}: an export is JSON lines, CSV, a workbook or Parquet; name a file that ends in .jsonl, .csv, .xlsx or .parquet, "
        "or choose with --format"
    )


def encode(export: Export, format: Format) -> bytes:
    """Return the bytes of an export in a format.

    Raises:
        ConfigError: the format is Parquet, and pyarrow is not installed.
    """
    if format == "parquet":
        return _parquet(export)
    if format == "xlsx":
        file = io.BytesIO()
        with WorkbookWriter(file) as workbook:
            workbook.write(export.columns)
            for row in export.rows:
                workbook.write(row[name] for name in export.columns)
        return file.getvalue()
    return _header(export.columns, format) + _lines(export.columns, export.rows, format)


async def write_export(home: Home, run: Run, format: Format, file: IO[bytes]) -> int:
    """Write a run's export to an open file and return the number of rows; the bytes equal those of `encode`.

    JSON lines, CSV and a workbook are written while they are read, so that memory holds a few thousand rows; Parquet is
    written whole.

    Raises:
        ConfigError: the format is Parquet, and pyarrow is not installed.
        StorageError: a value of the run is missing or damaged.
    """
    if format == "parquet":
        export = await export_rows(home, run)
        file.write(_parquet(export))
        return len(export.rows)
    columns, pages = export_pages(home, run)
    count = 0
    if format == "xlsx":
        with WorkbookWriter(file) as workbook:
            workbook.write(columns)
            async for page in pages:
                for row in page:
                    workbook.write(row[name] for name in columns)
                count += len(page)
        return count
    file.write(_header(columns, format))
    async for page in pages:
        file.write(_lines(columns, page, format))
        count += len(page)
    return count


def write_whole(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file atomically, replacing an existing one; `data` is the whole content or its parts.

    Raises:
        InputError: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        reason = error.strerror if path.parent.is_dir() else f"the folder {path.parent} does not exist"
        raise InputError(f"{path} cannot be written: {reason}; name another file with -o") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, if they do not exist.

    Raises:
        InputError: it cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}; name another folder") from error


def _header(columns: Mapping[str, ColumnType], format: Format) -> bytes:
    """Return the bytes before the rows: nothing for JSON lines, the column names for CSV."""
    if format == "jsonl":
        return b""
    return (codecs.BOM_UTF8 if format == "excel" else b"") + csv_text([columns])


def _lines(columns: Mapping[str, ColumnType], rows: Iterable[Mapping[str, object]], format: Format) -> bytes:
    """Return rows as JSON lines, or as UTF-8 CSV in which lists are JSON and null is an empty cell.

    In CSV, a text that a spreadsheet would evaluate as a formula is prefixed with an apostrophe, since models write the
    answers. Numbers are unchanged. JSON lines and Parquet are exact.
    """
    if format != "jsonl":
        return csv_text([row[name] for name in columns] for row in rows)
    lines = ({name: row[name] for name in columns} for row in rows)
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


class _Lines(list[str]):
    """A file-like list of lines that replaces the ending CRLF of `csv.writer` by LF."""

    def write(self, line: str) -> None:
        """Add a line."""
        self.append(line.removesuffix("\r\n") + "\n")


def csv_text(rows: Iterable[Iterable[object]]) -> bytes:
    """Return rows of values as UTF-8 CSV; cells with line breaks of any kind are quoted."""
    lines = _Lines()
    csv.writer(lines).writerows(map(csv_cell, row) for row in rows)
    return "".join(lines).encode()


def csv_cell(value: object) -> object:
    """Return a value as a CSV cell; texts that a spreadsheet would evaluate as formulas are guarded."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return guarded(value)
    if isinstance(value, Sequence):
        return orjson.dumps(value).decode()
    return value


def _parquet(export: Export) -> bytes:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ConfigError("Parquet needs pyarrow: pip install 'dokimasia[parquet]', or choose jsonl or csv") from None
    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "truth": pa.bool_(),
        "integers": pa.list_(pa.int64()),
        "texts": pa.list_(pa.string()),
        "objects": pa.list_(pa.string()),
    }
    columns = [name for name, kind in export.columns.items() if kind == "objects"]
    rows = [{**row, **{name: _json_texts(row[name]) for name in columns}} for row in export.rows]
    schema = pa.schema([(name, types[kind]) for name, kind in export.columns.items()])
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), out, compression="zstd")
    return out.getvalue()


def _json_texts(objects: object) -> list[str] | None:
    """Return the JSON of each object of a cell; None for an empty cell."""
    if isinstance(objects, Sequence):
        return [orjson.dumps(each).decode() for each in objects]
    return None
