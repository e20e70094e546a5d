"""Analyses of an audit: alone, against outside ratings, and against another judge's audit (PerceptionRubrics, 4.3, 5).

The field `says` of each analysis is a sentence that interprets its numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations, pairwise
from operator import eq
from pathlib import Path
from random import Random
from typing import Annotated, NamedTuple

from pydantic import Field

from dokimasia.algorithms.gating import gated_score
from dokimasia.algorithms.statistics import (
    ConfidenceInterval,
    adjusted,
    jackknife_interval,
    kendall,
    pearson,
    r_squared,
    spearman,
)
from dokimasia.algorithms.statistics.agreement import cohen_kappa
from dokimasia.algorithms.statistics.correlation import Method
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.datasets.annotations import read_ratings
from dokimasia.domain.differences import DIRECTION
from dokimasia.domain.identity import Value, unit_interval
from dokimasia.errors import ConfigError, DataError
from dokimasia.methods.audit import METHOD
from dokimasia.methods.audit.figures import (
    BLIND_MARK,
    AuditedModel,
    AuditFigures,
    AuditRow,
    GatedScores,
    Judged,
    Outcome,
    RubricRate,
    Samples,
    audit_rows,
    figures_of_run,
    judged_samples,
    pairs_of,
    rate,
)
from dokimasia.methods.audit.request import AuditPlan, judge_use
from dokimasia.people.passports import each_has_one, weights_of
from dokimasia.report.fields import Direction, Display, Interval, IntervalMethod
from dokimasia.report.figures import bracketed, in_words, interval, number, p_value, several, share, signed
from dokimasia.runs.measures import deviation, limits, mean, mean_with_interval, ratio, rounded, spread
from dokimasia.runs.reading.correlations import (
    ALPHA,
    adjusted_over,
    correlation,
    directions,
    length_and_score,
    value_of,
)
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

MIN_MODELS = 3
"""Fewer models make a fitted line or a correlation meaningless."""

SPLITS = 200
"""Number of random halvings of the images for `DisjointConsistency`."""

FEWEST_CLUSTERS = 10
"""With fewer clusters, the difference of two correlations gets no interval."""

MOST_POINTS = 200
"""Maximum number of a model's responses in the chart of length and score."""

SHARES = (20, 40, 60, 80)
DRAWS = 3

OWN = "gated score"
"""Name of this audit's scores among the benchmarks."""


class ModelGap(Value):
    """One model's item accuracy over must-right and over all rubrics, its gate pass rate, and both gaps."""

    item: Annotated[float, Display("must-right item")]
    gate: Annotated[float, Display("gate pass")]
    gap: Annotated[Interval, Display("gap", "must-right item less gate pass")]
    atomic: Annotated[float, Display("atomic accuracy", "over all rubrics, as published")]
    atomic_gap: Annotated[Interval, Display("atomic gap", "atomic accuracy less gate pass, as published")]


class ReliabilityGap(Value):
    """Each model's gap, and the mean gap over models that see the image."""

    models: dict[str, ModelGap]
    mean: float | None
    says: str


class WeightsGap(Value):
    """The lead of proprietary models over open ones, on the images on which all of them were judged."""

    n: Annotated[int, Display("images' samples")]
    open: Annotated[float, Display("open")]
    proprietary: Annotated[float, Display("proprietary")]
    gap: Annotated[Interval, Display("gap", "proprietary less open, in points", write=partial(interval, signed=True))]
    p: Annotated[float, Display("p", "sign flips of whole images", write=p_value)]


class OpenAndProprietary(Value):
    """The gap between open and proprietary models: of the best of each group, and of the groups' means."""

    best: tuple[str, str]
    gaps: dict[str, WeightsGap]
    says: str


class DomainFailures(Value):
    """How often gates fail in a domain, and its share of all failures."""

    n: Annotated[int, Display("responses")]
    failed: Annotated[int, Display("gates failed")]
    rate: Annotated[RubricRate | None, Display("rate")]
    share: Annotated[float | None, Display("share", write=share)]


class FailuresByDomain(Value):
    """Where gates fail, by domain: of each model, and of all that see the image."""

    models: dict[str, dict[str, DomainFailures]]
    all: dict[str, DomainFailures]
    says: str


class DisjointConsistency(Value):
    """R squared with the two axes read from different images: its mean over halvings, and their middle 90 %."""

    r_squared: float
    low: float
    high: float


class Consistency(Value):
    """How well gate pass rates predict easy-wrong means over models."""

    n: Annotated[int, Display("models")]
    points: dict[str, tuple[float, float]]
    r_squared: Annotated[float | None, Display("R²", "as published: both from the same responses")]
    low: float | None
    high: float | None
    no_interval: str | None = None
    interval_method: IntervalMethod = None
    disjoint: DisjointConsistency | None
    says: str


class Correlation(Value):
    """A correlation with its interval."""

    value: float
    low: float | None
    high: float | None
    no_interval: str | None = None
    interval_method: IntervalMethod = None


class Correlations(Value):
    """Three correlations; None where one cannot be computed."""

    pearson: Correlation | None
    spearman: Correlation | None
    kendall: Correlation | None


class Agreement(Value):
    """The agreement of scores with outside ratings: with the gate, without it, and as a plain share of all rubrics."""

    level: str
    n: int
    unmatched: int
    gain: Correlation | None
    gated: Correlations
    ungated: Correlations
    plain: Correlations
    says: str


class BenchmarkScores(Correlations):
    """A benchmark's score and the rating of each model, and how they go together."""

    points: dict[str, tuple[float, float]]


