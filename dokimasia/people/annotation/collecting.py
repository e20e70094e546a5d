"""Collection of annotations: drawing cases, writing forms, reading disagreements and adjudications."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from pydantic import JsonValue

from dokimasia.datasets.annotations import read_annotations
from dokimasia.datasets.lines import FileProblems
from dokimasia.datasets.tables import read_records
from dokimasia.domain.annotation import SCALES, SCORE, Annotation, AnnotationUnit, FormKind, kind_of, scale_ends
from dokimasia.domain.ports import BlobStore
from dokimasia.errors import ConfigError, DataError, InputError
from dokimasia.people.annotation.forms import YES_OR_NO, form_files, image_name
from dokimasia.people.annotation.key import FORMAT, KeyHead, key_lines, named_for_forms, place_items
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
    "scale": "text",
}
"""The columns of a file of annotations."""


class AnnotationDraw(NamedTuple):
    """A draw: the numbers of cases and of items for each annotator, the key's path, and responses that name a model.

    `by_model` counts the drawn answers and all answers that no rule decided, if labels are for a correction.
    """

    cases: int
    items: int
    key: Path
    naming: Mapping[str, int]
    by_model: Mapping[str, tuple[int, int]] = MappingProxyType({})


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
    """Draw cases and write a form for each annotator into a folder, and the key next to it.

    Raises:
        InputError: an annotator's name is invalid, the key exists or would be in the annotators' folder, or a file cannot be
            written.
    """
    check_names(annotators)
    key = key or folder.with_name(f"{folder.name}.key.jsonl")
    if folder.resolve() in key.resolve().parents:
        raise ConfigError(f"--key {key}: the key says who is whom and cannot lie in the folder that annotators see")
    if key.exists():
        raise InputError(f"{key} is there already, and with it answers could be read: name another folder, or --key")
    kind: FormKind = "ranking" if subjects[0].models else kind_of(subjects[0].unit)
    if kind == "ranking":
        scale = (1, len(subjects[0].models))
    drawn = draw_subjects(subjects, kind, per=per, cases=cases, seed=seed)
    head = KeyHead(format=FORMAT, kind=kind, source=source, seed=seed, scale=scale, annotators=tuple(annotators))
    placed = named_for_forms(head, place_items(drawn, annotators, seed=seed))
    make_folder(folder / "images")
    for ref in {ref.sha256: ref for subject in drawn for ref in subject.sample.images}.values():
        write_whole(folder / "images" / image_name(ref), blobs.get(ref.sha256))
    for who, items in placed.items():
        make_folder(folder / who)
        for name, data in form_files(head, who, items, blobs):
            write_whole(folder / who / name, data)
    make_folder(key.parent)
    write_whole(key, b"".join(key_lines(head, placed)))
    shown = {(subject.unit.id, subject.unit.criterion) for subject in drawn}
    return AnnotationDraw(len(shown), len(drawn), key, _naming(drawn), _by_model(drawn, subjects))


def _by_model(drawn: Sequence[Subject], subjects: Sequence[Subject]) -> dict[str, tuple[int, int]]:
    """Return, for each model, how many answers with a verdict were drawn, and how many there are."""
    numbers = Counter(subject.unit.model for subject in drawn if subject.verdict)
    totals = Counter(subject.unit.model for subject in subjects if subject.verdict)
    return {model: (numbers[model], total) for model, total in sorted(totals.items())}


def check_names(annotators: Sequence[str]) -> None:
    """Raise if annotators' names are missing, invalid or repeated."""
    for name in annotators:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"--annotators: {name!r} is not a valid name: take letters, digits, dots, dashes and underscores"
            )
    if not annotators or len({name.casefold() for name in annotators}) < len(annotators):
        raise ConfigError("--annotators needs the names of who annotates, separated by commas, each once")


def _naming(subjects: Sequence[Subject]) -> dict[str, int]:
    """Return the number of responses that mention each compared model, by the last part of its name."""
    counts: dict[str, int] = {}
    shown = [subject for subject in subjects if subject.unit.model or subject.models]
    names: set[str] = set()
    for subject in shown:
        names |= {subject.unit.model, subject.unit.baseline, *subject.models}
    for name in sorted(names - {""}):
        short_name = name.rpartition("/")[2].casefold()
        count = sum(short_name in text.casefold() for subject in shown for text in subject.texts)
        if count:
            counts[name] = count
    return counts


def written(annotations: Iterable[Annotation], path: Path) -> bytes:
    """Return the bytes of a file of annotations, in the format of the path's ending."""
    rows: list[dict[str, JsonValue]] = []
    for annotation in annotations:
        unit = annotation.unit
        rows.append({**unit._asdict(), **annotation._asdict(), "criterion": unit.criterion or None})
    return _encoded(rows, COLUMNS, path)


def _encoded(rows: Iterable[Mapping[str, JsonValue]], columns: dict[str, ColumnType], path: Path) -> bytes:
    """Return rows as the bytes of a file, in the format of the path's ending; empty texts become empty cells."""
    lines = [{name: None if row[name] == "" else row[name] for name in columns} for row in rows]
    return encode(Export(columns, lines), format_of(None, path))


