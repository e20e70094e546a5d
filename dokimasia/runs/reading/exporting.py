"""Export of a run's results for other tools: one row for each item, as JSON lines, CSV or Parquet."""

import codecs
import csv
import io
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import orjson

from dokimasia.datasets.tables import guarded
from dokimasia.domain.judgement import Provenance, Response
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, InputError
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import simulated_names
from dokimasia.runs.method import AnyMethod, ColumnType, Export
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import CallFigures, SqliteLedger
from dokimasia.storage.lookup import find_value
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.comments import comments_on
from dokimasia.storage.people.corrections import Corrections, corrections_of
from dokimasia.storage.results import ResultRow, corrected, results
from dokimasia.storage.retries import retries
from dokimasia.storage.runs import Run, judgement_scores, load_samples

FIRST: dict[str, ColumnType] = {
    "run": "text",
    "id": "text",
    "sample_digest": "text",
    "category": "text",
    "question": "text",
    "reference_answer": "text",
    "model": "text",
    "arm": "text",
    "repeat": "integer",
    "attempt": "integer",
    "outcome": "text",
    "failure": "text",
    "reason": "text",
    "score": "number",
}
"""The first columns of every export; missing values are null. `--responses` reads the same names."""

_SAID = FIRST.keys() & ResultRow.model_fields.keys()
"""The first columns that are fields of a result row."""

MADE: dict[str, ColumnType] = {"made": "texts"}
"""The middle columns of a method without columns of its own: the values of an item, as JSON."""

ANSWERED: dict[str, ColumnType] = {
    "response": "text",
    "flags": "texts",
    "judge": "text",
    "prompt": "text",
    "prompt_version": "integer",
    "prompt_hash": "text",
}
"""The columns of methods that judge answers: the answer, its judge, and the judge's prompt."""

CORRECTED: dict[str, ColumnType] = {
    "corrected_by": "text",
    "correction_reason": "text",
    "left_out": "truth",
    "judged_score": "number",
    "judged_verdict": "text",
    "judged_criteria_scores": "integers",
}
"""Additional columns of a run with corrections by people: who and why, and the judge's original results. The rows of a
sample that was left out are kept."""

COMMENTED: dict[str, ColumnType] = {"comments": "texts"}
"""The additional column of a run with comments: those on the row's sample, each with who wrote it and when."""

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


async def export_rows(home: Home, run: Run) -> Export:
    """Return a run's export with one row for each item, in an evaluation for each answer; null means unknown.

    A method whose results are not result rows defines its own export.

    `attempt` is 0 except for items that failed and were retried; `input_tokens`, `output_tokens` and `cost` (US dollars)
    are sums over the row's calls, null if any of them is unknown. An evaluation's calls for criteria belong to a sample,
    not to an answer, and are in no row.

    Raises:
        StorageError: a value of the run is missing or damaged.
    """
    method = method_of(run)
    if method.export is not None:
        return method.export(home, run)
    plan, _ = method.read(run)
    fake = set(simulated_names(plan.models.values()))
    judged_by_fake = plan.judge_name in fake
    samples = {sample.id: _asked(sample) for sample in load_samples(home, run.id)}
    attempts = {item: retry.attempt for item, retry in retries(home, run.id).items()}
    judged = exported_rows(method, results(home, run.id, as_judged=True))
    corrections = corrections_of(home, run.id)
    rows = judged
    if corrections:
        rows = [corrected(row, corrections) for row in judged]
    figures = SqliteLedger(home).calls_for(key for row in rows for key in row.calls)
    if method.cells is None:
        own = [{"made": [orjson.dumps(find_value(home, id)).decode() for id in row.value_ids]} for row in rows]
    else:
        own = await method.cells(home, run, rows)
    comments: dict[str, list[str]] = {}
    for comment in comments_on(home, run.id):
        comments.setdefault(comment.sample, []).append(f"{comment.who}, {comment.at}: {comment.text}")
    corrected_cells = list(_corrected_cells(home, run, corrections, judged)) if corrections else [{} for _ in rows]
    return Export(
        {
            **FIRST,
            **(method.columns or MADE),
            **(CORRECTED if corrections else {}),
            **(COMMENTED if comments else {}),
            **LAST,
        },
        [
            {
                "run": run.id,
                "id": row.sample_id,
                **samples.get(row.sample_id, _NOT_ASKED),
                "attempt": attempts.get(row.item, 0),
                **row.model_dump(include=_SAID),
                **cells,
                **correction,
                **({"comments": comments.get(row.sample_id)} if comments else {}),
                **_used(row, figures),
                "simulated": row.model in fake or judged_by_fake or (not row.model and bool(fake)),
            }
            for row, cells, correction in zip(rows, own, corrected_cells, strict=True)
        ],
    )


