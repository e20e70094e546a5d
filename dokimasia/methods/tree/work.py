"""A growth walked through its phases: the graph with its context, its versions kept in a home."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import fields
from typing import Any, cast

from dokimasia.algorithms.taxonomy import new_tree
from dokimasia.algorithms.trees.node_link import to_version
from dokimasia.domain.capability import TreeVersion
from dokimasia.domain.growth import PhaseReport, Placement
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.tree import taxonomy_growth
from dokimasia.graphs.tree.growth_context import GrowthContext
from dokimasia.methods.tree.onto import placed_before
from dokimasia.methods.tree.request import GrowthPlan, tree_of
from dokimasia.runs.work import Job, Stage
from dokimasia.storage.home import Home
from dokimasia.storage.trees.versions import mappings, put_version, tree_criteria

ITEM = "tree"
"""The one walk; it ends in versions of a tree and in no result row."""


async def stages(job: Job[GrowthPlan]) -> AsyncIterator[Stage[Any]]:
    """Yield the one stage, of one unit: the walk through the phases, from the last one that was finished on."""
    yield Stage(units=(ITEM,), do=lambda item: _grow(job, item), items=0)


async def _grow(job: Job[GrowthPlan], item: str) -> None:
    home, plan, tree = job.home, job.plan, tree_of(job.run)
    criteria, placed = tree_criteria(home, tree), placed_before(home, plan, tree)
    progress = job.progress
    progress.samples = len({one.sample_id for one in criteria if one.key not in placed})
    before = 0

    def told(phase: str, done: int, total: int) -> None:
        nonlocal before
        if done == 0:
            before = progress.done
            progress.items += total
        progress.done = before + done

    services = {one.name: getattr(job.context, one.name) for one in fields(Context)}
    context = GrowthContext(
        **services,
        criteria=criteria,
        growth=plan.growth,
        keeper=_Keeper(home, tree, job.run.id, plan.judge_name),
        placed=placed,
        told=told,
    )
    first = plan.onto or await job.services.store.put(to_version(new_tree(plan.growth.categories)))
    inputs = {"version": first, "base": plan.onto, "round": 0}
    await job.walk(cast("GraphFile", taxonomy_growth), inputs, item, context=context)
    await job.close(item)


class _Keeper:
    """Keeps the versions of one growth in a home."""

    def __init__(self, home: Home, tree: str, run: str, judge: str) -> None:
        self._home, self._tree, self._run, self._judge = home, tree, run, judge

    async def keep(self, version: TreeVersion, report: PhaseReport, placements: Sequence[Placement]) -> None:
        """Keep a version as the tree's newest."""
        await put_version(
            self._home,
            self._tree,
            version,
            phase=report.phase,
            run_id=self._run,
            made_by=self._judge,
            report=report.model_dump(mode="json"),
            placements=placements,
        )

    async def placements(self, version_id: str) -> list[Placement]:
        """Return where a version's criteria are mapped."""
        return mappings(self._home, version_id, tree=self._tree)
