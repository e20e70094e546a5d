"""Runs of a plug-in's graph over each sample or, with models, over each sample and model."""

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from dokimasia.domain.sample import Sample
from dokimasia.methods.graph.figures import GraphFigures, graph_figures, items
from dokimasia.methods.graph.request import (
    GraphPlan,
    GraphRequest,
    accept,
    graph_of,
    library_of_graph,
    resumable,
)
from dokimasia.runs.method import Method, ReportParts, RerunParts, ResultParts, lazy_value
from dokimasia.runs.verbs import verb

if TYPE_CHECKING:
    from dokimasia.runs.work import Item, Job, Stage


async def stages(job: "Job[GraphPlan]") -> "AsyncIterator[Stage[Any]]":
    """Yield the only stage: every sample goes through the graph, once per model."""
    from dokimasia.runs.work import Item

    names = job.plan.names

    def items_of(sample: Sample) -> Iterator["Item"]:
        for name in names:
            yield Item(f"graph/{sample.id}/{name}", {"model": name} if name else {}, model=name)

    yield job.graph_stage(graph_of(job.plan.graph, job.given), items_of, per_sample=len(names))


METHOD: Method[GraphRequest, GraphPlan] = Method(
    name="graph",
    title="a run of a plug-in's graph",
    request=GraphRequest,
    plan=GraphPlan,
    accept=accept,
    stages=stages,
    figures=graph_figures,
    shape=lambda: GraphFigures,
    graphs=lambda plan: {plan.graph: plan.version},
    library=library_of_graph,
    results=ResultParts(name="items", items=items),
    report=ReportParts(drawing=lazy_value("dokimasia.methods.graph.report", "DRAWING")),
    reruns=RerunParts(check=resumable),
)

run_graph = verb(METHOD, "run_graph")
"""Run a graph over a data set: `await run_graph(GraphRequest(...), given=module)`.

`given` defaults to the plug-in's graph of that name."""

__all__ = ["METHOD", "GraphRequest", "run_graph"]
