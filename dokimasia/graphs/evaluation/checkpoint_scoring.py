"""Checkpoint scoring: candidates answer, and a judge scores all criteria of each answer in one call (ATOM, section 3.3).

Each answer gets a score and a verdict, right or wrong: by rule in `answer`, or from the judge in `score`.

    answer ─► score ─► end

One execution handles up to 32 answers to one sample, since a step of the graph costs more than the work in it. An
existing response is not requested again, even if its judgement failed before, and one with scores but no verdict is not
scored again. Without criteria there is no judge, and rules alone decide. The graph is linear and runs without
checkpoints: after a crash the ledger and the result rows restore its state.
"""

from collections.abc import Awaitable, Sequence
from typing import Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from dokimasia.agents import AskResult, failure
from dokimasia.agents.candidate import stated_answer
from dokimasia.agents.evaluation import judge_equivalence, score_criteria
from dokimasia.algorithms.scoring import weighted_score
from dokimasia.algorithms.text.answers import accepted_answer
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import CheckpointScores, CriterionScore, FinalAnswer, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState, answer_items, is_unjudged, with_calls
from dokimasia.graphs.context import Context, failed_update, keep_looks
from dokimasia.graphs.reasking import gather_pair, still_open, update_items
from dokimasia.graphs.versions import CHECKPOINT_SCORING, VERSIONS

NAME = CHECKPOINT_SCORING
VERSION = VERSIONS[NAME]
STRAIGHT = True


class State(TypedDict, total=False):
    """Ids of the sample and its criteria (absent without a judge), and the answers to it.

    `paths` are the criteria's paths in the capability tree, in order, if the run has a tree; empty for unmapped criteria.
    """

    sample: str
    criteria: str
    paths: list[str]
    items: list[AnswerState]


Scores = AskResult[Sequence[CriterionScore]]
"""A judge's scores of all criteria of an answer, or the failure."""

Next = Command[Literal["score", "__end__"]]
"""The first step's update and the next node, returned together since a router would cost another task."""


KEPT = 500
"""Maximum number of stored characters of a final answer."""


async def answer(state: State, runtime: Runtime[Context]) -> Next:
    """Send the sample's question to each candidate without a response, and apply the rules to the answers."""
    context = runtime.context
    items = await answer_items(state["sample"], state["items"], context, plain=context.options.plain)
    sample = await context.store.get(Sample, state["sample"])
    has_criteria = "criteria" in state

    async def decide(item: AnswerState) -> AnswerState:
        response = await context.store.get(Response, item["response"])
        final = by_rule(
            sample, response, item["response"], tolerance=context.options.tolerance, contains=not has_criteria
        )
        if final is None and has_criteria:
            return item
        final_id = await context.store.put(final or without_judge(response, item["response"]))
        item = {**item, "final": final_id}
        if has_criteria or (final is not None and final.verdict != "unknown"):
            return item
        return {**item, **failed_update(failure("undecided", _why_undecided(sample, response)))}

    items = await update_items(items, decide, _undecided)
    goto: Literal["score", "__end__"] = "__end__"
    if has_criteria and any(map(_needs_judge, items)):
        goto = "score"
    return Command(update={"items": items}, goto=goto)


