"""From the stored rows of an evaluation to its table: strict accuracy, scores, what answers speak to, failures, cost."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import log2
from typing import Any, NamedTuple

from dokimasia.algorithms.scoring import normalise
from dokimasia.algorithms.statistics import correlation_interval, pearson
from dokimasia.domain.judgement import Correctness, correctness_of
from dokimasia.runs.figures import costs, counted
from dokimasia.runs.reading.comparison import ATOMS
from dokimasia.runs.reading.rates import coverage, limits, mean_interval, possible, rounded, spread, strict_share
from dokimasia.storage.usage import LedgerUsage

LOWEST, HIGHEST = ATOMS
FEWEST_FOR_LENGTH = 10


class AnswerRow(NamedTuple):
    """One scored or failed answer: its sample with category and cluster, the model's shown name with arm, the outcome.

    `referenced` says that the sample has a reference answer; the rest is as in `storage.results.ResultRow`.
    """

    sample_id: str
    cluster: str
    category: str | None
    model: str
    repeat: int
    score: float | None
    failure: str | None
    referenced: bool = False
    verdict: str | None = None
    stated: float | None = None
    stated_score: float | None = None
    length: int | None = None


class _Said(NamedTuple):
    """A scored answer: its cluster, the logarithm of its length in characters to the base 2, its score."""

    cluster: str
    length: float
    score: float


@dataclass(slots=True)
class _Samples:
    """One model's samples: scores, shares of weight spoken to, scores of that, failures, clusters, all by sample.

    `correctness` are pairs of cluster and what is known of an answer, of samples with a reference answer.
    """

    scores: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    failures: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    clusters: dict[str, str] = field(default_factory=dict[str, str])
    stated: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    stated_scores: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    correctness: list[tuple[str, Correctness]] = field(default_factory=list[tuple[str, Correctness]])
    said: list[_Said] = field(default_factory=list[_Said])

    def add(self, row: AnswerRow) -> None:
        self.clusters[row.sample_id] = row.cluster
        if row.referenced:
            self.correctness.append((row.cluster, correctness_of(row.verdict, row.failure)))
        if row.stated is not None:
            self.stated.setdefault(row.sample_id, []).append(row.stated)
        if row.stated_score is not None:
            self.stated_scores.setdefault(row.sample_id, []).append(row.stated_score)
        if row.score is not None and row.length:
            self.said.append(_Said(row.cluster, log2(row.length), row.score))
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


def collect(rows: Iterable[AnswerRow]) -> Collected:
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
    judged: bool = True,
    usage: Mapping[str, LedgerUsage] | None = None,
    preparation: LedgerUsage | None = None,
) -> dict[str, Any]:
    """Return the evaluation's figures, ready for JSON.

    A sample's score is the mean over its scored repeats; a sample without any scored repeat is failed, and counted under
    the kind of its first failure. Every failed answer opens the bounds that its sample's score could have had (1 to 5).

    Args:
        answers: what was collected of the run.
        seed: of the bootstrap.
        judged: whether a judge scored; without one, rules alone said whether answers are right, and nothing is scored.
        usage: what the ledger entries used that made a model's answers and their scores, by shown name.
        preparation: what those used that made chains and criteria.

    Returns:
        `models`, `length`, `preparation` and `blind` of `shape.EvaluationFigures`.
    """
    models, categories = answers.models, answers.categories
    summary: dict[str, Any] = {
        "models": {
            name: {
                **_measure(samples, seed=seed, judged=judged),
                "length": length_and_score(samples.said),
                **_usage((usage or {}).get(name)),
                "by_category": {
                    category: _measure(one, seed=seed, judged=judged)
                    for category, one in sorted(categories[name].items())
                },
            }
            for name, samples in models.items()
        },
        "length": length_and_score([one for name in models if "#" not in name for one in models[name].said]),
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


def _measure(samples: _Samples, *, seed: int, judged: bool) -> dict[str, Any]:
    ids = list(samples.clusters)
    scored = [id for id in ids if id in samples.scores]
    means = list(map(samples.mean, scored))
    unscored = [samples.failures[id][0] for id in ids if id not in samples.scores and id in samples.failures]
    answers = [(samples.scores.get(id, []), len(samples.failures.get(id, []))) for id in ids]
    return {
        **coverage((len(scores), failed) for scores, failed in answers),
        "strict_accuracy": _strict_accuracy(samples.correctness),
        "score": mean_interval(means, [samples.clusters[id] for id in scored], seed=seed, bounds=ATOMS),
        "bounds": possible(answers, LOWEST, HIGHEST) if judged else None,
        "stated": _over_samples(samples.stated, samples.clusters, (0.0, 1.0), seed=seed),
        "stated_score": _over_samples(samples.stated_scores, samples.clusters, ATOMS, seed=seed),
        "spread": spread(samples.scores[id] for id in scored),
        "failures": counted(unscored),
        "failed_answers": counted(kind for kinds in samples.failures.values() for kind in kinds),
    }


def _strict_accuracy(answers: Sequence[tuple[str, Correctness]]) -> dict[str, Any] | None:
    """Return the strict accuracy, each answer with its cluster; None where no sample has a reference."""
    if not answers:
        return None
    clusters, known = zip(*answers, strict=True)
    return strict_share(known, clusters)


def _over_samples(
    values: Mapping[str, Sequence[float]], clusters: Mapping[str, str], ends: tuple[float, float], *, seed: int
) -> dict[str, Any]:
    """The mean over samples, each by the mean over its repeats, with how many samples have a value."""
    means = [sum(each) / len(each) for each in values.values()]
    interval = mean_interval(means, [clusters[id] for id in values], seed=seed, bounds=ends)
    return {"n": len(means), **(interval or {"mean": None, "low": None, "high": None})}


def length_and_score(said: Sequence[_Said]) -> dict[str, Any]:
    """How far longer answers score higher: Pearson's correlation of the logarithm of an answer's length with its score.

    Without an interval where there are fewer than ten samples of different images, or lengths or scores do not vary.
    """
    known: dict[str, Any] = {"correlation": None, "low": None, "high": None}
    lengths, scores, clusters = [one.length for one in said], [one.score for one in said], [one.cluster for one in said]
    mean_length = None if not said else round(sum(2**one for one in lengths) / len(said), 1)
    if len(set(clusters)) >= FEWEST_FOR_LENGTH:
        with suppress(ValueError):
            interval = correlation_interval(lengths, scores, clusters=clusters)
            known = {"correlation": rounded(pearson(lengths, scores)), **limits(interval)}
    return {"n": len(said), "characters": mean_length, **known}


def _surviving(full: _Samples, blind: _Samples, *, seed: int) -> dict[str, Any]:
    """Share of the normalised score (0 at 1, 100 at 5) that survives without the image, over samples scored in both."""
    both = [id for id in full.scores if id in blind.scores]
    seen, unseen = (sum(normalise(one.mean(id)) for id in both) for one in (full, blind))
    if not seen:
        return {"n": len(both), "share": None, "difference": None}
    gaps = [full.mean(id) - blind.mean(id) for id in both]
    clusters = [full.clusters[id] for id in both]
    ends = (LOWEST - HIGHEST, HIGHEST - LOWEST)
    difference = mean_interval(gaps, clusters, seed=seed, bounds=ends) if len(set(clusters)) > 1 else None
    left = (unseen / len(both)) / (seen / len(both))
    return {"n": len(both), "share": rounded(left), "difference": difference}


def _usage(used: LedgerUsage | None) -> dict[str, Any]:
    """Calls, tokens and cost of the ledger entries used; an entry counts once, however often it was used."""
    used = used or LedgerUsage()
    return {
        "calls": used.calls,
        "tokens": {"input": used.input_tokens, "output": used.output_tokens, "unknown": used.unknown},
        **costs([used.cost], [used.known]),
    }
