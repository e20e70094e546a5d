"""Rows to samples: the one place where fields are checked, whatever format they were read from."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from dokimasia.datasets.columns import may_be_meant
from dokimasia.datasets.creation import Case, as_case, check_case
from dokimasia.datasets.images import MAX_PIXELS
from dokimasia.datasets.lines import Fault, Problem, Row, kind_of, place
from dokimasia.datasets.sources import Earlier, Embedded, Image, ImageSource, OnDisk
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import DataError

FIELDS = frozenset(
    {"id", "image", "images", "prompt", "reference_answer", "reference_answers", "choices", "category", "meta"}
)
MAX_CHOICES = 26
"""Options are called by the letters A to Z."""

T = TypeVar("T")


class Reading(TypedDict, total=False):
    """How samples are read, whatever their format; the defaults are those of `samples_of`.

    Attributes:
        blobs: where image bytes are kept; None only checks them.
        allow_fetch: whether an image's URL is fetched.
        allow_outside: whether an image's path may lead out of the folder of the data.
        need_prompt: whether a sample without a prompt is a problem.
        prompt: the prompt of samples that have none of their own.
        limit: stop after that many good samples.
        max_pixels: width times height that an image may have.
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
    """Yield each row's sample, or everything that is wrong with the row, in order and one row at a time.

    Args:
        rows: what a reader found.
        path: the data file or folder, which relative image paths start from.
        blobs, allow_fetch, allow_outside, need_prompt, prompt, limit, max_pixels: see `Reading`.
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
        yield Problem(0, None, f"{path}: no usable sample in it", "empty")


class _Maker:
    """Makes the samples of one file; it remembers their ids, and their images for rows that refer to them."""

    def __init__(self, source: ImageSource, path: Path, *, need_prompt: bool, prompt: str | None) -> None:
        self._source = source
        self._path = path
        self._need_prompt = need_prompt
        self._prompt = prompt
        self._first_lines: dict[str, int] = {}
        self._images: dict[str, tuple[ImageRef, ...] | None] = {}

    def make(self, row: Row) -> Sample | list[Problem]:
        """Return the row's sample, or all that is wrong with it."""
        where = place(self._path, row.line, row.unit)
        faults: list[DataError] = []

        def take(read: Callable[[], T], otherwise: T) -> T:
            try:
                return read()
            except DataError as error:
                faults.append(error)
                return otherwise

        id = take(lambda: _id(row, where), None)
        first = row.line if id is None else self._first_lines.setdefault(id, row.line)
        if first != row.line:
            faults.append(Fault("duplicate-id", f"{where}: the id {id!r} already stands on {row.unit} {first}"))
        if id is not None:
            where = f"{where} (id {id!r})"
        faults += [Fault(kind, f"{where}: {text}") for kind, text in row.faults]
        fields = _Fields(row, where)
        prompt = take(lambda: self._prompt_of(fields), "")
        reference = take(lambda: fields.text("reference_answer"), None)
        accepted = take(fields.reference_answers, ())
        choices = take(fields.choices, ())
        category = take(lambda: fields.text("category"), None)
        meta = take(fields.meta, {})
        case = take(lambda: as_case(meta, where), Case(meta))
        take(lambda: check_case(case.meta, where), None)
        images: list[ImageRef] = []
        before = len(faults)
        for value in take(fields.images, []):
            images += take(lambda value=value: self._read(value, where), ())
        if id is not None and (images or len(faults) > before):
            self._images.setdefault(id, tuple(images) if len(faults) == before else None)
        if faults or id is None:
            return [Problem(row.line, id, str(fault), kind_of(fault)) for fault in faults]
        return Sample(
            id=id,
            prompt=prompt,
            reference_answer=reference or (accepted[0] if accepted else case.reference),
            reference_answers=accepted if reference or len(accepted) > 1 else (),
            choices=choices,
            category=category or case.category,
            meta=case.meta,
            images=tuple(images),
        )

    def _prompt_of(self, fields: "_Fields") -> str:
        prompt = fields.text("prompt") or self._prompt or ""
        if self._need_prompt and not prompt.strip():
            if "prompt" in fields.row.fields:
                raise Fault("prompt", f"{fields.shown('prompt')} is empty")
            others = ", ".join(map(repr, sorted(fields.row.fields.keys() - {"id"})[:8]))
            said = f" (there are {others}: one of them may be the question)" if others else ""
            raise Fault(
                "prompt",
                f"{fields.shown('prompt')} is missing{said}; --prompt gives one question to all that have none",
            )
        return prompt

    def _read(self, value: Image, where: str) -> tuple[ImageRef, ...]:
        if not isinstance(value, Earlier):
            return (self._source.read(value, where),)
        if value.text not in self._images:
            try:
                return (self._source.read(value, where),)
            except Fault as error:
                if error.kind != "image-missing":
                    raise
                raise Fault(error.kind, f"{error}, and no earlier row with an image has that index") from error
        images = self._images[value.text]
        if images is None:
            line = self._first_lines[value.text]
            raise Fault("image-missing", f"{where}: its image is that of line {line}, which cannot be used")
        return images


