"""Rubric audit: a judge decides all rubrics of a response in one call (PerceptionRubrics, section 3.4).

    answer ─► assess ─► end

One execution handles all answers to one sample. The graph is linear and runs without checkpoints: after a crash the ledger
and the result rows restore its state.
"""

from typing import Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.rubrics import assess_response
from dokimasia.algorithms.gating import gated_score
from dokimasia.domain.judgement import Response
from dokimasia.domain.rubric import RubricJudgement, RubricSet
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState, answer_items, is_unjudged, with_calls
from dokimasia.graphs.context import Context, failed_update
from dokimasia.graphs.reasking import update_items
from dokimasia.graphs.versions import VERSIONS

NAME = "rubric_audit"
VERSION = VERSIONS[NAME]


class State(TypedDict, total=False):
    """Ids of the sample and its rubric set, and the answers to it."""

    sample: str
    rubrics: str
    items: list[AnswerState]


async def answer(state: State, runtime: Runtime[Context]) -> State:
    """Send the sample's request to each candidate without a response."""
    return {"items": await answer_items(state["sample"], state["items"], runtime.context, plain=True)}


async def assess(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge decide every rubric of each response."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    rubrics = await context.store.get(RubricSet, state["rubrics"])

    async def assess_item(item: AnswerState) -> AnswerState:
        response = await context.store.get(Response, item["response"])
        ask = assess_response(
            sample,
            rubrics,
            response.text,
            show_image=context.options.show_image,
            published=context.options.published,
            reasons=context.options.reasons,
            repeat=item.get("repeat", 0),
        )
        reply = await context.ask(ask, node="assess")
        item = with_calls(item, reply.calls)
        if reply.value is None:
            return {**item, **failed_update(reply.failure)}
        score = gated_score(reply.value.group_a, reply.value.group_b)
        judgement = RubricJudgement(
            response=item["response"],
            rubrics=state["rubrics"],
            **dict(reply.value),
            score=score,
            provenance=reply.provenance,
        )
        return {**item, "judgement": await context.store.put(judgement), "score": score}

    return {"items": await update_items(state["items"], assess_item, is_unjudged)}


async def after_answer(state: State) -> Literal["assess", "__end__"]:
    """Return `assess` if there is a response to judge, else the end."""
    if any(map(is_unjudged, state["items"])):
        return "assess"
    return "__end__"


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("answer", answer)
    graph.add_node("assess", assess)
    graph.add_edge(START, "answer")
    graph.add_conditional_edges("answer", after_answer)
    graph.add_edge("assess", END)
    return graph
