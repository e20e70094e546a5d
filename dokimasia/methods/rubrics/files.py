"""Rubric files: JSON lines that can be published, imported into an empty home, and used to audit new models."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal

import orjson
from pydantic import Field, JsonValue, ValidationError

from dokimasia.domain.decision import Standing, rubric_subject
from dokimasia.domain.density import Domain
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.rubric import ErrorKind, PanelVerdict, Polarity, Rubric, RubricSet, Stream, Tried, polarity_of
from dokimasia.errors import DataError, NotFound, list_faults
from dokimasia.people.checks import checked_texts
from dokimasia.report.figures import several
from dokimasia.runs.reading.exporting import write_whole
from dokimasia.storage.home import Home
from dokimasia.storage.reviews import made_values
from dokimasia.storage.runs import Run

FORMAT = "dokimasia-rubrics/1"
MAX_BYTES = 256 * 1024 * 1024
MAX_RUBRICS = 100
"""Maximum number of rubrics of a stream and sample; far more than any set has."""


class RubricEntry(Value):
    """One rubric of a line; a bare text stands for an entry that has the statement alone."""

    statement: str = Field(min_length=1, max_length=2_000)
    polarity: Polarity | None = None
    kind: ErrorKind | None = None
    evidence: str = ""
    support: tuple[str, ...] = ()


class RubricLine(Value):
    """One line of a file of rubrics: a sample, by name and by the hashes of its images, and its two streams.

    `verified` says that a person stands behind the caption, `checked` that one has decided on every rubric. `tried` are the
    texts that its power is measured by; what a text passes follows the rubrics, must-right first.
    """

    format: Literal["dokimasia-rubrics/1"]
    id: str = Field(min_length=1)
    images: tuple[str, ...] = ()
    domain: Domain | None = None
    caption: str = ""
    verified: bool = False
    checked: bool = False
    must_right: tuple[RubricEntry | str, ...] = Field(default=(), max_length=MAX_RUBRICS)
    easy_wrong: tuple[RubricEntry | str, ...] = Field(default=(), max_length=MAX_RUBRICS)
    tried: tuple[Tried, ...] = ()
    pool: tuple[str, ...] = ()
    panel: tuple[str, ...] = ()


_ENTRY = set(RubricEntry.model_fields)
_WHOLE = RubricLine.model_fields.keys() & RubricSet.model_fields.keys()
"""Fields of rubrics and sets that a file contains unchanged."""


def schema() -> dict[str, JsonValue]:
    """Return the JSON schema of one line of a file of rubrics."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **RubricLine.model_json_schema()}


def encode_sets(sets: Iterable[RubricSet]) -> bytes:
    """Return rubric sets as JSON lines, in order; the same sets give the same bytes."""
    lines: list[bytes] = []
    for rubric_set in sets:
        line = {
            "format": FORMAT,
            "id": rubric_set.sample_id,
            **rubric_set.model_dump(mode="json", include=_WHOLE),
            "must_right": [rubric.model_dump(mode="json", include=_ENTRY) for rubric in rubric_set.must_right],
            "easy_wrong": [rubric.model_dump(mode="json", include=_ENTRY) for rubric in rubric_set.easy_wrong],
        }
        lines.append(orjson.dumps(line, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE))
    return b"".join(lines)


def write_sets(home: Home, run: Run, path: Path) -> str:
    """Write a run's rubric sets with people's decisions applied, and return a message for the user.

    Raises:
        NotFound: the run made no rubrics.
        InputError: the file cannot be written.
    """
    sets = sets_of_run(home, run)
    write_whole(path, encode_sets(sets))
    return f"wrote the rubrics of {several(len(sets), 'sample')} to {path}"


