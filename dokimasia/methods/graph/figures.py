"""The figures of a run of a plug-in's graph: counts by model, and the items with their values."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind
from dokimasia.methods.graph.request import GraphPlan
from dokimasia.report.fields import Count, Display, Failures, Used, as_json
from dokimasia.runs.figure_models import DataFigures, Judge
from dokimasia.runs.figures import calls_and_costs, failure_counts, heading, ordered_rows
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_value
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, run_samples


class GraphModel(Value):
    """The items of one model."""

    n: Annotated[Count, Display("items")] = Field(description="items with a result")
    made: Annotated[Count, Display("made")] = Field(description="items that made something without a score")
    scored: Annotated[Count, Display("scored")]
    failures: Annotated[Failures, Display("failed", numeric=False)]


class GraphFigures(Used, DataFigures):
    """The figures of a run of a plug-in's graph; scores are listed with the items, since the graph defines their meaning."""

    graph: str = Field(description="the graph's name")
    version: int = Field(description="the graph's version")
    samples: Count = Field(description="samples of the run")
    judge: Judge
    models: dict[str, GraphModel] = Field(
        description="by name, which is empty where a sample is walked once, whatever the models"
    )


class MadeValue(Value):
    """A value that an item made; the graph defines its fields."""

    type: str
    value: dict[str, JsonValue]


class GraphItem(Value):
    """A finished item with its outcome and the values that it made."""

    sample: str
    model: str
    outcome: str
    failure: FailureKind | None
    reason: str | None
    score: float | None
    values: tuple[MadeValue, ...]
    calls: tuple[str, ...]


def graph_figures(home: Home, run: Run) -> GraphFigures:
    """Return the figures of a run of a graph; the same stored rows give the same bytes.

    Only the graph defines what a score means, so scores are listed with the items and not averaged.
    """
    plan = run.plan_as(GraphPlan)
    rows = results(home, run.id)
    samples = len(run_samples(home, run.id))
    return GraphFigures(
        **heading(run, plan),
        graph=plan.graph,
        version=plan.version,
        samples=samples,
        open_items=samples * len(plan.names) - len(rows),
        models={name: _model([row for row in rows if row.model == name]) for name in plan.names},
        **calls_and_costs(home, rows),
    )


def _model(rows: Sequence[ResultRow]) -> GraphModel:
    outcomes = Counter(row.outcome for row in rows)
    return GraphModel.model_validate(
        {"n": len(rows), "made": outcomes["made"], "scored": outcomes["scored"], "failures": failure_counts(rows)}
    )


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, object]]:
    """Yield each finished item (`GraphItem`) as plain JSON; with `sample`, only those of the sample."""
    for row in ordered_rows(home, run, sample):
        item = GraphItem(
            sample=row.sample_id,
            model=row.model,
            outcome=row.outcome,
            failure=row.failure,
            reason=row.reason,
            score=row.score,
            values=tuple(MadeValue.model_validate(find_value(home, id)) for id in row.value_ids),
            calls=row.calls,
        )
        yield as_json(item)
