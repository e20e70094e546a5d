"""The figures of an audit: the models and their computation from stored rows (PerceptionRubrics, tables 2 and 4).

Scores and rates are in percent.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from dokimasia.algorithms.gating import gate, gated_score
from dokimasia.algorithms.statistics import jackknife_interval, rate_interval
from dokimasia.domain.call import Weights, model_names
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.judgement import FailureKind, Response
from dokimasia.domain.options import Protocol
from dokimasia.domain.rubric import Rubric, RubricJudgement
from dokimasia.errors import StorageError
from dokimasia.methods.audit.request import AuditPlan, rubric_sets
from dokimasia.report.fields import (
    Bounds,
    Count,
    Counts,
    Coverage,
    Display,
    Failures,
    Interval,
    Lead,
    LeftOpen,
    Used,
    as_json,
)
from dokimasia.runs.figure_models import DataFigures, Judge
from dokimasia.runs.figures import calls_and_costs, heading, ordered_rows, shown_name
from dokimasia.runs.measures import (
    CoverageFields,
    bounds_over_failures,
    coverage,
    failures_by_kind,
    interval_of,
    lead_of,
    left_open,
    limits,
    mean_bounds,
    mean_with_interval,
    ratio,
    rounded,
    spread,
    unrounded_mean,
)
from dokimasia.runs.method import ColumnType
from dokimasia.runs.reading.exporting import ANSWERED, answer_cells
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, clusters_by_sample, response_texts, run_samples

BLIND_MARK = "#blind"
Outcome = Literal["overall", "gate_pass", "easy_wrong_mean"]


class RubricRate(Interval):
    """A share of judged rubrics in percent."""

    n: Count = Field(description="judged rubrics")


class AuditBounds(Value):
    """Bounds of figures over all samples, with every failed judgement failing, or passing, every rubric; percent."""

    overall: Annotated[Bounds | None, Display("bounds")]
    gate_pass: Bounds | None
    easy_wrong_mean: Bounds | None
    must_right_item: Bounds | None
    easy_wrong_item: Bounds | None


class JudgedCounts(Value):
    """The numbers of a model's samples and responses, in all and with a judgement."""

    n: Count = Field(description="samples")
    n_scored: Count = Field(description="samples with a judgement")
    answers: Count = Field(description="responses, all repeats")
    answers_scored: Count = Field(description="responses with a judgement")
    coverage: Coverage


class AuditedDomain(JudgedCounts):
    """One model's gated score in one domain."""

    overall: Interval | None = Field(description="gated score, percent; null without a judged sample")
    bounds: Bounds | None = Field(description="of the gated score over all n, percent")


class GatedScores(JudgedCounts):
    """One model's scores over its samples."""

    overall: Annotated[Interval | None, Display("overall", "mean gated score")] = Field(
        description="gated score; null without a judged sample"
    )
    gate_pass: Annotated[
        Interval | None, Display("gate pass", "share of responses that keep every must-right rubric")
    ] = Field(description="rate of passing the gate: every must-right rubric holds")
    easy_wrong_mean: Annotated[
        Interval | None,
        Display("easy-wrong mean", "mean over samples of the share of easy-wrong rubrics that hold"),
    ] = Field(description="mean share of easy-wrong rubrics that hold")
    must_right_item: Annotated[
        RubricRate | None, Display("must-right item", "share of all must-right rubrics that hold")
    ] = Field(description="of all judged must-right rubrics those that hold")
    easy_wrong_item: Annotated[
        RubricRate | None, Display("easy-wrong item", "share of all easy-wrong rubrics that hold")
    ] = Field(description="of all judged easy-wrong rubrics those that hold")
    reliability_gap: Annotated[Interval | None, Display("gap", "must-right item less gate pass")] = Field(
        description="must_right_item minus gate_pass, in points, -100 to 100; lower is better"
    )
    atomic_accuracy: Annotated[
        RubricRate | None, Display("atomic accuracy", "share of all rubrics of both streams that hold")
    ] = Field(description="of all judged rubrics, must-right and easy-wrong, those that hold (the paper's Figure 6)")
    atomic_gap: Annotated[Interval | None, Display("atomic gap", "atomic accuracy less gate pass")] = Field(
        description="atomic_accuracy minus gate_pass, in points, -100 to 100: the reliability gap as published"
    )
    bounds: AuditBounds
    spread: float | None = Field(
        ge=0,
        description="standard deviation of the gated score over repeats, pooled over samples; null without repeats",
    )
    failures: Failures = Field(description="samples without a judgement, by the kind of their first failure")
    left_open: LeftOpen
    failed_answers: Annotated[Failures, Display("failed", "responses", numeric=False)] = Field(
        description="responses that failed, by kind of failure"
    )
    by_domain: dict[str, AuditedDomain]