def read_sets(path: Path) -> list[RubricSet]:
    """Return the rubric sets of a file, in order; the whole file is checked.

    Raises:
        DataError: a line is unusable; the message names it and the reason.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path}: larger than {MAX_BYTES // 2**20} MiB, which no set of rubrics is")
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    sets: list[RubricSet] = []
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        rubric_set = _read_line(line, where)
        earlier = line_of.setdefault(rubric_set.sample_id, number)
        if earlier != number:
            raise DataError(f"{where}: sample {rubric_set.sample_id!r} has its rubrics in line {earlier} already")
        sets.append(rubric_set)
    if not sets:
        raise DataError(f"{path}: no rubrics in it; `dokimasia rubrics RUN --export FILE` writes such a file")
    return sets


def sets_of_run(home: Home, run: Run) -> list[RubricSet]:
    """Return the rubric sets of a run with people's decisions applied, in the order of its samples.

    Rejected rubrics are left out; edited ones have the edited statement.

    Raises:
        NotFound: the run made no rubrics.
    """
    sets = made_values(home, run.id, RubricSet)
    if not sets:
        raise NotFound(f"run {run.id} ({run.method}) has no rubrics: `dokimasia rubrics` makes them")
    standings = checked_texts(home, run.id)
    return [_as_decided(source.id, rubric_set, standings) for source, rubric_set in sets]


def sets_id(sets: Iterable[RubricSet]) -> str:
    """Return the content id of a collection of sets, which covers only what affects judgements."""
    content: list[list[object]] = []  # As plain JSON.
    for rubric_set in sets:
        statements = [[rubric.stream, rubric.statement] for rubric in rubric_set.rubrics]
        content.append([rubric_set.sample_id, list(rubric_set.images), rubric_set.domain, statements])
    return digest("rubric-sets", sorted(content))[:16]


def _as_decided(id: str, rubric_set: RubricSet, standings: Mapping[str, Standing]) -> RubricSet:
    """Return a set with people's decisions applied; measurements of edited rubrics are removed."""
    rubrics: dict[int, Rubric] = {}
    edited: set[int] = set()
    all_decided = True
    for position, rubric in enumerate(rubric_set.rubrics):
        standing = standings.get(rubric_subject(id, position + 1))
        state = "waiting" if standing is None else standing.state
        all_decided = all_decided and state != "waiting"
        if standing is not None and state == "edited":
            text = " ".join(standing.text.split())
            rubric = rubric.model_copy(update={"statement": text, "polarity": polarity_of(text)})
            edited.add(position)
        if state != "rejected":
            rubrics[position] = rubric
    verdicts: tuple[tuple[PanelVerdict, ...], ...] = ()
    if len(rubric_set.verdicts) == len(rubric_set.rubrics):
        verdicts = tuple(rubric_set.verdicts[position] for position in rubrics)
    changes = {
        "rubrics": tuple(rubrics.values()),
        "verdicts": verdicts,
        "tried": tuple(_tried_of(trial, rubrics, edited) for trial in rubric_set.tried),
        "checked": all_decided and bool(rubric_set.rubrics),
    }
    return rubric_set.model_copy(update=changes)


def _tried_of(tried: Tried, positions: Collection[int], edited: Collection[int]) -> Tried:
    """Return whether a text passes each of the rubrics at some positions; None for edited ones."""
    if not tried.passes:
        return tried
    passes = tuple(None if position in edited else tried.passes[position] for position in positions)
    return tried.model_copy(update={"passes": passes})


def _read_line(line: bytes, where: str) -> RubricSet:
    try:
        entry = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON ({error})") from None
    if not isinstance(entry, dict) or entry.get("format") != FORMAT:
        raise DataError(f'{where}: not a line of rubrics; it needs "format": "{FORMAT}"')
    try:
        rubric_line = RubricLine.model_validate_json(line)
    except ValidationError as error:
        first = list_faults(error)[0]
        field = ".".join(part for part in first.field.split(".") if part not in {"RubricEntry", "str"})
        raise DataError(f"{where}: {field or 'line'}: {first.message}") from None
    rubrics = (
        *(_rubric("must_right", entry, where) for entry in rubric_line.must_right),
        *(_rubric("easy_wrong", entry, where) for entry in rubric_line.easy_wrong),
    )
    if not rubrics:
        raise DataError(f"{where}: sample {rubric_line.id!r} has no rubric in either stream")
    return RubricSet(sample_id=rubric_line.id, rubrics=rubrics, **rubric_line.model_dump(include=_WHOLE))


def _rubric(stream: Stream, entry: RubricEntry | str, where: str) -> Rubric:
    if isinstance(entry, str):
        if not entry.strip():
            raise DataError(f"{where}: {stream}: an empty statement")
        entry = RubricEntry(statement=entry)
    statement = " ".join(entry.statement.split())
    fields = {**entry.model_dump(), "statement": statement, "polarity": entry.polarity or polarity_of(statement)}
    return Rubric(stream=stream, **fields)
