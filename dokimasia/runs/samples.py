"""Samples read from a request's data file, by the package's readers or a plug-in's."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

from dokimasia.datasets import READERS, Problem, Reader, open_dataset, problems_text, register_reader
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError
from dokimasia.plugins import entry_points_of, load
from dokimasia.runs.requests import DataRequest


def read_data(
    request: DataRequest, blobs: BlobStore, take: Callable[[Sample], None], *, need_prompt: bool = True
) -> tuple[str, ...]:
    """Read a request's whole data file once, hand on each sample, and return what had to be skipped: a text a line.

    Raises:
        DataError: naming all that is wrong, by file and line.
    """
    count = 0
    problems: list[Problem] = []
    bring_reader(request.data)
    reading = open_dataset(
        request.data,
        blobs=blobs,
        allow_fetch=request.allow_fetch,
        allow_outside=request.allow_outside,
        need_prompt=need_prompt,
        prompt=request.prompt,
        limit=request.limit,
    )
    for sample_or_problem in reading:
        if isinstance(sample_or_problem, Sample):
            count += 1
            take(sample_or_problem)
        else:
            problems.append(sample_or_problem)
    if problems and (request.on_bad_sample == "fail" or not count):
        hint = "" if not count else "\n(--on-bad-sample skip leaves such samples out; dokimasia data check names all)"
        raise DataError(problems_text(problems) + hint)
    lines: dict[int, list[str]] = {}
    for problem in problems:
        lines.setdefault(problem.line, []).append(problem.message)
    return tuple("; ".join(messages) for messages in lines.values())


def bring_reader(path: Path) -> None:
    """Make a file readable by the plug-in of group `dokimasia.datasets` that is called as its extension, if there is one.

    A plug-in called `mine` reads files that end in `.mine`. The package's own readers stay where they are.

    Raises:
        ConfigError: there is such a plug-in and it cannot be used.
    """
    extension = path.suffix.lower()
    name = extension.removeprefix(".")
    if name and extension not in READERS and name in entry_points_of("datasets"):
        register_reader(extension, cast("Reader", load("datasets", name)))
