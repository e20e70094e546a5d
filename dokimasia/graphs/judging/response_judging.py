"""Responses judged one at a time by other methods than checkpoint scoring: pointwise, SCAN, or aspects beside a chain.

    judge ─► end

One thread takes all responses to one sample. Straight, so it runs without checkpoints.
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
from dokimasia.graphs.answering import AnswerState, unjudged, with_calls
from dokimasia.graphs.context import Context, failed_update
from dokimasia.graphs.reasking import each
from dokimasia.graphs.versions import VERSIONS

NAME = "response_judging"
VERSION = VERSIONS[NAME]

How = Literal["pointwise", "scan", "aspects"]


class State(TypedDict, total=False):
    """The sample, how its responses are judged, the id of what by (a chain, compared criteria; empty for nothing), and them."""

    sample: str
    how: How
    basis: str
    items: list[AnswerState]


async def judge(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge score each response that is not judged yet."""
    context, basis = runtime.context, state.get("basis", "")
    sample = await context.store.get(Sample, state["sample"])
    score = _WAYS[state["how"]]

    async def one(item: AnswerState) -> AnswerState:
        text = (await context.store.get(Response, item["response"])).text
        asked, rating = await score(context, sample, basis, text, item)
        item = with_calls(item, asked.calls)
        if rating is None:
            return {**item, **failed_update(asked.failure)}
        return {**item, "judgement": await context.store.put(rating), "score": rating.score}

    return {"items": await each(state["items"], one, unjudged)}


Judged = tuple[AskResult[Any], ResponseRating | None]


async def _pointwise(context: Context, sample: Sample, basis: str, text: str, item: AnswerState) -> Judged:
    asked = await context.ask(rate_response(sample, text, repeat=item.get("repeat", 0)))
    if asked.value is None or asked.provenance is None:
        return asked, None
    return asked, ResponseRating(response=item["response"], score=asked.value, provenance=asked.provenance)


async def _scan(context: Context, sample: Sample, basis: str, text: str, item: AnswerState) -> Judged:
    criteria = await context.store.get(ComparedCriteria, basis)
    asked = await context.ask(score_compared(sample, criteria, text, repeat=item.get("repeat", 0)))
    if asked.value is None or asked.provenance is None:
        return asked, None
    return asked, ResponseRating(
        response=item["response"],
        basis=basis,
        aspects=tuple(one.criterion for one in criteria.criteria),
        scores=tuple(map(float, asked.value)),
        weights=criteria.weights,
        score=weighted_score(asked.value, criteria.weights),
        provenance=asked.provenance,
    )


async def _aspects(context: Context, sample: Sample, basis: str, text: str, item: AnswerState) -> Judged:
    chain = await context.store.get(ReferenceChain, basis)
    what = score_aspects(sample, chain, text, show_image=context.options.shows_image, repeat=item.get("repeat", 0))
    asked = await context.ask(what)
    if asked.value is None or asked.provenance is None:
        return asked, None
    scores = [one.score for one in asked.value]
    return asked, ResponseRating(
        response=item["response"],
        basis=basis,
        aspects=tuple(one.aspect for one in asked.value),
        scores=tuple(map(float, scores)),
        score=weighted_score(scores, [1] * len(scores)),
        provenance=asked.provenance,
    )


_WAYS: dict[How, Callable[[Context, Sample, str, str, AnswerState], Awaitable[Judged]]] = {
    "pointwise": _pointwise,
    "scan": _scan,
    "aspects": _aspects,
}


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("judge", judge)
    graph.add_edge(START, "judge")
    graph.add_edge("judge", END)
    return graph
