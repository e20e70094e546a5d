"""Report blocks of agreement between people and with judges; rows are not broken down by model."""

from collections.abc import Iterator, Sequence

from dokimasia.people.annotation.agreement import (
    RIGHT_OR_WRONG,
    AnnotationFigures,
    ChanceCorrected,
    JudgeCompared,
    MeasureAgreement,
    PersonCompared,
)
from dokimasia.people.judgements import ValuesCompared, ceiling_rows, ceiling_tables
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import AgreementCoefficient, TableRow, rows_of
from dokimasia.report.tables import TableColumn, column, computed_column, name_column, table


def coefficients(chance: ChanceCorrected) -> Iterator[tuple[str, AgreementCoefficient]]:
    """Yield the coefficients over all people with their names."""
    yield "Fleiss' kappa", chance.fleiss
    yield "Krippendorff's alpha, nominal", chance.alpha_nominal
    yield "Krippendorff's alpha, ordinal", chance.alpha_ordinal
    yield "Krippendorff's alpha, interval", chance.alpha_interval


def measure_blocks(agreement: AnnotationFigures) -> Iterator[Block]:
    """Yield figures of agreement, as returned by `compare`, measure by measure."""
    if agreement.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    if agreement.left_out:
        yield Paragraph(f"Annotations left out: {figures.counts(agreement.left_out)}.", "warning")
    for measure, measured in agreement.measures.items():
        low, high = measured.scale
        people = figures.several(len(agreement.annotators), "person", "people")
        lead = f", {low} to {high}: {measured.annotations} ratings of {measured.n} by {people}"
        yield Paragraph((Span(measure, "strong"), lead))
        yield _comparison_table(measured)
        yield _measures(measured)
        if measured.chance_corrected is None:
            yield Paragraph(f"No agreement between people: {measured.absent}.", "note")
        else:
            yield _people_table(measured, measured.chance_corrected)
        rows = {name: (judge.ceiling, judge.replacement) for name, judge in measured.judges.items()}
        yield from ceiling_tables(ceiling_rows(rows))


def _comparison_table(measured: MeasureAgreement) -> Table:
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
    columns: list[TableColumn[ValuesCompared]] = [
        name_column("who"),
        column("n"),
        column("left_out", numeric=False, write=lambda left_out, _: figures.counts(left_out)),
        computed_column("the same, %", _same, meaning="the nearest step of the scale is that of people"),
    ]
    coefficients_shown = {
        "pearson": "Pearson",
        "spearman": "Spearman",
        "kendall": "Kendall",
        "kappa": "kappa",
        "kappa_weighted": "kappa, quadratic",
        "alpha": "Krippendorff's alpha",
    }
    for name, title in coefficients_shown.items():
        columns.append(column(name, title=title, numeric=False, write=lambda value, _: _coefficient(value)))
    about = "Accuracy, correlations, kappa and alpha against people"
    return table(ValuesCompared, rows_of(compared), columns, about)


def _same(row: TableRow[ValuesCompared]) -> Cell:
    same = row.figures.same
    if same is not None and row.figures.n:
        return figures.share_of(same, "")
    return figures.NOTHING


def _row(name: str, against: str, row: PersonCompared | JudgeCompared) -> list[Cell]:
    mae = row.mae
    off: Cell = figures.NOTHING
    if mae is not None:
        off = (f"{mae.mean:.2f}", Span(figures.bracketed(mae, lambda end: f"{end:.2f}"), "muted"))
    near: Cell = figures.NOTHING
    if row.n and row.consistency is not None:
        near = figures.share_of(row.consistency, "")
    return [Span(name, "strong"), against, figures.count(row.n), off, near, _coefficient(row.kappa)]


def _people_table(measured: MeasureAgreement, chance: ChanceCorrected) -> Table:
    columns = [Column("people with each other", numeric=False), Column("n"), Column("agreement", numeric=False)]
    kappa = "kappa" if measured.scale == RIGHT_OR_WRONG else "quadratic kappa"
    rows: list[Sequence[Cell]] = [
        [" and ".join(pair.people), figures.count(pair.n), (f"{kappa} ", *_coefficient(pair.kappa))]
        for pair in measured.pairs
    ]
    rows += [[title, figures.count(chance.n), _coefficient(estimate)] for title, estimate in coefficients(chance)]
    return Table(columns, rows, "How far people agree with each other")


def _coefficient(estimate: AgreementCoefficient) -> tuple[str | Span, ...]:
    if estimate.value is None:
        return (Span(f"none: {estimate.no_value}", "muted"),)
    text = f"{estimate.value:.2f}".replace("-", figures.MINUS)
    return text, Span(figures.bracketed(estimate, lambda end: f"{end:.2f}"), "muted")
