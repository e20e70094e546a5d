"""The report of the filter: ratings and shares by domain, and each image's ratings with its thresholds."""

from collections.abc import Iterator, Sequence

from dokimasia.methods.density.figures import FilterFigures, FilterItem, KeptSamples
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Only, Paragraph, Section, Span, Table, spans
from dokimasia.report.conclusions import used_sentence
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.fields import TableRow, pointer
from dokimasia.report.sections import provenance, skipped
from dokimasia.report.tables import field_columns, name_column, table

ITEM_COLUMNS = (
    Column("sample", numeric=False),
    Column("domain", numeric=False),
    Column("complexity", meaning="and the least that is kept"),
    Column("informativeness", meaning="and the least that is kept"),
    Column("", numeric=False),
)


def section(data: ReportData) -> Section:
    """Return the section on ratings and kept images, by domain and in total."""
    filtered = data.figures_as(FilterFigures)
    rows: list[TableRow[KeptSamples]] = []
    for name, domain in filtered.domains.items():
        rows.append(TableRow(domain.title, domain, pointer("domains", name)))
    rows.append(TableRow("all", filtered, ""))
    columns = [name_column("domain"), *field_columns("visual_complexity", "informativeness", "kept")]
    n_given = sum(domain.given for domain in filtered.domains.values())
    note = (
        f"{filtered.n_rated:,} of {filtered.n:,} rated, {n_given:,} domains given by the data, "
        f"{figures.used(filtered, data.paid)}. "
        "Ratings from 1 to 10; 95 % intervals, clustered by image."
    )
    ratings = table(KeptSamples, rows, columns, "Ratings and what was kept")
    return Section("filter", "What was kept", (ratings, Paragraph(note, "note")))


def conclusion(data: ReportData) -> list[Cell]:
    """Return how many images were kept, how many lack a rating, and the usage."""
    filtered = data.figures_as(FilterFigures)
    sentences: list[Cell] = [("Kept: ", *spans(figures.share_of(filtered.kept, "/kept")), " of the rated images.")]
    unrated = filtered.n - filtered.n_rated
    if unrated:
        sentences.append(f"{figures.several(unrated, 'image has', 'images have')} no rating.")
    return [*sentences, used_sentence(filtered, data.paid)]


def images(data: ReportData) -> Section | None:
    """Return the section of displayed images with ratings (on a terminal, failed ones only); None without images."""
    if not data.samples:
        return None
    items = [FilterItem.model_validate(item) for item in data.samples]
    failures = [item for item in items if item.failure]
    blocks = (Only("page", tuple(_ratings_table(items))), Only("terminal", tuple(_ratings_table(failures))))
    return Section("images", "Images", blocks)


def _ratings_table(items: Sequence[FilterItem]) -> Iterator[Block]:
    if items:
        yield Table(ITEM_COLUMNS, [_item(item) for item in items], "Images with their ratings", sortable=True)


def _item(item: FilterItem) -> list[Cell]:
    name, rating = Span(item.sample, "strong"), item.rating
    if rating is None:
        failure = Span(f"{item.failure}: {item.reason or ''}", "bad")
        return [name, "", figures.NOTHING, figures.NOTHING, failure]
    outcome = Span("kept", "good") if rating.kept else Span("dropped", "muted")
    density, threshold = rating.density, rating.threshold
    complexity = (str(density.visual_complexity), _at_least(threshold.visual_complexity))
    informativeness = (str(density.informativeness), _at_least(threshold.informativeness))
    return [name, rating.domain, complexity, informativeness, outcome]


def _at_least(threshold: float) -> Span:
    return Span(f" from {threshold:g}", "muted")


DRAWING = Drawing(
    "filter",
    (section, images, skipped.section, provenance.section),
    sample=lambda views, cut: _ratings_table([FilterItem.model_validate(view) for view in views]),
    figures=FilterFigures,
    conclusion=conclusion,
)
