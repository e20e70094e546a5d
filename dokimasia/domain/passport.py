"""Passports of judges: a judge's measured error rates, the prompts used, and a hash over both."""

import hashlib
import operator
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field

from dokimasia.domain.blindspots import IN_USE, Evaluator, Paradigm, Task
from dokimasia.domain.call import Sampling
from dokimasia.domain.identity import Value, canonical_json
from dokimasia.domain.judgement import FailureKind

FORMAT = "dokimasia-passport/2"

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Level = Literal["all", "group", "dimension"]


class MeasuredShare(Value):
    """A share with its 95 % interval, each 0 to 1; null where nothing was judged, or where `no_interval` says why."""

    share: Fraction | None = None
    low: Fraction | None = Field(default=None, description="lower end of the 95 % interval")
    high: Fraction | None = Field(default=None, description="upper end of the 95 % interval")
    no_interval: str = Field(default="", description="why there is no interval; empty where there is one")


class MeasuredDifference(Value):
    """A difference of shares, or a bias, with its 95 % interval, each -1 to 1; null as in a share."""

    mean: float | None = Field(default=None, ge=-1, le=1)
    low: float | None = Field(default=None, ge=-1, le=1, description="lower end of the 95 % interval")
    high: float | None = Field(default=None, ge=-1, le=1, description="upper end of the 95 % interval")
    no_interval: str = Field(default="", description="why there is no interval; empty where there is one")


class PassportModel(Value):
    """Which judge a passport is of, and how it was asked."""

    name: str = Field(min_length=1, description="its shown name, with @BUDGET or +tools where it was asked so")
    model: str = Field(min_length=1, description="its LiteLLM name")
    endpoint: str = Field(description="where it runs")
    version: str | None = Field(
        description="what its endpoint called it, several with commas; null where it did not say"
    )
    sampling: Sampling | None = Field(
        default=None, description="under the evaluators that evaluations and audits use; null where none was asked"
    )
    sampling_published: Sampling | None = Field(
        default=None, description="under the nine published evaluators; null where none was asked"
    )
    max_image_side: int | None = Field(default=None, description="larger images were sent smaller; null: as they are")
    tools: bool = Field(default=False, description="whether it was offered tools to look closer with")
    simulated: bool = Field(default=False, description="whether it is a simulated model")

    @property
    def key(self) -> tuple[str, str]:
        """The model's identity: its LiteLLM name and endpoint, never its alias."""
        return self.model, self.endpoint

    def sampled(self, evaluator: Evaluator) -> Sampling | None:
        """Return the sampling parameters under an evaluator."""
        if evaluator in IN_USE:
            return self.sampling
        return self.sampling_published


class PassportData(Value):
    """What of one task the judge was probed with."""

    task: Task
    hash: str = Field(description="over the ids of the items, in alphabetical order")
    items: Count
    images: Count = Field(description="clusters of items that share an image")
    checked: Fraction = Field(description="the share of items that people had checked")
    runs: tuple[str, ...] = Field(description="the probe runs")


class PassportDates(Value):
    """When the judgements were made, days in UTC. They are outside of a passport's identity."""

    first: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    last: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")


class EvaluatorRates(Value):
    """What was measured of one task under one evaluator."""

    task: Task
    evaluator: Evaluator

    @property
    def way(self) -> tuple[Task, Evaluator]:
        """The task and the evaluator."""
        return self.task, self.evaluator


class Judgements(EvaluatorRates):
    """Items of one task under one evaluator, and how many of them have a judgement."""

    n: Count = Field(description="items that were put to the judge")
    n_scored: Count = Field(description="of them, those with a judgement; the rates are over these")
    images: Count = Field(description="clusters of the scored items")


class ErrorRates(Judgements):
    """What came of answers that were made worse: of all, of a group of dimensions, or of one dimension."""

    level: Level
    name: str = Field(description="the group or the dimension; empty for all")
    group: str = Field(description="the group; empty for all")
    detection: MeasuredShare = Field(description="errors that at least one relevant axis detects")
    strict: MeasuredShare = Field(description="errors detected in the strict form: a relevant axis is lower")
    majority: MeasuredShare | None = Field(
        default=None,
        description="errors that a majority of the relevant axes detects; null where no axes are asked for beside overall",
    )
    overall: MeasuredShare | None = Field(
        default=None,
        description="errors detected by the axis overall alone; null where no axes are asked for beside it",
    )
    worse: MeasuredShare = Field(description="the answer with the error judged better on the whole")
    blind_spot: bool | None = Field(
        description="of a dimension: missed more often than the judge's other errors (adjusted p of at most 0.05); else null"
    )


