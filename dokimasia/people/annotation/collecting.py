"""A collection of annotations, from the draw to what is handed out and taken in: forms, disagreements, adjudications."""

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from dokimasia.datasets.annotations import read_annotations
from dokimasia.datasets.lines import Problem, location, refuse
from dokimasia.datasets.tables import read_records
from dokimasia.domain.annotation import SCALES, SCORE, Annotation, AnnotationUnit, kind_of
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import ConfigError, DataError, InputError
from dokimasia.people.annotation.forms import form_files, image_name
from dokimasia.people.annotation.key import FORMAT, KeyHead, key_lines, place_items
from dokimasia.people.annotation.rated import put_together
from dokimasia.people.annotation.subjects import Subject, draw_subjects
from dokimasia.runs.method import ColumnType, Export
from dokimasia.runs.reading.exporting import encode, format_of, make_folder, write_whole

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")

COLUMNS: dict[str, ColumnType] = {
    "id": "text",
    "model": "text",
    "baseline": "text",
    "criterion": "integer",
    "measure": "text",
    "annotator": "text",
    "value": "number",
    "adjudicates": "truth",
    "category": "text",
    "cluster": "text",
    "comment": "text",
    "error": "text",
    "response_sha256": "text",
}
"""What a file of annotations says of each."""


class AnnotationDraw(NamedTuple):
    """What was drawn: cases, items of each annotator, where the key is, and models that responses themselves name."""

    cases: int
    items: int
    key: Path
    naming: Mapping[str, int]


def hand_out(
    subjects: Sequence[Subject],
    *,
    source: str,
    annotators: Sequence[str],
    folder: Path,
    key: Path | None,
    blobs: BlobStore,
    per: int | None,
    seed: int,
    scale: tuple[int, int] = SCALES[SCORE],
    cases: int | None = None,
) -> AnnotationDraw:
    """Draw cases and write a form for each annotator into a folder, and the key beside it.

    Raises:
        InputError: a name cannot be a folder's, the key would lie where annotators see it, or a file cannot be written.
    """
    check_names(annotators)
    key = key or folder.with_name(f"{folder.name}.key.jsonl")
    if folder.resolve() in key.resolve().parents:
        raise ConfigError(f"--key {key}: the key says who is whom and cannot lie in the folder that annotators see")
    if key.exists():
        raise InputError(f"{key} is there already, and with it answers could be read: name another folder, or --key")
    kind = kind_of(subjects[0].unit)
    drawn = draw_subjects(subjects, kind, per=per, cases=cases, seed=seed)
    head = KeyHead(format=FORMAT, kind=kind, source=source, seed=seed, scale=scale, annotators=tuple(annotators))
    placed = place_items(drawn, annotators, seed=seed)
    refs = {ref.sha256: ref for one in drawn for ref in one.sample.images}
    make_folder(folder / "images")
    for ref in refs.values():
        write_whole(folder / "images" / image_name(ref), blobs.get(ref.sha256))
    for who, items in placed.items():
        make_folder(folder / who)
        for name, data in form_files(head, who, items, lambda ref: _uri(blobs, ref)):
            write_whole(folder / who / name, data)
    make_folder(key.parent)
    write_whole(key, b"".join(key_lines(head, placed)))
    shown = {(one.unit.id, one.unit.criterion) for one in drawn}
    return AnnotationDraw(len(shown), len(drawn), key, _naming(drawn))


def check_names(annotators: Sequence[str]) -> None:
    """Raise if names of annotators are none, or one stands twice."""
    for name in annotators:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"--annotators: {name!r} is no name: take letters, digits, dots, dashes and underscores")
    if not annotators or len({name.casefold() for name in annotators}) < len(annotators):
        raise ConfigError("--annotators needs the names of who annotates, separated by commas, each once")


def _uri(blobs: BlobStore, ref: ImageRef) -> str:
    return f"data:{ref.media_type};base64,{base64.b64encode(blobs.get(ref.sha256)).decode()}"


def _naming(subjects: Sequence[Subject]) -> dict[str, int]:
    """Return how many responses name one of the models that are compared, by the last part of its name."""
    found: dict[str, int] = {}
    names = {model for one in subjects for model in (one.unit.model, one.unit.baseline) if model}
    for name in sorted(names):
        bare = name.rpartition("/")[2].casefold()
        count = sum(bare in text.casefold() for one in subjects if one.unit.model for text in one.texts)
        if count:
            found[name] = count
    return found


