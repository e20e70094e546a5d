"""From the stored rows of an evaluation to its table: scores with intervals, coverage, failures by kind, calls and cost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dokimasia.algorithms.scoring import normalise
from dokimasia.runs.figures import counted
from dokimasia.runs.reading.differences import ATOMS
from dokimasia.runs.reading.rates import bounds, coverage, mean_interval, rounded, spread
from dokimasia.storage.usage import Used

LOWEST, HIGHEST = ATOMS


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

    def mean(self, id: str) -> float:
        """The mean over a sample's scored repeats."""
        return sum(self.scores[id]) / len(self.scores[id])


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
                    category: _measure(one, seed=seed) for category, one in sorted(categories[name].items())
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
    means = list(map(samples.mean, scored))
    unscored = [samples.failures[id][0] for id in ids if id not in samples.scores]
    total = sum(means)
    return {
        **coverage(len(scored), len(ids)),
        "score": mean_interval(means, [samples.clusters[id] for id in scored], seed=seed, bounds=ATOMS),
        "bounds": bounds(total + LOWEST * len(unscored), total + HIGHEST * len(unscored), len(ids)),
        "spread": spread(samples.scores[id] for id in scored),
        "failures": counted(unscored),
        "failed_answers": counted(kind for kinds in samples.failures.values() for kind in kinds),
    }


def _surviving(full: _Samples, blind: _Samples, *, seed: int) -> dict[str, Any]:
    """Share of the normalised score (0 at 1, 100 at 5) that survives without the image, over samples scored in both."""
    both = [id for id in full.scores if id in blind.scores]
    seen, unseen = (sum(normalise(one.mean(id)) for id in both) for one in (full, blind))
    if not seen:
        return {"n": len(both), "share": None, "difference": None}
    gaps = [full.mean(id) - blind.mean(id) for id in both]
    clusters = [full.clusters[id] for id in both]
    difference = mean_interval(gaps, clusters, seed=seed) if len(set(clusters)) > 1 else None
    share = (unseen / len(both)) / (seen / len(both))
    return {"n": len(both), "share": rounded(share), "difference": difference}


def _usage(used: Used | None) -> dict[str, Any]:
    """Calls, tokens and cost of the ledger entries used; an entry counts once, however often it was used."""
    used = used or Used()
    return {
        "calls": used.calls,
        "tokens": {"input": used.input_tokens, "output": used.output_tokens, "unknown": used.unknown},
        "cost": None if used.cost is None else rounded(used.cost),
    }
