"""The figures of what people decide on and label, typed, as `--json` prints them."""

from typing import Literal

from pydantic import Field

from dokimasia.domain.blindspots import Label
from dokimasia.domain.decision import ChangeReason
from dokimasia.domain.identity import Value
from dokimasia.report.fields import Count, CountedRate, Fraction, IntervalMethod, NoInterval, Share


class DecidedAlike(Value):
    """How far two people decided alike."""

    people: tuple[str, str]
    n: Count = Field(description="items that both decided on")
    share: Fraction = Field(description="the part of these on which they decided alike")
    low: Fraction = Field(description="lower end of the 95 % interval")
    high: Fraction = Field(description="upper end of the 95 % interval")
    kappa: float | None = Field(description="Cohen's kappa; null where both always decided the same")
    same_text: Count = Field(description="items on which both left the same text")


class ReasonShare(Value):
    """The captions that were changed for one reason."""

    reason: ChangeReason
    meaning: str
    edited: Count = Field(description="captions that were edited for it")
    rejected: Count = Field(description="captions that were rejected for it")
    share: Share = Field(description="of the changed captions with a reason; clustered by image")


class ReasonFigures(Value):
    """Why people edited or rejected captions (PerceptionRubrics, appendix D); whoever decided first counts."""

    checked: Count = Field(description="captions that a person decided on")
    changed: Count = Field(description="of them, captions that were edited or rejected")
    with_reason: Count = Field(description="of these, captions with a reason or more")
    reasons: tuple[ReasonShare, ...] = Field(description="a caption counts with each of its reasons")


class CheckFigures(Value):
    """How a run's items stand, who decided how often, and how far each two people agree."""

    items: Count
    kinds: dict[str, Count]
    states: dict[str, Count]
    asked: dict[str, Count] = Field(description="questions that wait, by person")
    people: dict[str, Count] = Field(description="items that each person decided on")
    agreement: tuple[DecidedAlike, ...]
    reasons: ReasonFigures | None = Field(
        default=None, description="why captions were changed; left out where none was"
    )


LabelCounts = dict[Label, Count]


class Coefficient(Value):
    """A coefficient of agreement, at most 1 and 0 by chance, with its 95 % interval."""

    value: float | None
    low: float | None = Field(description="lower end of the 95 % interval; null where there is none")
    high: float | None = Field(description="upper end of the 95 % interval; null where there is none")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None
    no_value: str | None = Field(default=None, description="why there is no value; left out where there is one")


class DimensionLabels(Value):
    """What people said of the perturbations of one dimension."""

    dimension: str
    title: str = Field(description="its published name")
    group: str = Field(description="the group that it belongs to; empty for score_neutral")
    meant: Literal["valid", "score_invariant"] = Field(description="the label that a perturbation of it should have")
    made: Count
    labelled: Count
    labels: LabelCounts
    fit: Share = Field(
        description="the part of the labelled ones, without those of a wrong gold answer, that have the label that they should"
    )


class TwoPeople(Value):
    """How far two people agree."""

    people: tuple[str, str]
    n: Count = Field(description="perturbations that both labelled")
    same: CountedRate = Field(description="the part of these to which both gave the same label")
    kappa: Coefficient = Field(description="Cohen's kappa")


class Met(Value):
    """What others said where somebody gave a label, each two labels of one perturbation counted both ways."""

    label: Label
    n: Count
    beside: LabelCounts


class LabelAgreement(Value):
    """How far people agree on the labels, second opinions among them."""

    n: Count = Field(description="perturbations with the labels of two people or more")
    absent: str = Field(description="why there is no agreement; empty where there is")
    alpha: Coefficient | None = Field(description="Krippendorff's alpha, nominal, over all people")
    pairs: tuple[TwoPeople, ...]
    confusion: tuple[Met, ...]


class LabelFigures(Value):
    """What people said of a run's perturbations. Who labelled first settles each; the others' are second opinions."""

    made: Count
    labelled: Count
    labels: LabelCounts
    enter: Count = Field(description="how many a probe takes: valid errors, and what people found score-invariant")
    fit: Share = Field(
        description="the part of the labelled ones, without those of a wrong gold answer, that people found as they were meant"
    )
    by_dimension: tuple[DimensionLabels, ...]
    people: dict[str, Count] = Field(description="how many each person labelled")
    agreement: LabelAgreement
