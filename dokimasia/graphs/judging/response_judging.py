"""Response judging: baselines for checkpoint scoring that judge one response at a time (pointwise, SCAN, aspects).

    judge ─► end

A thread handles all responses to one sample. The graph is linear and runs without checkpoints.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import AskResult
from dokimasia.agents.judging import rate_response, score_aspects, score_compared
from dokimasia.algorithms.scoring import weighted_score
from dokimasia.domain.criterion import ReferenceChain
from dokimasia.domain.judgement import Response
from dokimasia.domain.judging.judgements import ComparedCriteria, ResponseRating
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState, is_unjudged, with_calls
from dokimasia.graphs.context import Context, failed_update
from dokimasia.graphs.reasking import update_items
from dokimasia.graphs.versions import VERSIONS

NAME = "response_judging"
VERSION = VERSIONS[NAME]
STRAIGHT = True

How = Literal["pointwise", "scan", "aspects"]


class State(TypedDict, total=False):
    """The sample's id, the method, the id of its `basis` (a chain or compared criteria, if any), and the responses."""

    sample: str
    how: How
    basis: str
    items: list[AnswerState]


async def judge(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge score each response that has no judgement yet."""
    context, basis = runtime.context, state.get("basis", "")
    sample = await context.store.get(Sample, state["sample"])
    score = _SCORERS[state["how"]]

    async def judge_response(item: AnswerState) -> AnswerState:
        text = (await context.store.get(Response, item["response"])).text
        reply, rating = await score(context, sample, basis, text, item)
        item = with_calls(item, reply.calls)
        if rating is None:
            return {**item, **failed_update(reply.failure)}
        return {**item, "judgement": await context.store.put(rating), "score": rating.score}

    return {"items": await update_items(state["items"], judge_response, is_unjudged)}


Rated = tuple[AskResult[Any], ResponseRating | None]


async def _pointwise(context: Context, sample: Sample, basis: str, text: str, item: AnswerState) -> Rated:
    reply = await context.ask(rate_response(sample, text, repeat=item.get("repeat", 0)))
    if reply.value is None:
        return reply, None
    return reply, ResponseRating(response=item["response"], score=reply.value, provenance=reply.provenance)


async def _scan(context: Context, sample: Sample, basis: str, text: str, item: AnswerState) -> Rated:
    criteria = await context.store.get(ComparedCriteria, basis)
    reply = await context.ask(score_compared(sample, criteria, text, repeat=item.get("repeat", 0)))
    if reply.value is None:
        return reply, None
    return reply, ResponseRating(
        response=item["response"],
        basis=basis,
        aspects=tuple(criterion.criterion for criterion in criteria.criteria),
        scores=tuple(map(float, reply.value)),
        weights=criteria.weights,
        score=weighted_score(reply.value, criteria.weights),
        provenance=reply.provenance,
    )


async def _aspects(context: Context, sample: Sample, basis: str, text: str, item: AnswerState) -> Rated:
    chain = await context.store.get(ReferenceChain, basis)
    ask = score_aspects(sample, chain, text, show_image=context.options.shows_image, repeat=item.get("repeat", 0))
    reply = await context.ask(ask)
    if reply.value is None:
        return reply, None
    scores = [aspect.score for aspect in reply.value]
    return reply, ResponseRating(
        response=item["response"],
        basis=basis,
        aspects=tuple(aspect.aspect for aspect in reply.value),
        scores=tuple(map(float, scores)),
        score=weighted_score(scores, [1] * len(scores)),
        provenance=reply.provenance,
    )


_SCORERS: dict[How, Callable[[Context, Sample, str, str, AnswerState], Awaitable[Rated]]] = {
    "pointwise": _pointwise,
    "scan": _scan,
    "aspects": _aspects,
}


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("judge", judge)
    graph.add_edge(START, "judge")
    graph.add_edge("judge", END)
    return graph
