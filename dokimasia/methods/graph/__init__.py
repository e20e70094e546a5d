"""Runs of a graph that a plug-in brings: each sample, and with models each sample for each, is walked through it."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError
from dokimasia.methods.graph.request import GraphPlan, GraphRequest, graph_of, library_of_graph
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.figures import failures, heading, paid, rows_shown
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import Method, later
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_value
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, run_samples

if TYPE_CHECKING:
    from dokimasia.runs.work import Item, Job, Stage


async def accept(request: GraphRequest, session: Session) -> Accepted[GraphPlan]:
    """Read the data, and find graph and models."""
    graph = graph_of(request.graph, session.given)
    needed = bool(getattr(graph, "NEEDS_PROMPT", True))
    found = await asyncio.to_thread(session.entries, request, need_prompt=needed)
    plan = GraphPlan(
        graph=graph.NAME,
        version=graph.VERSION,
        data=found.hash,
        limit=request.limit,
        seed=request.seed,
        judge=session.model(request.judge),
        walked=session.models(request.models, "--models"),
        prompts=dict(session.library.identity()),
    )
    count = len(found.known)
    return found.accepted(plan, Estimate(samples=count, items=count * len(_names(plan)), models={}))


def resumable(session: Session, run: Run, plan: GraphPlan, request: GraphRequest) -> None:
    """Check that the graph is still of the version that the run was accepted with.

    Raises:
        ConfigError: it is not.
    """
    graph = graph_of(plan.graph, session.given)
    if plan.version != graph.VERSION:
        raise ConfigError(
            f"run {run.id} was accepted with version {plan.version} of the graph {plan.graph!r}, which is at version "
            f"{graph.VERSION} now: run it anew; the ledger answers what did not change"
        )


async def stages(job: "Job[GraphPlan]") -> "AsyncIterator[Stage[Any]]":
    """Yield the one stage: every sample is walked through the graph, once for every model."""
    from dokimasia.runs.work import Item

    names = _names(job.plan)

    def items(sample: Sample) -> Iterator["Item"]:
        for name in names:
            yield Item(f"graph/{sample.id}/{name}", {"model": name} if name else {}, model=name)

    yield job.each(graph_of(job.plan.graph, job.given), items, per_sample=len(names))


def figures(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a run of a graph, ready for JSON; the same stored rows give the same bytes.

    What a score means is the graph's affair, so scores are listed with the items and not averaged here.
    """
    plan, _ = METHOD.read(run)
    rows = results(home, run.id)
    samples, named = len(run_samples(home, run.id)), _names(plan)
    return {
        **heading(run, plan),
        "graph": plan.graph,
        "version": plan.version,
        "samples": samples,
        "open_items": samples * len(named) - len(rows),
        "models": {name: _counts([row for row in rows if row.model == name]) for name in named},
        **paid(home, rows),
    }


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each finished item with its outcome and the values that it made, ready for JSON; with `sample`, only its."""
    for row in rows_shown(home, run, sample):
        yield {
            "sample": row.sample_id,
            **row.model_dump(include={"model", "outcome", "failure", "reason", "score"}),
            "values": [find_value(home, id) for id in row.value_ids],
            "calls": list(row.calls),
        }


def _names(plan: GraphPlan) -> list[str]:
    return [spec.ref.name for spec in plan.walked] or [""]


def _counts(rows: Sequence[ResultRow]) -> dict[str, Any]:
    outcomes = Counter(row.outcome for row in rows)
    return {"n": len(rows), "made": outcomes["made"], "scored": outcomes["scored"], "failures": failures(rows)}


METHOD: Method[GraphRequest, GraphPlan] = Method(
    name="graph",
    title="a run of a plug-in's graph",
    request=GraphRequest,
    plan=GraphPlan,
    accept=accept,
    stages=stages,
    drawing=later("dokimasia.methods.graph.blocks", "DRAWING"),
    figures=figures,
    shape=later("dokimasia.methods.graph.shape", "GraphFigures"),
    graphs_of=lambda plan: {plan.graph: plan.version},
    library=library_of_graph,
    resumable=resumable,
    items=items,
    row_name="items",
)

run_graph = partial(run_method, METHOD)
"""Run a graph over a data set: `await run_graph(GraphRequest(...), given=module)`; by default the plug-in's of the name."""

__all__ = ["METHOD", "GraphRequest", "run_graph"]