class AuditedModel(GatedScores, Used):
    """One model's figures, in percent, higher is better but for the gap; intervals clustered by image."""

    weights: Annotated[
        Weights | None, Display("weights", "open or proprietary, by the configuration", numeric=False)
    ] = Field(description="as the configuration said; null where it does not say")
    parameters: Annotated[str | None, Display("parameters", "by the configuration", numeric=False)] = Field(
        description="number of parameters, as the configuration said; null where it does not"
    )


class AuditRubrics(Value):
    """The rubrics of an audit."""

    id: str = Field(description="of the collection, by content")
    must_right: Count = Field(description="must-right rubrics")
    easy_wrong: Count = Field(description="easy-wrong rubrics")
    checked: Count = Field(description="sets that a person decided on")
    pool: tuple[str, ...] = Field(description="models whose responses chose rubrics")


class BlindScore(Value):
    """The share of a model's gated score that remains without the image."""

    n: Count = Field(description="samples judged with and without")
    share: float | None = Field(ge=0, description="of the gated score; null where it is 0")


class AuditFigures(Used, DataFigures):
    """The figures of an audit."""

    samples: Count = Field(description="samples of the run")
    without_rubrics: tuple[str, ...] = Field(description="samples of the data for which there are no rubrics")
    judge: Judge
    repeats: int = Field(ge=1, description="responses and judgements a sample")
    show_image: bool = Field(description="whether the judge sees the image")
    protocol: Protocol = Field(description="default: quoted text is exact; published: as in the paper")
    rubrics: AuditRubrics
    in_pool: tuple[str, ...] = Field(
        description="audited models whose other answers had a hand in choosing the rubrics"
    )
    models: dict[str, AuditedModel] = Field(description="by name; NAME#blind is the arm without images")
    lead: Lead | None = Field(
        default=None,
        description="model with the highest gated score against the next, in points; left out without two "
        "models, arms not counted",
    )
    domains: Counts = Field(description="samples by domain")
    blind: dict[str, BlindScore] = Field(
        default_factory=dict, description="by model; only where models were asked without the image, too"
    )


class RubricResult(Value):
    """A rubric, and whether it holds; null if the judge did not answer it. `reason` is the judge's, if it gave one."""

    statement: str
    holds: bool | None
    reason: str | None = None


class AuditItem(Value):
    """A finished response with its text and its rubrics."""

    sample: str
    domain: str | None
    model: str
    repeat: int
    score: float | None
    failure: FailureKind | None
    reason: str | None
    response: str | None
    must_right: tuple[RubricResult, ...]
    easy_wrong: tuple[RubricResult, ...]


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A model's response to a sample: which rubrics of groups A and B hold, or the kind of failure.

    `rubrics` are the sizes of the groups, `words` is the length of the response (None without a response), `response`
    identifies its text, and `model` is the displayed name with the arm.
    """

    sample_id: str
    cluster: str
    domain: str
    model: str
    repeat: int
    rubrics: tuple[int, int]
    judged: tuple[tuple[bool, ...], tuple[bool, ...]] | None
    failure: FailureKind | None = None
    words: int | None = None
    response: str = ""

    @property
    def decisions(self) -> list[bool]:
        """Whether each rubric holds, those of group A first; empty for a failed judgement."""
        return [holds for group in self.judged or () for holds in group]

    @property
    def score(self) -> float | None:
        """The gated score in percent; None for a failed judgement."""
        if self.judged is None:
            return None
        return 100 * gated_score(*self.judged)


@dataclass(slots=True)
class Judged:
    """A model's results on a sample: gated score, gate and easy-wrong share in percent of each scored repeat."""

    cluster: str
    domain: str
    rubrics: tuple[int, int]
    overall: list[float] = field(default_factory=list[float])
    gate_pass: list[float] = field(default_factory=list[float])
    easy_wrong_mean: list[float] = field(default_factory=list[float])
    hits: tuple[list[bool], list[bool]] = field(default_factory=lambda: ([], []))
    failures: list[FailureKind] = field(default_factory=list[FailureKind])

    def add(self, row: AuditRow) -> None:
        """Add a repeat."""
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

    def values(self, outcome: Outcome) -> list[float]:
        """Return a figure of each scored repeat."""
        values: list[float] = getattr(self, outcome)
        return values

    def mean(self, outcome: Outcome) -> float | None:
        """Return the mean of a figure over the sample's scored repeats; None without any."""
        return unrounded_mean(self.values(outcome))