class OtherBenchmarks(Value):
    """The agreement of this audit and of other benchmarks with outside ratings, over the models that have all scores."""

    models: tuple[str, ...]
    scores: dict[str, BenchmarkScores]
    says: str


class LengthCorrelation(Value):
    """The correlation of a model's gated scores with the length of its responses."""

    n: Annotated[int, Display("responses")]
    words: Annotated[float, Display("mean words", write=partial(number, digits=0))]
    r: Annotated[float | None, Display("r", write=partial(signed, digits=3))]
    p_published: Annotated[float | None, Display("p as published", "responses taken for independent", write=p_value)]
    p: Annotated[float | None, Display("p", "exchange of whole images' responses", write=p_value)]
    adjusted: Annotated[
        float | None, Display("adjusted p", "Benjamini and Hochberg, over the models that see the image", write=p_value)
    ]
    reason: str
    low: float | None
    high: float | None
    no_interval: str | None = None
    interval_method: IntervalMethod = None
    points: tuple[tuple[float, float], ...] = Field(
        default=(), description="words and score of responses, or of a draw"
    )


class LengthAnalysis(Value):
    """The correlations of gated scores with lengths, by model."""

    models: dict[str, LengthCorrelation]
    says: str


class JudgedTwice(Value):
    """One model's mean scores by two judges over the samples that both judged."""

    n: int
    means: tuple[float, float]
    shift: Annotated[Interval, Display("95 % interval", write=partial(interval, signed=True))]
    spread: tuple[float | None, float | None]
    together: Interval | None = None


class ReversedPair(Value):
    """Two models that two judges put the other way round, and how sure both are."""

    models: tuple[str, str]
    p: float
    adjusted: float


class Decisions(Value):
    """How often two judges decide a rubric alike, on responses with identical text."""

    n: int
    equal: float | None
    kappa: float | None


class TwoJudges(Value):
    """The differences between two judges on the same rubrics."""

    judges: tuple[str, str]
    weights: tuple[float, float] | None = None
    direction: Direction
    models: dict[str, JudgedTwice]
    order: tuple[tuple[str, ...], tuple[str, ...]]
    same_order: bool | None
    reversed: tuple[ReversedPair, ...]
    spearman: float | None
    kendall: float | None
    decisions: Decisions
    says: str


class Stability(Value):
    """The standard deviation of a score over draws of rubrics, and their mean less the score by all rubrics."""

    deviation: float
    shift: float


class RubricShare(Value):
    """The scores with a share of the rubrics: means over models, and those of each model."""

    deviation: Annotated[float | None, Display("deviation over draws")]
    shift: Annotated[float | None, Display("mean shift", "against all rubrics", write=signed)]
    models: dict[str, Stability]


class RubricCoverage(Value):
    """The scores with fewer rubrics."""

    shares: dict[str, RubricShare]
    draws: int
    says: str


class Analyses(Value):
    """The analyses of an audit's figures."""

    reliability_gap: ReliabilityGap
    open_and_proprietary: OpenAndProprietary | None = None
    failures_by_domain: FailuresByDomain
    consistency: Consistency
    agreement: Agreement | None = None
    other_benchmarks: OtherBenchmarks | None = None
    length_bias: LengthAnalysis
    two_judges: TwoJudges | None = None
    coverage: RubricCoverage


class AnalysedAudit(AuditFigures):
    """The figures of an audit and its analyses."""

    analyses: Analyses


class Rating(NamedTuple):
    """An outside rating, higher is better, of a model or of its response to one sample (`sample_id`)."""

    model: str
    value: float
    sample_id: str | None = None


def analyse(
    home: Home,
    run: Run,
    *,
    ratings: Path | None = None,
    against: Run | None = None,
    benchmarks: Mapping[str, Path] | None = None,
    passports: Sequence[Path] = (),
) -> AnalysedAudit:
    """Return an audit's figures and its analyses; the same stored rows give the same bytes.

    Args:
        home: the home.
        run: the audit.
        ratings: a file of outside ratings, in the format of `datasets.annotations`.
        against: an audit of the same rubrics by another judge.
        benchmarks: by name, files with another benchmark's scores of the models, in the format of ratings.
        passports: passports of both judges, for weighting them.

    Raises:
        NotFound: a run is not an audit.
        ConfigError: the other audit has other rubrics, or is the same; benchmarks are given without ratings, or
            passports without another judge.
        DataError: the ratings are unusable.
    """
    plan, _ = METHOD.read(run)
    if benchmarks and (ratings is None or OWN in benchmarks):
        raise ConfigError(f"--benchmark needs --ratings to be held against, and a name other than {OWN!r}")
    outside_ratings = _read_ratings(ratings) if ratings else []
    benchmark_ratings = {name: _read_ratings(path) for name, path in (benchmarks or {}).items()}
    figures = figures_of_run(home, run)
    rows = audit_rows(home, run)
    if passports and against is None:
        raise ConfigError("--passport weights two judges here: name the audit by the other one with --against")
    judges = None if against is None else _against(home, run, plan, against, rows, passports)
    others = None
    if benchmark_ratings:
        others = other_benchmarks(_overall(figures.models), outside_ratings, benchmark_ratings)
    analyses = Analyses(
        reliability_gap=reliability_gap(figures.models),
        open_and_proprietary=open_and_proprietary(rows, figures.models, seed=run.seed),
        failures_by_domain=failures_by_domain(rows),
        consistency=consistency(rows, figures.models, seed=run.seed),
        agreement=agreement(rows, outside_ratings) if outside_ratings else None,
        other_benchmarks=others,
        length_bias=length_bias(rows, seed=run.seed),
        two_judges=judges,
        coverage=coverage(rows, seed=run.seed),
    )
    return AnalysedAudit(**dict(figures), analyses=analyses)


