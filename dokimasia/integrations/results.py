"""One typed table for results of other harnesses: a row for each item, model and repeat, with a score or a failure."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from dokimasia.datasets.lines import Problem, Row, location, raw_lines
from dokimasia.domain.identity import JsonObject, digest
from dokimasia.errors import DataError, NotFound
from dokimasia.parsing.refusals import looks_like_refusal

ItemFailure = Literal["refused", "empty", "unparsed", "api_error", "unscored"]
"""Why an item has no score: the model refused, its answer is empty, no verdict could be read from it, a call failed, or
the harness scored nothing without giving a reason.
"""

FAILURES: tuple[ItemFailure, ...] = get_args(ItemFailure)

Format = Literal["inspect", "lmms-eval", "vlmevalkit", "promptfoo", "openai-evals", "table"]
FORMATS: tuple[Format, ...] = get_args(Format)

MAX_ROWS = 1_000_000
MAX_DOCUMENT = 512 * 2**20
"""The maximum number of bytes of a JSON document."""

LONGEST_NAME = 500
"""The maximum number of characters of an image's name; a longer text is an image itself and becomes its digest."""

LONGEST_REASON = 500

WORDS: Mapping[str, float] = {
    **dict.fromkeys(("c", "correct", "right", "true", "yes", "pass", "passed"), 1.0),
    **dict.fromkeys(("i", "incorrect", "wrong", "false", "no", "fail", "failed"), 0.0),
    "p": 0.5,
}
"""Words for scores, in lower case; C, P and I are Inspect's grades."""

CATEGORY_NAMES = ("category", "l2-category", "l2_category", "subject", "topic")
IMAGE_NAMES = ("image", "images", "image_id", "image_path", "image_file")


@dataclass(frozen=True, slots=True)
class ItemResult:
    """A model's result on an item.

    A row has a `score`, or a `failure` with a `reason`, and never both. `recorded` is the score in the file, including
    that of a failure which the harness counted as wrong; None without one. `images` names the item's images, and
    `content` is a digest of the question, which reveals equal ids of different data; both are empty if unknown. `line`
    is the row's number in the file.
    """

    item: str
    model: str
    repeat: int = 0
    answer: str | None = None
    score: float | None = None
    failure: ItemFailure | None = None
    reason: str = ""
    recorded: float | None = None
    category: str | None = None
    images: tuple[str, ...] = ()
    content: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file: the model's name, the scorer or metric, and the columns of a table by field."""

    model: str | None = None
    scorer: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ResultsFile:
    """The rows of a file, with the harness that wrote it (`version` is None if unknown) and the scorer that was read.

    `simulated` are the models that the file marks as simulated, as exports of this package do. `columns` are those of a
    table, in its order. `scale` is the lowest and the highest possible score, if the file says so.
    """

    path: Path
    format: Format | Literal["run"]
    harness: str
    version: str | None
    scorer: str
    rows: tuple[ItemResult, ...]
    notes: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None

    @property
    def models(self) -> list[str]:
        """The models, in the order of the file."""
        return list(dict.fromkeys(row.model for row in self.rows))


def score_of(value: object) -> float | None:
    """Return a score as a number: numbers, booleans and words such as `correct`; None for anything else, or if not
    finite.

    Examples:
        >>> [score_of(value) for value in (True, "C", "0.5", "pass", float("nan"), "?", None)]
        [1.0, 1.0, 0.5, 1.0, None, None, None]
    """
    if isinstance(value, str):
        text = value.strip().lower()
        if text in WORDS:
            return WORDS[text]
        try:
            value = float(text)
        except ValueError:
            return None
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if math.isfinite(number):
        return number
    return None


def result_of(
    item: str,
    model: str,
    *,
    recorded: float | None,
    counted: float | None = None,
    answer: str | None,
    failure: ItemFailure | None = None,
    reason: str = "",
    repeat: int = 0,
    category: str | None = None,
    images: Sequence[str] = (),
    content: str = "",
    line: int = 0,
) -> ItemResult:
    """Return the row of an item, with the kind of its failure, if any.

    Without the harness's own `failure`, an empty answer and one that opens like a refusal are failures, unless they
    have a score; any other row without a score is unscored. `counted` is the file's score of such a failure.
    """
    if failure is None and not recorded:
        if answer is not None and not answer.strip():
            failure = "empty"
        elif answer is not None and looks_like_refusal(answer):
            failure = "refused"
        elif recorded is None:
            failure = "unscored"
    score, why = recorded, ""
    if failure is not None:
        score, why = None, " ".join(reason.split())[:LONGEST_REASON]
    if recorded is None:
        recorded = counted
    return ItemResult(
        item=item,
        model=model,
        repeat=repeat,
        answer=answer,
        score=score,
        failure=failure,
        reason=why,
        recorded=recorded,
        category=category,
        images=tuple(dict.fromkeys(images)),
        content=content,
        line=line,
    )


