"""The work of a perturbing: gold answers are written where the data have none, then each is perturbed, a row each."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from dokimasia.domain.sample import Sample
from dokimasia.graphs.blindspots import gold_writing, image_perturbing, text_perturbing
from dokimasia.methods.perturb.request import PerturbPlan
from dokimasia.methods.perturb.results import GOLD, brought_items, golds_of, item_of
from dokimasia.runs.work import Item, Job, Stage


async def stages(job: Job[PerturbPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the writing of gold answers, where it is asked for, and the perturbing."""
    plan = job.plan
    if plan.edited is not None:
        yield _brought(job)
        return
    if plan.gold_writer is not None:
        missing = {id for id, names in plan.asked.items() if names and id not in plan.golds}
        writing = job.each(gold_writing, lambda one: [Item(f"{GOLD}{one.id}")] if one.id in missing else [])
        yield replace(writing, items=len(missing))
    if plan.editor is not None:
        pictured = job.each(image_perturbing, lambda one: [_item(one, name, {}) for name in plan.asked[one.id]])
        yield replace(pictured, items=sum(map(len, plan.asked.values())))
        return
    golds = await asyncio.to_thread(golds_of, job.home, job.run, plan)

    def items(sample: Sample) -> list[Item]:
        gold = golds.get(sample.id)
        return [] if gold is None else [_item(sample, name, {"gold": gold}) for name in plan.asked[sample.id]]

    count = sum(len(names) for id, names in plan.asked.items() if id in golds)
    yield replace(job.each(text_perturbing, items), items=count)


def _item(sample: Sample, dimension: str, inputs: dict[str, str]) -> Item:
    return Item(item_of(sample.id, dimension), {"dimension": dimension, **inputs})


def _brought(job: Job[PerturbPlan]) -> Stage[Sample]:
    """The stage in which the items of a file become rows; nobody is asked."""
    of_sample: dict[str, list[tuple[str, str]]] = {}
    for id, item in brought_items(job.home, job.run).items():
        of_sample.setdefault(item.sample_id, []).append((item_of(item.sample_id, item.dimension), id))

    async def do(sample: Sample) -> None:
        for name, id in of_sample.get(sample.id, ()):
            if job.finished(name) is None:
                await job.finish(job.row(sample, name, outcome="made", value_ids=(id,)))
        job.progress.samples_done += 1

    return Stage(job.samples(), do, items=sum(map(len, of_sample.values())))
