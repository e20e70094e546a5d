"""Data sets looked at before a run: their first samples with images, and the check of an upload within limits."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pydantic import BaseModel, Field

from dokimasia.datasets import Problem, open_dataset, parse_mapping
from dokimasia.domain.sample import Sample
from dokimasia.domain.wording import has_or_have
from dokimasia.errors import ConfigError, InputError
from dokimasia.report.figures import several
from dokimasia.report.thumbnails import SHARE, Picture, picture
from dokimasia.runs.samples import bring_reader
from dokimasia.service.uploads import UPLOAD, RequestFiles, Upload
from dokimasia.service.wording import as_on_pages
from dokimasia.storage.content.blobs import MemoryBlobs

SHOWN_SAMPLES = 6
SHOWN_FAULTS = 50
SHOWN_LINES = 10

ROWS_CHECKED = 5_000
"""The number of rows of an upload that are checked when it arrives."""

SECONDS_CHECKED = 5.0
"""How long the rows of an upload are checked when it arrives."""

SETS_CHECKED = 10
"""The number of an upload's data files that are checked when it arrives."""

FAULTS_LISTED = 20
IMAGES_LISTED = 200

NO_QUESTION = "–"
"""Takes the place of a question that a sample lacks while the rest of it is read."""

IMAGES = (
    "Upload the data and these images together: choose all files at once, or a ZIP of them. Images are found by their path, "
    "or else by their file name."
)
"""The advice shown if images are missing."""

OTHER_FILES = "A file of answers, criteria or ratings is no data set: the form that takes it checks it."
"""The hint beside a file without a usable sample."""

_IMAGE_NAME = re.compile(r"there is no image file '([^']+)'")


class DataCheck(BaseModel):
    """What the check of an uploaded data set came to, by its first rows: the same checks as `dokimasia data check`."""

    rows: int = Field(default=0, ge=0, description="rows that were read")
    samples: int = Field(default=0, ge=0, description="usable samples among them")
    complete: bool = Field(
        default=True,
        description=f"false where only the first rows were checked, at most {ROWS_CHECKED:,} and for "
        f"{SECONDS_CHECKED:g} seconds",
    )
    faults: list[str] = Field(
        default=[],
        max_length=FAULTS_LISTED,
        description="what cannot be used, each with file, line and way out; a fault of several lines once",
    )
    more: int = Field(default=0, ge=0, description="further faults, which are not listed")
    without_image: int = Field(default=0, ge=0, description="rows that name an image that is missing")
    images: list[str] = Field(default=[], max_length=IMAGES_LISTED, description="the names of missing images")
    unasked: str = Field(default="", description="a sentence on samples without a question of their own; else empty")

    @property
    def usable(self) -> bool:
        """Whether nothing that was checked is wrong."""
        return not (self.faults or self.without_image)


