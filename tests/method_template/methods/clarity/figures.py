"""The figures of a rating of questions: their model, and how they are computed from the stored ratings."""

from functools import partial
from typing import Annotated

from pydantic import Field

from dokimasia.agents.clarity import HIGHEST, LOWEST
from dokimasia.methods.clarity.request import ClarityPlan
from dokimasia.report.fields import Count, Coverage, Display, Failures, Interval, Used
from dokimasia.report.figures import measured
from dokimasia.runs.figure_models import JudgedFigures
from dokimasia.runs.figures import calls_and_costs, heading
from dokimasia.runs.measures import failures_by_kind, mean_with_interval, rounded
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, run_samples


class ClarityFigures(Used, JudgedFigures):
    """How clearly questions are put."""

    n: Count = Field(description="questions")
    n_rated: Count = Field(description="questions with a rating")
    coverage: Coverage
    clarity: Annotated[
        Interval | None,
        Display("clarity", "mean rating from 1 to 5, with its 95 % interval", write=partial(measured, ends=2)),
    ] = Field(description="mean rating, 1 to 5; null without a rated question")
    failures: Failures


def clarity_figures(home: Home, run: Run) -> ClarityFigures:
    """Return the figures of a run; the same stored rows give the same bytes."""
    plan = ClarityPlan.model_validate(run.options["plan"])
    rows = results(home, run.id)
    clusters = {sample.sample_id: sample.cluster for sample in run_samples(home, run.id)}
    rated = [row for row in rows if row.score is not None]
    scores = [row.score for row in rows if row.score is not None]
    return ClarityFigures(
        **heading(run, plan),
        n=len(clusters),
        n_rated=len(rated),
        open_items=len(clusters) - len(rows),
        coverage=rounded(len(rated) / len(clusters)) if clusters else None,
        clarity=mean_with_interval(
            scores, [clusters[row.sample_id] for row in rated], seed=run.seed, bounds=(LOWEST, HIGHEST)
        ),
        failures=failures_by_kind(row.failure for row in rows),
        **calls_and_costs(home, rows),
    )
