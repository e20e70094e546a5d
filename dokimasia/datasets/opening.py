"""Reading of a data set in any format: its samples and problems as a stream, or a report on the whole data set."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, Unpack

from dokimasia.datasets.columns import intended_field
from dokimasia.datasets.formats import FOLDER, Reader, format_of, with_mapping
from dokimasia.datasets.lines import Problem, Row, message_of, read_rows
from dokimasia.datasets.samples import FIELDS, ReadingOptions, samples_of
from dokimasia.datasets.statistics import DataStatistics, StatisticsCounter
from dokimasia.domain.identity import JsonObject, digest
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError

PROMPT_HINT = "\nfrom Python: prompt='...' for one question to all, or need_prompt=False for images without a question"
"""The hint that `read_jsonl` adds for a sample without a prompt."""

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ ,;&")


def open_dataset(
    path: Path,
    *,
    reader: Reader | None = None,
    mapping: Mapping[str, str] = MappingProxyType({}),
    used: dict[str, str] | None = None,
    **how: Unpack[ReadingOptions],
) -> Iterator[Sample | Problem]:
    """Yield the samples of a data set, or the problems of a row, in order and one row at a time.

    Args:
        path: JSON lines, a VLMEvalKit TSV, Parquet, a folder of images, a name of the Hugging Face Hub, or a format
            registered by `register_reader`.
        reader: the reader to use; by default it is chosen by extension and content.
        mapping: columns by field, see `parse_mapping`.
        used: receives the column of each field that is read.
        how: see `ReadingOptions`.

    Raises:
        NotFound: there is nothing at the path.
        DataError: it cannot be read at all: no reader fits, or it is damaged from the beginning.
        ConfigError: its reader needs an extra that is not installed, or accepts no mapping.
    """
    if reader is None:
        name, reader = format_of(path)
        if name == FOLDER and how.get("need_prompt", True) and not (how.get("prompt") or "").strip():
            raise DataError(f"{path} is a folder of images, which ask nothing: give the question for all with --prompt")
    rows = with_mapping(reader, mapping)(path)
    return samples_of(rows if used is None else _noting_columns(rows, used, mapping), path, **how)


def _noting_columns(
    rows: Iterable[Row | Problem], used: dict[str, str], mapping: Mapping[str, str]
) -> Iterator[Row | Problem]:
    """Yield the rows, and note the column of each field that they have."""
    for row in rows:
        if isinstance(row, Row):
            for field in (FIELDS & row.fields.keys()) - used.keys() - {"meta"}:
                if row.fields[field] not in (None, "", []):
                    used[field] = mapping.get(field) or row.names.get(field, field)
        yield row


def scan(path: Path, **how: Unpack[ReadingOptions]) -> Iterator[Sample | Problem]:
    """Yield each sample of a file of JSON lines, or the problem of its line, in order and one at a time.

    A line of the data file is an object with `id`, `image` or `images`, `prompt`, and optionally `reference_answer`,
    `choices` (a list of strings), `category` and `meta`; other fields become part of `meta`. An image is a data URI, else
    an existing file relative to the data file, else a base64 image. `open_dataset` reads every format.

    Raises:
        NotFound: there is no such file.
        DataError: the file cannot be read at all.
    """
    return open_dataset(path, reader=read_rows, **how)


def read_jsonl(
    path: Path, *, on_bad: Literal["fail", "skip"] = "fail", **how: Unpack[ReadingOptions]
) -> Iterator[Sample]:
    """Yield the good samples of a file of JSON lines (see `scan`).

    Args:
        path: the data file.
        on_bad: `fail` raises an error that names all problems of the file; `skip` skips faulty lines.
        how: see `ReadingOptions`; `need_prompt=False` reads images without a question, for example for `peer_review`.

    Raises:
        NotFound: there is no such file.
        DataError: a sample cannot be used (with file and line), or the file has no usable sample.
    """
    samples = scan(path, **how)
    for sample in samples:
        if isinstance(sample, Sample):
            yield sample
        elif on_bad == "fail" or sample.line == 0:
            others = [problem for problem in samples if isinstance(problem, Problem) and problem.line > 0]
            problems = [sample, *others]
            hint = PROMPT_HINT if any(problem.kind == "prompt" for problem in problems) else ""
            raise DataError(f"{problems_text(problems)}{hint}")


def problems_text(problems: Sequence[Problem]) -> str:
    """Return problems as a message, one per line, at most twenty."""
    return message_of([problem.message for problem in problems])


class Remark(NamedTuple):
    """A warning about something that is allowed but may be a mistake: its kind, the samples' ids, the message."""

    kind: str
    ids: tuple[str, ...]
    message: str


