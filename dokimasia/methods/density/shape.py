"""The figures of the density filter, typed: what `--json` prints."""

from pydantic import Field

from dokimasia.domain.density import Domain, Threshold
from dokimasia.domain.identity import Value
from dokimasia.report.fields import Count, Coverage, Failures, Interval, Share, Used
from dokimasia.runs.figure_models import DataFigures, Judge


class KeptSamples(Value):
    """What was kept of rated samples, and their ratings, 1 to 10; intervals clustered by image."""

    kept: Share = Field(description="of the rated samples")
    visual_complexity: Interval | None = Field(description="mean rating, 1 to 10; null without a rated sample")
    informativeness: Interval | None = Field(description="mean rating, 1 to 10; null without a rated sample")


class DomainKept(KeptSamples):
    """The same of one domain."""

    title: str = Field(description="what the domain is called")
    given: Count = Field(description="samples whose domain the data gave")


class FilterFigures(KeptSamples, Used, DataFigures):
    """The figures of a run of the density filter."""

    judge: Judge
    thresholds: dict[Domain, Threshold] = Field(description="of the domains that have one")
    n: Count = Field(description="samples")
    n_rated: Count = Field(description="samples with a rating")
    coverage: Coverage
    failures: Failures
    domains: dict[Domain, DomainKept] = Field(description="of the domains that have a rated sample")