Samples = dict[str, Judged]
"""A model's judged samples, by name."""


def judged_samples(rows: Iterable[AuditRow]) -> dict[str, Samples]:
    """Return the judged samples by model, in the order of the rows."""
    models: dict[str, Samples] = {}
    for row in rows:
        samples = models.setdefault(row.model, {})
        if row.sample_id not in samples:
            samples[row.sample_id] = Judged(row.cluster, row.domain, row.rubrics)
        samples[row.sample_id].add(row)
    return models


def pairs_of(first: Samples, second: Samples) -> list[tuple[float, float, str]]:
    """Return both mean gated scores and the cluster of each sample judged on both sides."""
    pairs: list[tuple[float, float, str]] = []
    for id, sample in first.items():
        if id in second:
            score, other = sample.mean("overall"), second[id].mean("overall")
            if score is not None and other is not None:
                pairs.append((score, other, sample.cluster))
    return pairs


def figures_of_run(home: Home, run: Run) -> AuditFigures:
    """Return the figures of an audit; the same stored rows give the same bytes."""
    plan = run.plan_as(AuditPlan)
    rows = results(home, run.id)
    sets = list(rubric_sets(home, plan).values())
    samples = len(run_samples(home, run.id))
    samples_by_model = judged_samples(audit_rows(home, run))
    models = models_of(home, plan, rows, samples_by_model, seed=run.seed)
    pool = sorted({name for rubrics in sets for name in rubrics.pool})
    return AuditFigures(
        **heading(run, plan),
        samples=samples,
        open_items=0 if run.status == "done" else samples * plan.per_sample - len(rows),
        without_rubrics=tuple(run.texts("without_rubrics")),
        repeats=plan.repeats,
        show_image=plan.show_image,
        protocol=plan.protocol,
        rubrics=AuditRubrics(
            id=plan.rubrics,
            must_right=sum(len(rubrics.must_right) for rubrics in sets),
            easy_wrong=sum(len(rubrics.easy_wrong) for rubrics in sets),
            checked=sum(rubrics.checked for rubrics in sets),
            pool=tuple(pool),
        ),
        in_pool=_in_pool(run, plan, pool),
        models=models,
        lead=_lead(samples_by_model, seed=run.seed),
        domains=samples_by_domain(samples_by_model),
        blind=blind_scores(samples_by_model),
        **calls_and_costs(home, rows),
    )


def _lead(models: Mapping[str, Samples], *, seed: int) -> Lead | None:
    """Return how the model with the highest mean gated score compares with the runner-up."""
    scores: dict[str, dict[str, float]] = {}
    clusters: dict[str, str] = {}
    for name, samples in models.items():
        for id, sample in samples.items():
            score = sample.mean("overall")
            if score is not None and "#" not in name:
                scores.setdefault(name, {})[id] = score
                clusters[id] = sample.cluster
    return lead_of(scores, clusters, widest=100.0, seed=seed)


def _in_pool(run: Run, plan: AuditPlan, pool: Sequence[str]) -> tuple[str, ...]:
    """Return the candidates that belong to the pool, whatever their names; older audits stored only displayed names."""
    resolved = run.texts("pool")
    if not resolved:
        return tuple(sorted(set(model_names(plan.candidates)) & set(pool)))
    return tuple(sorted(spec.ref.name for spec in plan.candidates if spec.ref.model in resolved))