def written(annotations: Iterable[Annotation], path: Path) -> bytes:
    """Return annotations as a file of them, in the format that the path's ending names."""
    rows = [{**one.unit._asdict(), **one._asdict(), "criterion": one.unit.criterion or None} for one in annotations]
    rows = [{name: row[name] if row[name] != "" else None for name in COLUMNS} for row in rows]
    return encode(Export(COLUMNS, rows), format_of(None, path))


DISAGREEMENTS: dict[str, ColumnType] = {
    **{name: COLUMNS[name] for name in ("id", "model", "baseline", "criterion", "measure", "category", "cluster")},
    "said": "text",
    "annotator": "text",
    "value": "number",
}


def disagreements(annotations: Sequence[Annotation], *, more_than: float) -> list[dict[str, JsonValue]]:
    """Return the units on which people differ by more than so much, with what each said, and fields for who decides."""
    return [
        {
            **one.unit._asdict(),
            "criterion": one.unit.criterion or None,
            "category": one.place.category,
            "cluster": one.place.cluster,
            "said": ", ".join(f"{name}: {value:g}" for name, value in one.said.items()),
            "annotator": None,
            "value": None,
        }
        for one in put_together(annotations)
        if one.apart > more_than and one.adjudicated is None
    ]


def write_disagreements(rows: Sequence[Mapping[str, JsonValue]], path: Path) -> None:
    """Write disagreements as a file, in the format that the path's ending names."""
    kept = [{name: row[name] if row[name] != "" else None for name in DISAGREEMENTS} for row in rows]
    write_whole(path, encode(Export(DISAGREEMENTS, kept), format_of(None, path)))


def things_of(path: Path) -> set[AnnotationUnit]:
    """Return the things that a file of disagreements, or of annotations, names.

    Raises:
        DataError: a line names none; with file and line.
    """
    problems: list[str] = []
    found: set[AnnotationUnit] = set()
    for row in read_records(path):
        if isinstance(row, Problem):
            problems.append(row.message)
            continue
        fields = row.fields
        id, criterion = str(fields.get("id") or ""), str(fields.get("criterion") or "0")
        if not id or not criterion.isdecimal():
            problems.append(f"{location(path, row.line)}: no id, or a criterion that is no number")
            continue
        found.add(
            AnnotationUnit(id, "", str(fields.get("model") or ""), str(fields.get("baseline") or ""), int(criterion))
        )
    refuse(problems)
    if not found:
        raise DataError(f"{path}: it names nothing to be rated")
    return found


def adjudicate(annotations: Sequence[Annotation], decisions: Path) -> list[Annotation]:
    """Return annotations with the decisions of a file: a decided value holds in place of what was said, which stays.

    A decision is a line as of annotations, with `annotator` and `value` filled in: of a file of disagreements, or of forms
    that were read. Lines that are not filled in are left out.

    Raises:
        DataError: a decision is about something that nobody rated, or that is decided already; with file and line.
    """
    units = {one.unit for one in annotations}
    decided = {one.unit: one.annotator for one in annotations if one.adjudicates}
    raters = {(one.unit, one.annotator) for one in annotations}

    def known(unit: AnnotationUnit) -> str | None:
        if unit not in units:
            return f"nobody rated {unit}"
        return f"{unit} is decided by {decided[unit]} already" if unit in decided else None

    made = read_annotations(decisions, known=known, filled=True)
    twice = next((one for one in made if (one.unit, one.annotator) in raters), None)
    if twice is not None:
        raise DataError(
            f"{decisions}, line {twice.line}: {twice.annotator} has rated {twice.unit} and cannot decide on it as well; "
            "name whoever decided otherwise"
        )
    by_unit: dict[AnnotationUnit, Annotation] = {}
    for one in made:
        first = by_unit.setdefault(one.unit, one)
        if first is not one:
            raise DataError(f"{decisions}, line {one.line}: {one.unit} is decided on line {first.line} already")
    return [*annotations, *(one._replace(adjudicates=True) for one in by_unit.values())]


def known_units(units: Iterable[AnnotationUnit], source: str) -> Callable[[AnnotationUnit], str | None]:
    """Return what says of a unit that a source does not know its sample or model, and which it knows."""
    every = list(units)
    samples, models = {one.id for one in every}, {one.model for one in every if one.model}

    def known(unit: AnnotationUnit) -> str | None:
        if unit.id not in samples:
            return f"{source} has no sample {unit.id!r}"
        for model in (unit.model, unit.baseline):
            if model and models and model not in models | {one.baseline for one in every}:
                return f"{source} has no model {model!r}; there are {', '.join(sorted(models))}"
        return None

    return known
