"""Edited images that somebody brings: JSON lines that name a sample of a data set, a dimension, and the image made of it."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from dokimasia.datasets.annotations import refuse
from dokimasia.datasets.lines import Problem, Row, place, read_rows
from dokimasia.datasets.sources import ImageSource
from dokimasia.domain.blindspots import Perturbed
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError

FIELDS = ("id", "dimension", "image", "instruction", "description")
_NEEDED = FIELDS[:3]


class Brought(NamedTuple):
    """An item that a file brings, and where it stands there."""

    item: Perturbed
    place: str


def read_edited(
    path: Path, samples: Mapping[str, Sample], dimensions: Collection[str], images: ImageSource
) -> list[Brought]:
    """Return the items of a file of JSON lines, in order, each a sample's image and the same as it was edited.

    A line has `id` (the sample's), `dimension` and `image`, and may have `instruction` (what the editor was told) and
    `description` (what was changed).

    Args:
        path: the file.
        samples: those of the data set by name, each with one image.
        dimensions: the names that there are.
        images: reads the images that the lines name.

    Raises:
        NotFound: there is no such file.
        DataError: naming every line that cannot be used (twenty at most), or that there is none.
    """
    found: dict[tuple[str, str], Brought] = {}
    problems: list[str] = []
    for row in read_rows(path):
        if isinstance(row, Problem):
            problems.append(row.message)
            continue
        where = place(path, row.line)
        faults = _faults(row, samples, dimensions)
        key = (str(row.fields.get("id")), str(row.fields.get("dimension")))
        if not faults and key in found:
            faults = [f"sample {key[0]!r} has an image for {key[1]} already ({found[key].place})"]
        if not faults:
            try:
                found[key] = Brought(_item(row, samples[key[0]], images, where), where)
            except DataError as error:
                faults = [str(error).removeprefix(f"{where}: ")]
        problems += [f"{where}: {fault}" for fault in faults]
    refuse(problems)
    if not found:
        raise DataError(f"{path}: no edited image in it; a line has {', '.join(_NEEDED)}")
    return list(found.values())


def _faults(row: Row, samples: Mapping[str, Sample], dimensions: Collection[str]) -> list[str]:
    fields = row.fields
    faults = [f"the field {name!r} is no text" for name in FIELDS if not isinstance(fields.get(name, ""), str)]
    faults += [f"the field {name!r} is missing" for name in _NEEDED if not fields.get(name)]
    faults += [f"there is no field {name!r}; there are {', '.join(FIELDS)}" for name in fields if name not in FIELDS]
    if not faults and fields["id"] not in samples:
        faults.append(f"the data have no sample {fields['id']!r}")
    if not faults and fields["dimension"] not in dimensions:
        faults.append(f"{fields['dimension']!r} is no dimension that is asked for: {', '.join(dimensions)}")
    return faults


def _item(row: Row, sample: Sample, images: ImageSource, where: str) -> Perturbed:
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
    )
