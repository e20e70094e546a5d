"""Human judgements of responses and models, read from files: annotations, rankings, and external ratings."""

import csv
import io
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import orjson
from pydantic import Field, PlainValidator, ValidationInfo, field_validator

from dokimasia.datasets.lines import (
    FileProblems,
    Name,
    RowModel,
    digits_of,
    field_error,
    message_of,
    parse_row,
    row_error,
    text_field,
)
from dokimasia.datasets.tables import read_records
from dokimasia.domain.annotation import MEASURES, PLACE, SCALES, Annotation, AnnotationUnit, kind_of, scale_ends
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import DataError

UNNAMED = ""
"""The name of the annotator of rankings without one; no annotator can have it."""

MAX_RATINGS_BYTES = 256 * 1024 * 1024

_FORMS = 'write "ranking": [["best"], ["second", "as good as second"]], or "scores": {"model": number}'
_MOST_RANKING_FAULTS = 10
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?", re.ASCII)
_WHOLE = re.compile(r"[0-9]{1,6}", re.ASCII)


def _text(value: object) -> str:
    text = digits_of(value)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise field_error("is not a string")
    return text.strip()


def _needed_text(value: object) -> str:
    text = _text(value)
    if not text:
        raise field_error("is missing or empty")
    return text


def _criterion(value: object) -> int:
    if value is None:
        return 0
    number = 0
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and _WHOLE.fullmatch(value):
        number = int(value)
    if number < 1:
        raise row_error(f"the criterion {str(value)[:40]!r} is not a whole number from 1")
    return number


def _adjudicates(value: object) -> bool:
    value = value or False
    if value not in (True, False, "true", "false", "1", "0"):
        raise field_error(f"is {str(value)[:40]!r}, neither true nor false")
    return value in (True, "true", "1")


def _scale(value: object) -> str:
    text = _text(value)
    try:
        if text:
            scale_ends(text)
    except ValueError:
        raise field_error(f"is {text[:40]!r}, and has to be a scale such as 1-5") from None
    return text


Text = Annotated[str, PlainValidator(_text)]
"""A text, stripped; an integer becomes its digits, and a missing value is empty."""

NeededText = Annotated[str, PlainValidator(_needed_text), Field(validate_default=True)]


class AnnotationRow(RowModel):
    """One person's rating of one thing; validated in the order in which faults are named."""

    model: Text = ""
    baseline: Text = ""
    criterion: Annotated[int, PlainValidator(_criterion)] = 0
    measure: str = Field(default="", validate_default=True)
    id: NeededText = ""
    adjudicates: Annotated[bool, PlainValidator(_adjudicates)] = False
    annotator: NeededText = ""
    value: float = Field(default=None, validate_default=True)
    category: Text = ""
    cluster: Text = ""
    comment: Text = ""
    error: Text = ""
    response_sha256: Text = ""
    scale: Annotated[str, PlainValidator(_scale)] = ""

    @field_validator("measure", mode="plain")
    @classmethod
    def _measure(cls, value: object, info: ValidationInfo) -> str:
        unit = AnnotationUnit("", "", **info.data)
        if unit.baseline and not unit.model:
            raise row_error("there is a baseline and no model that is compared with it")
        if unit.baseline and unit.model == unit.baseline:
            raise row_error(f"{unit.model} is compared with itself")
        first, *others = MEASURES[kind_of(unit)]
        measure = _text(value)
        if others and not measure:
            raise field_error(f"is missing: of a criterion it is {' or '.join([first, *others])}")
        return measure or first

    @field_validator("value", mode="plain")
    @classmethod
    def _value(cls, value: object, info: ValidationInfo) -> float:
        if value is None:
            raise field_error("is missing: leave a line out whose thing was not rated")
        number = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else value
        if not isinstance(number, int | float) or isinstance(number, bool) or not math.isfinite(number):
            raise row_error(f"the value {str(value)[:40]!r} is not a number, with a point before decimals")
        measure = info.data.get("measure", "score")
        low, high = SCALES.get(measure, (-math.inf, math.inf))
        if measure != "score" and not low <= number <= high:
            raise row_error(f"the {measure} {number:g} lies outside {low} to {high}")
        return float(number)

    @property
    def unit(self) -> AnnotationUnit:
        """The rated unit."""
        return AnnotationUnit(self.id, self.measure, self.model, self.baseline, self.criterion)


