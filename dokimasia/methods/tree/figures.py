"""The figures of a growth (leaves, coverage, rejections, moves) and the rows of its export."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from dokimasia.algorithms.taxonomy import attributes_of, leaves
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.algorithms.trees.places import leaf_mapping
from dokimasia.domain.capability import LAYERS, Level
from dokimasia.domain.growth import FailedBatch, Phase, PhaseReport, Rejection, TreeCriterion
from dokimasia.domain.identity import Value
from dokimasia.methods.tree.request import GrowthPlan, tree_of
from dokimasia.methods.tree.stored_trees import LoadedTree, load_stored
from dokimasia.report.blocks import Cell, Span
from dokimasia.report.fields import Count, Counts, Coverage, Display
from dokimasia.report.figures import NOTHING, count
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.figure_models import Heading, Judge, Seed
from dokimasia.runs.figures import is_simulated, simulated_names
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.runs import Run
from dokimasia.storage.trees.versions import StoredVersion, get_version, mappings, versions_of_run

if TYPE_CHECKING:
    from dokimasia.runs.reading.exporting import ColumnType, Export

MOST_REJECTIONS, MOST_MOVES = 20, 100
PARENT = LAYERS.index("parent")

COLUMNS: "dict[str, ColumnType]" = {
    "run": "text",
    "tree": "text",
    "version": "text",
    "criterion": "text",
    "text": "text",
    "ground_truth": "text",
    "sample": "text",
    "stratum": "text",
    "leaf": "text",
    "failure": "text",
    "reason": "text",
    "model": "text",
    "prompt": "text",
    "call_key": "text",
    "simulated": "truth",
}
"""Columns of a growth's export; `leaf` is null for an unplaced criterion, and `failure` gives the reason."""


def _count(value: int, place: str) -> Cell:
    if value:
        return count(value, place)
    return NOTHING


class PhaseFigures(Value):
    """The changes by one phase of a growth, and the version at its end."""

    version: str = Field(description="the version's id")
    position: Count = Field(description="the version's number in the tree")
    phase: Annotated[Phase, Display("phase", numeric=False, write=lambda phase, _: Span(phase, "strong"))]
    round: Annotated[Count, Display("round", write=_count)]
    calls: Annotated[Count, Display("calls", write=_count)] = Field(description="calls of the judge")
    asked: Count = Field(description="criteria or leaves that the judge was asked about")
    added: Annotated[Count, Display("added", write=_count)] = Field(description="leaves and parents added")
    merged: Annotated[Count, Display("merged", write=_count)] = Field(
        description="leaves and parents merged into others"
    )
    renamed: Annotated[Count, Display("renamed", write=_count)] = Field(
        default=0, description="vague leaves and parents that got a better name"
    )
    pruned: Annotated[Count, Display("pruned", write=_count)] = Field(description="leaves and parents taken away")
    placed: Annotated[Count, Display("placed", write=_count)] = Field(description="criteria that got a leaf")
    unplaced: Counts = Field(description="criteria without a leaf, by why")
    rejected: Annotated[Count, Display("rejected", write=_count)] = Field(
        description="parts of replies that were not taken up"
    )
    failures: tuple[FailedBatch, ...] = Field(description="calls that brought nothing")


class Leaf(Value):
    """A leaf of the tree."""

    leaf: str = Field(description="its path, such as <Understanding><Layout Sense><Spatial Relations>")
    support: Count = Field(description="criteria that it rests on")


class MovedCriterion(Value):
    """A criterion with another place than in the base tree."""

    criterion: str = Field(description="its key")
    text: str
    before: str | None = Field(alias="from", description="the leaf that it had; null: none")
    to: str | None = Field(description="the leaf that it has; null: none")


class TreeFigures(Heading):
    """The figures of tree growth."""

    tree: str = Field(description="the tree's name")
    source: str = Field(description="where the criteria are from: a run's id, or a file's name")
    judge: Judge
    embedding: str | None = Field(description="the model by whose embeddings equal names are found; null: by n-grams")
    seed: Seed
    level: Level = Field(
        description="what the leaves are: capabilities, or the parents that are right above them elsewhere"
    )
    notes: tuple[str, ...] = Field(description="what was said before it started, such as that criteria are few")
    grown_on: str | None = Field(description="the version that was grown on; null for a new tree")
    phases: tuple[PhaseFigures, ...]
    calls: Count = Field(description="calls of the judge in all phases")
    rejected: Count = Field(description="parts of replies that were not taken up")
    rejections: tuple[Rejection, ...] = Field(description="the first of them")
    version: str | None = Field(description="the newest version that the growth made; null before there is one")
    position: Count = Field(default=0, description="its number in the tree; absent before there is a version")
    n: Count = Field(description="criteria that were to be mapped; 0 before they are")
    mapped: Count = Field(description="criteria that have a leaf")
    coverage: Coverage = Field(description="mapped of n, 0 to 1; null before criteria are mapped")
    unplaced: Counts = Field(description="criteria without a leaf, by why")
    calls_per_criterion: float | None = Field(
        default=None, ge=0, description="null before criteria are mapped; absent before there is a version"
    )
    parents: Count = Field(default=0, description="nodes right below categories; absent before there is a version")
    leaves: tuple[Leaf, ...]
    new_criteria: Count = Field(default=0, description="criteria that are new; only where a tree was grown on")
    new_leaves: tuple[str, ...] = Field(default=(), description="leaves that are new; only where a tree was grown on")
    moved_count: Count = Field(default=0, description="criteria that are elsewhere now; only where a tree was grown on")
    moved: tuple[MovedCriterion, ...] = Field(
        default=(), description="the first of them; only where a tree was grown on"
    )


