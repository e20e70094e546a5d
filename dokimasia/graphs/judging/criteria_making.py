"""Criteria without a reference chain: from auxiliary responses (SCAN), or from question and reference answer alone.

    compare ─► end        without_chain ─► end

SCAN compares auxiliary responses. ATOM without the chain draws atomic criteria from question and reference answer, and
sends back once a set that breaks rules. There is no second look at these criteria, since it compares criteria with a
chain. The graph is linear and runs without checkpoints.
"""

from typing import Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import failure
from dokimasia.agents.judging import compare_responses, extract_without_chain
from dokimasia.algorithms.criteria import counted
from dokimasia.domain.criterion import PUBLISHED_COUNT
from dokimasia.domain.judgement import Response
from dokimasia.domain.judging.judgements import ComparedCriteria, ComparedCriterion
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update
from dokimasia.graphs.evaluation.cognitive_replay import draw_criteria, settled
from dokimasia.graphs.versions import VERSIONS

NAME = "criteria_making"
VERSION = VERSIONS[NAME]


class State(Failure, TypedDict, total=False):
    """Ids of the sample, its auxiliary responses (without any, criteria are drawn without a chain) and the criteria."""

    sample: str
    auxiliary: list[str]
    result: str
    calls: list[str]


async def first_step(state: State) -> Literal["compare", "without_chain"]:
    """Return `compare` if there are auxiliary responses, else `without_chain`."""
    if state.get("auxiliary"):
        return "compare"
    return "without_chain"


async def compare(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge draw weighted criteria from the differences of auxiliary responses."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    texts = [(await context.store.get(Response, id)).text for id in state["auxiliary"]]
    reply = await context.ask(compare_responses(sample, texts))
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    criteria = tuple(ComparedCriterion(criterion=text, weight=weight) for text, weight in reply.value)
    comparison = ComparedCriteria(criteria=criteria, provenance=reply.provenance)
    return {"calls": reply.calls, "result": await context.store.put(comparison)}


async def without_chain(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge draw atomic criteria from question and reference answer."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    count = PUBLISHED_COUNT if context.options.published else context.options.criteria_count
    ask = extract_without_chain(sample, count=counted(count))
    answer = sample.accepted_texts[0] if sample.accepted else ""
    drawing = await draw_criteria(ask, sample, answer, context, node="extract_criteria")
    calls = list(drawing.calls)
    if drawing.criteria is None:
        return {"calls": calls, **failed_update(drawing.failed or failure("unparsable", "no criteria"))}
    return {"calls": calls, "result": await context.store.put(settled(drawing.criteria, sample))}


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("compare", compare)
    graph.add_node("without_chain", without_chain)
    graph.add_conditional_edges(START, first_step)
    graph.add_edge("compare", END)
    graph.add_edge("without_chain", END)
    return graph
