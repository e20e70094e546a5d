"""Batch ranking: a judge ranks several responses in one call (ATOM, appendix B).

    rank ─► end

A thread shows the responses in one order. The graph is linear and runs without checkpoints.
"""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.judging import rank_responses
from dokimasia.domain.judgement import Response
from dokimasia.domain.judging.judgements import BatchRanking
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update
from dokimasia.graphs.versions import VERSIONS

NAME = "batch_ranking"
VERSION = VERSIONS[NAME]
STRAIGHT = True


class State(Failure, TypedDict, total=False):
    """Ids of the sample, of its responses in the displayed order, and of the ranking (`result`)."""

    sample: str
    responses: list[str]
    result: str
    calls: list[str]


async def rank(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge rank the responses."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    texts = [(await context.store.get(Response, id)).text for id in state["responses"]]
    reply = await context.ask(rank_responses(sample, texts))
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    ranking = BatchRanking(responses=tuple(state["responses"]), ranks=reply.value, provenance=reply.provenance)
    return {"calls": reply.calls, "result": await context.store.put(ranking)}


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("rank", rank)
    graph.add_edge(START, "rank")
    graph.add_edge("rank", END)
    return graph
