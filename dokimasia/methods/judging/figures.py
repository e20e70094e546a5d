"""The figures of a comparison: accuracy by judge, method and category, gaps with their tests, what order does to a batch."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from dokimasia.algorithms.orders import earlier_preferred
from dokimasia.algorithms.statistics import adjusted
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.methods.judging.comparing import Comparisons, JudgeAgreement, Scores, agreement, human_agreement
from dokimasia.runs.reading.rates import paired, rounded, share

POINTS = 100.0
"""Differences are in points, 100 for all pairs."""

Ranked = tuple[str, Sequence[str], Sequence[int]]
"""One batch ranking: its sample's cluster, and models and places in the order in which they were shown."""


def judging_figures(
    comparisons: Comparisons, scores: Mapping[str, Mapping[str, Scores]], *, seed: int
) -> dict[str, Any]:
    """Return how far judges and methods rank as people do, ready for JSON.

    Args:
        comparisons: what people said.
        scores: by judge and method.
        seed: of intervals and tests.

    Returns:
        `results`, `gaps` and `people` of `shape.JudgingFigures`.
    """
    found = {
        judge: {method: agreement(comparisons, one) for method, one in methods.items()}
        for judge, methods in scores.items()
    }
    return {
        "people": _people(comparisons),
        "results": {
            judge: {method: _method(comparisons, one) for method, one in methods.items()}
            for judge, methods in found.items()
        },
        "gaps": _gaps(comparisons, found, seed=seed),
    }


def categories_of(comparisons: Comparisons) -> list[str]:
    """Return the categories of the pairs, in alphabetical order; one without a name is none."""
    return sorted({one for one in comparisons.categories if one})


def order_effect(rankings: Iterable[Sequence[Ranked]], *, seed: int) -> dict[str, Any]:
    """Return what the order in which responses are shown does to rankings of the same responses, ready for JSON.

    Args:
        rankings: of each sample, the rankings in its orders.
        seed: of the test.

    Returns:
        `consistent`, how many verdicts on a pair are the same in two orders; `earlier`, how many that are no tie prefer the
        response that was shown earlier (0.5: the order does nothing), and `p_value` of a preference either way.
    """
    same: list[bool] = []
    same_of: list[str] = []
    earlier: list[int] = []
    earlier_of: list[str] = []
    for several in rankings:
        for cluster, _, ranks in several:
            signs = earlier_preferred(ranks)
            earlier += signs
            earlier_of += [cluster] * len(signs)
        for (cluster, models, ranks), (_, other_models, other_ranks) in combinations(several, 2):
            one, other = _verdicts(models, ranks), _verdicts(other_models, other_ranks)
            same += [one[pair] == side for pair, side in other.items()]
            same_of += [cluster] * len(other)
    test = sign_flip_test(earlier, clusters=earlier_of, seed=seed) if earlier else None
    return {
        "consistent": share(same, same_of),
        "earlier": share([one > 0 for one in earlier], earlier_of),
        "p_value": None if test is None else rounded(test.p_value),
    }


def per_point(used: float | None, accuracy: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return calls or US dollars for each point of accuracy, with the interval that the accuracy's leaves; None unknown."""
    if used is None or not accuracy["share"]:
        return None
    ends = {"low": accuracy["high"], "high": accuracy["low"]}
    return {
        "mean": rounded(used / (POINTS * accuracy["share"])),
        **{name: rounded(used / (POINTS * end)) if end else None for name, end in ends.items()},
        **({"no_interval": accuracy["no_interval"]} if accuracy.get("no_interval") else {}),
    }


def _method(comparisons: Comparisons, one: JudgeAgreement) -> dict[str, Any]:
    judged: list[int] = np.flatnonzero(one.judged).tolist()
    clusters = [comparisons.clusters[place] for place in judged]
    unknown = len(comparisons) - len(judged)
    by_category: dict[str, Any] = {}
    for category in categories_of(comparisons):
        at = comparisons.at(category)
        inside = at[one.judged]
        kept = [cluster for cluster, is_in in zip(clusters, inside, strict=True) if is_in]
        by_category[category] = share(
            one.fitted.agreed[inside].tolist(), kept, unknown=int(at.sum()) - int(inside.sum())
        )
    return {
        "accuracy": share(one.fitted.agreed.tolist(), clusters, unknown=unknown),
        "by_category": by_category,
        "coverage": rounded(len(judged) / len(comparisons)) if len(comparisons) else None,
        "margins": [rounded(margin) for margin in one.fitted.margins],
        "unfitted": share(one.plain.tolist(), clusters, unknown=unknown),
        "ties": rounded(float(np.mean(one.fitted.predicted == 0))) if len(judged) else None,
    }


def _people(comparisons: Comparisons) -> dict[str, Any] | None:
    """Return how often two people agree on a pair; None where nobody ranked what somebody else did."""
    agreed, places = human_agreement(comparisons)
    if not agreed:
        return None
    clusters = [comparisons.clusters[place] for place in places]
    by_category: dict[str, Any] = {}
    for category in categories_of(comparisons):
        inside = [at for at, place in enumerate(places) if comparisons.categories[place] == category]
        by_category[category] = share([agreed[at] for at in inside], [clusters[at] for at in inside])
    return {"accuracy": share(agreed, clusters), "by_category": by_category}


def _gaps(
    comparisons: Comparisons, found: Mapping[str, Mapping[str, JudgeAgreement]], *, seed: int
) -> list[dict[str, Any]]:
    """Return the paired differences of all methods, by judge and category, tested and adjusted all together."""
    places = {"": comparisons.at("")} | {one: comparisons.at(one) for one in categories_of(comparisons)}
    gaps: list[dict[str, Any]] = []
    for judge, methods in found.items():
        hits = {method: one.hits for method, one in methods.items()}
        for first, second in combinations(methods, 2):
            steps = hits[second] - hits[first]
            for category, at in places.items():
                both: list[int] = np.flatnonzero(at & ~np.isnan(steps)).tolist()
                gap = paired(
                    (POINTS * steps[both]).tolist(),
                    [comparisons.clusters[place] for place in both],
                    widest=POINTS,
                    seed=seed,
                )
                gaps.append(
                    {
                        "judge": judge,
                        "category": category or None,
                        "first": first,
                        "second": second,
                        "n": len(both),
                        "difference": gap["difference"],
                        "p_value": gap["p_value"],
                    }
                )
    for gap, value in zip(gaps, adjusted([gap["p_value"] for gap in gaps]), strict=True):
        gap["adjusted"] = None if value is None else rounded(value)
    return gaps


def _verdicts(models: Sequence[str], ranks: Sequence[int]) -> dict[tuple[str, str], int]:
    """Return which of two models is ranked above, by their names in order: 1 the first, -1 the second, 0 neither."""
    placed = sorted(zip(models, ranks, strict=True))
    return {
        (one, other): (place < behind) - (place > behind) for (one, place), (other, behind) in combinations(placed, 2)
    }
