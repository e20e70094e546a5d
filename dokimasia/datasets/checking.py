"""A whole data set read once for everything that is wrong with it, and for what it holds."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Unpack

from dokimasia.datasets.lines import Problem
from dokimasia.datasets.opening import open_dataset
from dokimasia.datasets.samples import Reading
from dokimasia.domain.identity import digest
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


def check(path: Path, **how: Unpack[Reading]) -> DataReport:
    """Read a data set from beginning to end and return all that is wrong with it (see `open_dataset`).

    Raises:
        NotFound: there is no such file.
        DataError: the file cannot be read at all.
        ConfigError: its reader needs an extra that is not installed.
    """
    problems: list[Problem] = []
    remarks: list[Remark] = []
    counted = Counter(samples=0, without_image=0, with_reference=0, with_choices=0)
    images: set[str] = set()
    categories: Counter[str] = Counter()
    names: dict[str, list[str]] = {}
    fingerprint = digest("data/1", [])
    for sample in open_dataset(path, **how):
        if isinstance(sample, Problem):
            problems.append(sample)
            continue
        content: list[Any] = [fingerprint, sample.id, sample.digest, sample.category, sample.meta]
        fingerprint = digest("data/1", content)
        counted.update(
            samples=1,
            without_image=not sample.images,
            with_reference=sample.reference_answer is not None,
            with_choices=bool(sample.choices),
        )
        images.update(image.sha256 for image in sample.images)
        categories.update([] if sample.category is None else [sample.category])
        names.setdefault(sample.digest, []).append(sample.id)
        remarks += _remarks(sample)
    twins = [
        Remark("same-content", tuple(ids), f"{' and '.join(map(repr, ids[:5]))}{_more(ids)} are the same sample")
        for ids in names.values()
        if len(ids) > 1
    ]
    return DataReport(
        **counted,
        problems=tuple(problems),
        fingerprint=fingerprint,
        images=len(images),
        categories=dict(sorted(categories.items())),
        remarks=(*twins, *remarks),
    )


def plain_report(data: Path, name: str, report: DataReport) -> dict[str, Any]:
    """Return what one pass over a data set of a format found, ready for JSON."""
    counts = report._asdict()
    remarks = counts.pop("remarks")
    return counts | {
        "data": str(data),
        "format": name,
        "categories": dict(report.categories),
        "bad_lines": report.bad_lines,
        "problem_kinds": report.kinds,
        "problems": [problem._asdict() for problem in report.problems],
        "warnings": [remark._asdict() for remark in remarks],
    }


def _remarks(sample: Sample) -> Iterator[Remark]:
    if len(set(sample.choices)) < len(sample.choices):
        yield Remark("equal-options", (sample.id,), f"sample {sample.id!r} has two options that are the same")
    reference = (sample.reference_answer or "").strip()
    several = len(sample.accepted) > 1
    if (
        sample.choices
        and reference
        and not several
        and reference not in sample.choices
        and not set(reference) <= _LETTERS
    ):
        message = f"the reference answer of sample {sample.id!r} is none of its options"
        yield Remark("reference-no-option", (sample.id,), message)


def _more(ids: list[str]) -> str:
    return f" and {len(ids) - 5} more" if len(ids) > 5 else ""
