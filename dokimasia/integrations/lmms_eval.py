"""Samples logged by lmms-eval: JSON lines with `doc_id`, replies, and each metric of the task under its own name."""

import re
from collections.abc import Sequence
from pathlib import Path

from dokimasia.datasets.lines import Row, location
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import DataError
from dokimasia.integrations.results import (
    ItemFailure,
    ItemResult,
    ReadOptions,
    ResultsFile,
    category_of,
    checked_rows,
    choose,
    fields_of,
    image_names,
    images_of,
    json_lines,
    named,
    read_document,
    result_of,
    score_of,
    short_text,
)

_ASKED = ("doc_id", "doc", "doc_hash", "input", "input_media", "target", "arguments", "id", "index", "filter")
NO_METRICS = frozenset((*_ASKED, "resps", "filtered_resps", "token_counts", "prompt_hash", "target_hash", "metrics"))
"""The fields of a line that are not metrics."""

SCORES = ("score", "acc", "accuracy", "exact_match", "correct", "is_correct", "hit", "rating")
"""The fields that contain the score if a metric is an object; the first one present counts."""

_NAME = re.compile(r"(?P<date>.+)_samples_(?P<task>.+)")
_PARSED = ("parsed_pred", "pred_answer", "pred", "extracted_answer")
"""The fields of a metric with the answer extracted from the reply."""


def read_lmms_eval(path: Path, options: ReadOptions) -> ResultsFile:
    """Return the results in a file of samples; model and version come from the `_results.json` next to it.

    Raises:
        NotFound: there is no such file.
        DataError: a line cannot be used, or the file has several metrics and none is chosen; the message names file and
            line.
    """
    rows = list(json_lines(path))
    metric = choose(path, _metrics(rows), options.scorer, "metric")
    run = _run(path)
    model = options.model or short_text(run.get("model_name")) or _folder(path)
    results = [_row(path, row, model, metric) for row in rows]
    version = short_text(run.get("lmms_eval_version"))
    return ResultsFile(path, "lmms-eval", "lmms-eval", version, metric, checked_rows(path, results))


def _metrics(rows: Sequence[Row]) -> list[str]:
    """Return the metrics with a number on any line; without any, all possible metrics."""
    values: dict[str, list[object]] = {}
    for row in rows:
        for name, value in row.fields.items():
            if name not in NO_METRICS:
                values.setdefault(name, []).append(value)
    scored = [name for name, cells in values.items() if any(_score(value) is not None for value in cells)]
    return scored or [name for name, cells in values.items() if any(isinstance(value, dict) for value in cells)][:1]


def _score(value: object) -> float | None:
    if isinstance(value, dict):
        return score_of(named(value, SCORES))
    if isinstance(value, str):
        return None
    return score_of(value)


def _row(path: Path, row: Row, model: str, metric: str) -> ItemResult:
    fields = row.fields
    item = short_text(fields.get("doc_id"))
    if not item:
        raise DataError(f"{location(path, row.line)}: it has no doc_id, by which items are paired")
    parts, document = fields_of(fields.get(metric)), fields_of(fields.get("doc"))
    recorded = _score(fields.get(metric))
    answer = _reply(fields)
    parsed = [_first(parts[name]) for name in _PARSED if name in parts]
    failure: ItemFailure | None = None
    reason = ""
    if answer and answer.strip() and not recorded and parsed and not (parsed[0] or "").strip():
        failure, reason = "unparsed", "no answer was read from the reply"
    elif recorded is None:
        reason = f"the metric {metric!r} of this task holds no number of an item"
    return result_of(
        item,
        model,
        recorded=recorded,
        answer=answer,
        failure=failure,
        reason=reason,
        category=category_of(parts, document),
        images=image_names(fields.get("input_media")) or images_of(document, parts),
        content=short_text(fields.get("doc_hash")) or "",
        line=row.line,
    )


def _reply(fields: JsonObject) -> str | None:
    """Return the model's reply, untruncated if the file has it; versions nest it at different depths."""
    for name in ("resps", "filtered_resps"):
        if name in fields:
            return _first(fields[name])
    return None


def _first(value: object) -> str | None:
    """Return the first text within lists of lists; None without any."""
    while isinstance(value, list):
        value = value[0] if value else None
    return short_text(value)


def _run(path: Path) -> JsonObject:
    """Return lmms-eval's record of the run next to the samples; empty without such a file."""
    match = _NAME.fullmatch(path.stem)
    if match is None:
        return {}
    results_path = path.with_name(f"{match['date']}_results.json")
    if not results_path.is_file():
        return {}
    return fields_of(read_document(results_path))


def _folder(path: Path) -> str:
    """Return the folder's name, which is the model's if lmms-eval wrote the file, or else the file's."""
    if _NAME.fullmatch(path.stem):
        return path.absolute().parent.name
    return path.stem
