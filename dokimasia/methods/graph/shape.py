"""The figures of a run of a plug-in's graph, typed: what `--json` prints."""

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.report.fields import Count, Failures, Used
from dokimasia.runs.figure_models import DataFigures, Judge


class Walked(Value):
    """The items of one model."""

    n: Count = Field(description="items with a result")
    made: Count = Field(description="items that made something without a score")
    scored: Count
    failures: Failures


class GraphFigures(Used, DataFigures):
    """The figures of a run of a plug-in's graph; scores are listed with the items, since their meaning is the graph's."""

    graph: str = Field(description="the graph's name")
    version: int = Field(description="the graph's version")
    samples: Count = Field(description="samples of the run")
    judge: Judge
    models: dict[str, Walked] = Field(
        description="by name, which is empty where a sample is walked once, whatever the models"
    )