async def score(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge score every criterion of each response, and give a verdict if no rule could decide."""
    return await score_answers(state, runtime.context)


async def score_answers(state: State, context: Context) -> State:
    """Return the update made by the step `score`."""
    sample = await context.store.get(Sample, state["sample"])
    criteria = await context.store.get(CriteriaSet, state["criteria"])

    def ask_scores(item: AnswerState, response: Response) -> Awaitable[Scores]:
        role = score_criteria(
            sample,
            criteria,
            response.text,
            paths=state.get("paths", ()),
            show_image=context.options.shows_image,
            published=context.options.published,
            reasons=context.options.reasons,
            repeat=item.get("repeat", 0),
        )
        return context.ask(role, node="score", attempt=item.get("attempt"))

    async def judge(item: AnswerState) -> AnswerState:
        id, attempt = item["response"], item.get("attempt")
        response = await context.store.get(Response, id)
        scoring, deciding = None, None
        if not item.get("judgement"):
            scoring = ask_scores(item, response)
        if not item.get("final"):
            deciding = by_judge(sample, response, id, context, node="score", attempt=attempt)
        reply, final = await gather_pair(scoring, deciding)
        if reply is not None:
            item = await _with_scores(item, reply, state["criteria"], criteria, context)
        if final is not None:
            item = await _with_verdict(item, final, context)
        return item

    return {"items": await update_items(state["items"], judge, _needs_judge)}


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("answer", answer)
    graph.add_node("score", score)
    graph.add_edge(START, "answer")
    graph.add_edge("score", END)
    return graph


async def _with_scores(
    item: AnswerState, reply: Scores, criteria_id: str, criteria: CriteriaSet, context: Context
) -> AnswerState:
    """Return an answer with its judgement and score, or with the failure of the judge's reply."""
    item = with_calls(item, reply.calls)
    if reply.looks:
        item["looks"] = [*item.get("looks", []), *await keep_looks(context, reply.looks)]
    judgement = judgement_of(reply, item["response"], criteria_id, criteria, reasons=context.options.reasons)
    if judgement is None:
        return {**item, **failed_update(reply.failure)}
    return {**item, "judgement": await context.store.put(judgement), "score": judgement.score}


async def _with_verdict(item: AnswerState, final: FinalAnswer, context: Context) -> AnswerState:
    """Return an answer with the judge's verdict; an open verdict replaces the scores and their failure."""
    item = with_calls(item, final.calls)
    item["final"] = await context.store.put(final)
    if (open_failure := still_open(final.failure)) is not None:
        item.pop("judgement", None)
        item.pop("score", None)
        return {**item, **failed_update(open_failure)}
    return item


def by_rule(
    sample: Sample, response: Response, id: str, *, tolerance: float, contains: bool = False
) -> FinalAnswer | None:
    """Return the verdict of the rules on a response, or None if they cannot decide.

    Without a reference answer the verdict is `unknown`. The rules compare the line of the final answer, or the whole response
    if there is no such line.
    """
    text, has_final_line = stated_answer(response.text)
    if not sample.accepted:
        return FinalAnswer(
            response=id, verdict="unknown", rule="no reference", answer=text[:KEPT], stated=has_final_line
        )
    match = accepted_answer(
        text, sample.accepted, sample.choices, tolerance=tolerance, question=sample.prompt, contains=contains
    )
    if match.verdict == "unsure":
        return None
    verdict = "right" if match.verdict == "same" else "wrong"
    return FinalAnswer(response=id, verdict=verdict, rule=match.rule, answer=text[:KEPT], stated=has_final_line)


def without_judge(response: Response, id: str) -> FinalAnswer:
    """Return the verdict `unknown` for a response that no rule decided, in a run without a judge."""
    text, has_final_line = stated_answer(response.text)
    return FinalAnswer(response=id, verdict="unknown", rule="none", answer=text[:KEPT], stated=has_final_line)


async def by_judge(
    sample: Sample, response: Response, id: str, context: Context, *, node: str, attempt: int | None = None
) -> FinalAnswer:
    """Return a judge's verdict on a response, or `unknown` with the kind of failure if its reply is unusable."""
    text, has_final_line = stated_answer(response.text)
    reply = await context.ask(judge_equivalence(sample, text, repeat=response.repeat), node=node, attempt=attempt)
    final = FinalAnswer(
        response=id,
        verdict="unknown",
        rule="unreadable",
        answer=text[:KEPT],
        stated=has_final_line,
        calls=tuple(reply.calls),
    )
    if reply.value is None:
        return final.model_copy(update={"failure": reply.failure.kind})
    return final.model_copy(update={"verdict": "right" if reply.value else "wrong", "rule": "judge"})


def judgement_of(
    reply: Scores,
    response: str,
    criteria_id: str,
    criteria: CriteriaSet,
    *,
    reasons: bool = False,
) -> CheckpointScores | None:
    """Return a judge's scores of a response (by id) as a stored value, or None after a failure.

    `reasons` says whether the judge was asked for a reason for each score.
    """
    if reply.value is None:
        return None
    scores = tuple(criterion.score for criterion in reply.value)
    return CheckpointScores(
        response=response,
        criteria=criteria_id,
        scores=scores,
        stated=tuple(criterion.stated for criterion in reply.value if criterion.stated is not None),
        reasons=tuple(criterion.reason for criterion in reply.value) if reasons else (),
        score=weighted_score(scores, criteria.weights),
        provenance=reply.provenance,
    )


def _undecided(item: AnswerState) -> bool:
    return bool(item.get("response")) and not item.get("final") and not item.get("failed")


def _needs_judge(item: AnswerState) -> bool:
    """Return whether an answer still needs scores, a verdict or both from the judge."""
    return is_unjudged(item) or _undecided(item)


def _why_undecided(sample: Sample, response: Response) -> str:
    if not sample.accepted:
        return "the sample has no reference answer, and there is no judge: add one, or name a judge with --judge"
    answer, has_final_line = stated_answer(response.text)
    subject = (
        "the final answer" if has_final_line else "the response, which states no final answer on a line of its own:"
    )
    return f"no rule decides whether {subject} {answer[:200]!r} says the same as {sample.reference_text!r}; a judge can"
