"""The figures of the density filter: models, and computation from stored ratings."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from pydantic import Field, PlainSerializer

from dokimasia.domain.density import DOMAIN_TITLES, HIGHEST, LOWEST, DensityRating, Domain, Threshold
from dokimasia.domain.identity import Value
from dokimasia.methods.density.request import FilterPlan
from dokimasia.report.fields import Count, Coverage, Display, Failures, Interval, LeftOpen, Share, Used
from dokimasia.report.figures import measured
from dokimasia.runs.figure_models import DataFigures, Judge
from dokimasia.runs.figures import calls_and_costs, heading
from dokimasia.runs.measures import failure_fields, mean_with_interval, ratio, share_of_hits
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.reviews import ReviewedValue, made_values
from dokimasia.storage.runs import Run, run_samples

Rated = tuple[ReviewedValue, DensityRating]


class KeptSamples(Value):
    """What was kept of rated samples, and their ratings, 1 to 10; intervals clustered by image."""

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
    """The same of one domain."""

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
    rated = made_values(home, run.id, DensityRating)
    by_domain: dict[Domain, list[Rated]] = {domain: [] for domain in DOMAIN_TITLES}
    for value, rating in rated:
        by_domain[rating.domain].append((value, rating))
    domains: dict[Domain, DomainKept] = {}
    for domain, part in by_domain.items():
        if part:
            n_given = sum(rating.domain_provenance is None for _, rating in part)
            domains[domain] = DomainKept(**dict(_kept(part)), title=DOMAIN_TITLES[domain], given=n_given)
    return FilterFigures(
        **heading(run, plan),
        **dict(_kept(rated, unknown=n - len(rated))),
        thresholds=dict(sorted(plan.thresholds.items())),
        n=n,
        n_rated=len(rated),
        open_items=n - len(rows),
        coverage=ratio(len(rated), n),
        **failure_fields(row.failure for row in rows),
        domains=domains,
        **calls_and_costs(home, rows),
    )


def _kept(rated: Sequence[Rated], *, unknown: int = 0) -> KeptSamples:
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