def models_of(
    home: Home, plan: AuditPlan, stored: Sequence[ResultRow], judged: dict[str, Samples], *, seed: int
) -> dict[str, AuditedModel]:
    """Return the figures of each model: scores, usage and configuration."""
    specs = {spec.ref.name: spec for spec in plan.candidates}
    models: dict[str, AuditedModel] = {}
    for name, scores in scores_by_model(judged, seed=seed).items():
        spec = specs[name.removesuffix(BLIND_MARK)]
        rows = [row for row in stored if shown_name(row.model, row.arm) == name]
        models[name] = AuditedModel(
            **dict(scores), **calls_and_costs(home, rows), weights=spec.weights, parameters=spec.parameters
        )
    return models


def samples_by_domain(judged: dict[str, Samples]) -> dict[str, int]:
    """Return the number of samples by domain."""
    domains: dict[str, set[str]] = {}
    for samples in judged.values():
        for id, sample in samples.items():
            domains.setdefault(sample.domain, set()).add(id)
    return {name: len(ids) for name, ids in sorted(domains.items())}


def blind_scores(judged: dict[str, Samples]) -> dict[str, BlindScore]:
    """Return the share of each model's gated score that survives without the image, over samples judged in both arms."""
    scores: dict[str, BlindScore] = {}
    for name, samples in judged.items():
        if name + BLIND_MARK in judged:
            pairs = pairs_of(samples, judged[name + BLIND_MARK])
            total = sum(score for score, _, _ in pairs)
            scores[name] = BlindScore(n=len(pairs), share=ratio(sum(blind for _, blind, _ in pairs), total))
    return scores


def scores_by_model(judged: dict[str, Samples], *, seed: int) -> dict[str, GatedScores]:
    """Return the scores of each model."""
    return {name: gated_scores(list(samples.values()), seed=seed) for name, samples in judged.items()}


def gated_scores(samples: Sequence[Judged], *, seed: int) -> GatedScores:
    """Return the scores of one model over its samples."""
    valid = [sample for sample in samples if sample.overall]
    must_right, easy_wrong, atomic = (
        _item_rate(valid, 0),
        _item_rate(valid, 1),
        _item_rate(valid, 0, 1),
    )
    gate_pass = average(valid, "gate_pass", seed=seed)
    by_domain: dict[str, AuditedDomain] = {}
    for domain in sorted({sample.domain for sample in samples}):
        by_domain[domain] = _domain([sample for sample in samples if sample.domain == domain], seed=seed)
    return GatedScores(
        **_coverage(samples),
        overall=average(valid, "overall", seed=seed),
        gate_pass=gate_pass,
        easy_wrong_mean=average(valid, "easy_wrong_mean", seed=seed),
        must_right_item=must_right,
        easy_wrong_item=easy_wrong,
        reliability_gap=_gap(valid, must_right, gate_pass, 0),
        atomic_accuracy=atomic,
        atomic_gap=_gap(valid, atomic, gate_pass, 0, 1),
        bounds=AuditBounds(
            overall=_bounds(samples, "overall"),
            gate_pass=_bounds(samples, "gate_pass"),
            easy_wrong_mean=_bounds(samples, "easy_wrong_mean"),
            must_right_item=_item_bounds(samples, 0),
            easy_wrong_item=_item_bounds(samples, 1),
        ),
        spread=spread([sample.overall for sample in valid]),
        failures=failures_by_kind(sample.failures[0] for sample in samples if not sample.overall),
        left_open=left_open(kind for sample in samples for kind in sample.failures),
        failed_answers=failures_by_kind(kind for sample in samples for kind in sample.failures),
        by_domain=by_domain,
    )


def average(samples: Sequence[Judged], outcome: Outcome, *, seed: int) -> Interval | None:
    """Return the mean of a figure over samples with its interval; None if no sample has it."""
    values: list[float] = []
    clusters: list[str] = []
    for sample in samples:
        value = sample.mean(outcome)
        if value is not None:
            values.append(value)
            clusters.append(sample.cluster)
    return mean_with_interval(values, clusters, seed=seed, bounds=(0.0, 100.0))


def rate(hits: Sequence[bool], clusters: Sequence[str]) -> RubricRate | None:
    """Return the share of hits in percent with its clustered interval; None without trials."""
    if not hits:
        return None
    interval = limits(rate_interval(hits, clusters=clusters), unit=100)
    return RubricRate(mean=rounded(100 * sum(hits) / len(hits)), **interval, n=len(hits))


