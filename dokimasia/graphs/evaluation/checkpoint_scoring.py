"""Checkpoint scoring: candidates answer, and a judge scores all criteria of each answer in one call (ATOM, section 3.3).

::

    answer ─► score ─► end
               ▲ │ repair
               └─┘

One thread takes all answers to one sample, since a step of the machine costs more than the work in it. A response that
exists already, also one whose judgement failed before, passes through `answer` unasked. Straight but for the repair
edge, so it runs without checkpoints: the ledger and the result rows carry it over any crash.
"""

from typing import Literal, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from dokimasia.agents import answer_question, score_checkpoints
from dokimasia.algorithms.scoring import weighted_score
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import CheckpointScores, Provenance, Rejected, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update, keep_looks
from dokimasia.graphs.together import each
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
    rejected: str
    calls: list[str]
    looks: list[str]


class State(TypedDict, total=False):
    """Ids of the sample and its criteria, and the answers to it."""

    sample: str
    criteria: str
    items: list[Item]


Next = Command[Literal["score", "__end__"]]
"""What a node adds to the state, and where it goes on; said by the node itself, since a router costs a task."""


async def answer(state: State, runtime: Runtime[Context]) -> Next:
    """Put the sample's question to each candidate whose response is not there yet."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])

    async def one(item: Item) -> Item:
        asked = await answer_question(
            sample,
            gateway=context.gateway,
            candidate=context.options.spec(item["model"]),
            arm=item.get("arm", ""),
            repeat=item.get("repeat", 0),
            attempt=item.get("attempt", 0),
            library=context.prompts,
        )
        item = _with_calls(item, asked.calls)
        if asked.value is None:
            return {**item, **failed_update(asked.failure)}
        return {**item, "response": await context.store.put(asked.value)}

    return _go_on(await each(state["items"], one, lambda item: not item.get("response")))


async def score(state: State, runtime: Runtime[Context]) -> Next:
    """Have the judge score every criterion of each response, sending an unusable reply back once."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    criteria = await context.store.get(CriteriaSet, state["criteria"])

    async def one(item: Item) -> Item:
        rejected = item.get("rejected")
        response = await context.store.get(Response, item["response"])
        asked = await score_checkpoints(
            sample,
            criteria,
            response.text,
            gateway=context.gateway,
            judge=context.judge_of("score"),
            show_image=context.options.show_image,
            repeat=item.get("repeat", 0),
            attempt=item.get("attempt", 0),
            rejected=await context.store.get(Rejected, rejected) if rejected else None,
            library=context.prompts,
            looking=context.looking,
        )
        item = {**_with_calls(item, asked.calls), "rejected": ""}
        if asked.looks:
            item["looks"] = [*item.get("looks", []), *await keep_looks(context, asked.looks)]
        if asked.value is not None:
            judgement = CheckpointScores(
                response=item["response"],
                criteria=state["criteria"],
                scores=tuple(asked.value),
                score=weighted_score(asked.value, criteria.weights),
                provenance=_provenance(asked.provenance),
            )
            return {**item, "judgement": await context.store.put(judgement)}
        if asked.rejected is not None and not rejected:
            return {**item, "rejected": await context.store.put(asked.rejected)}
        return {**item, **failed_update(asked.failure)}

    return _go_on(await each(state["items"], one, _unscored))


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("answer", answer)
    graph.add_node("score", score)
    graph.add_edge(START, "answer")
    return graph


def _go_on(items: list[Item]) -> Next:
    """Score what was answered, repair once what could not be read, and stop."""
    goto: Literal["score", "__end__"] = "score" if any(map(_unscored, items)) else "__end__"
    return Command(update={"items": items}, goto=goto)


def _unscored(item: Item) -> bool:
    return bool(item.get("response")) and not item.get("judgement") and not item.get("failed")


def _with_calls(item: Item, calls: list[str]) -> Item:
    return {**item, "calls": [*item.get("calls", []), *calls]}


def _provenance(provenance: Provenance | None) -> Provenance:
    if provenance is None:
        raise ValueError("a scored reply carries its provenance")
    return provenance