class NeutralRates(Judgements):
    """What came of changes that take nothing from an answer."""

    false_alarms: MeasuredShare = Field(description="one less the share judged equal, or given the full score")


class RetestRates(Judgements):
    """What came of the unchanged answer, judged once more: the noise floor."""

    changed: MeasuredShare = Field(description="judged otherwise the second time")


class PlaceRates(Judgements):
    """What the order of two answers does to a pairwise judge, over items judged in both orders."""

    consistency: MeasuredShare = Field(description="both orders decide for the same answer, or for neither")
    bias: MeasuredDifference = Field(
        description="how often the first place is chosen less the second, over both orders: -1 to 1, 0 none"
    )


class LengthRates(Judgements):
    """What length does to a judge: right answers and errors behind sentences that say nothing, and without them."""

    changed: MeasuredShare = Field(
        description="judged otherwise on the whole with the padding; of pairs, in both orders"
    )
    bias: MeasuredDifference = Field(
        description="how much more often padding makes a judgement better than worse: -1 to 1, 0 none"
    )


class OwnAnswers(Judgements):
    """Self-preference: detection where the judge's own model wrote the answer with the error, less where another did.

    `n` and `n_scored` are those of its own; `others` those of the rest that are scored.
    """

    others: Count
    difference: MeasuredDifference = Field(
        description="detection of its own errors less that of others'; below 0: blinder"
    )
    reason: str = Field(description="why nothing was measured; empty where something was")


class LabelCeiling(Judgements):
    """The judge beside people: each person, and the judge, against what all the other people say of the same items.

    An item is called worse than the gold answer, or not. The people are counted and not named.
    """

    people: Count = Field(description="people who labelled items that others labelled, too")
    comparisons: Count = Field(description="people times the items that they, the judge and others judged")
    among_people: MeasuredShare = Field(description="share of the other people who said the same as a person")
    judge: MeasuredShare = Field(description="share of the same other people who said the same as the judge")
    difference: MeasuredDifference = Field(description="judge minus people")
    epsilon: Fraction = Field(description="how much more often a person may be closer to the others than the judge")
    winning_rate: Fraction | None = Field(description="tested people whose place the judge can take; null without any")
    advantage: Fraction | None = Field(
        description="mean share of the items on which the judge is at least as close to the others as the person"
    )
    passed: bool = Field(description="whether the judge can take a person's place: the winning rate is at least a half")
    items_needed: Count | None = Field(
        description="items with which half of the people are won; null if no number is known"
    )
    warning: str = Field(description="why the verdict says little; empty where nothing does")


class ReplyRates(EvaluatorRates):
    """What came of asking: failures by kind, and what a judgement costs in US dollars."""

    n: Count = Field(description="judgements asked for, all cases together, those of gold answers among them")
    unparsable: MeasuredShare
    refused: MeasuredShare
    failures: dict[FailureKind, Count] = Field(description="how many failed, by kind of failure")
    cost: float | None = Field(ge=0, description="mean cost of an item's judgement; null where any price is unknown")
    unasked: Count = Field(
        default=0, description="items not judged since the gold answer's own judgement failed, or what both rest on"
    )
    priced: Count = Field(description="judgements whose cost is known")


class BinaryCount(MeasuredShare):
    """A share as the number of hits among decisions; `dimension` and `group` are empty where all are taken together."""

    dimension: str
    group: str
    k: Count
    n: Count
    images: Count = Field(description="clusters of the n decisions")


class BinaryRates(EvaluatorRates):
    """Sensitivity and specificity of the decision whether an answer is right, under one evaluator that decides it."""

    sensitivity: BinaryCount = Field(
        description="answers with an error that were called wrong, all dimensions together"
    )
    by_dimension: tuple[BinaryCount, ...] = Field(description="the same by kind of error")
    specificity: BinaryCount = Field(description="answers without an error that were not called wrong")


class HalfRates(Value):
    """What one half of the items says of an evaluator."""

    evaluator: Evaluator
    n: Count = Field(description="items with an error, scored")
    neutral: Count = Field(description="items changed without harm, scored")
    images: Count
    detection: MeasuredShare
    false_alarms: MeasuredShare

    @property
    def worth(self) -> float | None:
        """Detection minus false alarms, by which an evaluator is chosen; None if either was not measured."""
        hits, alarms = self.detection.share, self.false_alarms.share
        if hits is None or alarms is None:
            return None
        return hits - alarms


