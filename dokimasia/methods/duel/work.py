"""The work of duels: all answers to a sample go through the graph together and are then committed."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.sample import Sample
from dokimasia.graphs import duel
from dokimasia.methods.duel.request import DuelPlan
from dokimasia.runs.plans import AnswerItem
from dokimasia.runs.work import Job, Stage, outcome_fields
from dokimasia.storage.results import ResultRow

P = TypeVar("P", bound=DuelPlan)


async def stages(job: Job[DuelPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the only stage, which requests answers to every sample and compares them with the baseline's."""

    async def duel_sample(sample: Sample) -> None:
        await compare_with(job, sample, job.plan.items(sample.id), opponent=job.plan.baseline_name)
        job.progress.samples_done += 1

    yield Stage(job.samples(), duel_sample, items=job.progress.samples * job.plan.per_sample)


async def compare_with(job: Job[P], sample: Sample, items: Iterable[AnswerItem], *, opponent: str) -> None:
    """Compare a sample's answers that have no result with a model's answer, and commit the results."""

    def attempt_of(item: AnswerItem) -> int:
        return job.attempt(item.name)

    async def walk_part(part: list[AnswerItem]) -> None:
        unfinished = sorted((item for item in part if job.stored_row(item.name) is None), key=attempt_of)
        for attempt, group in groupby(unfinished, key=attempt_of):
            await job.commit(*await _walk(job, sample, list(group), attempt, opponent))

    await job.in_batches(items, walk_part)


async def _walk(job: Job[P], sample: Sample, items: list[AnswerItem], attempt: int, opponent: str) -> list[ResultRow]:
    """Run the graph over a sample's answers with the same attempt number, and return their rows."""
    states = [{**item.place, **_existing_responses(job.plan, sample, item, opponent)} for item in items]
    name = f"duel/{sample.id}/{digest('items', [attempt, opponent, states])[:8]}"
    options = job.plan.options.model_copy(update={"baseline": opponent})
    context = replace(job.context.at_attempt(attempt), options=options)
    state = await job.walk(duel, {"sample": value_id(sample), "items": states}, name, context=context)
    duel_states: list[duel.Duel] = state["items"]
    return [_row(job, sample, item, duel_state) for item, duel_state in zip(items, duel_states, strict=True)]


def _existing_responses(plan: DuelPlan, sample: Sample, item: AnswerItem, opponent: str) -> dict[str, str]:
    """Return the ids of existing answers on both sides."""
    ids: dict[str, str] = {}
    response = None if item.arm else plan.existing_response(item.model, sample.id, item.repeat)
    if response is not None:
        ids["response"] = response
    baseline = plan.existing_response(opponent, sample.id, item.repeat)
    if baseline is not None:
        ids["baseline"] = baseline
    return ids


def _row(job: Job[P], sample: Sample, item: AnswerItem, finished: duel.Duel) -> ResultRow:
    descriptions = [finished["described"]] if finished.get("described") else []
    return job.row(
        sample,
        item.name,
        **item.place,
        response_id=finished.get("response") or None,
        value_ids=(*descriptions, *finished.get("judgements", ())),
        calls=tuple(dict.fromkeys(finished.get("calls", ()))),
        **outcome_fields(finished),
    )
