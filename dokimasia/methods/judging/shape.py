"""The figures of a comparison of judging methods, typed: what `--json` prints; shares 0 to 1, differences in points of 100."""

from typing import Annotated

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.options import Protocol
from dokimasia.report.fields import Count, Coverage, Failures, Fraction, Interval, Share, Used
from dokimasia.runs.figure_models import DataFigures

PValue = Annotated[Fraction | None, Field(description="two-sided sign flips of whole images; null without a test")]
Tokens = Annotated[Count | None, Field(description="null where any call's is unknown")]


class Rankings(Value):
    """What people said."""

    annotators: Count
    samples: Count = Field(description="samples of which somebody ranked two responses or more")
    without: Count = Field(description="samples of the data that nobody ranked so, which are not judged")
    models: tuple[str, ...] = Field(description="whose responses are judged")
    comparisons: Count = Field(description="pairs of responses to a sample, one for each annotator that ranked both")
    pairs: Count = Field(description="of these the different ones")
    ties: Fraction = Field(description="share of the comparisons that are a tie to the annotator")
    folds: Count = Field(description="parts into which the images are drawn, for the margin of ties")


class PeopleAgreement(Value):
    """How often two people agree on a pair that both ranked."""

    accuracy: Share
    by_category: dict[str, Share]


class PerPoint(Value):
    """What was used for each point of accuracy, with the interval that the accuracy's leaves."""

    mean: float
    low: float | None
    high: float | None
    no_interval: str | None = None


class PerPoints(Value):
    """Calls and US dollars for each point of accuracy; null where they are not known, or nothing agrees."""

    calls: PerPoint | None
    cost: PerPoint | None


class JudgedMethod(Used):
    """How far one judge and method rank responses as people do."""

    accuracy: Share = Field(
        description="comparisons whose win, tie or loss agrees, the margin of ties fitted on other images"
    )
    by_category: dict[str, Share]
    coverage: Coverage
    margins: tuple[float, ...] = Field(description="of each fold, as fitted on all others, in the method's unit")
    unfitted: Share = Field(description="the same where only equal scores are a tie")
    ties: Fraction | None = Field(description="share of the judged comparisons that are a tie to the method")
    input_tokens: Tokens
    output_tokens: Tokens
    per_point: PerPoints
    failures: Failures = Field(description="judgements that failed, by kind of failure")


class Gap(Value):
    """The accuracy of a second method less that of a first, over comparisons that both judged."""

    judge: str
    category: str | None = Field(description="null for all")
    first: str
    second: str
    n: Count = Field(description="comparisons that both judged")
    difference: Interval | None = Field(description="in points; null without a comparison")
    p_value: PValue
    adjusted: Fraction | None = Field(
        description="Benjamini and Hochberg over all gaps: methods, categories and judges together"
    )


class OrderEffect(Value):
    """What the order in which a batch is shown does to the ranking."""

    orders: Count
    consistent: Share = Field(description="verdicts on a pair that are the same in two orders")
    earlier: Share = Field(
        description="verdicts, ties left out, that prefer the response shown earlier; 0.5 is no effect"
    )
    p_value: PValue


class JudgingFigures(Used, DataFigures):
    """The figures of a comparison of judging methods."""

    judge: str | None = Field(default=None, description="absent where there are several")
    judges: tuple[str, ...]
    methods: tuple[str, ...]
    protocol: Protocol
    show_image: bool
    repeats: int = Field(ge=1, description="judgements of a response by every method but batch")
    rankings: Rankings
    people: PeopleAgreement | None = Field(description="null where no two people ranked the same pair")
    results: dict[str, dict[str, JudgedMethod]] = Field(description="by judge and method")
    gaps: tuple[Gap, ...]
    order: dict[str, OrderEffect] = Field(description="by judge, where batch is among the methods")
