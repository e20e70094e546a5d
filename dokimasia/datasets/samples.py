"""Conversion of rows to samples, with checks of their fields, for all formats."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, NamedTuple, TypedDict, cast

from pydantic import Field, PlainValidator, ValidationInfo, field_validator

from dokimasia.datasets.columns import suggestion
from dokimasia.datasets.creation import CreativeCase, as_case, check_case, composed_query
from dokimasia.datasets.images import MAX_PIXELS, Earlier, Embedded, ImageSource, ImageValue, OnDisk
from dokimasia.datasets.lines import (
    Problem,
    Row,
    RowError,
    RowModel,
    digits_of,
    field_error,
    location,
    parse_row,
)
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import DataError

FIELDS = frozenset(
    {"id", "image", "images", "prompt", "reference_answer", "reference_answers", "choices", "category", "meta"}
)
MAX_CHOICES = 26
"""The maximum number of options of a sample, which are named by the letters A to Z."""


class ReadingOptions(TypedDict, total=False):
    """Options for reading samples of any format; the defaults are those of `samples_of`.

    Attributes:
        blobs: the store for image bytes; None only checks them.
        allow_fetch: whether an image's URL is fetched.
        allow_outside: whether an image's path may lead out of the folder of the data.
        need_prompt: whether a sample without a prompt is a problem.
        prompt: the prompt of samples without one.
        limit: the number of good samples after which to stop.
        max_pixels: the maximum width times height of an image.
    """

    blobs: BlobStore | None
    allow_fetch: bool
    allow_outside: bool
    need_prompt: bool
    prompt: str | None
    limit: int | None
    max_pixels: int


def samples_of(
    rows: Iterable[Row | Problem],
    path: Path,
    *,
    blobs: BlobStore | None = None,
    allow_fetch: bool = False,
    allow_outside: bool = False,
    need_prompt: bool = True,
    prompt: str | None = None,
    limit: int | None = None,
    max_pixels: int = MAX_PIXELS,
) -> Iterator[Sample | Problem]:
    """Yield each row's sample, or the problems of the row, in order and one row at a time.

    Args:
        rows: rows and problems from a reader.
        path: the data file or folder, the base of relative image paths.
        blobs, allow_fetch, allow_outside, need_prompt, prompt, limit, max_pixels: see `ReadingOptions`.
    """
    folder = path if path.is_dir() else path.parent
    source = ImageSource(
        folder, blobs=blobs, allow_fetch=allow_fetch, allow_outside=allow_outside, max_pixels=max_pixels
    )
    maker = _Maker(source, path, need_prompt=need_prompt, prompt=prompt)
    good = 0
    rows = iter(rows)
    while limit is None or good < limit:
        row = next(rows, None)
        if row is None:
            break
        if isinstance(row, Problem):
            yield row
            continue
        sample = maker.make(row)
        if isinstance(sample, Sample):
            good += 1
            yield sample
        else:
            yield from sample
    if good == 0 and limit != 0:
        yield Problem(0, None, f"{path}: no usable sample in it; docs/data.md shows what a row has", "empty")


def _optional_text(value: object) -> str | None:
    text = digits_of(value)
    if text is None or (isinstance(text, str) and not text.strip()):
        return None
    if not isinstance(text, str):
        raise field_error("is not a string")
    return text


def _choices(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(choice, str) and choice.strip() for choice in value):
        raise field_error("is not a list of strings", "choices")
    if len(value) > MAX_CHOICES:
        raise field_error(f"holds {len(value)} options; the letters end at {MAX_CHOICES}", "choices")
    return tuple(value)


def _accepted_answers(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise field_error("is not a list of strings")
    texts: list[str] = []
    for answer in value:
        text = digits_of(answer)
        if not isinstance(text, str) or not text.strip():
            raise field_error("is not a list of strings that say something")
        texts.append(text)
    return tuple(dict.fromkeys(texts))


OptionalText = Annotated[str | None, PlainValidator(_optional_text)]
"""A text; null and blank text count as missing, and an integer becomes its digits."""


class _Prompting(NamedTuple):
    """The context of a prompt: the row's fields, the default prompt, and whether a prompt is required."""

    fields: JsonObject
    default: str | None
    needed: bool


class SampleRow(RowModel):
    """The fields of a row that stand for themselves; `meta` and the images depend on several."""

    prompt: str = Field(default="", validate_default=True)
    reference_answer: OptionalText = None
    reference_answers: Annotated[tuple[str, ...], PlainValidator(_accepted_answers)] = ()
    choices: Annotated[tuple[str, ...], PlainValidator(_choices)] = ()
    category: OptionalText = None

    @field_validator("prompt", mode="plain")
    @classmethod
    def _prompt(cls, value: object, info: ValidationInfo) -> str:
        prompting = cast("_Prompting", info.context)
        prompt = _optional_text(value) or prompting.default or ""
        if prompt.strip() or not prompting.needed:
            return prompt
        if "prompt" in prompting.fields:
            raise field_error("is empty", "prompt")
        others = ", ".join(map(repr, sorted(prompting.fields.keys() - {"id"})[:8]))
        question = f" (there are {others}: one of them may be the question)" if others else ""
        raise field_error(f"is missing{question}; --prompt gives one question to all that have none", "prompt")


