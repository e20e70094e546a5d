"""The figures of the density filter, the rated samples as items, and the selected ones as a data file with images."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import Field, PlainSerializer

from dokimasia.domain.density import DOMAIN_TITLES, HIGHEST, LOWEST, Density, DensityRating, Domain, Threshold
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance
from dokimasia.errors import InputError
from dokimasia.methods.density.request import FilterPlan, FilterRequest
from dokimasia.report.fields import Count, Coverage, Display, Failures, Interval, LeftOpen, Share, Used
from dokimasia.report.figures import measured
from dokimasia.runs.figure_models import DataFigures, Judge
from dokimasia.runs.figures import calls_and_costs, heading, ordered_rows
from dokimasia.runs.measures import failure_fields, mean_with_interval, ratio, share_of_hits
from dokimasia.runs.reading.exporting import write_whole
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.reviews import ReviewedValue, made_values
from dokimasia.storage.runs import Run, run_samples, samples_by_id

Rated = tuple[ReviewedValue, DensityRating]


class KeptSamples(Value):
    """The share of rated samples that were kept, and mean ratings, 1 to 10; intervals clustered by image."""

    kept: Annotated[Share, Display("kept", "of the rated images, with the 95 % interval of the share in percent")] = (
        Field(description="of the rated samples")
    )
    visual_complexity: Annotated[
        Interval | None,
        Display("complexity", "mean rating from 1 to 10, with its 95 % interval", write=partial(measured, ends=2)),
    ] = Field(description="mean rating, 1 to 10; null without a rated sample")
    informativeness: Annotated[
        Interval | None,
        Display("informativeness", "mean rating from 1 to 10, with its 95 % interval", write=partial(measured, ends=2)),
    ] = Field(description="mean rating, 1 to 10; null without a rated sample")


class DomainKept(KeptSamples):
    """The kept samples and mean ratings of one domain."""

    title: str = Field(description="what the domain is called")
    given: Count = Field(description="samples whose domain the data gave")


class FilterFigures(KeptSamples, Used, DataFigures):
    """The figures of a run of the density filter."""

    judge: Judge
    thresholds: dict[Domain, Annotated[Threshold, PlainSerializer(Threshold.model_dump)]] = Field(
        description="of the domains that have one"
    )
    n: Count = Field(description="samples")
    n_rated: Count = Field(description="samples with a rating")
    coverage: Coverage
    failures: Failures
    left_open: LeftOpen
    domains: dict[Domain, DomainKept] = Field(description="of the domains that have a rated sample")


def filter_figures(home: Home, run: Run) -> FilterFigures:
    """Return the figures of a run of the filter; the same stored rows give the same bytes."""
    plan = run.plan_as(FilterPlan)
    rows = results(home, run.id)
    n = len(run_samples(home, run.id))
    ratings = made_values(home, run.id, DensityRating)
    by_domain: dict[Domain, list[Rated]] = {domain: [] for domain in DOMAIN_TITLES}
    for value, rating in ratings:
        by_domain[rating.domain].append((value, rating))
    domains: dict[Domain, DomainKept] = {}
    for domain, part in by_domain.items():
        if part:
            n_given = sum(rating.domain_provenance is None for _, rating in part)
            domains[domain] = DomainKept(**dict(_kept_figures(part)), title=DOMAIN_TITLES[domain], given=n_given)
    return FilterFigures(
        **heading(run, plan),
        **dict(_kept_figures(ratings, unknown=n - len(ratings))),
        thresholds=dict(sorted(plan.thresholds.items())),
        n=n,
        n_rated=len(ratings),
        open_items=n - len(rows),
        coverage=ratio(len(ratings), n),
        **failure_fields(row.failure for row in rows),
        domains=domains,
        **calls_and_costs(home, rows),
    )


def _kept_figures(rated: Sequence[Rated], *, unknown: int = 0) -> KeptSamples:
    clusters = [value.cluster for value, _ in rated]
    densities = [rating.density for _, rating in rated]
    ends = (LOWEST, HIGHEST)
    return KeptSamples(
        kept=share_of_hits([rating.kept for _, rating in rated], clusters, unknown=unknown),
        visual_complexity=mean_with_interval(
            [density.visual_complexity for density in densities], clusters, seed=0, bounds=ends
        ),
        informativeness=mean_with_interval(
            [density.informativeness for density in densities], clusters, seed=0, bounds=ends
        ),
    )


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
    """Write the selected samples to the file of `--output`, if requested, and yield a message for the user."""
    if request.output is not None:
        yield f"{write_kept(home, run, request.output)} samples written to {request.output}"


def write_kept(home: Home, run: Run, output: Path) -> int:
    """Write the selected samples as a data file, each with its domain and ratings, and return their number.

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