@dataclass
class DataPreview:
    """The first samples of a data set, and its faults.

    Attributes:
        problem: why it is not a data set.
        samples: the first samples, each with its pictures and its question.
        faults: messages about unusable samples.
        missing: the number of samples that name an image that does not exist.
        unasked: the message about samples without a question.
    """

    problem: str = ""
    samples: list[tuple[Sample, list[Picture], str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    missing: int = 0
    unasked: str = ""


def preview_data(
    places: RequestFiles,
    data: str,
    labels: Mapping[str, str],
    *,
    prompt: str = "",
    columns: Sequence[str] = (),
    limit: int | None = None,
    most: int = SHOWN_SAMPLES,
) -> DataPreview:
    """Return the first samples of a data set and their faults, or why it is not a data set.

    Args:
        places: where files may be.
        data: the data set, as requests name it.
        labels: the label of each field of the form, by its option and by its name.
        prompt: the question of samples that have none of their own.
        columns: `FIELD=COLUMN`, as `parse_mapping` reads them.
        limit: the number of samples that the request takes, if it has a limit.
        most: the maximum number of samples in the preview.
    """
    blobs = MemoryBlobs()
    preview = DataPreview()
    unasked: Counter[str] = Counter()
    problems: list[Problem] = []
    try:
        path = places.file(data, "data")
        bring_reader(path)
        mapping = parse_mapping(columns)
        if limit is not None:
            most = min(limit, most)
        dataset = open_dataset(
            path, mapping=mapping, blobs=blobs, need_prompt=False, prompt=prompt or NO_QUESTION, limit=most
        )
        for sample in islice(dataset, SHOWN_FAULTS):
            if isinstance(sample, Problem):
                problems.append(sample)
                preview.missing += sample.kind == "image-missing"
                continue
            pictures = [
                picture(blobs.get(image.sha256), image.sha256, (image.width, image.height), share=SHARE // 4)
                for image in sample.images[:3]
            ]
            if not prompt and sample.prompt == NO_QUESTION:
                unasked.update(["", *sample.meta])
            prompt_shown = "" if sample.prompt == NO_QUESTION else sample.prompt
            preview.samples.append((sample, pictures, prompt_shown))
        if (
            any(problem.line for problem in problems) and not preview.samples and not prompt
        ):  # lines without an id may lack a question, too
            read_again = islice(open_dataset(path, mapping=mapping, blobs=blobs, limit=most), SHOWN_FAULTS)
            problems = [problem for problem in read_again if isinstance(problem, Problem)]
        preview.faults = [as_on_pages(places.shortened(fault), labels) for fault in _fault_messages(problems)]
    except InputError as problem:
        preview.problem = as_on_pages(places.shortened(str(problem)).removeprefix("data: "), labels)
    if unasked:
        preview.unasked = _missing_question_message(unasked.pop(""), sorted(unasked))
    return preview


def check_upload(
    places: RequestFiles,
    upload: Upload,
    *,
    rows: int = ROWS_CHECKED,
    seconds: float = SECONDS_CHECKED,
    clock: Callable[[], float] = time.monotonic,
) -> DataCheck:
    """Return what is wrong with the data files of an upload, by their first rows.

    Images are decoded, and kept nowhere. A file of images alone has nothing to check: they were decoded when they arrived.

    Args:
        places: where files may be.
        upload: the upload.
        rows: the maximum number of rows that are read.
        seconds: the time after which no further row is read.
        clock: the time in seconds.
    """
    check = DataCheck()
    problems: list[Problem] = []
    sentences: list[str] = []
    unasked: Counter[str] = Counter()
    images: dict[str, None] = {}
    until = clock() + seconds
    sets = upload.sets
    check.complete = len(sets) <= SETS_CHECKED
    for name in sets[:SETS_CHECKED]:
        try:
            for row in _rows(places, f"{UPLOAD}{upload.id}/{name}"):
                if check.rows >= rows or clock() >= until:
                    check.complete = False
                    break
                if isinstance(row, Sample):
                    check.rows += 1
                    check.samples += 1
                    if row.prompt == NO_QUESTION:
                        unasked.update(["", *row.meta])
                    continue
                check.rows += row.line > 0
                if row.kind == "image-missing":
                    check.without_image += 1
                    images |= dict.fromkeys(_IMAGE_NAME.findall(row.message))
                else:
                    problems.append(row)
        except (InputError, ConfigError) as problem:
            sentences.append(str(problem).removeprefix("data: "))
    messages = [places.shortened(message) for message in (*sentences, *_fault_messages(problems))]
    check.faults, check.more = messages[:FAULTS_LISTED], max(0, len(messages) - FAULTS_LISTED)
    check.images = list(images)[:IMAGES_LISTED]
    if unasked:
        check.unasked = _missing_question_message(unasked.pop(""), sorted(unasked))
    return check


def _rows(places: RequestFiles, data: str) -> Iterator[Sample | Problem]:
    path = places.file(data, "data")
    bring_reader(path)
    return open_dataset(path, need_prompt=False, prompt=NO_QUESTION)


def _fault_messages(problems: Sequence[Problem]) -> list[str]:
    """Return the messages about faults in data; a fault of several lines is reported once."""
    groups: dict[str, list[Problem]] = {}
    for problem in problems:
        groups.setdefault(str(problem.message).partition(": ")[2] if problem.line else str(problem.message), []).append(
            problem
        )
    messages: list[str] = []
    for first, *others in groups.values():
        message = str(first.message)
        if others:
            message += f" The same is wrong with {_lines([problem.line for problem in others])}."
        messages.append(message)
    return messages


def _lines(numbers: Sequence[int]) -> str:
    first_numbers = ", ".join(map(str, numbers[:SHOWN_LINES]))
    rest = f" and {len(numbers) - SHOWN_LINES} more" if len(numbers) > SHOWN_LINES else ""
    return f"line{'' if len(numbers) == 1 else 's'} {first_numbers}{rest}"


def _missing_question_message(count: int, others: list[str]) -> str:
    """Return the message about samples without a question, with the names of their other fields."""
    hint = f" Among its other fields ({', '.join(others[:8])}) may be the question: call it prompt." if others else ""
    return (
        f"{several(count, 'sample')} {has_or_have(count)} no question.{hint} "
        "A question for all can be written into the field Prompt."
    )
