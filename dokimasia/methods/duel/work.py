"""The work of duels: sample by sample, all answers to one in a walk, each committed as its walk is finished."""

from collections.abc import AsyncIterator
from itertools import groupby
from typing import Any

from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.sample import Sample
from dokimasia.graphs.duel import duel
from dokimasia.methods.duel.request import DuelPlan
from dokimasia.runs.plans import AnswerItem
from dokimasia.runs.work import Job, Stage, ending
from dokimasia.storage.results import ResultRow


async def stages(job: Job[DuelPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the one stage: all answers to every sample are asked and held against the baseline's."""

    async def do(sample: Sample) -> None:
        left = [item for item in job.plan.items(sample.id) if job.finished(item.name) is None]
        left.sort(key=lambda item: job.attempt(item.name))
        for attempt, items in groupby(left, key=lambda item: job.attempt(item.name)):
            await job.finish(*await _walk(job, sample, list(items), attempt))
        job.progress.samples_done += 1

    yield Stage(job.samples(), do, items=job.progress.samples * job.plan.per_sample)


async def _walk(job: Job[DuelPlan], sample: Sample, items: list[AnswerItem], attempt: int) -> list[ResultRow]:
    """Walk answers to one sample that are asked under one attempt through the graph, and return their rows."""
    entered = [{**item.place, **_given(job.plan, sample, item)} for item in items]
    name = f"duel/{sample.id}/{digest('items', [attempt, entered])[:8]}"
    context = job.context.at_attempt(attempt) if attempt else job.context
    state = await job.walk(duel, {"sample": value_id(sample), "items": entered}, name, context=context)
    return [_row(job, sample, item, one) for item, one in zip(items, state["items"], strict=True)]


def _given(plan: DuelPlan, sample: Sample, item: AnswerItem) -> dict[str, str]:
    """Return the answers on either side that are there already."""
    sides = {
        "response": plan.given_to(item.model, sample.id, item.repeat) if not item.arm else None,
        "baseline": plan.given_to(plan.baseline_name, sample.id, item.repeat),
    }
    return {side: id for side, id in sides.items() if id is not None}


def _row(job: Job[DuelPlan], sample: Sample, item: AnswerItem, ended: dict[str, Any]) -> ResultRow:
    return job.row(
        sample,
        item.name,
        **item.place,
        response_id=ended.get("response") or None,
        value_ids=tuple(ended.get("judgements", ())),
        calls=tuple(dict.fromkeys(ended.get("calls", ()))),
        **ending(ended),
    )
