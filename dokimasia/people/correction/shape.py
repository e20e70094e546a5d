"""What `correct --json` prints, typed: rates as judged beside the corrected ones."""

from typing import Annotated

from pydantic import Field, JsonValue

from dokimasia.algorithms.correction import JudgeRate
from dokimasia.domain.identity import Value
from dokimasia.report.fields import Bounds, Count, Direction, Fraction, IntervalMethod, NoInterval, StrictShare
from dokimasia.runs.figure_models import Heading

Signed = float
Score = Annotated[float, Field(ge=1, le=5)]
Points = Annotated[float, Field(ge=-4, le=4)]
Refused = str


class CorrectedRate(Value):
    """A corrected rate with its 95 % interval, each 0 to 1; or why it is refused."""

    rate: Fraction | None = Field(description="null where `refused` says why")
    low: Fraction | None = Field(description="lower end of the 95 % interval")
    high: Fraction | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None
    refused: Refused = Field(description="why there is no corrected rate; empty where there is one")


class OverMixes(Value):
    """How far the rate that a passport corrects could move over mixes of kinds of error: if all were of one kind."""

    low: Fraction
    high: Fraction
    lowest: str = Field(description="the kind of error that leads to the lowest rate")
    highest: str = Field(description="the kind of error that leads to the highest rate")


class ByLabels(CorrectedRate):
    """A rate from what rules decided, people's labels of the other answers, and the judge's decisions on all of these."""

    weight: Fraction | None = Field(
        description="of the judge's decisions beside the labels: 0, labels alone, to 1; null where refused"
    )
    labels: Count = Field(description="answers with a label, of those that no rule decided")
    clusters: Count = Field(description="of these, by image")
    missing: Count = Field(
        description="labels of answers that no rule decided which are still missing for a rate, at least"
    )
    needed: Count | None = Field(
        description="labels in all for an interval of the width asked for; null where none was, or where no number gives it"
    )
    alone: CorrectedRate = Field(description="the rate of what rules decided and of the labels alone")
    certain: Bounds | None = Field(
        description="the least and the most of the rate that rules and labels leave open; null without a decided answer"
    )


