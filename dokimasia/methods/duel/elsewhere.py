"""Models' figures compared with their scores in other benchmarks: correlations and redundancy.

Creation-MMBench, figure 6 (the mean score of objective benchmarks, "OC score") and figure 9 (redundancy).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean

from pydantic import Field

from dokimasia.datasets.annotations import read_ratings
from dokimasia.domain.identity import Value
from dokimasia.errors import DataError
from dokimasia.report.fields import Count, Fraction, Interval, NoInterval
from dokimasia.runs.measures import limits, rounded
from dokimasia.runs.reading.correlations import correlation

FEWEST_CORRELATED = 3
"""Fewer models make a correlation meaningless."""

OC_SCORE = "OC score"
"""The name of a model's mean score over all benchmarks of a file, or of its score in a file without benchmarks."""

REWARD, FACTUALITY = "reward", "visual factuality"

Scores = dict[str, dict[str, float]]
"""Scores of models by benchmark, then by model; higher is better."""


class ScoreCorrelation(Value):
    """A correlation over models."""

    value: float = Field(ge=-1, le=1)
    low: float | None = Field(description="lower end of the 95 % interval; null where there is none")
    high: float | None = Field(description="upper end of the 95 % interval; null where there is none")
    no_interval: NoInterval = None


class BesideScores(Value):
    """A figure of this run compared with scores in other benchmarks, over the models that have both."""

    points: dict[str, tuple[float, ...]] = Field(description="by model: the score elsewhere, and the figure")
    spearman: ScoreCorrelation | None = Field(
        description="null with fewer than three models, or where one side does not vary"
    )
    pearson: ScoreCorrelation | None
    r_squared: Fraction | None = Field(description="Pearson's correlation squared")


class MeasurePair(Value):
    """The correlation of two measures of the models: figures of this run, or benchmarks."""

    first: str
    second: str
    n: Count = Field(description="models that have both")
    spearman: float | None = Field(
        ge=-1, le=1, description="null with fewer than three models, or where one side does not vary"
    )
    r_squared: Fraction | None = Field(description="Pearson's correlation squared")


class Elsewhere(Value):
    """The models' scores elsewhere, and how this run's figures go with them."""

    scores: Scores = Field(description="by benchmark and model; `OC score` is the mean over all benchmarks")
    reward: BesideScores = Field(description="beside the OC score")
    factuality: BesideScores = Field(description="beside the OC score")
    redundancy: tuple[MeasurePair, ...] = Field(
        description="every two of reward, visual factuality, OC score and benchmarks"
    )


def read_scores(path: Path, models: Sequence[str]) -> Scores:
    """Return the scores of some models from a file of ratings, by benchmark and model.

    A row has `model`, `rating` and, if the file covers several benchmarks, `benchmark`; without it the score is the OC
    score.

    Raises:
        DataError: the file is unusable, scores none of the models, or names a benchmark like a figure of the run.
    """
    scores: Scores = {}
    for rating in sorted(read_ratings(path, benchmarks=True), key=lambda rating: (rating.benchmark, rating.model)):
        if rating.sample_id is not None:
            raise DataError(f"{path}: scores of models have model and rating, and no id")
        if (rating.benchmark or "").strip().casefold() in (REWARD, FACTUALITY):
            raise DataError(f"{path}: a benchmark is named {rating.benchmark!r}, as a figure of the duel is; rename it")
        if rating.model in models:
            scores.setdefault(rating.benchmark or OC_SCORE, {})[rating.model] = rating.rating
    if not scores:
        raise DataError(f"{path}: scores none of the models that meet: {', '.join(models)}")
    return scores


def with_mean(scores: Scores) -> Scores:
    """Return scores with the OC score first: the given one, or else the mean of models that have every benchmark."""
    if OC_SCORE in scores:
        return {OC_SCORE: scores[OC_SCORE], **scores}
    scores_of: dict[str, list[float]] = {}
    for by_model in scores.values():
        for model, score in by_model.items():
            scores_of.setdefault(model, []).append(score)
    means = {
        model: rounded(fmean(scores_of[model])) for model in sorted(scores_of) if len(scores_of[model]) == len(scores)
    }
    return {OC_SCORE: means, **scores}


def elsewhere(rewards: Mapping[str, float], factuality: Mapping[str, float], scores: Scores) -> Elsewhere:
    """Return the models' rewards and visual factuality scores with their scores in other benchmarks.

    Args:
        rewards: the reward of each model, -100 to 100.
        factuality: the visual factuality score of each model that has one, 0 to 10.
        scores: scores by benchmark and model.
    """
    all_scores = with_mean(scores)
    measures: dict[str, Mapping[str, float]] = {REWARD: rewards}
    if factuality:
        measures[FACTUALITY] = factuality
    benchmark_scores = all_scores if len(scores) > 1 or OC_SCORE in scores else scores
    measures |= benchmark_scores
    return Elsewhere(
        scores=all_scores,
        reward=beside_scores(rewards, all_scores[OC_SCORE]),
        factuality=beside_scores(factuality, all_scores[OC_SCORE]),
        redundancy=tuple(_measure_pair(first, second, measures) for first, second in combinations(measures, 2)),
    )


def beside_scores(
    figures: Mapping[str, float], scores: Mapping[str, float], *, comparable: bool = True
) -> BesideScores:
    """Return a figure with scores in a benchmark; no correlations if figures are not `comparable` or models are few."""
    points: dict[str, tuple[float, ...]] = {}
    both: tuple[list[float], list[float]] = ([], [])
    for model, figure in figures.items():
        if model in scores:
            points[model] = (scores[model], figure)
            both[0].append(figure)
            both[1].append(scores[model])
    spearman = pearson = r_squared = None
    if len(points) >= FEWEST_CORRELATED and comparable:
        if (ranks := correlation("spearman", *both, list(points))) is not None:
            spearman = ScoreCorrelation.model_validate({"value": ranks.value, **limits(ranks.interval)})
        if (linear := correlation("pearson", *both, list(points))) is not None:
            pearson = ScoreCorrelation.model_validate({"value": linear.value, **limits(linear.interval)})
            r_squared = rounded(pearson.value**2)
    return BesideScores(points=points, spearman=spearman, pearson=pearson, r_squared=r_squared)


def _measure_pair(first: str, second: str, measures: Mapping[str, Mapping[str, float]]) -> MeasurePair:
    comparison = beside_scores(measures[first], measures[second])
    return MeasurePair(
        first=first,
        second=second,
        n=len(comparison.points),
        spearman=None if comparison.spearman is None else comparison.spearman.value,
        r_squared=comparison.r_squared,
    )


def means_of(figures: Mapping[str, Interval | None]) -> dict[str, float]:
    """Return the means of the figures that exist."""
    return {model: figure.mean for model, figure in figures.items() if figure is not None}
