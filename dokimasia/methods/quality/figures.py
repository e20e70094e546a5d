"""The figures of a rating of criteria: models, computation, items, export, and ratings for comparison with people."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated

from pydantic import Field

from dokimasia.agents.quality import HIGHEST, LOWEST, CriterionRating, DrawnCriterion
from dokimasia.domain.annotation import ACCURACY, NECESSITY, AnnotationUnit
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.identity import Value
from dokimasia.methods.quality.request import QualityPlan, drawn_by, drawn_of, item_of
from dokimasia.report.fields import Bounds, Count, Coverage, Display, Failures, Interval, LeftOpen, Used
from dokimasia.report.figures import measured
from dokimasia.runs.figure_models import Heading, Judge, OpenItems, Seed
from dokimasia.runs.figures import calls_and_costs, ordered_rows, run_heading
from dokimasia.runs.measures import bounds_with_unknown, failure_fields, mean_with_interval, ratio
from dokimasia.runs.reading.exporting import ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, clusters_by_sample, get_run

SCALE = (LOWEST, HIGHEST)


class CriteriaRating(Value):
    """Mean ratings of criteria, 1 to 3; intervals clustered by image."""

    n: Count = Field(description="criteria that were drawn")
    n_rated: Count = Field(description="of these, criteria with a rating")
    coverage: Coverage
    accuracy: Annotated[
        Interval | None,
        Display(
            "accuracy",
            "mean rating of the ground truth from 1 to 3, with its 95 % interval",
            write=partial(measured, ends=2),
        ),
    ] = Field(description="mean rating of the ground truth, 1 to 3; null without a rating")
    accuracy_bounds: Bounds | None = Field(description="of that mean, if the failed ones were rated 1, or 3")
    necessity: Annotated[
        Interval | None,
        Display(
            "necessity",
            "mean rating of the need for it from 1 to 3, with its 95 % interval",
            write=partial(measured, ends=2),
        ),
    ] = Field(description="mean rating of the need for it, 1 to 3; null without a rating")
    necessity_bounds: Bounds | None = Field(description="of that mean, if the failed ones were rated 1, or 3")


class RatedGroup(CriteriaRating):
    """Mean ratings of one category, or of one place in a tree."""

    of: Count = Field(description="criteria that the group has")


class QualityFigures(CriteriaRating, Used, Heading):
    """The figures of a rating of criteria; overall, every drawn criterion counts alike."""

    seed: Seed
    judge: Judge
    source: str = Field(description="the evaluation whose criteria are rated")
    own_criteria: bool = Field(description="whether the rater drew the criteria itself")
    open_items: OpenItems
    failures: Failures
    left_open: LeftOpen
    groups: dict[str, RatedGroup] = Field(description="by what they were drawn evenly over")


def ratings_of(home: Home, rows: Sequence[ResultRow]) -> dict[str, CriterionRating]:
    """Return the ratings of rows, by item."""
    ids = {row.item: row.value_ids[0] for row in rows if row.outcome == "made"}
    values = find_values(home, CriterionRating, ids.values())
    return {item: values[id] for item, id in ids.items()}


def quality_figures(home: Home, run: Run) -> QualityFigures:
    """Return the figures of a run; the same stored rows give the same bytes."""
    plan = run.plan_as(QualityPlan)
    rows, draw = results(home, run.id), drawn_of(home, plan)
    ratings = ratings_of(home, rows)
    clusters = clusters_by_sample(home, run.id)
    groups: dict[str, RatedGroup] = {}
    for group, count in sorted(draw.of.items()):
        criteria = [criterion for criterion in draw.criteria if criterion.group == group]
        groups[group] = RatedGroup(of=count, **dict(_rating(criteria, ratings, clusters)))
    return QualityFigures(
        **run_heading(run, plan),
        judge=plan.judge_name,
        source=plan.source,
        own_criteria=plan.judge.ref.model == drawn_by(get_run(home, plan.source)),
        open_items=len(draw.criteria) - len(rows),
        **failure_fields(row.failure for row in rows),
        **dict(_rating(draw.criteria, ratings, clusters)),
        groups=groups,
        **calls_and_costs(home, rows),
    )


def _rating(
    criteria: Sequence[DrawnCriterion], ratings: Mapping[str, CriterionRating], clusters: Mapping[str, str]
) -> CriteriaRating:
    accuracy: list[float] = []
    necessity: list[float] = []
    rated_clusters: list[str] = []
    for criterion in criteria:
        rating = ratings.get(item_of(criterion))
        if rating is not None:
            accuracy.append(rating.quality.accuracy)
            necessity.append(rating.quality.necessity)
            rated_clusters.append(clusters[criterion.sample])
    unknown = len(criteria) - len(accuracy)
    return CriteriaRating(
        n=len(criteria),
        n_rated=len(accuracy),
        coverage=ratio(len(accuracy), len(criteria)),
        accuracy=mean_with_interval(accuracy, rated_clusters, seed=0, bounds=SCALE),
        accuracy_bounds=bounds_with_unknown(accuracy, unknown, SCALE),
        necessity=mean_with_interval(necessity, rated_clusters, seed=0, bounds=SCALE),
        necessity_bounds=bounds_with_unknown(necessity, unknown, SCALE),
    )


def judged(home: Home, run: Run) -> dict[str, dict[AnnotationUnit, float]]:
    """Return the rating of each criterion, by the unit that people rate."""
    criteria = _criteria_by_item(home, run)
    values: dict[AnnotationUnit, float] = {}
    for item, rating in ratings_of(home, results(home, run.id)).items():
        criterion = criteria[item]
        for name, value in ((ACCURACY, rating.quality.accuracy), (NECESSITY, rating.quality.necessity)):
            values[AnnotationUnit(criterion.sample, name, criterion=criterion.number)] = float(value)
    return {"": values}


COLUMNS: dict[str, ColumnType] = {
    "criterion": "integer",
    "group": "text",
    "question": "text",
    "ground_truth": "text",
    "accuracy": "integer",
    "necessity": "integer",
    "judge": "text",
}
"""Columns of an export for a rated criterion: its number in its set, the group that it was drawn in, and both ratings."""


class QualityItem(Value):
    """A drawn criterion with its ratings, or its failure."""

    sample: str
    criterion: int
    group: str
    question: str
    ground_truth: str
    accuracy: int | None
    necessity: int | None
    failure: str | None
    reason: str | None
    calls: tuple[str, ...]


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, object]]:
    """Yield each `QualityItem`, ready for JSON; with `sample`, only those of that sample."""
    for item in _rated_items(home, run, ordered_rows(home, run, sample)):
        yield item.model_dump(mode="json")


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> Sequence[Mapping[str, object]]:
    """Return the values of an export's columns for each row."""
    plan = run.plan_as(QualityPlan)
    rated_items = _rated_items(home, run, rows)
    return [item.model_dump(mode="json", include=set(COLUMNS)) | {"judge": plan.judge_name} for item in rated_items]


def _criteria_by_item(home: Home, run: Run) -> dict[str, DrawnCriterion]:
    draw = drawn_of(home, run.plan_as(QualityPlan))
    return {item_of(criterion): criterion for criterion in draw.criteria}


def _rated_items(home: Home, run: Run, rows: Sequence[ResultRow]) -> Iterator[QualityItem]:
    criteria = _criteria_by_item(home, run)
    sets = find_values(home, CriteriaSet, {criterion.criteria for criterion in criteria.values()})
    ratings = ratings_of(home, rows)
    for row in rows:
        drawn_criterion, rating = criteria[row.item], ratings.get(row.item)
        criterion = sets[drawn_criterion.criteria].criteria[drawn_criterion.number - 1]
        yield QualityItem(
            sample=row.sample_id,
            criterion=drawn_criterion.number,
            group=drawn_criterion.group,
            question=criterion.question,
            ground_truth=criterion.ground_truth,
            accuracy=None if rating is None else rating.quality.accuracy,
            necessity=None if rating is None else rating.quality.necessity,
            failure=row.failure,
            reason=row.reason,
            calls=row.calls,
        )