def _against(
    home: Home, run: Run, plan: AuditPlan, against: Run, rows: Sequence[AuditRow], passports: Sequence[Path]
) -> TwoJudges:
    """Return the differences between an audit's judge and that of another audit."""
    other_plan, _ = METHOD.read(against)
    if against.id == run.id:
        raise ConfigError("--against names the same run: name an audit by another judge")
    if other_plan.rubrics != plan.rubrics:
        raise ConfigError(f"runs {run.id} and {against.id} went by different rubrics, so judges cannot be compared")
    names = (plan.judge.ref.name, other_plan.judge.ref.name)
    if names[0] == names[1]:
        names = (f"{names[0]} ({run.id[:6]})", f"{names[1]} ({against.id[:6]})")
    weights = _weights(home, (plan, other_plan), passports) if passports else None
    return two_judges(rows, audit_rows(home, against), names=names, seed=run.seed, weights=weights)


def _weights(home: Home, plans: tuple[AuditPlan, AuditPlan], files: Sequence[Path]) -> tuple[float, float]:
    """Return the weights of two judges from their passports."""
    first, second = (plan.judge for plan in plans)
    if first.ref == second.ref:
        raise ConfigError("--passport weights two judges, and both audits are by one")
    by_judge = each_has_one(files, (first, second), plans[0].prompts, home)
    weights = weights_of(by_judge, judge_use(plans[0].protocol, reasons=plans[0].reasons))
    return weights[first.ref.name], weights[second.ref.name]


def _read_ratings(path: Path) -> list[Rating]:
    return [Rating(line.model, line.rating, line.sample_id) for line in read_ratings(path)]


def _overall(models: Mapping[str, AuditedModel]) -> dict[str, float]:
    return {name: model.overall.mean for name, model in models.items() if model.overall is not None}


def reliability_gap(models: Mapping[str, GatedScores]) -> ReliabilityGap:
    """Return each model's must-right item accuracy, gate pass rate and gap, and the mean gap over models with the image."""
    gaps: dict[str, ModelGap] = {}
    for name, scores in models.items():
        item, gate, gap = scores.must_right_item, scores.gate_pass, scores.reliability_gap
        atomic, atomic_gap = scores.atomic_accuracy, scores.atomic_gap
        if item and gate and gap and atomic and atomic_gap:
            gaps[name] = ModelGap(item=item.mean, gate=gate.mean, gap=gap, atomic=atomic.mean, atomic_gap=atomic_gap)
    if not gaps:
        return ReliabilityGap(models={}, mean=None, says="No response was judged, so there is no gap to speak of.")
    seeing = [name for name in gaps if BLIND_MARK not in name]
    if not seeing:
        return ReliabilityGap(models=gaps, mean=None, says="No response to an image was judged.")
    average = _mean([gaps[name].gap.mean for name in seeing])
    if average < 1:
        sentence = f"Single must-right facts and whole gates lie close together ({average:.1f} points on average)."
        return ReliabilityGap(models=gaps, mean=rounded(average), says=sentence)
    most = max(gaps[name].gap.mean for name in seeing)
    widest = [name for name in seeing if gaps[name].gap.mean == most]
    parts = "; ".join(
        f"{name} gets {gaps[name].item:.0f} % of single facts right and passes {gaps[name].gate:.0f} % of gates"
        for name in widest
    )
    sentence = (
        f"On average {average:.1f} points lie between single must-right facts and whole gates; they are most for "
        f"{in_words(widest)} ({most:.1f}): {parts}."
    )
    return ReliabilityGap(models=gaps, mean=rounded(average), says=sentence)


def open_and_proprietary(
    rows: Sequence[AuditRow], models: Mapping[str, AuditedModel], *, seed: int
) -> OpenAndProprietary | None:
    """Return how far open models score below proprietary ones, with intervals and tests; None unless both groups exist.

    The comparison covers the best model of each group (by overall score) and the group means, each on the samples for
    which all models of both groups were judged. The tests generalise to other images, not to other models, and the best
    model of a group was chosen by the same scores that are compared.
    """
    scored_models = {
        name: model for name, model in models.items() if model.overall is not None and BLIND_MARK not in name
    }
    open_models = [name for name, model in scored_models.items() if model.weights == "open"]
    proprietary = [name for name, model in scored_models.items() if model.weights == "proprietary"]
    if not open_models or not proprietary:
        return None
    samples_by_model = judged_samples(rows)
    overall = _overall(models)
    best_open = max(open_models, key=lambda name: (overall[name], name))
    best_proprietary = max(proprietary, key=lambda name: (overall[name], name))
    first = _weights_gap(samples_by_model, [best_open], [best_proprietary], seed=seed)
    if first is None:
        return None
    gaps = {"the best": first}
    if (of_all := _weights_gap(samples_by_model, open_models, proprietary, seed=seed)) is not None:
        gaps["all"] = of_all
    sentence = (
        f"The best proprietary model ({best_proprietary}, {first.proprietary:.1f}) and the best open model "
        f"({best_open}, {first.open:.1f})"
    )
    if first.gap.mean == 0:
        sentence += " have the same mean."
    else:
        leads = "proprietary" if first.gap.mean > 0 else "open"
        certain = "beyond chance" if first.p <= ALPHA else "which may be chance"
        sentence += f" lie {abs(first.gap.mean):.1f} points apart in favour of the {leads} one, {certain}."
    if len(open_models) > 1 or len(proprietary) > 1:
        sentence += " They were chosen by these scores, so that p is too small."
    return OpenAndProprietary(best=(best_open, best_proprietary), gaps=gaps, says=sentence)


