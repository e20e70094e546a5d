"""Export of a run's perturbations, a line each with image files, in the format of `datasets.perturbations`."""

from collections.abc import Mapping

import orjson

from dokimasia.domain.blindspots import Perturbed
from dokimasia.domain.decision import Standing
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.people.checks import checked_texts, labels_of
from dokimasia.runs.reading.exporting import image_files
from dokimasia.storage.home import Home
from dokimasia.storage.reviews import made_values
from dokimasia.storage.runs import Run, samples_by_id

LINES = "items.jsonl"


def perturbation_files(home: Home, run: Run) -> Mapping[str, bytes]:
    """Return the files by path: `items.jsonl` and `images/`; the same run and the same labels give the same bytes.

    A line has the content id of its perturbation as `id`, the fields of its sample, and the labels of all people in the
    order of their first decisions.
    """
    standings = checked_texts(home, run.id)
    samples = samples_by_id(home, run.id)
    refs: list[ImageRef] = []
    lines: list[bytes] = []
    for source, item in made_values(home, run.id, Perturbed):
        sample = samples[source.sample_id]
        images = [image for image in (*sample.images, item.gold_image, item.perturbed_image) if image is not None]
        refs += images
        row = _row(source.id, item, sample, standings.get(source.id))
        lines.append(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    return {LINES: b"".join(lines), **image_files(home, refs)}


def _row(id: str, item: Perturbed, sample: Sample, standing: Standing | None) -> dict[str, object]:
    images = [ref.file for ref in sample.images]
    row: dict[str, object] = {
        "id": id,
        "task": item.task,
        "sample": sample.id,
        "prompt": sample.prompt,
        "image": images[0] if len(images) == 1 and item.gold_image is None else None,
        "images": images if len(images) > 1 and item.gold_image is None else None,
        "gold": item.gold,
        "perturbed": item.perturbed,
        "gold_image": None if item.gold_image is None else item.gold_image.file,
        "perturbed_image": None if item.perturbed_image is None else item.perturbed_image.file,
        "dimension": item.dimension,
        "description": item.description,
        "rationale": item.rationale,
        "instruction": item.instruction,
        "by": item.by,
        "reference_answer": sample.reference_answer,
        "reference_answers": list(sample.reference_answers),
        "choices": list(sample.choices),
        "category": sample.category,
        "meta": sample.meta,
        "labels": _labels(standing),
    }
    return {name: value for name, value in row.items() if value not in (None, "", [], {})}


def _labels(standing: Standing | None) -> list[dict[str, str]]:
    labels = {} if standing is None else labels_of(standing)
    return [{"annotator": who, "label": label} for who, label in labels.items()]
