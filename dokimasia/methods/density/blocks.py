"""What the filter kept: ratings and shares by domain, and each image's ratings beside its thresholds."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Only, Paragraph, Section, Span, Table
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.sections import provenance, skipped

COLUMNS = (
    Column("domain", numeric=False),
    Column("complexity", meaning="mean rating from 1 to 10, with its 95 % interval"),
    Column("informativeness", meaning="mean rating from 1 to 10, with its 95 % interval"),
    Column("kept", meaning="of the rated images, with the 95 % interval of the share in percent"),
)
ITEM_COLUMNS = (
    Column("sample", numeric=False),
    Column("domain", numeric=False),
    Column("complexity", meaning="and the least that is kept"),
    Column("informativeness", meaning="and the least that is kept"),
    Column("", numeric=False),
)


def section(data: ReportData) -> Section:
    """Return the ratings and what was kept, by domain and over all."""
    summary = data.summary
    domains: Mapping[str, Any] = summary["domains"]
    rows = [_row(one["title"], one, figures.pointer("domains", name)) for name, one in domains.items()]
    given = sum(one["given"] for one in domains.values())
    note = (
        f"{summary['n_rated']:,} of {summary['n']:,} rated, {given:,} domains given by the data, {figures.used(summary)}. "
        "Ratings from 1 to 10; 95 % intervals, clustered by image."
    )
    blocks = (Table(COLUMNS, [*rows, _row("all", summary, "")], "Ratings and what was kept"), Paragraph(note, "note"))
    return Section("filter", "What was kept", blocks)


def images(data: ReportData) -> Section | None:
    """Return each image that is shown with its ratings, on a terminal those that failed; None where none is shown."""
    failed = [item for item in data.samples if item["failure"]]
    if not data.samples:
        return None
    blocks = (Only("page", tuple(sample(*data.samples))), Only("terminal", tuple(sample(*failed))))
    return Section("images", "Images", blocks)


def sample(*items: Mapping[str, Any]) -> Iterator[Block]:
    """Yield images' ratings as a table."""
    if items:
        yield Table(ITEM_COLUMNS, [_item(item) for item in items], "Images with their ratings", sortable=True)


def _row(title: str, one: Mapping[str, Any], place: str) -> list[Cell]:
    ratings = (
        figures.measured(one[name], f"{place}/{name}", ends=2) for name in ("visual_complexity", "informativeness")
    )
    return [Span(title, "strong"), *ratings, figures.share_of(one["kept"], f"{place}/kept")]


def _item(item: Mapping[str, Any]) -> list[Cell]:
    rating = item["rating"]
    if rating is None:
        failed = Span(f"{item['failure']}: {item['reason'] or ''}", "bad")
        return [Span(item["sample"], "strong"), "", figures.NOTHING, figures.NOTHING, failed]
    cells: list[Cell] = [
        (str(rating["density"][name]), Span(f" from {rating['threshold'][name]:g}", "muted"))
        for name in ("visual_complexity", "informativeness")
    ]
    kept = Span("kept", "good") if rating["kept"] else Span("dropped", "muted")
    return [Span(item["sample"], "strong"), rating["domain"], *cells, kept]


DRAWING = Drawing(
    "filter",
    (section, images, skipped.section, provenance.section),
    sample=lambda views, cut: sample(*views),
)
