"""The figures of an error analysis, typed: what `--json` prints."""

from typing import Literal

from pydantic import Field

from dokimasia.domain.failure_modes import Batch, ModeKind
from dokimasia.domain.identity import Value
from dokimasia.report.fields import Count, Coverage, Failures, NoInterval, Share, Used
from dokimasia.runs.figure_models import Heading, Judge, OpenItems, Seed


class Making(Value):
    """How modes were made from the failed atoms of one half of the samples."""

    answers: Count = Field(description="answers that were read")
    atoms: Count = Field(description="failed atoms that these have")
    notes: Count = Field(description="atoms of which something was noted")
    omissions: Count = Field(description="of these notes, those of an omission")
    nothing: Count = Field(description="failed atoms of which the reader found nothing wrong")
    loose: Count = Field(description="notes that stand under no mode")
    batches: tuple[Batch, ...] = Field(description="each batch of notes, and how many new modes it brought")
    settled: bool = Field(description="whether the last two batches brought no new mode")
    notes_to_last: Count = Field(description="notes that had been sorted when the last new mode came")
    merged: Count = Field(description="modes that were merged into others")
    unmerged: str | None = Field(description="why overlapping modes were not looked for; null where they were")
    failures: Failures = Field(description="atoms that were not read, by kind of failure")
    unsorted: Failures = Field(description="batches of notes whose sorting failed, by kind of failure")


class CriterionGroup(Value):
    """Failed atoms, or atoms that were met, of the half that modes are counted on."""

    there: Count = Field(description="atoms that the half has")
    n: Count = Field(description="of these, atoms that were drawn to be coded")
    n_scored: Count = Field(description="of these, atoms that were coded")
    coverage: Coverage


class Example(Value):
    """A failed atom in which a mode was seen."""

    model: str
    sample: str
    repeat: Count
    criterion: int = Field(ge=1, description="the atom's number")
    question: str
    ground_truth: str
    quote: str = Field(description="the answer's own words; empty for an omission")


class ModeRate(Value):
    """How often a mode was seen."""

    failed: Share = Field(description="of failed atoms")
    met: Share = Field(description="of atoms that were met")
    right: Share = Field(description="of answers whose final answer is right: seen at least once")
    wrong: Share = Field(description="of answers whose final answer is wrong: seen at least once")
    models: dict[str, Share] = Field(description="of each model's failed atoms")
    leaves: dict[str, Share] = Field(
        description="of the failed atoms at a leaf of the capability tree where it is seen"
    )


class ModeFigures(ModeRate):
    """A mode, and how often it was seen."""

    name: str
    kind: ModeKind
    definition: str
    notes: Count = Field(description="notes that it was made from; 0 where a person wrote it")
    examples: tuple[Example, ...] = Field(description="at most two of each model")


class ContrastFigures(Value):
    """How a model's failures differ from the other models' on samples that both failed on."""

    model: str
    mode: str
    n: Count = Field(description="samples on which the model and another failed")
    difference: float | None = Field(description="share of failed atoms under the mode, less the mean of the others")
    low: float | None = Field(description="lower end of the 95 % interval")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    p_value: float | None = Field(description="exchange of models within images; null below five samples")
    adjusted: float | None = Field(description="p-value after Benjamini and Hochberg over all models and modes")
    verdict: Literal["", "more often", "less often", "unclear"]


class CoderAgreement(Value):
    """How far two coders agree."""

    n: Count = Field(description="atoms that both coded")
    held: Count = Field(description="atoms that both were given")
    agreed: Count = Field(description="atoms that both put in the same place")
    kappa: float | None = Field(description="Cohen's kappa; null where it has no value")
    low: float | None = Field(description="lower end of the 95 % interval")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None


class Groups(Value):
    """Both groups of atoms."""

    failed: CriterionGroup
    met: CriterionGroup


class ModesFigures(Heading, Used):
    """The figures of an error analysis."""

    source: str = Field(description="the id of the evaluation whose failures are analysed")
    seed: Seed
    judge: Judge
    coder: str = Field(description="who coded a part of the atoms again")
    same_coder: bool = Field(description="whether that is the judge himself, under another draw")
    models: tuple[str, ...] = Field(description="whose answers were read")
    notes: tuple[str, ...] = Field(description="what a reader must know first")
    given: bool = Field(description="whether the modes were taken from a file")
    making: Making | None = Field(description="how modes were made; null where they were given, or not made yet")
    atoms: Groups
    modes: tuple[ModeFigures, ...]
    none: ModeRate | None = Field(description="atoms in which no mode was seen; null without modes")
    contrasts: tuple[ContrastFigures, ...]
    agreement: CoderAgreement = Field(description="on failed and met atoms")
    agreement_failed: CoderAgreement = Field(description="on failed atoms alone")
    misquoted: Count = Field(description="atoms that were not coded since a phrase does not stand in the answer")
    failures: Failures
    second_failures: Failures = Field(description="atoms that the second coder did not code, by kind of failure")
    open_items: OpenItems
