"""The figures of an evaluation, typed: what `--json` prints."""

from pydantic import Field

from dokimasia.domain.criterion import Defect
from dokimasia.domain.identity import Value
from dokimasia.domain.options import Protocol
from dokimasia.methods.evaluation.plan import Ask
from dokimasia.report.fields import (
    Bounds,
    Count,
    CountedRate,
    Coverage,
    Failures,
    Interval,
    NoInterval,
    StrictShare,
    Used,
)
from dokimasia.runs.figure_models import DataFigures, Judge


class OverSamples(Value):
    """A mean over samples with its 95 % interval, clustered by image; null where no sample has a value."""

    n: Count = Field(description="samples with a value")
    mean: float | None
    low: float | None
    high: float | None
    no_interval: NoInterval = None


class LengthAndScore(Value):
    """How far longer answers score higher: Pearson's correlation of log length and score over scored answers.

    The correlation is null with fewer than ten images, or where lengths or scores do not vary.
    """

    n: Count = Field(description="scored answers")
    characters: float | None = Field(description="mean length; null without an answer")
    correlation: float | None = Field(description="-1 to 1")
    low: float | None = Field(description="lower end of the 95 % interval, clustered by image")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None


class Scores(Value):
    """A model's scores over samples, 1 to 5, higher is better; a sample's is the mean over its scored repeats."""

    n: Count = Field(description="samples")
    n_scored: Count = Field(description="samples with a scored answer")
    answers: Count = Field(description="answers, all repeats")
    answers_scored: Count = Field(description="answers with a score")
    coverage: Coverage
    strict_accuracy: StrictShare | None = Field(
        description="over answers to samples with a reference answer, repeats, too; null where there is no such sample"
    )
    score: Interval | None = Field(description="mean, 1 to 5; clustered by image; null where nothing was scored")
    bounds: Bounds | None = Field(
        description="of the mean over all n, if every failed answer had 1, or 5; null without a sample"
    )
    stated: OverSamples = Field(description="share of the criteria's weight that answers speak to, 0 to 1")
    stated_score: OverSamples = Field(
        description="score of what answers speak to, 1 to 5; models choose what that is, so it is not to be compared"
    )
    spread: float | None = Field(
        ge=0, description="standard deviation over repeats, pooled over samples; null without repeats"
    )
    failures: Failures = Field(description="samples without any scored answer, by the kind of their first failure")
    failed_answers: Failures = Field(description="answers that failed, by kind of failure")


class TokenFigures(Value):
    """Tokens that calls used."""

    input: Count | None = Field(description="null where no call reported them")
    output: Count | None = Field(description="null where no call reported them")
    unknown: Count = Field(description="calls whose use was not reported")


class UsageFigures(Used):
    """What calls used, each counted once."""

    tokens: TokenFigures


class ModelScores(UsageFigures, Scores):
    """One model's scores, and what its answers and their scoring used."""

    length: LengthAndScore
    by_category: dict[str, Scores] = Field(description="by the data's own categories")


class Surviving(Value):
    """What is left of a model's score without the image, over samples that are scored with and without."""

    n: Count = Field(description="samples scored with and without")
    share: float | None = Field(description="of the score above the floor of 1; null where there is none")
    difference: Interval | None = Field(
        description="score with the image less without; null with one cluster or a zero score"
    )


class ForkedFrom(Value):
    """The run that a run was forked from."""

    run: str = Field(description="its id")
    node: str | None = Field(description="the step that was done anew; null where the whole run was")


class FaultsFound(Value):
    """What became of faults of one kind."""

    mended: Count = Field(description="sent back and gone since, or asked for by the sample's own question")
    dropped: Count = Field(description="left out with their criterion")
    left: Count = Field(description="could not be helped")


class CriteriaFigures(Value):
    """The criteria that answers were scored by."""

    sets: Count = Field(description="samples with criteria")
    points: float | None = Field(description="mean number of criteria a sample; null without any")
    only_final: CountedRate = Field(description="samples of which the final answer is the only criterion")
    checked: Count = Field(description="sets at which a second look was taken")
    faults: dict[Defect, FaultsFound] = Field(description="what was found to be wrong, by kind")


class SampleLeftOut(Value):
    """A sample that a person left out."""

    sample: str
    who: str
    reason: str


class AsJudged(Value):
    """A model's figures as the judge left them, on all samples."""

    n: Count = Field(description="samples")
    n_scored: Count = Field(description="samples with a scored answer")
    strict_accuracy: StrictShare | None
    score: Interval | None


class HandCorrections(Value):
    """What people corrected by hand: the figures count it. They chose the answers, which are no draw from all."""

    answers: Count = Field(description="answers of which a person has the last word")
    of: Count = Field(description="answers of the samples that count")
    by: dict[str, Count] = Field(description="answers and samples, by who corrected them or left them out last")
    left_out: tuple[SampleLeftOut, ...] = Field(description="samples that are in no figure, and why")
    as_judged: dict[str, AsJudged] = Field(description="the judge's own figures, by model")


class EvaluationFigures(DataFigures):
    """The figures of an evaluation."""

    samples: Count = Field(description="samples of the run")
    judge: Judge = Field(default="", description="left out where rules alone decided")
    ask: Ask | None = Field(description="how the question was put; null where the answers were there before")
    protocol: Protocol
    forked_from: ForkedFrom | None = Field(description="null where the run is no fork")
    criteria: CriteriaFigures | None = Field(default=None, description="left out where rules alone decided")
    models: dict[str, ModelScores] = Field(description="by name; NAME#blind is the arm without images")
    length: LengthAndScore = Field(description="over the answers of all models, those without images left out")
    preparation: UsageFigures = Field(description="what chains and criteria used")
    blind: dict[str, Surviving] = Field(
        default_factory=dict, description="by model; only where models were asked without the image, too"
    )
    corrections: HandCorrections | None = Field(default=None, description="left out where nothing was corrected")
