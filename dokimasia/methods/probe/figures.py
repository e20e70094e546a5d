"""From detections to the figures of a probe: rates by judge and evaluator, groups by paradigm, ways of asking side by side."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from dokimasia.algorithms.blindspots import FailureRate, ItemShare, failure_rates, item_share
from dokimasia.algorithms.pairwise import (
    position_bias,
    position_bias_interval,
    position_consistency,
    position_consistency_interval,
)
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.domain.blindspots import Detection, Evaluator, Task, paradigm_of
from dokimasia.methods.probe.comparing import adjust, compared, comparisons, sides
from dokimasia.runs.figures import counted
from dokimasia.runs.reading.rates import limits, mean_interval, rounded

CHOSEN = 2
"""A verdict of a pair on the scale of duels' verdicts, so that a place that always wins has a bias of 100."""


def figures_of(detections: Iterable[Detection], *, seed: int) -> dict[str, Any]:
    """Return what a probe found, ready for JSON: `tasks` of `shape.ProbeFigures`.

    Args:
        detections: what came of each item, in the run's order.
        seed: of the bootstrap and of the tests.
    """
    tasks: dict[Task, list[Detection]] = {}
    for one in detections:
        tasks.setdefault(one.task, []).append(one)
    return {"tasks": {task: _task(own, seed=seed) for task, own in tasks.items()}}


def shares(one: ItemShare) -> dict[str, Any]:
    """Return a share as `shape.ProbeShare` describes it."""
    known: dict[str, Any] = {"share": None, "low": None, "high": None}
    if one.share is not None and one.interval is not None:
        known = {"share": rounded(one.share), **limits(one.interval)}
    return {
        **known,
        "n": one.n,
        "n_scored": one.n_scored,
        "coverage": None if one.coverage is None else rounded(one.coverage),
        "bounds": one.bounds and {"low": rounded(one.bounds[0]), "high": rounded(one.bounds[1])},
    }


def places(found: Sequence[Detection], *, seed: int) -> dict[str, Any] | None:
    """Return what the order of places does to a judge's pairs, without the adjusted p-value; None without any pair."""
    pairs = [(one.orders, one.cluster) for one in found if one.orders is not None]
    if not pairs:
        return None
    clusters = [cluster for _, cluster in pairs]
    first, second = ([CHOSEN * orders[side] for orders, _ in pairs] for side in (0, 1))
    agreeing = position_consistency_interval(first, second, clusters=clusters)
    biased = position_bias_interval(first, second, clusters=clusters, seed=seed)
    test = sign_flip_test([a - b for a, b in zip(first, second, strict=True)], clusters=clusters, seed=seed)
    return {
        "n": len(pairs),
        "consistency": {"mean": rounded(position_consistency(first, second)), **limits(agreeing)},
        "bias": {"mean": rounded(position_bias(first, second) / 100), **limits(biased, unit=0.01)},
        "p_value": rounded(test.p_value),
    }


def _task(found: Sequence[Detection], *, seed: int) -> dict[str, Any]:
    """Return the figures of one task."""
    rows = failure_rates([one for one in found if not one.new_reference], seed=seed)
    judges: dict[str, dict[str, Any]] = {}
    by_judge: dict[str, list[Detection]] = {}
    for one in found:
        if not one.new_reference:
            by_judge.setdefault(one.judge, []).append(one)
    for name, own in by_judge.items():
        evaluators = {
            row.evaluator: _evaluator(
                row,
                [other for other in rows if (other.judge, other.evaluator) == (name, row.evaluator)],
                [one for one in own if one.evaluator == row.evaluator],
                seed=seed,
            )
            for row in rows
            if row.judge == name and row.scope == "all"
        }
        asked = own[0]
        judges[name] = {
            "model": asked.model or name,
            "budget": asked.budget,
            "tools": asked.tools,
            "evaluators": evaluators,
        }
    adjust([one["places"] for judge in judges.values() for one in judge["evaluators"].values() if one["places"]])
    shown = _shown(judges)
    errors = [one for one in found if one.case == "error"]
    return {
        "dimensions": {one.dimension: one.group for one in errors},
        "shown": shown,
        "judges": judges,
        "groups": _groups([one for one in errors if one.judge in shown and not one.new_reference], seed=seed),
        "comparisons": comparisons([one for one in errors if one.judge in shown and not one.new_reference], seed=seed),
        **{name: _beside(some, seed=seed) for name, some in sides(found).items()},
    }