def growth_json(home: Home, run: Run) -> dict[str, object]:
    """Return the figures of a growth as plain JSON, without fields that do not apply."""
    return growth_figures(home, run).model_dump(mode="json", by_alias=True, exclude_unset=True)


def growth_figures(home: Home, run: Run) -> TreeFigures:
    """Return the figures of a growth; the same stored rows give the same bytes."""
    plan = run.plan_as(GrowthPlan)
    versions = versions_of_run(home, run.id)
    reports = [PhaseReport.model_validate(version.report) for version in versions if version.report]
    rejections = [rejection for report in reports for rejection in report.rejections]
    calls = sum(report.calls for report in reports)
    figures: dict[str, object] = {
        "run": run.id,
        "tree": tree_of(run),
        "status": run.status,
        "source": plan.source,
        "judge": plan.judge_name,
        "embedding": plan.growth.embedding or None,
        "simulated": simulated_names(plan.models.values()),
        "seed": plan.growth.seed,
        "level": plan.growth.level,
        "notes": Estimate.of_run(run).notes,
        "grown_on": plan.onto or None,
        "phases": [_phase(version) for version in versions if version.report],
        "calls": calls,
        "rejected": sum(report.rejected for report in reports),
        "rejections": rejections[:MOST_REJECTIONS],
    }
    if versions:
        loaded = load_stored(home, versions[-1])
        figures |= _tree(loaded, calls)
        if plan.onto:
            figures |= _moves(home, plan.onto, loaded)
    else:
        figures |= {"version": None, "n": 0, "mapped": 0, "coverage": None, "unplaced": {}, "leaves": ()}
    return TreeFigures.model_validate(figures)


def _phase(version: StoredVersion) -> PhaseFigures:
    report = {name: value for name, value in version.report.items() if name != "rejections"}
    return PhaseFigures.model_validate({"version": version.id, "position": version.position, **report})


def _tree(loaded: LoadedTree, calls: int) -> dict[str, object]:
    tree, n = loaded.tree, len(loaded.placements)
    mapped = sum(placement.leaf is not None for placement in loaded.placements)
    return {
        "version": loaded.stored.id,
        "position": loaded.stored.position,
        "n": n,
        "mapped": mapped,
        "coverage": mapped / n if n else None,
        "unplaced": loaded.unplaced,
        "calls_per_criterion": calls / n if n else None,
        "parents": sum(attributes_of(tree, node).layer == PARENT for node in tree),
        "leaves": [Leaf(leaf=leaf, support=attributes_of(tree, leaf).support) for leaf in leaves(tree)],
    }


def _moves(home: Home, base: str, loaded: LoadedTree) -> dict[str, object]:
    """Return the criteria that moved since the base version, and the new ones."""
    after = {placement.criterion: placement.leaf for placement in loaded.placements}
    version = get_version(home, base)
    before: dict[str, str | None] = {}
    for placement in mappings(home, base, tree=loaded.stored.tree):
        before[placement.criterion] = placement.leaf
    before |= leaf_mapping(from_version(version))
    moved_keys = sorted(key for key in before if key in after and before[key] != after[key])
    new_leaves = {leaf for leaf in after.values() if leaf is not None} - {node.id for node in version.nodes}
    moves: list[MovedCriterion] = []
    for key in moved_keys[:MOST_MOVES]:
        text = loaded.criteria[key].text if key in loaded.criteria else ""
        move = {"criterion": key, "text": text, "from": before[key], "to": after[key]}
        moves.append(MovedCriterion.model_validate(move))
    return {
        "new_criteria": len(after.keys() - before.keys()),
        "new_leaves": sorted(new_leaves),
        "moved_count": len(moved_keys),
        "moved": moves,
    }


def growth_rows(home: Home, run: Run) -> "Export":
    """Return one row per criterion, sorted by key: its leaf in the growth's last version, and who placed it.

    A growth stopped before its criteria were mapped has no rows. One call maps many criteria, so that a row has no
    cost; `call_key` names the call.
    """
    from dokimasia.runs.reading.exporting import Export

    phases = versions_of_run(home, run.id)
    if not phases:
        return Export(COLUMNS, [])
    loaded = load_stored(home, phases[-1])
    calls = SqliteLedger(home).calls_for(placement.call for placement in loaded.placements if placement.call)
    rows: list[dict[str, object]] = []
    for placement in loaded.placements:
        criterion = loaded.criteria.get(placement.criterion) or TreeCriterion(placement.criterion, "", "")
        rows.append(
            {
                "run": run.id,
                "tree": loaded.stored.tree,
                "version": loaded.stored.id,
                "criterion": placement.criterion,
                "text": criterion.text or None,
                "ground_truth": criterion.ground_truth or None,
                "sample": criterion.sample_id or None,
                "stratum": criterion.stratum or None,
                "leaf": placement.leaf,
                "failure": placement.failure or None,
                "reason": placement.reason or None,
                "model": placement.model or None,
                "prompt": f"{placement.prompt}@{placement.prompt_version}" if placement.prompt else None,
                "call_key": placement.call or None,
                "simulated": placement.call in calls and is_simulated(calls[placement.call].model),
            }
        )
    return Export(COLUMNS, rows)
