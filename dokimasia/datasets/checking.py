"""A whole data set read once for everything that is wrong with it, and for what it holds."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from dokimasia.datasets.images import MAX_PIXELS
from dokimasia.datasets.lines import Problem
from dokimasia.datasets.opening import open_dataset
from dokimasia.domain.identity import digest
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import Sample

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ ,;&")


class Remark(NamedTuple):
    """Something that is allowed and may still be a mistake: its kind, the samples' ids, the message."""

    kind: str
    ids: tuple[str, ...]
    message: str


class DataReport(NamedTuple):
    """What one pass over a data set found.

    `samples` counts the good ones, `problems` are all that is wrong, in the file's order, and `fingerprint` is a hash
    of the good samples in order: ids, contents, categories and meta. `images` counts distinct ones; `categories` counts
    samples.
    """

    samples: int
    problems: tuple[Problem, ...]
    fingerprint: str
    images: int = 0
    without_image: int = 0
    with_reference: int = 0
    with_choices: int = 0
    categories: Mapping[str, int] = MappingProxyType({})
    remarks: tuple[Remark, ...] = ()

    @property
    def kinds(self) -> dict[str, int]:
        """How many problems there are of each kind, most frequent first."""
        return dict(Counter(problem.kind for problem in self.problems).most_common())

    @property
    def bad_lines(self) -> int:
        """How many lines, rows or files have a problem."""
        return len({problem.line for problem in self.problems if problem.line})


def check(
    path: Path,
    *,
    blobs: BlobStore | None = None,
    allow_fetch: bool = False,
    need_prompt: bool = True,
    prompt: str | None = None,
    limit: int | None = None,
    max_pixels: int = MAX_PIXELS,
) -> DataReport:
    """Read a data set from beginning to end and return all that is wrong with it (see `open_dataset`).

    Raises:
        NotFound: there is no such file.
        DataError: the file cannot be read at all.
        ConfigError: its reader needs an extra that is not installed.
    """
    problems: list[Problem] = []
    tally = _Tally()
    found = open_dataset(
        path,
        blobs=blobs,
        allow_fetch=allow_fetch,
        need_prompt=need_prompt,
        prompt=prompt,
        limit=limit,
        max_pixels=max_pixels,
    )
    for sample in found:
        if isinstance(sample, Sample):
            tally.add(sample)
        else:
            problems.append(sample)
    return tally.report(problems)


class _Tally:
    def __init__(self) -> None:
        self._fingerprint = digest("data/1", [])
        self._samples = self._without_image = self._with_reference = self._with_choices = 0
        self._images: set[str] = set()
        self._categories: Counter[str] = Counter()
        self._names: dict[str, list[str]] = {}
        self._remarks: list[Remark] = []

    def add(self, sample: Sample) -> None:
        content: list[Any] = [self._fingerprint, sample.id, sample.digest, sample.category, sample.meta]
        self._fingerprint = digest("data/1", content)
        self._samples += 1
        self._without_image += not sample.images
        self._with_reference += sample.reference_answer is not None
        self._with_choices += bool(sample.choices)
        self._images.update(image.sha256 for image in sample.images)
        if sample.category is not None:
            self._categories[sample.category] += 1
        self._names.setdefault(sample.digest, []).append(sample.id)
        self._remark(sample)

    def _remark(self, sample: Sample) -> None:
        if len(set(sample.choices)) < len(sample.choices):
            message = f"sample {sample.id!r} has two options that are the same"
            self._remarks.append(Remark("equal-options", (sample.id,), message))
        reference = (sample.reference_answer or "").strip()
        if sample.choices and reference and reference not in sample.choices and not set(reference) <= _LETTERS:
            message = f"the reference answer of sample {sample.id!r} is none of its options"
            self._remarks.append(Remark("reference-no-option", (sample.id,), message))

    def report(self, problems: list[Problem]) -> DataReport:
        twins = [
            Remark("same-content", tuple(ids), f"{' and '.join(map(repr, ids[:5]))}{_more(ids)} are the same sample")
            for ids in self._names.values()
            if len(ids) > 1
        ]
        return DataReport(
            samples=self._samples,
            problems=tuple(problems),
            fingerprint=self._fingerprint,
            images=len(self._images),
            without_image=self._without_image,
            with_reference=self._with_reference,
            with_choices=self._with_choices,
            categories=dict(sorted(self._categories.items())),
            remarks=(*twins, *self._remarks),
        )


def _more(ids: list[str]) -> str:
    return f" and {len(ids) - 5} more" if len(ids) > 5 else ""
