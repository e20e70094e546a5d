"""The work of an audit: all answers to a sample go through the graph together and are then committed."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial
from itertools import groupby

from dokimasia.domain.call import model_names
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState
from dokimasia.graphs.rubrics import rubric_audit
from dokimasia.methods.audit.request import AuditPlan
from dokimasia.runs.plans import AnswerItem
from dokimasia.runs.responses import read_answer_files
from dokimasia.runs.work import Job, Stage, outcome_fields
from dokimasia.storage.results import ResultRow


async def stages(job: Job[AuditPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the only stage, which requests and judges the answers to every sample."""

    responses = await asyncio.to_thread(read_answer_files, job.request.responses, job.request.data)
    candidates = model_names(job.plan.asked)

    async def do(sample: Sample) -> None:
        await job.in_batches(job.plan.items(sample.id), partial(answers, sample))
        job.progress.samples_done += 1

    async def answers(sample: Sample, items: list[AnswerItem]) -> None:
        pending: list[AnswerItem] = []
        response_ids: dict[str, str] = {}
        for item in items:
            if job.stored_row(item.name) is not None:
                continue
            if responses is not None and item.model not in candidates:
                response = await responses.kept(sample, item, job.context.store)
                if response is None:
                    job.progress.items -= 1
                    continue
                response_ids[item.name] = response
            pending.append(item)
        pending.sort(key=lambda item: job.attempt(item.name))
        for attempt, same_attempt in groupby(pending, key=lambda item: job.attempt(item.name)):
            await job.commit(*await _walk(job, sample, list(same_attempt), attempt, response_ids))

    yield Stage(job.samples(), do, items=job.progress.samples * job.plan.per_sample)


async def _walk(
    job: Job[AuditPlan], sample: Sample, items: list[AnswerItem], attempt: int, response_ids: Mapping[str, str]
) -> list[ResultRow]:
    """Run the graph over a sample's answers with the same attempt number, and return their rows.

    `response_ids` are the ids of existing answers, by item.
    """
    graph_items: list[dict[str, object]] = []
    for item in items:
        graph_item: dict[str, object] = {**item.place}
        if item.name in response_ids:
            graph_item |= {"response": response_ids[item.name]}
        graph_items.append(graph_item)
    inputs = {"sample": value_id(sample), "rubrics": job.plan.sets[sample.id], "items": graph_items}
    name = f"audit/{sample.id}/{digest('items', [attempt, graph_items])[:8]}"
    context = job.context.at_attempt(attempt) if attempt else job.context
    state = await job.walk(rubric_audit, inputs, name, context=context)
    return [_row(job, sample, item, answer_state) for item, answer_state in zip(items, state["items"], strict=True)]


def _row(job: Job[AuditPlan], sample: Sample, item: AnswerItem, state: AnswerState) -> ResultRow:
    judgement = state.get("judgement")
    return job.row(
        sample,
        item.name,
        **item.place,
        response_id=state.get("response") or None,
        calls=tuple(state.get("calls", ())),
        value_ids=(judgement,) if judgement else (),
        **outcome_fields(state),
    )
