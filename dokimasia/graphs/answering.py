"""Answers of candidates to one sample, requested concurrently: the first step of the graphs that judge answers."""

from collections.abc import Sequence
from typing import TypedDict

from dokimasia.agents.candidate import answer_question
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update
from dokimasia.graphs.reasking import update_items


class AnswerState(Failure, TypedDict, total=False):
    """One answer of a candidate; `model` is its displayed name, `arm` is empty or `blind`, most others are stored ids.

    `final` is the id of the `FinalAnswer`, if the graph decides whether the answer is right. `attempt` counts the
    retries after failures, if each attempt is a separate draw. `looks` are ids of the judge's looks with tools, `calls`
    are keys in the ledger, and `score` is that of a judgement made in this walk.
    """

    model: str
    arm: str
    repeat: int
    attempt: int
    response: str
    final: str
    judgement: str
    score: float
    calls: list[str]
    looks: list[str]


async def answer_items(
    sample_id: str, items: Sequence[AnswerState], context: Context, *, plain: bool
) -> list[AnswerState]:
    """Return the items with the missing responses of candidates to a sample's question (`plain`: the bare question)."""
    sample = await context.store.get(Sample, sample_id)

    async def answer_item(item: AnswerState) -> AnswerState:
        request = answer_question(sample, arm=item.get("arm", ""), repeat=item.get("repeat", 0), plain=plain)
        result = await context.ask(request, model=item["model"], attempt=item.get("attempt"))
        item = with_calls(item, result.calls)
        if result.value is None:
            return {**item, **failed_update(result.failure)}
        return {**item, "response": await context.store.put(result.value)}

    return await update_items(items, answer_item, lambda item: not item.get("response"))


def is_unjudged(item: AnswerState) -> bool:
    """Return whether an item has a response but no judgement."""
    return bool(item.get("response")) and not item.get("judgement") and not item.get("failed")


def with_calls(item: AnswerState, calls: Sequence[str]) -> AnswerState:
    """Return an item with further calls added."""
    return {**item, "calls": [*item.get("calls", []), *calls]}