class DataReport(NamedTuple):
    """The result of one pass over a data set.

    `samples` is the number of good samples, `problems` are all problems in the file's order, and `fingerprint` is a hash of
    the good samples in order: ids, contents, categories and meta. `images` is the number of distinct images; `categories`
    has the number of samples in each category; `statistics` are those of the good samples; `used` has
    the column of each field, and `unused` are the columns that become `meta`.
    """

    samples: int
    problems: tuple[Problem, ...]
    fingerprint: str
    statistics: DataStatistics
    images: int = 0
    without_image: int = 0
    with_reference: int = 0
    with_choices: int = 0
    categories: Mapping[str, int] = MappingProxyType({})
    used: Mapping[str, str] = MappingProxyType({})
    unused: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def kinds(self) -> dict[str, int]:
        """The number of problems of each kind, most frequent first."""
        return dict(Counter(problem.kind for problem in self.problems).most_common())

    @property
    def bad_lines(self) -> int:
        """The number of lines, rows or files with a problem."""
        return len({problem.line for problem in self.problems if problem.line})


def check(
    path: Path, *, mapping: Mapping[str, str] = MappingProxyType({}), **how: Unpack[ReadingOptions]
) -> DataReport:
    """Return all problems of a data set, after reading it from beginning to end (see `open_dataset`).

    Raises:
        NotFound: there is no such file.
        DataError: the file cannot be read at all.
        ConfigError: its reader needs an extra that is not installed.
    """
    problems: list[Problem] = []
    remarks: list[Remark] = []
    counted = Counter(samples=0, without_image=0, with_reference=0, with_choices=0)
    images: set[str] = set()
    statistics = StatisticsCounter()
    categories: Counter[str] = Counter()
    names: dict[str, list[str]] = {}
    unread: dict[tuple[str, str], list[str]] = {}
    used: dict[str, str] = {}
    unused: dict[str, None] = {}
    fingerprint = digest("data/1", [])
    for sample in open_dataset(path, mapping=mapping, used=used, **how):
        if isinstance(sample, Problem):
            problems.append(sample)
            continue
        content: list[object] = [fingerprint, sample.id, sample.digest, sample.category, sample.meta]
        fingerprint = digest("data/1", content)
        counted.update(
            samples=1,
            without_image=not sample.images,
            with_reference=sample.reference_answer is not None,
            with_choices=bool(sample.choices),
        )
        statistics.add(sample)
        images.update(image.sha256 for image in sample.images)
        categories.update([] if sample.category is None else [sample.category])
        names.setdefault(sample.digest, []).append(sample.id)
        unused |= dict.fromkeys(sample.meta)
        for columns in _unread(sample):
            unread.setdefault(columns, []).append(sample.id)
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
        statistics=statistics.statistics(),
        images=len(images),
        categories=dict(sorted(categories.items())),
        used=dict(sorted(used.items())),
        unused=tuple(unused),
        remarks=(*twins, *starmap(_misnamed, unread.items()), *remarks),
    )


def plain_report(data: Path, name: str, report: DataReport) -> JsonObject:
    """Return the result of one pass over a data set, ready for JSON."""
    counts = report._asdict()
    remarks = counts.pop("remarks")
    statistics = report.statistics._asdict()
    for texts in ("query_words", "reference_words"):
        lengths = statistics[texts]
        statistics[texts] = None if lengths is None else lengths._asdict()
    return counts | {
        "data": str(data),
        "format": name,
        "categories": dict(report.categories),
        "used": dict(report.used),
        "statistics": statistics,
        "bad_lines": report.bad_lines,
        "problem_kinds": report.kinds,
        "problems": [problem._asdict() for problem in report.problems],
        "warnings": [remark._asdict() for remark in remarks],
    }


def _unread(sample: Sample) -> Iterator[tuple[str, str]]:
    """Yield the names of unread columns, each with the missing field it may stand for."""
    present = {
        "reference_answer": sample.reference_answer is not None,
        "choices": bool(sample.choices),
        "category": sample.category is not None,
        "image": bool(sample.images),
    }
    missing = tuple(field for field, is_present in present.items() if not is_present)
    for name in sample.meta:
        if (field := intended_field(name, missing)) is not None:
            yield name, field


def _misnamed(columns: tuple[str, str], ids: Sequence[str]) -> Remark:
    name, field = columns
    text = f"{name!r} is not a field of a sample, and nothing reads it (rows: {len(ids):,}); did you mean {field!r}?"
    return Remark("unread-field", tuple(ids), text)


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
    if len(ids) > 5:
        return f" and {len(ids) - 5} more"
    return ""
