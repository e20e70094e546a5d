"""Perturbations and edited images from JSON lines: on each line a gold answer or image and its perturbed version."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Unpack, get_args

from pydantic import ValidationError

from dokimasia.datasets.images import MAX_PIXELS, ImageSource
from dokimasia.datasets.lines import FileProblems, Problem, Row, digits_of, location, read_rows, refuse
from dokimasia.datasets.samples import FIELDS as SAMPLE_FIELDS
from dokimasia.datasets.samples import ReadingOptions, samples_of
from dokimasia.domain.blindspots import LABELS, Label, Perturbed, Task
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import DataError, list_faults

OWN = ("task", "sample", "gold", "perturbed", "gold_image", "perturbed_image", "dimension")
ASIDE = ("description", "rationale", "instruction", "by", "label", "annotator", "labels")
"""Fields of a line in addition to those of its sample, in the order of written files."""

TASKS: tuple[Task, ...] = get_args(Task)
_KNOWN = SAMPLE_FIELDS | {*OWN, *ASIDE}

EDITED_FIELDS = ("id", "dimension", "image", "instruction", "description", "rationale")
"""Fields of a line with an edited image."""

_NEEDED_OF_EDITED = EDITED_FIELDS[:3]


class PersonLabel(NamedTuple):
    """One person's label of a perturbation; the name is empty if not in the file."""

    annotator: str
    label: Label


class GivenPerturbation(NamedTuple):
    """A line of a file: its id, the sample, the perturbation, and people's labels in the order of their decisions."""

    id: str
    sample: Sample
    item: Perturbed
    labels: tuple[PersonLabel, ...] = ()
    place: str = ""

    @property
    def label(self) -> Label | None:
        """The label in effect, which is the first; None without one."""
        if self.labels:
            return self.labels[0].label
        return None


def read_perturbations(
    path: Path, *, dimensions: Mapping[Task, Collection[str]], **how: Unpack[ReadingOptions]
) -> list[GivenPerturbation]:
    """Return the perturbations of a file of JSON lines, in order.

    A line has `id`, `task`, `dimension`, and

    - image-to-text: `image` (or `images`), `prompt` (may be missing), `gold` and `perturbed`, two texts;
    - text-to-image: `prompt`, `gold_image` and `perturbed_image`, and `instruction`, the request to the editing model.

    It may have `description` (what was changed), `rationale` (why that is easy to miss), `by` (the perturbing model),
    `sample` (the name of the sample, by default the id; lines that name the same sample have the same image and
    prompt), `reference_answer`, `choices`, `category` and `meta` as in any data file, and people's labels: `label` with
    `annotator`, or `labels`, a list of objects with `annotator` and `label`, in the order of decision. Images are read
    as in any data file.

    Args:
        path: the file.
        dimensions: the names of the dimensions, by task.
        how: see `ReadingOptions`; `prompt` and `need_prompt` are ignored.

    Raises:
        NotFound: there is no such file.
        DataError: some lines cannot be used (the message names up to twenty), or there is no perturbation.
    """
    problems: list[Problem] = []
    lines: list[_PerturbationLine] = []
    for row in read_rows(path):
        if isinstance(row, Problem):
            problems.append(row)
        else:
            lines.append(_PerturbationLine(path, row, dimensions))
    sample_rows, contradictions = _sample_rows(lines)
    samples = _read_samples(sample_rows, path, how, problems)
    problems += contradictions
    images = ImageSource(
        path.parent,
        blobs=how.get("blobs"),
        allow_fetch=how.get("allow_fetch", False),
        allow_outside=how.get("allow_outside", False),
        max_pixels=how.get("max_pixels", MAX_PIXELS),
    )
    perturbations: list[GivenPerturbation] = []
    first_lines: dict[str, int] = {}
    for line in lines:
        first = first_lines.setdefault(line.id, line.row.line)
        if line.id and first != line.row.line:
            line.faults.append(f"the id {line.id!r} already stands on line {first}")
        perturbation = line.read(samples.get(line.sample), images)
        if perturbation is not None:
            perturbations.append(perturbation)
        problems += [Problem(line.row.line, line.id, f"{line.where}: {fault}") for fault in line.faults]
    refuse([problem.message for problem in sorted(problems, key=lambda problem: problem.line)])
    if not perturbations:
        raise DataError(
            f"{path}: no perturbation in it; a line has id, task, dimension, and a gold and a perturbed answer"
        )
    return perturbations[: how.get("limit")]


