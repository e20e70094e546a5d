"""The report of a rating of criteria: accuracy and necessity by category (ATOM, table 5), and each criterion's ratings."""

from collections.abc import Iterator, Sequence

from dokimasia.methods.quality.figures import CriteriaRating, QualityFigures, QualityItem, RatedGroup
from dokimasia.methods.quality.request import OWN_CRITERIA
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Only, Paragraph, Section, Span, Table, spans
from dokimasia.report.conclusions import used_sentence
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.fields import TableRow, pointer
from dokimasia.report.sections import provenance
from dokimasia.report.tables import TableColumn, computed_column, field_columns, name_column, table

ITEM_COLUMNS = (
    Column("sample", numeric=False),
    Column("criterion", numeric=False),
    Column("held to be true", numeric=False),
    Column("accuracy"),
    Column("necessity"),
)


def section(data: ReportData) -> Section:
    """Return the section of ratings, by category and in total."""
    quality = data.figures_as(QualityFigures)
    rows: list[TableRow[CriteriaRating]] = []
    for name, group in quality.groups.items():
        if group.n:
            rows.append(TableRow(name or "none", group, pointer("groups", name)))
    rows.append(TableRow("all", quality, ""))
    columns: list[TableColumn[CriteriaRating]] = [
        name_column("category"),
        computed_column(
            "rated", _rated_cell, meaning="criteria with a rating, of those that were drawn; the category has so many"
        ),
        *field_columns("accuracy", "necessity"),
    ]
    note = (
        f"Rated by {quality.judge}, {quality.n_rated:,} of {quality.n:,} criteria of run {quality.source}, "
        f"{figures.used(quality, data.paid)}. 1 to 3, higher is better; 95 % intervals, clustered by image. Over all, each "
        "criterion that was drawn counts alike, however many its category has."
    )
    blocks: list[Block] = []
    if quality.own_criteria:
        blocks.append(Paragraph(f"{OWN_CRITERIA.format(judge=quality.judge)}.", "warning"))
    blocks += [table(CriteriaRating, rows, columns, "Accuracy and necessity of criteria"), Paragraph(note, "note")]
    return Section("quality", "Quality of the criteria", blocks)


def conclusion(data: ReportData) -> list[Cell]:
    """Return the mean accuracy and necessity of the criteria, and the usage."""
    quality = data.figures_as(QualityFigures)
    sentences: list[Cell] = []
    for name, rating in (("accuracy", quality.accuracy), ("necessity", quality.necessity)):
        if rating is not None:
            sentences.append((f"Mean {name} ", *spans(figures.measured(rating, f"/{name}", ends=2)), " of 3."))
    sentences.append(f"{quality.n_rated:,} of {figures.several(quality.n, 'criterion', 'criteria')} were rated.")
    return [*sentences, used_sentence(quality, data.paid)]


def _rated_cell(row: TableRow[CriteriaRating]) -> Cell:
    of = f" ({row.figures.of:,})" if isinstance(row.figures, RatedGroup) else ""
    return figures.count(row.figures.n_rated, f"{row.pointer}/n_rated"), f"/{row.figures.n:,}", Span(of, "muted")


def criteria(data: ReportData) -> Section | None:
    """Return the section of criteria with ratings (on a terminal, failed and low-rated ones); None without any."""
    if not data.samples:
        return None
    items = [QualityItem.model_validate(item) for item in data.samples]
    low = [item for item in items if item.failure or 1 in (item.accuracy, item.necessity)]
    blocks = (Only("page", tuple(_ratings_table(items))), Only("terminal", tuple(_ratings_table(low))))
    return Section("criteria", "Criteria", blocks)


def _ratings_table(items: Sequence[QualityItem]) -> Iterator[Block]:
    if items:
        yield Table(ITEM_COLUMNS, [_item(item) for item in items], "Criteria with their ratings", sortable=True)


def _item(item: QualityItem) -> list[Cell]:
    ratings: list[Cell] = [str(item.accuracy), str(item.necessity)]
    if item.failure:
        ratings = [Span(f"{item.failure}: {item.reason or ''}", "bad"), figures.NOTHING]
    return [Span(item.sample, "strong"), f"{item.criterion}. {item.question}", item.ground_truth, *ratings]


DRAWING = Drawing(
    "quality of criteria",
    (section, criteria, provenance.section),
    sample=lambda views, cut: _ratings_table([QualityItem.model_validate(view) for view in views]),
    counts=("criterion", "criteria"),
    figures=QualityFigures,
    conclusion=conclusion,
)
