"""From the judged rubrics of an audit to its table: gated scores, both streams, the gate, domains (tables 2 and 4)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dokimasia.algorithms.gating import gate, gated_score
from dokimasia.algorithms.statistics import Interval, jackknife_interval, rate_interval
from dokimasia.algorithms.statistics.refusal import NO_SPREAD
from dokimasia.runs.figures import counted
from dokimasia.runs.reading.rates import bounds, coverage, limits, mean_interval, possible, rounded, spread

BLIND_MARK = "#blind"
Outcome = Literal["overall", "gate_pass", "easy_wrong_mean"]
OUTCOMES: tuple[Outcome, ...] = ("overall", "gate_pass", "easy_wrong_mean")


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One response of a model to a sample: which rubrics of group A and B hold, or the kind of failure.

    `rubrics` are how many each group has, `words` the length of the response (None where there is none), `response` tells
    its text from others, `model` the shown name with its arm.
    """

    sample_id: str
    cluster: str
    domain: str
    model: str
    repeat: int
    rubrics: tuple[int, int]
    judged: tuple[tuple[bool, ...], tuple[bool, ...]] | None
    failure: str | None = None
    words: int | None = None
    response: str = ""

    @property
    def score(self) -> float | None:
        """The gated score in percent; None for a failed judgement."""
        return None if self.judged is None else 100 * gated_score(*self.judged)


@dataclass(slots=True)
class Judged:
    """A sample of one model, over its repeats: gated scores, gates and easy-wrong shares in percent, one a scored repeat."""

    cluster: str
    domain: str
    rubrics: tuple[int, int]
    overall: list[float] = field(default_factory=list[float])
    gate_pass: list[float] = field(default_factory=list[float])
    easy_wrong_mean: list[float] = field(default_factory=list[float])
    hits: tuple[list[bool], list[bool]] = field(default_factory=lambda: ([], []))
    failures: list[str] = field(default_factory=list[str])

    def add(self, row: AuditRow) -> None:
        """Take in one repeat."""
        if row.judged is None:
            self.failures.append(row.failure or "unparsable")
            return
        must_right, easy_wrong = row.judged
        self.overall.append(100 * gated_score(must_right, easy_wrong))
        self.gate_pass.append(100.0 * gate(must_right))
        if easy_wrong:
            self.easy_wrong_mean.append(100 * sum(easy_wrong) / len(easy_wrong))
        self.hits[0].extend(must_right)
        self.hits[1].extend(easy_wrong)

    def mean(self, outcome: Outcome) -> float | None:
        """The mean of a figure over the sample's scored repeats; None where it has none."""
        values: list[float] = getattr(self, outcome)
        return sum(values) / len(values) if values else None


def judged_samples(rows: Iterable[AuditRow]) -> dict[str, dict[str, Judged]]:
    """Return what was judged, by model and sample, both in the order of the rows."""
    models: dict[str, dict[str, Judged]] = {}
    for row in rows:
        samples = models.setdefault(row.model, {})
        if row.sample_id not in samples:
            samples[row.sample_id] = Judged(row.cluster, row.domain, row.rubrics)
        samples[row.sample_id].add(row)
    return models


def audit_figures(rows: Iterable[AuditRow], *, seed: int) -> dict[str, Any]:
    """Return the figures of an audit, ready for JSON; all but counts in percent, higher is better but for the gap.

    Args:
        rows: the responses, in the run's order.
        seed: of the bootstrap.

    Returns:
        `models`, `domains` and `blind` of `shape.AuditFigures`.
    """
    models = judged_samples(rows)
    domains: dict[str, set[str]] = {}
    for samples in models.values():
        for id, sample in samples.items():
            domains.setdefault(sample.domain, set()).add(id)
    figures: dict[str, Any] = {
        "models": {name: model_figures(list(samples.values()), seed=seed) for name, samples in models.items()},
        "domains": {name: len(ids) for name, ids in sorted(domains.items())},
    }
    blind = {
        name: _surviving(samples, models[name + BLIND_MARK])
        for name, samples in models.items()
        if name + BLIND_MARK in models
    }
    return figures | ({"blind": blind} if blind else {})