def _sample_rows(lines: Sequence["_PerturbationLine"]) -> tuple[list[Row], list[Problem]]:
    """Return the first line of each sample as a row of a data file, and problems of lines that contradict it."""
    firsts: dict[str, Row] = {}
    contradictions: list[Problem] = []
    for line in lines:
        row = Row(line.row.line, line.sample_fields)
        first = firsts.setdefault(line.sample or f"line {row.line}", row)
        names = sorted({*first.fields, *row.fields})
        differing = [name for name in names if first.fields.get(name) != row.fields.get(name)]
        if differing:
            wrong = f"sample {line.sample!r} has another {' and '.join(differing)} than on line {first.line}"
            message = f"{line.where}: {wrong}; name it otherwise with 'sample'"
            contradictions.append(Problem(row.line, line.id, message))
    return list(firsts.values()), contradictions


def _read_samples(rows: list[Row], path: Path, how: ReadingOptions, problems: list[Problem]) -> dict[str, Sample]:
    options: ReadingOptions = {**how, "limit": None, "prompt": None, "need_prompt": False}
    samples: dict[str, Sample] = {}
    for sample in samples_of(rows, path, **options):
        if isinstance(sample, Sample):
            samples[sample.id] = sample
        elif sample.line:
            problems.append(sample)
    return samples


class _PerturbationLine:
    """A line of the file with the faults of its own fields; its sample is read separately."""

    def __init__(self, path: Path, row: Row, dimensions: Mapping[Task, Collection[str]]) -> None:
        self.row = row
        self.faults: list[str] = []
        self.where = location(path, row.line)
        id = digits_of(row.fields.get("id"))
        self.id = id if isinstance(id, str) else ""
        self.sample = self._text("sample") or self.id
        if self.id:
            self.where = f"{self.where} (id {self.id!r})"
        task = self._text("task")
        self.task: Task | None = None
        for name in TASKS:
            if name == task:
                self.task = name
        if self.task is None:
            wrong = f"{task!r}, not" if task else "missing: it is"
            self.faults.append(f"the field 'task' is {wrong} {' or '.join(TASKS)}")
        self.dimension = self._text("dimension")
        if self.task and self.dimension not in dimensions[self.task]:
            wrong = f"{self.dimension!r} is no dimension of {self.task}"
            if not self.dimension:
                wrong = "the field 'dimension' is missing"
            self.faults.append(f"{wrong}; there are {', '.join(dimensions[self.task])}")
        if unknown := sorted(set(row.fields) - _KNOWN):
            self.faults.append(f"there is no field {', '.join(map(repr, unknown))}; keep other things in 'meta'")

    @property
    def sample_fields(self) -> JsonObject:
        """The fields of the line's sample; for text-to-image its image is the gold image."""
        fields = {name: value for name, value in self.row.fields.items() if name in SAMPLE_FIELDS}
        fields["id"] = self.sample
        if self.task == "text-to-image":
            fields["image"] = self.row.fields.get("gold_image")
        return fields

    def read(self, sample: Sample | None, images: ImageSource) -> GivenPerturbation | None:
        """Return the line's perturbation, or None after adding to `faults`."""
        labels = tuple(self._labels())
        gold, perturbed = self._text("gold"), self._text("perturbed")
        details = {name: self._text(name) for name in ("description", "rationale", "instruction", "by")}
        refs: dict[str, ImageRef] = {}
        if self.task == "image-to-text":
            self._need("gold", "perturbed", without=("gold_image", "perturbed_image"))
            if sample is not None and not sample.images:
                self.faults.append("the field 'image' is missing: what is judged is a text on an image")
        elif self.task == "text-to-image":
            self._need("prompt", "gold_image", "perturbed_image", without=("image", "images", "gold", "perturbed"))
            for name in ("gold_image", "perturbed_image"):
                self._image(name, images, refs)
        if gold and gold.split() == perturbed.split():
            self.faults.append("'gold' and 'perturbed' are the same: nothing was changed")
        if len(refs) > 1 and len({ref.sha256 for ref in refs.values()}) == 1:
            self.faults.append("'gold_image' and 'perturbed_image' are the same: nothing was changed")
        if self.faults or sample is None or self.task is None:
            return None
        try:
            item = Perturbed(
                sample=sample.digest,
                sample_id=sample.id,
                task=self.task,
                dimension=self.dimension,
                gold=gold,
                perturbed=perturbed,
                gold_image=refs.get("gold_image"),
                perturbed_image=refs.get("perturbed_image"),
                **details,
            )
        except ValidationError as error:
            self.faults.append(list_faults(error)[0].message)
            return None
        return GivenPerturbation(self.id, sample, item, labels, self.where)

    def _image(self, name: str, images: ImageSource, refs: dict[str, ImageRef]) -> None:
        value = self.row.fields.get(name)
        if isinstance(value, str) and value.strip():
            try:
                refs[name] = images.read(value, self.where)
            except DataError as error:
                if name != "gold_image":  # already reported by the sample
                    self.faults.append(str(error).removeprefix(f"{self.where}: "))

    def _need(self, *names: str, without: tuple[str, ...]) -> None:
        self.faults += [
            f"the field {name!r} is missing or not a string" for name in names if not self._text(name).strip()
        ]
        extra = [name for name in without if self.row.fields.get(name) not in (None, "", [])]
        self.faults += [f"there is a field {name!r}, which {self.task} does not have" for name in extra]

    def _text(self, name: str) -> str:
        value = self.row.fields.get(name)
        if value is not None and not isinstance(value, str):
            fault = f"the field {name!r} is no text"
            if fault not in self.faults:
                self.faults.append(fault)
            return ""
        return value or ""

    def _labels(self) -> Iterator[PersonLabel]:
        fields = self.row.fields
        entries = fields.get("labels")
        if entries is not None and (fields.get("label") is not None or fields.get("annotator") is not None):
            self.faults.append("both 'label' and 'labels' are given; keep one")
        if entries is None:
            entries = [fields] if fields.get("label") is not None else []
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            self.faults.append("the field 'labels' is not a list of objects with 'annotator' and 'label'")
            return
        annotators: set[str] = set()
        for entry in entries:
            annotator, label = entry.get("annotator") or "", entry.get("label")
            if label not in LABELS:
                self.faults.append(f"{str(label)[:40]!r} is no label; there are {', '.join(LABELS)}")
            elif not isinstance(annotator, str):
                self.faults.append("the field 'annotator' is no text")
            elif annotator in annotators:
                self.faults.append(f"{annotator or 'an annotator without a name'} has labelled it twice")
            else:
                annotators.add(annotator)
                yield PersonLabel(annotator, label)