def _item_rate(samples: Sequence[Judged], *groups: int) -> RubricRate | None:
    hits: list[bool] = []
    clusters: list[str] = []
    for sample in samples:
        for group in groups:
            hits += sample.hits[group]
            clusters += [sample.cluster] * len(sample.hits[group])
    return rate(hits, clusters)


def _coverage(samples: Sequence[Judged]) -> CoverageFields:
    return coverage((len(sample.overall), len(sample.failures)) for sample in samples)


def _domain(samples: Sequence[Judged], *, seed: int) -> AuditedDomain:
    valid = [sample for sample in samples if sample.overall]
    return AuditedDomain(
        **_coverage(samples), overall=average(valid, "overall", seed=seed), bounds=_bounds(samples, "overall")
    )


def _gap(
    samples: Sequence[Judged], item: RubricRate | None, gate_pass: Interval | None, *groups: int
) -> Interval | None:
    """Return the item accuracy of some groups minus the gate pass rate, with a jackknife interval over clusters of samples."""
    if item is None or gate_pass is None:
        return None

    def gap(positions: Sequence[int]) -> float:
        hits: list[bool] = []
        gates: list[float] = []
        for position in positions:
            for group in groups:
                hits += samples[position].hits[group]
            passed = samples[position].mean("gate_pass")
            if passed is not None:
                gates.append(passed)
        if hits:
            return 100 * sum(hits) / len(hits) - sum(gates) / len(gates)
        return 0.0

    clusters = [sample.cluster for sample in samples]
    interval = jackknife_interval(gap, len(samples), clusters=clusters, bounds=(-100.0, 100.0), additive=True)
    return interval_of(item.mean - gate_pass.mean, interval)


def _bounds(samples: Sequence[Judged], outcome: Outcome) -> Bounds | None:
    """Return the bounds of a mean over all samples, if every failed judgement had 0, or 100."""
    applicable = [sample for sample in samples if outcome != "easy_wrong_mean" or sample.rubrics[1] > 0]
    return bounds_over_failures(((sample.values(outcome), len(sample.failures)) for sample in applicable), 0, 100)


def _item_bounds(samples: Sequence[Judged], group: int) -> Bounds | None:
    hits = sum(sum(sample.hits[group]) for sample in samples)
    trials = sum(len(sample.hits[group]) for sample in samples)
    failures = sum(sample.rubrics[group] * len(sample.failures) for sample in samples)
    return mean_bounds(100 * hits, 100 * (hits + failures), trials + failures)


def audit_rows(home: Home, run: Run) -> list[AuditRow]:
    """Return the responses of an audit that have a result, in the run's order."""
    plan = run.plan_as(AuditPlan)
    sets = rubric_sets(home, plan)
    clusters = clusters_by_sample(home, run.id)
    texts = dict(response_texts(home, run.id))
    result_rows = results(home, run.id)
    judgements = _judgements(home, result_rows)
    rows: list[AuditRow] = []
    for row in result_rows:
        rubrics, judgement = sets[row.sample_id], judgements.get(row.item)
        text = texts.get(row.response_id or "")
        rows.append(
            AuditRow(
                sample_id=row.sample_id,
                cluster=clusters[row.sample_id],
                domain=rubrics.domain or "unknown",
                model=shown_name(row.model, row.arm),
                repeat=row.repeat,
                rubrics=(len(rubrics.must_right), len(rubrics.easy_wrong)),
                judged=None if judgement is None else (judgement.group_a, judgement.group_b),
                failure=row.failure,
                words=None if text is None else len(text.split()),
                response="" if text is None else digest("text", text),
            )
        )
    return rows


def rubrics_used(home: Home, run: Run) -> dict[str, str]:
    """Return the rubrics of an audit by sample, as comparable streams and statements."""
    demanded: dict[str, str] = {}
    for sample, rubrics in rubric_sets(home, run.plan_as(AuditPlan)).items():
        demanded[sample] = digest("rubrics", [[rubric.stream, rubric.statement] for rubric in rubrics.rubrics])
    return demanded