_NOT_ASKED: Mapping[str, object] = dict.fromkeys(("category", "question", "reference_answer"))


def _asked(sample: Sample) -> dict[str, object]:
    """Return what a sample is, what it asks and what its answer should be; null where it has none."""
    return {
        "category": sample.category,
        "question": sample.prompt or None,
        "reference_answer": sample.reference_text or None,
    }


def _corrected_cells(
    home: Home, run: Run, corrections: Corrections, judged: Sequence[ResultRow]
) -> Iterator[dict[str, object]]:
    """Yield the values of the columns `CORRECTED` for each row as judged by the run."""
    scores = judgement_scores(home, run.id)
    for row in judged:
        out = corrections.left_out.get(row.sample_id)
        last = corrections.of(row.item, row.judgement_id, row.final_id) or out
        yield {
            "corrected_by": None if last is None else last.who,
            "correction_reason": None if last is None else last.reason,
            "left_out": out is not None,
            "judged_score": row.score,
            "judged_verdict": row.verdict,
            "judged_criteria_scores": list(scores.get(row.judgement_id or "", ())) or None,
        }


def form_of(home: Home, run: Run, form: str) -> Mapping[str, bytes]:
    """Return a run's files in the format of another program, by file name.

    Raises:
        ConfigError: the run's method has no such format.
    """
    method = method_of(run)
    if form not in method.forms:
        others = f"; there is --as {' and '.join(method.forms)}" if method.forms else "; leave --as out"
        raise ConfigError(f"run {run.id} is {method.title}, which has no form {form!r}{others}")
    return method.forms[form](home, run)


def exported_rows(method: AnyMethod, rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Return the rows that are results of a method, without those that only prepare others."""
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
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


Format = Literal["jsonl", "csv", "excel", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
"""`excel` is CSV with a byte order mark, by which Excel recognises UTF-8."""

SUFFIXES: Mapping[Format, str] = {"jsonl": "jsonl", "csv": "csv", "excel": "csv", "parquet": "parquet"}
"""The file ending of each format."""

JSON_LINES = ("", "json", "ndjson", "txt")
"""Further file endings for which JSON lines are written."""


def file_stem(home: Home, run: Run) -> str:
    """Return what the files of a run are called, without an ending: its name, or its method, data and the start of its id."""
    name = labels(home).get(run.id, Label()).name
    text = name or f"{run.method}-{run.data_name.rpartition('.')[0] or run.data_name}-{run.id[:8]}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or run.id


def format_of(name: str | None, path: Path | None) -> Format:
    """Return the format by name, else by the file's ending; JSON lines without an ending, or for plain text.

    Raises:
        ConfigError: the ending is that of another format.
    """
    ending = path.suffix.lower().lstrip(".") if path is not None else ""
    for known in FORMATS:
        if known == (name or ending):
            return known
    if ending in JSON_LINES:
        return "jsonl"
    raise ConfigError(
        f"{path}: an export is JSON lines, CSV or Parquet; name a file that ends in .jsonl, .csv or .parquet, "
        "or choose with --format"
    )


def encode(export: Export, format: Format) -> bytes:
    """Return the bytes of an export in a format.

    Raises:
        ConfigError: the format is Parquet, and pyarrow is not installed.
    """
    encoders: Mapping[Format, Callable[[Export], bytes]] = {
        "jsonl": _jsonl,
        "csv": _csv,
        "excel": lambda rows: codecs.BOM_UTF8 + _csv(rows),
        "parquet": _parquet,
    }
    return encoders[format](export)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically, replacing an existing one.

    Raises:
        InputError: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written: {error.strerror}; name another file with -o") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, if they do not exist.

    Raises:
        InputError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}; name another folder") from error


def _jsonl(export: Export) -> bytes:
    lines = ({name: row[name] for name in export.columns} for row in export.rows)
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


def _csv(export: Export) -> bytes:
    """Return an export as UTF-8 CSV with a header; lists are JSON, null is an empty cell.

    A text that a spreadsheet would evaluate as a formula is prefixed with an apostrophe, since models write the answers.
    Numbers are unchanged. JSON lines and Parquet are exact.
    """
    return csv_text([export.columns, *([row[name] for name in export.columns] for row in export.rows)])


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
    return orjson.dumps(value).decode() if isinstance(value, Sequence) else value


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
    }
    schema = pa.schema([(name, types[kind]) for name, kind in export.columns.items()])
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(export.rows, schema=schema), out, compression="zstd")
    return out.getvalue()
