"""The density filter: images that hold enough to be perceived (PerceptionRubrics, 3.2)."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from dokimasia.domain.density import DensityRating
from dokimasia.graphs.versions import versions_of
from dokimasia.methods.density.figures import filter_figures
from dokimasia.methods.density.kept import write_kept
from dokimasia.methods.density.request import FilterPlan, FilterRequest
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, added_up
from dokimasia.runs.figures import rows_shown
from dokimasia.runs.method import Method, later, one_walk
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.reviews import made_values
from dokimasia.storage.runs import Run

RATING_TOKENS = 150


async def accept(request: FilterRequest, session: Session) -> Accepted[FilterPlan]:
    """Read the images and find the judge."""
    found = await asyncio.to_thread(session.entries, request, images=True)
    (judge,) = session.models((request.judge,), "--judge")
    plan = FilterPlan(
        data=found.hash,
        limit=request.limit,
        seed=request.seed,
        judge=judge,
        thresholds=request.thresholds,
        prompts=prompts_used(session.library, ("density", "domain", "repair")),
    )
    asked = (
        Asking(judge, 2, INSTRUCTION_TOKENS + size.images_for(judge), RATING_TOKENS) for size in found.sizes_of_images
    )
    return found.accepted(plan, added_up(asked, len(found.known), items=len(found.known)))


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each sample with its rating or its failure, ready for JSON; with `sample`, only that one."""
    ratings = {made.sample_id: rating for made, rating in made_values(home, run.id, DensityRating)}
    for row in rows_shown(home, run, sample):
        rating = ratings.get(row.sample_id)
        yield {
            "sample": row.sample_id,
            "failure": row.failure,
            "reason": row.reason,
            "rating": None if rating is None else rating.model_dump(mode="json", exclude={"sample"}),
            "calls": list(row.calls),
        }


def after(home: Home, run: Run, request: FilterRequest) -> Iterable[str]:
    """Write what was kept, where a file was named for it."""
    if request.output is not None:
        yield f"{write_kept(home, run, request.output)} samples written to {request.output}"


METHOD: Method[FilterRequest, FilterPlan] = Method(
    name="filter",
    title="a run of the filter",
    request=FilterRequest,
    plan=FilterPlan,
    accept=accept,
    stages=one_walk("density.density_filter"),
    drawing=later("dokimasia.methods.density.blocks", "DRAWING"),
    figures=filter_figures,
    shape=later("dokimasia.methods.density.shape", "FilterFigures"),
    graphs=versions_of("density_filter"),
    items=items,
    after=after,
    row_name="ratings",
)

__all__ = ["METHOD", "FilterRequest"]
