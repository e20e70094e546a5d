"""Logs of OpenAI Evals: JSON lines with the run's specification, then events of samples, then a final report."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dokimasia.datasets.lines import location
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import DataError
from dokimasia.integrations.results import (
    ItemFailure,
    ItemResult,
    ReadOptions,
    ResultsFile,
    as_object,
    category_of,
    checked_rows,
    choose,
    content_of,
    images_of,
    json_lines,
    result_of,
    score_of,
    short_text,
)

INVALID = "__invalid__"
"""The choice recorded if a grading model's choice could not be read."""

MATCH = "correct"
"""The score of an event `match`."""


@dataclass(slots=True)
class _Sample:
    """The events of a sample: question, answer, and scores, each with the line of its event."""

    line: int
    prompt: object = None
    answer: str | None = None
    error: str = ""
    invalid: bool = False
    fields: JsonObject = field(default_factory=dict)
    scores: dict[str, list[float | None]] = field(default_factory=dict)


def read_openai_evals(path: Path, options: ReadOptions) -> ResultsFile:
    """Return the results of a log; the score is that of `match` events, or a number of the `metrics` events.

    Raises:
        NotFound: there is no such file.
        DataError: a line cannot be used, or there are several metrics and none is chosen; with file and line.
    """
    spec: JsonObject = {}
    samples: dict[str, _Sample] = {}
    for row in json_lines(path):
        where = location(path, row.line)
        if "spec" in row.fields:
            if spec:
                raise DataError(f"{where}: a second run begins; divide the file, so that each holds one")
            spec = as_object(row.fields["spec"], where)
        elif "sample_id" in row.fields:
            item = short_text(row.fields["sample_id"])
            if not item:
                raise DataError(f"{where}: the event has no sample_id")
            sample = samples.setdefault(item, _Sample(row.line))
            _add(sample, short_text(row.fields.get("type")) or "", as_object(row.fields.get("data") or {}, where))
    names = list(dict.fromkeys(name for sample in samples.values() for name in sample.scores))
    usual = next((name for name in (MATCH, "score") if name in names), None)
    metric = choose(path, names, options.scorer or usual, "metric")
    model = options.model or _model(spec) or path.stem
    rows = [row for item, sample in samples.items() for row in _rows(item, sample, model, metric)]
    return ResultsFile(path, "openai-evals", "OpenAI Evals", None, metric, checked_rows(path, rows))


def _add(sample: _Sample, kind: str, data: JsonObject) -> None:
    if kind == "sampling" and sample.prompt is None:  # a grading model is called after the model it grades
        sample.prompt, sample.answer = data.get("prompt"), _text(data.get("sampled"))
    elif kind == "match":
        sample.scores.setdefault(MATCH, []).append(score_of(data.get("correct")))
        if sample.answer is None:
            sample.answer = _text(data.get("sampled", data.get("picked")))
        sample.fields |= data
    elif kind == "metrics":
        sample.fields |= data
        sample.invalid |= data.get("choice") == INVALID
        for name, value in data.items():
            if isinstance(value, int | float) or (name == "score" and value is None):
                sample.scores.setdefault(name, []).append(score_of(value))
    elif kind == "error":
        sample.error = short_text(data.get("message") or data.get("type")) or "an error"
    elif kind == "raw_sample":
        sample.fields |= data


def _text(value: object) -> str | None:
    if isinstance(value, list):
        return _text(value[0]) if value else ""
    return short_text(value)


def _model(spec: JsonObject) -> str | None:
    models = spec.get("completion_fns")
    if isinstance(models, list) and models:
        return short_text(models[0])
    return short_text(models)


def _rows(item: str, sample: _Sample, model: str, metric: str) -> Iterator[ItemResult]:
    kind: ItemFailure | None = None
    reason = ""
    if sample.error:
        kind, reason = "api_error", sample.error
    elif sample.invalid:
        kind, reason = "unparsed", "the grading model chose none of the choices"
    for repeat, recorded in enumerate(sample.scores.get(metric) or [None]):
        yield result_of(
            item,
            model,
            recorded=recorded,
            answer=sample.answer,
            failure=kind,
            reason=reason,
            repeat=repeat,
            category=category_of(sample.fields),
            images=images_of(sample.fields),
            content=content_of(sample.prompt),
            line=sample.line,
        )
