"""The figures of a diagnosis in words, typed: what `--json` prints."""

from pydantic import Field

from dokimasia.domain.diagnosis.report import FaultKind, Sentence
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind
from dokimasia.report.fields import Count
from dokimasia.runs.figure_models import Heading, Judge


class Why(Value):
    """Why there is no report."""

    kind: FailureKind
    reason: str


class WrittenReport(Value):
    """One report in words; counts are 0 and sentences empty where it failed."""

    subject: str = Field(description="the model that it is about; empty: all models together")
    failed: Why | None = Field(description="null where there is a report")
    picked: tuple[str, ...] = Field(description="rows that were picked as worth reporting, the most telling first")
    unknown_picks: Count = Field(description="picks of rows that are not there")
    calls: Count = Field(description="calls of the judge that it rests on")
    words: Count = Field(description="words of the reply that counts")
    cut: bool = Field(description="whether it was cut for its length")
    repaired: bool = Field(description="whether it was sent back once")
    verified: Count = Field(description="sentences of which the program wrote every number and every tested comparison")
    unverified: Count = Field(description="all other sentences")
    unverified_at_first: Count = Field(description="unverified sentences before the writer was told")
    sentences: tuple[Sentence, ...]


class Totals(Value):
    """Counts over all reports."""

    verified: Count = Field(description="verified sentences")
    unverified: Count = Field(description="unverified sentences")
    unverified_at_first: Count = Field(description="unverified sentences before the writer was told")
    sentences: Count
    failed: Count = Field(description="reports that failed")
    by_kind: dict[FaultKind, Count] = Field(description="faults of unverified sentences, by kind")


class DiagnosisFigures(Heading):
    """The figures of a diagnosis in words."""

    source: str = Field(description="the id of the evaluation that is diagnosed")
    judge: Judge
    models: tuple[str, ...] = Field(description="the models that are diagnosed, in order")
    notes: tuple[str, ...] = Field(description="what a reader must know first")
    diagnosis: str = Field(description="the id of the tables that the reports are written from")
    totals: Totals
    reports: tuple[WrittenReport, ...] = Field(description="one a model, in order, and last the one across models")