def _weights_gap(
    samples_by_model: Mapping[str, Samples], open_models: Sequence[str], proprietary: Sequence[str], *, seed: int
) -> WeightsGap | None:
    """Return the gap between two groups over the samples for which all models of both were judged."""
    of_open, of_proprietary = _group_means(samples_by_model, open_models), _group_means(samples_by_model, proprietary)
    shared = [id for id in of_open if id in of_proprietary]
    if not shared:
        return None
    clusters = [samples_by_model[open_models[0]][id].cluster for id in shared]
    differences = [of_proprietary[id] - of_open[id] for id in shared]
    gap = mean_with_interval(differences, clusters, seed=seed, bounds=(-100.0, 100.0))
    assert gap is not None, "there is a sample"
    return WeightsGap(
        n=len(shared),
        open=rounded(_mean([of_open[id] for id in shared])),
        proprietary=rounded(_mean([of_proprietary[id] for id in shared])),
        gap=gap,
        p=rounded(sign_flip_test(differences, clusters=clusters, seed=seed).p_value),
    )


def _group_means(samples_by_model: Mapping[str, Samples], names: Sequence[str]) -> dict[str, float]:
    """Return the mean score of some models by sample, for samples on which all of them were judged."""
    means: dict[str, float] = {}
    for id in samples_by_model[names[0]]:
        scores = [samples_by_model[name][id].mean("overall") for name in names if id in samples_by_model[name]]
        valid_scores = [score for score in scores if score is not None]
        if len(valid_scores) == len(names):
            means[id] = _mean(valid_scores)
    return means


def failures_by_domain(rows: Sequence[AuditRow]) -> FailuresByDomain:
    """Return the rate of failed gates and the share of all failures by domain, for each model and for all.

    "All" means all models that see the image. A sample's gate counts once per scored repeat; failed judgements do not
    count.
    """
    models: dict[str, dict[str, DomainFailures]] = {}
    seeing: list[Judged] = []
    for name, samples in judged_samples(rows).items():
        models[name] = _failures(list(samples.values()))
        if BLIND_MARK not in name:
            seeing += samples.values()
    pooled = _failures(seeing)
    rates = {domain: failures.rate.mean for domain, failures in pooled.items() if failures.rate is not None}
    if not rates:
        sentence = "No response was judged."
    elif not any(rates.values()):
        sentence = "No gate failed in any domain."
    else:
        sentence = _extremes(rates)
    return FailuresByDomain(models=models, all=pooled, says=sentence)


def _failures(samples: Sequence[Judged]) -> dict[str, DomainFailures]:
    total = sum(value < 100 for sample in samples for value in sample.gate_pass)
    by_domain: dict[str, DomainFailures] = {}
    for domain in sorted({sample.domain for sample in samples}):
        gate_failures: list[bool] = []
        clusters: list[str] = []
        for sample in samples:
            if sample.domain == domain:
                gate_failures += [value < 100 for value in sample.gate_pass]
                clusters += [sample.cluster] * len(sample.gate_pass)
        count = sum(gate_failures)
        by_domain[domain] = DomainFailures(
            n=len(gate_failures),
            failed=count,
            share=ratio(count, total),
            rate=rate(gate_failures, clusters),
        )
    return by_domain


def _extremes(rates: Mapping[str, float]) -> str:
    """Return a sentence on the domains where gates fail most and least often."""
    highest, lowest = max(rates.values()), min(rates.values())
    worst = [name for name, rate in rates.items() if rate == highest]
    best = [name for name, rate in rates.items() if rate == lowest]
    if highest == lowest:
        where = f"in {worst[0]}" if len(worst) == 1 else f"equally often in {in_words(worst)}"
        return f"Gates fail {where} ({highest:.0f} % of responses)."
    digits = 0 if f"{highest:.0f}" != f"{lowest:.0f}" else 2
    return (
        f"Gates fail most often in {in_words(worst)} ({highest:.{digits}f} % of responses) and least in {in_words(best)} "
        f"({lowest:.{digits}f} %)."
    )


def consistency(rows: Sequence[AuditRow], models: Mapping[str, GatedScores], *, seed: int) -> Consistency:
    """Return how well gate pass rates predict easy-wrong means over models: R squared of a straight line.

    As published, both axes come from the same responses, which by itself puts models of equal skill on a line.
    `disjoint` takes gate pass rates from one random half of the images and easy-wrong means from the other: it has the
    mean R squared over many halvings, and their middle 90 %. The interval of the published figure is a jackknife over
    clusters of samples, with fixed models. Arms without images are left out.
    """
    points: dict[str, tuple[float, float]] = {}
    for name, scores in models.items():
        if scores.gate_pass is not None and scores.easy_wrong_mean is not None and BLIND_MARK not in name:
            points[name] = (scores.gate_pass.mean, scores.easy_wrong_mean.mean)
    no_line = Consistency(n=len(points), points=points, r_squared=None, low=None, high=None, disjoint=None, says="")
    if len(points) < MIN_MODELS:
        sentence = (
            f"With {several(len(points), 'model')} a line through gate pass rates and easy-wrong means says nothing."
        )
        return no_line.model_copy(update={"says": sentence})
    try:
        value = r_squared([gate for gate, _ in points.values()], [easy for _, easy in points.values()])
    except ValueError:
        sentence = "All models have one gate pass rate or one easy-wrong mean, so there is no line."
        return no_line.model_copy(update={"says": sentence})
    ends = limits(_consistency_limits(rows, list(points)))
    fit = no_line.model_copy(update={"r_squared": rounded(value), **ends})
    sentence = (
        f"Over {several(len(points), 'model')} gate pass rates explain a share R² of {value:.2f}"
        f"{bracketed(fit, '{:.2f}'.format)} of how easy-wrong means differ."
    )
    disjoint = _disjoint(rows, list(points), seed=seed)
    if disjoint is not None:
        sentence += (
            f" Read from different images it is {disjoint.r_squared:.2f}; {len(points)} equal models would bring "
            f"{1 / (len(points) - 1):.2f}."
        )
    return fit.model_copy(update={"disjoint": disjoint, "says": sentence})


