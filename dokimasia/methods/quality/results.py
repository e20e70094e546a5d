"""What a rating of criteria came to: its figures for JSON, its rows for an export, and the rater's word for comparisons."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.domain.annotation import ACCURACY, NECESSITY, AnnotationUnit
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.quality import HIGHEST, LOWEST, CriterionRating, DrawnCriteria, DrawnCriterion
from dokimasia.methods.evaluation import EvaluationPlan
from dokimasia.methods.quality.request import QualityPlan
from dokimasia.runs.figures import failures, paid, rows_shown, simulated
from dokimasia.runs.method import ColumnType
from dokimasia.runs.reading.rates import bounds, mean_interval, rounded
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, get_run, run_samples

MEASURES = (ACCURACY, NECESSITY)

OWN_CRITERIA = (
    "{judge} rates criteria that it drew itself, and a model is no judge of its own work: name another --rater"
)

COLUMNS: dict[str, ColumnType] = {
    "criterion": "integer",
    "group": "text",
    "question": "text",
    "ground_truth": "text",
    "accuracy": "integer",
    "necessity": "integer",
    "judge": "text",
}
"""What an export says of a rated criterion: its number in its set, the group that it was drawn in, and both ratings."""


def drawn_of(home: Home, plan: QualityPlan) -> DrawnCriteria:
    """Return the criteria that a run rates."""
    return find_values(home, DrawnCriteria, [plan.drawn])[plan.drawn]


def drawn_by(source: Run) -> str | None:
    """Return the model that drew the criteria of an evaluation; None where they came from a file."""
    plan = EvaluationPlan.model_validate(source.options["plan"])
    return None if plan.criteria is not None else plan.judge_of("criteria").ref.model


def item_of(one: DrawnCriterion) -> str:
    """Return the name of a criterion's item."""
    return f"quality/{one.sample}/{one.number}"


def ratings_of(home: Home, rows: Sequence[ResultRow]) -> dict[str, CriterionRating]:
    """Return the ratings that rows rest on, by the rows' items."""
    made = {row.item: row.value_ids[0] for row in rows if row.outcome == "made"}
    values = find_values(home, CriterionRating, made.values())
    return {item: values[id] for item, id in made.items()}


def quality_figures(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a run, ready for JSON; the same stored rows give the same bytes."""
    plan = QualityPlan.model_validate(run.options["plan"])
    rows, drawn = results(home, run.id), drawn_of(home, plan)
    ratings = ratings_of(home, rows)
    clusters = {place.sample_id: place.cluster for place in run_samples(home, run.id)}
    return {
        "run": run.id,
        "status": run.status,
        "seed": run.seed,
        "simulated": simulated(plan.models.values()),
        "judge": plan.judge_name,
        "source": plan.source,
        "own_criteria": plan.judge.ref.model == drawn_by(get_run(home, plan.source)),
        "open_items": len(drawn.criteria) - len(rows),
        "failures": failures(rows),
        **_measured(drawn.criteria, ratings, clusters),
        "groups": {
            group: {
                "of": count,
                **_measured([one for one in drawn.criteria if one.group == group], ratings, clusters),
            }
            for group, count in sorted(drawn.of.items())
        },
        **paid(home, rows),
    }


def _measured(
    drawn: Sequence[DrawnCriterion], ratings: Mapping[str, CriterionRating], clusters: Mapping[str, str]
) -> dict[str, Any]:
    rated = [(one, ratings[item_of(one)].quality) for one in drawn if item_of(one) in ratings]
    where = [clusters[one.sample] for one, _ in rated]
    unknown, found = len(drawn) - len(rated), dict[str, Any]()
    for name in MEASURES:
        values = [getattr(quality, name) for _, quality in rated]
        found[name] = mean_interval(values, where, seed=0, bounds=(LOWEST, HIGHEST))
        total = sum(values)
        found[f"{name}_bounds"] = bounds(total + LOWEST * unknown, total + HIGHEST * unknown, len(drawn))
    coverage = rounded(len(rated) / len(drawn)) if drawn else None
    return {"n": len(drawn), "n_rated": len(rated), "coverage": coverage, **found}


def judged(home: Home, run: Run) -> dict[str, dict[AnnotationUnit, float]]:
    """Return what the rater said of each criterion, as people are asked."""
    ratings = ratings_of(home, results(home, run.id))
    names = {item_of(one): one for one in drawn_of(home, QualityPlan.model_validate(run.options["plan"])).criteria}
    return {
        "": {
            AnnotationUnit(names[item].sample, name, criterion=one.number): float(getattr(one.quality, name))
            for item, one in ratings.items()
            for name in MEASURES
        }
    }


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each criterion with its ratings or its failure, ready for JSON; with `sample`, only those of that one."""
    rows = rows_shown(home, run, sample)
    for row, told in zip(rows, _told(home, run, rows), strict=True):
        yield {
            "sample": row.sample_id,
            **told,
            "failure": row.failure,
            "reason": row.reason,
            "calls": list(row.calls),
        }


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return what an export says of each row beside what it says of every row."""
    plan = QualityPlan.model_validate(run.options["plan"])
    return [told | {"judge": plan.judge_name} for told in _told(home, run, rows)]


def _told(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    drawn = {item_of(one): one for one in drawn_of(home, QualityPlan.model_validate(run.options["plan"])).criteria}
    sets = find_values(home, CriteriaSet, {one.criteria for one in drawn.values()})
    ratings = ratings_of(home, rows)
    found: list[dict[str, Any]] = []
    for row in rows:
        one, rated = drawn[row.item], ratings.get(row.item)
        criterion = sets[one.criteria].criteria[one.number - 1]
        found.append(
            {
                "criterion": one.number,
                "group": one.group,
                "question": criterion.question,
                "ground_truth": criterion.ground_truth,
                **{name: None if rated is None else getattr(rated.quality, name) for name in MEASURES},
            }
        )
    return found
