"""Samples read from a request's data file, by the package's readers or a plug-in's."""

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import cast

from dokimasia.algorithms.trees.growth import balanced
from dokimasia.datasets import READERS, Problem, Reader, open_dataset, parse_mapping, problems_text, register_reader
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import DataError
from dokimasia.plugins import entry_points_of, load
from dokimasia.runs.requests import DataRequest


def read_data(
    request: DataRequest, blobs: BlobStore, take: Callable[[Sample], None], *, need_prompt: bool = True
) -> tuple[str, ...]:
    """Read a request's whole data file, pass on each sample, and return a text for each skipped line.

    The file is read once, or twice with a subsample: first for names, categories and images. Images of samples that are
    not drawn are not stored.

    Raises:
        DataError: the message names every fault, by file and line.
    """
    count = 0
    problems: list[Problem] = []
    bring_reader(request.data)
    mapping = parse_mapping(request.columns)

    def rows(blobs: BlobStore | None) -> Iterator[Sample | Problem]:
        return open_dataset(
            request.data,
            mapping=mapping,
            blobs=blobs,
            allow_fetch=request.allow_fetch,
            allow_outside=request.allow_outside,
            need_prompt=need_prompt,
            prompt=request.prompt,
            limit=request.limit,
        )

    drawn: set[str] | None = None
    if request.subsample is not None:
        categories: dict[str, str] = {}
        images: dict[str, tuple[ImageRef, ...]] = {}
        for row in rows(None):
            if isinstance(row, Sample):
                categories[row.id], images[row.id] = row.category or "", row.images
        drawn = set(balanced(categories, request.subsample, seed=request.seed))
        blobs = ChosenImages(blobs, {image.sha256 for id in drawn for image in images[id]})
    for row in rows(blobs):
        if isinstance(row, Problem):
            problems.append(row)
        elif drawn is None or row.id in drawn:
            count += 1
            take(row)
    if problems and (request.on_bad_sample == "fail" or not count):
        hint = "" if not count else "\n(--on-bad-sample skip leaves such samples out; dokimasia data check names all)"
        raise DataError(problems_text(problems) + hint)
    lines: dict[int, list[str]] = {}
    for problem in problems:
        lines.setdefault(problem.line, []).append(problem.message)
    return tuple("; ".join(messages) for messages in lines.values())


def part_of(
    samples: Sequence[Sample], *, limit: int | None = None, subsample: int | None = None, seed: int = 0
) -> set[str]:
    """Return the ids of the samples that a request takes from another run: the first, or some drawn."""
    first = samples[:limit]
    if subsample is None:
        return {sample.id for sample in first}
    return set(balanced({sample.id: sample.category or "" for sample in first}, subsample, seed=seed))


class ChosenImages:
    """A `BlobStore` that stores only some images in another store."""

    def __init__(self, blobs: BlobStore, hashes: Collection[str]) -> None:
        """Create a view of a store that takes the images with these hashes."""
        self._blobs = blobs
        self._hashes = hashes

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        """Store the bytes, if the image is one of those chosen."""
        if ref.sha256 in self._hashes:
            self._blobs.put_image(data, ref)

    def get(self, sha256: str) -> bytes:
        """Return the bytes of an image in the store.

        Raises:
            StorageError: the store lacks them.
        """
        return self._blobs.get(sha256)


def bring_reader(path: Path) -> None:
    """Make a file readable by the plug-in in group `dokimasia.datasets` named after its extension, if there is one.

    A plug-in named `mine` reads files that end in `.mine`. The package's own readers take precedence.

    Raises:
        ConfigError: the plug-in exists but cannot be used.
    """
    extension = path.suffix.lower()
    name = extension.removeprefix(".")
    if name and extension not in READERS and name in entry_points_of("datasets"):
        register_reader(extension, cast("Reader", load("datasets", name)))
