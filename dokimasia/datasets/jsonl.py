"""A JSONL data file as a stream of samples, every problem named by file and line."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from dokimasia.datasets.images import MAX_PIXELS
from dokimasia.datasets.lines import Problem, read_rows
from dokimasia.datasets.samples import samples_of
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError

_MAX_LISTED = 20


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
    data URI, else an existing file relative to the data file, else base64 that begins as an image does. `open_dataset`
    does the same for every format.

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
    return samples_of(
        read_rows(path),
        path,
        blobs=blobs,
        allow_fetch=allow_fetch,
        need_prompt=need_prompt,
        limit=limit,
        max_pixels=max_pixels,
    )


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


def problems_text(problems: Sequence[Problem]) -> str:
    """Return problems as a message: one a line, at most twenty of them."""
    lines = [problem.message for problem in problems[:_MAX_LISTED]]
    more = len(problems) - len(lines)
    return "\n".join([*lines, f"and {more} more"] if more else lines)
