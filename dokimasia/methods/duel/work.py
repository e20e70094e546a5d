"""The work of duels: sample by sample, all answers to one in a walk, each committed as its walk is finished."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
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
        await finish(job, sample, job.plan.items(sample.id), against=job.plan.baseline_name)
        job.progress.samples_done += 1

    yield Stage(job.samples(), do, items=job.progress.samples * job.plan.per_sample)


async def finish(job: Job[Any], sample: Sample, items: Iterable[AnswerItem], *, against: str) -> None:
    """Hold those of a sample's answers that have no result yet against a model's, and commit what comes of it."""

    async def do(part: list[AnswerItem]) -> None:
        left = [item for item in part if job.finished(item.name) is None]
        left.sort(key=lambda item: job.attempt(item.name))
        for attempt, together in groupby(left, key=lambda item: job.attempt(item.name)):
            await job.finish(*await _walk(job, sample, list(together), attempt, against))

    await job.in_parts(items, do)


async def _walk(
    job: Job[DuelPlan], sample: Sample, items: list[AnswerItem], attempt: int, against: str
) -> list[ResultRow]:
    """Walk answers to one sample that are asked under one attempt through the graph, and return their rows."""
    entered = [{**item.place, **_given(job.plan, sample, item, against)} for item in items]
    name = f"duel/{sample.id}/{digest('items', [attempt, against, entered])[:8]}"
    options = job.plan.options.model_copy(update={"baseline": against})
    context = replace(job.context.at_attempt(attempt), options=options)
    state = await job.walk(duel, {"sample": value_id(sample), "items": entered}, name, context=context)
    return [_row(job, sample, item, one) for item, one in zip(items, state["items"], strict=True)]


def _given(plan: DuelPlan, sample: Sample, item: AnswerItem, against: str) -> dict[str, str]:
    """Return the answers on either side that are there already."""
    sides = {
        "response": plan.given_to(item.model, sample.id, item.repeat) if not item.arm else None,
        "baseline": plan.given_to(against, sample.id, item.repeat),
    }
    return {side: id for side, id in sides.items() if id is not None}


def _row(job: Job[DuelPlan], sample: Sample, item: AnswerItem, ended: dict[str, Any]) -> ResultRow:
    return job.row(
        sample,
        item.name,
        **item.place,
        response_id=ended.get("response") or None,
        value_ids=(*filter(None, (ended.get("described"),)), *ended.get("judgements", ())),
        calls=tuple(dict.fromkeys(ended.get("calls", ()))),
        **ending(ended),
    )
