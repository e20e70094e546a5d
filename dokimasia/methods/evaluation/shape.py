"""The figures of an evaluation, typed: what `--json` prints."""

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.runs.shapes import Bounds, Count, Coverage, DataFigures, Failures, Interval, Judge, Used


class Scores(Value):
    """A model's scores over samples, 1 to 5, higher is better; a sample's is the mean over its scored repeats."""

    n: Count = Field(description="samples")
    n_scored: Count = Field(description="samples with a scored answer")
    coverage: Coverage
    score: Interval | None = Field(description="mean, 1 to 5; clustered by image; null where nothing was scored")
    bounds: Bounds | None = Field(description="of the mean over all n, 1 to 5; null without a sample")
    spread: float | None = Field(ge=0, description="mean standard deviation over repeats; null without repeats")
    failures: Failures = Field(description="samples without any scored answer, by the kind of their first failure")
    failed_answers: Failures = Field(description="answers that failed, by kind of failure")


class Tokens(Value):
    """Tokens that calls used."""

    input: Count | None = Field(description="null where no call reported them")
    output: Count | None = Field(description="null where no call reported them")
    unknown: Count = Field(description="calls whose use was not reported")


class Usage(Used):
    """What calls used, each counted once."""

    tokens: Tokens


class ModelScores(Usage, Scores):
    """One model's scores, and what its answers and their scoring used."""

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


class EvaluationFigures(DataFigures):
    """The figures of an evaluation."""

    samples: Count = Field(description="samples of the run")
    judge: Judge
    forked_from: ForkedFrom | None = Field(description="null where the run is no fork")
    models: dict[str, ModelScores] = Field(description="by name; NAME#blind is the arm without images")
    preparation: Usage = Field(description="what chains and criteria used")
    blind: dict[str, Surviving] = Field(
        default_factory=dict, description="by model; only where models were asked without the image, too"
    )
