"""Checkpoint scoring: candidates answer, and a judge scores all criteria of each answer in one call (ATOM, section 3.3).

Whether an answer is right is decided beside its score: by rule with the answer itself, else by the judge while it scores.

    answer ─► score ─► end

One thread takes all answers to one sample, since a step of the machine costs more than the work in it. A response that
exists already, also one whose judgement failed before, passes through `answer` unasked, and one that has its scores and
lost its verdict is not scored again. Without criteria there is no judge, and rules alone decide. Straight, so it runs
without checkpoints: the ledger and the result rows carry it over any crash.
"""

from typing import Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from dokimasia.agents import failure
from dokimasia.agents.candidate import stated_answer
from dokimasia.agents.evaluation import score_checkpoints
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState, answered, unjudged, with_calls
from dokimasia.graphs.context import Context, failed_update, keep_looks
from dokimasia.graphs.evaluation.final_answer import by_judge, by_nobody, by_rule
from dokimasia.graphs.evaluation.judgements import judgement_of
from dokimasia.graphs.reasking import each, still_open, together
from dokimasia.graphs.versions import CHECKPOINT_SCORING, VERSIONS

NAME = CHECKPOINT_SCORING
VERSION = VERSIONS[NAME]


class State(TypedDict, total=False):
    """Ids of the sample and its criteria (none where there is no judge), and the answers to it.

    `paths` are those of the criteria in a capability tree, in order, where the run has one; empty for what it did not map.
    """

    sample: str
    criteria: str
    paths: list[str]
    items: list[AnswerState]


Next = Command[Literal["score", "__end__"]]
"""What the first step adds to the state, and where it goes on; said by the step itself, since a router costs a task."""


async def answer(state: State, runtime: Runtime[Context]) -> Next:
    """Put the sample's question to each candidate whose response is not there yet, and see what rules say of it."""
    context = runtime.context
    items = await answered(state["sample"], state["items"], context, plain=context.options.plain)
    sample = await context.store.get(Sample, state["sample"])
    judged = "criteria" in state

    async def decide(item: AnswerState) -> AnswerState:
        response = await context.store.get(Response, item["response"])
        final = by_rule(sample, response, item["response"], tolerance=context.options.tolerance, contains=not judged)
        if final is None and judged:
            return item
        item["final"] = await context.store.put(final or by_nobody(response, item["response"]))
        if judged or (final is not None and final.verdict != "unknown"):
            return item
        return {**item, **failed_update(failure("undecided", _why_undecided(sample, response)))}

    items = await each(items, decide, _undecided)
    goto: Literal["score", "__end__"] = "score" if judged and any(map(_open, items)) else "__end__"
    return Command(update={"items": items}, goto=goto)


async def score(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge score every criterion of each response, and say whether it is right where no rule could."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    criteria = await context.store.get(CriteriaSet, state["criteria"])

    async def one(item: AnswerState) -> AnswerState:
        response = await context.store.get(Response, item["response"])
        attempt = item.get("attempt")
        what = score_checkpoints(
            sample,
            criteria,
            response.text,
            paths=state.get("paths", ()),
            show_image=context.options.shows_image,
            published=context.options.published,
            repeat=item.get("repeat", 0),
        )
        asked, final = await together(
            None if item.get("judgement") else context.ask(what, node="score", attempt=attempt),
            None
            if item.get("final")
            else by_judge(sample, response, item["response"], context, node="score", attempt=attempt),
        )
        ended: AnswerState = {**item}
        if asked is not None:
            ended = with_calls(ended, asked.calls)
            if asked.looks:
                ended["looks"] = [*ended.get("looks", []), *await keep_looks(context, asked.looks)]
        if final is not None:
            ended = with_calls(ended, final.calls)
            ended["final"] = await context.store.put(final)
            if (left := still_open(final.failure)) is not None:
                return {**ended, **failed_update(left)}
        if asked is None:
            return ended
        judgement = judgement_of(asked, item["response"], state["criteria"], criteria)
        if judgement is None:
            return {**ended, **failed_update(asked.failure)}
        return {**ended, "judgement": await context.store.put(judgement)}

    return {"items": await each(state["items"], one, _open)}


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("answer", answer)
    graph.add_node("score", score)
    graph.add_edge(START, "answer")
    graph.add_edge("score", END)
    return graph


def _undecided(item: AnswerState) -> bool:
    return bool(item.get("response")) and not item.get("final") and not item.get("failed")


def _open(item: AnswerState) -> bool:
    """Return whether the judge is to be asked of an answer: its scores, whether it is right, or both."""
    return unjudged(item) or _undecided(item)


def _why_undecided(sample: Sample, response: Response) -> str:
    if not sample.accepted:
        return "the sample has no reference answer, and there is no judge: add one, or name a judge with --judge"
    answer, stated = stated_answer(response.text)
    where = "the final answer" if stated else "the response, which states no final answer on a line of its own:"
    return f"no rule decides whether {where} {answer[:200]!r} says the same as {sample.reference_text!r}; a judge can"