def read_annotations(
    path: Path,
    *,
    known: Callable[[AnnotationUnit], str | None] | None = None,
    filled: bool = False,
    unrated: list[int] | None = None,
) -> list[Annotation]:
    """Return the ratings of a file, in order.

    A line has `id`, `annotator` and `value`, and, as it applies, `model`, `baseline` (the value is a verdict, from 2:
    the model is much better, to -2), `criterion` (a number from 1), `measure`, `category`, `cluster`, `comment`,
    `error` (the kind of error of a wrong response), `response_sha256` (of the text that was rated), `scale` (of scores,
    such as `0-1`), and `adjudicates` (true: it decides where others differ). The measure defaults to a verdict on a
    pair and to a score of a response; a criterion requires it.

    Args:
        path: `.csv` with a heading, else JSON lines.
        known: returns the problem of a unit, such as an unknown sample; None if there is none.
        filled: whether lines with neither annotator nor value are unfilled lines of a form, to be skipped.
        unrated: receives the numbers of the lines without a value, which are then skipped; without it they are refused.

    Raises:
        NotFound: there is no such file.
        DataError: some lines cannot be used (the message names up to twenty), or there is no rating.
    """
    annotations: list[Annotation] = []
    problems = FileProblems(path)
    first_lines: dict[tuple[AnnotationUnit, str], int] = {}
    adjudications: dict[AnnotationUnit, int] = {}
    for row in problems.readable(read_records(path)):
        if filled and row.fields.get("annotator") is None and row.fields.get("value") is None:
            continue
        if unrated is not None and row.fields.get("value") in (None, ""):
            unrated.append(row.line)
            continue
        parsed = parse_row(AnnotationRow, row.fields)
        if isinstance(parsed, list):
            problems.add(row.line, parsed[0].text)
            continue
        unit = parsed.unit
        first = first_lines.setdefault((unit, parsed.annotator), row.line)
        if first != row.line:
            problems.add(row.line, f"{parsed.annotator} has rated {unit} on line {first} already")
        elif parsed.adjudicates and adjudications.setdefault(unit, row.line) != row.line:
            problems.add(row.line, f"{unit} is adjudicated on line {adjudications[unit]} already")
        elif known is not None and (wrong := known(unit)) is not None:
            problems.add(row.line, wrong)
        else:
            others = parsed.model_dump(exclude={"id", "measure", "model", "baseline", "criterion"})
            annotations.append(Annotation(unit, line=row.line, **others))
    problems.refuse()
    if not annotations:
        raise DataError(f"{path}: no rating in it; a line has id, annotator and value, and model where it is about one")
    return annotations


class GivenRanking(NamedTuple):
    """One ranking: the sample's id, the annotator, a score for each model (higher is better, equal is a tie), and its line."""

    sample_id: str
    annotator: str
    scores: Mapping[str, float]
    line: int


def _model_scores(fields: Mapping[str, object]) -> dict[str, float]:
    """Return a line's ranking or scores as a score for each model."""
    if ("ranking" in fields) == ("scores" in fields):
        several = "both a ranking and scores" if "scores" in fields else "neither a ranking nor scores"
        raise row_error(f"it has {several}; {_FORMS}")
    scores: dict[str, float] = {}
    for name, score in _ranked(fields.get("ranking")) if "ranking" in fields else _scored(fields.get("scores")):
        if not isinstance(name, str) or not name.strip():
            raise row_error(f"{name!r} is not the name of a model")
        if name in scores:
            raise row_error(f"the model {name!r} stands there twice")
        scores[name] = score
    return scores


def _ranked(value: object) -> Iterator[tuple[object, float]]:
    groups = value if isinstance(value, list) else []
    if not groups:
        raise row_error(f"'ranking' is not a list of groups of models; {_FORMS}")
    for position, group in enumerate(groups):
        names = group if isinstance(group, list) else []
        if not names:
            raise row_error(f"group {position + 1} of 'ranking' is not a list of models; {_FORMS}")
        for name in names:
            yield name, float(-position)


