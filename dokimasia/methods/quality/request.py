"""What a rating of criteria is asked, and what decides its results."""

from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import GraphOptions
from dokimasia.methods.people import By
from dokimasia.runs.plans import RunPlan
from dokimasia.runs.requests import MOST_SAMPLES, Option, RunRequest


class QualityRequest(RunRequest):
    """Have a second judge rate criteria of RUN (the beginning of its id, or `last`) by accuracy and necessity, 1 to 3 each.

    So many criteria of each category are drawn; `dokimasia annotate draw RUN --criteria` hands the same ones out to people.
    The same command continues an interrupted run, or prints what it came to.
    """

    VERB: ClassVar[str] = "criteria quality"

    run: Annotated[str, Option(argument=True, continues="evaluate")]
    judge: Annotated[str, Option(flags=("--rater",), models=True)] = Field(
        description="Who rates: another model than the one that drew the criteria."
    )
    per: int = Field(default=20, ge=1, le=MOST_SAMPLES, description="Draw so many criteria of each category.")
    by: By = Field(default="category", description="Draw evenly over the data's categories, or a tree's.")
    tree: str | None = Field(default=None, description="--by: which tree (default: the newest that fits).")


class QualityPlan(RunPlan):
    """A rating of criteria by its content: `source` is the evaluation, `drawn` the id of what was drawn of its criteria."""

    source: str
    drawn: str
    judge: ModelSpec

    @property
    def judge_name(self) -> str:
        """The rater's shown name."""
        return self.judge.ref.name

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        return GraphOptions(judge=self.judge_name, models=self.models)
