"""Right or wrong: a judge decides whether each response is equivalent to the sample's reference answer.

    decide ─► end

The prompt is the one that an evaluation uses when no rule can decide; here the judge is always asked. The graph is linear
and runs without checkpoints.
"""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.candidate import stated_answer
from dokimasia.agents.evaluation import judge_equivalence
from dokimasia.domain.judgement import FinalAnswer, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState, is_unjudged, with_calls
from dokimasia.graphs.context import Context, failed_update
from dokimasia.graphs.evaluation.checkpoint_scoring import KEPT
from dokimasia.graphs.reasking import update_items
from dokimasia.graphs.versions import VERSIONS

NAME = "deciding"
VERSION = VERSIONS[NAME]
STRAIGHT = True


class State(TypedDict, total=False):
    """Ids of a sample with a reference answer, and of the responses to it; an item's `judgement` is a `FinalAnswer`."""

    sample: str
    items: list[AnswerState]


async def decide(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge decide whether each response is right."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])

    async def decide_item(item: AnswerState) -> AnswerState:
        response = await context.store.get(Response, item["response"])
        answer, has_final_line = stated_answer(response.text)
        reply = await context.ask(judge_equivalence(sample, answer, repeat=item.get("repeat", 0)), node="decide")
        item = with_calls(item, reply.calls)
        if reply.value is None:
            return {**item, **failed_update(reply.failure)}
        final = FinalAnswer(
            response=item["response"],
            verdict="right" if reply.value else "wrong",
            rule="judge",
            answer=answer[:KEPT],
            stated=has_final_line,
            calls=tuple(reply.calls),
        )
        return {**item, "judgement": await context.store.put(final)}

    return {"items": await update_items(state["items"], decide_item, is_unjudged)}


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("decide", decide)
    graph.add_edge(START, "decide")
    graph.add_edge("decide", END)
    return graph