def _scored(value: object) -> Iterator[tuple[object, float]]:
    scores = value if isinstance(value, dict) else {}
    if not scores:
        raise row_error(f"'scores' is not an object of models and numbers; {_FORMS}")
    for name, score in scores.items():
        if type(score) not in (int, float) or not math.isfinite(score):
            raise row_error(f"the score {score!r} of {name!r} is not a finite number")
        yield name, float(score)


class RankingRow(RowModel):
    """One person's ranking of a sample's responses; `scores` are validated from the whole line."""

    id: Name = ""
    annotator: Annotated[str, text_field("is empty or no text", digits=True)] = UNNAMED
    scores: Annotated[dict[str, float], PlainValidator(_model_scores)]


def read_rankings(path: Path, *, unknown: Callable[[GivenRanking], Iterable[str]] | None = None) -> list[GivenRanking]:
    """Return the rankings of a file in its order.

    A line is an object with `id`, `annotator` (lines without one all count as the same unnamed person), and either
    `ranking`, a list of groups of models, the best first, those of a group equally good, or `scores`, a finite number
    for each model, higher is better. A model that a line does not name is not ranked there. Other fields are ignored.
    Lines of places, as `dokimasia annotate read` writes them (`measure` is `place`, with a `model` and its place, 1 for
    the best, as `value`), form one ranking for each sample and annotator; an adjudicated place holds for everybody.

    Args:
        path: JSON lines; or `.csv` with a header, which contains only places.
        unknown: yields the unknown names in a ranking, see `unknown_in`.

    Raises:
        NotFound: there is no such file.
        DataError: some lines cannot be used (the message names up to ten), or the file has no ranking.
    """
    rankings: list[GivenRanking] = []
    problems = FileProblems(path)
    first_lines: dict[tuple[str, str], int] = {}
    places: list[Annotation] = []
    for row in problems.readable(read_records(path)):
        if row.fields.get("measure") == PLACE:
            place = parse_row(AnnotationRow, row.fields)
            if isinstance(place, list):
                problems.add(row.line, place[0].text)
            else:
                others = place.model_dump(include={"annotator", "value", "adjudicates"})
                places.append(Annotation(place.unit, line=row.line, **others))
            continue
        parsed = parse_row(RankingRow, {**row.fields, "scores": row.fields})
        if isinstance(parsed, list):
            problems.add(row.line, parsed[0].text)
            continue
        ranking = GivenRanking(parsed.id, parsed.annotator, parsed.scores, row.line)
        first = first_lines.setdefault((parsed.id, parsed.annotator), row.line)
        if first != row.line:
            author = parsed.annotator or "the annotator without a name"
            way_out = "" if parsed.annotator else "; say with 'annotator' who ranked, where there are several"
            problems.add(row.line, f"{author} ranks sample {parsed.id!r} on line {first} already{way_out}")
        if unknown is not None:
            problems.add(row.line, *unknown(ranking))
        rankings.append(ranking)
    for ranking in _rankings_of_places(places):
        if unknown is not None:
            problems.add(ranking.line, *unknown(ranking))
        rankings.append(ranking)
    if problems.messages:
        message = message_of(problems.messages, "... and {} more", _MOST_RANKING_FAULTS)
        raise DataError(f"{message}\nMend these lines, or take them out")
    if not rankings:
        raise DataError(f"{path}: no ranking in it; {_FORMS}")
    return rankings


def _rankings_of_places(places: Sequence[Annotation]) -> list[GivenRanking]:
    """Return the rankings formed by places, in order of their first lines; an adjudicated place replaces all others."""
    decided = {place.unit: place.value for place in places if place.adjudicates}
    scores: dict[tuple[str, str], dict[str, float]] = {}
    first_lines: dict[tuple[str, str], int] = {}
    for place in places:
        if place.adjudicates:
            continue
        key = place.unit.id, place.annotator
        first_lines.setdefault(key, place.line)
        scores.setdefault(key, {})[place.unit.model] = -decided.get(place.unit, place.value)
    return [GivenRanking(id, who, of_models, first_lines[id, who]) for (id, who), of_models in scores.items()]


