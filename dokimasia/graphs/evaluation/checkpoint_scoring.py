"""Checkpoint scoring: candidates answer, and a judge scores all criteria of each answer in one call (ATOM, section 3.3).

::

    answer ─► score ─► end

One thread takes all answers to one sample, since a step of the machine costs more than the work in it. A response that
exists already, also one whose judgement failed before, passes through `answer` unasked. Straight, so it runs without
checkpoints: the ledger and the result rows carry it over any crash.
"""

from typing import Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from dokimasia.agents.evaluation import score_checkpoints
from dokimasia.algorithms.scoring import weighted_score
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import CheckpointScores, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import Item, answered, unjudged, with_calls
from dokimasia.graphs.context import Context, failed_update, keep_looks
from dokimasia.graphs.reasking import each
from dokimasia.graphs.versions import CHECKPOINT_SCORING, VERSIONS

NAME = CHECKPOINT_SCORING
VERSION = VERSIONS[NAME]


class State(TypedDict, total=False):
    """Ids of the sample and its criteria, and the answers to it."""

    sample: str
    criteria: str
    items: list[Item]


Next = Command[Literal["score", "__end__"]]
"""What the first step adds to the state, and where it goes on; said by the step itself, since a router costs a task."""


async def answer(state: State, runtime: Runtime[Context]) -> Next:
    """Put the sample's question to each candidate whose response is not there yet."""
    items = await answered(state["sample"], state["items"], runtime.context)
    goto: Literal["score", "__end__"] = "score" if any(map(unjudged, items)) else "__end__"
    return Command(update={"items": items}, goto=goto)


async def score(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge score every criterion of each response."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    criteria = await context.store.get(CriteriaSet, state["criteria"])

    async def one(item: Item) -> Item:
        response = await context.store.get(Response, item["response"])
        asked = await context.ask(
            score_checkpoints(
                sample,
                criteria,
                response.text,
                show_image=context.options.shows_image,
                repeat=item.get("repeat", 0),
            ),
            node="score",
            attempt=item.get("attempt"),
        )
        item = with_calls(item, asked.calls)
        if asked.looks:
            item["looks"] = [*item.get("looks", []), *await keep_looks(context, asked.looks)]
        if asked.value is None or asked.provenance is None:
            return {**item, **failed_update(asked.failure)}
        judgement = CheckpointScores(
            response=item["response"],
            criteria=state["criteria"],
            scores=tuple(asked.value),
            score=weighted_score(asked.value, criteria.weights),
            provenance=asked.provenance,
        )
        return {**item, "judgement": await context.store.put(judgement)}

    return {"items": await each(state["items"], one, unjudged)}


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("answer", answer)
    graph.add_node("score", score)
    graph.add_edge(START, "answer")
    graph.add_edge("score", END)
    return graph
