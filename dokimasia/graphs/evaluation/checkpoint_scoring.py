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

from dokimasia.agents.candidate import answer_question
from dokimasia.agents.evaluation import score_checkpoints
from dokimasia.algorithms.scoring import weighted_score
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import CheckpointScores, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update, keep_looks
from dokimasia.graphs.reasking import each
from dokimasia.graphs.versions import CHECKPOINT_SCORING, VERSIONS

NAME = CHECKPOINT_SCORING
VERSION = VERSIONS[NAME]


class Item(Failure, TypedDict, total=False):
    """One answer: `model` is the candidate's shown name, `arm` is empty or `blind`, the rest are ids in the store.

    `attempt` counts how often the item failed and was asked anew; each attempt is a draw of its own. `looks` are what
    the judge looked at with its tools.
    """

    model: str
    arm: str
    repeat: int
    attempt: int
    response: str
    judgement: str
    calls: list[str]
    looks: list[str]


class State(TypedDict, total=False):
    """Ids of the sample and its criteria, and the answers to it."""

    sample: str
    criteria: str
    items: list[Item]


Next = Command[Literal["score", "__end__"]]
"""What the first step adds to the state, and where it goes on; said by the step itself, since a router costs a task."""


async def answer(state: State, runtime: Runtime[Context]) -> Next:
    """Put the sample's question to each candidate whose response is not there yet."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])

    async def one(item: Item) -> Item:
        asked = await context.ask(
            answer_question(sample, arm=item.get("arm", ""), repeat=item.get("repeat", 0)),
            model=item["model"],
            attempt=item.get("attempt"),
        )
        item = _with_calls(item, asked.calls)
        if asked.value is None:
            return {**item, **failed_update(asked.failure)}
        return {**item, "response": await context.store.put(asked.value)}

    items = await each(state["items"], one, lambda item: not item.get("response"))
    goto: Literal["score", "__end__"] = "score" if any(map(_unscored, items)) else "__end__"
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
        item = _with_calls(item, asked.calls)
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

    return {"items": await each(state["items"], one, _unscored)}


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("answer", answer)
    graph.add_node("score", score)
    graph.add_edge(START, "answer")
    graph.add_edge("score", END)
    return graph


def _unscored(item: Item) -> bool:
    return bool(item.get("response")) and not item.get("judgement") and not item.get("failed")


def _with_calls(item: Item, calls: list[str]) -> Item:
    return {**item, "calls": [*item.get("calls", []), *calls]}
