"""Grow a capability tree, offline: from plain (criterion, sample id) pairs, and from a run whose weak points it then names.

Run it with a folder of its own: python examples/grow_taxonomy.py FOLDER
"""

import asyncio
import sys
from pathlib import Path

from dokimasia import EvaluationRequest, evaluate, grow_tree, load_settings
from dokimasia.methods.tree import evaluation_of, tree_figures, validity_of, weaknesses_of
from dokimasia.simulation.world import make_world, write_world
from dokimasia.storage.home import Home


async def from_pairs(folder: Path) -> None:
    """Grow a tree from nothing but criteria and the samples they belong to; no run and no model's answers are needed."""
    pairs = [(step.question, question.id) for _, question in make_world(60, 3) for step in question.steps]
    settings = load_settings(home=folder / "pairs")
    grown = await grow_tree(pairs, judge="sim/judge", settings=settings, name="pairs", min_support=3)
    with Home.open(settings.home, write=False) as home:
        tree = tree_figures(home, "pairs")
    counts = tree.counts
    print(f"{len(pairs)} pairs became {counts.capabilities} capabilities under {counts.parents} parents")
    print(f"without a place: {grown.summary['unplaced'] or 'none'}")
    for node in tree.nodes:
        if node.layer == 1 and node.below:
            print(f"  {node.name}: {node.below} criteria")


async def from_run(folder: Path, run: str) -> None:
    """Grow a tree from a run's criteria and ask it where a model is weak, and whether it is worth asking."""
    settings = load_settings(home=folder / "home")
    grown = await grow_tree(run=run, judge="sim/judge", settings=settings)
    print(f"\ntree {grown.summary['tree']}: {grown.summary['mapped']} of {grown.summary['n']} criteria mapped")
    with Home.open(settings.home, write=False) as home:
        evaluation, _ = evaluation_of(home, run)
        found = weaknesses_of(home, evaluation, "sim/hasty")
        table = validity_of(home, evaluation, baselines=False, resamples=10)
    for node in found.weak:
        print(f"  weak: {node.name}, {node.mean:.0f} of 100, {node.difference:+.0f} against the rest")
    errors = table.taxonomies[0].leave_image_out
    p_value = None if errors.null is None else errors.null.p_value
    print(f"leaves predict scores better by {errors.delta:.2f} points (p = {p_value:.3f})")


async def main(folder: Path) -> None:
    """Do both in a folder."""
    await from_pairs(folder)
    write_world(folder / "world.jsonl", 84, 1)
    settings = load_settings(home=folder / "home")
    request = EvaluationRequest(data=folder / "world.jsonl", judge="sim/judge", models=("sim/strong", "sim/hasty"))
    await from_run(folder, (await evaluate(request, settings=settings)).run)


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".dokimasia/example")
    where.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(where.absolute()))
