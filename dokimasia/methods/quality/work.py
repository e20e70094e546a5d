"""The work of a rating of criteria, with an item for each criterion."""

from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import cast

from dokimasia.domain.sample import Sample
from dokimasia.graphs import quality
from dokimasia.graphs.drive import GraphFile
from dokimasia.methods.quality.request import QualityPlan, drawn_of, item_of
from dokimasia.runs.work import Item, Job, Stage


async def stages(job: Job[QualityPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the only stage: each drawn criterion is rated."""
    criteria = drawn_of(job.home, job.plan).criteria
    items: dict[str, list[Item]] = defaultdict(list)
    for criterion in criteria:
        inputs = {"criteria": criterion.criteria, "number": criterion.number}
        items[criterion.sample].append(Item(item_of(criterion), inputs))
    stage = job.graph_stage(cast("GraphFile", quality), lambda sample: items[sample.id])
    yield replace(stage, items=len(criteria))
