"""The figures of duels, typed: what `--json` prints; rewards from -100 to 100, rates in percent, factuality 0 to 10."""

from typing import Literal

from pydantic import Field

from dokimasia.domain.duel import FactualityBy, Instruction
from dokimasia.domain.identity import Value
from dokimasia.report.fields import Bounds, Count, Failures, Fraction, Interval, NoInterval, Used
from dokimasia.runs.figure_models import DataFigures, Judge


class Verdicts(Value):
    """How verdicts fell, for the evaluated model; there are `valid`, `one_order` and `failed` ones."""

    much_better: Count
    better: Count
    tie: Count
    worse: Count
    much_worse: Count
    failed: Count = Field(description="without a valid verdict; they leave the denominators")
    valid: Count = Field(
        description="on answers judged in every order that was asked: the counts above, and the denominator of reward and "
        "win rate"
    )
    one_order: Count = Field(
        description="on answers judged in one order alone, since the other has no verdict; they leave the denominators"
    )
    open: Count = Field(description="of the failed ones, those not asked for want of budget: a resume asks for them")


class RewardBoundsFigures(Value):
    """What reward and win rate of all answers would be if every failed verdict were the worst, or the best."""

    reward: Bounds
    win_rate: Bounds | None


class VerdictFigures(Value):
    """What verdicts come to; intervals clustered by cases that share an image."""

    reward: Interval | None = Field(
        description="50 times the mean valid verdict (+2 to -2), -100 to 100; null without a valid one"
    )
    win_rate: Interval | None = Field(description="percent of valid verdicts that are better or much better")
    verdicts: Verdicts
    bounds: RewardBoundsFigures | None = Field(description="what failed verdicts leave open; null without a verdict")


class Factuality(Value):
    """Visual factuality, 0 to 10; cases that it does not apply to are no failures."""

    n: Count = Field(description="cases that it applies to")
    not_applicable: Count = Field(
        description="cases without criteria of visual factuality, or whose judge would have neither ground truth nor image"
    )
    judged: Count = Field(
        description="judgements with scores, each order apart, of answers scored in every order that was asked"
    )
    one_order: Count = Field(description="judgements with scores of answers that were scored in one order alone")
    failed: Count = Field(description="judgements without")
    model: Interval | None = Field(description="the model's mean score over the judged ones")
    baseline: Interval | None = Field(description="the baseline's, in the same judgements")
    bounds: Bounds | None = Field(description="of the model's score, if every failed judgement had given 0, or 10")


class DuelPlaces(Value):
    """How the order of places bears on verdicts, over answers with a valid verdict in both orders."""

    n: Count = Field(description="answers judged in both orders")
    consistency: Interval = Field(description="percent that both orders decide for the same side")
    bias: Interval = Field(description="points of reward that the first place is worth; negative: the second")
    p: Fraction = Field(description="of a bias as large by chance: sign flips of whole cases, two-sided")


class DuelPart(VerdictFigures):
    """One model's figures over some cases."""

    n: Count = Field(description="cases")
    factuality: Factuality | None = Field(description="null where it applies to no case")


class Single(Value):
    """What each order alone says: the model's answer shown `first`, or `second`; null where that was not asked."""

    first: VerdictFigures | None
    second: VerdictFigures | None


class DuelledModel(DuelPart, Used):
    """One model's figures against the baseline."""

    places: DuelPlaces | None = Field(description="null where no answer was judged in both orders")
    single: Single
    words: float | None = Field(ge=0, description="mean words of its answers")
    tokens: float | None = Field(ge=0, description="mean output tokens of its answers; null where any is unknown")
    same_text: Count = Field(description="answers that are the baseline's, word for word: both orders are one request")
    failures: Failures = Field(description="answers that failed in any part, by the kind of its first failure")
    by_category: dict[str, DuelPart]
    by_task: dict[str, DuelPart]


class LengthBias(Value):
    """How reward goes with the difference of an answer's length from the baseline's."""

    n: Count = Field(description="answers with a verdict")
    words: float = Field(description="mean of how many words more than the baseline's an answer has")
    r: float | None = Field(ge=-1, le=1, description="correlation; null where one of the two does not vary")
    low: float | None = Field(description="lower end of the 95 % interval")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    p: Fraction | None = Field(description="exchange of whole cases; null without a test")
    adjusted: Fraction | None = Field(description="p corrected for all models that see the images")
    p_published: Fraction | None = Field(description="p that takes answers for independent")
    reason: str = Field(description="why there is no test; empty where there is")


class ImageGap(Value):
    """How far an arm without images is from the same model's answers by the images, in one measure."""

    n: Count = Field(description="answers that were judged in both")
    difference: Interval | None = Field(description="the arm less the answers by the images; null without a pair")
    p: Fraction | None = Field(description="sign flips of whole cases, two-sided; null without a pair")
    adjusted: Fraction | None = Field(description="p corrected over all arms and both measures")


class WithoutImages(Value):
    """What the images are worth to a model."""

    reward: ImageGap
    factuality: ImageGap


class Cases(Value):
    """What the cases bring with them."""

    general_criteria: Count = Field(
        description="cases without subjective criteria of their own, judged by general ones"
    )
    factuality_criteria: Count = Field(description="cases with criteria of visual factuality")
    factuality_by_image: Count = Field(
        description="of these, those without a ground truth, whose judge of it is shown the images"
    )
    factuality_unknown: Count = Field(
        description="of these, those whose judge is shown neither ground truth nor image: it does not apply to them"
    )
    ground_truth: Count = Field(description="cases with a ground truth")
    several_images: Count = Field(description="cases with more than one image")
    without_category: Count = Field(description="cases that name no category")
    without_task: Count = Field(description="cases that name no task")


class DuelFigures(Used, DataFigures):
    """The figures of duels."""

    samples: Count = Field(description="cases of the run")
    judge: Judge
    baseline: str = Field(description="whose answers the others are held against; `reference`: the data's")
    repeats: int = Field(ge=1, description="answers and judgements a case")
    orders: Literal[1, 2] = Field(description="orders of places that the judge was asked in")
    judge_sees: Literal["image", "text"] = Field(description="whether the judge of the duels was shown the images")
    factuality: FactualityBy = Field(description="what visual factuality was judged by")
    describer: str | None = Field(description="who described the images; null where nobody did")
    descriptions: Instruction | None = Field(description="whether descriptions were made with an eye to the request")
    without_images: dict[str, WithoutImages] = Field(description="by the name of the arm, NAME#blind or NAME#text")
    cases: Cases
    models: dict[str, DuelledModel] = Field(
        description="by name; NAME#blind answered without images, NAME#text by a description of them, NAME#again is the "
        "baseline's second answer"
    )
    places: DuelPlaces | None = Field(description="over all models")
    length_bias: dict[str, LengthBias] = Field(description="by model")
