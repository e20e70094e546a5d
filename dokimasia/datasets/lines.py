"""Lines of a JSONL file as rows, rows as pydantic models, and their problems by file and line."""

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Annotated, LiteralString, NamedTuple, NoReturn, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError
from pydantic_core import PydanticCustomError

from dokimasia.domain.identity import JsonObject
from dokimasia.errors import DataError, NotFound

MAX_LINE_BYTES = 256 * 2**20
"""The maximum number of bytes of a line; larger images belong in separate files."""

MOST_NAMED = 20
"""The maximum number of problems named in a message, which counts the others."""

_BOM = b"\xef\xbb\xbf"


class Problem(NamedTuple):
    """A problem of one line: its number (from 1; 0 is the whole file), the sample's id if known, the message.

    The message itself names the file and the line; `kind` is a short name for counting (`id`, `image-format`, ...).
    """

    line: int
    id: str | None
    message: str
    kind: str = "other"


class RowError(DataError):
    """A data error of one row, with the kind of problem."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class RowFault(NamedTuple):
    """A fault of a row: a message to follow its location, and a short name for counting."""

    kind: str
    text: str


class Row(NamedTuple):
    """One sample as read, before any checks.

    `line` counts the units of the file from 1 (lines, rows, files), and `unit` is the word for them in messages;
    `fields` are those of the JSONL format. `names` are the file's own names for fields, for messages, and `faults` are
    (kind, text) of the problems that the reader itself found in this row.
    """

    line: int
    fields: JsonObject
    unit: str = "line"
    names: Mapping[str, str] = {}
    faults: tuple[tuple[str, str], ...] = ()


def problem_at(path: Path, line: int, wrong: str, kind: str, *, unit: str = "line") -> Problem:
    """Return the problem of a line (or other unit of a file) without a known id."""
    return Problem(line, None, f"{location(path, line, unit)}: {wrong}", kind)


def location(path: Path, line: int, unit: str = "line") -> str:
    """Return the name of a line, a row or another unit of a file in messages."""
    return f"{path}, {unit} {line}"


class FileProblems:
    """Collects the problems of one file's rows, to raise them as one error.

    Attributes:
        messages: one for each problem, with file and line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.messages: list[str] = []

    def readable(self, rows: Iterable[Row | Problem]) -> Iterator[Row]:
        """Yield the readable rows, and collect the problems of the others."""
        for row in rows:
            if isinstance(row, Problem):
                self.messages.append(row.message)
            else:
                yield row

    def add(self, line: int, *texts: str) -> None:
        """Add problems of a line."""
        self.messages += [f"{location(self.path, line)}: {text}" for text in texts]

    def refuse(self) -> None:
        """Raise the problems, if there are any.

        Raises:
            DataError: the message names at most twenty of them.
        """
        refuse(self.messages)


def refuse(messages: Sequence[str]) -> None:
    """Raise an error that names the first problems of a file, if there are any.

    Raises:
        DataError: there is a problem.
    """
    if messages:
        raise DataError(message_of(messages))


def message_of(messages: Sequence[str], more: str = "and {} more", most: int = MOST_NAMED) -> str:
    """Return the first messages, one per line, and the number of further ones."""
    lines = [*messages[:most]]
    if len(messages) > most:
        lines.append(more.format(len(messages) - most))
    return "\n".join(lines)


class RowModel(BaseModel):
    """Base of models of rows; undeclared fields are ignored.

    Validators raise `field_error`, whose text follows the field's name, or `row_error`, whose text stands alone.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)


M = TypeVar("M", bound=RowModel)


def field_error(text: str, kind: LiteralString = "field") -> PydanticCustomError:
    """Return the error of one field; the message names the field as the file does."""
    return PydanticCustomError(kind, "{text}", {"text": text, "named": True})


def row_error(text: str, kind: LiteralString = "field") -> PydanticCustomError:
    """Return the error of a row as a whole, without a field's name in the message."""
    return PydanticCustomError(kind, "{text}", {"text": text, "named": False})


def parse_row(
    model: type[M], fields: Mapping[str, object], *, names: Mapping[str, str] | None = None, context: object = None
) -> M | list[RowFault]:
    """Return a row's fields as a model, or all their faults in the order of the model's fields.

    Args:
        model: the declaration of the fields and their validators.
        fields: the row's fields.
        names: the file's own names for fields.
        context: the context of the validators.
    """
    try:
        return model.model_validate(fields, context=context)
    except ValidationError as error:
        faults: list[RowFault] = []
        for detail in error.errors(include_url=False, include_input=False):
            name = str(detail["loc"][0]) if detail["loc"] else ""
            wrong = detail.get("ctx", {})
            text = str(wrong["text"])
            if wrong["named"]:
                text = f"the field '{(names or {}).get(name, name)}' {text}"
            faults.append(RowFault(detail["type"], text))
        return faults


