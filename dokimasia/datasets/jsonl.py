"""A JSONL data file as a stream of samples, every problem named by file and line."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dokimasia.datasets.images import MAX_PIXELS
from dokimasia.datasets.lines import Problem, Row, place, read_rows
from dokimasia.datasets.sources import ImageSource
from dokimasia.domain.identity import digest
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError

_FIELDS = frozenset({"id", "image", "images", "prompt", "reference_answer", "choices", "category", "meta"})
_MAX_LISTED = 20


class DataReport(NamedTuple):
    """What one pass over a data file found.

    `samples` counts the good ones, `problems` are all that is wrong, in the file's order, and `fingerprint` is a hash
    of the good samples in order: ids, contents, categories and meta.
    """

    samples: int
    problems: tuple[Problem, ...]
    fingerprint: str


def scan(
    path: Path,
    *,
    blobs: BlobStore | None = None,
    allow_fetch: bool = False,
    need_prompt: bool = True,
    limit: int | None = None,
    max_pixels: int = MAX_PIXELS,
) -> Iterator[Sample | Problem]:
    """Yield each line's sample, or what is wrong with it, in the file's order and one at a time.

    A line of the data file is an object with `id`, `image` or `images`, `prompt`, and, where there are any,
    `reference_answer`, `choices` (a list of strings), `category` and `meta`; other fields go to `meta`. An image is a
    data URI, else an existing file relative to the data file, else base64 that begins as an image does.

    Args:
        path: the data file.
        blobs: where image bytes are kept; None only checks them.
        allow_fetch: whether an image's URL is fetched.
        need_prompt: whether a sample without a prompt is a problem.
        limit: stop after that many good samples.
        max_pixels: width times height that an image may have.

    Raises:
        NotFound: there is no such file.
        DataError: the file cannot be read at all.
    """
    source = ImageSource(path.parent, blobs=blobs, allow_fetch=allow_fetch, max_pixels=max_pixels)
    first_lines: dict[str, int] = {}
    good = 0
    for row in read_rows(path):
        if limit is not None and good >= limit:
            return
        if isinstance(row, Problem):
            yield row
            continue
        where = place(path, row.line)
        id: str | None = None
        try:
            id = _id(row, where)
            if id in first_lines:
                raise DataError(f"{where}: the id {id!r} already stands on line {first_lines[id]}")
            first_lines[id] = row.line
            sample = _sample(row, id, where=where, source=source, need_prompt=need_prompt)
        except DataError as error:
            yield Problem(row.line, id, str(error))
            continue
        good += 1
        yield sample
    if good == 0 and limit != 0:
        yield Problem(0, None, f"{path}: the file holds no usable sample")


def read_jsonl(
    path: Path,
    *,
    blobs: BlobStore | None,
    allow_fetch: bool = False,
    on_bad: Literal["fail", "skip"] = "fail",
    need_prompt: bool = True,
    limit: int | None = None,
    max_pixels: int = MAX_PIXELS,
) -> Iterator[Sample]:
    """Yield the good samples of a data file (see `scan`).

    Args:
        path: the data file.
        blobs: where image bytes are kept; None only checks them.
        allow_fetch: whether an image's URL is fetched.
        on_bad: `fail` reads on at the first problem, so as to name all of them, and raises; `skip` passes over it.
        need_prompt: whether a sample without a prompt is a problem.
        limit: stop after that many good samples.
        max_pixels: width times height that an image may have.

    Raises:
        NotFound: there is no such file.
        DataError: a sample cannot be used, with file and line; or the file holds none at all.
    """
    found = scan(
        path, blobs=blobs, allow_fetch=allow_fetch, need_prompt=need_prompt, limit=limit, max_pixels=max_pixels
    )
    for sample in found:
        if isinstance(sample, Sample):
            yield sample
        elif on_bad == "fail" or sample.line == 0:
            more = [problem for problem in found if isinstance(problem, Problem) and problem.line > 0]
            raise DataError(problems_text([sample, *more]))


def check(
    path: Path,
    *,
    blobs: BlobStore | None = None,
    allow_fetch: bool = False,
    need_prompt: bool = True,
    limit: int | None = None,
    max_pixels: int = MAX_PIXELS,
) -> DataReport:
    """Read a data file from beginning to end and return all that is wrong with it (see `scan`).

    Raises:
        NotFound: there is no such file.
        DataError: the file cannot be read at all.
    """
    problems: list[Problem] = []
    fingerprint = digest("data/1", [])
    good = 0
    found = scan(
        path, blobs=blobs, allow_fetch=allow_fetch, need_prompt=need_prompt, limit=limit, max_pixels=max_pixels
    )
    for sample in found:
        if isinstance(sample, Sample):
            good += 1
            content: list[Any] = [fingerprint, sample.id, sample.digest, sample.category, sample.meta]
            fingerprint = digest("data/1", content)
        else:
            problems.append(sample)
    return DataReport(good, tuple(problems), fingerprint)


def problems_text(problems: Sequence[Problem]) -> str:
    """Return problems as a message: one a line, at most twenty of them."""
    lines = [problem.message for problem in problems[:_MAX_LISTED]]
    more = len(problems) - len(lines)
    return "\n".join([*lines, f"and {more} more"] if more else lines)


def _id(row: Row, where: str) -> str:
    value = row.fields.get("id")
    if type(value) is int:
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{where}: the field 'id' is missing, empty, or no text")
    return value


def _sample(row: Row, id: str, *, where: str, source: ImageSource, need_prompt: bool) -> Sample:
    fields = row.fields
    where = f"{where} (id {id!r})"
    prompt = _text(fields, "prompt", where) or ""
    if need_prompt and not prompt.strip():
        raise DataError(f"{where}: the field 'prompt' is {'empty' if 'prompt' in fields else 'missing'}")
    return Sample(
        id=id,
        prompt=prompt,
        reference_answer=_text(fields, "reference_answer", where),
        choices=_choices(fields, where),
        category=_text(fields, "category", where),
        meta=_meta(fields, where),
        images=tuple(source.read(value, where) for value in _images(fields, where)),
    )


def _text(fields: dict[str, Any], name: str, where: str) -> str | None:
    """Return a text field; null and blank text are as if it were not there, a whole number is its digits."""
    value = fields.get(name)
    if type(value) is int:
        return str(value)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str):
        raise DataError(f"{where}: the field '{name}' is no text")
    return value


def _choices(fields: dict[str, Any], where: str) -> tuple[str, ...]:
    value = fields.get("choices")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(choice, str) and choice.strip() for choice in value):
        raise DataError(f"{where}: the field 'choices' is not a list of strings")
    return tuple(value)


def _meta(fields: dict[str, Any], where: str) -> dict[str, Any]:
    meta = fields.get("meta")
    if meta is None:
        meta = {}
    if not isinstance(meta, dict):
        raise DataError(f"{where}: the field 'meta' is not an object")
    others = {name: value for name, value in fields.items() if name not in _FIELDS}
    if twice := sorted(meta.keys() & others.keys()):
        raise DataError(f"{where}: {twice[0]!r} stands both in 'meta' and beside it; keep one")
    return {**meta, **others}


def _images(fields: dict[str, Any], where: str) -> list[str]:
    one, many = fields.get("image"), fields.get("images")
    if one is not None and many is not None:
        raise DataError(f"{where}: both 'image' and 'images' are given; keep one")
    if one is not None:
        many = [one]
    if many is None:
        return []
    if not isinstance(many, list) or not all(isinstance(value, str) for value in many):
        raise DataError(f"{where}: 'image' is a string and 'images' a list of strings: a path, a data URI or base64")
    if not all(value.strip() for value in many):
        raise DataError(f"{where}: an image is an empty string")
    return many