def _evaluator(
    whole: FailureRate, rows: Sequence[FailureRate], found: Sequence[Detection], *, seed: int
) -> dict[str, Any]:
    kept = whole.kept
    assert kept is not None  # the row of all errors has it
    return {
        **_kind(whole),
        **{name: shares(getattr(kept, name)) for name in kept._fields},
        "places": places(found, seed=seed),
        "groups": {row.name: _kind(row) for row in rows if row.scope == "group"},
        "dimensions": {row.name: _kind(row) for row in rows if row.scope == "dimension"},
        "failures": counted(one.failure for one in found if one.failure),
    }


def _kind(row: FailureRate) -> dict[str, Any]:
    names = ("undetected", "strict", "either", "both", "overall", "worse", "named", "unnoticed")
    measured = {name: None if (one := getattr(row, name)) is None else shares(one) for name in names}
    spot = row.spot and {
        "p_value": rounded(row.spot.p_value),
        "adjusted": rounded(row.spot.adjusted),
        "blind": row.spot.blind,
        "images": row.spot.images,
        "alone": row.spot.alone,
    }
    return {**measured, "spot": spot}


def _shown(judges: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return of each model the way of asking that stands in the main table: without tools, at the last budget named."""
    best: dict[str, str] = {}
    for name, one in judges.items():
        other = best.get(one["model"])
        if other is None or not one["tools"] or judges[other]["tools"]:
            best[one["model"]] = name
    return list(best.values())


def _groups(errors: Sequence[Detection], *, seed: int) -> dict[str, Any]:
    """Return by group and paradigm the mean over judges and evaluators, each item's own mean first."""
    cells: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = {}
    for one in errors:
        own = cells.setdefault((one.group, paradigm_of(one.evaluator)), {})
        if one.undetected is not None:
            own.setdefault((one.item, one.cluster), []).append(one.undetected)
    found: dict[str, Any] = {}
    for (group, paradigm), items in cells.items():
        values, clusters = [fmean(one) for one in items.values()], [cluster for _, cluster in items]
        found.setdefault(group, {})[paradigm] = mean_interval(values, clusters, seed=seed, bounds=(0.0, 1.0))
    return found


def _beside(several: Mapping[tuple[str, Evaluator], Mapping[str, Sequence[Detection]]], *, seed: int) -> list[Any]:
    """Return ways of asking one judge side by side, as `shape.ArmsBeside` describes them."""
    found: list[dict[str, Any]] = []
    for (model, evaluator), arms in several.items():
        errors = {name: [one for one in own if one.case == "error"] for name, own in arms.items()}
        names = list(arms)
        pairs = [(first, second) for at, first in enumerate(names) for second in names[at + 1 :]]
        dimensions = (
            list(dict.fromkeys(one.dimension for own in errors.values() for one in own)) if len(names) == 2 else []
        )
        found.append(
            {
                "model": model,
                "evaluator": evaluator,
                "arms": {
                    name: {
                        "undetected": shares(item_share([(one.undetected, one.cluster) for one in errors[name]])),
                        "equal": shares(item_share([(one.equal, one.cluster) for one in own if one.case == "neutral"])),
                    }
                    for name, own in arms.items()
                },
                "differences": [compared("", (a, errors[a]), (b, errors[b]), seed=seed) for a, b in pairs],
                "dimensions": {
                    dimension: compared(
                        "",
                        *((name, [one for one in errors[name] if one.dimension == dimension]) for name in names),
                        seed=seed,
                    )
                    for dimension in dimensions
                },
            }
        )
    adjust([difference for one in found for difference in one["differences"]])
    adjust([difference for one in found for difference in one["dimensions"].values()])
    return found
