"""Criterion quality: a model rates whether a criterion is accurate and necessary (ATOM, appendix C).

    rate ─► end

The graph is linear and runs without checkpoints: after a crash the ledger answers repeated calls.
"""

import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.quality import CriterionRating, rate_criterion
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update
from dokimasia.graphs.versions import VERSIONS

NAME = "criterion_quality"
VERSION = VERSIONS[NAME]


class State(Failure, TypedDict, total=False):
    """Ids of the sample, of its criteria and of the rating; `number` is the criterion's position in the set, from 1."""

    sample: str
    criteria: str
    number: int
    result: str
    calls: Annotated[list[str], operator.add]


async def rate(state: State, runtime: Runtime[Context]) -> State:
    """Ask the rater for both ratings."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    criteria = await context.store.get(CriteriaSet, state["criteria"])
    criterion = criteria.criteria[state["number"] - 1]
    reply = await context.ask(rate_criterion(sample, criterion), node="rate")
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    rating = CriterionRating(
        sample=sample.digest,
        criteria=state["criteria"],
        number=state["number"],
        quality=reply.value,
        provenance=reply.provenance,
    )
    return {"calls": reply.calls, "result": await context.store.put(rating)}


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("rate", rate)
    graph.add_edge(START, "rate")
    graph.add_edge("rate", END)
    return graph
