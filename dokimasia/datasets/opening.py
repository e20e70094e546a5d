"""One door to every data set: a path in, a stream of samples and problems out."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, Unpack

from dokimasia.datasets.formats import FOLDER, Reader, format_of
from dokimasia.datasets.lines import Problem, read_rows
from dokimasia.datasets.samples import Reading, samples_of
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError

_MAX_LISTED = 20


def open_dataset(path: Path, *, reader: Reader | None = None, **how: Unpack[Reading]) -> Iterator[Sample | Problem]:
    """Yield the samples of a data set, or everything that is wrong with a row, in order and one row at a time.

    Args:
        path: JSON lines, a VLMEvalKit TSV, Parquet, a folder of images, or what `register_reader` has made known.
        reader: reads the path, whatever it is; by default that is found out.
        how: see `Reading`.

    Raises:
        NotFound: there is nothing at the path.
        DataError: it cannot be read at all: no reader fits, or it is damaged from its beginning.
        ConfigError: its reader needs an extra that is not installed.
    """
    if reader is None:
        name, reader = format_of(path)
        if name == FOLDER and how.get("need_prompt", True) and not (how.get("prompt") or "").strip():
            raise DataError(f"{path} is a folder of images, which ask nothing: give the question for all with --prompt")
    return samples_of(reader(path), path, **how)


def scan(path: Path, **how: Unpack[Reading]) -> Iterator[Sample | Problem]:
    """Yield each sample of a file of JSON lines, or what is wrong with its line, in order and one at a time.

    A line of the data file is an object with `id`, `image` or `images`, `prompt`, and, where there are any,
    `reference_answer`, `choices` (a list of strings), `category` and `meta`; other fields go to `meta`. An image is a
    data URI, else an existing file relative to the data file, else base64 that begins as an image does. `open_dataset`
    does the same for every format.

    Raises:
        NotFound: there is no such file.
        DataError: the file cannot be read at all.
    """
    return open_dataset(path, reader=read_rows, **how)


def read_jsonl(path: Path, *, on_bad: Literal["fail", "skip"] = "fail", **how: Unpack[Reading]) -> Iterator[Sample]:
    """Yield the good samples of a file of JSON lines (see `scan`).

    Args:
        path: the data file.
        on_bad: `fail` reads on at the first problem, so as to name all of them, and raises; `skip` passes over it.
        how: see `Reading`.

    Raises:
        NotFound: there is no such file.
        DataError: a sample cannot be used, with file and line; or the file holds none at all.
    """
    found = scan(path, **how)
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
