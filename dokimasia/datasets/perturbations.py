"""Perturbations read from JSON lines: a gold answer and the same made worse a line, and what people said of it."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Unpack, get_args

from pydantic import ValidationError

from dokimasia.datasets.annotations import refuse
from dokimasia.datasets.images import MAX_PIXELS
from dokimasia.datasets.lines import Problem, Row, place, read_rows
from dokimasia.datasets.samples import FIELDS as SAMPLE_FIELDS
from dokimasia.datasets.samples import Reading, samples_of
from dokimasia.datasets.sources import ImageSource
from dokimasia.domain.blindspots import LABELS, Label, Perturbed, Task
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import DataError

OWN = ("task", "sample", "gold", "perturbed", "gold_image", "perturbed_image", "dimension")
ASIDE = ("description", "instruction", "by", "label", "annotator", "labels")
"""Fields of a line beside those of its sample, in the order in which a file is written."""

TASKS: tuple[Task, ...] = get_args(Task)
_KNOWN = SAMPLE_FIELDS | {*OWN, *ASIDE}


class Labelled(NamedTuple):
    """What one person said of a perturbation; the name is empty where the file gives none."""

    annotator: str
    label: Label


class GivenPerturbation(NamedTuple):
    """A line of a file: its id, the sample, the perturbation, and what people said of it, who decided first coming first."""

    id: str
    sample: Sample
    item: Perturbed
    labels: tuple[Labelled, ...] = ()
    place: str = ""

    @property
    def label(self) -> Label | None:
        """The label that counts, as of all that people check: that of who decided first; None where nobody has."""
        return self.labels[0].label if self.labels else None


def read_perturbations(
    path: Path, *, dimensions: Mapping[Task, Collection[str]], **how: Unpack[Reading]
) -> list[GivenPerturbation]:
    """Return the perturbations of a file of JSON lines, in order.

    A line has `id`, `task`, `dimension`, and

    - image-to-text: `image` (or `images`), `prompt` (may be missing), `gold` and `perturbed`, two texts;
    - text-to-image: `prompt`, `gold_image` and `perturbed_image`, and `instruction`, what the editing model was told.

    It may have `description` (what was changed), `by` (the perturbing model), `sample` (the name of the sample, by default
    the id; lines that name the same sample have the same image and prompt), `reference_answer`, `choices`, `category` and
    `meta` as in any data file, and what people said: `label` with `annotator`, or `labels`, a list of objects with
    `annotator` and `label`, in the order in which they decided. Images are read as in any data file.

    Args:
        path: the file.
        dimensions: the names of the dimensions that there are, by task.
        how: see `Reading`; `prompt` and `need_prompt` have no meaning here.

    Raises:
        NotFound: there is no such file.
        DataError: naming every line that cannot be used (twenty at most), or that there is no perturbation.
    """
    rows: list[Row] = []
    problems: list[Problem] = []
    for row in read_rows(path):
        problems.append(row) if isinstance(row, Problem) else rows.append(row)
    lines = [_Line(path, row, dimensions) for row in rows]
    firsts, others = _samples(lines)
    samples = {one.id: one for one in _read_samples(firsts, path, how, problems)}
    problems += others
    images = ImageSource(
        path.parent,
        blobs=how.get("blobs"),
        allow_fetch=how.get("allow_fetch", False),
        allow_outside=how.get("allow_outside", False),
        max_pixels=how.get("max_pixels", MAX_PIXELS),
    )
    found: list[GivenPerturbation] = []
    first_lines: dict[str, int] = {}
    for line in lines:
        first = first_lines.setdefault(line.id, line.row.line)
        if line.id and first != line.row.line:
            line.faults.append(f"the id {line.id!r} already stands on line {first}")
        made = line.read(samples.get(line.sample), images)
        if made is not None:
            found.append(made)
        problems += [Problem(line.row.line, line.id, f"{line.where}: {fault}") for fault in line.faults]
    refuse([one.message for one in sorted(problems, key=lambda one: one.line)])
    if not found:
        raise DataError(
            f"{path}: no perturbation in it; a line has id, task, dimension, and a gold and a perturbed answer"
        )
    return found[: how.get("limit")]


def _samples(lines: list["_Line"]) -> tuple[list[Row], list[Problem]]:
    """The first line of each sample, as a row of a data file, and the lines that say otherwise of the same sample."""
    firsts: dict[str, Row] = {}
    others: list[Problem] = []
    for line in lines:
        row = Row(line.row.line, line.sample_fields)
        first = firsts.setdefault(line.sample or f"line {row.line}", row)
        if first.fields != row.fields:
            differs = sorted(
                name for name in {*first.fields, *row.fields} if first.fields.get(name) != row.fields.get(name)
            )
            said = f"sample {line.sample!r} has another {' and '.join(differs)} than on line {first.line}"
            others.append(Problem(row.line, line.id, f"{line.where}: {said}; name it otherwise with 'sample'"))
    return list(firsts.values()), others


def _read_samples(rows: list[Row], path: Path, how: Reading, problems: list[Problem]) -> Iterator[Sample]:
    ways: Any = {name: value for name, value in how.items() if name not in ("limit", "prompt", "need_prompt")}
    for one in samples_of(rows, path, need_prompt=False, **ways):
        if isinstance(one, Sample):
            yield one
        elif one.line:
            problems.append(one)


class _Line:
    """A line of the file, with all that is wrong in what is its own; its sample is read as any other."""

    def __init__(self, path: Path, row: Row, dimensions: Mapping[Task, Collection[str]]) -> None:
        self.row = row
        self.faults: list[str] = []
        self.where = place(path, row.line)
        id = row.fields.get("id")
        self.id = str(id) if type(id) is int else id if isinstance(id, str) else ""
        self.sample = self._text("sample") or self.id
        if self.id:
            self.where = f"{self.where} (id {self.id!r})"
        task = self._text("task")
        self.task: Task | None = next((one for one in TASKS if one == task), None)
        if self.task is None:
            self.faults.append(
                f"the field 'task' is {f'{task!r}, not' if task else 'missing: it is'} {' or '.join(TASKS)}"
            )
        self.dimension = self._text("dimension")
        if self.task and self.dimension not in dimensions[self.task]:
            said = (
                f"{self.dimension!r} is no dimension of {self.task}"
                if self.dimension
                else "the field 'dimension' is missing"
            )
            self.faults.append(f"{said}; there are {', '.join(dimensions[self.task])}")
        if unknown := sorted(set(row.fields) - _KNOWN):
            self.faults.append(f"there is no field {', '.join(map(repr, unknown))}; keep other things in 'meta'")

    @property
    def sample_fields(self) -> dict[str, Any]:
        """The fields of the line's sample; that of text-to-image has the gold image as its own."""
        fields = {name: value for name, value in self.row.fields.items() if name in SAMPLE_FIELDS} | {"id": self.sample}
        return fields | {"image": self.row.fields.get("gold_image")} if self.task == "text-to-image" else fields

    def read(self, sample: Sample | None, images: ImageSource) -> GivenPerturbation | None:
        """Return the line's perturbation; None where something is wrong, which `faults` then say."""
        labels = tuple(self._labels())
        texts = {name: self._text(name) for name in ("gold", "perturbed", "description", "instruction", "by")}
        refs: dict[str, ImageRef] = {}
        if self.task == "image-to-text":
            self._need("gold", "perturbed", none=("gold_image", "perturbed_image"))
            if sample is not None and not sample.images:
                self.faults.append("the field 'image' is missing: what is judged is a text on an image")
        elif self.task == "text-to-image":
            self._need("prompt", "gold_image", "perturbed_image", none=("image", "images", "gold", "perturbed"))
            for name in ("gold_image", "perturbed_image"):
                self._image(name, images, refs)
        if texts["gold"] and texts["gold"].split() == texts["perturbed"].split():
            self.faults.append("'gold' and 'perturbed' are the same: nothing was changed")
        if refs and len({one.sha256 for one in refs.values()}) == 1 and len(refs) > 1:
            self.faults.append("'gold_image' and 'perturbed_image' are the same: nothing was changed")
        if self.faults or sample is None or self.task is None:
            return None
        try:
            item = Perturbed(
                sample=sample.digest, sample_id=sample.id, task=self.task, dimension=self.dimension, **texts, **refs
            )
        except ValidationError as error:
            self.faults.append(error.errors()[0]["msg"])
            return None
        return GivenPerturbation(self.id, sample, item, labels, self.where)

    def _image(self, name: str, images: ImageSource, refs: dict[str, ImageRef]) -> None:
        value = self.row.fields.get(name)
        if isinstance(value, str) and value.strip():
            try:
                refs[name] = images.read(value, self.where)
            except DataError as error:
                if name != "gold_image":  # the sample has said it already
                    self.faults.append(str(error).removeprefix(f"{self.where}: "))

    def _need(self, *names: str, none: tuple[str, ...]) -> None:
        self.faults += [f"the field {name!r} is missing or no text" for name in names if not self._text(name).strip()]
        wrong = [name for name in none if self.row.fields.get(name) not in (None, "", [])]
        self.faults += [f"there is a field {name!r}, which {self.task} does not have" for name in wrong]

    def _text(self, name: str) -> str:
        value = self.row.fields.get(name)
        if value is not None and not isinstance(value, str):
            fault = f"the field {name!r} is no text"
            self.faults += [] if fault in self.faults else [fault]
            return ""
        return value or ""

    def _labels(self) -> Iterator[Labelled]:
        fields = self.row.fields
        listed: Any = fields.get("labels")
        if listed is not None and (fields.get("label") is not None or fields.get("annotator") is not None):
            self.faults.append("both 'label' and 'labels' are given; keep one")
        if listed is None:
            listed = [fields] if fields.get("label") is not None else []
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            self.faults.append("the field 'labels' is not a list of objects with 'annotator' and 'label'")
            return
        seen: set[str] = set()
        for one in listed:
            who, said = one.get("annotator") or "", one.get("label")
            label = next((known for known in LABELS if known == said), None)
            if label is None:
                self.faults.append(f"{str(said)[:40]!r} is no label; there are {', '.join(LABELS)}")
            elif not isinstance(who, str):
                self.faults.append("the field 'annotator' is no text")
            elif who in seen:
                self.faults.append(f"{who or 'an annotator without a name'} has labelled it twice")
            else:
                seen.add(who)
                yield Labelled(who, label)