def digits_of(value: object) -> object:
    """Return a whole number as its digits, and anything else unchanged."""
    if type(value) is int:
        return str(value)
    return value


def text_field(wrong: str, *, digits: bool = False, blank: bool = False) -> PlainValidator:
    """Return the validator of a field that must be a text.

    Args:
        wrong: the message about any other value.
        digits: whether an integer is read as its digits.
        blank: whether the text may be blank.
    """

    def validate(value: object) -> str:
        text = digits_of(value) if digits else value
        if not isinstance(text, str) or not (blank or text.strip()):
            raise field_error(wrong)
        return text

    return PlainValidator(validate)


Name = Annotated[str, text_field("is missing, empty or not a string", digits=True), Field(validate_default=True)]
"""A text that is not blank; an integer becomes its digits."""


def read_rows(path: Path) -> Iterator[Row | Problem]:
    """Yield the objects of a JSONL file in order, or the problems of their lines; blank lines are skipped.

    The file is UTF-8, with or without a byte order mark. NaN, infinite numbers, integers beyond 64 bits, and duplicate
    fields are problems, since JSON libraries differ in how they read them.

    Raises:
        NotFound: there is no such file.
        DataError: it is a folder or cannot be read.
    """
    for number, raw in enumerate(raw_lines(path, f"longer than {MAX_LINE_BYTES:,} bytes"), start=1):
        if isinstance(raw, Problem):
            yield raw
        elif raw.strip():
            yield _row(path, number, raw)


def raw_lines(path: Path, too_long: str) -> Iterator[bytes | Problem]:
    """Yield the lines of a file without its byte order mark; the first unreadable line is a problem and ends the reading.

    Args:
        path: the file; `.gz` is unpacked.
        too_long: the message about a line of more than `MAX_LINE_BYTES`.

    Raises:
        NotFound: there is no such file.
        DataError: it is a folder or cannot be read.
    """
    try:
        file = gzip.GzipFile(path) if path.suffix.lower() == ".gz" else path.open("rb")
    except FileNotFoundError as error:
        raise NotFound(f"there is no data file {path}") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    with file:
        for number in count(1):
            try:
                raw = file.readline(MAX_LINE_BYTES + 1)
            except (OSError, EOFError, zlib.error) as error:
                wrong = getattr(error, "strerror", None) or error
                raise DataError(f"{location(path, number)}: cannot be read: {wrong}") from error
            if not raw:
                return
            if len(raw) > MAX_LINE_BYTES:
                yield problem_at(path, number, too_long, "syntax")
                return
            if number == 1:
                raw = raw.removeprefix(_BOM)
                if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                    yield problem_at(path, number, "the file is UTF-16; save it as UTF-8", "encoding")
                    return
            yield raw


def not_utf8(path: Path, number: int, error: UnicodeDecodeError) -> Problem:
    """Return the problem of a line that is not UTF-8."""
    wrong = f"not UTF-8 (byte {error.start + 1} of the line); save the file as UTF-8"
    return problem_at(path, number, wrong, "encoding")


def _row(path: Path, number: int, raw: bytes) -> Row | Problem:
    try:
        value = _strict_json(raw.rstrip(b"\r\n"))
    except UnicodeDecodeError as error:
        return not_utf8(path, number, error)
    except json.JSONDecodeError as error:
        wrong = f"broken JSON at character {error.pos + 1}: {error.msg}{_hint(raw)}"
        return problem_at(path, number, wrong, "syntax")
    except (ValueError, RecursionError) as error:
        wrong = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        return problem_at(path, number, wrong, "syntax")
    if not isinstance(value, dict):
        return problem_at(path, number, f"not a JSON object{_hint(raw)}", "syntax")
    return Row(number, value)


def _strict_json(raw: bytes) -> object:
    value = json.loads(raw.decode(), parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_no_duplicates)
    try:
        orjson.dumps(value)
    except TypeError as error:
        raise ValueError(f"it cannot be stored as it is: {error}; write such a value as text") from error
    return value


def _hint(raw: bytes) -> str:
    if raw.lstrip().startswith(b"["):
        return "; one object a line is expected, not one array for all"
    return ""


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value; leave the field out or write null")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:40]} is too large; write it as text")
    return value


def _no_duplicates(pairs: list[tuple[str, object]]) -> JsonObject:
    fields: JsonObject = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"the field '{name[:60]}' stands twice in one object")
        fields[name] = value
    return fields
