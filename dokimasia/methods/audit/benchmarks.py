"""Scores of other benchmarks held against the same outside ratings of the same models (PerceptionRubrics, Figure 9)."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.errors import DataError
from dokimasia.methods.audit.agreement import Rating
from dokimasia.runs.reading.correlations import correlations

OWN = "gated score"
"""What this audit's scores are called among the benchmarks."""

FEWEST = 3
"""Over fewer models a correlation says nothing."""


def other_benchmarks(
    summary: Mapping[str, Any], ratings: Sequence[Rating], others: Mapping[str, Sequence[Rating]]
) -> dict[str, Any]:
    """Return how this audit's scores and those of other benchmarks go with outside ratings, over the models that all have.

    Args:
        summary: the audit's figures.
        ratings: of models; higher is better.
        others: by the benchmark's name, its score of each model; higher is better.

    Returns:
        `models` that are compared, and `scores.{BENCHMARK}` with `points` {model: [score, rating]} and the three
        correlations, each {value, low, high} or None where it cannot be computed.

    Raises:
        DataError: ratings or scores are of responses, or fewer than three models have all of them.
    """
    if any(one.sample_id is not None for one in (*ratings, *(one for each in others.values() for one in each))):
        raise DataError("--benchmark compares scores of models: ratings and scores have model and rating, and no id")
    rated = {one.model: one.value for one in ratings}
    measured = {name: one["overall"]["mean"] for name, one in summary["models"].items() if one["overall"] is not None}
    scores = {OWN: measured, **{name: {one.model: one.value for one in each} for name, each in others.items()}}
    models = [name for name in measured if name in rated and all(name in each for each in scores.values())]
    if len(models) < FEWEST:
        raise DataError(
            f"{len(models)} models of this audit have a rating and a score of {', '.join(others)}: a correlation needs "
            f"{FEWEST} or more"
        )
    values = [rated[name] for name in models]
    found = {
        benchmark: {
            "points": {name: [each[name], rated[name]] for name in models},
            **correlations([each[name] for name in models], values, models),
        }
        for benchmark, each in scores.items()
    }
    said = "; ".join(f"{name} {_value(one['pearson'])} and {_value(one['spearman'])}" for name, one in found.items())
    return {
        "models": models,
        "scores": found,
        "says": f"Pearson's and Spearman's correlation with the ratings, over the same {len(models)} models: {said}.",
    }


def _value(one: Mapping[str, float] | None) -> str:
    return "–" if one is None else f"{one['value']:.2f}"
