"""From the stored rows of an evaluation to its table: scores with intervals, coverage, failures by kind, calls and cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dokimasia.algorithms.scoring import normalise
from dokimasia.algorithms.statistics import bootstrap_interval
from dokimasia.runs.reading.differences import ATOMS, LEVEL
from dokimasia.storage.usage import Used

LOWEST, HIGHEST = ATOMS
DIGITS = 6


class Row(NamedTuple):
    """One scored or failed answer: its sample with category and cluster, the model's shown name with arm, the outcome."""

    sample_id: str
    cluster: str
    category: str | None
    model: str
    repeat: int
    score: float | None
    failure: str | None


@dataclass(slots=True)
class _Samples:
    """One model's samples: scores by sample, failures by sample, clusters by sample."""

    scores: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    failures: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    clusters: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, row: Row) -> None:
        self.clusters[row.sample_id] = row.cluster
        if row.score is not None:
            self.scores.setdefault(row.sample_id, []).append(row.score)
        elif row.failure is not None:
            self.failures.setdefault(row.sample_id, []).append(row.failure)


@dataclass(slots=True)
class Collected:
    """Answers by model, and by model and category, without the rows that they came as."""

    models: dict[str, _Samples] = field(default_factory=dict[str, _Samples])
    categories: dict[str, dict[str, _Samples]] = field(default_factory=dict[str, dict[str, _Samples]])


def collect(rows: Iterable[Row]) -> Collected:
    """Take in the answers one by one, in the run's order."""
    found = Collected()
    for row in rows:
        found.models.setdefault(row.model, _Samples()).add(row)
        by_category = found.categories.setdefault(row.model, {})
        if row.category:
            by_category.setdefault(row.category, _Samples()).add(row)
    return found


def summarise(
    answers: Collected,
    *,
    seed: int,
    usage: Mapping[str, Used] | None = None,
    preparation: Used | None = None,
) -> dict[str, Any]:
    """Return the evaluation's figures, ready for JSON.

    A sample's score is the mean over its scored repeats; a sample without any scored repeat is failed, counted under
    the kind of its first failure, and opens the bounds that its score could have had (1 to 5).

    Args:
        answers: what was collected of the run.
        seed: of the bootstrap.
        usage: what the ledger entries used that made a model's answers and their scores, by shown name.
        preparation: what those used that made chains and criteria.

    Returns:
        `models`, `preparation` and `blind` of `shape.EvaluationFigures`.
    """
    models, categories = answers.models, answers.categories
    summary: dict[str, Any] = {
        "models": {
            name: {
                **_measure(samples, seed=seed),
                **_usage((usage or {}).get(name)),
                "by_category": {
                    category: _measure(one, seed=seed) for category, one in sorted(categories[name].items()) if category
                },
            }
            for name, samples in models.items()
        },
        "preparation": _usage(preparation),
    }
    blind = {
        name: _surviving(models[name], models[f"{name}#blind"], seed=seed)
        for name in models
        if f"{name}#blind" in models
    }
    if blind:
        summary["blind"] = blind
    return summary


def _measure(samples: _Samples, *, seed: int) -> dict[str, Any]:
    ids = list(samples.clusters)
    scored = [id for id in ids if id in samples.scores]
    means = [sum(samples.scores[id]) / len(samples.scores[id]) for id in scored]
    unscored = [samples.failures[id][0] for id in ids if id not in samples.scores]
    total = sum(means)
    n = len(ids)
    return {
        "n": n,
        "n_scored": len(scored),
        "coverage": _round(len(scored) / n) if n else None,
        "score": _interval(means, [samples.clusters[id] for id in scored], seed=seed),
        "bounds": {
            "low": _round((total + LOWEST * len(unscored)) / n),
            "high": _round((total + HIGHEST * len(unscored)) / n),
        }
        if n
        else None,
        "spread": _spread([samples.scores[id] for id in scored]),
        "failures": _count(unscored),
        "failed_answers": _count(kind for kinds in samples.failures.values() for kind in kinds),
    }


def _interval(values: Sequence[float], clusters: Sequence[str], *, seed: int) -> dict[str, float] | None:
    """Mean with its interval; one lone cluster says nothing of the spread, so its interval is the whole scale."""
    if not values:
        return None
    interval = bootstrap_interval(values, clusters=clusters, level=LEVEL, seed=seed, bounds=(LOWEST, HIGHEST))
    return {"mean": _round(sum(values) / len(values)), "low": _round(interval.low), "high": _round(interval.high)}


def _spread(repeats: Sequence[Sequence[float]]) -> float | None:
    """Mean over samples of the standard deviation over their scored repeats; None where no sample has two."""
    deviations: list[float] = []
    for scores in repeats:
        if len(scores) > 1:
            mean = sum(scores) / len(scores)
            deviations.append((sum((score - mean) ** 2 for score in scores) / (len(scores) - 1)) ** 0.5)
    return _round(sum(deviations) / len(deviations)) if deviations else None


def _surviving(full: _Samples, blind: _Samples, *, seed: int) -> dict[str, Any]:
    """Share of the normalised score (0 at 1, 100 at 5) that survives without the image, over samples scored in both."""
    both = [id for id in full.scores if id in blind.scores]

    def mean(one: _Samples) -> float:
        return sum(normalise(sum(one.scores[id]) / len(one.scores[id])) for id in both) / len(both)

    if not both or mean(full) == 0:
        return {"n": len(both), "share": None, "difference": None}
    gaps = [sum(full.scores[id]) / len(full.scores[id]) - sum(blind.scores[id]) / len(blind.scores[id]) for id in both]
    clusters = [full.clusters[id] for id in both]
    difference = None
    if len(set(clusters)) > 1:
        interval = bootstrap_interval(gaps, clusters=clusters, level=LEVEL, seed=seed)
        difference = {
            "mean": _round(sum(gaps) / len(gaps)),
            "low": _round(interval.low),
            "high": _round(interval.high),
        }
    return {"n": len(both), "share": _round(mean(blind) / mean(full)), "difference": difference}


def _usage(used: Used | None) -> dict[str, Any]:
    """Calls, tokens and cost of the ledger entries used; an entry counts once, however often it was used."""
    used = used or Used()
    return {
        "calls": used.calls,
        "tokens": {"input": used.input_tokens, "output": used.output_tokens, "unknown": used.unknown},
        "cost": None if used.cost is None else _round(used.cost),
    }


def _count(kinds: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items()))


def _round(value: float) -> float:
    return round(value, DIGITS)
