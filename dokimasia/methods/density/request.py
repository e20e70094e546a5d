"""What the density filter is asked, and what decides its results."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.density import FilterOptions
from dokimasia.domain.options import GraphOptions
from dokimasia.methods.density.thresholds import Thresholds, read_thresholds
from dokimasia.runs.plans import JudgedPlan
from dokimasia.runs.requests import SHARED_HELP, DataRequest, Judge, Option


class FilterRequest(DataRequest):
    """Rate every image of DATA by visual complexity and informativeness, and keep those that reach the thresholds.

    The domain is the data's own (`domain`, or a category of that name), else the judge says it. A line of DATA needs only
    `id` and `image`. The same command continues an interrupted run, or prints what came of it.
    """

    VERB: ClassVar[str] = "filter"

    judge: Judge = Field(description=SHARED_HELP["judge"])
    thresholds: Annotated[Thresholds, Option(repeated=True, metavar="DOMAIN=X,Y|FILE", read=read_thresholds)] = Field(
        default_factory=dict,
        description="Keep a domain's images from complexity X and informativeness Y on (1 to 10); all=X,Y for the rest.",
    )
    output: Annotated[Path | None, Option(flags=("-o", "--output"), metavar="FILE")] = Field(
        default=None, description="Write what is kept as a data file."
    )


class FilterPlan(JudgedPlan):
    """A run of the filter by its content."""

    thresholds: Thresholds = Field(default_factory=dict)

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        return FilterOptions(judge=self.judge.ref.name, models=self.models, thresholds=self.thresholds)
