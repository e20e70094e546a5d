"""The rated samples as items, and the kept ones as a data file with images."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from dokimasia.domain.density import Density, DensityRating, Domain, Threshold
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance
from dokimasia.errors import InputError
from dokimasia.methods.density.request import FilterRequest
from dokimasia.runs.figures import ordered_rows
from dokimasia.runs.reading.exporting import write_whole
from dokimasia.storage.home import Home
from dokimasia.storage.reviews import made_values
from dokimasia.storage.runs import Run, samples_by_id


class ImageRating(Value):
    """A sample's domain, ratings and verdict, as in `DensityRating`."""

    domain: Domain
    density: Density
    threshold: Threshold
    kept: bool
    provenance: Provenance
    domain_provenance: Provenance | None


class FilterItem(Value):
    """A sample with its rating, or its failure."""

    sample: str
    failure: str | None
    reason: str | None
    rating: ImageRating | None
    calls: tuple[str, ...]


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, object]]:
    """Yield each `FilterItem`, ready for JSON; with `sample`, only that one."""
    ratings = {value.sample_id: rating for value, rating in made_values(home, run.id, DensityRating)}
    for row in ordered_rows(home, run, sample):
        rating = ratings.get(row.sample_id)
        item = FilterItem(
            sample=row.sample_id,
            failure=row.failure,
            reason=row.reason,
            rating=None if rating is None else ImageRating(**rating.model_dump(exclude={"sample"})),
            calls=row.calls,
        )
        yield item.model_dump(mode="json")


def after(home: Home, run: Run, request: FilterRequest) -> Iterable[str]:
    """Write the kept samples to the file of `--output`, if requested, and yield a message for the user."""
    if request.output is not None:
        yield f"{write_kept(home, run, request.output)} samples written to {request.output}"


def write_kept(home: Home, run: Run, output: Path) -> int:
    """Write the kept samples as a data file, each with its domain and ratings, and return their number.

    Images are copied into the folder `images` next to the file, named by content, so that both can be moved.

    Raises:
        InputError: the file is the data file of the run, or cannot be written.
    """
    data_file = Path(str(run.request["data"]))
    if output.absolute() == data_file:
        raise InputError(f"{output} is the data file that was filtered; name another file")
    samples = samples_by_id(home, run.id)
    lines: list[bytes] = []
    for value, rating in made_values(home, run.id, DensityRating):
        if not rating.kept:
            continue
        sample = samples[value.sample_id]
        images = [_copy(home, output, image.sha256, image.media_type) for image in sample.images]
        meta = {**sample.meta, "domain": rating.domain, "density": rating.density.model_dump(mode="json")}
        fields: dict[str, object] = {
            "id": sample.id,
            "images": images,
            "category": sample.category,
            "meta": meta,
            "prompt": sample.prompt or None,
            "reference_answer": sample.reference_answer,
            "reference_answers": list(sample.reference_answers) or None,
            "choices": list(sample.choices) or None,
        }
        lines.append(orjson.dumps({name: value for name, value in fields.items() if value is not None}))
    write_whole(output, b"".join(line + b"\n" for line in lines))
    return len(lines)


def _copy(home: Home, output: Path, sha256: str, media_type: str) -> str:
    name = f"images/{sha256}.{media_type.removeprefix('image/').replace('jpeg', 'jpg')}"
    target = output.parent / name
    if not target.exists():
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{target.parent} cannot be made: {error.strerror}") from error
        write_whole(target, home.blobs.get(sha256))
    return name