def _id(row: Row, where: str) -> str:
    value = row.fields.get("id")
    if value is None and "id" not in row.names:
        raise Fault("id", f"{where}: the field 'id' is missing{may_be_meant(row.fields, FIELDS)}")
    if type(value) is int:
        return str(value)
    if isinstance(value, float):
        raise Fault(
            "id", f"{where}: the field '{row.names.get('id', 'id')}' is {value}, neither text nor a whole number"
        )
    if not isinstance(value, str) or not value.strip():
        raise Fault("id", f"{where}: the field '{row.names.get('id', 'id')}' is missing, empty, or no text")
    return value


class _Fields:
    """The fields of one row, read as what they should be."""

    def __init__(self, row: Row, where: str) -> None:
        self.row = row
        self._where = where

    def shown(self, name: str) -> str:
        """Return how a message about a field begins."""
        return f"{self._where}: the field '{self.row.names.get(name, name)}'"

    def text(self, name: str) -> str | None:
        """Return a text field; null and blank text are as if it were not there, a whole number is its digits."""
        value = self.row.fields.get(name)
        if type(value) is int:
            return str(value)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        if not isinstance(value, str):
            raise Fault("field", f"{self.shown(name)} is no text")
        return value

    def choices(self) -> tuple[str, ...]:
        """Return the options' texts in order."""
        value = self.row.fields.get("choices")
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(choice, str) and choice.strip() for choice in value):
            raise Fault("choices", f"{self.shown('choices')} is not a list of strings")
        if len(value) > MAX_CHOICES:
            raise Fault(
                "choices", f"{self.shown('choices')} holds {len(value)} options; the letters end at {MAX_CHOICES}"
            )
        return tuple(value)

    def reference_answers(self) -> tuple[str, ...]:
        """Return all accepted answers; an empty list is as if it were not there, whole numbers are their digits."""
        value = self.row.fields.get("reference_answers")
        if value is None or value == []:
            return ()
        if not isinstance(value, list):
            raise Fault("field", f"{self.shown('reference_answers')} is not a list of strings")
        texts = [str(one) if type(one) is int else one for one in value]
        if not all(isinstance(one, str) and one.strip() for one in texts):
            raise Fault("field", f"{self.shown('reference_answers')} is not a list of strings that say something")
        return tuple(dict.fromkeys(texts))

    def meta(self) -> dict[str, Any]:
        """Return `meta` and every field that the format does not know; beside images `image_path` only says their names."""
        meta = self.row.fields.get("meta")
        if meta is None:
            meta = {}
        if not isinstance(meta, dict):
            raise Fault("field", f"{self.shown('meta')} is not an object")
        images = self.row.fields.get("image") or self.row.fields.get("images")
        known = FIELDS | {"image_path"} if images else FIELDS
        others = {name: value for name, value in self.row.fields.items() if name not in known}
        if twice := sorted(meta.keys() & others.keys()):
            raise Fault("field", f"{self._where}: {twice[0]!r} stands both in 'meta' and beside it; keep one")
        return {**meta, **others}

    def images(self) -> list[Image]:
        """Return what names or holds the images."""
        one, many = self.row.fields.get("image"), self.row.fields.get("images")
        if one is not None and many is not None:
            raise Fault("field", f"{self._where}: both 'image' and 'images' are given; keep one")
        if one is not None:
            many = [one]
        if many is None:
            return []
        if not isinstance(many, list) or not all(
            isinstance(value, str | Embedded | OnDisk | Earlier) for value in many
        ):
            raise Fault(
                "field",
                f"{self._where}: 'image' is a string and 'images' a list of strings: a path, a data URI or base64",
            )
        texts = [value.text if isinstance(value, Earlier) else value for value in many]
        empty = [number for number, value in enumerate(texts, 1) if isinstance(value, str) and not value.strip()]
        if empty:
            which = "an image" if len(many) == 1 else f"image {' and '.join(map(str, empty))} of {len(many)}"
            raise Fault(
                "image-missing", f"{self._where}: {which} is {'an empty string' if len(many) == 1 else 'empty'}"
            )
        return many
