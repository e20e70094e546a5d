"""Outputs of promptfoo: the JSON document of an evaluation, or its results as JSON lines."""

from collections.abc import Sequence
from pathlib import Path

from dokimasia.datasets.lines import location
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import DataError
from dokimasia.integrations.results import (
    ItemFailure,
    ItemResult,
    ReadOptions,
    ResultsFile,
    category_of,
    checked_rows,
    content_of,
    fields_of,
    images_of,
    json_lines,
    objects_of,
    read_object,
    result_of,
    score_of,
    short_text,
)

SCORE, SUCCESS = "score", "success"
"""The weighted score of all assertions of a test, 0 to 1, and whether it passed; either can be chosen as a scorer."""

ERROR = 2
"""The reason code of a failure that is not an assertion's."""


def read_promptfoo(path: Path, options: ReadOptions) -> ResultsFile:
    """Return the results of an evaluation: an item is a test, a repeated test a repeat, a model a provider.

    If a provider was called with several prompts, each of them counts as a model.

    Raises:
        NotFound: there is no such file.
        DataError: the file contains no results, or one cannot be used; the message names file and entry.
    """
    version, entries, unit = _entries(path)
    wanted = options.scorer or SCORE
    names = list(dict.fromkeys(name for entry in entries for name in _scores(entry)))
    if wanted not in names:
        raise DataError(f"{path} has no score {wanted!r}; it has {', '.join(names) or 'none'}")
    models = _models(path, entries, options.model)
    counts: dict[tuple[str, str], int] = {}
    tests: dict[str, str] = {}
    rows: list[ItemResult] = []
    for number, (entry, model) in enumerate(zip(entries, models, strict=True), start=1):
        content = content_of(entry.get("vars"))
        test = short_text(entry.get("testIdx"))
        if test is None:
            raise DataError(f"{location(path, number, unit)}: it has no testIdx, by which items are paired")
        item = tests.setdefault(content, test) if content else test
        repeat = counts[item, model] = counts.get((item, model), -1) + 1
        rows.append(_row(entry, item, model, repeat, wanted, content, number))
    return ResultsFile(path, "promptfoo", "promptfoo", version, wanted, checked_rows(path, rows, unit=unit))


def _entries(path: Path) -> tuple[str | None, list[JsonObject], str]:
    """Return the version, the results and the word for one of them in messages."""
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return None, [row.fields for row in json_lines(path)], "line"
    document = read_object(path)
    results = document.get("results")
    if isinstance(results, dict):
        results = results.get("results")
    if not isinstance(results, list):
        raise DataError(f"{path} holds no results of promptfoo; write it with promptfoo eval --output FILE.json")
    version = short_text(fields_of(document.get("metadata")).get("promptfooVersion"))
    return version, objects_of(path, results, "result"), "result"


def _models(path: Path, entries: Sequence[JsonObject], name: str | None) -> list[str]:
    prompts: dict[str, list[object]] = {}
    for entry in entries:
        asked = prompts.setdefault(_provider(entry), [])
        if entry.get("promptIdx") not in asked:
            asked.append(entry.get("promptIdx"))
    models: list[str] = []
    for entry in entries:
        model = _provider(entry)
        asked = prompts[model]
        if len(asked) > 1:
            model = f"{model}, prompt {asked.index(entry.get('promptIdx')) + 1}"
        models.append(model)
    if name is None:
        return models
    if len(set(models)) > 1:
        raise DataError(f"{path} holds results of {', '.join(dict.fromkeys(models))}, and not of {name} alone")
    return [name] * len(models)


def _provider(entry: JsonObject) -> str:
    provider = entry.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return short_text(provider) or "unknown provider"


def _scores(entry: JsonObject) -> JsonObject:
    others = entry.get("namedScores")
    own = {name: entry[name] for name in (SCORE, SUCCESS) if name in entry}
    return own | {name: value for name, value in fields_of(others).items() if name not in own}


def _row(entry: JsonObject, item: str, model: str, repeat: int, scorer: str, content: str, number: int) -> ItemResult:
    response, asked, test = (fields_of(entry.get(name)) for name in ("response", "vars", "testCase"))
    answer = short_text(response.get("output"))
    recorded = score_of(_scores(entry).get(scorer))
    kind: ItemFailure | None = None
    reason = ""
    if entry.get("failureReason") == ERROR or (answer is None and (entry.get("error") or response.get("error"))):
        kind, reason = "api_error", short_text(entry.get("error") or response.get("error")) or "an error of the call"
    elif response.get("isRefusal") or response.get("finishReason") == "content_filter":
        kind, reason = "refused", "the provider says so"
    places = (asked, fields_of(test.get("metadata")), fields_of(entry.get("metadata")))
    return result_of(
        item,
        model,
        recorded=recorded,
        answer=answer,
        failure=kind,
        reason=reason,
        repeat=repeat,
        category=category_of(*places),
        images=images_of(*places),
        content=content,
        line=number,
    )