class EditedImage(NamedTuple):
    """An item with an edited image, and its file and line."""

    item: Perturbed
    place: str


def read_edited(
    path: Path, samples: Mapping[str, Sample], dimensions: Collection[str], images: ImageSource
) -> list[EditedImage]:
    """Return the items of a file of JSON lines, in order, each with a sample's image and its edited version.

    A line has `id` (the sample's), `dimension` and `image`, and may have `instruction` (the request to the editor) and
    `description` (what was changed) and `rationale` (why that is easy to miss).

    Args:
        path: the file.
        samples: the samples of the data set by id, each with one image.
        dimensions: the names of the dimensions.
        images: reads the images named in the lines.

    Raises:
        NotFound: there is no such file.
        DataError: some lines cannot be used (the message names up to twenty), or there is no edited image.
    """
    items: dict[tuple[str, str], EditedImage] = {}
    problems = FileProblems(path)
    for row in problems.readable(read_rows(path)):
        where = location(path, row.line)
        faults = _edited_faults(row, samples, dimensions)
        key = (str(row.fields.get("id")), str(row.fields.get("dimension")))
        if not faults and key in items:
            faults = [f"sample {key[0]!r} has an image for {key[1]} already ({items[key].place})"]
        if not faults:
            try:
                items[key] = EditedImage(_edited_item(row, samples[key[0]], images, where), where)
            except DataError as error:
                faults = [str(error).removeprefix(f"{where}: ")]
        problems.add(row.line, *faults)
    problems.refuse()
    if not items:
        raise DataError(f"{path}: no edited image in it; a line has {', '.join(_NEEDED_OF_EDITED)}")
    return list(items.values())


def _edited_faults(row: Row, samples: Mapping[str, Sample], dimensions: Collection[str]) -> list[str]:
    fields = row.fields
    sample_id, dimension = fields.get("id"), fields.get("dimension")
    faults = [f"the field {name!r} is no text" for name in EDITED_FIELDS if not isinstance(fields.get(name, ""), str)]
    faults += [f"the field {name!r} is missing" for name in _NEEDED_OF_EDITED if not fields.get(name)]
    for name in fields:
        if name not in EDITED_FIELDS:
            faults.append(f"there is no field {name!r}; there are {', '.join(EDITED_FIELDS)}")
    if not faults and sample_id not in samples:
        faults.append(f"the data have no sample {sample_id!r}")
    if not faults and dimension not in dimensions:
        faults.append(f"{dimension!r} is no dimension that is asked for: {', '.join(dimensions)}")
    return faults


def _edited_item(row: Row, sample: Sample, images: ImageSource, where: str) -> Perturbed:
    image = images.read(row.fields["image"], where)
    if image.sha256 == sample.images[0].sha256:
        raise DataError("the edited image is the one that the sample has: nothing was changed")
    return Perturbed(
        sample=sample.digest,
        sample_id=sample.id,
        task="text-to-image",
        dimension=row.fields["dimension"],
        gold_image=sample.images[0],
        perturbed_image=image,
        instruction=row.fields.get("instruction", ""),
        description=row.fields.get("description", ""),
        rationale=row.fields.get("rationale", ""),
    )
