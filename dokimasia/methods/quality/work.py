"""The work of a rating of criteria: one walk a criterion, each to one row."""

from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import replace

from dokimasia.domain.quality import DrawnCriterion
from dokimasia.domain.sample import Sample
from dokimasia.graphs.quality import criterion_quality
from dokimasia.methods.quality.request import QualityPlan
from dokimasia.methods.quality.results import drawn_of, item_of
from dokimasia.runs.work import Item, Job, Stage


async def stages(job: Job[QualityPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the one stage: each criterion that was drawn is rated."""
    drawn = drawn_of(job.home, job.plan).criteria
    by_sample: dict[str, list[DrawnCriterion]] = defaultdict(list)
    for one in drawn:
        by_sample[one.sample].append(one)

    def items(sample: Sample) -> list[Item]:
        return [Item(item_of(one), {"criteria": one.criteria, "number": one.number}) for one in by_sample[sample.id]]

    yield replace(job.each(criterion_quality, items), items=len(drawn))