DISAGREEMENTS: dict[str, ColumnType] = {
    **{name: COLUMNS[name] for name in ("id", "model", "baseline", "criterion", "measure", "category", "cluster")},
    "said": "text",
    "annotator": "text",
    "value": "number",
}


def usual_disagreement(annotations: Sequence[Annotation]) -> float:
    """Return the difference above which people disagree: 0 on a scale of 0 and 1, else 1.

    The scale is that of the lines. If no line has a scale, it is 0 and 1 if every score is one of them.
    """
    scores = [rating for rating in annotations if rating.unit.measure == SCORE]
    scales = {rating.scale for rating in scores if rating.scale}
    if scales:
        yes_or_no = all(scale_ends(scale) == YES_OR_NO for scale in scales)
    else:
        yes_or_no = bool(scores) and all(rating.value in YES_OR_NO for rating in scores)
    return 0.0 if yes_or_no else 1.0


def disagreements(annotations: Sequence[Annotation], *, more_than: float) -> list[dict[str, JsonValue]]:
    """Return the units on which people differ by more than `more_than`, with all ratings, and empty fields for a decision."""
    return [
        {
            **unit.unit._asdict(),
            "criterion": unit.unit.criterion or None,
            "category": unit.place.category,
            "cluster": unit.place.cluster,
            "said": ", ".join(f"{name}: {value:g}" for name, value in unit.said.items()),
            "annotator": None,
            "value": None,
        }
        for unit in put_together(annotations)
        if unit.apart > more_than and unit.adjudicated is None
    ]


def write_disagreements(rows: Sequence[Mapping[str, JsonValue]], path: Path) -> None:
    """Write a file of disagreements, in the format of the path's ending."""
    write_whole(path, _encoded(rows, DISAGREEMENTS, path))


def things_of(path: Path) -> set[AnnotationUnit]:
    """Return the units, without their measures, in a file of disagreements or annotations.

    Raises:
        DataError: a line names no unit; with file and line.
    """
    problems = FileProblems(path)
    units: set[AnnotationUnit] = set()
    for row in problems.readable(read_records(path)):
        id, model, baseline = (str(row.fields.get(name) or "") for name in ("id", "model", "baseline"))
        criterion = str(row.fields.get("criterion") or "0")
        if not id or not criterion.isdecimal():
            problems.add(row.line, "no id, or a criterion that is no number")
        else:
            units.add(AnnotationUnit(id, "", model, baseline, int(criterion)))
    problems.refuse()
    if not units:
        raise DataError(f"{path}: it names nothing to be rated")
    return units


def adjudicate(annotations: Sequence[Annotation], decisions: Path) -> list[Annotation]:
    """Return annotations with the adjudications of a file, which take precedence over the ratings.

    A decision is a line of a file of disagreements, or of annotations, with `annotator` and `value` filled in; other lines
    are ignored.

    Raises:
        DataError: a decision is on a unit that nobody rated, or that is already decided; with file and line.
    """
    units = {row.unit for row in annotations}
    decided = {row.unit: row.annotator for row in annotations if row.adjudicates}
    raters = {(row.unit, row.annotator) for row in annotations}

    def known(unit: AnnotationUnit) -> str | None:
        if unit not in units:
            return f"nobody rated {unit}"
        if unit in decided:
            return f"{unit} is decided by {decided[unit]} already"
        return None

    adjudications = read_annotations(decisions, known=known, filled=True)
    rated = next((row for row in adjudications if (row.unit, row.annotator) in raters), None)
    if rated is not None:
        raise DataError(
            f"{decisions}, line {rated.line}: {rated.annotator} has rated {rated.unit} and cannot decide on it as well; "
            "name whoever decided otherwise"
        )
    by_unit: dict[AnnotationUnit, Annotation] = {}
    for row in adjudications:
        first = by_unit.setdefault(row.unit, row)
        if first is not row:
            raise DataError(f"{decisions}, line {row.line}: {row.unit} is decided on line {first.line} already")
    return [*annotations, *(row._replace(adjudicates=True) for row in by_unit.values())]


def known_units(units: Iterable[AnnotationUnit], source: str) -> Callable[[AnnotationUnit], str | None]:
    """Return a function that returns a message for a unit whose sample or model is unknown to a source, else None."""
    samples: set[str] = set()
    models: set[str] = set()
    baselines: set[str] = set()
    for known_unit in units:
        samples.add(known_unit.id)
        baselines.add(known_unit.baseline)
        if known_unit.model:
            models.add(known_unit.model)

    def known(unit: AnnotationUnit) -> str | None:
        if unit.id not in samples:
            return f"{source} has no sample {unit.id!r}"
        for model in (unit.model, unit.baseline):
            if model and models and model not in models | baselines:
                return f"{source} has no model {model!r}; there are {', '.join(sorted(models))}"
        return None

    return known
