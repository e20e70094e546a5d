"""The report of a run of a plug-in's graph: counts by model, and the items with their values."""

import json
from collections.abc import Iterator

from dokimasia.methods.graph.figures import GraphFigures, GraphItem, GraphModel
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Fold, Only, Paragraph, Section, Span, Texts
from dokimasia.report.conclusions import used_sentence
from dokimasia.report.data import Cut, Drawing, ReportData, Views
from dokimasia.report.fields import rows_of
from dokimasia.report.sections import provenance, skipped
from dokimasia.report.tables import computed_column, field_columns, table

MOST_PRINTED, PREVIEW = 20, 160


def section(data: ReportData) -> Section:
    """Return the section with the items' outcomes by model."""
    graph = data.figures_as(GraphFigures)
    counts = table(
        GraphModel,
        rows_of(graph.models, "models"),
        [
            computed_column("model", lambda row: Span(row.name or "–", "strong"), numeric=False),
            *field_columns("n", "made", "scored", "failures"),
        ],
        "How the items ended",
    )
    note = f"Graph {graph.graph}, version {graph.version}: {graph.samples:,} samples, {figures.used(graph, data.paid)}."
    return Section("graph", "Items", (counts, Paragraph(note, "note")))


def conclusion(data: ReportData) -> list[Cell]:
    """Return how many items were made or scored, how many failed, and what was spent."""
    graph = data.figures_as(GraphFigures)
    n, n_finished = sum(model.n for model in graph.models.values()), 0
    for model in graph.models.values():
        n_finished += model.made + model.scored
    return [
        f"{n_finished:,} of {figures.several(n, 'item')} of graph {graph.graph} finished.",
        used_sentence(graph, data.paid),
    ]


def items_section(data: ReportData) -> Section | None:
    """Return the section of displayed items with their values; None if there are none."""
    if not data.samples:
        return None
    items = [GraphItem.model_validate(view) for view in data.samples]
    note = Paragraph(data.selection.text, "note")
    folds = [Fold(_title(item), tuple(_item_blocks(item))) for item in items]
    printed: list[Block] = []
    for item in items[:MOST_PRINTED]:
        printed += _preview(item)
    hint = "one whole: `dokimasia show RUN --sample ID`"
    if len(items) > MOST_PRINTED:
        hint = f"and {len(items) - MOST_PRINTED:,} more; {hint}"
    printed.append(Paragraph(hint, "note"))
    return Section("items", "What was made", (Only("page", (note, *folds)), Only("terminal", printed)))


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield the items of a sample with all values."""
    for view in views:
        yield from _item_blocks(GraphItem.model_validate(view))


def _item_blocks(item: GraphItem) -> Iterator[Block]:
    yield Paragraph(Span(_title(item), "bad" if item.failure else "strong"))
    for value in item.values:
        yield Texts([(Span(value.type, "strong"), json.dumps(value.value, indent=2, ensure_ascii=False))])


def _preview(item: GraphItem) -> Iterator[Block]:
    yield Paragraph(Span(_title(item), "bad" if item.failure else "strong"))
    for value in item.values:
        text = " ".join(str(value.value.get("text") or json.dumps(value.value, ensure_ascii=False)).split())
        if len(text) > PREVIEW:
            text = f"{text[: PREVIEW - 1]}…"
        yield Paragraph(f"  {value.type}: {text}", "note")


def _title(item: GraphItem) -> str:
    name = f"{item.sample} · {item.model}" if item.model else item.sample
    if item.failure:
        return f"{name} · {item.failure}: {item.reason}"
    return f"{name} · {item.outcome if item.score is None else f'{item.score:g}'}"


DRAWING = Drawing(
    "graph",
    (section, items_section, skipped.section, provenance.section),
    sample=sample,
    figures=GraphFigures,
    conclusion=conclusion,
)