def _consistency_limits(rows: Sequence[AuditRow], names: Sequence[str]) -> ConfidenceInterval | None:
    by_model = judged_samples(rows)
    clusters = {row.sample_id: row.cluster for row in rows}
    ids = list(clusters)

    def figure(positions: Sequence[int]) -> float:
        samples: list[list[Judged]] = []
        for name in names:
            samples.append([by_model[name][ids[position]] for position in positions if ids[position] in by_model[name]])
        return _explained(samples, samples)

    try:
        return jackknife_interval(figure, len(ids), clusters=list(clusters.values()), bounds=(0.0, 1.0))
    except ValueError:
        return None


def _explained(gate_samples: Sequence[Sequence[Judged]], easy_samples: Sequence[Sequence[Judged]]) -> float:
    """Return R squared of gate pass rates and easy-wrong means over models, each measured on some of a model's samples.

    Raises:
        ValueError: a model lacks one of these figures, or they do not vary.
    """
    gates = [_mean_over(samples, "gate_pass") for samples in gate_samples]
    easy = [_mean_over(samples, "easy_wrong_mean") for samples in easy_samples]
    return r_squared(gates, easy)


def _mean_over(samples: Sequence[Judged], outcome: Outcome) -> float:
    return _mean([sample.mean(outcome) for sample in samples])


def _mean(values: Sequence[float | None]) -> float:
    numbers = [value for value in values if value is not None]
    if not numbers:
        raise ValueError("nothing is left to take a mean of")
    return sum(numbers) / len(numbers)


