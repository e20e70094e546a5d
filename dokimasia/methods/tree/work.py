"""The work of a growth: the graph runs through its phases and stores a version after each."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

from dokimasia.algorithms.taxonomy import new_tree
from dokimasia.algorithms.trees.formats import to_version
from dokimasia.domain.capability import TreeVersion
from dokimasia.domain.growth import PhaseReport, Placement
from dokimasia.graphs import tree as tree_graph
from dokimasia.graphs.context import services_of
from dokimasia.graphs.drive import GraphFile
from dokimasia.methods.tree.request import GrowthPlan, placed_before, tree_of
from dokimasia.runs.work import Job, Stage
from dokimasia.storage.trees.versions import mappings, put_version, tree_criteria

ITEM = "tree"
"""The name of the only graph thread, which makes versions of a tree but no result row."""


async def stages(job: Job[GrowthPlan]) -> AsyncIterator[Stage[Any]]:
    """Yield the only stage, with one item: the growth, resumed after its last finished phase."""
    yield Stage(units=(ITEM,), do=lambda item: _grow(job, item), items=0)


async def _grow(job: Job[GrowthPlan], item: str) -> None:
    home, plan, tree = job.home, job.plan, tree_of(job.run)
    criteria, placements_before = tree_criteria(home, tree), placed_before(home, plan, tree)
    progress = job.progress
    progress.samples = len({criterion.sample_id for criterion in criteria if criterion.key not in placements_before})
    before = 0

    def on_progress(phase: str, done: int, total: int) -> None:
        nonlocal before
        if done == 0:
            before = progress.done
            progress.items += total
        progress.done = before + done

    async def keep(version: TreeVersion, report: PhaseReport, placements: Sequence[Placement]) -> None:
        await put_version(
            home,
            tree,
            version,
            phase=report.phase,
            run_id=job.run.id,
            made_by=plan.judge_name,
            report=report.model_dump(mode="json"),
            placements=placements,
        )

    context = tree_graph.GrowthContext(
        **services_of(job.context),
        criteria=criteria,
        growth=plan.growth,
        placed=placements_before,
        keep=keep,
        placements=lambda version_id: mappings(home, version_id, tree=tree),
        on_progress=on_progress,
    )
    first = plan.onto or await job.services.store.put(
        to_version(new_tree(plan.growth.categories, level=plan.growth.level))
    )
    inputs = {"version": first, "base": plan.onto, "round": 0}
    await job.walk(cast("GraphFile", tree_graph), inputs, item, context=context)
    await job.close(item)