class RateDifference(Value):
    """The second model's rate minus the first's with its 95 % interval, -1 to 1, paired; or why it is refused."""

    difference: Signed | None = Field(ge=-1, le=1, description="null where `refused` says why")
    low: Signed | None = Field(ge=-1, le=1, description="lower end of the 95 % interval")
    high: Signed | None = Field(ge=-1, le=1, description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None
    refused: Refused = Field(description="why there is no difference; empty where there is one")


class TippingPoint(Value):
    """How far a rate of the judge may differ on this run from the passport's before a conclusion no longer holds."""

    rate: JudgeRate
    model: str = Field(description="the model on whose answers alone the rate differs; empty: on all answers alike")
    passport: Fraction = Field(description="the rate by the passport")
    below: Fraction | None = Field(description="below this value it no longer holds; null where it does down to 0")
    above: Fraction | None = Field(description="above this value it no longer holds; null where it does up to 1")


class Robustness(Value):
    """A conclusion by passport, and what this run's judge would have to be like for it not to hold."""

    conclusion: str
    tipping: tuple[TippingPoint, ...] = Field(description="one rate moved at a time, with its interval")
    text: str = Field(description="both as a sentence")


class CorrectedModel(Value):
    """One model's rate as judged, and corrected."""

    answers: Count = Field(description="answers, or rubrics of answers, all repeats")
    by_rule: Count = Field(description="of these, decided by rules, which need no correction")
    by_judge: Count = Field(description="of these, decided by the judge")
    raw: StrictShare = Field(description="the share as decided, of an evaluation its strict accuracy")
    by_passport: CorrectedRate | None = Field(description="null where no passport was given")
    over_mixes: OverMixes | None = Field(
        description="null where no passport corrects, and where the rate is refused or cut"
    )
    by_labels: ByLabels | None = Field(description="null where no labels were given")
    robustness: tuple[Robustness, ...] = Field(
        description="of the interval by passport, and of its difference from the rate as judged; empty where there is none"
    )


class Compared(Value):
    """Two models on the same samples."""

    first: str
    second: str
    n: Count = Field(description="answers of both whose decision did not fail, by sample and repeat")
    raw: RateDifference = Field(description="as decided, undecided answers counted as not right")
    by_passport: RateDifference | None = Field(description="null where no passport was given")
    by_labels: RateDifference | None = Field(description="null where no labels were given")
    robustness: tuple[Robustness, ...] = Field(
        description="of the order of both by passport; empty where their difference is refused or its interval holds 0"
    )


class CorrectedMeasure(Value):
    """One thing that was decided of all answers."""

    what: str = Field(description="a share of what, in words")
    models: dict[str, CorrectedModel] = Field(description="by name; NAME#blind is the arm without images")
    pairs: tuple[Compared, ...] = Field(description="every two models")


class MeasuredRate(Value):
    """A measured rate with its 95 % interval, each 0 to 1."""

    share: Fraction | None
    low: Fraction | None
    high: Fraction | None
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None


class PassportRates(Value):
    """What of a passport corrects: of wrong answers the share that the judge finds wrong, of right ones that it finds right."""

    file: str
    sha256: str
    sensitivity: dict[str, MeasuredRate] = Field(description="to the mix of kinds of error that is used, by measure")
    specificity: dict[str, MeasuredRate] = Field(description="by measure")
    by_kind: dict[str, dict[str, MeasuredRate]] = Field(description="sensitivity by kind of error, by measure")


class MixUsed(Value):
    """The mix of kinds of error that the sensitivity is weighted by."""

    source: str = Field(description="its file, or that of the labels")
    counted: bool = Field(description="counted among errors seen, rather than given as shares")
    shares: dict[str, Fraction]
    errors: Count | None = Field(description="of how many errors it was counted; null where it was given")


class LabelsUsed(Value):
    """The labels of people."""

    file: str
    labels: Count
    samples: Count
    people: Count
    by_majority: Count = Field(description="answers on which three or more people differ and most of them agree")
    ruled: Count = Field(description="labels of answers that rules decided: they change nothing")
    contradicting: Count = Field(description="of these, labels that say otherwise than the rule")
    drawn: str = Field(description="how the labels were drawn, as far as that is known")
    p_value: Fraction | None = Field(
        description="how often a random draw brings samples as far from the run's categories; null where there are none"
    )


class CorrectedScore(Value):
    """A mean score with its 95 % interval, each 1 to 5; or why it is refused."""

    score: Score | None = Field(description="null where `refused` says why")
    low: Score | None = Field(description="lower end of the 95 % interval")
    high: Score | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None
    refused: Refused = Field(description="why there is no corrected score; empty where there is one")


class ScoreByLabels(CorrectedScore):
    """A model's mean score from people's scores of some answers and the judge's of all."""

    answers: Count = Field(description="answers that the judge scored, all repeats")
    judged: Score | None = Field(description="the mean of the judge's scores; null without any")
    weight: Fraction | None = Field(description="of the judge's scores beside people's; null where refused")
    labels: Count = Field(description="answers that people scored")
    clusters: Count = Field(description="of these, by image")
    missing: Count = Field(description="of people's scores, those that are still missing at least")
    needed: Count | None = Field(
        description="people's scores in all for an interval of the width asked for; null where none was, or where no number "
        "gives it"
    )
    alone: CorrectedScore = Field(description="the mean of people's scores alone")


class ScoreDifference(Value):
    """The second model's mean score minus the first's on the same samples, -4 to 4, with its 95 % interval."""

    first: str
    second: str
    n: Count = Field(description="answers of both that the judge scored, by sample and repeat")
    judged: Points | None = Field(description="of the judge's scores; null without any")
    difference: Points | None = Field(description="null where `refused` says why")
    low: Points | None
    high: Points | None
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None
    refused: Refused


class CorrectedScores(Value):
    """Mean scores from 1 to 5 by people's scores."""

    labels: Count
    people: Count
    models: dict[str, ScoreByLabels]
    pairs: tuple[ScoreDifference, ...]


class CorrectionFigures(Heading):
    """Rates of a run as its judge decided, and corrected."""

    method: str = Field(description="of the run")
    judge: str = Field(description="who decided; empty where rules alone did")
    conclusion: tuple[str, ...] = Field(
        description="at most five sentences: who is better by how much, how sure that is, what is undecided, and how many "
        "labels are missing"
    )
    passport: PassportRates | None = Field(description="null where none was given")
    mix: MixUsed | None = Field(description="null where none is known")
    human: LabelsUsed | None = Field(description="null where none were given")
    warnings: tuple[str, ...] = Field(description="what speaks against the correction, a sentence each")
    direction: Direction
    by_category: bool = Field(description="whether labels are taken for random draws of each category")
    width: Fraction | None = Field(
        description="the width of intervals asked for, as a share of the scale; null if none was"
    )
    measures: dict[str, CorrectedMeasure]
    scores: CorrectedScores | None = Field(description="null unless people's labels are scores")


def schema() -> dict[str, JsonValue]:
    """Return the JSON schema of what `correct --json` prints."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **CorrectionFigures.model_json_schema()}