def checked_rows(path: Path, rows: Iterable[ItemResult], *, unit: str = "line") -> tuple[ItemResult, ...]:
    """Return all rows of a file.

    Raises:
        DataError: two rows have the same item, model and repeat (with both lines), there are too many, or there is
            none.
    """
    results: list[ItemResult] = []
    lines: dict[tuple[str, str, int], int] = {}
    for row in rows:
        first = lines.setdefault((row.item, row.model, row.repeat), row.line)
        if first != row.line:
            raise DataError(
                f"{location(path, row.line, unit)}: item {row.item!r} of {row.model} is on {unit} {first} already; a file "
                "holds one result of an item, so leave one of the two runs out"
            )
        results.append(row)
        if len(results) > MAX_ROWS:
            raise DataError(f"{path} has more than {MAX_ROWS:,} results; divide it")
    if not results:
        raise DataError(f"{path} holds no result")
    return tuple(results)


def short_text(value: object) -> str | None:
    """Return a value as text; None for no value, and JSON for a list or an object."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        return json.dumps(value, default=str)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def image_names(value: object) -> list[str]:
    """Return the names of images from a name or a list of names; embedded images become their digests."""
    values = value if isinstance(value, list | tuple) else [value]
    texts = [str(name).strip() for name in values if isinstance(name, str | int) and not isinstance(name, bool)]
    return [_image_name(text) for text in texts if text]


def _image_name(text: str) -> str:
    if len(text) > LONGEST_NAME or text.startswith("data:"):
        return digest("image", text)
    return text


def named(fields: Mapping[str, object], names: Iterable[str]) -> object:
    """Return the first value present under one of the names; None without any."""
    return next((fields[name] for name in names if fields.get(name) not in (None, "")), None)


def category_of(*places: Mapping[str, object]) -> str | None:
    """Return the category of an item, under any of its usual names, from the first place that has it; None without any."""
    return short_text(_first_named(places, CATEGORY_NAMES))


def images_of(*places: Mapping[str, object]) -> list[str]:
    """Return the names of an item's images, under any of their usual names, from the first place that has them."""
    return image_names(_first_named(places, IMAGE_NAMES))


def _first_named(places: Iterable[Mapping[str, object]], names: Sequence[str]) -> object:
    return next((value for place in places if (value := named(place, names)) is not None), None)


def content_of(*parts: object) -> str:
    """Return a digest of the question; empty if nothing is known of it."""
    texts = [short_text(part) for part in parts]
    if any(texts):
        return digest("asked", texts)
    return ""


def choose(path: Path, names: Sequence[str], wanted: str | None, what: str) -> str:
    """Return the scorer or metric to read: the wanted one, or the only one.

    Raises:
        DataError: the wanted one is missing, or there are several and none is wanted.
    """
    if wanted is not None:
        if wanted in names:
            return wanted
        raise DataError(f"{path} has no {what} {wanted!r}; it has {', '.join(names) or 'none'}")
    if len(names) > 1:
        raise DataError(f"{path} has several {what}s: {', '.join(names)}; choose with --scorer NAME")
    return names[0] if names else ""


def parse_json(raw: bytes, where: str) -> object:
    """Return the value of JSON as written by harnesses, which may contain NaN and infinite numbers.

    Raises:
        DataError: it is malformed; `where` names the file, and the line if there is one.
    """
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 (byte {error.start + 1}); save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: broken JSON at character {error.pos + 1}: {error.msg}; was it cut off?") from None
    except (ValueError, RecursionError) as error:
        wrong = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise DataError(f"{where}: JSON that cannot be read: {wrong}") from None


def read_document(path: Path) -> object:
    """Return the value of a JSON file.

    Raises:
        NotFound: there is no such file.
        DataError: it is too large or malformed.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_DOCUMENT + 1)
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    if len(raw) > MAX_DOCUMENT:
        raise DataError(f"{path} is larger than {MAX_DOCUMENT:,} bytes; write it as JSON lines, or divide it")
    return parse_json(raw, str(path))


def read_object(path: Path) -> JsonObject:
    """Return the object of a JSON file.

    Raises:
        NotFound: there is no such file.
        DataError: it is too large, malformed or not an object.
    """
    return as_object(read_document(path), str(path))


def json_lines(path: Path) -> Iterator[Row]:
    """Yield the objects of a file of JSON lines.

    Raises:
        NotFound: there is no such file.
        DataError: a line is not a JSON object; the message names file and line.
    """
    for number, raw in enumerate(raw_lines(path, "the line is too long"), start=1):
        if isinstance(raw, Problem):
            raise DataError(raw.message)
        if raw.strip():
            yield Row(number, as_object(parse_json(raw, location(path, number)), location(path, number)))


def fields_of(value: object) -> JsonObject:
    """Return the fields of a JSON object; empty for any other value."""
    if isinstance(value, dict):
        return value
    return {}


def objects_of(path: Path, values: Iterable[object], unit: str) -> list[JsonObject]:
    """Return the entries of a file's list as JSON objects; messages name an entry by its unit and number.

    Raises:
        DataError: one of them is not an object.
    """
    return [as_object(value, location(path, number, unit)) for number, value in enumerate(values, start=1)]


def as_object(value: object, where: str) -> JsonObject:
    """Return a value as a JSON object.

    Raises:
        DataError: it is not one.
    """
    if not isinstance(value, dict):
        raise DataError(f"{where}: not a JSON object")
    return value
