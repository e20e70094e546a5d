"""Outside ratings of models, or of their responses: JSON lines or CSV of model, rating and, for a response, id."""

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import orjson

from dokimasia.errors import DataError

MAX_BYTES = 256 * 1024 * 1024


class RatedModel(NamedTuple):
    """One rating, higher is better: of a model, or of its response to the sample of that name."""

    model: str
    rating: float
    sample_id: str | None = None


def read_ratings(path: Path) -> list[RatedModel]:
    """Return the ratings of a file, in order.

    Args:
        path: `.csv` with a header, else JSON lines; each row has `model`, `rating` (a finite number, higher is better)
            and, if it is about one response, `id`. All rows have an id, or none has.

    Raises:
        DataError: naming file and line of what cannot be used.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path}: larger than {MAX_BYTES // 2**20} MiB, which no file of ratings is")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8") from None
    rows = _json_rows(text, path)
    if path.suffix.lower() == ".csv":
        reader = csv.DictReader(io.StringIO(text, newline=""))
        rows = ((reader.line_num, cast("dict[str, Any]", row)) for row in reader)
    found: list[RatedModel] = []
    seen: dict[tuple[str, str | None], int] = {}
    for number, row in rows:
        one = _rating(row, f"{path}, line {number}")
        earlier = seen.setdefault((one.model, one.sample_id), number)
        if earlier != number:
            raise DataError(f"{path}, line {number}: {one.model} is rated in line {earlier} already")
        found.append(one)
    if not found:
        raise DataError(f"{path}: no rating in it; a row has model and rating, and id where it is about one response")
    if len({one.sample_id is None for one in found}) > 1:
        raise DataError(f"{path}: some rows have an id and some have none: rate models, or responses, not both")
    return found


def _json_rows(text: str, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise DataError(f"{path}, line {number}: not JSON ({error})") from None
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: not an object with model and rating")
        yield number, cast("dict[str, Any]", row)


def _rating(row: dict[str, Any], where: str) -> RatedModel:
    model, rating, sample = row.get("model"), row.get("rating"), row.get("id")
    if not isinstance(model, str) or not model.strip():
        raise DataError(f"{where}: model is missing")
    try:
        value = float(rating) if isinstance(rating, int | float | str) and not isinstance(rating, bool) else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{where}: the rating {rating!r} is no finite number")
    if sample is not None and not isinstance(sample, str):
        raise DataError(f"{where}: the id {sample!r} is no text")
    return RatedModel(model.strip(), value, sample or None)
