"""The criteria that a tree is grown from: those of a run, a file, or a program."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from pydantic import JsonValue

from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.growth import TreeCriterion
from dokimasia.domain.identity import digest
from dokimasia.errors import DataError
from dokimasia.report.figures import several
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run
from dokimasia.storage.trees.lookup import KEY_LENGTH, criteria_of_samples, criterion_key

MAX_TEXT = 20_000
_LISTED = 10
_TEXT = ("criterion", "text", "question", "capability")
_SAMPLE = ("sample_id", "sample", "id")

Pair = tuple[str, str] | tuple[str, str, str] | Mapping[str, Any]
"""A criterion from Python: (text, sample id) or (text, sample id, stratum), or a mapping like a line of a file."""


def run_criteria(home: Home, run: Run, *, by: str = "category") -> list[TreeCriterion]:
    """Return the criteria of a run, sorted by key.

    A set of criteria shared by several samples counts once, for the first sample by name.

    Args:
        home: the home.
        run: an evaluation.
        by: attribute to balance the subsample over, `category` or `source`.

    Raises:
        DataError: the run has no criteria.
    """
    criteria: dict[str, TreeCriterion] = {}
    for row in criteria_of_samples(home, run.id):
        stratum = row.source if by == "source" else row.category
        for number, body in enumerate(CriteriaSet.model_validate_json(row.body).criteria, start=1):
            key, text = criterion_key(row.criteria_id, number), body.question
            criterion = TreeCriterion(key, text, row.sample_id, stratum, body.ground_truth, row.prompt, row.cluster)
            criteria.setdefault(key, criterion)
    if not criteria:
        raise DataError(
            f"run {run.id} has no criteria to grow a tree from: finish it with dokimasia resume {run.id}, or name an "
            "evaluation with a judge whose samples did not all fail"
        )
    return sorted(criteria.values())


def file_criteria(path: Path, *, by: str = "category") -> list[TreeCriterion]:
    """Return the criteria of a file, sorted by key: JSON lines, a JSON list, or CSV with a header line.

    A row has `criterion` (or `text`) and `sample_id` (or `sample`, `id`), and may have `category`, `source`,
    `ground_truth`. In a JSON list, a row may be a bare text; its sample is then its index, from 0.

    Raises:
        DataError: the file cannot be read or has unusable rows; the message names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    return read_criteria(_rows(path, text), by=by, where=str(path))


def read_criteria(
    rows: Iterable[tuple[str, object]], *, by: str = "category", where: str = "criteria"
) -> list[TreeCriterion]:
    """Return the criteria of rows, sorted by key; each row comes with its position for messages. See `file_criteria`.

    Raises:
        DataError: there are no criteria, or some are unusable.
    """
    problems: list[str] = []
    criteria: list[TreeCriterion] = []
    repeats: Counter[str] = Counter()
    for location, row in rows:
        try:
            criterion = _criterion(row, by)
        except ValueError as problem:
            problems.append(f"{location}: {problem}")
            continue
        body = orjson.dumps([criterion.text, criterion.sample_id, criterion.ground_truth])
        hashed = hashlib.sha256(b"criterion\0" + body).hexdigest()[:KEY_LENGTH]
        repeats[hashed] += 1
        criteria.append(criterion._replace(key=f"{hashed}:{repeats[hashed]}"))
    if problems:
        lines = [f"{where}: {several(len(problems), 'row')} cannot be used:", *problems[:_LISTED]]
        if len(problems) > _LISTED:
            lines.append(f"and {len(problems) - _LISTED} more")
        raise DataError("\n".join(lines))
    if not criteria:
        raise DataError(f"{where}: no criterion in it; a tree needs at least one")
    return sorted(criteria)


def given_criteria(pairs: Sequence[Pair]) -> list[TreeCriterion]:
    """Return the criteria that a program passed, sorted by key.

    Raises:
        DataError: there are no criteria, or some are unusable.
    """
    rows: list[tuple[str, object]] = []
    for number, pair in enumerate(pairs):
        row: object = pair
        if not isinstance(pair, Mapping) and not isinstance(pair, str):
            row = dict(zip(("criterion", "sample_id", "category"), pair, strict=False))
        rows.append((f"criterion {number}", row))
    return read_criteria(rows)


def hash_of(criteria: Sequence[TreeCriterion]) -> str:
    """Return a hash of criteria that are sorted by key."""
    return digest("criteria", [list(criterion) for criterion in criteria])


def _criterion(row: object, by: str) -> TreeCriterion:
    if not isinstance(row, Mapping):
        raise ValueError("it is no object with 'criterion' and 'sample_id'")
    text = _field(row, _TEXT)
    if not text.strip():
        raise ValueError("it has no text: give it as 'criterion'")
    if len(text) > MAX_TEXT:
        raise ValueError(f"its text has {len(text)} characters, more than {MAX_TEXT}")
    sample = _field(row, _SAMPLE)
    if not sample:
        raise ValueError("it names no sample: give it as 'sample_id'")
    stratum, truth = _field(row, (by,)), _field(row, ("ground_truth",))[:MAX_TEXT]
    return TreeCriterion("", text, sample, stratum, truth, cluster=_field(row, ("cluster",)))


def _field(row: Mapping[str, JsonValue], names: Iterable[str]) -> str:
    for name in names:
        value = row.get(name)
        if value is None or value == "":
            continue
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ValueError(f"its {name!r} is no text")
        text = str(value)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"its {name!r} holds half a character (a lone surrogate)") from None
        return text
    return ""


def _rows(path: Path, text: str) -> Iterable[tuple[str, object]]:
    """Yield the rows of a file, each with file and line."""
    if path.suffix.lower() in {".csv", ".tsv"}:
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
        try:
            for row in reader:
                yield f"{path}:{reader.line_num}", row
        except csv.Error as error:
            raise DataError(f"{path}:{reader.line_num}: {error}") from error
        return
    if text.lstrip().startswith("["):
        for number, row in enumerate(_json(text, str(path))):
            if isinstance(row, str):
                row = {"criterion": row, "sample_id": str(number)}
            yield f"{path}: row {number}", row
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield f"{path}:{number}", _json(line, f"{path}:{number}")


def _json(text: str, where: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise DataError(f"{where}: no JSON: {error}") from error
