"""Figures of agreement: people with each other, and judges with people (Creation-MMBench, appendix F)."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from dokimasia.algorithms.pairwise import CLOSE, to_category
from dokimasia.algorithms.statistics.agreement import Scale as AlphaScale
from dokimasia.algorithms.statistics.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from dokimasia.domain.annotation import AnnotationUnit
from dokimasia.people.annotation.rated import RatedUnit
from dokimasia.report.fields import as_json
from dokimasia.runs.measures import agreement_coefficient, mean_with_interval, rounded, share_of_hits

Ends = tuple[int, int]
Judged = Mapping[str, Mapping[AnnotationUnit, float]]
"""What each judge says of the units that it could judge, by the judge's name."""

ONE_PERSON = "one annotator: there is nobody to compare with"
ALPHA_SCALES: tuple[AlphaScale, ...] = ("nominal", "ordinal", "interval")


class _Pair(NamedTuple):
    """A rating, what it is held against, and where the thing belongs."""

    value: float
    against: float
    model: str
    cluster: str


def agreement_figures(rated: Sequence[RatedUnit], judged: Judged, ends: Mapping[str, Ends]) -> dict[str, Any]:
    """Return how far people agree with each other and judges with people, by measure, ready for JSON.

    A judge is held against what holds for people: the adjudicated value, else their mean. A person is held against the mean
    of the others, by what was said before anything was adjudicated.

    Args:
        rated: what people said.
        judged: what judges say, on the same scales.
        ends: the lowest and highest rating of each measure.
    """
    return {
        measure: _measure([one for one in rated if one.unit.measure == measure], judged, scale)
        for measure, scale in sorted(ends.items())
    }


def _measure(rated: Sequence[RatedUnit], judged: Judged, scale: Ends) -> dict[str, Any]:
    names = sorted({name for one in rated for name in one.said})
    given = sum(len(one.said) for one in rated)
    several = [one for one in rated if len(one.said) > 1]
    every = [pair for name in names for pair in _with_others(several, name)]
    absent = "" if len(names) > 1 else ONE_PERSON
    if not absent and not several:
        absent = "no two annotators rated the same thing"
    return {
        "scale": list(scale),
        "n": len(rated),
        "annotations": given,
        "coverage": rounded(given / (len(rated) * len(names))) if names else None,
        "adjudicated": sum(one.adjudicated is not None for one in rated),
        "ratings": _ratings(rated, scale),
        "by_category": {
            category: _ratings([one for one in rated if one.place.category == category], scale)
            for category in sorted({one.place.category for one in rated if one.place.category})
        },
        "people": {
            name: {
                "annotations": sum(name in one.said for one in rated),
                **_compared(_with_others(several, name), scale),
            }
            for name in names
        },
        "together": None if absent else _compared(every, scale),
        "absent": absent,
        "pairs": [] if absent else [_two(several, one, other, scale) for one, other in combinations(names, 2)],
        "chance_corrected": None if absent else _chance_corrected(several, names),
        "judges": {name: _judge(rated, said, scale) for name, said in sorted(judged.items())},
    }


def _ratings(rated: Sequence[RatedUnit], scale: Ends) -> dict[str, Any]:
    """Return the mean of what holds for people."""
    values, clusters = [one.reference for one in rated], [one.place.cluster for one in rated]
    return {"n": len(rated), "mean": _mean(values, clusters, scale)}


def _mean(values: Sequence[float], clusters: Sequence[Hashable], bounds: tuple[float, float]) -> dict[str, Any] | None:
    """Return a mean with its interval as JSON; None of nothing."""
    interval = mean_with_interval(values, clusters, seed=0, bounds=bounds)
    return None if interval is None else as_json(interval)


def _judge(rated: Sequence[RatedUnit], said: Mapping[AnnotationUnit, float], scale: Ends) -> dict[str, Any]:
    pairs = [
        _Pair(said[one.unit], one.reference, one.unit.model, one.place.cluster) for one in rated if one.unit in said
    ]
    return {"coverage": rounded(len(pairs) / len(rated)) if rated else None, **_compared(pairs, scale)}


def _with_others(several: Sequence[RatedUnit], name: str) -> list[_Pair]:
    """Return what a person said beside the mean of what the others said."""
    found: list[_Pair] = []
    for one in several:
        others = [value for who, value in one.said.items() if who != name]
        if name in one.said and others:
            mean = sum(others) / len(others)
            found.append(_Pair(one.said[name], mean, one.unit.model, one.place.cluster))
    return found


def _compared(pairs: Sequence[_Pair], scale: Ends) -> dict[str, Any]:
    models = sorted({pair.model for pair in pairs if pair.model})
    by_model = {model: _row([pair for pair in pairs if pair.model == model], scale) for model in models}
    return {**_row(pairs, scale), "by_model": by_model if len(models) > 1 else {}}


def _row(pairs: Sequence[_Pair], scale: Ends) -> dict[str, Any]:
    """Return MAE, consistency and Cohen's kappa with quadratic weights, each with its interval."""
    off = [abs(pair.value - pair.against) for pair in pairs]
    clusters = [pair.cluster for pair in pairs]
    near = as_json(share_of_hits([one <= CLOSE + 1e-9 for one in off], clusters))
    near.pop("bounds")
    return {
        "n": len(pairs),
        "mae": _mean(off, clusters, (0.0, float(scale[1] - scale[0]))),
        "consistency": near,
        "kappa": _kappa([(pair.value, pair.against) for pair in pairs], clusters, scale),
    }


def _kappa(values: Sequence[tuple[float, float]], clusters: Sequence[str], scale: Ends) -> dict[str, Any]:
    """Return Cohen's kappa of two ratings, each taken for the nearest category."""
    places = [tuple(to_category(one, *scale) for one in pair) for pair in values]
    categories = range(scale[0], scale[1] + 1)

    def statistic(use: Sequence[int]) -> float:
        first, second = ([places[at][side] for at in use] for side in (0, 1))
        return cohen_kappa(first, second, weights="quadratic", categories=categories)

    return as_json(agreement_coefficient(statistic, len(places), clusters))


def _two(several: Sequence[RatedUnit], one: str, other: str, scale: Ends) -> dict[str, Any]:
    both = [rated for rated in several if one in rated.said and other in rated.said]
    values = [(rated.said[one], rated.said[other]) for rated in both]
    kappa = _kappa(values, [rated.place.cluster for rated in both], scale)
    return {"people": [one, other], "n": len(both), "same": sum(a == b for a, b in values), "kappa": kappa}


def _chance_corrected(several: Sequence[RatedUnit], names: Sequence[str]) -> dict[str, Any]:
    """Return Fleiss' kappa, where everything was rated by as many, and Krippendorff's alpha on three scales."""
    clusters = [one.place.cluster for one in several]
    rows = [[one.said.get(name) for name in names] for one in several]
    given = [list(one.said.values()) for one in several]

    def of(statistic: Callable[[list[Any]], float], rows: Sequence[Any]) -> dict[str, Any]:
        return as_json(agreement_coefficient(lambda use: statistic([rows[at] for at in use]), len(rows), clusters))

    found = {"n": len(several), "fleiss": of(fleiss_kappa, given)}
    for scale in ALPHA_SCALES:
        found[f"alpha_{scale}"] = of(lambda some, scale=scale: krippendorff_alpha(some, scale=scale), rows)
    return found
