"""What a growth came to, from its stored rows: the tree, how much has a place, what was refused, and what moved."""

from typing import TYPE_CHECKING, Any

from dokimasia.algorithms.taxonomy import leaves
from dokimasia.algorithms.trees.node_link import from_version
from dokimasia.algorithms.trees.places import leaf_mapping
from dokimasia.domain.capability import LAYERS
from dokimasia.domain.growth import TreeCriterion
from dokimasia.methods.tree.reading.trees import LoadedTree, load_stored
from dokimasia.methods.tree.request import GrowthPlan, tree_of
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.figures import is_simulated, simulated
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.runs import Run
from dokimasia.storage.trees.versions import StoredVersion, get_version, mappings, versions_of_run

if TYPE_CHECKING:
    from dokimasia.runs.method import ColumnType, Export

SHOWN_REJECTIONS, SHOWN_MOVES = 20, 100
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
"""What the export of a growth says of each criterion; `leaf` is null where it has no place, and `failure` says why."""


def growth_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a growth, as `shape.TreeFigures` describes them; the same stored rows give the same bytes."""
    plan = GrowthPlan.model_validate(run.options["plan"])
    phases = versions_of_run(home, run.id)
    judge = plan.judge.ref
    summary: dict[str, Any] = {
        "run": run.id,
        "tree": tree_of(run),
        "status": run.status,
        "source": plan.source,
        "judge": judge.name,
        "embedding": plan.growth.embedding or None,
        "simulated": simulated(plan.models.values()),
        "seed": plan.growth.seed,
        "level": plan.growth.level,
        "notes": list(Estimate.model_validate(run.options["estimate"]).notes),
        "grown_on": plan.onto or None,
        "phases": [_phase(one) for one in phases if one.report],
    }
    reports = [one.report for one in phases]
    rejections = [rejection for report in reports for rejection in report.get("rejections", ())]
    calls = sum(int(report.get("calls", 0)) for report in reports)
    summary |= {
        "calls": calls,
        "rejected": sum(int(report.get("rejected", 0)) for report in reports),
        "rejections": rejections[:SHOWN_REJECTIONS],
    }
    if not phases:
        return summary | {"version": None, "n": 0, "mapped": 0, "coverage": None, "unplaced": {}, "leaves": []}
    loaded = load_stored(home, phases[-1])
    tree, placements = loaded.tree, loaded.placements
    mapped = sum(one.leaf is not None for one in placements)
    return summary | {
        "version": loaded.stored.id,
        "position": loaded.stored.position,
        "n": len(placements),
        "mapped": mapped,
        "coverage": mapped / len(placements) if placements else None,
        "unplaced": loaded.unplaced,
        "calls_per_criterion": calls / len(placements) if placements else None,
        "parents": sum(tree.nodes[node]["layer"] == PARENT for node in tree),
        "leaves": [{"leaf": leaf, "support": int(tree.nodes[leaf]["support"])} for leaf in leaves(tree)],
        **(_moves(home, plan.onto, loaded) if plan.onto else {}),
    }


def growth_rows(home: Home, run: Run) -> "Export":
    """Return one row a criterion, sorted by key: where the last version that the growth made has it, and by whose word.

    A growth that was stopped before its criteria were mapped has no rows. One call maps many criteria, so that what a
    call cost is no figure of a row: `call_key` says which one it was.
    """
    from dokimasia.runs.method import Export

    phases = versions_of_run(home, run.id)
    if not phases:
        return Export(COLUMNS, [])
    loaded = load_stored(home, phases[-1])
    calls = SqliteLedger(home).calls_for(one.call for one in loaded.placements if one.call)
    rows: list[dict[str, Any]] = []
    for one in loaded.placements:
        criterion = loaded.criteria.get(one.criterion) or TreeCriterion(one.criterion, "", "")
        rows.append(
            {
                "run": run.id,
                "tree": loaded.stored.tree,
                "version": loaded.stored.id,
                "criterion": one.criterion,
                "text": criterion.text or None,
                "ground_truth": criterion.ground_truth or None,
                "sample": criterion.sample_id or None,
                "stratum": criterion.stratum or None,
                "leaf": one.leaf,
                "failure": one.failure or None,
                "reason": one.reason or None,
                "model": one.model or None,
                "prompt": f"{one.prompt}@{one.prompt_version}" if one.prompt else None,
                "call_key": one.call or None,
                "simulated": one.call in calls and is_simulated(calls[one.call].model),
            }
        )
    return Export(COLUMNS, rows)


def _phase(one: StoredVersion) -> dict[str, Any]:
    report = {name: value for name, value in one.report.items() if name != "rejections"}
    return {"version": one.id, "position": one.position, **report}


def _moves(home: Home, base: str, loaded: LoadedTree) -> dict[str, Any]:
    """Return what of the tree that was grown on is elsewhere since, and what is new."""
    now = {one.criterion: one.leaf for one in loaded.placements}
    version = get_version(home, base)
    before: dict[str, str | None] = {one.criterion: one.leaf for one in mappings(home, base, tree=loaded.stored.tree)}
    before |= leaf_mapping(from_version(version))
    moved = sorted(one for one in before if one in now and before[one] != now[one])
    text_of = {key: one.text for key, one in loaded.criteria.items()}
    return {
        "new_criteria": len(now.keys() - before.keys()),
        "new_leaves": sorted({leaf for leaf in now.values() if leaf is not None} - {node.id for node in version.nodes}),
        "moved_count": len(moved),
        "moved": [
            {"criterion": one, "text": text_of.get(one, ""), "from": before[one], "to": now[one]}
            for one in moved[:SHOWN_MOVES]
        ],
    }
