"""What the density filter kept, by domain: counts, shares with intervals, mean ratings."""

from collections import Counter
from typing import Any

from dokimasia.domain.density import DOMAIN_TITLES, HIGHEST, LOWEST, DensityRating
from dokimasia.methods.density.request import FilterPlan
from dokimasia.runs.figures import failures, heading, paid
from dokimasia.runs.reading.rates import mean_interval, rounded, share
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.reviews import ReviewedValue, made_values
from dokimasia.storage.runs import Run, run_samples


def filter_figures(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a run of the filter, ready for JSON; the same stored rows give the same bytes."""
    plan = FilterPlan.model_validate(run.options["plan"])
    rows = results(home, run.id)
    n = len(run_samples(home, run.id))
    rated = made_values(home, run.id, DensityRating)
    counted = Counter(rating.domain for _, rating in rated)
    return {
        **heading(run, plan),
        "thresholds": {name: one.model_dump(mode="json") for name, one in sorted(plan.thresholds.items())},
        "n": n,
        "n_rated": len(rated),
        "open_items": n - len(rows),
        "coverage": rounded(len(rated) / n) if n else None,
        "failures": failures(rows),
        **_measure(rated, unknown=n - len(rated)),
        "domains": {
            domain: _measure([one for one in rated if one[1].domain == domain], unknown=0)
            | {"title": title, "given": sum(one.domain_provenance is None for _, one in rated if one.domain == domain)}
            for domain, title in DOMAIN_TITLES.items()
            if counted[domain]
        },
        **paid(home, rows),
    }


def _measure(rated: list[tuple[ReviewedValue, DensityRating]], *, unknown: int) -> dict[str, Any]:
    clusters = [made.cluster for made, _ in rated]
    ratings = {
        name: mean_interval(
            [getattr(rating.density, name) for _, rating in rated], clusters, seed=0, bounds=(LOWEST, HIGHEST)
        )
        for name in ("visual_complexity", "informativeness")
    }
    return {"kept": share([rating.kept for _, rating in rated], clusters, unknown=unknown), **ratings}
