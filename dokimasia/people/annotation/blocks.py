"""Report blocks of agreement between people and with judges; rows are not broken down by model."""

from collections.abc import Iterator, Sequence

from dokimasia.people.annotation.agreement import (
    AnnotationFigures,
    ChanceCorrected,
    JudgeCompared,
    MeasureAgreement,
    PersonCompared,
)
from dokimasia.people.judgements import ceiling_rows, ceiling_tables
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import AgreementCoefficient


def coefficients(chance: ChanceCorrected) -> Iterator[tuple[str, AgreementCoefficient]]:
    """Yield the coefficients over all people with their names."""
    yield "Fleiss' kappa", chance.fleiss
    yield "Krippendorff's alpha, nominal", chance.alpha_nominal
    yield "Krippendorff's alpha, ordinal", chance.alpha_ordinal
    yield "Krippendorff's alpha, interval", chance.alpha_interval


def measure_blocks(agreement: AnnotationFigures) -> Iterator[Block]:
    """Yield figures of agreement, as of `compare`, measure by measure."""
    if agreement.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    if agreement.left_out:
        yield Paragraph(f"Annotations left out: {figures.counts(agreement.left_out)}.", "warning")
    for measure, measured in agreement.measures.items():
        low, high = measured.scale
        people = figures.several(len(agreement.annotators), "person", "people")
        lead = f", {low} to {high}: {measured.annotations} ratings of {measured.n} by {people}"
        yield Paragraph((Span(measure, "strong"), lead))
        yield _held_against(measured)
        yield _measures(measured)
        if measured.chance_corrected is None:
            yield Paragraph(f"No agreement between people: {measured.absent}.", "note")
        else:
            yield _together(measured, measured.chance_corrected)
        beside = {name: (judge.ceiling, judge.replacement) for name, judge in measured.judges.items()}
        yield from ceiling_tables(ceiling_rows(beside))


def _held_against(measured: MeasureAgreement) -> Table:
    columns = [
        Column("who", numeric=False),
        Column("held against", numeric=False),
        Column("n"),
        Column("MAE", meaning="mean absolute difference"),
        Column("consistent, %", meaning="at most 1 away"),
        Column("Cohen's kappa, quadratic", numeric=False),
    ]
    rows: list[Sequence[Cell]] = [_row(name, "people", row) for name, row in measured.judges.items()]
    rows += [_row(name, "people, decided by rules", row) for name, row in measured.rules.items()]
    if measured.together is not None:
        rows += [_row(name, "the mean of the others", row) for name, row in measured.people.items()]
    return Table(columns, rows, "Judges and people held against people")


def _measures(measured: MeasureAgreement) -> Table:
    """Return accuracy, correlations, kappa and alpha of judges and people against people."""
    compared = {name: judge.measures for name, judge in measured.judges.items()}
    if measured.together is not None:
        compared |= {name: person.measures for name, person in measured.people.items()}
    columns = [Column("who", numeric=False), Column("n"), Column("left out", numeric=False)]
    columns += [Column("the same, %", meaning="the nearest step of the scale is that of people")]
    titles = ("Pearson", "Spearman", "Kendall", "kappa", "kappa, quadratic", "Krippendorff's alpha")
    columns += [Column(title, numeric=False) for title in titles]
    rows: list[Sequence[Cell]] = []
    for name, measures in compared.items():
        same: Cell = figures.NOTHING
        if measures.same is not None and measures.n:
            same = figures.share_of(measures.same, "")
        correlations = (measures.pearson, measures.spearman, measures.kendall)
        coefficients_shown = (*correlations, measures.kappa, measures.kappa_weighted, measures.alpha)
        cells = [_coefficient(value) for value in coefficients_shown]
        left_out = figures.counts(measures.left_out)
        rows.append([Span(name, "strong"), figures.count(measures.n), left_out, same, *cells])
    return Table(columns, rows, "Accuracy, correlations, kappa and alpha against people")


def _row(name: str, against: str, row: PersonCompared | JudgeCompared) -> list[Cell]:
    mae = row.mae
    off: Cell = figures.NOTHING
    if mae is not None:
        off = (f"{mae.mean:.2f}", Span(figures.bracketed(mae, lambda end: f"{end:.2f}"), "muted"))
    near: Cell = figures.NOTHING
    if row.n and row.consistency is not None:
        near = figures.share_of(row.consistency, "")
    return [Span(name, "strong"), against, figures.count(row.n), off, near, _coefficient(row.kappa)]


def _together(measured: MeasureAgreement, chance: ChanceCorrected) -> Table:
    columns = [Column("people with each other", numeric=False), Column("n"), Column("agreement", numeric=False)]
    rows: list[Sequence[Cell]] = [
        [" and ".join(pair.people), figures.count(pair.n), ("kappa ", *_coefficient(pair.kappa))]
        for pair in measured.pairs
    ]
    rows += [[title, figures.count(chance.n), _coefficient(estimate)] for title, estimate in coefficients(chance)]
    return Table(columns, rows, "How far people agree with each other")


def _coefficient(estimate: AgreementCoefficient) -> tuple[str | Span, ...]:
    if estimate.value is None:
        return (Span(f"none: {estimate.no_value}", "muted"),)
    text = f"{estimate.value:.2f}".replace("-", figures.MINUS)
    return text, Span(figures.bracketed(estimate, lambda end: f"{end:.2f}"), "muted")
