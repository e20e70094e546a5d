"""What a growth came to, from its stored rows: the tree, how much has a place, what was refused, and what moved."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from dokimasia.algorithms.taxonomy import leaves
from dokimasia.algorithms.trees.node_link import from_version
from dokimasia.domain.capability import DEEPEST
from dokimasia.domain.growth import TreeCriterion
from dokimasia.methods.tree.request import GrowthPlan, tree_of
from dokimasia.runs.figures import is_simulated, simulated
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.runs import Run
from dokimasia.storage.trees.versions import get_version, mappings, tree_criteria, versions_of_run

if TYPE_CHECKING:
    from dokimasia.runs.reading.exporting import ColumnType, Export

SHOWN_REJECTIONS, SHOWN_MOVES = 20, 100

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
        "grown_on": plan.onto or None,
        "phases": [{"version": one.id, "position": one.position, **_phase(one.report)} for one in phases if one.report],
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
    last = phases[-1]
    tree = from_version(get_version(home, last.id))
    placements = mappings(home, last.id, tree=last.tree)
    mapped = sum(one.leaf is not None for one in placements)
    held = leaves(tree)
    return summary | {
        "version": last.id,
        "position": last.position,
        "n": len(placements),
        "mapped": mapped,
        "coverage": mapped / len(placements) if placements else None,
        "unplaced": dict(sorted(Counter(one.failure for one in placements if one.leaf is None).items())),
        "calls_per_criterion": calls / len(placements) if placements else None,
        "parents": sum(tree.nodes[node]["layer"] == DEEPEST - 1 for node in tree),
        "leaves": [{"leaf": leaf, "support": int(tree.nodes[leaf]["support"])} for leaf in held],
        **(_moves(home, plan.onto, last.tree, {one.criterion: one.leaf for one in placements}) if plan.onto else {}),
    }


def growth_rows(home: Home, run: Run) -> "Export":
    """Return one row a criterion, sorted by key: where the last version that the growth made has it, and by whose word.

    A growth that was stopped before its criteria were mapped has no rows. One call maps many criteria, so that what a
    call cost is no figure of a row: `call_key` says which one it was.
    """
    from dokimasia.runs.reading.exporting import Export

    phases = versions_of_run(home, run.id)
    if not phases:
        return Export(COLUMNS, [])
    last = phases[-1]
    placements = mappings(home, last.id, tree=last.tree)
    calls = SqliteLedger(home).calls_for(one.call for one in placements if one.call)
    known = {one.key: one for one in tree_criteria(home, last.tree)}
    rows: list[dict[str, Any]] = []
    for one in placements:
        criterion = known.get(one.criterion) or TreeCriterion(one.criterion, "", "")
        rows.append(
            {
                "run": run.id,
                "tree": last.tree,
                "version": last.id,
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


def _phase(report: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in report.items() if name != "rejections"}


def _moves(home: Home, base: str, tree: str, now: dict[str, str | None]) -> dict[str, Any]:
    """Return what of the tree that was grown on is elsewhere since, and what is new."""
    before: dict[str, str | None] = {one.criterion: one.leaf for one in mappings(home, base, tree=tree)}
    for node in get_version(home, base).nodes:
        if node.id.count("<") == DEEPEST:
            before |= dict.fromkeys(node.members, node.id)
    moved = sorted(one for one in before if one in now and before[one] != now[one])
    text_of = {one.key: one.text for one in tree_criteria(home, tree)} if moved else {}
    old = {node.id for node in get_version(home, base).nodes}
    return {
        "new_criteria": len(now.keys() - before.keys()),
        "new_leaves": sorted({leaf for leaf in now.values() if leaf is not None} - old),
        "moved_count": len(moved),
        "moved": [
            {"criterion": one, "text": text_of.get(one, ""), "from": before[one], "to": now[one]}
            for one in moved[:SHOWN_MOVES]
        ],
    }
