"""Figures of judgements that exist: accuracy, agreement with people, the human ceiling, and the test of replacement."""

from typing import Literal

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.report.fields import AgreementCoefficient, Count, CountedRate, Counts, Fraction, Interval, Share


class ValuesCompared(Value):
    """Judgements compared with the correct values, or with those of people, item by item."""

    n: Count = Field(description="items that are compared")
    left_out: Counts = Field(
        description="items that are not, by reason: failed, missing (not judged), split (no value that most people gave)"
    )
    same: Share | None = Field(
        description="items with the same value: the accuracy; null for scores without categories"
    )
    pearson: AgreementCoefficient
    spearman: AgreementCoefficient
    kendall: AgreementCoefficient
    kappa: AgreementCoefficient = Field(description="Cohen's kappa of the categories")
    kappa_weighted: AgreementCoefficient = Field(description="the same with quadratic weights, of scores or of steps")
    alpha: AgreementCoefficient = Field(description="Krippendorff's alpha: nominal of pairs, ordinal of scores")


class BothOrders(Value):
    """A judge that saw pairs in both orders, held against the correct values."""

    n: Count = Field(description="items judged in both orders")
    straight: Share = Field(description="right as the pair stands")
    swapped: Share = Field(description="right with the pair swapped")
    consistent: CountedRate = Field(description="the same verdict in both orders, of items with two readable ones")
    consistent_and_right: Share = Field(description="the same verdict in both orders, and the right one")


class HumanCeiling(Value):
    """People among themselves and the judge against the same panels: all people but one."""

    n: Count = Field(description="comparisons: people times the items that they, the judge and others judged")
    alignment: Literal["same", "distance"] = Field(
        description="same: the share of the others who said the same; distance: the root mean square distance from them"
    )
    people: Interval = Field(description="of a person from the others")
    judge: Interval = Field(description="of the judge from the same others")
    difference: Interval = Field(description="judge minus people; of distances above 0 is worse")


class PersonReplaced(Value):
    """The test whether the judge can take one person's place."""

    n: Count
    judge_as_good: Fraction = Field(description="items on which the judge is at least as close to the others")
    person_as_good: Fraction = Field(description="items on which the person is at least as close to the others")
    p_value: Fraction | None = Field(description="null with fewer than 30 items, which are not tested")
    q_value: Fraction | None = Field(description="adjusted over people by Benjamini and Yekutieli")
    passed: bool
    items_needed: Count | None = Field(
        description="items for 80 % power if the judge is as good as here; null if none do"
    )


class ReplacementTest(Value):
    """The alternative-annotator test of a judge (Calderon et al., 2025)."""

    epsilon: Fraction = Field(description="how much more often a person may be closer to the others than the judge")
    level: Fraction = Field(description="the false discovery rate over people")
    winning_rate: Fraction | None = Field(
        description="omega: tested people whose place the judge can take; null without any"
    )
    advantage: Fraction | None = Field(description="rho: the mean over tested people of `judge_as_good`")
    passed: bool = Field(description="whether the winning rate is at least a half")
    items_needed: Count | None = Field(
        description="items with which half of the people are won; null if no number is known"
    )
    people: dict[str, PersonReplaced]
    warning: str = Field(default="", description="why the verdict says little; absent where nothing does")


class JudgementsOfJudge(Value):
    """What a judge said of the items of a file, held against correct values and against people."""

    judged: Count = Field(description="items judged, failures included")
    failed: Count = Field(description="of these, without a judgement that could be read")
    failures: Counts = Field(description="what could not be read, the most frequent first")
    gold: ValuesCompared | None = Field(description="against the correct values; null without any")
    orders: BothOrders | None = Field(description="null unless pairs with a correct side were judged in both orders")
    people: ValuesCompared | None = Field(
        description="against what most people said, or their mean; null without people"
    )
    ceiling: HumanCeiling | None = Field(description="null unless two people judged the same items")
    replacement: ReplacementTest | None = Field(description="null unless two people judged the same items")


class JudgementsOfPerson(Value):
    """What a person said of the items of a file, held against correct values and against the others."""

    judged: Count
    gold: ValuesCompared | None
    others: ValuesCompared | None = Field(description="against what most of the others said, or their mean")


class PeopleTogether(Value):
    """Agreement beyond chance of all people."""

    n: Count = Field(description="items that two or more people judged")
    fleiss: AgreementCoefficient
    alpha_nominal: AgreementCoefficient
    alpha_ordinal: AgreementCoefficient
    alpha_interval: AgreementCoefficient


class BattleModel(Value):
    """A model's rating from battles."""

    battles: Count
    group: Count = Field(description="ratings of different groups cannot be compared")
    rating: Interval | None = Field(description="1000 on average over its group; null where there is no finite one")
    rank_interval: tuple[int, int] | None = Field(
        default=None,
        description="best and worst rank in its group that the tests of all pairs leave open; absent without a rating",
    )
    adjusted: Interval | None = Field(description="the same, adjusted for place and length; null where it is not")


class BattleRatings(Value):
    """Ratings of models from the battles that a judge decided, or people did."""

    n: Count = Field(description="verdicts, of both orders")
    failed: Count = Field(description="verdicts that could not be read, left out")
    models: dict[str, BattleModel] = Field(description="best first")
    reason: str = Field(default="", description="why models have no finite rating; absent where all have")
    effects: dict[str, Interval] = Field(
        description="points of the rating: place, of the response that is shown first; length, of one that is twice as long"
    )
    not_adjusted: dict[str, str] = Field(description="what ratings are not adjusted for, and why")


class JudgementFigures(Value):
    """Judgements that exist, of judges and people, held against each other and against what is correct."""

    files: tuple[str, ...]
    kind: Literal["pairs", "scores", "rankings"] = Field(description="what was read; a ranking is its pairs")
    items: Count
    clusters: Count
    with_gold: Count = Field(description="items with a correct value")
    unreadable: Count = Field(description="judgements of people and correct values that could not be read, left out")
    people: dict[str, JudgementsOfPerson]
    together: PeopleTogether | None = Field(description="null unless two people judged the same items")
    judges: dict[str, JudgementsOfJudge]
    ratings: dict[str, BattleRatings] = Field(
        default_factory=dict, description="of models, by judge and of all people, where pairs name their models"
    )
