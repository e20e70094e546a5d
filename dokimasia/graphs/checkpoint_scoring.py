"""Checkpoint scoring: a candidate answers, and a judge scores all criteria of the answer in one call (ATOM, section 3.3).

::

    answer ─► score ─► end
               ▲ │ repair
               └─┘

A response that exists already, also one whose judgement failed before, enters at `score`. Straight but for the repair
edge, so it runs without checkpoints: the ledger and the result row carry it over any crash.
"""

import operator
from typing import Annotated, Literal, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import answer_question, score_checkpoints
from dokimasia.algorithms.scoring import weighted_score
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import CheckpointScores, Provenance, Rejected, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update

NAME = "checkpoint_scoring"
VERSION = 1


class State(Failure, TypedDict, total=False):
    """Ids of values in the store; `model` is the candidate's shown name, `arm` is empty or `blind`.

    `attempt` counts how often the item failed and was asked anew; each attempt is a draw of its own.
    """

    sample: str
    criteria: str
    model: str
    arm: str
    repeat: int
    attempt: int
    response: str
    judgement: str
    rejected: str
    calls: Annotated[list[str], operator.add]


async def answer(state: State, runtime: Runtime[Context]) -> State:
    """Put the sample's question to the candidate."""
    context = runtime.context
    asked = await answer_question(
        await context.store.get(Sample, state["sample"]),
        gateway=context.gateway,
        candidate=context.options.spec(state["model"]),
        arm=state.get("arm", ""),
        repeat=state.get("repeat", 0),
        attempt=state.get("attempt", 0),
        library=context.prompts,
    )
    calls = [asked.call] if asked.call else []
    if asked.value is None:
        return {"calls": calls, **failed_update(asked.failure)}
    return {"calls": calls, "response": await context.store.put(asked.value)}


async def score(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge score every criterion of the response, sending an unusable reply back once."""
    context = runtime.context
    rejected = state.get("rejected")
    criteria = await context.store.get(CriteriaSet, state["criteria"])
    response = await context.store.get(Response, state["response"])
    asked = await score_checkpoints(
        await context.store.get(Sample, state["sample"]),
        criteria,
        response.text,
        gateway=context.gateway,
        judge=context.judge_of("score"),
        show_image=context.options.show_image,
        repeat=state.get("repeat", 0),
        attempt=state.get("attempt", 0),
        rejected=await context.store.get(Rejected, rejected) if rejected else None,
        library=context.prompts,
    )
    update: State = {"calls": [asked.call] if asked.call else [], "rejected": ""}
    if asked.value is not None:
        judgement = CheckpointScores(
            response=state["response"],
            criteria=state["criteria"],
            scores=tuple(asked.value),
            score=weighted_score(asked.value, criteria.weights),
            provenance=_provenance(asked.provenance),
        )
        return {**update, "judgement": await context.store.put(judgement)}
    if asked.rejected is not None and not rejected:
        return {**update, "rejected": await context.store.put(asked.rejected)}
    return {**update, **failed_update(asked.failure)}


def first_step(state: State) -> Literal["answer", "score"]:
    """A response that exists already is not asked for."""
    return "score" if state.get("response") else "answer"


def after_answer(state: State) -> Literal["score", "__end__"]:
    """Score what was answered."""
    return "__end__" if state.get("failed") else "score"


def after_score(state: State) -> Literal["score", "__end__"]:
    """Repair once, or stop."""
    return "score" if state.get("rejected") and not state.get("failed") else "__end__"


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("answer", answer)
    graph.add_node("score", score)
    graph.add_conditional_edges(START, first_step)
    graph.add_conditional_edges("answer", after_answer)
    graph.add_conditional_edges("score", after_score)
    return graph


def _provenance(provenance: Provenance | None) -> Provenance:
    if provenance is None:
        raise ValueError("a scored reply carries its provenance")
    return provenance
