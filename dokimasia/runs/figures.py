"""The parts shared by all methods' figures: the run, its simulated models, its failures, calls and costs."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NotRequired, TypedDict, TypeVar

from pydantic import JsonValue

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import JsonObject
from dokimasia.runs.plans import RunPlan
from dokimasia.runs.requests import LIMITS
from dokimasia.storage.excerpts import rows_of
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run

K = TypeVar("K")
T = TypeVar("T")
Kind = TypeVar("Kind", bound=str)


class CostFields(TypedDict):
    """Costs as fields of `Used`."""

    cost: float | None
    cost_known: NotRequired[float]


class UsedFields(CostFields):
    """Usage of results as fields of `Used`."""

    calls: int


def run_heading(run: Run, plan: RunPlan) -> JsonObject:
    """Return the fields of `Heading`, and the seed."""
    return {
        "run": run.id,
        "status": run.status,
        "seed": run.seed,
        "simulated": simulated_names(plan.models.values()),
    }


def heading(run: Run, plan: RunPlan) -> JsonObject:
    """Return the fields of `DataFigures` without the open items, and the judge's name.

    `passports` is present if the run was given any.
    """
    judged = {"judge": plan.judge_name, "passports": run.options.get("passports")}
    return {
        **run_heading(run, plan),
        "skipped": run.texts("skipped"),
        **{name: value for name, value in judged.items() if value},
    }


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return items grouped by key, with keys and items in order of first appearance."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def ordered_rows(home: Home, run: Run, sample: str | None) -> list[ResultRow]:
    """Return the result rows of a run, or of one of its samples, in order."""
    if sample is None:
        return results(home, run.id)
    return rows_of(home, run.id, [sample]).get(sample, [])


def shown_name(model: str, arm: str) -> str:
    """Return a model's name with its arm: `NAME#blind` for the arm without images."""
    return f"{model}#{arm}" if arm else model


def simulated_names(specs: Iterable[ModelSpec]) -> list[str]:
    """Return the shown names of the simulated models among `specs`."""
    return sorted({spec.ref.name for spec in specs if is_simulated(spec.ref.model)})


def is_simulated(model: str) -> bool:
    """Return whether a model, by its name at its endpoint, is simulated."""
    return "sim" in model.split("/")[:-1]


def calls_and_costs(home: Home, rows: Iterable[ResultRow]) -> UsedFields:
    """Return the number of `calls` that rows used, each counted once, and their `costs`."""
    used = SqliteLedger(home).calls_for(dict.fromkeys(key for row in rows for key in row.calls))
    cost = costs(call.cost for call in used.values())
    return {"calls": len(used), **cost}


def total_cost(costs: Iterable[float | None]) -> float | None:
    """Return the sum of costs, or None if any of them is unknown."""
    all_costs = list(costs)
    if any(cost is None for cost in all_costs):
        return None
    return round(sum(cost or 0.0 for cost in all_costs), 6)


def costs(each: Iterable[float | None], known: Iterable[float | None] = ()) -> CostFields:
    """Return the `cost` of several things as `total_cost`, and the known part as `cost_known` if some of it is unknown.

    `known` are the known parts of those whose cost is None.
    """
    all_costs = list(each)
    total, part = total_cost(all_costs), round(sum(cost or 0.0 for cost in (*all_costs, *known)), 6)
    if total is None and part:
        return {"cost": total, "cost_known": part}
    return {"cost": total}


def failure_counts(rows: Iterable[ResultRow]) -> dict[str, int]:
    """Return how many rows failed, by kind of failure."""
    return counts_by_name(row.failure for row in rows if row.failure is not None)


def counts_by_name(names: Iterable[str] | Iterable[int]) -> dict[str, int]:
    """Return how often each name occurs, in alphabetical order; numbers in numerical order, as texts."""
    return {str(name): count for name, count in sorted(Counter(names).items())}


def count_by_kind(kinds: Iterable[Kind]) -> dict[Kind, int]:
    """Return how often each kind occurs, in alphabetical order."""
    return dict(sorted(Counter(kinds).items()))


def limits_of(run: Run) -> JsonObject:
    """Return a run's limits on spending, by field of its request; None means no limit."""
    return {name: run.request.get(name) for name in LIMITS}


def forked_from(run: Run) -> dict[str, JsonValue] | None:
    """Return the parent of a fork, and the step it began at, if any; None for a run that is not a fork."""
    origin = run.options.get("forked_from")
    if isinstance(origin, dict):
        return origin
    return None