class RatesByHalf(Value):
    """What each half of the images says of an evaluator: judges are chosen by the one, and described by the other."""

    task: Task
    choosing: HalfRates
    estimating: HalfRates


class Recommendation(Value):
    """The evaluator to use for a kind of criterion: chosen on one half of the images, its rates taken from the other."""

    task: Task
    group: str = Field(description="the group of dimensions; empty for all together")
    evaluator: Evaluator | None = Field(description="null where `reason` says why nothing is recommended")
    paradigm: Paradigm | None
    considered: tuple[HalfRates, ...] = Field(description="what it was chosen from, on the half that chooses")
    estimated: HalfRates | None = Field(description="the rates of the chosen one, on the other half")
    reason: str = Field(description="empty where an evaluator is recommended")


R = TypeVar("R", bound=EvaluatorRates)


class Passport(Value):
    """What is known of one judge: who it is, what it was asked by, on what data, and what it was measured to do.

    `sha256` is over everything else in it and shows an edit by hand; it claims nothing about who made the file.
    """

    format: Literal["dokimasia-passport/2"] = FORMAT
    sha256: str = Field(default="", description="of all other fields, as canonical JSON")
    judge: PassportModel
    prompts: dict[str, str] = Field(description="VERSION:HASH by the prompt's name")
    data: tuple[PassportData, ...]
    seed: int = Field(ge=0, description="of the halves and of the intervals")
    dates: PassportDates | None = Field(description="null where no judgement has a date")
    errors: tuple[ErrorRates, ...]
    neutral: tuple[NeutralRates, ...]
    retests: tuple[RetestRates, ...]
    places: tuple[PlaceRates, ...]
    lengths: tuple[LengthRates, ...] = Field(
        default=(), exclude_if=operator.not_, description="length bias; absent where no answers were padded"
    )
    own_answers: tuple[OwnAnswers, ...]
    replies: tuple[ReplyRates, ...]
    binary: tuple[BinaryRates, ...]
    halves: tuple[RatesByHalf, ...] = Field(
        default=(), description="all errors of a task under an evaluator, by halves of the images"
    )
    recommended: tuple[Recommendation, ...]
    human_ceiling: tuple[LabelCeiling, ...] = Field(
        default=(),
        exclude_if=operator.not_,
        description="the judge beside people, where several labelled the same items; absent where they did not",
    )

    def sealed(self) -> Self:
        """Return the passport with the hash of its content."""
        return self.model_copy(update={"sha256": self.content_hash})

    @property
    def content_hash(self) -> str:
        """The SHA-256 of everything but the hash itself, 64 hexadecimal digits."""
        return hash_of(self.model_dump(mode="json"))

    @property
    def identity(self) -> str:
        """The hash without the dates: equal for equal measurements, whenever they were made."""
        return hash_of(self.model_dump(mode="json", exclude={"dates"}))

    @property
    def evaluators(self) -> tuple[tuple[Task, Evaluator], ...]:
        """The tasks and evaluators with measurements, in the order of the rates."""
        return tuple(dict.fromkeys(reply.way for reply in self.replies))

    def rates(self, task: Task, evaluator: Evaluator, *, level: Level = "all", name: str = "") -> ErrorRates | None:
        """Return the error rates of a kind of error under an evaluator; None if nothing was measured."""
        key = (task, evaluator, level, name)
        return next(
            (error for error in self.errors if (error.task, error.evaluator, error.level, error.name) == key), None
        )

    def halves_of(self, task: Task, evaluator: Evaluator) -> RatesByHalf | None:
        """Return an evaluator's rates on each half of the images; None if nothing was measured."""
        both = (half for half in self.halves if (half.task, half.choosing.evaluator) == (task, evaluator))
        return next(both, None)

    def decisions(self, task: Task, evaluator: Evaluator) -> BinaryRates | None:
        """Return sensitivity and specificity under an evaluator; None if nothing was measured."""
        return rates_of((task, evaluator), self.binary)


def rates_of(way: tuple[Task, Evaluator], several: Iterable[R]) -> R | None:
    """Return the rates of a task under an evaluator; None if nothing was measured."""
    return next((rates for rates in several if rates.way == way), None)


def hash_of(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a passport's JSON without its own hash."""
    return hashlib.sha256(canonical_json({name: value for name, value in body.items() if name != "sha256"})).hexdigest()
