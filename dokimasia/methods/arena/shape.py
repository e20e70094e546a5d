"""The figures of an arena, typed: what `--json` prints; rewards from -100 to 100, rates in percent, ratings of mean 1000."""

from typing import Literal

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.methods.duel import DuelPlaces, VerdictFigures
from dokimasia.report.fields import Count, Failures, Fraction, Interval, NoInterval, Used
from dokimasia.runs.figure_models import DataFigures, Judge


class ArenaModel(VerdictFigures):
    """One model's figures over all whom it met; intervals clustered by cases that share an image."""

    rating: Interval | None = Field(
        description="1000 on average over its group, 400 more for odds of 10 to 1 of winning; null where there is no finite one"
    )
    group: Count = Field(description="place in `groups`: ratings of different groups cannot be compared")
    ranks: tuple[float, ...] | None = Field(
        description="in percent of the resamples, how often it comes first, second and so on in its group"
    )
    n: Count = Field(description="cases")
    met: tuple[str, ...] = Field(description="models that it met")
    words: float | None = Field(ge=0, description="mean words of its answers")
    failures: Failures = Field(description="meetings that failed in any part, by the kind of the first failure")


class ArenaGroup(Value):
    """Models whose ratings can be compared with each other, best first."""

    models: tuple[str, ...]
    reason: str = Field(description="why there is no finite rating; empty where there is")
    tie_rate: float | None = Field(description="percent of ties between two models of equal strength")


class ArenaPair(VerdictFigures):
    """Two models, the better one first: the verdicts on it, and how far they are rated apart."""

    first: str
    second: str
    n: Count = Field(description="cases on which they met; 0 where they are compared by way of others alone")
    difference: Interval | None = Field(description="rating of the first less the second's; null across groups")
    p: Fraction | None = Field(description="of no difference; null without a test")
    adjusted: Fraction | None = Field(description="p corrected for all pairs")


class ArenaCorrelation(Value):
    """A correlation over models."""

    value: float = Field(ge=-1, le=1)
    low: float | None = Field(description="lower end of the 95 % interval; null where there is none")
    high: float | None = Field(description="upper end of the 95 % interval; null where there is none")
    no_interval: NoInterval = None


class BesideScores(Value):
    """A figure of this arena beside scores elsewhere, over the models that have both."""

    points: dict[str, tuple[float, ...]] = Field(description="by model: the score elsewhere, and the figure")
    spearman: ArenaCorrelation | None = Field(
        description="null with fewer than three models, or where one side does not vary"
    )
    pearson: ArenaCorrelation | None
    r_squared: Fraction | None = Field(description="Pearson's correlation squared")


class ScoresElsewhere(Value):
    """The models' scores elsewhere, and how this arena's go with them."""

    scores: dict[str, float]
    reward: BesideScores
    rating: BesideScores = Field(description="without correlations where the models are in several groups")


class ArenaFigures(Used, DataFigures):
    """The figures of an arena."""

    samples: Count = Field(description="cases of the run")
    judge: Judge
    draw: Literal["all", "swiss"] = Field(description="whether all pairs meet, or those of rounds")
    rounds: tuple[tuple[tuple[tuple[str, ...], ...], ...], ...] = Field(
        description="the pairs of each round that was drawn, on either half of the cases"
    )
    repeats: int = Field(ge=1, description="answers and judgements a case")
    judge_sees: Literal["image", "text"] = Field(description="whether the judge was shown the images")
    models: dict[str, ArenaModel] = Field(description="by name, best first")
    groups: tuple[ArenaGroup, ...] = Field(description="the strongest first, where they met")
    pairs: tuple[ArenaPair, ...] = Field(description="that met, or whose ratings can be compared")
    wins: dict[str, dict[str, float]] = Field(description="percent of verdicts that a model wins against another")
    places: DuelPlaces | None = Field(description="over all meetings; null where no pair was judged in both orders")
    elsewhere: ScoresElsewhere | None = Field(default=None, description="only where scores were given")