class _Maker:
    """Creates the samples of one file; it remembers their ids, and their images for rows that refer to them."""

    def __init__(self, source: ImageSource, path: Path, *, need_prompt: bool, prompt: str | None) -> None:
        self._source = source
        self._path = path
        self._need_prompt = need_prompt
        self._prompt = prompt
        self._first_lines: dict[str, int] = {}
        self._images: dict[str, tuple[ImageRef, ...] | None] = {}

    def make(self, row: Row) -> Sample | list[Problem]:
        """Return the row's sample, or all its problems."""
        where = location(self._path, row.line, row.unit)
        errors: list[DataError] = []
        id: str | None = None
        with _Collecting(errors):
            id = _id(row, where)
            first = self._first_lines.setdefault(id, row.line)
            if first != row.line:
                errors.append(RowError("duplicate-id", f"{where}: the id {id!r} already stands on {row.unit} {first}"))
            where = f"{where} (id {id!r})"
        meta: JsonObject = {}
        with _Collecting(errors):
            meta = _meta(row, where)
        prompting = _Prompting(row.fields, composed_query(meta) or self._prompt, self._need_prompt)
        parsed = parse_row(SampleRow, row.fields, names=row.names, context=prompting)
        faults = list(row.faults)
        if isinstance(parsed, list):
            faults += parsed
        errors += [RowError(kind, f"{where}: {text}") for kind, text in faults]
        case = CreativeCase(meta)
        with _Collecting(errors):
            case = as_case(meta, where)
        with _Collecting(errors):
            check_case(case.meta, where)
        images = self._read_images(row, id, where, errors)
        if errors or id is None or isinstance(parsed, list):
            return [Problem(row.line, id, str(error), _kind(error)) for error in errors]
        accepted = parsed.reference_answers
        reference = parsed.reference_answer or (accepted[0] if accepted else case.reference)
        return Sample(
            id=id,
            prompt=parsed.prompt,
            reference_answer=reference,
            reference_answers=accepted if parsed.reference_answer or len(accepted) > 1 else (),
            choices=parsed.choices,
            category=parsed.category or case.category,
            meta=case.meta,
            images=images,
        )

    def _read_images(self, row: Row, id: str | None, where: str, errors: list[DataError]) -> tuple[ImageRef, ...]:
        images: list[ImageRef] = []
        before = len(errors)
        with _Collecting(errors):
            for value in _image_values(row, where):
                with _Collecting(errors):
                    images += self._read_image(value, where)
        if id is not None and (images or len(errors) > before):
            self._images.setdefault(id, tuple(images) if len(errors) == before else None)
        return tuple(images)

    def _read_image(self, value: ImageValue, where: str) -> tuple[ImageRef, ...]:
        if not isinstance(value, Earlier):
            return (self._source.read(value, where),)
        if value.text not in self._images:
            try:
                return (self._source.read(value, where),)
            except RowError as error:
                if error.kind != "image-missing":
                    raise
                raise RowError(error.kind, f"{error}, and no earlier row with an image has that index") from error
        images = self._images[value.text]
        if images is None:
            line = self._first_lines[value.text]
            raise RowError("image-missing", f"{where}: its image is that of line {line}, which cannot be used")
        return images


class _Collecting:
    """A context manager that adds a data error raised by its block to `errors`."""

    __slots__ = ("_errors",)

    def __init__(self, errors: list[DataError]) -> None:
        self._errors = errors

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """End the block, suppressing its data error."""
        if not isinstance(error, DataError):
            return False
        self._errors.append(error)
        return True


def _kind(error: DataError) -> str:
    if isinstance(error, RowError):
        return error.kind
    return "other"


def _id(row: Row, where: str) -> str:
    value = digits_of(row.fields.get("id"))
    if isinstance(value, str) and value.strip():
        return value
    subject = f"{where}: the field '{row.names.get('id', 'id')}'"
    if value is None and "id" not in row.names:
        raise RowError("id", f"{subject} is missing{suggestion(row.fields, FIELDS)}")
    if isinstance(value, float):
        raise RowError("id", f"{subject} is {value}, neither text nor a whole number")
    raise RowError("id", f"{subject} is missing, empty or not a string")


def _meta(row: Row, where: str) -> JsonObject:
    """Return `meta` with all unknown fields, except for `image_path` (the images' names) if the row has images."""
    meta = row.fields.get("meta")
    if meta is None:
        meta = {}
    if not isinstance(meta, dict):
        raise RowError("field", f"{where}: the field 'meta' is not an object")
    others = {name: value for name, value in row.fields.items() if name not in FIELDS}
    if row.fields.get("image") or row.fields.get("images"):
        others.pop("image_path", None)
    if repeated := sorted(meta.keys() & others.keys()):
        raise RowError("field", f"{where}: {repeated[0]!r} stands both in 'meta' and beside it; keep one")
    return {**meta, **others}


def _image_values(row: Row, where: str) -> list[ImageValue]:
    """Return the values of a row's images, before they are read."""
    single, images = row.fields.get("image"), row.fields.get("images")
    if single is not None and images is not None:
        raise RowError("field", f"{where}: both 'image' and 'images' are given; keep one")
    if single is not None:
        images = [single]
    if images is None:
        return []
    if not isinstance(images, list) or not all(
        isinstance(value, str | Embedded | OnDisk | Earlier) for value in images
    ):
        raise RowError(
            "field",
            f"{where}: 'image' is a string and 'images' a list of strings: a path, a data URI or base64",
        )
    texts = [value.text if isinstance(value, Earlier) else value for value in images]
    empty = [str(number) for number, text in enumerate(texts, 1) if isinstance(text, str) and not text.strip()]
    if empty and len(images) == 1:
        raise RowError("image-missing", f"{where}: an image is an empty string")
    if empty:
        raise RowError("image-missing", f"{where}: image {' and '.join(empty)} of {len(images)} is empty")
    return images