def unknown_in(
    ranking: GivenRanking, answered: Mapping[str, Collection[str]], models: Collection[str], *, responses: str
) -> Iterator[str]:
    """Yield messages about nonexistent samples, models and responses named by a ranking.

    Args:
        ranking: the ranking.
        answered: by the id of each sample of the data, the models that have a response to it.
        models: the models that have a response to any sample.
        responses: the name of the responses' files, for messages.
    """
    if ranking.sample_id not in answered:
        yield f"the data have no sample {ranking.sample_id!r}"
        return
    for model in ranking.scores:
        if model not in models:
            yield f"{responses} has no response of a model {model!r}"
        elif model not in answered[ranking.sample_id]:
            yield f"{responses} has no response of {model} to sample {ranking.sample_id!r}"


class RatedModel(NamedTuple):
    """One rating, higher is better: of a model, possibly in a benchmark, or of its response to a sample."""

    model: str
    rating: float
    sample_id: str | None = None
    benchmark: str = ""


class RatingRow(RowModel):
    """An outside rating of a model, or of its response to a sample."""

    model: str = Field(default="", validate_default=True)
    rating: float = Field(default=None, validate_default=True)
    id: str | None = None
    benchmark: str = ""

    @field_validator("model", mode="plain")
    @classmethod
    def _model(cls, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise row_error("model is missing")
        return value.strip()

    @field_validator("rating", mode="plain")
    @classmethod
    def _rating(cls, value: object) -> float:
        rating = math.nan
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            try:
                rating = float(value)
            except ValueError:
                rating = math.nan
        if not math.isfinite(rating):
            raise row_error(f"the rating {value!r} is not a finite number")
        return rating

    @field_validator("benchmark", mode="plain")
    @classmethod
    def _benchmark(cls, value: object) -> str:
        if value is not None and not isinstance(value, str):
            raise row_error(f"the benchmark {value!r} is not text")
        return (value or "").strip()

    @field_validator("id", mode="plain")
    @classmethod
    def _id(cls, value: object) -> str | None:
        if value is not None and not isinstance(value, str):
            raise row_error(f"the id {value!r} is not text")
        return value or None


def read_ratings(path: Path, *, benchmarks: bool = False) -> list[RatedModel]:
    """Return the ratings of a file, in order.

    Args:
        path: `.csv` with a header, else JSON lines; each row has `model`, `rating` (a finite number, higher is better)
            and, if it is about one response, `id`. All rows have an id, or none has.
        benchmarks: whether a row may name the `benchmark` that the rating is of; else the field is ignored.

    Raises:
        DataError: the message names each fault, by file and line.
    """
    try:
        if path.stat().st_size > MAX_RATINGS_BYTES:
            raise DataError(f"{path}: larger than {MAX_RATINGS_BYTES // 2**20} MiB, which no file of ratings is")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8") from None
    ratings: list[RatedModel] = []
    first_lines: dict[tuple[str, str | None, str], int] = {}
    for line, fields in _rating_rows(text, path):
        if not benchmarks:
            fields.pop("benchmark", None)
        parsed = parse_row(RatingRow, fields)
        if isinstance(parsed, list):
            raise DataError(f"{path}, line {line}: {parsed[0].text}")
        first = first_lines.setdefault((parsed.model, parsed.id, parsed.benchmark), line)
        if first != line:
            raise DataError(f"{path}, line {line}: {parsed.model} is rated in line {first} already")
        ratings.append(RatedModel(parsed.model, parsed.rating, parsed.id, parsed.benchmark))
    if not ratings:
        raise DataError(f"{path}: no rating in it; a row has model and rating, and id where it is about one response")
    if len({rating.sample_id is None for rating in ratings}) > 1:
        raise DataError(f"{path}: some rows have an id and some have none: rate models, or responses, not both")
    return ratings


def _rating_rows(text: str, path: Path) -> Iterator[tuple[int, JsonObject]]:
    if path.suffix.lower() == ".csv":
        reader = csv.DictReader(io.StringIO(text, newline=""))
        for row in reader:
            yield reader.line_num, row
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise DataError(f"{path}, line {number}: not JSON ({error})") from None
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: not an object with model and rating")
        yield number, row
