"""The work of a perturbation run: write and check gold answers, then perturb each answer, with a row for each item."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

from dokimasia.domain.sample import Sample
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.perturb import GOLD_IMAGING, GOLD_WRITING, IMAGE_PERTURBING, TEXT_PERTURBING
from dokimasia.methods.perturb.figures import edited_items, gold_images_of, gold_item, golds_of, item_of
from dokimasia.methods.perturb.request import PerturbPlan
from dokimasia.runs.work import Item, Job, Stage


async def stages(job: Job[PerturbPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the stages: writing and checking gold answers, if requested, and perturbing."""
    plan = job.plan
    if plan.edited is not None:
        yield _edited_images(job)
        return
    if plan.editor is not None:
        async for stage in _image_stages(job):
            yield stage
        return
    if plan.to_write or plan.to_check:
        inputs = {id: {"written": plan.golds[id]} for id in plan.to_check}
        yield _gold_stage(job, GOLD_WRITING, {id: {} for id in plan.to_write} | inputs)
    golds = await asyncio.to_thread(golds_of, job.home, job.run, plan)

    def text_items(sample: Sample) -> list[Item]:
        if sample.id not in golds:
            return []
        return [_item(sample, dimension, {"gold": golds[sample.id]}) for dimension in plan.asked[sample.id]]

    count = sum(len(dimensions) for id, dimensions in plan.asked.items() if id in golds)
    yield replace(job.graph_stage(TEXT_PERTURBING, text_items), items=count)


async def _image_stages(job: Job[PerturbPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the stages of images: making and checking gold images, if requested, and perturbing."""
    plan = job.plan
    if plan.to_write or plan.to_check:
        yield _gold_stage(job, GOLD_IMAGING, {id: {} for id in (*plan.to_write, *plan.to_check)})
    gold_ids, unusable = await asyncio.to_thread(gold_images_of, job.home, job.run, plan)

    def image_items(sample: Sample) -> list[Item]:
        if sample.id in unusable:
            return []
        inputs = {"gold": gold_ids[sample.id]} if sample.id in gold_ids else {}
        return [_item(sample, dimension, inputs) for dimension in plan.asked[sample.id]]

    count = sum(len(dimensions) for id, dimensions in plan.asked.items() if id not in unusable)
    yield replace(job.graph_stage(IMAGE_PERTURBING, image_items), items=count)


def _gold_stage(job: Job[PerturbPlan], graph: GraphFile, inputs: Mapping[str, dict[str, str]]) -> Stage[Sample]:
    """Return the stage of gold answers or images, with the graph's inputs by sample."""

    def gold_items(sample: Sample) -> list[Item]:
        if sample.id in inputs:
            return [Item(gold_item(sample.id), inputs[sample.id])]
        return []

    return replace(job.graph_stage(graph, gold_items), items=len(inputs))


def _item(sample: Sample, dimension: str, inputs: dict[str, str]) -> Item:
    return Item(item_of(sample.id, dimension), {"dimension": dimension, **inputs})


def _edited_images(job: Job[PerturbPlan]) -> Stage[Sample]:
    """Return the stage that stores the items of a file; no model is called."""
    by_sample: dict[str, list[tuple[str, str]]] = {}
    for id, item in edited_items(job.home, job.run).items():
        by_sample.setdefault(item.sample_id, []).append((item_of(item.sample_id, item.dimension), id))

    async def do(sample: Sample) -> None:
        for name, id in by_sample.get(sample.id, ()):
            if job.stored_row(name) is None:
                await job.commit(job.row(sample, name, outcome="made", value_ids=(id,)))
        job.progress.samples_done += 1

    return Stage(job.samples(), do, items=sum(map(len, by_sample.values())))