def _disjoint(rows: Sequence[AuditRow], names: Sequence[str], *, seed: int) -> DisjointConsistency | None:
    """Return R squared with gates and easy-wrong means from different halves of the images; None if none has both."""
    samples_by_model = judged_samples(rows)
    clusters = sorted({row.cluster for row in rows})
    values: list[float] = []
    for split in range(SPLITS):
        draws = {cluster: unit_interval("halves", seed, split, cluster) for cluster in clusters}
        half = set(sorted(clusters, key=draws.__getitem__)[: len(clusters) // 2])
        inside: list[list[Judged]] = []
        outside: list[list[Judged]] = []
        for name in names:
            inside.append([sample for sample in samples_by_model[name].values() if sample.cluster in half])
            outside.append([sample for sample in samples_by_model[name].values() if sample.cluster not in half])
        with suppress(ValueError):
            values.append(_explained(inside, outside))
    if not values:
        return None
    sorted_values, last = sorted(values), len(values) - 1
    return DisjointConsistency(
        r_squared=rounded(_mean(values)),
        low=rounded(sorted_values[round(0.05 * last)]),
        high=rounded(sorted_values[round(0.95 * last)]),
    )


def length_bias(rows: Sequence[AuditRow], *, seed: int) -> LengthAnalysis:
    """Return the correlation of a response's length in words with its gated score, by model, with p-values.

    Interval and `p` are clustered by image; `adjusted` is corrected over all models that see the image
    (Benjamini-Hochberg); `p_published`, as in the paper, treats responses as independent.
    """
    by_model: dict[str, list[tuple[float, float, str]]] = {}
    for row in rows:
        if row.score is not None and row.words is not None:
            by_model.setdefault(row.model, []).append((float(row.words), row.score, row.cluster))
    correlated = {name: length_and_score(triples, seed=seed) for name, triples in by_model.items()}
    adjusted_p = adjusted_over({name: model for name, model in correlated.items() if BLIND_MARK not in name})
    significant: dict[str, float] = {}
    for name, p in adjusted_p.items():
        r = correlated[name].r
        if p <= ALPHA and r is not None:
            significant[name] = r
    models: dict[str, LengthCorrelation] = {}
    for name, association in correlated.items():
        by_chance = sorted(range(len(by_model[name])), key=lambda place: unit_interval("length", seed, name, place))
        points = tuple(by_model[name][place][:2] for place in sorted(by_chance[:MOST_POINTS]))
        models[name] = LengthCorrelation(**dict(association), adjusted=adjusted_p.get(name), points=points)
    tested = sum(model.adjusted is not None for model in models.values())
    untested = next((model.reason for model in models.values() if model.reason), "")
    if tested and significant:
        directed = directions(significant, "it")
        sentence = f"Length goes with the score for {len(significant)} of {tested} models. {directed}"
    elif tested:
        sentence = f"For none of {tested} models does length go with the score (adjusted p above {ALPHA:g} for each)."
    elif untested:
        sentence = f"Length bias was not tested: {untested}."
    else:
        sentence = "Lengths or scores do not vary, so there is no length bias to measure."
    return LengthAnalysis(models=models, says=sentence)


class RatedScores(NamedTuple):
    """The scores with the gate, without it and over all rubrics, with the rating and the cluster."""

    gated: float
    ungated: float
    plain: float
    rating: float
    cluster: str


def agreement(rows: Sequence[AuditRow], ratings: Sequence[Rating]) -> Agreement:
    """Return the correlation of scores with outside ratings: with the gate, without it, and as a share of all rubrics.

    Ratings of responses are compared by response, clustered by image; ratings of models are compared by model. Without
    the gate, a score is the share of easy-wrong rubrics that hold. `gain` is Pearson's correlation with the gate minus
    the correlation without it, on the same pairs, with a jackknife interval over clusters.
    """
    of_responses = [rating for rating in ratings if rating.sample_id is not None]
    ratings_to_compare = of_responses or ratings
    level = "response" if of_responses else "model"
    pairs = _paired(judged_samples(rows), ratings_to_compare)
    values = [pair.rating for pair in pairs]
    clusters = [pair.cluster for pair in pairs]
    gated = _correlations([pair.gated for pair in pairs], values, clusters)
    ungated = _correlations([pair.ungated for pair in pairs], values, clusters)
    gain: Correlation | None = None
    if gated.pearson is None or ungated.pearson is None:
        sentence = f"{len(pairs)} pairs of score and rating do not suffice, or do not vary: nothing can be said."
    else:
        gain = _gain(pairs, gated.pearson.value - ungated.pearson.value)
        sentence = (
            f"Over {len(pairs)} {level}s Pearson's correlation with the ratings is {ungated.pearson.value:.2f} without "
            f"the gate and {gated.pearson.value:.2f} with it; {_gain_in_words(gain)}"
        )
    return Agreement(
        level=level,
        n=len(pairs),
        unmatched=len(ratings_to_compare) - len(pairs),
        gain=gain,
        gated=gated,
        ungated=ungated,
        plain=_correlations([pair.plain for pair in pairs], values, clusters),
        says=sentence,
    )


def _correlations(scores: Sequence[float], ratings: Sequence[float], clusters: Sequence[str]) -> Correlations:
    def of(method: Method) -> Correlation | None:
        correlated = correlation(method, scores, ratings, clusters)
        return correlated and Correlation(value=correlated.value, **limits(correlated.interval))

    return Correlations(pearson=of("pearson"), spearman=of("spearman"), kendall=of("kendall"))


def _gain_in_words(gain: Correlation) -> str:
    if gain.low is None or gain.high is None:
        return "these are too few to say whether the gate changes it."
    if gain.low > 0:
        return "the gate raises it beyond chance."
    if gain.high < 0:
        return "the gate lowers it beyond chance."
    return "the difference may be chance."


def _gain(pairs: Sequence[RatedScores], value: float) -> Correlation:
    """Return the gate's gain in correlation with its interval; no interval with fewer than ten clusters."""

    def gain(positions: Sequence[int]) -> float:
        sampled = [pairs[position] for position in positions]
        ratings = [pair.rating for pair in sampled]
        return pearson([pair.gated for pair in sampled], ratings) - pearson([pair.ungated for pair in sampled], ratings)

    clusters = [pair.cluster for pair in pairs]
    if len(set(clusters)) >= FEWEST_CLUSTERS:
        with suppress(ValueError):
            interval = jackknife_interval(gain, len(pairs), clusters=clusters, bounds=(-2.0, 2.0))
            return Correlation(value=rounded(value), **limits(interval))
    return Correlation(value=rounded(value), low=None, high=None)


def _paired(samples_by_model: Mapping[str, Samples], ratings: Sequence[Rating]) -> list[RatedScores]:
    """Return each rating with the scores of the rated response, or with the means over the rated model's samples."""
    pairs: list[RatedScores] = []
    for rating in ratings:
        samples = samples_by_model.get(rating.model, {})
        if rating.sample_id is not None:
            samples = {id: sample for id, sample in samples.items() if id == rating.sample_id}
        scores = [score for sample in samples.values() if (score := _scores_of(sample)) is not None]
        if scores:
            gated, ungated, plain = (sum(values) / len(values) for values in zip(*scores, strict=True))
            cluster = rating.model if rating.sample_id is None else samples[rating.sample_id].cluster
            pairs.append(RatedScores(gated, ungated, plain, rating.value, cluster))
    return pairs


def _scores_of(sample: Judged) -> tuple[float, float, float] | None:
    """Return a sample's gated score, easy-wrong share, and share of all rubrics that hold, in percent."""
    gated, easy_wrong = sample.mean("overall"), sample.mean("easy_wrong_mean")
    if gated is None:
        return None
    hits = [*sample.hits[0], *sample.hits[1]]
    plain = 100 * sum(hits) / len(hits) if hits else 100.0
    return gated, 100.0 if easy_wrong is None else easy_wrong, plain


def other_benchmarks(
    scores: Mapping[str, float], ratings: Sequence[Rating], others: Mapping[str, Sequence[Rating]]
) -> OtherBenchmarks:
    """Return the correlations of scores, in this audit and other benchmarks, with outside ratings over shared models.

    Args:
        scores: the mean gated score of each model.
        ratings: ratings of models; higher is better.
        others: scores of models by benchmark; higher is better.

    Raises:
        DataError: ratings or scores are of responses, or fewer than three models have all of them.
    """
    for lines in (ratings, *others.values()):
        if any(line.sample_id is not None for line in lines):
            raise DataError(
                "--benchmark compares scores of models: ratings and scores have model and rating, and no id"
            )
    rating_of = {rating.model: rating.value for rating in ratings}
    benchmarks: dict[str, Mapping[str, float]] = {OWN: scores}
    for name, lines in others.items():
        benchmarks[name] = {line.model: line.value for line in lines}
    models = [
        name for name in scores if name in rating_of and all(name in measured for measured in benchmarks.values())
    ]
    if len(models) < MIN_MODELS:
        raise DataError(
            f"{len(models)} models of this audit have a rating and a score of {', '.join(others)}: a correlation needs "
            f"{MIN_MODELS} or more"
        )
    scores_by_name: dict[str, BenchmarkScores] = {}
    for name, measured in benchmarks.items():
        points = {model: (measured[model], rating_of[model]) for model in models}
        together = _correlations([x for x, _ in points.values()], [y for _, y in points.values()], models)
        scores_by_name[name] = BenchmarkScores(points=points, **dict(together))
    parts = "; ".join(
        f"{name} {_value(benchmark.pearson)} and {_value(benchmark.spearman)}"
        for name, benchmark in scores_by_name.items()
    )
    sentence = f"Pearson's and Spearman's correlation with the ratings, over the same {len(models)} models: {parts}."
    return OtherBenchmarks(models=tuple(models), scores=scores_by_name, says=sentence)


def _value(correlation: Correlation | None) -> str:
    if correlation is None:
        return "–"
    return f"{correlation.value:.2f}"


def two_judges(
    rows: Sequence[AuditRow],
    others: Sequence[AuditRow],
    *,
    names: tuple[str, str],
    seed: int,
    weights: tuple[float, float] | None = None,
) -> TwoJudges:
    """Return how two judges differ on the same rubrics: model order, shift, agreement, and spread over repeats.

    `shift` is the second judge's score minus the first's, paired by sample. `same_order` says whether the order of the
    models is the same (equal means have no order). `reversed` lists the pairs in opposite order, with the larger
    p-value of the two judges' paired differences, adjusted over all pairs of models.

    Args:
        rows: the first judge's audit.
        others: the second judge's audit.
        names: names of the judges.
        seed: seed of the bootstrap.
        weights: weights of the judges in the average `together`; None for no average.
    """
    first, second = judged_samples(rows), judged_samples(others)
    models: dict[str, JudgedTwice] = {}
    for name in first:
        if name in second and (pairs := pairs_of(first[name], second[name])):
            spreads = (_repeat_spread(first[name]), _repeat_spread(second[name]))
            models[name] = _judged_twice(pairs, spreads, weights, seed=seed)
    swapped = _swapped(models, first, second, seed=seed)
    firsts = {name: model.means[0] for name, model in models.items()}
    seconds = {name: model.means[1] for name, model in models.items()}
    sides = (list(firsts.values()), list(seconds.values()))
    return TwoJudges(
        judges=names,
        direction=DIRECTION,
        weights=None if weights is None else (rounded(weights[0]), rounded(weights[1])),
        models=models,
        order=(_order(firsts), _order(seconds)),
        same_order=not swapped if len(models) > 1 else None,
        reversed=swapped,
        spearman=value_of(spearman, *sides),
        kendall=value_of(kendall, *sides),
        decisions=_decisions(rows, others),
        says=_judges_in_words(names, models, swapped),
    )


def _order(means: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(means, key=lambda name: (-means[name], name)))


def _judges_in_words(names: tuple[str, str], models: Mapping[str, JudgedTwice], swapped: Sequence[ReversedPair]) -> str:
    if not models:
        return "No response was judged by both, so the judges cannot be compared."
    shift = _mean([model.shift.mean for model in models.values()])
    if len(models) == 1:
        order = "judge one model in common"
    elif not swapped:
        order = "order no two models differently"
    else:
        sure = sum(pair.adjusted <= ALPHA for pair in swapped)
        order = f"order {len(swapped)} pairs of models differently, {sure} of them beyond chance"
    direction = "higher" if shift >= 0 else "lower"
    return f"{names[0]} and {names[1]} {order}; {names[1]} scores {abs(shift):.1f} points {direction} on average."


def _judged_twice(
    pairs: Sequence[tuple[float, float, str]],
    spreads: tuple[float | None, float | None],
    weights: tuple[float, float] | None,
    *,
    seed: int,
) -> JudgedTwice:
    firsts = [first for first, _, _ in pairs]
    seconds = [second for _, second, _ in pairs]
    clusters = [cluster for _, _, cluster in pairs]
    differences = [second - first for first, second, _ in pairs]
    shift = mean_with_interval(differences, clusters, seed=seed, bounds=(-100.0, 100.0))
    assert shift is not None, "there is a pair"
    together: Interval | None = None
    if weights is not None:
        weighted = [weights[0] * first + weights[1] * second for first, second, _ in pairs]
        together = mean_with_interval(weighted, clusters, seed=seed, bounds=(0.0, 100.0))
    return JudgedTwice(
        n=len(pairs),
        means=(rounded(_mean(firsts)), rounded(_mean(seconds))),
        shift=shift,
        spread=spreads,
        together=together,
    )


def _swapped(
    models: Mapping[str, JudgedTwice], first: Mapping[str, Samples], second: Mapping[str, Samples], *, seed: int
) -> tuple[ReversedPair, ...]:
    """Return the pairs of models that two judges order differently, and whether both orders are significant."""
    p_values: dict[tuple[str, str], float] = {}
    reversed_pairs: list[tuple[str, str]] = []
    for pair in combinations(sorted(models), 2):
        gaps = [models[pair[0]].means[judge] - models[pair[1]].means[judge] for judge in (0, 1)]
        p_values[pair] = 1.0
        if gaps[0] * gaps[1] < 0:
            reversed_pairs.append(pair)
            p_values[pair] = max(_order_p(judge[pair[0]], judge[pair[1]], seed=seed) for judge in (first, second))
    q_values = dict(zip(p_values, adjusted(list(p_values.values())), strict=True))
    return tuple(
        ReversedPair(models=pair, p=rounded(p_values[pair]), adjusted=rounded(q_values[pair] or 0.0))
        for pair in reversed_pairs
    )


def _order_p(samples: Samples, rival_samples: Samples, *, seed: int) -> float:
    """Return the p-value of a judge's paired difference between two models; 1 without shared samples."""
    pairs = pairs_of(samples, rival_samples)
    if not pairs:
        return 1.0
    gaps = [score - rival_score for score, rival_score, _ in pairs]
    return sign_flip_test(gaps, clusters=[cluster for _, _, cluster in pairs], seed=seed).p_value


def _repeat_spread(samples: Samples) -> float | None:
    """Return the standard deviation of a model's mean over repeats; None if a sample lacks a repeat."""
    scores_by_sample = [sample.overall for sample in samples.values() if sample.overall]
    counts = {len(scores) for scores in scores_by_sample}
    if len(counts) != 1 or counts == {1}:
        return None
    return spread([[sum(scores) / len(scores_by_sample) for scores in zip(*scores_by_sample, strict=True)]])


def _decisions(rows: Sequence[AuditRow], other_rows: Sequence[AuditRow]) -> Decisions:
    """Return how often both judges agree on a rubric, over identical responses."""
    decided = {
        (row.sample_id, row.model, row.repeat, row.response): row.decisions for row in other_rows if row.response
    }
    first: list[bool] = []
    second: list[bool] = []
    for row in rows:
        other_decisions = decided.get((row.sample_id, row.model, row.repeat, row.response), [])
        if len(row.decisions) == len(other_decisions):
            first += row.decisions
            second += other_decisions
    if not first:
        return Decisions(n=0, equal=None, kappa=None)
    equal = sum(map(eq, first, second)) / len(first)
    kappa: float | None = None
    with suppress(ValueError):
        kappa = rounded(cohen_kappa(first, second))
    return Decisions(n=len(first), equal=rounded(equal), kappa=kappa)


def coverage(rows: Sequence[AuditRow], *, seed: int) -> RubricCoverage:
    """Return how scores change with fewer rubrics: 20, 40, 60 and 80 % of each stream and sample, at least one each.

    Three draws are made, the same for all models. `deviation` is the standard deviation of a model's score over the
    draws, a measure of its stability. `shift` is their mean minus the score by all rubrics; fewer gates raise scores
    mechanically.
    """
    judged_rows = [row for row in rows if row.judged is not None]
    full = _scores(judged_rows, lambda row: row.judged)
    shares: dict[str, RubricShare] = {}
    for percent in SHARES:
        draws = [_scores(judged_rows, partial(_part, percent=percent, draw=draw, seed=seed)) for draw in range(DRAWS)]
        models: dict[str, Stability] = {}
        for name in full:
            scores = [draw[name] for draw in draws]
            shift = sum(scores) / DRAWS - full[name]
            models[name] = Stability(deviation=rounded(deviation(scores)), shift=rounded(shift))
        shares[str(percent)] = RubricShare(
            deviation=mean([model.deviation for model in models.values()]),
            shift=mean([model.shift for model in models.values()]),
            models=models,
        )
    return RubricCoverage(shares=shares, draws=DRAWS, says=_coverage_in_words(shares))


def _coverage_in_words(shares: Mapping[str, RubricShare]) -> str:
    deviations = [share.deviation for share in shares.values() if share.deviation is not None]
    shift = shares[str(SHARES[0])].shift
    if not deviations or shift is None:
        return "No response was judged."
    falls = all(after <= before for before, after in pairwise(deviations))
    return (
        f"From {SHARES[0]} to {SHARES[-1]} % of the rubrics the deviation over draws goes from {deviations[0]:.2f} to "
        f"{deviations[-1]:.2f} points{' without a rise between' if falls else ''}; with {SHARES[0]} % scores lie "
        f"{abs(shift):.1f} points {'above' if shift >= 0 else 'below'} those by all."
    )


def _scores(
    rows: Sequence[AuditRow], decisions_of: Callable[[AuditRow], tuple[Sequence[bool], Sequence[bool]] | None]
) -> dict[str, float]:
    """Return each model's mean gated score in percent, where a sample's score is the mean over its repeats."""
    models: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        groups = decisions_of(row)
        if groups is not None:
            models.setdefault(row.model, {}).setdefault(row.sample_id, []).append(100 * gated_score(*groups))
    return {name: _mean([_mean(scores) for scores in samples.values()]) for name, samples in models.items()}


def _part(row: AuditRow, *, percent: int, draw: int, seed: int) -> tuple[list[bool], list[bool]] | None:
    """Return a row's decisions on a share of its rubrics, the same rubrics for every model and repeat."""
    if row.judged is None:
        return None
    parts: list[list[bool]] = []
    for stream, hits in zip("AB", row.judged, strict=True):
        count = max(1, round(percent / 100 * len(hits))) if hits else 0
        positions = Random(f"{seed}/{percent}/{draw}/{row.sample_id}/{stream}").sample(range(len(hits)), count)
        parts.append([hits[position] for position in sorted(positions)])
    return parts[0], parts[1]
