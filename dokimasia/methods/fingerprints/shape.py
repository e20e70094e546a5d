"""The figures of a test of fingerprints, typed: what `--json` prints."""

from pydantic import Field

from dokimasia.domain.diagnosis.tables import Asset
from dokimasia.domain.identity import Value
from dokimasia.report.fields import Count, Failures, Fraction
from dokimasia.runs.figure_models import Heading, Judge, Seed


class OpenBounds(Value):
    """What an accuracy over all trials could have been, whatever the failed ones would have come to; null without any."""

    low: Fraction | None
    high: Fraction | None


class MatchRates(Value):
    """How often the reports on two models were given to the right ones; guessing reaches one half."""

    trials: Count
    n: Count = Field(description="trials with a verdict")
    right: Count = Field(description="trials that were matched rightly")
    accuracy: Fraction | None = Field(description="right of n; null without a verdict")
    low: Fraction | None = Field(description="lower end of its 95 % interval")
    high: Fraction | None = Field(description="upper end of its 95 % interval")
    failures: Failures
    bounds: OpenBounds


class PairMatched(MatchRates):
    """The trials of one pair of models; interval by Clopper and Pearson."""

    first: str
    second: str
    above_half: bool = Field(description="whether more than half of the trials with a verdict were matched rightly")
    p_value: Fraction | None = Field(description="how often guessing does as well or better; one-sided, exact")
    adjusted: Fraction | None = Field(description="p_value adjusted over all pairs (Benjamini and Hochberg)")
    apart: bool = Field(description="whether adjusted is at most 0.05")


class MatcherFigures(MatchRates):
    """All trials of one matcher; interval clustered by pairs."""

    n_pairs: Count = Field(description="pairs with a trial")
    pairs_apart: Count = Field(description="pairs told apart beyond chance, adjusted over all pairs")
    pairs_above_half: Count = Field(description="pairs that were matched rightly in more than half of their trials")
    pairs: tuple[PairMatched, ...]


class AnswersPerTrial(Value):
    """The fewest and the most answers of each model that a trial shows."""

    low: Count
    high: Count


class Untested(Value):
    """A pair of models without a trial."""

    first: str
    second: str
    samples: Count = Field(description="samples that both answered in the half that is shown")


class Sentences(Value):
    """The sentences of a report."""

    verified: Count
    unverified: Count


class FingerprintFigures(Heading):
    """The figures of a test of fingerprints."""

    source: str = Field(description="the id of the evaluation whose models are told apart")
    judge: Judge
    seed: Seed
    models: tuple[str, ...] = Field(description="in the order of the tables")
    notes: tuple[str, ...] = Field(description="what a reader must know first")
    responses: Count = Field(description="answers of each model that a trial was to show")
    shown: AnswersPerTrial = Field(description="answers of each model that trials show")
    tasks: Count = Field(description="trials")
    waiting: Count = Field(description="trials that the judge has not matched")
    untested: tuple[Untested, ...]
    removed: Count = Field(description="pieces that anonymising took out of answers")
    reports: dict[str, Sentences | None] = Field(description="by model; null where there is no report")
    by_judge: MatcherFigures
    by_hand: dict[str, MatcherFigures] = Field(description="by the person who matched")
    assets: tuple[Asset, ...] = Field(description="the tables, ready to be drawn: the judge's, then each person's")
