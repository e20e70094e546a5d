"""What several people said, read from JSON lines or CSV: a rating a line, of a response, a pair or a criterion."""

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dokimasia.datasets.lines import Problem, place
from dokimasia.datasets.tables import read_records
from dokimasia.domain.annotation import MEASURES, SCALES, Annotation, AnnotationUnit, kind_of
from dokimasia.errors import DataError

MOST_NAMED = 20

_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?", re.ASCII)
_WHOLE = re.compile(r"[0-9]{1,6}", re.ASCII)


def read_annotations(
    path: Path, *, known: Callable[[AnnotationUnit], str | None] | None = None, filled: bool = False
) -> list[Annotation]:
    """Return the ratings of a file, in order.

    A line has `id`, `annotator` and `value`, and, as it applies, `model`, `baseline` (the value is a verdict, from 2: the
    model is much better, to -2), `criterion` (a number from 1), `measure`, `category`, `cluster`, `comment`, `error` (the
    kind of error of a wrong response), `response_sha256` (of the text that was rated), and `adjudicates` (true: it decides
    where others differ). Without a measure it is a verdict on a pair and a score of a response; of a criterion it has to be
    named.

    Args:
        path: `.csv` with a heading, else JSON lines.
        known: says what is not known of a unit, such as its sample; None where all is.
        filled: lines with neither annotator nor value were handed out to be filled in, and are left out.

    Raises:
        NotFound: there is no such file.
        DataError: naming every line that cannot be used (twenty at most), or that there is no rating.
    """
    found: list[Annotation] = []
    problems: list[str] = []
    seen: dict[tuple[AnnotationUnit, str], int] = {}
    decided: dict[AnnotationUnit, int] = {}
    for row in read_records(path):
        if isinstance(row, Problem):
            problems.append(row.message)
            continue
        if filled and row.fields.get("annotator") is None and row.fields.get("value") is None:
            continue
        where = place(path, row.line)
        try:
            one = _annotation(row.fields, row.line)
        except ValueError as wrong:
            problems.append(f"{where}: {wrong}")
            continue
        first = seen.setdefault((one.unit, one.annotator), row.line)
        if first != row.line:
            problems.append(f"{where}: {one.annotator} has rated {one.unit} on line {first} already")
        elif one.adjudicates and decided.setdefault(one.unit, row.line) != row.line:
            problems.append(f"{where}: {one.unit} is adjudicated on line {decided[one.unit]} already")
        elif known is not None and (wrong := known(one.unit)) is not None:
            problems.append(f"{where}: {wrong}")
        else:
            found.append(one)
    refuse(problems)
    if not found:
        raise DataError(f"{path}: no rating in it; a line has id, annotator and value, and model where it is about one")
    return found


def refuse(problems: Sequence[str]) -> None:
    """Raise the problems of a file's lines, the first of them by name.

    Raises:
        DataError: there is one.
    """
    if problems:
        more = [f"and {len(problems) - MOST_NAMED} more"] if len(problems) > MOST_NAMED else []
        raise DataError("\n".join([*problems[:MOST_NAMED], *more]))


def _annotation(fields: dict[str, Any], line: int) -> Annotation:
    model, baseline, criterion = _text(fields, "model"), _text(fields, "baseline"), _criterion(fields.get("criterion"))
    if baseline and not model:
        raise ValueError("there is a baseline and no model that is compared with it")
    if baseline and model == baseline:
        raise ValueError(f"{model} is compared with itself")
    kind = kind_of(AnnotationUnit("", "", model, baseline, criterion))
    measure = _text(fields, "measure")
    if not measure and len(MEASURES[kind]) > 1:
        raise ValueError(f"the field 'measure' is missing: of a criterion it is {' or '.join(MEASURES[kind])}")
    unit = AnnotationUnit(_text(fields, "id", needed=True), measure or MEASURES[kind][0], model, baseline, criterion)
    adjudicates = fields.get("adjudicates") or False
    if adjudicates not in (True, False, "true", "false", "1", "0"):
        raise ValueError(f"the field 'adjudicates' is {str(adjudicates)[:40]!r}, neither true nor false")
    return Annotation(
        unit,
        _text(fields, "annotator", needed=True),
        _value(fields.get("value"), unit.measure),
        adjudicates in (True, "true", "1"),
        _text(fields, "category"),
        _text(fields, "cluster"),
        _text(fields, "comment"),
        line,
        _text(fields, "error"),
        _text(fields, "response_sha256"),
    )


def _text(fields: dict[str, Any], name: str, *, needed: bool = False) -> str:
    value = fields.get(name)
    text = str(value) if type(value) is int else "" if value is None else value
    if not isinstance(text, str):
        raise ValueError(f"the field {name!r} is no text")
    if needed and not text.strip():
        raise ValueError(f"the field {name!r} is missing or empty")
    return text.strip()


def _criterion(value: Any) -> int:
    if value is None:
        return 0
    if (type(value) is int and value >= 1) or (isinstance(value, str) and _WHOLE.fullmatch(value) and int(value) >= 1):
        return int(value)
    raise ValueError(f"the criterion {str(value)[:40]!r} is no whole number from 1")


def _value(value: Any, measure: str) -> float:
    if value is None:
        raise ValueError("the field 'value' is missing: leave a line out whose thing was not rated")
    number = math.nan
    if (type(value) in (int, float)) or (isinstance(value, str) and _NUMBER.fullmatch(value.strip())):
        number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"the value {str(value)[:40]!r} is no number: one, with a point before decimals")
    low, high = SCALES.get(measure, (-math.inf, math.inf)) if measure != "score" else (-math.inf, math.inf)
    if not low <= number <= high:
        raise ValueError(f"the {measure} {number:g} lies outside {low} to {high}")
    return number
