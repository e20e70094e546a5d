"""The figures of an audit, typed: what `--json` prints; scores and rates in percent."""

from pydantic import Field

from dokimasia.domain.call import Weights
from dokimasia.domain.identity import Value
from dokimasia.report.fields import Bounds, Count, Counts, Coverage, Failures, Interval, Used
from dokimasia.runs.figure_models import DataFigures, Judge


class RubricRate(Interval):
    """A share of judged rubrics in percent."""

    n: Count = Field(description="judged rubrics")


class AuditBounds(Value):
    """What figures over all samples would be if every failed judgement had failed every rubric, or passed it; percent."""

    overall: Bounds | None
    gate_pass: Bounds | None
    easy_wrong_mean: Bounds | None
    must_right_item: Bounds | None
    easy_wrong_item: Bounds | None


class AuditedDomain(Value):
    """One model's gated score in one domain."""

    n: Count = Field(description="samples")
    n_scored: Count = Field(description="samples with a judgement")
    answers: Count = Field(description="responses, all repeats")
    answers_scored: Count = Field(description="responses with a judgement")
    coverage: Coverage
    overall: Interval | None = Field(description="gated score, percent; null without a judged sample")
    bounds: Bounds | None = Field(description="of the gated score over all n, percent")


class AuditedModel(Used):
    """One model's figures, in percent, higher is better but for the gap; intervals clustered by image."""

    n: Count = Field(description="samples")
    n_scored: Count = Field(description="samples with a judgement")
    answers: Count = Field(description="responses, all repeats")
    answers_scored: Count = Field(description="responses with a judgement")
    coverage: Coverage
    overall: Interval | None = Field(description="gated score; null without a judged sample")
    gate_pass: Interval | None = Field(description="rate of passing the gate: every must-right rubric holds")
    easy_wrong_mean: Interval | None = Field(description="mean share of easy-wrong rubrics that hold")
    must_right_item: RubricRate | None = Field(description="of all judged must-right rubrics those that hold")
    easy_wrong_item: RubricRate | None = Field(description="of all judged easy-wrong rubrics those that hold")
    reliability_gap: Interval | None = Field(
        description="must_right_item less gate_pass, in points; lower is better (the paper: all rubrics)"
    )
    bounds: AuditBounds
    spread: float | None = Field(
        ge=0,
        description="standard deviation of the gated score over repeats, pooled over samples; null without repeats",
    )
    failures: Failures = Field(description="samples without a judgement, by the kind of their first failure")
    failed_answers: Failures = Field(description="responses that failed, by kind of failure")
    by_domain: dict[str, AuditedDomain]
    weights: Weights | None = Field(description="as the configuration said; null where it does not say")
    parameters: str | None = Field(
        description="number of parameters, as the configuration said; null where it does not"
    )


class AuditRubrics(Value):
    """The rubrics that an audit judges by."""

    id: str = Field(description="of the collection, by content")
    must_right: Count = Field(description="must-right rubrics")
    easy_wrong: Count = Field(description="easy-wrong rubrics")
    checked: Count = Field(description="sets that a person decided on")
    pool: tuple[str, ...] = Field(description="models whose responses chose rubrics")


class BlindScore(Value):
    """What is left of a model's gated score without the image."""

    n: Count = Field(description="samples judged with and without")
    share: float | None = Field(ge=0, description="of the gated score; null where it is 0")


class AuditFigures(Used, DataFigures):
    """The figures of an audit."""

    samples: Count = Field(description="samples of the run")
    without_rubrics: tuple[str, ...] = Field(description="samples of the data for which there are no rubrics")
    judge: Judge
    repeats: int = Field(ge=1, description="responses and judgements a sample")
    show_image: bool = Field(description="whether the judge sees the image")
    rubrics: AuditRubrics
    in_pool: tuple[str, ...] = Field(
        description="audited models whose other answers had a hand in choosing the rubrics"
    )
    models: dict[str, AuditedModel] = Field(description="by name; NAME#blind is the arm without images")
    domains: Counts = Field(description="samples by domain")
    blind: dict[str, BlindScore] = Field(
        default_factory=dict, description="by model; only where models were asked without the image, too"
    )
