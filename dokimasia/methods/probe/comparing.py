"""Which judges, paradigms and ways of asking miss more: differences paired by item, tested together."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np

from dokimasia.algorithms.statistics import adjusted
from dokimasia.algorithms.statistics.clusters import Floats
from dokimasia.algorithms.statistics.paired import PERMUTATIONS
from dokimasia.algorithms.statistics.within_clusters import exchange_p_values
from dokimasia.domain.blindspots import Detection, Evaluator, paradigm_of
from dokimasia.runs.reading.rates import paired, rounded

Side = tuple[str, Sequence[Detection]]
Asked = tuple[str, Evaluator]
WITHOUT, WITH = "without", "with"
ORIGINAL, NEW = "original", "new"


def compared(of: str, first: Side, second: Side, *, seed: int) -> dict[str, Any]:
    """Return how much more often errors go undetected on the second side, without the adjusted p-value.

    An item's value on a side is the mean over the evaluators that the side has; it counts where both sides have every one.
    Where one side has more evaluators than the other, evaluators change places within images instead of sides their signs:
    a mean of three less a single value is not symmetric, however alike they are.
    """
    each, every = _values(first[1]), _values(second[1])
    both = [item for item in each if item in every]
    one, other = ({item: fmean(side[item]) for item in both} for side in (each, every))
    clusters = [cluster for _, cluster in both]
    found = paired([other[item] - one[item] for item in both], clusters, widest=1.0, seed=seed)
    p_value = found["p_value"]
    if both and len(each[both[0]]) != len(every[both[0]]):
        values = np.array([[*every[item], *each[item]] for item in both])
        p_value = rounded(_exchanged(values, len(every[both[0]]), clusters, seed=seed))
    return {
        "of": of,
        "first": first[0],
        "second": second[0],
        "n": len(both),
        "shares": [rounded(fmean(side[item] for item in both)) for side in (one, other)] if both else None,
        "difference": found["difference"],
        "p_value": p_value,
    }


def comparisons(errors: Sequence[Detection], *, seed: int) -> dict[str, Any]:
    """Return the comparisons that the tables invite, as `shape.ProbeComparisons` describes them."""
    asked: dict[str, dict[Evaluator, list[Detection]]] = {}
    for one in errors:
        asked.setdefault(one.judge, {}).setdefault(one.evaluator, []).append(one)
    evaluators: dict[Evaluator, None] = dict.fromkeys(one.evaluator for one in errors)
    judges = [
        compared(evaluator, (first, asked[first][evaluator]), (second, asked[second][evaluator]), seed=seed)
        for evaluator in evaluators
        for first, second in combinations([name for name, own in asked.items() if evaluator in own], 2)
    ]
    paradigms: list[dict[str, Any]] = []
    strategies: list[dict[str, Any]] = []
    for judge, own in asked.items():
        kinds: dict[str, list[Evaluator]] = {}
        for evaluator in own:
            kinds.setdefault(paradigm_of(evaluator), []).append(evaluator)
        for first, second in combinations(kinds, 2):
            ends = [(name, [one for evaluator in kinds[name] for one in own[evaluator]]) for name in (first, second)]
            paradigms.append(compared(judge, *ends, seed=seed))
        strategies += [
            compared(f"{judge}, {name}", (first, own[first]), (second, own[second]), seed=seed)
            for name, evaluators in kinds.items()
            for first, second in combinations(evaluators, 2)
        ]
    for family in (judges, paradigms, strategies):
        adjust(family)
    return {"judges": judges, "paradigms": paradigms, "strategies": strategies}


def adjust(family: Sequence[dict[str, Any]]) -> None:
    """Put the `adjusted` p-value into each of a family of tests, beside its own; None where none was made."""
    values = adjusted([one["p_value"] for one in family])
    for one, value in zip(family, values, strict=True):
        one["adjusted"] = None if value is None else rounded(value)


def sides(found: Iterable[Detection]) -> dict[str, dict[Asked, dict[str, list[Detection]]]]:
    """Return what was judged by budget, without tools and with, and by the original and a new reference.

    By model and evaluator, of those with more than one side; where one thing is compared the others are as they are by
    default, but that tools and references are compared under each budget that they were tried with.
    """
    budgets: dict[Asked, dict[str, list[Detection]]] = {}
    tools: dict[Asked, dict[str, list[Detection]]] = {}
    references: dict[Asked, dict[str, list[Detection]]] = {}
    for one in found:
        model = one.model or one.judge
        budgeted = f"{model}@{one.budget}" if one.budget else model
        if not one.tools and not one.new_reference:
            budgets.setdefault((model, one.evaluator), {}).setdefault(one.budget, []).append(one)
        if not one.new_reference:
            own = tools.setdefault((budgeted, one.evaluator), {})
            own.setdefault(WITH if one.tools else WITHOUT, []).append(one)
        if one.evaluator == "reference":
            name = f"{budgeted}+tools" if one.tools else budgeted
            own = references.setdefault((name, one.evaluator), {})
            own.setdefault(NEW if one.new_reference else ORIGINAL, []).append(one)
    return {
        "budgets": _several(budgets),
        "tools": _several(tools, (WITHOUT, WITH)),
        "references": _several(references, (ORIGINAL, NEW)),
    }


def _several(
    found: Mapping[Asked, Mapping[str, list[Detection]]], order: Sequence[str] = ()
) -> dict[Asked, dict[str, list[Detection]]]:
    """Return those with more than one side, the sides in an order that is given, or as they came."""
    return {asked: {name: own[name] for name in (order or own)} for asked, own in found.items() if len(own) > 1}


def _exchanged(values: Floats, second: int, clusters: Sequence[str], *, seed: int) -> float:
    """Return the p-value of a difference of means, of the first so many columns and the others, where any could be the first.

    Every choice of so many columns is a column of the test, the one seen the first of them.
    """
    every = range(values.shape[1])
    choices = [list(one) for one in combinations(every, second)]
    gaps = [values[:, one].mean(axis=1) - np.delete(values, one, axis=1).mean(axis=1) for one in choices]
    return exchange_p_values(np.stack(gaps, axis=1), clusters, seed=seed, draws=PERMUTATIONS)[0]


def _values(found: Sequence[Detection]) -> dict[tuple[str, str], list[float]]:
    """Return each item's value under all evaluators that the side has, by item and cluster; an item that lacks one is out."""
    evaluators: list[str] = list(dict.fromkeys(one.evaluator for one in found))
    values: dict[tuple[str, str], dict[str, float]] = {}
    for one in found:
        if one.undetected is not None:
            values.setdefault((one.item, one.cluster), {})[one.evaluator] = one.undetected
    return {item: [own[name] for name in evaluators] for item, own in values.items() if len(own) == len(evaluators)}
