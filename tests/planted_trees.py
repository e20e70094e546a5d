"""A capability tree for a run of the planted world, made from what is planted: no judge has a part in it."""

import asyncio
from pathlib import Path

from dokimasia.algorithms.taxonomy import add_all, assign, holder, leaves, new_tree, prune
from dokimasia.algorithms.trees.formats import to_version
from dokimasia.algorithms.trees.places import leaf_mapping
from dokimasia.domain.capability import TreeEdit
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.growth import Placement, TreeCriterion
from dokimasia.domain.identity import value_id
from dokimasia.simulation.world import make_world
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from dokimasia.storage.results import results
from dokimasia.storage.runs import SqliteValueStore, load_samples
from dokimasia.storage.trees.lookup import criterion_key
from dokimasia.storage.trees.versions import create_tree, keep_criteria, put_version

GROWTH = "feed" * 4
JUDGE = "sim/judge"


def plant_tree(home: Path, run: str, samples: int, seed: int, *, name: str = "planted", min_support: int = 5) -> None:
    """Give the run of a world a tree of three versions: before its pruning, pruned, and mapped."""

    async def plant() -> None:
        planted = {
            question.id: [step.capability for step in question.steps] for _, question in make_world(samples, seed)
        }
        with Home.open(home, write=True) as opened:
            found = resolve_run(opened, run)
            store, by_id = SqliteValueStore(opened, found.id), {one.id: one for one in load_samples(opened, found.id)}
            criteria: list[TreeCriterion] = []
            leaf_of: dict[str, str] = {}
            for row in results(opened, found.id):
                if row.kind != "replay" or row.criteria_id is None or row.sample_id not in planted:
                    continue
                sample, made = by_id[row.sample_id], await store.get(CriteriaSet, row.criteria_id)
                if len(made.criteria) != len(planted[sample.id]):
                    continue
                for number, (one, leaf) in enumerate(zip(made.criteria, planted[sample.id], strict=True), start=1):
                    key = criterion_key(row.criteria_id, number)
                    leaf_of[key] = leaf
                    criteria.append(
                        TreeCriterion(
                            key,
                            one.question,
                            sample.id,
                            sample.category or "",
                            one.ground_truth,
                            sample.prompt,
                            sample.cluster,
                        )
                    )
            paths = sorted(set(leaf_of.values()))
            whole = assign(add_all(new_tree(), paths), leaf_of)
            first = to_version(
                whole, edits=[TreeEdit(kind="add", node=path, reason="nothing fitted", by="judge") for path in paths]
            )
            small = prune(whole, min_support)
            gone = [path for path in paths if path not in leaves(small)]
            second = to_version(
                small,
                before=value_id(first),
                edits=[
                    TreeEdit(kind="prune", node=path, into=holder(small, path), reason="too little support")
                    for path in gone
                ],
            )
            held = leaf_mapping(small)
            third = to_version(assign(small, held), before=value_id(second))
            placements = [
                Placement(key, held.get(key), "" if key in held else "unplaced", "", "call", JUDGE, "tree_map", 1)
                for key in sorted(leaf_of)
            ]
            await create_tree(opened, name, run_id=GROWTH, source=found.id)
            await keep_criteria(opened, name, criteria)
            await put_version(opened, name, first, phase="merge", run_id=GROWTH, made_by=JUDGE)
            await put_version(opened, name, second, phase="prune", run_id=GROWTH, made_by=JUDGE)
            await put_version(opened, name, third, phase="map", run_id=GROWTH, made_by=JUDGE, placements=placements)

    asyncio.run(plant())