def model_figures(samples: Sequence[Judged], *, seed: int) -> dict[str, Any]:
    """Return the figures of one model over its samples, as `shape.AuditedModel` describes them."""
    scored = [sample for sample in samples if sample.overall]
    items = {
        name: rate([hit for one in scored for hit in one.hits[group]], _each(scored, group))
        for group, name in enumerate(("must_right_item", "easy_wrong_item"))
    }
    means = {name: average(scored, name, seed=seed) for name in OUTCOMES}
    gap = _gap(scored, items["must_right_item"], means["gate_pass"])
    domains = sorted({sample.domain for sample in samples})
    return {
        **coverage((len(sample.overall), len(sample.failures)) for sample in samples),
        **means,
        **items,
        "reliability_gap": gap,
        "bounds": {
            **{name: _bounds(samples, name) for name in OUTCOMES},
            "must_right_item": _item_bounds(samples, 0),
            "easy_wrong_item": _item_bounds(samples, 1),
        },
        "spread": spread([sample.overall for sample in scored]),
        "failures": counted(sample.failures[0] for sample in samples if not sample.overall),
        "failed_answers": counted(kind for sample in samples for kind in sample.failures),
        "by_domain": {
            domain: _domain([sample for sample in samples if sample.domain == domain], seed=seed) for domain in domains
        },
    }


def average(samples: Sequence[Judged], outcome: Outcome, *, seed: int) -> dict[str, Any] | None:
    """Return the mean of a figure over samples with its interval; None where no sample has it."""
    having = [(value, sample.cluster) for sample in samples if (value := sample.mean(outcome)) is not None]
    values, clusters = [value for value, _ in having], [cluster for _, cluster in having]
    return mean_interval(values, clusters, seed=seed, bounds=(0.0, 100.0))


def rate(hits: Sequence[bool], clusters: Sequence[str]) -> dict[str, Any] | None:
    """Return the share of hits in percent with its interval, clustered; None without any."""
    if not hits:
        return None
    interval = rate_interval(hits, clusters=clusters)
    return {"mean": rounded(100 * sum(hits) / len(hits)), **limits(interval, unit=100), "n": len(hits)}


def _domain(samples: Sequence[Judged], *, seed: int) -> dict[str, Any]:
    scored = [sample for sample in samples if sample.overall]
    return {
        **coverage((len(sample.overall), len(sample.failures)) for sample in samples),
        "overall": average(scored, "overall", seed=seed),
        "bounds": _bounds(samples, "overall"),
    }


def _gap(
    samples: Sequence[Judged], item: dict[str, Any] | None, passed: dict[str, Any] | None
) -> dict[str, Any] | None:
    """Return must-right item accuracy less gate pass rate, with a jackknife interval over clusters of samples."""
    if item is None or passed is None:
        return None

    def gap(places: Sequence[int]) -> float:
        hits = [hit for place in places for hit in samples[place].hits[0]]
        gates = [value for place in places if (value := samples[place].mean("gate_pass")) is not None]
        return 100 * sum(hits) / len(hits) - sum(gates) / len(gates) if hits else 0.0

    clusters = [sample.cluster for sample in samples]
    interval = jackknife_interval(gap, len(samples), clusters=clusters, bounds=(-100.0, 100.0))
    if interval.reason == NO_SPREAD and passed["low"] is not None:
        interval = Interval(item["low"] - passed["high"], item["high"] - passed["low"])
    return {"mean": rounded(item["mean"] - passed["mean"]), **limits(interval)}


def _bounds(samples: Sequence[Judged], outcome: Outcome) -> dict[str, float] | None:
    """Return what a mean over all samples would be if every failed judgement had 0, or 100."""
    having = [sample for sample in samples if outcome != "easy_wrong_mean" or sample.rubrics[1] > 0]
    return possible(((getattr(sample, outcome), len(sample.failures)) for sample in having), 0, 100)


def _item_bounds(samples: Sequence[Judged], group: int) -> dict[str, float] | None:
    hits = [hit for sample in samples for hit in sample.hits[group]]
    lacking = sum(sample.rubrics[group] * len(sample.failures) for sample in samples)
    return bounds(100 * sum(hits), 100 * (sum(hits) + lacking), len(hits) + lacking)


def _each(samples: Sequence[Judged], group: int) -> list[str]:
    return [sample.cluster for sample in samples for _ in sample.hits[group]]


def _surviving(full: dict[str, Judged], blind: dict[str, Judged]) -> dict[str, Any]:
    """Return the share of the overall score that survives without the image, over samples judged in both arms."""
    pairs = [
        (seen, unseen)
        for id, sample in full.items()
        if id in blind
        and (seen := sample.mean("overall")) is not None
        and (unseen := blind[id].mean("overall")) is not None
    ]
    total = sum(seen for seen, _ in pairs)
    share = None if not total else rounded(sum(unseen for _, unseen in pairs) / total)
    return {"n": len(pairs), "share": share}