def audit_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, object]]:
    """Yield each finished response with its text and its rubrics' results; with `sample`, only those of the sample."""
    sets = rubric_sets(home, run.plan_as(AuditPlan))
    rows = ordered_rows(home, run, sample)
    judgements = _judgements(home, rows)
    responses = find_values(home, Response, [row.response_id for row in rows])
    for row in rows:
        rubrics = sets[row.sample_id]
        judgement = judgements.get(row.item)
        item = AuditItem(
            sample=row.sample_id,
            domain=rubrics.domain,
            model=shown_name(row.model, row.arm),
            repeat=row.repeat,
            score=None if row.score is None else round(100 * row.score, 6),
            failure=row.failure,
            reason=row.reason,
            response=None if row.response_id is None else responses[row.response_id].text,
            must_right=_results(rubrics.must_right, judgement and judgement.group_a, judgement and judgement.reasons_a),
            easy_wrong=_results(rubrics.easy_wrong, judgement and judgement.group_b, judgement and judgement.reasons_b),
        )
        yield as_json(item)


def _results(
    rubrics: Sequence[Rubric], verdicts: Sequence[bool] | None, reasons: Sequence[str | None] | None
) -> tuple[RubricResult, ...]:
    nothing = [None] * len(rubrics)
    return tuple(
        RubricResult(statement=rubric.statement, holds=verdict, reason=reason)
        for rubric, verdict, reason in zip(rubrics, verdicts or nothing, reasons or nothing, strict=True)
    )


COLUMNS: dict[str, ColumnType] = {
    "domain": "text",
    "rubrics": "text",
    "must_right": "integers",
    "easy_wrong": "integers",
    "must_right_reasons": "texts",
    "easy_wrong_reasons": "texts",
    **ANSWERED,
}
"""Columns of a response in an export; `must_right` and `easy_wrong` have a 1 for each rubric that holds, else a 0.

A reason is an empty text where the judge gave none.
"""


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, object]]:
    """Return the values of `COLUMNS` for each response; missing ones are null."""
    plan = run.plan_as(AuditPlan)
    sets = rubric_sets(home, plan)
    judgements = _judgements(home, rows)
    responses = find_values(home, Response, [row.response_id for row in rows])
    lines: list[dict[str, object]] = []
    for row in rows:
        line: dict[str, object] = {**dict.fromkeys(COLUMNS)}
        line |= {"domain": sets[row.sample_id].domain, "rubrics": plan.sets[row.sample_id]}
        judgement, origin = judgements.get(row.item), None
        if judgement is not None:
            origin = judgement.provenance
            line |= {
                "must_right": list(map(int, judgement.group_a)),
                "easy_wrong": list(map(int, judgement.group_b)),
                "must_right_reasons": _reason_cells(judgement.reasons_a),
                "easy_wrong_reasons": _reason_cells(judgement.reasons_b),
            }
        lines.append(line | answer_cells(plan.judge_name, responses.get(row.response_id or ""), origin))
    return lines


def reason_of(cells: Mapping[str, object]) -> str | None:
    """Return the judge's reason for the first rubric that does not hold, the ones that must be right first.

    Args:
        cells: the values of `COLUMNS` of the response.
    """
    for group in ("must_right", "easy_wrong"):
        held, reasons = cells.get(group), cells.get(f"{group}_reasons")
        if isinstance(held, list) and isinstance(reasons, list):
            for holds, reason in zip(held, reasons, strict=True):
                if not holds and reason:
                    return str(reason)
    return None


def _reason_cells(reasons: Sequence[str | None]) -> list[str] | None:
    """Return a judge's reasons as a cell of an export; None if the judge was not asked for reasons."""
    return [reason or "" for reason in reasons] or None


def _judgements(home: Home, rows: Sequence[ResultRow]) -> dict[str, RubricJudgement]:
    """Return the judgements by item; a failed item has none."""
    ids: dict[str, str] = {}
    for row in rows:
        if row.outcome != "scored":
            continue
        if not row.value_ids:
            raise StorageError(f"{home.path}: item {row.item} of run {row.run_id} is scored and names no judgement")
        ids[row.item] = row.value_ids[0]
    judgements = find_values(home, RubricJudgement, ids.values())
    return {item: judgements[id] for item, id in ids.items()}
