"""What the density filter kept, by domain: counts, shares with intervals, mean ratings."""

from collections import Counter
from typing import Any

from dokimasia.algorithms.statistics.intervals import bootstrap_interval
from dokimasia.domain.density import DOMAIN_TITLES, HIGHEST, LOWEST, DensityRating
from dokimasia.runs.reading.rates import share
from dokimasia.storage.home import Home
from dokimasia.storage.results import result_failures, results
from dokimasia.storage.reviews import Made, made_values
from dokimasia.storage.runs import run_samples

DIGITS = 6


def filter_figures(home: Home, run_id: str) -> dict[str, Any]:
    """Return the figures of a run of the filter, ready for JSON.

    Returns:
        What `shape.FilterFigures` describes, less what all runs say.
    """
    places = run_samples(home, run_id)
    rated = made_values(home, run_id, DensityRating)
    failures = dict(result_failures(home, run_id))
    unrated = len(results(home, run_id)) - len(rated)
    counted = Counter(rating.domain for _, rating in rated)
    return {
        "n": len(places),
        "n_rated": len(rated),
        "open_items": len(places) - len(rated) - unrated,
        "coverage": round(len(rated) / len(places), DIGITS) if places else None,
        "failures": failures,
        **_measure(rated, unknown=len(places) - len(rated)),
        "domains": {
            domain: _measure([one for one in rated if one[1].domain == domain], unknown=0)
            | {"title": title, "given": sum(one.domain_provenance is None for _, one in rated if one.domain == domain)}
            for domain, title in DOMAIN_TITLES.items()
            if counted[domain]
        },
    }


def _measure(rated: list[tuple[Made, DensityRating]], *, unknown: int) -> dict[str, Any]:
    clusters = [made.cluster for made, _ in rated]
    return {
        "kept": share([rating.kept for _, rating in rated], clusters, unknown=unknown),
        "visual_complexity": _mean([rating.density.visual_complexity for _, rating in rated], clusters),
        "informativeness": _mean([rating.density.informativeness for _, rating in rated], clusters),
    }


def _mean(values: list[int], clusters: list[str]) -> dict[str, float] | None:
    if not values:
        return None
    interval = bootstrap_interval(values, clusters=clusters, seed=0, bounds=(LOWEST, HIGHEST))
    mean = sum(values) / len(values)
    return {"mean": round(mean, DIGITS), "low": round(interval.low, DIGITS), "high": round(interval.high, DIGITS)}
