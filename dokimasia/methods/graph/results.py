"""What a run of a plug-in's graph came to: counts by model, and each item with the values that it made."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from dokimasia.methods.graph.plan import GraphPlan
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_value
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, run_samples


def graph_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a run of a graph, ready for JSON; the same stored rows give the same bytes.

    What a score means is the graph's affair, so scores are listed with the items and not averaged here.
    """
    plan = GraphPlan.model_validate(run.options["plan"])
    rows = results(home, run.id)
    used = SqliteLedger(home).calls_for(dict.fromkeys(key for row in rows for key in row.calls))
    costs = [one.cost for one in used.values()]
    samples = len(run_samples(home, run.id))
    named = [spec.ref.name for spec in plan.models] or [""]
    return {
        "run": run.id,
        "graph": plan.graph,
        "version": plan.version,
        "status": run.status,
        "samples": samples,
        "skipped": run.options.get("skipped", []),
        "open_items": samples * len(named) - len(rows),
        "judge": plan.judge.ref.name,
        "seed": run.seed,
        "models": {name: _counts([row for row in rows if row.model == name]) for name in named},
        "calls": len(used),
        "cost": None if any(cost is None for cost in costs) else round(sum(cost or 0.0 for cost in costs), 6),
    }


def graph_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each finished item with its outcome and the values that it made, ready for JSON; with `sample`, only its."""
    for row in results(home, run.id):
        if sample is None or row.sample_id == sample:
            yield {
                "sample": row.sample_id,
                "model": row.model,
                "outcome": row.outcome,
                "failure": row.failure,
                "reason": row.reason,
                "score": row.score,
                "values": [find_value(home, id) for id in row.value_ids],
                "calls": list(row.calls),
            }


def _counts(rows: list[ResultRow]) -> dict[str, Any]:
    outcomes = Counter(row.outcome for row in rows)
    return {
        "n": len(rows),
        "made": outcomes["made"],
        "scored": outcomes["scored"],
        "failures": dict(sorted(Counter(row.failure for row in rows if row.failure).items())),
    }
