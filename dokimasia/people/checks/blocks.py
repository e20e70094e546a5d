"""Report blocks of checks: perturbations' labels by dimension, and agreement between people."""

from collections.abc import Iterator, Sequence
from typing import Any

from dokimasia.domain.blindspots import LABELS
from dokimasia.people.checks.shape import (
    CheckFigures,
    Coefficient,
    DimensionLabels,
    LabelAgreement,
    LabelFigures,
    Met,
    ReasonFigures,
    ReasonShare,
    TwoPeople,
)
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table
from dokimasia.report.fields import CountedRate, TableRow
from dokimasia.report.tables import TableColumn, column, computed_column, table

TITLES = {label: label.replace("_", " ") for label in LABELS}


def label_blocks(labels: LabelFigures, run: str, place: str = "/labels") -> list[Block]:
    """Return the blocks on people's labels of a run's perturbations.

    Args:
        labels: the figures from `label_figures`.
        run: the run's id, for the command that labels the rest.
        place: the JSON pointer of the figures in the output of `--json`.
    """
    blocks: list[Block] = []
    waiting = labels.made - labels.labelled
    if waiting:
        command = Span(f"dokimasia decide {run}", "code")
        sentence = f"{waiting} of {labels.made} perturbations wait for a person to label them: "
        blocks.append(Paragraph((sentence, command), "warning"))
    if labels.labelled:
        blocks += [_by_dimension(labels, place), Paragraph(_meaning(labels), "note")]
        blocks += _agreement(labels.agreement, f"{place}/agreement")
    return blocks


def _by_dimension(labels: LabelFigures, place: str) -> Table:
    columns = [Column("dimension", numeric=False), *map(Column, ("made", "labelled", *TITLES.values()))]
    meaning = "labelled as it was meant: errors valid, harmless changes score-invariant; without wrong gold answers"
    columns.append(Column("fit, %", meaning=meaning))
    rows: list[Sequence[Cell]] = []
    for at, dimension in enumerate(labels.by_dimension):
        rows.append(_row(dimension.title, dimension, f"{place}/by_dimension/{at}"))
    rows.append(_row(Span("all", "strong"), labels, place))
    return Table(columns, rows, "What people said of the perturbations of each dimension")


def _row(title: Cell, counted: LabelFigures | DimensionLabels, place: str) -> list[Cell]:
    return [
        title,
        figures.count(counted.made, f"{place}/made"),
        figures.count(counted.labelled, f"{place}/labelled"),
        *(figures.count(counted.labels[label], f"{place}/labels/{label}") for label in LABELS),
        _share(counted.fit, f"{place}/fit"),
    ]


def _meaning(labels: LabelFigures) -> str:
    people = ", ".join(f"{who} {count:,}" for who, count in labels.people.items())
    return (
        f"Labelled by {people}. Whoever labelled first settles a perturbation. {labels.enter:,} of {labels.made:,} enter a "
        "probe: valid errors, and what people found score-invariant. 95 % intervals, clustered by image."
    )


def _agreement(agreement: LabelAgreement, place: str) -> Iterator[Block]:
    if agreement.alpha is None:
        yield Paragraph(f"No agreement between people: {agreement.absent}.", "note")
        return
    things = figures.several(agreement.n, "perturbation")
    yield Paragraph(
        (
            "Krippendorff's alpha (nominal) ",
            *_coefficient(agreement.alpha, f"{place}/alpha"),
            f", on {things} labelled by two people or more.",
        )
    )
    pairs = [
        TableRow(" and ".join(pair.people), pair, f"{place}/pairs/{at}") for at, pair in enumerate(agreement.pairs)
    ]
    columns: list[TableColumn[TwoPeople]] = [
        computed_column("people", _name, numeric=False),
        column("n"),
        column("same", title="same label, %", write=_share),
        column("kappa", title="Cohen's kappa", numeric=False, write=_coefficient),
    ]
    yield table(TwoPeople, pairs, columns, "How far each two people agree")
    yield _confusion(agreement.confusion, f"{place}/confusion")


def _name(row: TableRow[Any]) -> Cell:
    return row.name


def _share(rate: CountedRate, place: str) -> Cell:
    if rate.n:
        return figures.share_of(rate, place)
    return figures.NOTHING


def _coefficient(coefficient: Coefficient, place: str) -> tuple[str | Span, ...]:
    value = coefficient.value
    if value is None:
        return (Span(f"none: {coefficient.no_value}", "muted"),)
    text = f"{value:.2f}".replace("-", figures.MINUS)
    return Span(text, "", f"{place}/value", value), figures.bracketed(coefficient, lambda end: f"{end:.2f}")


def _confusion(rows: Sequence[Met], place: str) -> Table:
    labels = [TableRow(TITLES[row.label], row, f"{place}/{at}") for at, row in enumerate(rows) if row.n]
    columns: list[TableColumn[Met]] = [computed_column("first label", _name, numeric=False), column("n")]
    columns += [column("beside", label, title=title) for label, title in TITLES.items()]
    about = "What another person said of the same perturbation, each pair counted in both directions"
    return table(Met, labels, columns, about)


def check_blocks(checks: CheckFigures) -> list[Block]:
    """Return the blocks on captions or rubrics, from `check_figures`: agreement between people, and reasons of changes."""
    reasons = reason_blocks(checks.reasons) if checks.reasons is not None else []
    return [*_agreement_blocks(checks), *reasons]


def reason_blocks(changes: ReasonFigures, place: str = "/reasons") -> list[Block]:
    """Return the blocks on the reasons for changes of captions.

    Args:
        changes: the figures from `reason_figures`.
        place: the JSON pointer of the figures in the output of `--json`.
    """
    counted = f"{changes.changed} of {changes.checked} checked captions were edited or rejected"
    if not changes.with_reason:
        return [Paragraph(f"{counted}, none with a reason.", "note")]
    rows = [TableRow(row.meaning, row, f"{place}/reasons/{number}") for number, row in enumerate(changes.reasons)]
    columns: list[TableColumn[ReasonShare]] = [
        computed_column("reason", _name, numeric=False),
        column("edited"),
        column("rejected"),
        column("share", title="share, %", meaning="of the changed captions with a reason"),
    ]
    silent = changes.changed - changes.with_reason
    without = f", {silent} of them without a reason" if silent else ""
    note = f"{counted}{without}. A caption may have several reasons. 95 % intervals, clustered by image."
    return [table(ReasonShare, rows, columns, "Why people changed captions"), Paragraph(note, "note")]


def _agreement_blocks(checks: CheckFigures) -> list[Block]:
    if not checks.agreement:
        return [Paragraph("No agreement between people: no two decided on the same caption or rubric.", "note")]
    columns = [
        Column("people", numeric=False),
        Column("n", meaning="items that both decided on"),
        Column("decided alike, %"),
        Column("Cohen's kappa"),
        Column("same text", meaning="items on which both left the same text"),
    ]
    rows: list[Sequence[Cell]] = [
        [
            " and ".join(pair.people),
            figures.count(pair.n),
            (figures.measured_share(pair.share), Span(figures.percent_bracketed(pair), "muted")),
            figures.NOTHING if pair.kappa is None else f"{pair.kappa:.2f}".replace("-", figures.MINUS),
            figures.count(pair.same_text),
        ]
        for pair in checks.agreement
    ]
    note = "95 % intervals, clustered by sample. No kappa where both decided one and the same on everything."
    return [Table(columns, rows, "How far each two people decided alike"), Paragraph(note, "note")]
