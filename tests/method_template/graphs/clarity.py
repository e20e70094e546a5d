"""Clarity of questions: a judge rates how clearly one question is put.

rate ─► end
"""

import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.clarity import ClarityRating, rate_clarity
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update

NAME = "clarity"
VERSION = 1


class State(Failure, TypedDict, total=False):
    """Ids of the sample and of the rating; `score` is the rating."""

    sample: str
    result: str
    score: float
    calls: Annotated[list[str], operator.add]


async def rate(state: State, runtime: Runtime[Context]) -> State:
    """Ask the judge for the rating."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    reply = await context.ask(rate_clarity(sample), node="rate")
    if reply.value is None or reply.provenance is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    rating = ClarityRating(sample=sample.digest, clarity=reply.value, provenance=reply.provenance)
    return {"calls": reply.calls, "result": await context.store.put(rating), "score": float(reply.value)}


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("rate", rate)
    graph.add_edge(START, "rate")
    graph.add_edge("rate", END)
    return graph
