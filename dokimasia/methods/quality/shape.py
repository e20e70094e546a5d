"""The figures of a rating of criteria, typed: what `--json` prints."""

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.report.fields import Bounds, Count, Coverage, Failures, Interval, Used
from dokimasia.runs.figure_models import Heading, Judge, OpenItems, Seed


class CriteriaRating(Value):
    """How good criteria are, 1 to 3; intervals clustered by image."""

    n: Count = Field(description="criteria that were drawn")
    n_rated: Count = Field(description="of these, criteria with a rating")
    coverage: Coverage
    accuracy: Interval | None = Field(description="mean rating of the ground truth, 1 to 3; null without a rating")
    accuracy_bounds: Bounds | None = Field(description="of that mean, if the failed ones were rated 1, or 3")
    necessity: Interval | None = Field(description="mean rating of the need for it, 1 to 3; null without a rating")
    necessity_bounds: Bounds | None = Field(description="of that mean, if the failed ones were rated 1, or 3")


class RatedGroup(CriteriaRating):
    """The same of one category, or one place of a tree."""

    of: Count = Field(description="criteria that the group has")


class QualityFigures(CriteriaRating, Used, Heading):
    """The figures of a rating of criteria; over all, each criterion that was drawn counts alike."""

    seed: Seed
    judge: Judge
    source: str = Field(description="the evaluation whose criteria are rated")
    own_criteria: bool = Field(description="whether the rater drew the criteria itself")
    open_items: OpenItems
    failures: Failures
    groups: dict[str, RatedGroup] = Field(description="by what they were drawn evenly over")
