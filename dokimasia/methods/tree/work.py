"""A growth walked through its phases: the graph with its context, its versions kept in a home."""

from collections.abc import Mapping, Sequence
from typing import cast

from dokimasia.algorithms.taxonomy import new_tree
from dokimasia.algorithms.trees.node_link import to_version
from dokimasia.domain.capability import DEEPEST, TreeVersion
from dokimasia.domain.growth import PhaseReport, Placement, TreeCriterion
from dokimasia.graphs import drive
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.tree import taxonomy_growth
from dokimasia.graphs.tree.growth_context import GrowthContext
from dokimasia.methods.tree.plan import GrowthPlan
from dokimasia.prompts import PromptLibrary
from dokimasia.runs.concurrency import reporting
from dokimasia.runs.observer import Observer, Progress
from dokimasia.runs.services import Workshop
from dokimasia.storage.checkpoints import delete_thread
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run
from dokimasia.storage.threads import Thread, close_thread, open_thread
from dokimasia.storage.trees.versions import get_version, mappings, put_version


async def walk(
    home: Home,
    run: Run,
    plan: GrowthPlan,
    criteria: Sequence[TreeCriterion],
    placed: Mapping[str, Placement],
    workshop: Workshop,
    library: PromptLibrary,
    observer: Observer,
    samples: int,
) -> None:
    """Take the growth through its phases, from the last one that was finished on."""
    progress = Progress(samples=samples)
    before = [0, 0]

    def told(phase: str, done: int, total: int) -> None:
        if done == 0:
            before[:] = [progress.items, progress.done]
            progress.items += total
        progress.done = before[1] + done

    def report() -> None:
        progress.stats = workshop.gateway.stats()
        observer.progressed(progress)

    context = GrowthContext(
        workshop.gateway,
        workshop.store,
        plan.options,
        plan.growth.seed,
        library,
        criteria=criteria,
        growth=plan.growth,
        keeper=_Keeper(home, str(run.options["tree"]), run.id, plan.judge.ref.name),
        placed=placed,
        told=told,
    )
    first = plan.onto or await workshop.store.put(to_version(new_tree(plan.growth.categories)))
    inputs = {"version": first, "base": plan.onto, "round": 0}
    name, version = taxonomy_growth.NAME, taxonomy_growth.VERSION
    thread = f"{run.id}/tree/{name}@{version}"
    await open_thread(
        home, Thread(thread_id=thread, run_id=run.id, item="tree", graph=name, graph_version=str(version))
    )
    graph = drive.compiled(cast("GraphFile", taxonomy_growth), workshop.saver)
    async with reporting(report):
        await drive.start_or_resume(graph, inputs, context=context, thread=thread)
    await delete_thread(workshop.saver, thread)
    await close_thread(home, thread)


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


def placed_before(home: Home, plan: GrowthPlan, tree: str) -> dict[str, Placement]:
    """Return the criteria that have a leaf in the version that is grown on, with whose word that is where it is known."""
    if not plan.onto:
        return {}
    placed = {
        criterion: Placement(criterion, node.id)
        for node in get_version(home, plan.onto).nodes
        if node.id.count("<") == DEEPEST
        for criterion in node.members
    }
    for one in mappings(home, plan.onto, tree=tree):
        if one.criterion in placed and placed[one.criterion].leaf == one.leaf:
            placed[one.criterion] = one
    return placed
