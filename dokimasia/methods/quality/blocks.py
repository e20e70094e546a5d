"""How good the criteria are: accuracy and necessity by category (ATOM, table 5), and each criterion with its ratings."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.methods.quality.results import OWN_CRITERIA
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Only, Paragraph, Section, Span, Table
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.sections import provenance

COLUMNS = (
    Column("category", numeric=False),
    Column("rated", meaning="criteria with a rating, of those that were drawn; the category has so many"),
    Column("accuracy", meaning="mean rating of the ground truth from 1 to 3, with its 95 % interval"),
    Column("necessity", meaning="mean rating of the need for it from 1 to 3, with its 95 % interval"),
)
ITEM_COLUMNS = (
    Column("sample", numeric=False),
    Column("criterion", numeric=False),
    Column("held to be true", numeric=False),
    Column("accuracy"),
    Column("necessity"),
)


def section(data: ReportData) -> Section:
    """Return the ratings by category and over all."""
    summary = data.summary
    rows = [_row(name, one, figures.pointer("groups", name)) for name, one in summary["groups"].items() if one["n"]]
    note = (
        f"Rated by {summary['judge']}, {summary['n_rated']:,} of {summary['n']:,} criteria of run {summary['source']}, "
        f"{figures.used(summary)}. 1 to 3, higher is better; 95 % intervals, clustered by image. Over all, each criterion "
        "that was drawn counts alike, however many its category has."
    )
    table = Table(COLUMNS, [*rows, _row("all", summary, "")], "Accuracy and necessity of criteria")
    own = [Paragraph(f"{OWN_CRITERIA.format(judge=summary['judge'])}.", "warning")] if summary["own_criteria"] else []
    return Section("quality", "Quality of the criteria", (*own, table, Paragraph(note, "note")))


def criteria(data: ReportData) -> Section | None:
    """Return each criterion with its ratings, on a terminal those that failed or were rated low; None without any."""
    low = [item for item in data.samples if item["failure"] or min(item["accuracy"], item["necessity"]) == 1]
    if not data.samples:
        return None
    blocks = (Only("page", tuple(sample(*data.samples))), Only("terminal", tuple(sample(*low))))
    return Section("criteria", "Criteria", blocks)


def sample(*items: Mapping[str, Any]) -> Iterator[Block]:
    """Yield criteria with their ratings as a table."""
    if items:
        yield Table(ITEM_COLUMNS, [_item(item) for item in items], "Criteria with their ratings", sortable=True)


def _row(title: str, one: Mapping[str, Any], place: str) -> list[Cell]:
    of = f" ({one['of']:,})" if "of" in one else ""
    rated: Cell = (figures.count(one["n_rated"], f"{place}/n_rated"), f"/{one['n']:,}", Span(of, "muted"))
    ratings = (figures.measured(one[name], f"{place}/{name}", ends=2) for name in ("accuracy", "necessity"))
    return [Span(title or "none", "strong"), rated, *ratings]


def _item(item: Mapping[str, Any]) -> list[Cell]:
    said: list[Cell] = [str(item[name]) for name in ("accuracy", "necessity")]
    if item["failure"]:
        said = [Span(f"{item['failure']}: {item['reason'] or ''}", "bad"), figures.NOTHING]
    return [Span(item["sample"], "strong"), f"{item['criterion']}. {item['question']}", item["ground_truth"], *said]


DRAWING = Drawing(
    "quality of criteria",
    (section, criteria, provenance.section),
    sample=lambda views, cut: sample(*views),
    counts=("criterion", "criteria"),
)
